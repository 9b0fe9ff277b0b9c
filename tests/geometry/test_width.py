"""Plot data: both curves are computed, not one drawn twice."""

from __future__ import annotations

import pytest

from m2bridge.geometry.width import dimension_against_width


def test_expected_and_computed() -> None:
    points = dimension_against_width(range(1, 6), depth=3, a=1, t=2)
    assert [p.width for p in points] == [1, 2, 3, 4, 5]
    for p in points:
        assert p.certainty == "proved"
        assert p.computed == p.refined
        assert p.parameters == 3 * (2 * p.width + p.width**2)
        assert p.gap == p.parameters - p.computed  # type: ignore[operator]
    assert [p.formula for p in points[1:]] == [p.computed for p in points[1:]]


def test_the_curves_can_part() -> None:
    # One token: the published formula counts all of A, of which only sym(A) is seen.
    points = dimension_against_width([2, 3], depth=1, a=None, t=1)
    assert [(p.formula, p.computed) for p in points] == [(7, 6), (17, 14)]


def test_refusals() -> None:
    with pytest.raises(ValueError, match=r"widths\[1\]"):
        dimension_against_width([2, 0])
    with pytest.raises(ValueError, match="depth"):
        dimension_against_width([2], depth=0)
