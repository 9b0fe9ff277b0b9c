"""Recognition for t = 1: T_i(w) = v_i(w) s(w) with s the quadratic form of sym(A).

The gcd of the cubics T_i is s when V has rank at least 2. When V has rank 1, T = u (x) C with one
cubic C, and every linear factor of C over the complex numbers gives a preimage. What is left is
whether s is a sum of a products of linear forms: over the complex numbers when its rank is at most
2a, over the reals when at most a of its squares are positive and at most a negative. (Docs, theory
page, "One layer, t = 1".)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
from m2bridge.geometry.recognize.normform import NormForm, norm_form
from m2bridge.geometry.recognize.quadratic import (
    Diagonal,
    Splitting,
    diagonalise,
    rational,
    signature,
    split,
    to_sympy,
)
from m2bridge.geometry.recognize.result import Failure, Preimage, field_name
from m2bridge.geometry.recognize.tensor import primitive_factor
from m2bridge.geometry.recognize.witness import common_factor_failure, rank_failure

__all__ = ["preimages_of_cubics"]

Answer = tuple[list[Preimage], Failure | None]
Row = tuple[sympy.Expr, ...]


def preimages_of_cubics(point: Point) -> Answer:
    """All (V, s) up to scaling of a nonzero point, and what fails (over the reals, or at all)."""
    forms = [row[0] for row in point.forms]
    common = reduce(lambda f, g: f.gcd(g), forms)
    if degree(common) < 2:
        return [], common_factor_failure(point, [(i, 0) for i in range(len(forms))], 3)
    if degree(common) == 2:
        rows = [linear_vector(quotient(form, common), point.layer.d) for form in forms]
        V = [[to_sympy(x) for x in row] for row in rows]
        return _summed_up(point, [_rational_candidate(point, V, common, 1)])
    column = [to_sympy(constant_ratio(form, common)) for form in forms]
    return _of_one_cubic(point, column, common)


@dataclass(frozen=True)
class _Candidate:
    """One (V, s): a splitting of s, or the rank condition that fails over the complex numbers.

    ``failure`` is set where there is no splitting, and where there is none over the reals.
    """

    V: list[list[sympy.Expr]]
    splitting: Splitting | None
    rank: int
    signature: tuple[int, int] | None = None
    field: str = ""
    real: bool = False
    multiplicity: int = 1
    failure: Failure | None = None
    smallest: bool | None = True

    def preimage(self, point: Point) -> Preimage:
        assert self.splitting is not None
        a, d = point.layer.a, point.layer.d
        return Preimage(
            Q=_padded(self.splitting.right, a, d),
            K=_padded(self.splitting.left, a, d),
            V=sympy.ImmutableMatrix(self.V),
            field=self.field,
            real=self.real,
            multiplicity=self.multiplicity,
            rank=self.rank,
            signature=self.signature,
            smallest_field=self.smallest,
        )


def _padded(rows: Sequence[Row], count: int, d: int) -> sympy.ImmutableMatrix:
    zeros: list[Row] = [(sympy.Integer(0),) * d for _ in range(count - len(rows))]
    return sympy.ImmutableMatrix(count, d, [x for row in [*rows, *zeros] for x in row])


def _summed_up(point: Point, candidates: list[_Candidate]) -> Answer:
    """Preimages over the complexes, and the failure that matters."""
    possible = [c for c in candidates if c.splitting is not None]
    preimages = [c.preimage(point) for c in possible]
    if any(c.real for c in possible):
        return preimages, None
    failures = [c.failure for c in (possible or candidates) if c.failure is not None]
    # The inequality of a preimage with real (V, s) says more than a pair of conjugates.
    failures.sort(key=lambda failure: failure.value is None)
    return preimages, failures[0] if failures else None


def _rational_candidate(
    point: Point, V: list[list[sympy.Expr]], s: Any, multiplicity: int
) -> _Candidate:
    """A preimage whose V and s are rational."""
    layer = point.layer
    factor = primitive_factor([x for row in V for x in row])
    V, s = [[x * factor for x in row] for row in V], s * rational(1 / factor)
    S = symmetric_matrix(s, layer.d)
    diagonal = diagonalise(S)
    splitting = split(diagonal, layer.a)
    if splitting is None:
        failure = rank_failure(point, S, 2 * layer.a + 1, f"s(w) = {s}", None)
        return _Candidate(V, None, len(diagonal), failure=failure)
    return _Candidate(
        V,
        splitting,
        len(diagonal),
        signature(diagonal),
        field_name(splitting.radicands),
        splitting.real,
        multiplicity,
        None if splitting.real else _signature_failure(diagonal, str(s), layer.a),
        splitting.smallest,
    )


def _signature_failure(diagonal: Diagonal, name: str, a: int) -> Failure:
    positive, negative = signature(diagonal)
    return Failure(
        "inequality",
        f"only with complex weights: s(w) = {name} has signature ({positive}, {negative}), and a "
        f"real sym(K^T Q) has at most a = {a} positive and at most {a} negative eigenvalues",
        value=sympy.Integer(max(positive, negative)),
    )


# One cubic


def _of_one_cubic(point: Point, u: list[sympy.Expr], cubic: Any) -> Answer:
    _, factors = cubic.factor()
    kinds = sorted((degree(f), int(e)) for f, e in factors)
    if kinds == [(3, 1)]:
        return _irreducible(point, u, cubic)
    candidates = []
    for factor, exponent in factors:
        if degree(factor) == 1:
            vector = [to_sympy(x) for x in linear_vector(factor, point.layer.d)]
            V = _outer(u, vector)
            s = quotient(cubic, factor)
            multiplicity = _local_length(point.layer.d, int(exponent))
            candidates.append(_rational_candidate(point, V, s, multiplicity))
        else:
            candidates += _conjugate_candidates(point, u, cubic, factor)
    return _summed_up(point, candidates)


def _local_length(d: int, exponent: int) -> int:
    """Length of the fibre at a linear factor of this multiplicity: k[n]/(n)^exponent."""
    return {1: 1, 2: d, 3: d * (d + 1) // 2}[exponent]


def _outer(u: Sequence[sympy.Expr], row: Sequence[sympy.Expr]) -> list[list[sympy.Expr]]:
    return [[sympy.expand(x * y) for y in row] for x in u]


def _conjugate_candidates(
    point: Point, u: list[sympy.Expr], cubic: Any, quadric: Any
) -> list[_Candidate]:
    """An irreducible quadratic factor of rank 2 is a product of two conjugate linear forms."""
    diagonal = diagonalise(symmetric_matrix(quadric, point.layer.d))
    if len(diagonal) > 2:
        return []
    splitting = split(diagonal, 1)
    assert splitting is not None
    rest = linear_vector(quotient(cubic, quadric), point.layer.d)
    other = tuple(to_sympy(x) for x in rest)
    pair = (splitting.left[0], splitting.right[0])
    failure = None
    if not splitting.real:
        failure = Failure(
            "inequality",
            f"only with complex weights: the factor {quadric} of the cubic is definite of rank 2, "
            "its linear factors are conjugate",
        )
    return [
        _Candidate(
            _outer(u, pair[k]),
            Splitting((other,), (pair[1 - k],), splitting.radicands),
            2,
            (1, 1) if splitting.real else None,
            field_name(splitting.radicands),
            splitting.real,
            failure=failure,
        )
        for k in (0, 1)
    ]


# Irreducible over QQ


def _irreducible(point: Point, u: list[sympy.Expr], cubic: Any) -> Answer:
    norm = norm_form(point, cubic)
    if norm is None:
        failure = Failure(
            "equation",
            f"T = u (x) C with the cubic C(w) = {cubic}, which has no linear factor over the "
            "complex numbers: it is irreducible over QQ and not the norm of a linear form",
        )
        return [], failure
    totally_real = norm.real_roots == 3
    polynomial = norm.polynomial.as_expr()
    candidates = []
    for k in range(3):
        others = [j for j in range(3) if j != k]
        V = _outer(u, norm.factor(k))
        if not totally_real and k == 0 and point.layer.a >= 2:
            splitting, real, field = _sum_of_squares(norm), True, f"QQ(root of {polynomial})"
        else:
            left = tuple(to_sympy(norm.scale) * x for x in norm.factor(others[0]))
            splitting = Splitting((left,), (norm.factor(others[1]),), ())
            real, field = totally_real, f"the splitting field of {polynomial}"
        unreal = None if real else _norm_failure(norm, k, point.layer.a)
        form = (1, 1) if totally_real else ((2, 0) if k == 0 else None)
        candidates.append(_Candidate(V, splitting, 2, form, field, real, 1, unreal, None))
    return _summed_up(point, candidates)


def _norm_failure(form: NormForm, k: int, a: int) -> Failure:
    if k > 0:
        return Failure(
            "inequality", "only with complex weights: two of the three linear factors are conjugate"
        )
    return Failure(
        "inequality",
        "only with complex weights: the cubic is a real linear form, in the cubic field of "
        f"{form.polynomial.as_expr()}, times a definite quadratic form of rank 2; its signature "
        f"exceeds a = {a}",
        value=sympy.Integer(2),
    )


def _sum_of_squares(form: NormForm) -> Splitting:
    """l' l'' for the conjugates of a real l, written over the real cubic field.

    With C = c l l' l'', the quotient s = C / l has coefficients in QQ(theta). Only its Gram matrix
    is needed: A = S is real of rank 2, and S = S_pp^-1 (row p)(row p)^T + (rest of rank 1).
    """
    S = _quotient_matrix(form)
    theta = form.root(0)
    modulus = flint.fmpq_poly(
        [flint.fmpq(int(c.p), int(c.q)) for c in reversed(form.polynomial.all_coeffs())]
    )
    d = len(S)
    left: list[Row] = []
    right: list[Row] = []
    rest = S
    while any(x != 0 for row in rest for x in row):
        # Definite: a nonzero row has a nonzero diagonal entry.
        p = next(i for i in range(d) if rest[i][i] != 0)
        inverse = _inverse(rest[p][p], modulus)
        row = [(x * inverse) % modulus for x in rest[p]]
        left.append(tuple(_in_theta(x, theta) for x in rest[p]))
        right.append(tuple(_in_theta(x, theta) for x in row))
        rest = [[(rest[i][j] - rest[p][i] * row[j]) % modulus for j in range(d)] for i in range(d)]
    return Splitting(tuple(left), tuple(right), ())


def _in_theta(x: flint.fmpq_poly, theta: sympy.Expr) -> sympy.Expr:
    return sum((to_sympy(c) * theta**k for k, c in enumerate(list(x))), sympy.Integer(0))


def _inverse(x: flint.fmpq_poly, modulus: flint.fmpq_poly) -> flint.fmpq_poly:
    gcd, s, _ = x.xgcd(modulus)
    return (s * (1 / gcd[0])) % modulus


def _quotient_matrix(form: NormForm) -> list[list[flint.fmpq_poly]]:
    """The symmetric matrix of scale * l' l'' over QQ(theta).

    For x in a cubic field x' x'' = x^2 - tr(x) x + (tr(x)^2 - tr(x^2)) / 2; polarise.
    """
    modulus = flint.fmpq_poly(
        [flint.fmpq(int(c.p), int(c.q)) for c in reversed(form.polynomial.all_coeffs())]
    )
    linear = [flint.fmpq_poly(list(entry)) for entry in form.linear]
    traces = [_trace(x, modulus) for x in linear]
    matrix = []
    for x, tx in zip(linear, traces, strict=True):
        row = []
        for y, ty in zip(linear, traces, strict=True):
            xy = (x * y) % modulus
            value = xy - (x * ty + y * tx) / 2 + (tx * ty - _trace(xy, modulus)) / 2
            row.append(value % modulus * form.scale)
        matrix.append(row)
    return matrix


def _trace(x: flint.fmpq_poly, modulus: flint.fmpq_poly) -> flint.fmpq:
    return sum(
        (((x * flint.fmpq_poly([0] * k + [1])) % modulus)[k] for k in range(3)), flint.fmpq(0)
    )
