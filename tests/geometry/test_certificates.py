"""Completeness verdicts, with stand-ins for Macaulay2."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from m2bridge.attention.layer import Layer
from m2bridge.errors import M2Error, M2TimeoutError, VerificationError
from m2bridge.geometry.certificates import (
    SeriesMismatch,
    hilbert_series_of,
    macaulay2_verdict,
)
from m2bridge.geometry.completeness import check_hilbert_function, theoretical_verdict
from m2bridge.geometry.generators import sparse_lists
from m2bridge.geometry.hilbert import HilbertSeries
from m2bridge.geometry.implicit import implicit_ideal
from m2bridge.geometry.weights import WeightIdeal, attention_map, ideal_up_to_degree, layer_map


@dataclass
class Answer:
    segments: tuple[bytes, ...]


class Scripted:
    """A session that answers every script with the same data, or raises."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked = 0

    def run_script(self, script: str, *, timeout: float | None = None) -> Answer:
        self.asked += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return Answer((json.dumps(self.answer).encode(),))


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand-ins must be asked, whatever is remembered about such scripts."""

    def run(session: Any, template: str, *, timeout: float | None = None, **sizes: Any) -> Any:
        return json.loads(session.run_script(template, timeout=timeout).segments[0])

    monkeypatch.setattr("m2bridge.geometry.certificates.run_script", run)


ONE = [{(0, 0): 1}]


def test_the_series_is_reduced_to_lowest_terms() -> None:
    # (1 - z)^2 (1 + z) / (1 - z)^5
    session = Scripted({"numerator": [[0, 1], [1, -1], [2, -1], [3, 1]]})
    assert hilbert_series_of(ONE, 5, session) == HilbertSeries((1, 1), 3)


def test_equal_series_prove_completeness() -> None:
    quartic = Scripted({"numerator": [[0, 1], [4, -1]]})
    verdict = macaulay2_verdict(Layer(2, 1, 2), ONE, quartic)
    assert verdict.complete is True
    assert "32003" in verdict.reason
    assert quartic.asked == 1


def test_a_larger_series_names_the_degree_after_two_primes() -> None:
    nothing = Scripted({"numerator": [[0, 1]]})
    with pytest.raises(SeriesMismatch) as caught:
        macaulay2_verdict(Layer(2, 1, 2), ONE, nothing)
    assert caught.value.degree == 4
    assert nothing.asked == 2


@pytest.mark.parametrize(
    ("dimension", "degree", "unmixed", "complete"),
    [(7, 15, True, True), (7, 15, False, None), (7, 16, True, False), (8, 15, True, False)],
)
def test_unmixedness(dimension: int, degree: int, unmixed: bool, complete: bool | None) -> None:
    session = Scripted({"dimension": dimension, "degree": degree, "unmixed": unmixed})
    assert macaulay2_verdict(Layer(3, 1, 1, 1), ONE, session).complete is complete


@pytest.mark.parametrize("error", [M2TimeoutError("late"), M2Error("no such function")])
def test_macaulay2_may_fail_without_harm(error: Exception) -> None:
    verdict = macaulay2_verdict(Layer(3, 1, 1, 1), ONE, Scripted(error))
    assert verdict.complete is None
    ideal = implicit_ideal(Layer(3, 1, 1, 1), max_degree=4, session=Scripted(error))
    assert ideal.complete is None
    assert ideal.generators_by_degree == {4: 35}


def test_no_equations_are_all_only_where_the_image_is_everything() -> None:
    idle = Scripted({})
    assert macaulay2_verdict(Layer(2, 1, 1, 1), [], idle).complete is True
    assert macaulay2_verdict(Layer(3, 1, 2, 1), [], idle).complete is False
    assert idle.asked == 0


def test_macaulay2_is_not_asked_for_what_it_cannot_do() -> None:
    idle = Scripted({})
    verdict = macaulay2_verdict(Layer(4, 1, 1, 1), ONE * 1085, idle)
    assert verdict.complete is None
    assert "not asked" in verdict.reason
    assert idle.asked == 0


def test_polynomials_for_scripts() -> None:
    assert sparse_lists([{(0, 0, 2): -3, (1,): 5}]) == [[[-3, [[0, 2], [2, 1]]], [5, [[1, 1]]]]]


def test_a_contradiction_to_theorem_7_is_never_ignored() -> None:
    layer = Layer(2, 2, 2)
    ideal = ideal_up_to_degree(layer_map(layer), 2)
    assert check_hilbert_function(layer, ideal) == 2
    forged = WeightIdeal(ideal.map, {**ideal.parts, 2: ideal.parts[1]})
    with pytest.raises(VerificationError, match="theorem 7"):
        check_hilbert_function(layer, forged)


def test_theoretical_verdicts() -> None:
    three = ideal_up_to_degree(attention_map(2, 1, 1), 3)
    assert theoretical_verdict(Layer(2, 1, 1), three).complete is True
    assert theoretical_verdict(Layer(2, 1, 2), three).complete is None
    assert "No bound" in theoretical_verdict(Layer(3, 3, 3), three).reason
