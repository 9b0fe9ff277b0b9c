"""The adjoint derivative against forward differentiation, which shares only the forward pass."""

from __future__ import annotations

import numpy as np
import pytest

from m2bridge.attention import Network
from m2bridge.geometry.depth.derivative import Head, forward, gradient_rows, split_weights
from m2bridge.geometry.depth.rank import DEFAULT_PRIMES, RowSource
from m2bridge.geometry.depth.rings import Floats, FormalModular, Modular, Series

PRIME = DEFAULT_PRIMES[0]

NETWORKS = [
    Network((2, 3), (2,), 1),
    Network((3, 2, 2), (1, 4), 3),
    Network((2, 4, 1, 3), (2, 1, 1), 2),
    Network((2, 3), (2,), 2, heads=3),
    Network((2, 2, 2), (1, 2), 3, heads=2, skip=True),
]


def draw(network: Network, seed: int, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    shapes = (
        (network.parameters,),
        (size, network.dims[0], network.t),
        (size, network.dims[-1], network.t),
    )
    W, X, c = (generator.integers(0, PRIME, size=s, dtype=np.int64) for s in shapes)
    return W, X, c


@pytest.mark.parametrize("network", NETWORKS)
def test_adjoint_is_forward_differentiation(network: Network) -> None:
    W, X, c = draw(network, 1, 4)
    step = np.random.default_rng(2).integers(0, PRIME, size=W.shape, dtype=np.int64)
    dual = [
        [
            Head(*(np.stack([a, b])[:, None] for a, b in zip(h, k, strict=True)))
            for h, k in zip(
                [(h.Q, h.K, h.V) for h in layer], [(h.Q, h.K, h.V) for h in moved], strict=True
            )
        ]
        for layer, moved in zip(
            split_weights(network, W), split_weights(network, step), strict=True
        )
    ]
    series = Series(PRIME, 1)
    derivative = forward(network, dual, X[None], series)[0][1]
    expected = [sum(int(x) * int(y) for x, y in zip(a.ravel(), b.ravel(), strict=True)) % PRIME
                for a, b in zip(derivative, c, strict=True)]  # fmt: skip
    rows = gradient_rows(network, split_weights(network, W), X, c, Modular(PRIME))
    got = [sum(int(x) * int(y) for x, y in zip(row, step, strict=True)) % PRIME for row in rows]
    assert got == expected


@pytest.mark.parametrize("network", NETWORKS)
def test_forward_is_the_network(network: Network) -> None:
    weights = network.random_weights(seed=3)
    X = np.arange(network.dims[0] * network.t).reshape(network.dims[0], network.t) - 2
    residues = np.array([int(w) % PRIME for w in weights.to_vector()])
    value = forward(network, split_weights(network, residues), X[None] % PRIME, Modular(PRIME))[0]
    assert value[0].tolist() == (network.evaluate(X, weights) % PRIME).tolist()


@pytest.mark.parametrize(
    "network",
    [
        Network((2, 3), (2,), 3, attention="softmax"),
        Network((2, 3, 2), (1, 2), 2, attention="softmax", heads=2),
        Network((2, 2, 2), (1, 2), 3, attention="softmax", skip=True),
        Network((1, 2, 2), (1, 2), 3, attention="softmax"),
    ],
)
def test_softmax_adjoint_by_differences(network: Network) -> None:
    generator = np.random.default_rng(4)
    W, step = generator.normal(size=(2, network.parameters)) / 2
    X = generator.normal(size=(3, network.dims[0], network.t))
    c = generator.normal(size=(3, network.dims[-1], network.t))
    ring, h = Floats(), 1e-5

    def value(vector: np.ndarray) -> np.ndarray:
        return np.asarray(
            (forward(network, split_weights(network, vector), X, ring)[0] * c).sum(axis=(1, 2))
        )

    expected = (value(W + h * step) - value(W - h * step)) / (2 * h)
    got = gradient_rows(network, split_weights(network, W), X, c, ring) @ step
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-8)


def test_softmax_series_are_the_taylor_coefficients() -> None:
    # In t = 2 tokens, width 1: phi(eps y) = V eps (y_1 E_1n + y_2 E_2n)/(E_1n + E_2n) to order 3
    # is V eps (mean + eps^2 a y_n var), with mean and (population) variance of the tokens.
    network = Network((1, 1), (1,), 2, attention="softmax")
    weights = split_weights(network, np.array([3, 5, 7]))
    y = np.array([[[[11, 13]]]])
    X = np.concatenate([np.zeros_like(y), y])
    out = forward(network, weights, X, Series(PRIME, 3))[0][:, 0, 0, :]
    half = pow(2, -1, PRIME)
    mean, variance = 24 * half % PRIME, pow(4, -1, PRIME) * (13 - 11) ** 2 % PRIME
    assert out[0].tolist() == out[2].tolist() == [0, 0]
    assert out[1].tolist() == [7 * mean % PRIME] * 2
    assert out[3].tolist() == [7 * 15 * 11 * variance % PRIME, 7 * 15 * 13 * variance % PRIME]


def test_rows_do_not_depend_on_where_they_are_computed() -> None:
    source = RowSource(Network((2, 2), (1,), 2, attention="softmax"), PRIME, 5)
    assert (source.rows(3) == source.rows(3)).all()
    assert (source.rows(3) != source.rows(4)).any()


def test_modular_matmul_is_exact_at_the_limit() -> None:
    ring, n = Modular(PRIME), 3000
    a = np.full((1, n), PRIME - 1, dtype=np.int64)
    assert ring.matmul(a, a.T).tolist() == [[n % PRIME]]
    generator = np.random.default_rng(0)
    x, y = generator.integers(0, PRIME, size=(2, 5, 5))
    assert ring.matmul(x, y).tolist() == ((x.astype(object) @ y.astype(object)) % PRIME).tolist()
    assert ring.times(x, ring.invert(x)).tolist() == np.ones((5, 5)).tolist()


def test_formal_softmax_columns_sum_to_one() -> None:
    # Modulo 3 many columns sum to zero at first, and must be drawn again.
    for prime, symmetric in ((PRIME, False), (PRIME, True), (3, False), (3, True)):
        ring = FormalModular(prime, np.random.default_rng(0))
        S = ring.softmax(np.zeros((2, 3, 3), dtype=np.int64), symmetric)
        assert (ring.column_sums(S) == 1).all()


def test_series_inverse_and_exponential() -> None:
    ring = Series(PRIME, 6)
    a = np.random.default_rng(1).integers(1, PRIME, size=(4, 1, 2, 2))
    one = ring.times(a, ring.invert(a))
    assert (one[0] == 1).all()
    assert not one[1:].any()
    a[0] = 0
    back = ring.times(ring.exp(a), ring.exp((PRIME - a) % PRIME))
    assert (back[0] == 1).all()
    assert not back[1:].any()
    with pytest.raises(ValueError, match="prime above"):
        Series(5, 7)
