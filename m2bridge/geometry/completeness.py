"""Whether the equations found up to a degree are all of them, and why."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING

from m2bridge.errors import VerificationError
from m2bridge.geometry.hilbert import generator_degree_bound, hilbert_function
from m2bridge.geometry.weights.ideal import WeightIdeal

if TYPE_CHECKING:
    from m2bridge.attention.layer import Layer

__all__ = ["Verdict", "check_hilbert_function", "theoretical_verdict"]


@dataclass(frozen=True)
class Verdict:
    """Whether the generators generate the whole ideal.

    Attributes:
        complete: True and False are proved; None is undecided.
        reason: the proof, or what is known.
        hint: what would settle an undecided question.
    """

    complete: bool | None
    reason: str
    hint: str = ""


def check_hilbert_function(layer: Layer, ideal: WeightIdeal) -> int:
    """Compare the computed dim I_D with theorem 7, in every degree where that speaks.

    Returns:
        The number of degrees in which both are known (and agree).

    Raises:
        VerificationError: they disagree.
    """
    n = len(ideal.map.labels)
    checked = 0
    for D in ideal.parts:
        expected = hilbert_function(layer, D)
        if expected is None:
            continue
        found = comb(n + D - 1, D) - ideal.dimension(D)
        if found != expected:
            raise VerificationError(
                f"{ideal.map.name}: the coordinate ring has dimension {found} in degree {D}, "
                f"but the Hilbert function of theorem 7 is {expected} there"
            )
        checked += 1
    return checked


def theoretical_verdict(layer: Layer, ideal: WeightIdeal) -> Verdict:
    """What a proved bound on generator degrees says about the degrees that were computed."""
    top = ideal.max_degree
    bound = generator_degree_bound(layer)
    known = f"Complete up to degree {top}: equations up to there follow from the generators."
    if bound is None:
        return Verdict(
            None,
            f"{known} No bound on the degrees of generators is proved for this model.",
            "A higher max_degree may show more equations, but not that none are left.",
        )
    limit, reason = bound
    if top >= limit:
        return Verdict(
            True,
            f"No generator has degree above {limit}, because {reason}; all degrees up to {top} "
            "were computed.",
        )
    return Verdict(
        None,
        f"{known} No generator has degree above {limit}, because {reason}.",
        f"max_degree={limit} settles it.",
    )
