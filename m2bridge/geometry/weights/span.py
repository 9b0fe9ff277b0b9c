"""The module that some polynomials span under the group, and the ideal that such modules generate.

Everything happens at highest-weight vectors. For a polynomial f of weight nu and a highest weight
lambda above it, the raising operators of weight lambda - nu take f to vectors of weight lambda; the
rank of their pairings with the highest-weight vectors is the multiplicity of lambda in the module
that f generates, because those operators separate the weight space nu of an irreducible module.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping

import numpy as np
from flint import fmpz_mat

from m2bridge.geometry.weights.expand import (
    CodePolynomial,
    derive,
    permuted,
    reduced,
    step_table,
)
from m2bridge.geometry.weights.highest import (
    HighestWeightSpace,
    Shape,
    highest_weight_space,
)
from m2bridge.geometry.weights.ideal import product_pairings, product_sources
from m2bridge.geometry.weights.linear import IntMatrix, as_integers, primitive, to_flint
from m2bridge.geometry.weights.partitions import multiplicities, strip
from m2bridge.geometry.weights.space import Weight, decode, weight_of

__all__ = ["generated_degree", "module_spanned", "pairing_rank"]

Vectors = Mapping[Shape, IntMatrix]
"""Shape -> (n, k) columns of highest-weight vectors."""


def _weight(monomial: tuple[int, ...], degrees: tuple[int, ...], dims: tuple[int, ...]) -> Weight:
    """The torus weight of a monomial in codes."""
    total = [[0] * n for n in dims]
    for code in monomial:
        for block, row in enumerate(weight_of(decode(code, degrees), dims)):
            for i, e in enumerate(row):
                total[block][i] += e
    return tuple(tuple(row) for row in total)


def _dominant_parts(
    f: CodePolynomial, degrees: tuple[int, ...], dims: tuple[int, ...]
) -> Iterable[tuple[Weight, CodePolynomial]]:
    """The weight components of f, each permuted to a dominant weight."""
    parts: dict[Weight, CodePolynomial] = {}
    for monomial, c in f.items():
        parts.setdefault(_weight(monomial, degrees, dims), {})[monomial] = c
    for weight, part in parts.items():
        orders = []
        dominant = []
        for row in weight:
            decreasing = sorted(range(len(row)), key=lambda i, row=row: (-row[i], i))  # type: ignore[misc]
            place = [0] * len(row)
            for new, old in enumerate(decreasing):
                place[old] = new
            orders.append(place)
            dominant.append(tuple(row[i] for i in decreasing))
        yield tuple(dominant), permuted(part, degrees, orders)


def _height(weight: Weight) -> int:
    """Every simple raising operator increases this by one."""
    return -sum(i * e for row in weight for i, e in enumerate(row))


def _raised_spans(
    spans: dict[Weight, list[CodePolynomial]], degrees: tuple[int, ...], dims: tuple[int, ...]
) -> dict[Weight, list[CodePolynomial]]:
    """Close weight spaces under the raising operators."""
    waiting = dict(spans)
    done: dict[Weight, list[CodePolynomial]] = {}
    while waiting:
        weight = min(waiting, key=lambda w: (_height(w), w))
        basis = reduced(waiting.pop(weight))
        done[weight] = basis
        for block, row in enumerate(weight):
            for k in range(len(row) - 1):
                if row[k + 1] == 0:
                    continue
                table = step_table(degrees, dims, block, k, -1)
                images = [g for g in (derive(f, table) for f in basis) if g]
                if images:
                    higher = (*row[:k], row[k] + 1, row[k + 1] - 1, *row[k + 2 :])
                    goal = (*weight[:block], higher, *weight[block + 1 :])
                    waiting.setdefault(goal, []).extend(images)
    return done


def _as_rows(space: HighestWeightSpace, polynomials: list[CodePolynomial]) -> IntMatrix:
    """Polynomials in codes as coefficient rows over the monomials of a weight."""
    index = {tuple(int(x) for x in row): i for i, row in enumerate(space.monomials)}
    out: IntMatrix = np.zeros((len(polynomials), len(index)), dtype=object)
    for i, f in enumerate(polynomials):
        for key, c in f.items():
            out[i, index[key]] = c
    return out


def _weighted(space: HighestWeightSpace) -> IntMatrix:
    """The highest-weight vectors as functionals: (n, m)."""
    weighted: IntMatrix = space.vectors.astype(object) * space.norms.astype(object)[:, None]
    return weighted


def pairing_rank(space: HighestWeightSpace, vectors: IntMatrix) -> int:
    """The dimension spanned by the highest-weight components of columns of coefficients."""
    if not vectors.shape[1]:
        return 0
    return int(to_flint(vectors.T.astype(object) @ _weighted(space)).rank())


def _from_pairings(space: HighestWeightSpace, pairings: IntMatrix) -> IntMatrix:
    """Highest-weight vectors with a basis of these pairings: solve with the Gram matrix."""
    n, m = space.vectors.shape
    if not len(pairings):
        return np.zeros((n, 0), dtype=np.int64)
    echelon, _, rank = to_flint(pairings).rref()
    if not rank:
        return np.zeros((n, 0), dtype=np.int64)
    rows = fmpz_mat(rank, m, [int(echelon[i, j]) for i in range(rank) for j in range(m)])
    gram = to_flint(space.vectors.T.astype(object) @ _weighted(space))
    # A rational solution, scaled to integers: det(G) G^{-1} W^T.
    solution = gram.solve(rows.transpose()) * gram.det()
    columns = [primitive([int(solution[i, j]) for i in range(m)]) for j in range(rank)]
    coefficients = as_integers(columns, (rank, m)).T.astype(object)
    vectors = space.vectors.astype(object) @ coefficients
    return as_integers([primitive(list(v)) for v in vectors.T], (rank, n)).T


def module_spanned(
    degrees: tuple[int, ...], dims: tuple[int, ...], polynomials: Iterable[CodePolynomial]
) -> dict[Shape, IntMatrix]:
    """Highest-weight vectors of the module that homogeneous polynomials generate under the group.

    Args:
        degrees: symmetric powers of the blocks.
        dims: dimensions of the blocks.
        polynomials: in coordinate codes, all of one degree.

    Returns:
        Shape -> (n, k) columns, k the multiplicity.
    """
    spans: dict[Weight, list[CodePolynomial]] = {}
    degree = 0
    for f in polynomials:
        for weight, part in _dominant_parts(f, degrees, dims):
            spans.setdefault(weight, []).append(part)
            degree = len(next(iter(part)))
    present = multiplicities(degrees, degree, dims)
    out: dict[Shape, IntMatrix] = {}
    for weight, basis in _raised_spans(spans, degrees, dims).items():
        shape = tuple(strip(row) for row in weight)
        if not basis or shape not in present or any(_rises(row) for row in weight):
            continue
        space = highest_weight_space(degrees, shape)
        vectors = _from_pairings(space, _as_rows(space, basis) @ _weighted(space))
        if vectors.shape[1]:
            out[shape] = vectors
    return dict(sorted(out.items(), reverse=True))


def _rises(row: tuple[int, ...]) -> bool:
    return any(x < y for x, y in itertools.pairwise(row))


def generated_degree(
    degrees: tuple[int, ...],
    dims: tuple[int, ...],
    degree: int,
    below: Vectors,
    fresh: Vectors,
) -> dict[Shape, IntMatrix]:
    """One degree of the ideal generated by modules: (coordinates) * below + fresh.

    Args:
        degrees: symmetric powers of the blocks.
        dims: dimensions of the blocks.
        degree: the degree D.
        below: highest-weight vectors of the ideal in degree D - 1.
        fresh: highest-weight vectors of the new modules in degree D.
    """
    out: dict[Shape, IntMatrix] = {}
    for shape in multiplicities(degrees, degree, dims):
        sources = product_sources(degrees, shape, below)
        if not sources and shape not in fresh:
            continue
        space = highest_weight_space(degrees, shape)
        pairings = product_pairings(space, sources)
        if shape in fresh:
            own = fresh[shape].T.astype(object) @ _weighted(space)
            pairings = np.vstack([pairings, own])
        vectors = _from_pairings(space, pairings)
        if vectors.shape[1]:
            out[shape] = vectors
    return out
