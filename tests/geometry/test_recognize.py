"""Recognition for t >= 2: round trips, witnesses that vanish on the image, and every kind of no."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
import sympy

from m2bridge.attention import Layer
from m2bridge.geometry.recognize import recognize


def tensor(layer, forms):
    """Coordinates of a matrix of quadratic forms T_ir, given as sympy expressions in w0, w1, ..."""
    w = sympy.symbols(f"w:{layer.d}")
    values = []
    for c in layer.coordinates:
        p, q = c.pair
        poly = sympy.Poly(forms[c.output][c.column], *w)
        values.append(poly.coeff_monomial(w[p] * w[q]))
    return values


def random_layer_and_weights(seed):
    generator = random.Random(seed)
    layer = Layer(generator.randint(1, 4), generator.randint(1, 3), generator.randint(1, 4))
    weights = layer.random_weights(seed, bound=generator.choice((1, 2, 9))).layers[0][0]
    return layer, weights


def reproduces(layer, preimage, coefficients):
    values = layer.coefficients(Q=preimage.Q, K=preimage.K, V=preimage.V)
    return [sympy.expand(x) for x in map(sympy.sympify, values)] == list(coefficients)


@pytest.mark.parametrize("seed", range(60))
def test_round_trip(seed):
    layer, weights = random_layer_and_weights(seed)
    answer = recognize(layer, layer.coefficients(weights))
    assert answer.representable is True
    assert answer.certainty == "proved"
    assert layer.coefficients(answer.weights) == layer.coefficients(weights)
    assert all(reproduces(layer, p, answer.coefficients) for p in answer.preimages)


def test_weights_are_rational_with_primitive_value_matrix():
    layer = Layer(3, 2, 2)
    answer = recognize(
        layer,
        layer.coefficients(
            Q=[[1, 2, 3], [0, 1, 1]],
            K=[[1, 0, 1], [2, 1, 0]],
            V=[[Fraction(1, 3), 0, 1], [2, 2, 2]],
        ),
    )
    assert answer.field == "QQ"
    assert answer.weights.V.tolist() == [[1, 0, 3], [6, 6, 6]]
    assert (answer.rank_v, answer.rank_a, len(answer.preimages)) == (2, 2, 1)


def test_two_preimages_when_both_ranks_are_one():
    layer = Layer(3, 2, 2)
    w0, w1, _ = sympy.symbols("w:3")
    answer = recognize(layer, tensor(layer, [[0, w0 * w1, 2 * w0 * w1], [0, 0, 0]]))
    assert answer.representable is True
    assert [p.multiplicity for p in answer.preimages] == [1, 1]
    rows = {tuple(p.V.row(0)) for p in answer.preimages}
    assert {tuple(sympy.Matrix([r]).normalized()) for r in rows} == {(1, 0, 0), (0, 1, 0)}


def test_one_preimage_of_length_d_on_the_smallest_stratum():
    layer = Layer(4, 1, 1)
    w = sympy.symbols("w:4")
    square = (w[0] + w[3]) ** 2
    answer = recognize(layer, tensor(layer, [[square, 0, 0, -square]]))
    assert [p.multiplicity for p in answer.preimages] == [4]
    line = recognize(Layer(1, 2, 1), [3, 5])
    assert [p.multiplicity for p in line.preimages] == [1]


@pytest.mark.parametrize("m", [2, 3, 5, 18])
def test_irrational_real_weights_in_a_quadratic_field(m):
    layer = Layer(2, 1, 2)
    w0, w1 = sympy.symbols("w:2")
    answer = recognize(layer, tensor(layer, [[w0**2 - m * w1**2, 3 * w0**2 - 3 * m * w1**2]]))
    assert answer.representable is True
    assert answer.field == f"QQ(sqrt({2 if m == 18 else m}))"
    assert len(answer.preimages) == 2
    assert all(p.real and reproduces(layer, p, answer.coefficients) for p in answer.preimages)


@pytest.mark.parametrize("d_out", [1, 2])
@pytest.mark.parametrize("a", [1, 2, 3])
def test_definite_quadric_times_vectors_has_only_complex_weights(d_out, a):
    layer = Layer(3, d_out, a)
    w0, w1, w2 = sympy.symbols("w:3")
    definite = (w0 + w2) ** 2 + 3 * (w1 - w2) ** 2
    forms = [[2 * k * definite, -k * definite, 0] for k in range(1, d_out + 1)]
    answer = recognize(layer, tensor(layer, forms))
    assert answer.representable is False
    assert answer.over_complex is True
    assert answer.failed.kind == "inequality"
    assert "only with complex weights" in answer.reason
    assert answer.weights is None
    assert len(answer.preimages) == 2
    assert not any(p.real for p in answer.preimages)
    assert all(reproduces_complex(layer, p, answer.coefficients) for p in answer.preimages)


def reproduces_complex(layer, preimage, coefficients):
    values = layer.image(preimage.V.tolist(), preimage.A.tolist())
    return [sympy.expand(x) for x in values] == list(coefficients)


def value_of(relation, layer, values):
    return relation.xreplace(
        {symbol: sympy.sympify(x) for symbol, x in zip(layer.symbols, values, strict=True)}
    )


def check_witness(layer, answer, coefficients):
    """The relation does not vanish at the point, and vanishes on the image."""
    assert answer.representable is False
    assert answer.over_complex is False
    assert answer.failed.kind == "equation"
    relation, value = answer.failed.relation, answer.failed.value
    assert value != 0
    relation = relation.doit()
    assert value_of(relation, layer, coefficients) == value
    for seed in range(3):
        weights = layer.random_weights(seed, 5).layers[0][0]
        assert value_of(relation, layer, layer.coefficients(weights)) == 0


W = sympy.symbols("w:4")


@pytest.mark.parametrize(
    ("shape", "forms"),
    [
        # a 2 x 2 minor of T(w)
        ((2, 2, 2), [[W[0] ** 2, W[0] * W[1]], [W[0] * W[1], W[0] ** 2]]),
        # a row of quadrics with no common factor: a resultant
        ((2, 1, 2), [[W[0] ** 2, W[1] ** 2]]),
        # pairwise common factors, none of all three: a determinant
        ((3, 1, 3), [[W[0] * W[1], W[1] * W[2], W[0] * W[2]]]),
        # the same for a column
        ((3, 3, 1), [[W[0] * W[1], 0, 0], [W[1] * W[2], 0, 0], [W[0] * W[2], 0, 0]]),
        # an irreducible quadric of rank 3
        ((3, 1, 2), [[W[0] ** 2 + W[1] * W[2], 0, 0]]),
        # rank of A too large
        ((3, 1, 1), [[W[0] * W[0], W[0] * W[1], 0]]),
        ((3, 2, 2), [[W[0] * W[0], W[0] * W[1], W[0] * W[2]], [0, 0, 0]]),
    ],
)
def test_witnesses(shape, forms):
    layer = Layer(*shape)
    coefficients = tensor(layer, forms)
    check_witness(layer, recognize(layer, coefficients), coefficients)


@pytest.mark.parametrize("seed", range(40))
def test_a_perturbed_coefficient_is_refused_with_a_witness(seed):
    layer, weights = random_layer_and_weights(seed)
    coefficients = layer.coefficients(weights)
    coefficients[seed % len(coefficients)] += 1
    answer = recognize(layer, coefficients)
    if answer.representable:  # may happen: then the weights prove it
        assert layer.coefficients(answer.weights) == coefficients
    elif answer.over_complex:
        assert answer.failed.kind == "inequality"
    else:
        check_witness(layer, answer, coefficients)


def test_the_zero_function():
    layer = Layer(2, 2, 1)
    answer = recognize(layer, [0] * layer.ambient_dimension)
    assert answer.representable is True
    assert answer.is_zero
    assert answer.preimages == ()


# Ways to give a function


@pytest.mark.parametrize("t", [1, 2, 3])
def test_matrices_mappings_and_callables_agree(t):
    layer = Layer(2, 2, 2, t)
    weights = layer.weights([[1, 2], [3, -1]], [[0, 1], [1, 1]], [[1, 1], [2, -3]])
    coefficients = layer.coefficients(weights)
    expected = recognize(layer, coefficients).coefficients
    X = sympy.Matrix(2, t, sympy.symbols(f"x:{2 * t}"))
    phi = layer.evaluate(X, weights)
    by_name = dict(zip((c.name for c in layer.coordinates), coefficients, strict=True))
    assert recognize(layer, by_name).coefficients == expected
    answer = recognize(layer, phi, inputs=X)
    assert (answer.coefficients, answer.certainty) == (expected, "proved")
    answer = recognize(layer, lambda Y: layer.evaluate(Y, weights))
    assert (answer.coefficients, answer.certainty) == (expected, "proved")

    def on_numbers_only(Y):
        if isinstance(Y, sympy.MatrixBase):
            raise TypeError("numbers only")
        V, A = weights.V, weights.A
        return V @ Y @ Y.T @ A @ Y

    answer = recognize(layer, on_numbers_only)
    assert answer.coefficients == expected
    assert answer.certainty == "conjectural"
    assert "known by its values only" in answer.reason


@pytest.mark.parametrize("t", [1, 2, 3])
def test_full_coordinates(t):
    layer = Layer(2, 1, 2, t)
    coefficients = layer.coefficients(layer.random_weights(2, 4).layers[0][0])
    expected = recognize(layer, coefficients).coefficients
    full = layer.full_from_reduced.apply(coefficients)
    by_name = {c.name: x for c, x in zip(layer.full_coordinates, full, strict=True)}
    assert recognize(layer, by_name).coefficients == expected
    assert recognize(layer, full).coefficients == expected
    if t > 1:
        full[-1] += 1
        answer = recognize(layer, full)
        assert answer.failed.kind == "form"
        assert "the other coefficients force" in answer.reason
    with pytest.raises(ValueError, match="no such coordinates"):
        recognize(layer, {**by_name, "F_nonsense": 1})


def test_the_zero_map_as_a_matrix():
    layer = Layer(2, 1, 2)
    X = sympy.Matrix(2, 2, sympy.symbols("x:4"))
    assert recognize(layer, sympy.zeros(1, 2), inputs=X).is_zero


def test_matrix_symbol():
    layer = Layer(2, 1, 2)
    X = sympy.MatrixSymbol("X", 2, 2)
    V, A = sympy.Matrix([[1, 2]]), sympy.Matrix([[0, 1], [3, 1]])
    answer = recognize(layer, V * X * X.T * A * X)
    assert answer.representable is True
    assert list(answer.coefficients) == layer.image(V.tolist(), A.tolist())


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda X: X[0, 0] ** 3, "not of the form"),
        (lambda X: X[0, 0] ** 2, "degree 2"),
        (lambda X: sympy.Integer(1), "degree 0"),
        (lambda X: X[0, 0] ** 2 * X[0, 1] * X[1, 1], "degree 4"),
        (lambda X: sympy.sin(X[0, 0]), "no polynomial"),
    ],
)
def test_maps_of_another_form(change, text):
    layer = Layer(2, 1, 2)
    X = sympy.Matrix(2, 2, sympy.symbols("x:4"))
    phi = layer.evaluate(X, Q=[[1, 0], [0, 1]], K=[[1, 2], [1, 1]], V=[[1, 1]])
    phi[0, 0] += change(X)
    answer = recognize(layer, phi, inputs=X)
    assert answer.representable is False
    assert answer.failed.kind == "form"
    assert text in answer.reason


def test_a_callable_that_is_no_such_map():
    layer = Layer(2, 1, 1)

    def absolute(Y):
        if isinstance(Y, sympy.MatrixBase):
            raise TypeError("numbers only")
        return [[abs(Y[0, 0]) ** 3, abs(Y[0, 1]) ** 3]]

    assert recognize(layer, absolute).failed.kind == "form"


def test_floats_only_on_request():
    layer = Layer(1, 1, 1)
    with pytest.raises(TypeError, match="rationalize=True"):
        recognize(layer, [0.5])
    answer = recognize(layer, [0.5], rationalize=True)
    assert answer.coefficients == (sympy.Rational(1, 2),)
    with pytest.raises(ValueError, match="finite"):
        recognize(layer, [float("nan")], rationalize=True)


@pytest.mark.parametrize(
    ("function", "error", "text"),
    [
        ([1, 2, 3], ValueError, "has 6 coordinates"),
        ({"T_0_00_0": 1}, ValueError, "missing"),
        ({"nonsense": 1}, ValueError, "no such coordinates"),
        ([True] * 6, TypeError, "truth value"),
        (["1"] * 6, TypeError, "rational number"),
        ([sympy.sqrt(2)] * 6, ValueError, "not rational"),
        ([sympy.Symbol("s")] * 6, TypeError, "no number"),
        (3, TypeError, "expected coefficients"),
        ("abc", TypeError, "expected coefficients"),
        (np.zeros((2, 3), dtype=int), ValueError, "vector of length 6"),
        (sympy.Matrix([[sympy.Symbol("x"), 0]]), ValueError, "inputs=X"),
        (sympy.Matrix([[sympy.Symbol("x")], [1]]), ValueError, "1 x 2"),
        (lambda X: [[0.5, 0.5]], TypeError, "floating-point"),
    ],
)
def test_bad_input(function, error, text):
    with pytest.raises(error, match=text):
        recognize(Layer(2, 1, 2), function)


def test_wide_layers_are_quick():
    layer = Layer(12, 6, 3)
    weights = layer.random_weights(1).layers[0][0]
    answer = recognize(layer, layer.coefficients(weights))
    assert layer.coefficients(answer.weights) == layer.coefficients(weights)


def test_as_dict_is_plain_data():
    import json

    layer = Layer(2, 1, 2)
    w0, w1 = sympy.symbols("w:2")
    document = recognize(layer, tensor(layer, [[w0**2 - 2 * w1**2, 0]])).as_dict()
    assert json.loads(json.dumps(document)) == document
    assert document["representable"] is True
    assert document["field"] == "QQ(sqrt(2))"
