"""Softmax: three roads to one number."""

from __future__ import annotations

import pytest

from m2bridge.attention import Network
from m2bridge.geometry.depth.softmax import compare_softmax


@pytest.mark.parametrize(
    ("dims", "ranks", "t", "right"),
    [
        ((3, 3), (2,), 2, True),
        ((3, 3, 2), (2, 1), 2, True),
        ((3, 4, 2), (2, 3), 2, False),
        ((2, 2), (1,), 1, False),
        ((1, 2, 2), (1, 2), 3, False),
    ],
)
def test_theorem_confirmed_and_conjecture_judged(
    dims: tuple[int, ...], ranks: tuple[int, ...], t: int, right: bool
) -> None:
    result = compare_softmax(Network(dims, ranks, t, attention="softmax"))
    assert result.theorem_confirmed
    assert result.conjecture_confirmed is right
    assert result.numerical.rank == result.theorem
    assert result.numerical.gap > 1e3
    assert [order for order, _ in result.jets] == [1, 3, 7][: len(ranks) + 1]
    ranks_by_order = [rank for _, rank in result.jets]
    assert ranks_by_order == sorted(ranks_by_order)
    if t > 1:
        # Each layer's attention matrix enters at its own order.
        assert len(set(ranks_by_order)) == len(ranks_by_order)


def test_only_what_the_theorem_covers() -> None:
    for network in (
        Network((2, 2), (1,), 2),
        Network((2, 2), (1,), 2, attention="softmax", heads=2),
        Network((2, 2), (1,), 2, attention="softmax", skip=True),
    ):
        with pytest.raises(ValueError, match="softmax attention, one head"):
            compare_softmax(network)
