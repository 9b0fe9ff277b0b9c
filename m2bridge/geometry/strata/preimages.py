"""The weights over the representative of a stratum, and the directions in which they can move."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement, product

from m2bridge.attention import Layer
from m2bridge.geometry.strata.forms import is_special, normal_products
from m2bridge.geometry.strata.linear import Moving, combine, dense_rank
from m2bridge.geometry.strata.ranks import RankStratum, unit_rows
from m2bridge.geometry.strata.stratum import Matrix, Representative, Stratum
from m2bridge.geometry.strata.symmetric import SymmetricStratum
from m2bridge.geometry.strata.tensors import LinearForm, Tensors

__all__ = ["Sparse", "moving_tangents", "preimages", "source_directions", "sparse"]

Sparse = dict[tuple[int, int], int]


def sparse(matrix: Matrix) -> Sparse:
    """The nonzero entries."""
    return {(i, j): x for i, row in enumerate(matrix) for j, x in enumerate(row) if x}


def preimages(stratum: Stratum) -> tuple[Representative, ...]:
    """All complex weights (V, A), up to scaling, of the representative's function; () for zero.

    For t = 1, A stands for its symmetric part.
    """
    if stratum.is_origin:
        return ()
    if isinstance(stratum, RankStratum) and stratum.type == (1, 1, 2):
        V, A = stratum.representative
        swapped = unit_rows(len(V), len(V[0]), {(0, 1): 1}), unit_rows(len(A), len(A), {(0, 0): 1})
        return (Representative(V, A), Representative(*swapped))
    if isinstance(stratum, SymmetricStratum) and is_special(stratum.type):
        return _factor_choices(stratum)
    return (stratum.representative,)


def _three_factors(stratum: SymmetricStratum) -> list[dict[int, int]]:
    """Linear forms l, m, n with V = u l and S = m n at the representative."""
    form = [f for f in stratum.real_forms if f.in_image][-1]
    ((left, right),) = normal_products(stratum.layer.d, stratum.type, form)
    return [{0: 1}, left, right]


def _factor_choices(stratum: SymmetricStratum) -> tuple[Representative, ...]:
    """Every factor of l m n in turn is given to V; equal factors count once."""
    d, d_out = stratum.layer.d, stratum.layer.d_out
    factors = _three_factors(stratum)
    found: list[Representative] = []
    seen: list[dict[int, int]] = []
    for k, first in enumerate(factors):
        if first in seen:
            continue
        seen.append(first)
        left, right = (f for j, f in enumerate(factors) if j != k)
        entries: Sparse = {(q, r): x * y for q, x in left.items() for r, y in right.items()}
        V = unit_rows(d_out, d, {(0, p): x for p, x in first.items()})
        found.append(Representative(V, unit_rows(d, d, entries)))
    return tuple(found)


def source_directions(layer: Layer, A: Matrix) -> list[Sparse]:
    """Matrices that span the tangent space of the admissible A (t = 1: of the forms) at A."""
    d = layer.d
    if layer.t == 1:
        S = tuple(tuple(A[q][r] + A[r][q] for r in range(d)) for q in range(d))
        largest = min(2 * layer.a, d)
        if largest == d or dense_rank(S) < largest:
            return [{(q, r): 1} for q in range(d) for r in range(q, d)]
        columns = [{q: S[q][k] for q in range(d) if S[q][k]} for k in range(d)]
        return [{(q, r): x for q, x in c.items()} for c in columns if c for r in range(d)]
    if layer.a >= d or dense_rank(A) < layer.a:
        return [{(q, r): 1} for q in range(d) for r in range(d)]
    columns = [{q: A[q][k] for q in range(d) if A[q][k]} for k in range(d)]
    rows = [{r: x for r, x in enumerate(row) if x} for row in A]
    directions = [{(q, r): x for q, x in c.items()} for c in columns if c for r in range(d)]
    return directions + [{(q, r): x for r, x in w.items()} for w in rows if w for q in range(d)]


def moving_tangents(stratum: Stratum, tensors: Tensors) -> Iterator[list[Moving]]:
    """Tangent vectors along curves of functions that end at the representative, one list a curve.

    The curves run through points over which V's linear form can be exchanged with others; the
    limits of their tangent spaces lie in the tangent space at the end of the curve, since the
    gradients of equations depend continuously on the point.
    """
    d = stratum.layer.d
    if isinstance(stratum, RankStratum) and stratum.type == (1, 1, 1):
        for k in range(1, d):
            plus, minus = ({0: 1}, {k: 1}), ({0: 1}, {k: -1})
            yield [
                vector
                for forms in ((plus, minus), (minus, plus))
                for vector in _pair_tangents(stratum.layer, tensors, *forms)
            ]
    if isinstance(stratum, SymmetricStratum) and is_special(stratum.type) and d >= 2:
        for curve in _cubic_curves(stratum):
            yield [
                vector
                for k in range(3)
                for vector in _cubic_tangents(stratum, tensors, curve[k:] + curve[:k])
            ]


def _units(d: int) -> list[LinearForm]:
    return [({k: 1},) for k in range(d)]


def _pair_tangents(
    layer: Layer, tensors: Tensors, first: LinearForm, second: LinearForm
) -> Iterator[Moving]:
    """Tangent vectors at u * first * second * q, `first` being V's linear form."""
    units = _units(layer.d)
    for x in units:
        for i in range(layer.d_out):
            yield tensors.product(i, (x, second), 0)
        for r in range(layer.d if layer.a >= 2 else 1):
            yield tensors.product(0, (first, x), r)
    for r in range(layer.d):
        yield tensors.product(0, (first, second), r)


def _cubic_curves(stratum: SymmetricStratum) -> Iterator[tuple[LinearForm, ...]]:
    """Triples of moving linear forms whose product ends at the representative."""
    d = stratum.layer.d
    factors = _three_factors(stratum)
    first, second, third = ((factor,) for factor in factors)
    if not stratum.repeated_factor:
        yield first, second, third
        for k in range(d):
            yield first, second, (factors[2], {k: 1})
    elif stratum.rank_s == 2:
        double, single = (first, third) if factors[0] == factors[1] else (first, second)
        for k, h in product(range(1, d), range(d)):
            yield double, (factors[0], {k: 1}), (single[0], {h: 1})
    else:
        for k, h, g in combinations_with_replacement(range(1, d), 3):
            yield first, (factors[1], {k: 1}), (factors[2], combine([(1, {h: 1}), (1, {g: 1})]))


def _cubic_tangents(
    stratum: SymmetricStratum, tensors: Tensors, forms: tuple[LinearForm, ...]
) -> Iterator[Moving]:
    """Tangent vectors at u * l m n, l being V's linear form."""
    layer = stratum.layer
    first, left, right = forms
    units = _units(layer.d)
    for x in units:
        for i in range(layer.d_out):
            yield tensors.product(i, (x, left, right), 0)
        for y in units if stratum.form_rank >= 3 else (left, right):
            yield tensors.product(0, (first, x, y), 0)
