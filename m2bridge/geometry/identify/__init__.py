"""Where do these weights sit? Rank types, singular and boundary points, distances to them."""

from __future__ import annotations

from typing import Any

import numpy as np

from m2bridge.attention.layer import Layer
from m2bridge.attention.weights import Weights
from m2bridge.geometry.identify.batch import identify_batch
from m2bridge.geometry.identify.distances import distances
from m2bridge.geometry.identify.exact import form_data, joint, rank, symmetric_part
from m2bridge.geometry.identify.numerical import (
    SAFETY,
    default_tolerance,
    measure,
    spectra_of,
    verdict_at,
)
from m2bridge.geometry.identify.result import (
    BatchIdentification,
    Distance,
    Identification,
    Spectrum,
)
from m2bridge.geometry.identify.verdict import origin, rank_verdict, symmetric_verdict

__all__ = [
    "BatchIdentification",
    "Distance",
    "Identification",
    "Spectrum",
    "identify",
    "identify_batch",
]


def identify(
    layer: Layer,
    Q: object,
    K: object,
    V: object,
    *,
    tolerance: float | None = None,
) -> Identification:
    """Find the stratum of the function that these weights compute.

    Args:
        layer: the layer.
        Q, K: a x d.
        V: d_out x d.
        tolerance: for floating-point weights: singular values up to this, relative to the size of
            their matrix, count as zero. Default: some units in the last place of the least
            precise input.

    Returns:
        Exact for integers, rationals and algebraic sympy numbers. For floats numerical: with
        singular values, gaps and distances; `singular` and `boundary` are None when a tolerance
        a thousand times larger would change them.

    Raises:
        TypeError, ValueError: for wrong shapes, NaN, infinities, symbols, a negative tolerance.

    Rank types decide by theorems 1, 4 and 6 of the docs' theory page (t = 1: its part 4); see
    arXiv 2408.17221 for the first form of these statements.
    """
    if tolerance is not None and not 0 <= tolerance < 1:
        raise ValueError(f"tolerance must lie between 0 and 1, got {tolerance!r}")
    weights = layer.weights(Q, K, V)
    if weights.exact:
        return _exactly(layer, weights)
    if tolerance is None:
        tolerance = default_tolerance(layer, Q, K, V)
    return _numerically(layer, weights, tolerance)


def _exactly(layer: Layer, weights: Weights) -> Identification:
    V, A = weights.V.tolist(), weights.A.tolist()
    rank_v, rank_a, rank_va = rank(V), rank(A), rank(joint(V, A))
    if layer.t != 1:
        verdict = rank_verdict(layer, (rank_v, rank_a, rank_va))
        extra: dict[str, Any] = {}
        zero = rank_v == 0 or rank_a == 0
    else:
        signature, radical, restricted = form_data(V, symmetric_part(A))
        verdict = symmetric_verdict(layer, rank_v, signature, radical, restricted)
        extra = _form_fields(signature, radical, restricted)
        zero = rank_v == 0 or sum(signature) == 0
    return Identification(
        layer,
        rank_v,
        rank_a,
        rank_va,
        zero=zero,
        stratum=verdict.stratum,
        singular=verdict.singular,
        boundary=verdict.boundary,
        exact=True,
        certainty="proved",
        reason=_reason(zero, verdict.singular, verdict.boundary),
        **extra,
    )


def _form_fields(
    signature: tuple[int, int] | None, radical: int | None, restricted: tuple[int, int] | None
) -> dict[str, Any]:
    return {
        "rank_s": None if signature is None else sum(signature),
        "signature": signature,
        "kernel_radical": radical,
        "rank_restricted": None if restricted is None else sum(restricted),
    }


def _reason(zero: bool, singular: bool, boundary: bool) -> str:
    parts = ["the zero function"] if zero else []
    parts.append("a singular point" if singular else "a smooth point")
    parts.append("on the boundary" if boundary else "not on the boundary")
    return ", ".join(parts)


def _numerically(layer: Layer, weights: Weights, tolerance: float) -> Identification:
    Q, K, V = (np.asarray(m, dtype=np.float64) for m in (weights.Q, weights.K, weights.V))
    A = K.T @ Q
    scale = float(np.linalg.norm(Q, 2) * np.linalg.norm(K, 2))
    numbers = measure(layer, V, A, scale)
    found = verdict_at(layer, numbers, tolerance)
    strict = verdict_at(layer, numbers, min(tolerance * SAFETY, 0.5))
    verdict, other = found.verdict, strict.verdict
    if verdict is None:
        singular = boundary = None
        stratum = other.stratum if other is not None else origin(layer)
        reason = "the numerical ranks contradict each other at this tolerance; choose another one"
    else:
        stratum = verdict.stratum
        agree = other is not None and other.singular == verdict.singular
        singular = verdict.singular if agree else None
        agree = other is not None and other.boundary == verdict.boundary
        boundary = verdict.boundary if agree else None
        if singular is None or boundary is None:
            reason = (
                f"not decided: ranks change between the tolerances {tolerance:.1e} and "
                f"{tolerance * SAFETY:.1e}; see the singular values"
            )
        else:
            reason = _reason(stratum.is_origin, singular, boundary) + ", numerically"
    return Identification(
        layer,
        found.rank_v,
        found.rank_a,
        found.rank_va,
        zero=stratum.is_origin,
        stratum=stratum,
        singular=singular,
        boundary=boundary,
        exact=False,
        certainty="numerical",
        reason=reason,
        tolerance=tolerance,
        spectra=spectra_of(layer, numbers, tolerance),
        distances=distances(layer, V, A),
        **_form_fields(found.signature, found.kernel_radical, found.restricted),
    )
