"""The equations of one layer: ``implicit_ideal``.

The method ``weights`` is this project's (docs/theory, "How to find equations"): torus weights and
highest-weight vectors, see :mod:`m2bridge.geometry.weights`. ``elimination`` and ``multigraded``
run in Macaulay2 and serve as references.
"""

from __future__ import annotations

import time
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any

from m2bridge.geometry.completeness import Verdict
from m2bridge.geometry.implicit_result import (
    ImplicitIdeal,
    Irreducible,
    from_weights,
    irreducible,
)
from m2bridge.geometry.peers import macaulay2_ideal
from m2bridge.geometry.search import search, settle
from m2bridge.geometry.weights.ideal import Progress

if TYPE_CHECKING:
    from m2bridge.attention.layer import Layer

__all__ = ["METHODS", "ImplicitIdeal", "Irreducible", "implicit_ideal", "irreducible"]

METHODS = ("auto", "weights", "elimination", "multigraded")


def implicit_ideal(
    layer: Layer,
    method: str = "auto",
    max_degree: int | None = None,
    certify: bool = True,
    session: Any = None,
    *,
    executor: Executor | None = None,
    progress: Progress | None = None,
    time_limit: float | None = None,
    max_weight_space: int = 20_000,
) -> ImplicitIdeal:
    """All equations of the functions that a layer can represent, up to a degree.

    Args:
        layer: the layer.
        method: "weights" (ours), "elimination" or "multigraded" (Macaulay2), or "auto" (weights).
        max_degree: the last degree to search. None goes up to a proved bound on the degrees of
            generators where there is one and the degrees are not too large.
        certify: try to prove that nothing is missing; with a session, also by Macaulay2's Hilbert
            series.
        session: a Macaulay2 session, for certificates and the Macaulay2 methods.
        executor: any ``concurrent.futures.Executor`` to spread the weights over.
        progress: called with (stage, done, total).
        time_limit: seconds; the last finished degree is returned when they are over.
        max_weight_space: refuse weight spaces with more monomials.

    Returns:
        The ideal, with certificates. ``complete`` is None where completeness is undecided.

    Raises:
        ValueError, TypeError: bad arguments.
        SizeLimitError: an explicit ``max_degree`` needs a weight space beyond the limit.
        VerificationError: a result contradicts a theorem or its own certificate.
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
    _check_degree(max_degree)
    if time_limit is not None and not time_limit >= 0:
        raise ValueError(f"time_limit must be at least 0 seconds, got {time_limit!r}")
    if method in ("elimination", "multigraded"):
        return macaulay2_ideal(layer, method, max_degree, session, time_limit)
    options = {
        "executor": executor,
        "progress": progress,
        "max_weight_space": max_weight_space,
    }
    deadline = None if time_limit is None else time.monotonic() + time_limit
    ideal, remark = search(layer, max_degree, deadline, options)
    if certify:
        ideal, verdict = settle(layer, ideal, max_degree, session, deadline, options)
    else:
        verdict = Verdict(None, f"Complete up to degree {ideal.max_degree}; not certified further.")
    reason = verdict.reason if verdict.complete else verdict.reason + remark
    return from_weights(layer, ideal, Verdict(verdict.complete, reason))


def _check_degree(max_degree: int | None) -> None:
    if max_degree is None:
        return
    if isinstance(max_degree, bool) or not isinstance(max_degree, int):
        raise TypeError(f"max_degree must be an integer or None, not {max_degree!r}")
    if max_degree < 1:
        raise ValueError(f"max_degree must be at least 1, got {max_degree}")
