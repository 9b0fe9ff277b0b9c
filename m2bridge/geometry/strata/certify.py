"""Exact computation at the representative of a stratum, against the closed formulas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from m2bridge.errors import VerificationError
from m2bridge.geometry.strata.linear import Vector, limit_span, rank
from m2bridge.geometry.strata.preimages import moving_tangents, preimages, source_directions, sparse
from m2bridge.geometry.strata.stratum import Evidence, Representative, Stratum
from m2bridge.geometry.strata.tensors import Tensors

if TYPE_CHECKING:
    from sympy import Poly

__all__ = ["certified", "gradient", "gradients", "tangent_vectors"]


def certified(
    stratum: Stratum, equations: Sequence[Poly] | None = None, tensors: Tensors | None = None
) -> Stratum:
    """The same stratum with evidence: its numbers are recomputed exactly at the representative.

    Args:
        stratum: any stratum.
        equations: polynomials in the layer's symbols that vanish on all its functions; they give
            upper bounds for tangent spaces, and the certificate of smoothness.
        tensors: the layer's coordinates, to share the work between strata.

    Raises:
        VerificationError: a computed number contradicts a closed formula.
    """
    tensors = tensors or Tensors(stratum.layer)
    point = {k: x for k, x in enumerate(stratum.point()) if x}
    orbit_rank = rank(tensors.lie_algebra_orbit(point))
    kernel, vectors = tangent_vectors(stratum, tensors)
    evidence = Evidence(
        orbit_rank=orbit_rank,
        differential_kernel=kernel,
        preimages=len(preimages(stratum)),
        tangent_lower=rank(vectors),
    )
    if equations is not None:
        evidence = _with_gradients(evidence, stratum, equations)
    _compare(stratum, evidence)
    return replace(stratum, evidence=evidence)


def _with_gradients(evidence: Evidence, stratum: Stratum, equations: Sequence[Poly]) -> Evidence:
    point = stratum.point()
    found = rank(gradients(equations, point))
    degrees = Counter(int(equation.total_degree()) for equation in equations)
    return replace(
        evidence,
        gradient_rank=found,
        equations=tuple(sorted(degrees.items())),
        tangent_upper=len(point) - found,
    )


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


def gradient(equation: Poly, point: Sequence[int]) -> dict[int, int]:
    """The gradient of a polynomial with integer coefficients at an integer point, sparse."""
    total: dict[int, int] = {}
    for exponents, coefficient in equation.terms():
        support = [(k, e) for k, e in enumerate(exponents) if e]
        zeros = [k for k, _ in support if not point[k]]
        if len(zeros) > 1:
            continue
        for k, e in support:
            if zeros and k != zeros[0]:
                continue
            value = int(coefficient) * e
            for j, f in support:
                value *= point[j] ** (f - (j == k))
            if value:
                total[k] = total.get(k, 0) + value
    return {k: value for k, value in total.items() if value}


def gradients(equations: Iterable[Poly], point: Sequence[int]) -> Iterator[dict[int, int]]:
    """The nonzero gradients of the equations at a point."""
    for equation in equations:
        found = gradient(equation, point)
        if found:
            yield found


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
