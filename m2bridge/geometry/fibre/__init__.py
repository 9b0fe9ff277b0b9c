"""All weights that compute the same function: points, symmetries, dimensions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy

from m2bridge.attention.layer import Layer
from m2bridge.attention.weights import NetworkWeights, Weights
from m2bridge.engine import Session
from m2bridge.geometry.fibre.confirm import confirmed, factorisation_primes
from m2bridge.geometry.fibre.factorisations import (
    Factorisations,
    factorisations,
    form_factorisations,
)
from m2bridge.geometry.fibre.jacobian import differential_kernel, parameter_kernel
from m2bridge.geometry.fibre.result import Fibre, FibreComponent
from m2bridge.geometry.fibre.symmetry import Generator, Symmetry, symmetries
from m2bridge.geometry.recognize import Preimage, Recognition, recognize

__all__ = [
    "Factorisations",
    "Fibre",
    "FibreComponent",
    "Generator",
    "Symmetry",
    "confirmed",
    "differential_kernel",
    "factorisation_primes",
    "factorisations",
    "fibre",
    "form_factorisations",
    "parameter_kernel",
    "symmetries",
]

#: Differentials are computed up to this many entries of their matrix.
_MAX_ENTRIES = 200_000


def fibre(
    layer: Layer,
    point: object = None,
    *,
    Q: object = None,
    K: object = None,
    V: object = None,
    session: Session | None = None,
    timeout: float | None = None,
) -> Fibre:
    """Describe all weights with the same function, exactly.

    Args:
        layer: the layer.
        point: the function, in any form that `recognize` reads, or exact `Weights`.
        Q, K, V: exact weights, instead of ``point``.
        session: an M2 session; M2 then computes the fibre over QQ too, and must agree.
        timeout: for M2, in seconds.

    Returns:
        The points (V, A) up to scaling over the complex numbers, and over each the variety of
        (Q, K), with dimensions over the complex and the real numbers.

    Raises:
        TypeError: for floats, or when not exactly one of point and weights is given.
        ValueError: for a point that is not in the closure of the image, or of the wrong length.
        VerificationError: when M2 finds another fibre; other errors of M2 as they are.

    Theorem 2 of the docs' theory page (t = 1: its part 4); the generic case is that of
    arXiv 2408.17221.
    """
    weights = _given_weights(layer, point, Q, K, V)
    answer = recognize(layer, point if weights is None else layer.coefficients(weights))
    if not answer.over_complex:
        raise ValueError(
            f"the point is not in the closure of the image of {layer!r}: {answer.reason}"
        )
    if answer.is_zero or not answer.coefficients:
        components, given = _over_zero(layer), None
    else:
        components = tuple(_component(layer, preimage) for preimage in answer.preimages)
        given = None if weights is None else _position(answer, weights)
    found = Fibre(
        layer,
        answer.coefficients,
        components,
        symmetries(layer),
        swap=not answer.is_zero and len(components) > 1,
        given=given,
        certainty=answer.certainty,
    )
    if session is None or found.is_zero:
        return found
    return replace(found, m2=confirmed(found, session, timeout))


def _given_weights(layer: Layer, point: object, Q: object, K: object, V: object) -> Weights | None:
    named = [value is not None for value in (Q, K, V)]
    if (point is None) == (not any(named)) or (any(named) and not all(named)):
        raise TypeError("give either a point or all of Q=, K= and V=")
    if isinstance(point, NetworkWeights):
        point = point.layers[0][0]
    if isinstance(point, Weights):
        Q, K, V = point.Q, point.K, point.V
    elif point is not None:
        return None
    weights = layer.weights(Q, K, V)
    if not weights.exact:
        raise TypeError(
            "a fibre is computed exactly, and these weights are floating-point numbers: give "
            "integers or fractions, or use identify for a numerical answer"
        )
    return weights


def _position(answer: Recognition, weights: Weights) -> int | None:
    """Which preimage has a V proportional to the one given (V determines the rest)."""
    given = [sympy.sympify(x) for x in weights.V.ravel().tolist()]
    for k, preimage in enumerate(answer.preimages):
        other = list(preimage.V)
        pivot = next(i for i, x in enumerate(other) if x != 0)
        if all(
            sympy.simplify(x * other[pivot] - y * given[pivot]) == 0
            for x, y in zip(given, other, strict=True)
        ):
            return k
    return None


def _component(layer: Layer, preimage: Preimage) -> FibreComponent:
    if layer.t == 1:
        over = form_factorisations(layer.d, layer.a, preimage.signature, preimage.rank)
    else:
        over = factorisations(layer.d, layer.a, preimage.rank)
    real = None
    if preimage.real:
        assert over.real_dimension is not None
        real = over.real_dimension + 1
    kernel = None
    size = (layer.d_out * layer.d + layer.d**2) * layer.ambient_dimension
    if size <= _MAX_ENTRIES:
        kernel = differential_kernel(layer, preimage.V, preimage.A)
    return FibreComponent(
        preimage,
        f"scaling GL(1) times {over.description}",
        tuple(1 + x for x in over.component_dimensions),
        real,
        preimage.real,
        preimage.multiplicity,
        preimage.multiplicity == 1,
        over.homogeneous,
        kernel,
    )


def _over_zero(layer: Layer) -> tuple[FibreComponent, ...]:
    """V = 0 with any Q and K; and A = 0 (t = 1: sym(A) = 0) with any V."""
    free = 2 * layer.a * layer.d
    entries: list[Any] = [("V = 0, Q and K arbitrary", (free,), free)]
    if layer.t == 1:
        over, name = form_factorisations(layer.d, layer.a, (0, 0), 0), "sym(K^T Q) = 0"
    else:
        over, name = factorisations(layer.d, layer.a, 0), "K^T Q = 0"
    v = layer.d_out * layer.d
    assert over.real_dimension is not None
    dimensions = tuple(v + x for x in over.component_dimensions)
    entries.append(
        (f"{name}, V arbitrary: {over.description}", dimensions, v + over.real_dimension)
    )
    return tuple(
        FibreComponent(None, text, sizes, real, True, None, None, False)
        for text, sizes, real in entries
    )
