"""Theorem 7, corollary 3 and the dimension formula against the computed ideals."""

from __future__ import annotations

from itertools import product
from math import comb

import pytest

from m2bridge.attention.layer import Layer
from m2bridge.geometry.hilbert import (
    generator_degree_bound,
    hilbert_function,
    hilbert_series,
    image_degree,
    image_dimension,
)
from m2bridge.geometry.weights import ideal_up_to_degree, layer_map

SMALL = [(d, o, a) for d, o, a in product((1, 2, 3), (1, 2, 3), (1, 2, 3)) if a <= d]


@pytest.mark.parametrize("sizes", SMALL)
def test_hilbert_function_agrees_with_the_computed_ideal(sizes: tuple[int, int, int]) -> None:
    layer = Layer(*sizes)
    top = 4 if sizes != (3, 3, 1) else 3
    ideal = ideal_up_to_degree(layer_map(layer), top)
    for D in range(1, top + 1):
        n = layer.ambient_dimension
        assert hilbert_function(layer, D) == comb(n + D - 1, D) - ideal.dimension(D)


@pytest.mark.parametrize(
    ("sizes", "degree"),
    [
        ((2, 1, 1), 3),
        ((2, 1, 2), 4),
        ((2, 2, 1), 20),
        ((2, 2, 2), 20),
        ((2, 3, 1), 42),
        ((2, 3, 2), 56),
        ((2, 4, 1), 72),
        ((2, 5, 2), 220),
        ((3, 1, 1), 45),
        ((3, 1, 2), 108),
        ((3, 1, 3), 45),
        ((3, 2, 1), 756),
        ((4, 1, 1), 840),
        ((2, 1, 1, 1), 1),
        ((2, 2, 1, 1), 10),
        ((2, 3, 1, 1), 21),
        ((3, 1, 1, 1), 15),
        ((3, 1, 2, 1), 21),
        ((1, 4, 1), 1),
    ],
)
def test_degrees_found_by_macaulay2(sizes: tuple[int, ...], degree: int) -> None:
    assert image_degree(Layer(*sizes)) == degree


@pytest.mark.parametrize("sizes", SMALL)
def test_the_series_has_the_right_dimension_and_degree(sizes: tuple[int, int, int]) -> None:
    layer = Layer(*sizes)
    series = hilbert_series(layer)
    assert series is not None
    assert series.dimension == image_dimension(layer)
    assert series.degree == image_degree(layer)
    assert all(series.coefficient(D) == hilbert_function(layer, D) for D in range(30))


def test_known_series() -> None:
    series = hilbert_series(Layer(2, 1, 2))
    assert series is not None
    assert series.numerator == (1, 1, 1, 1)
    gorenstein = hilbert_series(Layer(2, 2, 1))
    assert gorenstein is not None
    assert gorenstein.numerator == gorenstein.numerator[::-1]


def test_nothing_is_claimed_where_nothing_is_proved() -> None:
    assert hilbert_function(Layer(4, 1, 4), 3) is None
    assert hilbert_function(Layer(2, 1, 2, 1), 3) is None
    assert hilbert_series(Layer(4, 2, 4)) is None
    assert hilbert_function(Layer(4, 1, 1), 2) == 10 * 55
    assert generator_degree_bound(Layer(3, 3, 3)) is None
    assert generator_degree_bound(Layer(3, 1, 1, 1)) is None


def test_negative_degrees_are_refused() -> None:
    with pytest.raises(ValueError, match="-1"):
        hilbert_function(Layer(2, 1, 1), -1)
