"""The generic fibre: dimensions add up, and finite parts agree with counting over F_3."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from m2bridge.attention import Layer, Network
from m2bridge.geometry.generic_fibre import generic_fibre
from m2bridge.geometry.unroll import ReducedData, evaluate_reduced


def largest_fibre(layer: Layer, p: int = 3) -> int:
    """Count pairs (V, A), modulo scaling, with the same function over F_p, for a = 1.

    A runs over the matrices k q^T; for t = 1 only its symmetric part counts. With d_out = 1 a
    fibre is a set of distinct linear factors, so generic fibres are the largest.
    """
    d, vectors = layer.d, list(itertools.product(range(p), repeat=layer.d))[1:]
    seen: dict[tuple[int, ...], set[tuple[object, ...]]] = {}
    for v, k, q in itertools.product(vectors, repeat=3):
        A = tuple(tuple(x * y % p for y in q) for x in k)
        if layer.t == 1:
            datum = tuple((A[i][j] + A[j][i]) % p for i in range(d) for j in range(i + 1))
        else:
            datum = tuple(x for row in A for x in row)
        function = tuple(x % p for x in layer.image([v], A))
        seen.setdefault(function, set()).add((v, datum))
    return max(len(fibre) // (p - 1) for fibre in seen.values())


@pytest.mark.parametrize(
    ("d", "t", "points", "components"), [(2, 2, 2, 2), (3, 2, 2, 2), (2, 1, 3, 6), (1, 2, 1, 1)]
)
def test_points_by_counting(d: int, t: int, points: int, components: int) -> None:
    layer = Layer(d, 1, 1, t)
    fibre = generic_fibre(layer)
    assert (fibre.reduced_points, fibre.components) == (points, components)
    assert fibre.certainty == "proved"
    assert largest_fibre(layer) == points


@pytest.mark.parametrize(
    ("network", "points"),
    [
        (Network((3, 3, 1), (2, 1), 2), 2),
        (Network((3, 3, 1), (1, 1), 2), 3),  # the last layer is seen through sym(A) only
        (Network((3, 3, 1), (2, 2), 2), 1),
        (Network((3, 3, 2), (2, 1), 2), 1),
        (Network((3, 3, 1), (2, 1), 2, attention="softmax"), 1),
        # One direction is left after a layer before the last: that layer decides.
        (Network((3, 2, 1, 4), (1, 1, 3), 1), 3),
        (Network((3, 1, 2), (1, 1), 2), 2),
        (Network((3, 1, 2), (2, 1), 2), 1),
        (Network((1, 3, 1), (1, 1), 1), 1),
    ],
)
def test_deep_points(network: Network, points: int) -> None:
    fibre = generic_fibre(network)
    assert fibre.reduced_points == points
    assert fibre.certainty == "proved"
    assert fibre.m2 is None


@pytest.mark.parametrize(
    "network", [Network((3, 2, 1, 4), (1, 1, 3), 1), Network((3, 1, 2), (1, 1), 1)]
)
def test_exchanged_factors_give_the_same_function(network: Network) -> None:
    # The three linear factors behind the number 3: any of them may be v, the others the form.
    k = 2 if network.depth == 3 else 1
    u, m, n = (np.array(row, dtype=object) for row in ([1, 2, -1], [3, -1, 1], [2, 1, 4]))
    output = np.array([[1], [2], [-3], [5]], dtype=object)[: network.dims[-1]]
    first = np.diag(np.array([1, -1, 0], dtype=object))
    functions = []
    for v, p, q in itertools.permutations((u, m, n)):
        # S_1 for layers before k, v' v'' for layer k, v^2 after it
        forms = [first] * (k - 1) + [np.outer(p, q)] + [np.outer(v, v)] * (network.depth - k)
        data = ReducedData(output * v[None, :], tuple(forms))
        X = np.array([[2], [-1], [3]], dtype=object)
        functions.append(evaluate_reduced(network, data, X).tolist())
    assert all(value == functions[0] for value in functions)
    assert generic_fibre(network).reduced_points == 3


def test_factors_add_up_to_the_fibre() -> None:
    exact = 0
    for kind, t in itertools.product(("lightning", "softmax"), (1, 2)):
        for dims in itertools.product((1, 2, 3), repeat=3):
            for ranks in itertools.product((1, 2, 3), repeat=2):
                network = Network(dims, ranks, t, attention=kind)
                fibre = generic_fibre(network, method="formula")
                assert fibre.dimension is not None
                assert all(factor.dimension >= 0 for factor in fibre.factors)
                assert sum(f.dimension for f in fibre.factors) == fibre.dimension
                kinds = {factor.kind for factor in fibre.factors}
                if "unused" not in kinds and t == 2 and kind == "lightning":
                    exact += 1
    assert exact > 50


def test_named_groups() -> None:
    fibre = generic_fibre(Network((4, 4, 4), (2, 2), 2))
    assert [(f.kind, f.group, f.layers, f.dimension) for f in fibre.factors] == [
        ("query-key", "GL(2)", (1,), 4),
        ("scaling", "C*", (1,), 1),
        ("query-key", "GL(2)", (2,), 4),
        ("scaling", "C*", (2,), 1),
        ("layer-to-layer", "GL(4)", (1, 2), 16),
    ]
    assert fibre.dimension == 26 == fibre.network.parameters - fibre.functions.value  # type: ignore[operator]
    one_token = generic_fibre(Layer(5, 2, 2, 1))
    assert one_token.factors[0].group == "O(4)"
    assert one_token.components == 2


def test_heads_and_skips_are_not_guessed() -> None:
    heads = generic_fibre(Network((3, 3), (3,), 2, heads=2))
    assert heads.components is None
    assert heads.dimension == heads.network.parameters - 32
    assert {f.kind for f in heads.factors} >= {"head permutation", "query-key"}
    skip = generic_fibre(Network((2, 2, 2), (1, 2), 2, skip=True))
    assert skip.components is None
    assert "layer-to-layer" not in {f.kind for f in skip.factors}
    assert generic_fibre(Network((2, 1), (1,), 2, heads=1)).components == 2


def test_undecided_dimension_gives_no_fibre_dimension() -> None:
    fibre = generic_fibre(Network((2, 4, 2), (3, 3), 2, heads=2))
    assert fibre.dimension is None
    assert generic_fibre(Network((2, 2), (1,), 2), method="numerical").dimension is None
