"""Results at the prompt: one screen, whatever they hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pytest
import sympy

from m2bridge.display import brief
from m2bridge.engine import Session
from m2bridge.models import LightningAttention
from tests.test_display import CLAIMS

SCREEN = 1600
"""Twenty lines of eighty."""


@dataclass(frozen=True)
class Pair:
    first: object
    second: object = field(default=None, repr=False)

    __repr__ = brief


def of(value: object) -> str:
    text = repr(Pair(value))
    assert text.startswith("Pair(first=")
    return text[len("Pair(first=") : -1]


@pytest.mark.parametrize("name", CLAIMS)
def test_results_fit_on_a_screen(name: str) -> None:
    result = CLAIMS[name][0]()
    assert len(repr(result)) <= SCREEN
    assert "\n" not in repr(result)
    begin = f"<{len(result)} strata: " if isinstance(result, tuple) else type(result).__name__
    assert repr(result).startswith(begin)


@pytest.mark.m2
def test_an_analysis_and_its_parts_fit_on_a_screen(session: Session) -> None:
    report = LightningAttention(d=2, d_out=1, a=2).analyze(session=session)
    assert "dimension=5, degree=4" in repr(report)
    assert "strata=<4 strata: (0, 0, 0), " in repr(report)
    parts = (report.ideal, report.singular_locus.components, report.boundary, report.strata)
    for part in (report, *parts, *report.boundary.points, report.provenance):
        assert len(repr(part)) <= SCREEN
    assert all(len(repr(script)) <= SCREEN for script in report.provenance.scripts)


def test_short_values_are_shown_as_they_are() -> None:
    values = (1, -2.5, True, None, "word", Fraction(1, 3), (1, (2, 3)), {2: 15}, [], sympy.S(1) / 2)
    for value in values:
        assert of(value) == repr(value)
    assert of(Pair(3, "not shown")) == "Pair(first=3)"
    assert of(np.eye(2, dtype=int)) == "[[1, 0], [0, 1]]"
    assert of(sympy.Matrix([[1, 2]])) == "[[1, 2]]"
    assert of(LightningAttention(2, 1, 2)) == "LightningAttention(d=2, d_out=1, a=2, t=2)"


def test_long_values_are_named_by_type_and_size() -> None:
    x = sympy.Symbol("x")
    assert of(tuple(range(100))) == "<100 int>"
    assert of((1, "a") * 50) == "<100 objects>"
    assert of({k: k for k in range(100)}) == "<dict of 100>"
    assert of(np.zeros((30, 40))) == "<ndarray 30 x 40>"
    assert of(sympy.Poly(x**2 + 1)) == "<Poly>"
    assert of(Pair(list(range(100)))) == "<Pair>"
    assert of(10**5000) == "<int>"
    text = of("a" * 1000)
    assert text.endswith("...'")
    assert len(text) <= 130
