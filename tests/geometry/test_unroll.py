"""The reduced form computes the same function, and the picture has no loose ends."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from m2bridge.attention import Network
from m2bridge.geometry.unroll import evaluate_reduced, reduced_data, unroll


@pytest.mark.parametrize(
    "network",
    [
        Network((3, 2), (2,), 1),
        Network((2, 3, 2), (1, 2), 2),
        Network((3, 1, 2, 2), (2, 1, 3), 3),
    ],
)
def test_reduced_form_is_the_lightning_network(network: Network) -> None:
    weights = network.random_weights(seed=1, bound=3)
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, size=(network.dims[0], network.t))
    data = reduced_data(network, weights)
    exact = evaluate_reduced(network, data, X)
    assert (exact == network.evaluate(X, weights)).all()
    assert all(isinstance(x, int) for x in exact.ravel())
    assert data.V.shape == (network.dims[-1], network.dims[0])
    thirds = [[Fraction(int(x), 3) for x in row] for row in X]
    assert (evaluate_reduced(network, data, thirds) == network.evaluate(thirds, weights)).all()


def test_reduced_form_is_the_softmax_network() -> None:
    network = Network((3, 2, 4, 2), (2, 1, 3), 3, attention="softmax")
    weights = network.random_weights(seed=2, bound=1)
    X = np.random.default_rng(3).normal(size=(3, 3)) / 3
    got = evaluate_reduced(network, reduced_data(network, weights), X)
    np.testing.assert_allclose(got, network.evaluate(X, weights), rtol=1e-10)


def test_formulas() -> None:
    text = str(unroll(Network((4, 4, 4), (2, 2), 3)))
    assert text.splitlines() == [
        "V~_2 = V_2 V_1",
        "A~_1 = K_1^T Q_1",
        "A~_2 = (V_1)^T K_2^T Q_2 (V_1)",
        "H_0 = 1",
        "H_1 = H_0 H_0^T (X^T A~_1 X) H_0",
        "H_2 = H_1 H_1^T (X^T A~_2 X) H_1",
        "phi(X) = V~_2 X H_2",
    ]
    soft = unroll(Network((4, 4), (2,), 3, attention="softmax"))
    assert "softmax(P_0^T X^T A~_1 X P_0)" in str(soft)
    assert soft.latex.startswith("\\begin{align*}")
    assert soft.latex.count("&=") == len(soft.formulas)


def test_picture() -> None:
    picture = unroll(Network((4, 3, 2), (2, 2), 5))
    nodes = {node.key: node for node in picture.nodes}
    assert len(nodes) == len(picture.nodes)
    assert {e.start for e in picture.edges} | {e.end for e in picture.edges} == set(nodes)
    places = {(node.column, node.row) for node in picture.nodes}
    assert len(places) == len(nodes)
    assert nodes["rA2"].shape == (4, 4)
    assert nodes["V2"].shape == (2, 3)
    assert nodes["Y"].shape == (2, 5)
    into = {e.start for e in picture.edges if e.end == "rA2"}
    assert into == {"V1", "A2"}


def test_refusals() -> None:
    with pytest.raises(ValueError, match="one head per layer"):
        unroll(Network((2, 2), (1,), 2, heads=2))
    with pytest.raises(ValueError, match="one head per layer"):
        unroll(Network((2, 2), (1,), 2, skip=True))
