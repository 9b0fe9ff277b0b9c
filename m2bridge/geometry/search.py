"""How far the weights method searches, and how completeness is settled."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from m2bridge.errors import SizeLimitError
from m2bridge.geometry.certificates import PRIMES, SeriesMismatch, macaulay2_verdict, too_large
from m2bridge.geometry.completeness import Verdict, check_hilbert_function, theoretical_verdict
from m2bridge.geometry.generators import Generators, module_sources
from m2bridge.geometry.hilbert import generator_degree_bound, image_dimension
from m2bridge.geometry.weights import WeightIdeal, layer_map, next_degree
from m2bridge.geometry.weights.partitions import weight_space_sizes

if TYPE_CHECKING:
    from m2bridge.attention.layer import Layer

__all__ = ["search", "settle"]

_CERTIFICATE_SECONDS = 60.0
"""How long Macaulay2 may take for a certificate when there is no time limit."""

_AUTO_SIZE = 25_000
"""``max_degree=None`` goes on while all weight spaces of a degree together have at most so many
monomials: seconds of work. (It does not matter how many monomials the whole ring has.)"""


def _large(layer: Layer, degree: int) -> bool:
    """Whether a degree is more work than one does without being asked."""
    map_ = layer_map(layer)
    return sum(weight_space_sizes(map_.degrees, degree, map_.dims).values()) > _AUTO_SIZE


def _unbounded_stop(layer: Layer, ideal: WeightIdeal) -> bool:
    """Where no bound is known, go on until two degrees beyond 4 or the last generator are empty.

    While no equation was found although the image is not everything, never stop.
    """
    last = max((D for D, part in ideal.parts.items() if part.new_blocks), default=0)
    if last == 0 and image_dimension(layer) < layer.ambient_dimension:
        return False
    return ideal.max_degree >= max(4, last) + 2


def search(
    layer: Layer,
    max_degree: int | None,
    deadline: float | None,
    options: Mapping[str, Any],
) -> tuple[WeightIdeal, str]:
    """Run the weights method.

    Args:
        layer: the layer.
        max_degree: the last degree; None goes up to a proved bound while degrees are not large.
        deadline: a value of ``time.monotonic``.
        options: for ``next_degree``.

    Returns:
        The ideal, and a remark on why the search stopped early, or "".

    Raises:
        SizeLimitError: an explicit ``max_degree`` needs a weight space beyond the limit.
        VerificationError: a dimension contradicts theorem 7.
    """
    bound = generator_degree_bound(layer)
    ideal = WeightIdeal(layer_map(layer))
    last = max_degree if max_degree is not None else (bound[0] if bound else 1 << 30)
    while ideal.max_degree < last:
        degree = ideal.max_degree + 1
        if max_degree is None and _large(layer, degree):
            return ideal, f" The search ended by itself before degree {degree}, which is large."
        if max_degree is None and bound is None and _unbounded_stop(layer, ideal):
            return ideal, " The search ended by itself here, since no bound is known."
        try:
            ideal = next_degree(ideal, deadline=deadline, **options)
        except TimeoutError as exc:
            return ideal, f" Stopped early: {exc}."
        except SizeLimitError as exc:
            if max_degree is not None:
                raise
            return ideal, f" Stopped early: {exc}."
        check_hilbert_function(layer, WeightIdeal(ideal.map, {degree: ideal.parts[degree]}))
    return ideal, ""


def settle(
    layer: Layer,
    ideal: WeightIdeal,
    max_degree: int | None,
    session: Any,
    deadline: float | None,
    options: Mapping[str, Any],
) -> tuple[WeightIdeal, Verdict]:
    """Decide whether the generators found are all: by theorems, by looking ahead, by Macaulay2.

    Returns:
        The ideal (further than before where ``max_degree`` is None and Macaulay2 asked for more)
        and the verdict.
    """
    verdict = theoretical_verdict(layer, ideal)
    if verdict.complete is None:
        verdict = _look_ahead(layer, ideal, verdict, deadline, options)
    if session is None and verdict.hint:
        text = f"{verdict.reason} {verdict.hint} Macaulay2 may settle it (pass a session)."
        return ideal, Verdict(verdict.complete, text)
    while verdict.complete is None and session is not None:
        left = None if deadline is None else deadline - time.monotonic()
        limit = _CERTIFICATE_SECONDS if left is None else max(1.0, left)
        try:
            # By counting: thousands of generators take a minute to expand.
            asked = too_large(layer, sum(map(ideal.new_dimension, ideal.parts)))
            if asked is None:
                asked = macaulay2_verdict(layer, _sparse(ideal), session, timeout=limit)
        except SeriesMismatch as hint:
            goal = hint.degree
        else:
            if asked.complete is not None:
                return ideal, asked
            return ideal, Verdict(None, f"{verdict.reason} {asked.reason} {verdict.hint}")
        verdict = Verdict(
            None,
            f"Complete up to degree {ideal.max_degree}. The Hilbert series of the generators "
            f"(Macaulay2, modulo {PRIMES[0]} and {PRIMES[1]}) exceeds that of the image from "
            f"degree {goal} on: generators of degree {goal} are to be expected, and "
            f"max_degree={goal} or more would show them.",
        )
        if goal <= ideal.max_degree or _large(layer, goal):
            break
        further = _further(layer, ideal, goal, deadline, options)
        if further is None:
            break
        if max_degree is not None:
            return ideal, _beyond(ideal, further) or verdict
        ideal = further
    return ideal, verdict


def _sparse(ideal: WeightIdeal) -> list[Any]:
    """All generators in coordinate positions."""
    sources = [source for D in ideal.parts for source in module_sources(ideal, D)]
    return list(Generators((), sources).sparse())


def _look_ahead(
    layer: Layer,
    ideal: WeightIdeal,
    verdict: Verdict,
    deadline: float | None,
    options: Mapping[str, Any],
) -> Verdict:
    """Where a bound on generator degrees is near, compute up to it just to decide completeness."""
    bound = generator_degree_bound(layer)
    if bound is None or _large(layer, bound[0]):
        return verdict
    further = _further(layer, ideal, bound[0], deadline, options)
    if further is None:
        return verdict
    return _beyond(ideal, further) or theoretical_verdict(layer, further)


def _further(
    layer: Layer,
    ideal: WeightIdeal,
    degree: int,
    deadline: float | None,
    options: Mapping[str, Any],
) -> WeightIdeal | None:
    """The ideal up to a higher degree; None when a limit stopped it."""
    try:
        while ideal.max_degree < degree:
            ideal = next_degree(ideal, deadline=deadline, **options)
    except (TimeoutError, SizeLimitError):
        return None
    check_hilbert_function(layer, ideal)
    return ideal


def _beyond(ideal: WeightIdeal, further: WeightIdeal) -> Verdict | None:
    """If a longer search found more generators, the shorter one was not complete."""
    more = {
        D: further.new_dimension(D)
        for D in further.parts
        if ideal.max_degree < D and further.new_dimension(D)
    }
    if not more:
        return None
    found = ", ".join(f"{n} of degree {D}" for D, n in more.items())
    return Verdict(
        False, f"Complete up to degree {ideal.max_degree} only: there are more generators, {found}."
    )
