"""Exactness, shapes and refusals of weights and inputs."""

from __future__ import annotations

from fractions import Fraction

import flint
import numpy as np
import pytest
import sympy

from m2bridge.attention import Layer, Network, NetworkWeights, Weights

LAYER = Layer(2, 1, 2)
GOOD = {"Q": [[1, 2], [3, 4]], "K": [[0, 1], [1, 0]], "V": [[1, 5]]}


@pytest.mark.parametrize(
    "convert",
    [
        lambda m: m,
        np.array,
        lambda m: np.array(m, dtype=np.int32),
        lambda m: np.array(m, dtype=object),
        sympy.Matrix,
        sympy.ImmutableMatrix,
        lambda m: [[Fraction(x) for x in row] for row in m],
        lambda m: [[sympy.Rational(x) for x in row] for row in m],
        lambda m: [[flint.fmpq(x) for x in row] for row in m],
        lambda m: [[flint.fmpz(x) for x in row] for row in m],
    ],
)
def test_exact_kinds_give_the_same_integers(convert: object) -> None:
    weights = LAYER.weights(**{k: convert(v) for k, v in GOOD.items()})  # type: ignore[operator]
    assert weights.exact
    assert weights == LAYER.weights(**GOOD)
    assert all(type(x) is int for x in weights.to_vector())
    assert weights.A.tolist() == [[3, 4], [1, 2]]


def test_rationals_and_surds_stay_exact() -> None:
    half = sympy.Rational(1, 2)
    values = LAYER.coefficients(Q=[[half, 0], [0, 1]], K=[[1, 0], [0, 1]], V=[[sympy.sqrt(2), 1]])
    assert values[0] == sympy.sqrt(2) / 2
    assert values[2] == half
    assert LAYER.coefficients(Q=[[half, 0], [0, 1]], K=GOOD["K"], V=[[1, 1]])[1:3] == [1, half]


def test_one_float_makes_a_matrix_numerical() -> None:
    weights = LAYER.weights([[1, 2], [3, 4.5]], GOOD["K"], GOOD["V"])
    assert weights.Q.dtype == np.float64
    assert not weights.exact
    assert all(isinstance(x, float) for x in LAYER.coefficients(weights))
    assert LAYER.weights([[1, sympy.Float("0.5")], [3, 4]], GOOD["K"], GOOD["V"]).exact is False


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("Q", [[1, 2]], "Q must be a 2 x 2 matrix, got 1 x 2"),
        ("K", [[1, 2], [3]], "K must be a 2 x 2 matrix, got rows of different lengths"),
        ("V", [[1], [5]], "V must be a 1 x 2 matrix, got 2 x 1"),
        ("V", [1, 5], "V must be a 1 x 2 matrix given as rows"),
        ("V", np.array([1, 5]), "V must be a 1 x 2 matrix, got an array of shape"),
        ("V", [[1, float("nan")]], r"V\[0\]\[1\] is nan"),
        ("V", [[1, np.float64("inf")]], r"V\[0\]\[1\] is inf"),
        ("V", [[1, sympy.nan]], r"V\[0\]\[1\] is nan"),
        ("V", [[1, sympy.oo]], r"V\[0\]\[1\] is oo"),
        ("V", [[1, sympy.zoo]], r"V\[0\]\[1\] is zoo"),
        ("V", [[1, True]], r"V\[0\]\[1\] is the truth value"),
        ("V", [["1", 2]], r"V\[0\]\[0\] is '1'"),
        ("V", [[1j, 2]], r"V\[0\]\[0\] is 1j"),
        ("V", [[sympy.I, 2]], r"V\[0\]\[0\] is I, which is not real"),
        ("V", "ab", "V must be a 1 x 2 matrix, got str"),
        ("V", 3, "V must be a 1 x 2 matrix, got int"),
        ("V", [], "V must be a 1 x 2 matrix, got 0 x 0"),
    ],
)
def test_refusals(name: str, value: object, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        LAYER.weights(**{**GOOD, name: value})


def test_named_weights_or_weights_but_not_both() -> None:
    weights = LAYER.weights(**GOOD)
    X = [[1, 2], [3, 4]]
    assert (LAYER.evaluate(X, weights) == LAYER.evaluate(X, **GOOD)).all()
    assert LAYER.coefficients(weights) == LAYER.coefficients(**GOOD)
    with pytest.raises(TypeError, match="either weights or all of"):
        LAYER.evaluate(X, Q=GOOD["Q"])
    with pytest.raises(TypeError, match="either weights or all of"):
        LAYER.coefficients(weights, V=GOOD["V"])


def test_weights_are_read_only() -> None:
    weights = LAYER.weights(**GOOD)
    with pytest.raises(ValueError, match="read-only"):
        weights.Q[0, 0] = 7


def test_vector_round_trip() -> None:
    network = Network((2, 3, 1), (1, 2), t=2, heads=2)
    vector = [Fraction(k, 3) for k in range(network.parameters)]
    weights = network.weights_from_vector(vector)
    assert weights.to_vector().tolist() == vector
    assert network.network_weights(weights.layers) == weights
    head = weights.layers[1][0]
    assert (head.Q.shape, head.K.shape, head.V.shape) == ((2, 3), (2, 3), (1, 3))
    with pytest.raises(ValueError, match="1 x 50"):
        network.weights_from_vector(vector[:-1])


def test_network_weight_refusals() -> None:
    network = Network((2, 2, 2), (1, 1), t=2, heads=2)
    head = ([[1, 2]], [[3, 4]], [[1, 0], [0, 1]])
    good = [[head, head], [head, head]]
    assert isinstance(network.network_weights(good), NetworkWeights)
    with pytest.raises(ValueError, match="2 layers, got 1"):
        network.network_weights(good[:1])
    with pytest.raises(ValueError, match="layer 2: expected 2 heads"):
        network.network_weights([good[0], [head]])
    with pytest.raises(ValueError, match="Q of layer 1, head 1 must be a 1 x 2 matrix"):
        network.network_weights([[head, ([[1]], *head[1:])], good[1]])
    with pytest.raises(ValueError, match="layer 1, head 0: expected"):
        network.network_weights([[head[:2], head], good[1]])


def test_random_weights_repeat() -> None:
    assert LAYER.random_weights(3) == LAYER.random_weights(3)
    assert LAYER.random_weights(3) != LAYER.random_weights(4)
    assert isinstance(LAYER.random_weights().layers[0][0], Weights)
