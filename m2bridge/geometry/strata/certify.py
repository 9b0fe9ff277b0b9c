"""Exact computation at the representative of a stratum, against the closed formulas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from m2bridge.errors import VerificationError
from m2bridge.geometry.strata.equations import Equation, gradients
from m2bridge.geometry.strata.linear import Vector, limit_span, rank
from m2bridge.geometry.strata.preimages import moving_tangents, preimages, source_directions, sparse
from m2bridge.geometry.strata.stratum import Evidence, Representative, Stratum
from m2bridge.geometry.strata.tensors import Tensors

__all__ = ["certified", "tangent_vectors", "with_gradients"]


def certified(stratum: Stratum, tensors: Tensors | None = None) -> Stratum:
    """The same stratum with evidence: its numbers are recomputed exactly at the representative.

    Args:
        stratum: any stratum.
        tensors: the layer's coordinates, to share the work between strata.

    Raises:
        VerificationError: a computed number contradicts a closed formula.
    """
    tensors = tensors or Tensors(stratum.layer)
    point = {k: x for k, x in enumerate(stratum.point()) if x}
    kernel, vectors = tangent_vectors(stratum, tensors)
    evidence = Evidence(
        orbit_rank=rank(tensors.lie_algebra_orbit(point)),
        differential_kernel=kernel,
        preimages=len(preimages(stratum)),
        tangent_lower=rank(vectors),
    )
    _compare(stratum, evidence)
    return replace(stratum, evidence=evidence)


def with_gradients(stratum: Stratum, equations: Sequence[Equation]) -> Stratum:
    """A certified stratum with the rank of the gradients of equations added.

    Args:
        stratum: a stratum that has evidence.
        equations: polynomials that vanish on all functions of the layer; they bound tangent
            spaces from above, and certify smoothness.

    Raises:
        ValueError: the stratum has no evidence yet.
        VerificationError: the rank contradicts the formula for the tangent dimension.
    """
    if stratum.evidence is None:
        raise ValueError("certify the stratum first")
    point = stratum.point()
    found = rank(gradients(equations, point))
    degrees = Counter(len(next(iter(equation))) for equation in equations)
    evidence = replace(
        stratum.evidence,
        gradient_rank=found,
        equations=tuple(sorted(degrees.items())),
        tangent_upper=len(point) - found,
    )
    _compare(stratum, evidence)
    return replace(stratum, evidence=evidence)


def tangent_vectors(
    stratum: Stratum, tensors: Tensors | None = None
) -> tuple[int | None, list[Vector]]:
    """Vectors in the tangent space of the closure of all functions at the representative.

    They are the images of the differential at all preimages, and limits along curves of
    functions; at zero, all products of unit weights.

    Returns:
        The largest kernel of the differential at a preimage, modulo scaling (None for zero), and
        the vectors.

    Raises:
        VerificationError: a listed preimage has another function.
    """
    tensors = tensors or Tensors(stratum.layer)
    d, d_out = stratum.layer.d, stratum.layer.d_out
    if stratum.is_origin:
        units_a = [{(q, r): 1} for q in range(d) for r in range(d)]
        units_v = [{(i, p): 1} for i in range(d_out) for p in range(d)]
        return None, [tensors.image(V, A) for V in units_v for A in units_a]
    vectors: list[Vector] = []
    kernels = []
    point = tensors.image(*map(sparse, stratum.representative))
    for weights in preimages(stratum):
        if tensors.image(*map(sparse, weights)) != point:
            raise VerificationError(f"{weights} is no preimage of the representative's function")
        images = list(_differential(stratum, tensors, weights))
        directions = source_directions(stratum.layer, weights.A)
        size = d * d_out + _span(directions, d, symmetric=tensors.cubic)
        kernels.append(size - rank(images) - 1)
        vectors += images
    for moving in moving_tangents(stratum, tensors):
        vectors += limit_span(moving)
    return max(kernels), vectors


def _span(directions: Iterable[Any], d: int, *, symmetric: bool) -> int:
    """The dimension of the span of matrices (t = 1: of their quadratic forms)."""

    def flat(q: int, r: int) -> int:
        return min(q, r) * d + max(q, r) if symmetric else q * d + r

    rows = []
    for direction in directions:
        row: dict[int, int] = {}
        for (q, r), x in direction.items():
            row[flat(q, r)] = row.get(flat(q, r), 0) + x
        rows.append(row)
    return rank(rows)


def _differential(stratum: Stratum, tensors: Tensors, at: Representative) -> Iterator[Vector]:
    V, A = sparse(at.V), sparse(at.A)
    for i in range(stratum.layer.d_out):
        for p in range(stratum.layer.d):
            yield tensors.image({(i, p): 1}, A)
    for direction in source_directions(stratum.layer, at.A):
        yield tensors.image(V, direction)


def _compare(stratum: Stratum, evidence: Evidence) -> None:
    """Raise VerificationError where a computed number contradicts a formula."""
    checks = [
        ("dimension", evidence.orbit_rank == stratum.dimension, evidence.orbit_rank),
        (
            "tangent dimension (lower bound)",
            evidence.tangent_lower <= stratum.tangent_dimension,
            evidence.tangent_lower,
        ),
        (
            "tangent dimension (upper bound)",
            evidence.tangent_upper is None or evidence.tangent_upper >= stratum.tangent_dimension,
            evidence.tangent_upper,
        ),
    ]
    if not stratum.is_origin:
        reduced = evidence.differential_kernel == 0
        checks.append(("reduced fibre", reduced == stratum.fibre_reduced, reduced))
        checks.append(
            (
                "number of preimages",
                evidence.preimages == stratum.fibre_points,
                evidence.preimages,
            )
        )
    for name, good, value in checks:
        if not good:
            raise VerificationError(
                f"{stratum.layer}, type {stratum.type}: {name} computed as {value} "
                "contradicts the formula"
            )
