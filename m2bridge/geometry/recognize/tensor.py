"""Recognition for t >= 2: is the matrix of quadrics T(w) a column times a row of linear forms?

When all 2 x 2 minors of T(w) vanish, unique factorisation gives T = g (column)(row) with forms
whose degrees add up to 2, and the greatest common divisors of one row and of one column tell which
degrees. So two gcds, a few exact divisions and one product decide. (Docs, theory page, theorem 2.)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import flint
import sympy

from m2bridge.geometry.recognize.forms import (
    Point,
    constant_ratio,
    degree,
    linear_vector,
    quotient,
    symmetric_matrix,
)
from m2bridge.geometry.recognize.quadratic import (
    diagonalise,
    rational,
    signature,
    split,
    to_sympy,
)
from m2bridge.geometry.recognize.result import Failure, Preimage, field_name
from m2bridge.geometry.recognize.witness import (
    common_factor_failure,
    flattening_failure,
    proportionality_failure,
    rank_failure,
)

__all__ = ["preimages_of_tensor", "primitive_factor", "rational_preimage"]

Rows = list[list[flint.fmpq]]


def preimages_of_tensor(point: Point) -> tuple[list[Preimage], Failure | None]:
    """All (V, A) up to scaling of a nonzero point, or the equation that fails."""
    pivot = point.pivot()
    assert pivot is not None
    i0, r0 = pivot
    failure = proportionality_failure(point)
    if failure is not None:
        return [], failure
    row_gcd = reduce(lambda f, g: f.gcd(g), point.forms[i0])
    column_gcd = reduce(lambda f, g: f.gcd(g), [row[r0] for row in point.forms])
    if degree(row_gcd) == 2 and degree(column_gcd) == 2:
        return _both_rank_one(point, i0, r0)
    pivot_form = point.forms[i0][r0]
    if degree(row_gcd) == 1:
        v_pivot = row_gcd
        a_pivot = quotient(pivot_form, v_pivot)
    elif degree(column_gcd) == 1:
        a_pivot = column_gcd
        v_pivot = quotient(pivot_form, a_pivot)
    else:
        # One of the factors is constant: the other holds quadrics without a common factor.
        row = degree(row_gcd) == 0
        entries = (
            [(i0, r) for r in range(point.layer.d)]
            if row
            else [(i, r0) for i in range(point.layer.d_out)]
        )
        return [], common_factor_failure(point, entries, 2)
    V = _quotients(point, [row[r0] for row in point.forms], a_pivot)
    A = _quotients(point, point.forms[i0], v_pivot)
    return _of_generic_rank(point, V, A)


def _quotients(point: Point, forms: list[Any], divisor: Any) -> Rows:
    rows = []
    for form in forms:
        linear = quotient(form, divisor)
        assert linear is not None, "the minors vanish, so the division is exact"
        rows.append(linear_vector(linear, point.layer.d))
    return rows


def _of_generic_rank(point: Point, V: Rows, a_forms: Rows) -> tuple[list[Preimage], Failure | None]:
    A = [list(column) for column in zip(*a_forms, strict=True)]  # a_r(w) = sum_q A_qr w_q
    assert point.layer.image(V, A) == point.values, "the factorisation reproduces the point"
    rank = int(flint.fmpq_mat(A).rank())
    if rank > point.layer.a:
        return [], flattening_failure(point, point.layer.a + 1)
    return [rational_preimage(point, V, A, 1)], None


def rational_preimage(point: Point, V: Rows, A: Rows, multiplicity: int) -> Preimage:
    """Weights over QQ: V made primitive, A = K^T Q by its reduced row echelon form."""
    factor = rational(primitive_factor([to_sympy(x) for row in V for x in row]))
    V, A = [[x * factor for x in row] for row in V], [[x / factor for x in row] for row in A]
    reduced, rank = flint.fmpq_mat(A).rref()
    d = point.layer.d
    pivots = [next(j for j in range(d) if reduced[i, j] != 0) for i in range(int(rank))]
    Q = [[reduced[i, j] for j in range(d)] for i in range(len(pivots))]
    K = [[A[p][j] for p in range(d)] for j in pivots]
    return Preimage(
        Q=_padded(Q, point.layer.a, d),
        K=_padded(K, point.layer.a, d),
        V=sympy.ImmutableMatrix([[to_sympy(x) for x in row] for row in V]),
        field="QQ",
        real=True,
        multiplicity=multiplicity,
        rank=len(pivots),
    )


def _padded(rows: Rows, count: int, d: int) -> sympy.ImmutableMatrix:
    full = [[to_sympy(x) for x in row] for row in rows]
    full += [[sympy.Integer(0)] * d for _ in range(count - len(full))]
    return sympy.ImmutableMatrix(count, d, [x for row in full for x in row])


# Both ranks one: T = u (x) Q(w) (x) q


def _both_rank_one(point: Point, i0: int, r0: int) -> tuple[list[Preimage], Failure | None]:
    layer = point.layer
    quadric = point.forms[i0][r0]
    u = [constant_ratio(row[r0], quadric) for row in point.forms]
    q = [constant_ratio(form, quadric) for form in point.forms[i0]]
    S = symmetric_matrix(quadric, layer.d)
    diagonal = diagonalise(S)
    if len(diagonal) > 2:
        failure = rank_failure(
            point, S, 3, f"the quadratic form T_{i0}{r0}(w) = {quadric}", (i0, r0)
        )
        return [], failure
    splitting = split(diagonal, 1)
    assert splitting is not None
    left, right = splitting.left[0], splitting.right[0]
    if len(diagonal) == 1:
        # l^2: the fibre is Spec k[m_1, ..., m_{d-1}] / (m)^2, of length d.
        return [_rank_one_preimage(point, u, q, left, right, splitting.radicands, layer.d)], None
    found = [
        _rank_one_preimage(point, u, q, left, right, splitting.radicands, 1),
        _rank_one_preimage(point, u, q, right, left, splitting.radicands, 1),
    ]
    if splitting.real:
        return found, None
    positive, negative = signature(diagonal)
    determinant = diagonal[0][0] * diagonal[1][0]
    failure = Failure(
        "inequality",
        f"only with complex weights: T = u (x) Q (x) q with Q = T_{i0}{r0}(w) = {quadric} definite "
        f"of rank 2, signature ({positive}, {negative}); a product of two real linear forms has "
        "signature (1, 1)",
        value=to_sympy(determinant),
    )
    return found, failure


def _rank_one_preimage(
    point: Point,
    u: list[flint.fmpq],
    q: list[flint.fmpq],
    left: tuple[sympy.Expr, ...],
    right: tuple[sympy.Expr, ...],
    radicands: tuple[int, ...],
    multiplicity: int,
) -> Preimage:
    """V = u left^T and A = right q^T: the first row of K is right, that of Q is q."""
    a, d = point.layer.a, point.layer.d
    entries = [sympy.expand(to_sympy(x) * y) for x in u for y in left]
    scale = primitive_factor(entries)
    return Preimage(
        Q=_first_row([to_sympy(x) for x in q], a, d),
        K=_first_row([sympy.expand(x / scale) for x in right], a, d),
        V=sympy.ImmutableMatrix(len(u), d, [sympy.expand(x * scale) for x in entries]),
        field=field_name(radicands),
        real=all(m > 0 for m in radicands),
        multiplicity=multiplicity,
        rank=1,
    )


def primitive_factor(entries: Sequence[sympy.Expr]) -> sympy.Rational:
    """The rational that makes rational entries coprime integers, the first nonzero one positive.

    1 when an entry is irrational.
    """
    found = [x for x in entries if x != 0]
    if not all(isinstance(x, sympy.Rational) for x in found):
        return sympy.Integer(1)
    denominator = sympy.ilcm(*(x.q for x in found), 1)
    content = sympy.igcd(*(x * denominator for x in found), 0)
    factor = sympy.Rational(denominator, content)
    return factor if found[0] > 0 else -factor


def _first_row(row: list[sympy.Expr], count: int, d: int) -> sympy.ImmutableMatrix:
    return sympy.ImmutableMatrix(count, d, [*row, *([sympy.Integer(0)] * ((count - 1) * d))])
