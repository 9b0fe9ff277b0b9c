"""The stratum of an exact point, read off ranks of its flattenings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import flint

from m2bridge.attention import Layer
from m2bridge.geometry.strata.forms import canonical
from m2bridge.geometry.strata.ranks import RankStratum
from m2bridge.geometry.strata.stratum import Stratum
from m2bridge.geometry.strata.symmetric import SymmetricStratum
from m2bridge.geometry.strata.tensors import Tensors

__all__ = ["stratum_of_cubic", "stratum_of_point", "stratum_of_tensor"]

Rational = Any
"""Something that flint.fmpq takes: integers and rationals of Python, sympy or flint."""


def _rational(x: Rational) -> flint.fmpq:
    return x if isinstance(x, flint.fmpq) else flint.fmpq(int(x.numerator), int(x.denominator))


def _rank_of_groups(terms: Sequence[tuple[Any, Any, flint.fmpq]]) -> int:
    """The rank of the matrix with these (row label, column label, entry) summed up."""
    rows: dict[Any, int] = {}
    columns: dict[Any, int] = {}
    for row, column, _ in terms:
        rows.setdefault(row, len(rows))
        columns.setdefault(column, len(columns))
    if not terms:
        return 0
    matrix = [[flint.fmpq(0)] * len(columns) for _ in rows]
    for row, column, value in terms:
        matrix[rows[row]][columns[column]] += value
    return int(flint.fmpq_mat(matrix).rank())


def _variables(labels: Sequence[Any], values: Sequence[flint.fmpq]) -> int:
    """How many variables x the forms need: the rank of all their first derivatives."""
    terms = []
    for (i, monomial, r), value in zip(labels, values, strict=True):
        for k in set(monomial):
            rest = list(monomial)
            rest.remove(k)
            terms.append((k, (i, tuple(rest), r), value * monomial.count(k)))
    return _rank_of_groups([term for term in terms if term[2]])


def stratum_of_tensor(layer: Layer, point: Sequence[Rational]) -> RankStratum:
    """The stratum of a point that is known to lie in the closure of the functions, t >= 2.

    The ranks of V, A and [V^T | A] are those of the three flattenings of T = v_i a_r.
    """
    tensors = Tensors(layer)
    values = [_rational(x) for x in point]
    entries = [(label, x) for label, x in zip(tensors.labels, values, strict=True) if x]
    return RankStratum(
        _rank_of_groups([(i, (m, r), x) for (i, m, r), x in entries]),
        _rank_of_groups([(r, (i, m), x) for (i, m, r), x in entries]),
        _variables(tensors.labels, values),
        layer=layer,
    )


def stratum_of_cubic(
    layer: Layer,
    point: Sequence[Rational],
    weights: Callable[[], tuple[Sequence[Sequence[Rational]], Sequence[Sequence[Rational]]] | None],
) -> SymmetricStratum:
    """The stratum of a point that is known to lie in the closure of the functions, t = 1.

    Args:
        layer: the model.
        point: rational coordinates.
        weights: gives rational (V, S) with this function, or None if there are none; then the
            point is u times a cubic that is irreducible over QQ, a product of three conjugate
            linear forms, and its number of variables decides.
    """
    d = layer.d
    values = [_rational(x) for x in point]
    if not any(values):
        return SymmetricStratum(0, 0, d, 0, layer=layer)
    given = weights()
    if given is None:
        count = _variables(Tensors(layer).labels, values)
        kind = (1, 2, d - 3, 2) if count == 3 else (1, 2, d - 2, 1)
        return SymmetricStratum(*kind, layer=layer)
    V = flint.fmpq_mat([[_rational(x) for x in row] for row in given[0]])
    S = flint.fmpq_mat([[_rational(x) for x in row] for row in given[1]])
    rank_v = int(V.rank())
    kernel = _kernel(V)
    both = [[V[i, k] for k in range(d)] for i in range(V.nrows())]
    both += [[S[i, k] for k in range(d)] for i in range(d)]
    common = d - int(flint.fmpq_mat(both).rank())
    restricted = 0
    if kernel:
        N = flint.fmpq_mat(kernel)
        restricted = int((N * S * N.transpose()).rank())
    return SymmetricStratum(*canonical(d, (rank_v, int(S.rank()), common, restricted)), layer=layer)


def _kernel(matrix: flint.fmpq_mat) -> list[list[flint.fmpq]]:
    """A basis of the kernel, from the reduced echelon form."""
    size = matrix.ncols()
    reduced, count = matrix.rref()
    pivots = [next(j for j in range(size) if reduced[i, j] != 0) for i in range(int(count))]
    basis = []
    for free in (j for j in range(size) if j not in pivots):
        vector = [flint.fmpq(0)] * size
        vector[free] = flint.fmpq(1)
        for i, j in enumerate(pivots):
            vector[j] = -reduced[i, free]
        basis.append(vector)
    return basis


def stratum_of_point(
    layer: Layer,
    point: Sequence[Rational],
    weights: Callable[[], tuple[Sequence[Sequence[Rational]], Sequence[Sequence[Rational]]] | None],
) -> Stratum:
    """`stratum_of_tensor` or `stratum_of_cubic`, as t demands."""
    if layer.t == 1:
        return stratum_of_cubic(layer, point, weights)
    return stratum_of_tensor(layer, point)
