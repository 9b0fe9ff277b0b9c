"""The dimension question: exact rank against upper bounds, and that mistakes do not pass."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from m2bridge.attention import Layer, Network
from m2bridge.errors import SizeLimitError, VerificationError
from m2bridge.geometry.depth import bounds, derivative
from m2bridge.geometry.depth.rank import DEFAULT_PRIMES, RowSource, jacobian_rank, jet_order
from m2bridge.geometry.dimension import dimension


@pytest.mark.parametrize(
    ("network", "value", "formula"),
    [
        (Network((4, 4, 4, 4), (1, 1, 1), 3), 34, 34),
        (Network((4, 4, 4, 4), (2, 2, 2), 3), 49, 49),
        (Network((4, 4, 4, 4), (4, 4, 4), 3), 61, 61),
        (Network((10, 10, 10), (2, 2), 2), 170, 170),
        (Network((3, 3, 3), (1, 2), 2), 18, 20),
        (Network((10, 6, 1), (2, 1), 2), 63, 75),
        (Network((3, 4, 2), (2, 3), 2, attention="softmax"), 23, 27),
        (Network((3, 3), (3,), 2, heads=1), 17, 17),
        (Network((3, 3), (3,), 2, heads=2), 32, None),
        (Network((3, 3), (3,), 2, heads=3), 45, None),
        (Network((3, 3), (3,), 2, heads=4), 54, None),
    ],
)
def test_known_dimensions(network: Network, value: int, formula: int | None) -> None:
    result = dimension(network)
    assert (result.value, result.lower, result.upper) == (value, value, value)
    assert result.certainty == "proved"
    assert result.formula == formula
    assert result.refined == value
    assert result.excess == network.parameters - value
    assert result.inputs is not None
    assert result.inputs > value
    assert result.primes
    # The upper bound rests on symmetries alone too, not only on a dimension formula.
    assert result.symmetries is not None
    assert result.symmetries.upper == value


def test_one_layer_grid() -> None:
    for d, d_out, a, t in itertools.product((1, 2, 3), (1, 2), (1, 2, 4), (1, 2)):
        al, b = min(a, d), min(2 * a, d)
        if t == 1:
            expected = d * d_out + b * d - b * (b - 1) // 2 - 1
        else:
            expected = 2 * al * d - al * al + d * d_out - 1
        result = dimension(Layer(d, d_out, a, t))
        assert (result.value, result.certainty) == (expected, "proved")


def test_same_answer_for_every_seed_and_prime() -> None:
    network = Network((3, 3, 2), (1, 2), 2)
    expected = dimension(network).value
    for seed in range(25):
        assert dimension(network, seed=seed).value == expected
    for prime in (*DEFAULT_PRIMES, 1000003, 65537):
        result = dimension(network, prime=prime)
        assert result.value == expected
        assert result.primes[-1] == prime


@pytest.mark.parametrize(
    "network",
    [
        Network((3, 3, 3), (1, 2), 2, skip=True),
        Network((2, 2, 2), (1, 1), 1, skip=True),
        Network((2, 2, 2), (2, 1), 2, skip=True, heads=2),
        Network((3, 3, 3), (2, 2), 2, heads=2),
        Network((3, 2, 2), (1, 2), 2, attention="softmax"),
        Network((2, 1, 3), (1, 2), 3, attention="softmax"),
        Network((2, 2, 2), (1, 2), 2, attention="softmax", heads=2),
        Network((2, 2, 2), (1, 2), 2, attention="softmax", skip=True),
        Network((2, 2, 2), (1, 2), 1, attention="softmax", skip=True, heads=2),
    ],
)
def test_variants_are_settled(network: Network) -> None:
    result = dimension(network)
    assert result.value is not None
    assert result.refined in (None, result.value)


def test_many_inputs_are_needed_for_rank_one_attention() -> None:
    # All outputs of N inputs have rank 21 + N here: few inputs look saturated long before 34. One
    # random functional of each input gives min(N, 34): saturation is seen when it is reached.
    network = Network((4, 4, 4, 4), (1, 1, 1), 3)
    source = RowSource(network, DEFAULT_PRIMES[0], 0)
    ranks = [jacobian_rank(source, rows) for rows in (5, 20, 33, 34, 35, 60)]
    assert ranks == [5, 20, 33, 34, 34, 34]


def test_jets_agree_with_formal_exponentials() -> None:
    for network in (
        Network((3, 2), (2,), 2, attention="softmax"),
        Network((3, 4, 2), (2, 3), 2, attention="softmax"),
        Network((2, 1, 3), (1, 2), 2, attention="softmax"),
        Network((1, 3, 2), (1, 2), 2, attention="softmax"),
    ):
        result = dimension(network, method="jets")
        assert result.method == "jets"
        assert f"order {jet_order(network)}" in result.lower_source
        assert result.value == dimension(network).value == result.refined


def test_jets_below_the_needed_order_see_less() -> None:
    network = Network((3, 3, 2), (2, 2), 2, attention="softmax")
    ranks = [
        jacobian_rank(RowSource(network, DEFAULT_PRIMES[0], 0, jets=order), 40)
        for order in (1, 2, 3, 4, 6, 7, 9)
    ]
    assert ranks == sorted(ranks)
    assert ranks[0] < ranks[2] < ranks[5] == ranks[6] == dimension(network).value
    assert ranks[0] == ranks[1]
    assert ranks[2] == ranks[3] == ranks[4]


def test_numerical_rank_is_called_numerical() -> None:
    result = dimension(Network((3, 3, 3), (1, 2), 2, attention="softmax"), method="numerical")
    assert result.certainty == "numerical"
    assert result.lower is None
    assert result.value == result.refined
    assert result.gap is not None
    assert result.gap > 1e3
    assert result.tolerance is not None
    assert result.tolerance < 1e-10


def test_formula_only() -> None:
    big = dimension(Network((768,) * 13, (64,) * 12, 128))
    assert big.method == "formula"
    assert (big.value, big.certainty) == (big.refined, "proved")
    open_ = dimension(Network((3, 3), (3,), 2, heads=3), method="formula")
    assert (open_.value, open_.upper, open_.certainty) == (None, 45, "conjectural")
    assert "upper bound only" in open_.reason
    none = dimension(Network((3, 3, 3), (3, 3), 2, heads=3), method="formula")
    assert (none.value, none.refined, none.upper) == (None, None, none.parameters)


def test_gap_is_reported_not_guessed() -> None:
    # A widened multi-head layer has a curved image, which the symmetries here do not know of.
    network = Network((2, 4, 2), (3, 3), 2, heads=2)
    result = dimension(network)
    assert result.value is None
    assert result.certainty == "modular"
    assert result.lower is not None
    assert result.lower < result.upper
    assert "between these bounds" in result.reason
    assert len(result.primes) == 3


def test_executor_and_progress() -> None:
    network = Network((4, 4, 4), (2, 2), 2)
    stages: list[tuple[str, int, int | None]] = []
    with ThreadPoolExecutor(2) as pool:
        result = dimension(
            network, executor=pool, progress=lambda *stage: stages.append(stage), seed=4
        )
    assert result == dimension(network, seed=4)
    assert ("Jacobian", result.inputs, result.inputs) in stages


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "guess"}, "method must be one of"),
        ({"method": "jets"}, "softmax"),
        ({"seed": -1}, "seed must be"),
        ({"seed": 1.5}, "seed must be"),
        ({"prime": 91}, "prime must be a prime"),
        ({"prime": 2**31 - 3}, "prime must be a prime"),
        ({"prime": 2**61 - 1}, "prime must be a prime"),
    ],
)
def test_refusals(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dimension(Network((2, 2), (1,), 2), **arguments)


def test_size_limit() -> None:
    with pytest.raises(SizeLimitError, match="limit="):
        dimension(Network((4, 4), (2,), 2), method="rank", limit=10)


MISTAKES = {
    "Q doubled": lambda parts, back: ([parts[0] * 2 % 2147483647, *parts[1:]], back),
    "one entry of K": lambda parts, back: (
        [parts[0], parts[1] + np.eye(*parts[1].shape[-2:], dtype=np.int64), parts[2]],
        back,
    ),
    "sign of V": lambda parts, back: ([*parts[:2], (-parts[2]) % 2147483647], back),
    "Q and K exchanged": lambda parts, back: ([parts[1], parts[0], parts[2]], back),
    "input scaled": lambda parts, back: (parts, back * 3 % 2147483647),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_one_derivative_is_found(
    mistake: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = Network((3, 3, 2), (2, 2), 2)
    right = derivative._backward_head

    def wrong(*arguments: Any) -> Any:
        return MISTAKES[mistake](*right(*arguments))

    assert dimension(network).certainty == "proved"
    monkeypatch.setattr(derivative, "_backward_head", wrong)
    with pytest.raises(VerificationError):
        dimension(network)


def test_an_additive_mistake_changes_the_rank_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network((3, 3, 2), (2, 2), 2)
    right = derivative._backward_head
    mistake = MISTAKES["one entry of K"]
    monkeypatch.setattr(derivative, "_backward_head", lambda *a: mistake(*right(*a)))
    monkeypatch.setattr(bounds, "_symmetries", lambda *_: None)
    with pytest.raises(VerificationError, match="above the proved bound"):
        dimension(network)
