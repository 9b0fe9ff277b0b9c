"""What is computed at representatives: tangent vectors from below, gradients from above."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
import sympy

from m2bridge.attention import Layer
from m2bridge.errors import VerificationError
from m2bridge.geometry.strata import preimages, strata
from m2bridge.geometry.strata.certify import certified, tangent_vectors, with_gradients
from m2bridge.geometry.strata.equations import gradient, gradients
from m2bridge.geometry.strata.linear import limit_span, rank
from m2bridge.geometry.strata.listing import add_gradients
from m2bridge.geometry.strata.locate import stratum_of_tensor
from m2bridge.geometry.strata.tensors import Tensors

SMALL = [
    (d, d_out, a, t)
    for t in (1, 2)
    for d in (1, 2, 3)
    for d_out in (1, 2, 3)
    for a in (1, 2, 3)
    if a <= d and not (d == 3 and d_out == 3)
]


@pytest.mark.parametrize("model", SMALL)
def test_explicit_tangent_vectors_reach_the_formula(model):
    """Vectors that are in the tangent space for certain already have the claimed rank."""
    for s in strata(Layer(*model), certify=True):
        assert s.evidence.tangent_lower == s.tangent_dimension
        assert s.evidence.orbit_rank == s.dimension


@pytest.mark.parametrize(
    "model", [(2, 1, 1, 2), (2, 1, 2, 2), (2, 2, 2, 2), (3, 1, 1, 2), (3, 1, 3, 2), (3, 1, 1, 1)]
)
def test_gradients_of_equations_meet_them(model):
    """From above and from below the same number: tangent dimensions are proved by computation."""
    found, search = add_gradients(strata(Layer(*model)))
    assert search.equations
    for s in found:
        assert s.evidence.tangent_lower == s.evidence.tangent_upper == s.tangent_dimension
        for name in ("dimension", "tangent_dimension", "singular"):
            assert (s.claims[name].certainty, s.claims[name].warrant) == ("proved", "computed")


def test_the_resultant_by_hand():
    """(2, 1, 2) is one quartic: the resultant of T_0 and T_1. Its gradient decides."""
    layer = Layer(2, 1, 2)
    w = sympy.Symbol("w")
    T = dict(zip([(c.pair, c.column) for c in layer.coordinates], layer.symbols, strict=True))
    quadrics = [T[(0, 0), r] + T[(0, 1), r] * w + T[(1, 1), r] * w**2 for r in (0, 1)]
    resultant = sympy.Poly(sympy.resultant(*quadrics, w), *layer.symbols)
    equation = {
        tuple(k for k, e in enumerate(exponents) for _ in range(e)): int(c)
        for exponents, c in resultant.terms()
    }
    for s in strata(layer):
        assert resultant.eval(tuple(s.point())) == 0
        assert bool(gradient(equation, s.point())) == (not s.singular)
        for k, x in enumerate(layer.symbols):
            slope = resultant.diff(x).eval(tuple(s.point()))
            assert slope == gradient(equation, s.point()).get(k, 0)


def test_preimages_have_the_same_function_and_differ():
    for model in [(3, 1, 2, 2), (3, 2, 2, 1)]:
        layer = Layer(*model)
        for s in strata(layer):
            given = preimages(s)
            assert len(given) == (s.fibre_points or 0)
            assert all(layer.image(*weights) == s.point() for weights in given)
            assert len({str(weights.V) for weights in given}) == len(given)


def test_sparse_image_agrees_with_the_layer():
    for t in (1, 2):
        layer = Layer(3, 2, 3, t)
        tensors = Tensors(layer)
        V = {(0, 0): 2, (0, 2): -1, (1, 1): 3}
        A = {(0, 1): 1, (2, 2): -4, (1, 0): 5, (2, 0): 7}
        dense_v = [[V.get((i, p), 0) for p in range(3)] for i in range(2)]
        dense_a = [[A.get((q, r), 0) for r in range(3)] for q in range(3)]
        sparse = tensors.image(V, A)
        expected = layer.image(dense_v, dense_a)
        assert [sparse.get(k, 0) for k in range(layer.ambient_dimension)] == expected


def test_limit_of_a_moving_plane():
    """span{(1, s, 0), (1, -s, s^2)} -> span{e_0, e_1}, with a third vector: all."""
    plane = [({0: 1}, {1: 1}), ({0: 1}, {1: -1}, {2: 1})]
    limit = limit_span(plane)
    assert rank(limit) == 2
    assert rank([*limit, {0: 1}, {1: 1}]) == 2
    assert rank(limit_span([*plane, ({0: 1},)])) == 3
    assert limit_span([({},), ()]) == []
    assert rank(limit_span([({}, {3: 5}), ({3: 1},)])) == 1


def test_a_wrong_number_is_noticed():
    layer = Layer(2, 1, 2)
    s = strata(layer)[1]
    with pytest.raises(ValueError, match="certify the stratum first"):
        with_gradients(replace(s, evidence=None), [])
    # x_0 does not vanish on the functions: its gradient cuts the tangent space wrongly.
    with pytest.raises(VerificationError, match="upper bound"):
        with_gradients(s, [{(0,): 1}])


def test_kernels_of_the_differential():
    """At (1, 1, 1) the kernel has dimension d - 1, elsewhere the differential is injective."""
    for d, d_out, a in [(2, 1, 2), (3, 2, 1), (4, 1, 2)]:
        for s in strata(Layer(d, d_out, a)):
            kernel, _ = tangent_vectors(s)
            expected = None if s.is_origin else (d - 1 if s.type == (1, 1, 1) else 0)
            assert kernel == expected == certified(s).evidence.differential_kernel


@pytest.mark.parametrize(
    "model", [(2, 1, 2, 2), (2, 2, 1, 2), (2, 2, 2, 2), (3, 1, 2, 2), (3, 1, 1, 2)]
)
def test_random_weights_have_the_tangent_space_of_their_stratum(model):
    """200 functions of random weights of random ranks: gradients of equations, against types."""
    layer = Layer(*model)
    found, search = add_gradients(strata(layer))
    by_type = {s.type: s for s in found}
    rng = random.Random(11)

    def matrix(rows, columns):
        return [[rng.randint(-2, 2) for _ in range(columns)] for _ in range(rows)]

    seen = set()
    for _ in range(200):
        left, right = rng.randint(1, layer.d), rng.randint(1, layer.alpha)
        V = times(matrix(layer.d_out, left), matrix(left, layer.d))
        A = times(matrix(layer.d, right), matrix(right, layer.d))
        if rng.random() < 0.3:
            A = times([[row[0]] for row in zip(*V, strict=True)], matrix(1, layer.d))
        point = layer.image(V, A)
        stratum = by_type[stratum_of_tensor(layer, point).type]
        space = layer.ambient_dimension - rank(gradients(search.equations, point))
        assert space == stratum.tangent_dimension
        seen.add(stratum.type)
    assert seen == set(by_type)


def times(left, right):
    columns = list(zip(*right, strict=True))
    return [
        [sum(x * y for x, y in zip(row, column, strict=True)) for column in columns] for row in left
    ]
