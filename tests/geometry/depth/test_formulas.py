"""Formulas against numbers and identities that are stated elsewhere."""

from __future__ import annotations

import itertools

import pytest

from m2bridge.attention import Network
from m2bridge.geometry.depth.formulas import explain_difference, published, refined
from m2bridge.geometry.depth.multihead import ambient_dimension, coefficient_space, layer_bound
from m2bridge.geometry.depth.sizes import satisfies_s, sizes


def net(
    dims: tuple[int, ...], ranks: tuple[int, ...], t: int = 2, kind: str = "lightning"
) -> Network:
    return Network(dims, ranks, t, attention=kind)


@pytest.mark.parametrize(
    ("network", "formula", "value", "parameters"),
    [
        (net((4, 4, 4, 4), (1, 1, 1), 3), 34, 34, 72),
        (net((4, 4, 4, 4), (2, 2, 2), 3), 49, 49, 96),
        (net((4, 4, 4, 4), (4, 4, 4), 3), 61, 61, 144),
        (net((10, 10, 10), (2, 2)), 170, 170, 280),
        (net((3, 3, 3), (1, 2)), 20, 18, 36),
        (net((10, 6, 1), (2, 1)), 75, 63, 118),
        (net((3, 4, 2), (2, 3), kind="softmax"), 27, 23, 56),
    ],
)
def test_known_networks(network: Network, formula: int, value: int, parameters: int) -> None:
    assert (published(network), refined(network)[0]) == (formula, value)
    assert network.parameters == parameters


def test_one_layer_on_a_grid() -> None:
    for d, d_out, a in itertools.product(range(1, 6), range(1, 4), range(1, 7)):
        al, b = min(a, d), min(2 * a, d)
        assert refined(net((d, d_out), (a,), 2))[0] == 2 * al * d - al * al + d * d_out - 1
        assert refined(net((d, d_out), (a,), 1))[0] == d * d_out + b * d - b * (b - 1) // 2 - 1


@pytest.mark.parametrize(("heads", "value"), [(1, 17), (2, 32), (3, 45), (4, 54), (9, 54)])
def test_heads(heads: int, value: int) -> None:
    assert refined(Network((3, 3), (3,), 2, heads=heads))[0] == value


def test_softmax_heads_add_up() -> None:
    for d, d_out, a, heads in itertools.product((1, 2, 3), (1, 2), (1, 2, 4), (1, 2, 3)):
        al = min(a, d)
        network = Network((d, d_out), (a,), 2, attention="softmax", heads=heads)
        assert refined(network)[0] == heads * (al * (2 * d - al) + d * d_out)
    skip = Network((3, 3, 3), (1, 2), 2, attention="softmax", skip=True)
    assert refined(skip)[0] == (5 + 9) + (8 + 9)


def test_one_head_is_one_layer() -> None:
    for d, d_out, a, t in itertools.product(range(1, 5), range(1, 4), range(1, 5), (1, 2)):
        assert layer_bound(d, d_out, a, t, 1) == refined(net((d, d_out), (a,), t))[0]


def test_more_heads_never_do_less_and_fill_the_space() -> None:
    for d, d_out, a, t in itertools.product(range(1, 5), range(1, 4), range(1, 4), (1, 2)):
        values = [layer_bound(d, d_out, a, t, h) for h in range(1, 40)]
        assert values == sorted(values)
        assert values[-1] == ambient_dimension(d, d_out, t)


def test_condition_s_implies_the_published_formula() -> None:
    met = 0
    for kind, t in (("lightning", 1), ("lightning", 2), ("softmax", 2)):
        for dims in itertools.product(range(1, 4), repeat=3):
            for ranks in itertools.product(range(1, 4), repeat=2):
                network = net(dims, ranks, t, kind)
                if satisfies_s(network):
                    met += 1
                    assert published(network) == refined(network)[0], network
    assert met > 50


def test_refined_never_exceeds_the_parameters_or_the_space() -> None:
    for dims in itertools.product(range(1, 4), repeat=3):
        for ranks, t in itertools.product(itertools.product(range(1, 4), repeat=2), (1, 2)):
            network = net(dims, ranks, t)
            value = refined(network)[0]
            assert value is not None
            assert value <= network.parameters
            assert value <= coefficient_space(dims, t)


def test_coefficient_space_is_what_expansion_finds() -> None:
    # Two layers in one variable: forms of degree 9 with one token.
    assert coefficient_space((1, 1, 1), 1) == 1
    assert coefficient_space((2, 3), 1) == 3 * 4
    assert coefficient_space((2, 1), 2) == 6
    # X + phi(X): a linear map and a cubic one.
    assert coefficient_space((2, 2), 1, skip=True) == 2 * (2 + 4)


def test_sizes_by_hand() -> None:
    s = sizes(net((10, 6, 1), (2, 1)))
    assert (s.reach, s.alpha, s.joint) == ((10, 6, 1), (2, 1), (4, 2))
    assert s.seen == (10, 3)
    assert s.lost_after == 2
    assert sizes(net((3, 3, 3), (1, 2))).lost_after == 1
    assert sizes(net((3, 3, 3), (2, 2), 1)).lost_after == 0


@pytest.mark.parametrize(
    ("network", "words"),
    [
        (net((3, 3, 3), (1, 2)), "only the symmetric part"),
        (net((10, 6, 1), (2, 1)), "only 3 of 6 directions"),
        (net((3, 4, 2), (2, 3), kind="softmax"), "widens to 4"),
        (net((3, 3), (2,), 1), "one token"),
        (net((4, 4), (2,)), "holds for this network"),
        (Network((3, 3), (3,), 2, heads=2), "reach 32, not 34"),
        (Network((3, 3), (3,), 2, heads=4), "fill the whole space of 54"),
        (Network((3, 3), (3,), 2, skip=True), "skip connections break"),
        (Network((3, 3), (3,), 2, attention="softmax", heads=2), "their dimensions add up"),
    ],
)
def test_reasons(network: Network, words: str) -> None:
    assert words in explain_difference(network)


def test_every_difference_is_explained() -> None:
    for kind, t in (("lightning", 1), ("lightning", 2), ("softmax", 1), ("softmax", 2)):
        for dims in itertools.product(range(1, 4), repeat=4):
            network = net(dims, (1, 2, 3), t, kind)
            reason = explain_difference(network)
            if published(network) != refined(network)[0]:
                assert not reason.endswith(": "), network
                assert "the dimension is" in reason
