"""Networks: refusals, evaluation, expansion."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

from m2bridge.attention import Layer, Network
from m2bridge.errors import SizeLimitError


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dims": (2,), "ranks": (), "t": 2}, "at least two widths"),
        ({"dims": (2, 2), "ranks": (1, 1), "t": 2}, "one attention dimension per layer: 1"),
        ({"dims": (2, 0), "ranks": (1,), "t": 2}, r"dims\[1\] must be a positive integer"),
        ({"dims": 3, "ranks": (1,), "t": 2}, "dims must be a sequence"),
        ({"dims": "22", "ranks": (1,), "t": 2}, "dims must be a sequence"),
        ({"dims": (2, 2), "ranks": (1.0,), "t": 2}, r"ranks\[0\] must be a positive integer"),
        ({"dims": (2, 2), "ranks": (1,), "t": 0}, "t must be a positive integer"),
        ({"dims": (2, 2), "ranks": (1,), "t": 2, "heads": 0}, "heads must be a positive integer"),
        ({"dims": (2, 2), "ranks": (1,), "t": 2, "attention": "linear"}, "'lightning' or"),
        ({"dims": (2, 2), "ranks": (1,), "t": 2, "skip": 1}, "skip must be True or False"),
        ({"dims": (2, 3), "ranks": (1,), "t": 2, "skip": True}, "need equal widths"),
    ],
)
def test_refusals(arguments: dict[str, object], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        Network(**arguments)  # type: ignore[arg-type]


def test_parameters_by_hand() -> None:
    assert Network((4, 4, 4, 4), (1, 1, 1), t=3).parameters == 72
    assert Network((10, 10, 10), (2, 2), t=2).parameters == 280
    assert Network((3, 3), (2,), t=2, heads=4).parameters == 4 * (12 + 9)
    assert Network([4, 2], np.array([7]), t=1).notes[0].startswith("layer 1: a = 7 exceeds")


@pytest.mark.parametrize("skip", [False, True])
@pytest.mark.parametrize("heads", [1, 2])
def test_evaluation_is_the_definition(heads: int, skip: bool) -> None:
    network = Network((3, 3, 3), (2, 1), t=2, heads=heads, skip=skip)
    weights = network.random_weights(seed=5)
    X = np.array([[1, -2], [0, 3], [2, 1]])
    value = X.astype(object)
    for layer in weights.layers:
        step = 0
        for head in layer:
            step = step + head.V @ value @ value.T @ head.K.T @ head.Q @ value
        value = step + value if skip else step
    exact = network.evaluate(X, weights)
    assert (exact == value).all()
    assert all(type(x) is int for x in exact.ravel())
    assert network.evaluate(sympy.Matrix(X.tolist()), weights) == sympy.Matrix(value.tolist())
    np.testing.assert_allclose(network.evaluate(X.astype(float), weights), value.astype(float))


def test_softmax_of_plain_and_of_sympy_input() -> None:
    network = Network((2, 2), (1,), t=2, attention="softmax")
    weights = network.network_weights([([[1, 0]], [[1, 1]], [[1, 0], [0, 1]])])
    X = [[0, 1], [1, 0]]
    # scores X^T K^T Q X = [[0, 1], [0, 1]]: both columns are constant, so softmax is 1/2.
    np.testing.assert_allclose(network.evaluate(X, weights), [[0.5, 0.5], [0.5, 0.5]])
    exact = network.evaluate(sympy.Matrix(X), weights)
    assert sympy.simplify(exact - sympy.ones(2, 2) / 2) == sympy.zeros(2, 2)


def test_softmax_numbers_agree_and_do_not_overflow() -> None:
    network = Network((2, 3, 2), (2, 1), t=2, attention="softmax")
    weights = network.random_weights(seed=2, bound=2)
    X = [[1, 0], [1, -1]]
    exact = network.evaluate(sympy.Matrix(X), weights).evalf(20)
    got = network.evaluate(X, weights)
    assert isinstance(got, np.ndarray)
    np.testing.assert_allclose(got, np.array(exact.tolist(), dtype=float), rtol=1e-9)
    big = network.evaluate(1000 * np.array(X), weights)
    assert np.isfinite(big).all()


def test_symbols_pass_through_evaluation() -> None:
    x, y = sympy.symbols("x y")
    layer = Layer(1, 1, 1, 2)
    value = layer.evaluate(sympy.Matrix([[x, y]]), Q=[[2]], K=[[3]], V=[[5]])
    assert value.expand() == sympy.Matrix([[30 * (x**3 + x * y**2), 30 * (y**3 + x**2 * y)]])


def test_bad_inputs() -> None:
    layer = Layer(2, 1, 1, 2)
    weights = layer.random_weights()
    with pytest.raises(ValueError, match="X must be a 2 x 2 matrix, got 2 x 1"):
        layer.evaluate([[1], [2]], weights)
    with pytest.raises(ValueError, match="finite"):
        layer.evaluate([[1, float("nan")], [0, 0]], weights)


@pytest.mark.parametrize(
    "network",
    [
        Network((2, 1), (1,), t=2, heads=2),
        Network((1, 2, 1), (1, 1), t=2),
        Network((2, 2), (1,), t=1, skip=True),
        Network((1, 1, 1), (1, 1), t=2, skip=True),
    ],
)
def test_expansion_evaluates_to_the_network(network: Network) -> None:
    coordinates, map_ = network.expand()
    weights = network.random_weights(seed=1, bound=3)
    at = dict(zip(map_.parameters, (int(w) for w in weights.to_vector()), strict=True))
    X = np.arange(1, network.dims[0] * network.t + 1).reshape(network.dims[0], network.t)
    total = np.zeros((network.dims[-1], network.t), dtype=object)
    for c, p in zip(coordinates, map_.polynomials, strict=True):
        value = int(p.as_expr().subs(at))
        for place in c.monomial:
            value *= int(X[place])
        total[c.output] += value
    assert (total == network.evaluate(X, weights)).all()


def test_expansion_refusals() -> None:
    with pytest.raises(ValueError, match="polynomial"):
        Network((2, 2), (1,), t=2, attention="softmax").expand()
    with pytest.raises(SizeLimitError, match="limit"):
        Network((4, 4, 4, 4), (1, 1, 1), t=3).expand()
