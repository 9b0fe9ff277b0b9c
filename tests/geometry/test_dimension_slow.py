"""Rank = refined formula over many random architectures, seeds and primes."""

from __future__ import annotations

import random

import pytest

from m2bridge.attention import Network
from m2bridge.geometry.depth.rank import DEFAULT_PRIMES
from m2bridge.geometry.dimension import dimension

pytestmark = pytest.mark.slow

PRIMES = (*DEFAULT_PRIMES, 1000000007, 998244353)


def architecture(generator: random.Random, kind: str) -> Network:
    """A random network of a kind that a formula covers."""
    depth = generator.choice((1, 2, 2, 3, 3, 4))
    dims = [generator.randint(1, 6) for _ in range(depth + 1)]
    ranks = [generator.randint(1, 5) for _ in range(depth)]
    t, heads = generator.randint(1, 4), 1
    if "skip" in kind:
        dims = [min(dims[0], 4)] * (depth + 1)
    if "heads" in kind:
        dims, ranks, heads = dims[:2], ranks[:1], generator.randint(2, 4)
    attention = "softmax" if "softmax" in kind else "lightning"
    return Network(dims, ranks, t, attention=attention, heads=heads, skip="skip" in kind)


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        ("lightning", 300),
        ("softmax", 150),
        ("heads", 100),
        ("softmax heads", 60),
        ("skip", 60),
        ("softmax skip", 60),
    ],
)
def test_rank_is_the_refined_formula(kind: str, count: int) -> None:
    generator = random.Random(kind)
    differ = 0
    for seed in range(count):
        network = architecture(generator, kind)
        result = dimension(network, method="rank", seed=seed)
        assert result.value == result.refined, network
        assert result.certainty == "proved"
        differ += result.formula not in (None, result.value)
    if kind in ("lightning", "softmax"):
        assert differ > count // 3  # the published formula is not simply right


def test_hundred_seeds_and_five_primes() -> None:
    for network in (
        Network((4, 3, 2), (1, 2), 3),
        Network((3, 4, 2), (2, 3), 2, attention="softmax"),
    ):
        answers = {dimension(network, seed=seed).value for seed in range(100)}
        answers |= {dimension(network, prime=prime).value for prime in PRIMES}
        assert answers == {dimension(network, method="formula").value}


def test_a_thousand_parameters() -> None:
    network = Network((16, 16, 16), (12, 12), 2)
    assert network.parameters > 1000
    result = dimension(network, method="rank")
    assert (result.value, result.certainty) == (result.refined, "proved")
