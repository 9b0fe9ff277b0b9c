"""Generic fibres against Macaulay2: its count at random rational weights, over QQ."""

from __future__ import annotations

import pytest

from m2bridge import AttentionNetwork
from m2bridge.attention import Network
from m2bridge.engine import Session
from m2bridge.errors import SizeLimitError, VerificationError
from m2bridge.geometry.depth.confirm import confirmed_points
from m2bridge.geometry.generic_fibre import generic_fibre

SMALL = [
    ((2, 1), (1,), 2, 2),
    ((2, 2), (2,), 2, 1),
    ((3, 1), (1,), 2, 2),
    ((2, 1), (1,), 1, 3),
    ((1, 2, 1), (1, 1), 2, 1),
    ((2, 2, 1), (2, 2), 2, 1),
    ((2, 2, 1), (2, 1), 2, 2),
    ((2, 2, 1), (1, 1), 2, 3),  # the last layer is seen through sym(A) only
    ((2, 2, 1), (1, 1), 1, 3),
    ((2, 2, 2), (2, 2), 2, 1),
    # The first layer already leaves one direction; the second adds powers of that linear form.
    ((2, 1, 1), (1, 1), 1, 3),
    ((2, 1, 1), (1, 1), 2, 2),
    ((2, 1, 2), (2, 1), 2, 1),
]


@pytest.mark.m2
@pytest.mark.parametrize(("dims", "ranks", "t", "points"), SMALL)
def test_points(
    dims: tuple[int, ...], ranks: tuple[int, ...], t: int, points: int, session: Session
) -> None:
    fibre = generic_fibre(Network(dims, ranks, t), session=session, timeout=100)
    assert fibre.reduced_points == points
    assert fibre.m2 is not None
    assert (fibre.m2["points"], fibre.m2["length"], fibre.m2["dimension"]) == (points, points, 0)
    assert f"{points} point" in fibre.m2["statement"]
    assert "at the integer weights" in fibre.m2["statement"]


@pytest.mark.m2
def test_a_wrong_number_is_noticed(session: Session) -> None:
    network = Network((2, 1), (1,), 2)
    with pytest.raises(VerificationError, match=r"1 reduced data.*'points': 2"):
        confirmed_points(network, 1, session)


@pytest.mark.m2
def test_the_facade_takes_a_session(session: Session) -> None:
    fibre = AttentionNetwork((2, 1), (1,), 2).generic_fibre(session=session, seed=5)
    assert fibre.m2 is not None
    assert fibre.m2["seed"] == 5
    # Adding the input to the output of a single layer changes no fibre.
    skip = AttentionNetwork((2, 2), (1,), 2, skip=True).generic_fibre(session=session)
    assert skip.m2 is not None
    assert skip.m2["points"] == skip.reduced_points == 1


@pytest.mark.m2
def test_refusals_before_any_work(session: Session) -> None:
    for network in (
        Network((2, 2, 1), (1, 1), 2, attention="softmax"),
        Network((2, 1), (1,), 2, heads=2),
        Network((2, 2, 2), (1, 1), 2, skip=True),
    ):
        with pytest.raises(ValueError, match="lightning attention with one head"):
            generic_fibre(network, session=session)
    with pytest.raises(SizeLimitError, match="more than the limit"):
        generic_fibre(Network((4, 4, 4), (2, 2), 3), session=session)
