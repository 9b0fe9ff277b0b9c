"""Recognition for t = 1: cubics, their linear factors, signatures and the fields of the weights."""

from __future__ import annotations

import random

import flint
import numpy as np
import pytest
import sympy

from m2bridge.attention import Layer
from m2bridge.geometry.recognize import recognize
from m2bridge.geometry.recognize.isotropy import hilbert_symbol, is_isotropic, isotropic_vector
from m2bridge.geometry.recognize.quadratic import diagonalise, signature, split, to_sympy

X = sympy.symbols("x:5")


def cubics(layer, *forms):
    """Coordinates of a vector of cubics in x0, x1, ..."""
    x = X[: layer.d]
    polys = [sympy.Poly(form, *x) for form in forms]
    return [
        polys[c.output].coeff_monomial(x[c.pair[0]] * x[c.pair[1]] * x[c.column])
        for c in layer.coordinates
    ]


def numerically_equal(layer, preimage, coefficients):
    """Compare numerically: the exact check is the norm identity inside the library."""
    V = [[x.evalf(20) for x in row] for row in preimage.V.tolist()]
    Q, K = preimage.Q.evalf(20), preimage.K.evalf(20)
    A = (K.T * Q).tolist()
    return all(
        abs(sympy.N(x - y)) < 1e-15 for x, y in zip(layer.image(V, A), coefficients, strict=True)
    )


@pytest.mark.parametrize("seed", range(60))
def test_round_trip(seed):
    generator = random.Random(seed)
    layer = Layer(generator.randint(1, 4), generator.randint(1, 3), generator.randint(1, 4), 1)
    weights = layer.random_weights(seed, generator.choice((1, 2, 7))).layers[0][0]
    answer = recognize(layer, layer.coefficients(weights))
    assert answer.representable is True
    for p in answer.preimages:
        if not any("CRootOf" in str(x) for x in (*p.V, *p.Q, *p.K)):
            A = (p.K.T * p.Q).tolist()
            values = layer.image(p.V.tolist(), A)
            assert [sympy.expand(x) for x in values] == list(answer.coefficients)


def test_a_generic_round_trip_stays_over_the_rationals():
    """sym(K^T Q) of rational weights has weights over QQ, and for d <= 3 they are found."""
    for seed in range(40):
        layer = Layer(3, 2, 2, 1)
        answer = recognize(layer, layer.coefficients(layer.random_weights(seed, 6).layers[0][0]))
        assert answer.field == "QQ"


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("d", "a"), [(4, 2), (4, 3), (5, 2), (5, 3), (6, 4), (8, 3)])
def test_rational_weights_for_more_variables(seed, d, a):
    """The form has a rational isotropic subspace of the right dimension, and it is found."""
    layer = Layer(d, 1, a, 1)
    answer = recognize(layer, layer.coefficients(layer.random_weights(seed, 4).layers[0][0]))
    assert answer.field == "QQ"


@pytest.mark.parametrize(
    ("form", "multiplicities"),
    [
        (X[0] * X[1] * (X[0] + X[1]), [1, 1, 1]),
        (X[0] * X[1] * X[2], [1, 1, 1]),
        (X[0] ** 2 * X[1], [1, 3]),
        (X[0] ** 3, [6]),
    ],
)
def test_points_and_lengths_of_rational_products(form, multiplicities):
    layer = Layer(3, 1, 1, 1)
    answer = recognize(layer, cubics(layer, form))
    assert sorted(p.multiplicity for p in answer.preimages) == multiplicities
    assert all(p.real and p.field == "QQ" for p in answer.preimages)


def test_three_real_roots_in_a_cubic_field():
    layer = Layer(2, 1, 1, 1)
    answer = recognize(layer, cubics(layer, X[0] ** 3 - 3 * X[0] * X[1] ** 2 + X[1] ** 3))
    assert answer.representable is True
    assert sum(p.real for p in answer.preimages) == 3
    assert all(numerically_equal(layer, p, answer.coefficients) for p in answer.preimages)


@pytest.mark.parametrize("a", [1, 2, 3])
@pytest.mark.parametrize("d", [2, 3])
def test_one_real_root_needs_two_dimensions_of_attention(a, d):
    """A real line times a definite binary form: signature (2, 0)."""
    forms = {
        2: X[0] ** 3 - 2 * X[1] ** 3,
        3: X[0] ** 3 + 2 * X[1] ** 3 + 4 * X[2] ** 3 - 6 * X[0] * X[1] * X[2],
    }
    layer = Layer(d, 1, a, 1)
    answer = recognize(layer, cubics(layer, forms[d]))
    assert answer.over_complex is True
    assert answer.representable is (a >= 2)
    assert len(answer.preimages) == 3
    assert all(numerically_equal(layer, p, answer.coefficients) for p in answer.preimages)
    if a == 1:
        assert "only with complex weights" in answer.reason
    else:
        assert [p.real for p in answer.preimages] == [True, False, False]


def test_an_irreducible_cubic_is_no_function():
    layer = Layer(3, 1, 2, 1)
    for form in (
        X[0] ** 3 + X[1] ** 3 + X[2] ** 3,
        X[1] ** 2 * X[2] - X[0] ** 3 + X[0] * X[2] ** 2,
        X[0] ** 3 - X[1] ** 2 * X[2],
    ):
        answer = recognize(layer, cubics(layer, form))
        assert (answer.representable, answer.over_complex) == (False, False)
        assert "no linear factor over the complex numbers" in answer.reason


@pytest.mark.parametrize(
    ("a", "form", "verdict", "over_complex", "field"),
    [
        (1, X[0] ** 2 + X[1] ** 2, False, True, None),
        (2, X[0] ** 2 + X[1] ** 2, True, True, "QQ"),
        (1, X[1] ** 2 - 3 * X[2] ** 2, True, True, "QQ(sqrt(3))"),
        (2, X[1] ** 2 - 3 * X[2] ** 2, True, True, "QQ"),
        (1, X[0] ** 2 + X[1] ** 2 - X[2] ** 2, False, False, None),
        (2, X[0] ** 2 + X[1] ** 2 + X[2] ** 2, False, True, None),
        (2, X[0] ** 2 + X[1] ** 2 - 2 * X[2] ** 2, True, True, "QQ"),  # has a rational zero
        (2, X[0] ** 2 + X[1] ** 2 - 3 * X[2] ** 2, True, True, "QQ(sqrt(3))"),  # has none
        (3, X[0] ** 2 + X[1] ** 2 + X[2] ** 2, True, True, "QQ"),
    ],
)
def test_line_times_quadric(a, form, verdict, over_complex, field):
    layer = Layer(3, 1, a, 1)
    answer = recognize(layer, cubics(layer, (X[0] + X[1] + X[2]) * form))
    assert (answer.representable, answer.over_complex) == (verdict, over_complex)
    assert answer.field == field
    if verdict is False and over_complex:
        assert answer.failed.kind == "inequality"
        assert "only with complex weights" in answer.reason


@pytest.mark.parametrize(
    ("signs", "a", "verdict"),
    [((1, 1, 1), 2, False), ((1, 1, -1), 2, True), ((-1, -1, -1), 2, False), ((1, 1, 1), 3, True)],
)
def test_signatures_with_two_outputs(signs, a, verdict):
    layer = Layer(3, 2, a, 1)
    s = sum(sign * (X[k] + X[0]) ** 2 for k, sign in enumerate(signs))
    answer = recognize(layer, cubics(layer, X[0] * s, X[1] * s))
    assert answer.representable is verdict
    assert answer.over_complex is True
    assert len(answer.preimages) == 1


@pytest.mark.parametrize(
    "forms",
    [
        (X[0] ** 3, X[1] ** 3),
        (X[0] ** 2 * X[1], X[1] ** 3),
        (X[0] ** 2 * X[1], X[0] * X[1] ** 2, X[0] ** 3 + X[1] ** 3),
    ],
)
def test_no_common_quadratic_factor(forms):
    layer = Layer(2, len(forms), 2, 1)
    coefficients = cubics(layer, *forms)
    answer = recognize(layer, coefficients)
    assert (answer.representable, answer.over_complex) == (False, False)
    relation = answer.failed.relation
    at_point = dict(zip(layer.symbols, coefficients, strict=True))
    assert sympy.expand(relation.xreplace(at_point)) == answer.failed.value != 0
    for seed in range(5):
        weights = layer.random_weights(seed, 5).layers[0][0]
        on_image = dict(zip(layer.symbols, layer.coefficients(weights), strict=True))
        assert sympy.expand(relation.xreplace(on_image)) == 0


def test_triples_with_pairwise_common_factors():
    """xyz / x, xyz / y, ... times one more: any two share a quadric, all three do not."""
    layer = Layer(3, 3, 3, 1)
    x, y, z = X[:3]
    coefficients = cubics(layer, x * y * (x + y), y * z * (x + y), z * x * (x + y))
    answer = recognize(layer, coefficients)
    assert (answer.representable, answer.over_complex) == (False, False)
    assert answer.failed.value != 0


# Quadratic forms


def gram(d, products):
    A = np.zeros((d, d), dtype=object)
    for k, q in products:
        A += np.outer(k, q)
    return [[flint.fmpq(int(x), 2) for x in row] for row in A + A.T]


@pytest.mark.parametrize("seed", range(30))
def test_splitting_reproduces_the_form_with_the_right_number_of_products(seed):
    generator = random.Random(seed)
    d = generator.randint(2, 4)
    S = [[0] * d for _ in range(d)]
    for i in range(d):
        for j in range(i, d):
            S[i][j] = S[j][i] = generator.randint(-4, 4)
    exact = [[flint.fmpq(x) for x in row] for row in S]
    diagonal = diagonalise(exact)
    eigenvalues = np.linalg.eigvalsh(np.array(S, dtype=float))
    expected = int((eigenvalues > 1e-9).sum()), int((eigenvalues < -1e-9).sum())
    assert signature(diagonal) == expected
    for count in range((len(diagonal) + 1) // 2, d + 1):
        splitting = split(diagonal, count)
        assert len(splitting.left) <= max(count, 0)
        assert splitting.real is (max(expected) <= count)
        total = sympy.zeros(d, d)
        for left, right in zip(splitting.left, splitting.right, strict=True):
            total += sympy.Matrix(left) * sympy.Matrix(right).T
        total = ((total + total.T) / 2).applyfunc(sympy.expand)
        assert total == sympy.Matrix(d, d, lambda i, j: to_sympy(exact[i][j]))
    if len(diagonal) % 2 == 0 and len(diagonal):
        assert split(diagonal, len(diagonal) // 2 - 1) is None


def brute_isotropic(c, bound):
    values = np.arange(-bound, bound + 1)
    grids = np.meshgrid(*[values] * len(c), indexing="ij")
    zero = sum(k * g**2 for k, g in zip(c, grids, strict=True)) == 0
    return int(zero.sum()) > 1


def test_isotropy_against_brute_force():
    """Holzer: a solvable ternary form with small squarefree coefficients has a small zero."""
    generator = random.Random(0)
    for _ in range(150):
        c = [generator.choice((-1, 1)) * generator.choice((1, 2, 3, 5, 6, 7)) for _ in range(3)]
        found = is_isotropic(c)
        assert found is brute_isotropic(c, 8 if found is False else 45), c
        answer = isotropic_vector([flint.fmpq(x) for x in c])
        assert answer.decided
        assert (answer.vector is not None) is found


def test_quaternary_isotropy():
    assert is_isotropic([1, 1, 1, -7]) is False  # 7 is no sum of three squares
    assert is_isotropic([1, 1, 1, -6]) is True
    assert is_isotropic([1, 1, -3, -3]) is False
    assert is_isotropic([1, 1, 1, 1, -7]) is True
    assert is_isotropic([1, 2, 3, 4, 5]) is False
    for c in ([1, 1, 1, -6], [1, 1, 1, 1, -7], [3, 5, -7, -11]):
        vector = isotropic_vector([flint.fmpq(x) for x in c]).vector
        assert vector is not None
        assert any(vector)
        assert sum((k * x * x for k, x in zip(c, vector, strict=True)), flint.fmpq(0)) == 0


def test_product_formula_of_hilbert_symbols():
    generator = random.Random(2)
    for _ in range(100):
        a, b = (generator.choice((-1, 1)) * generator.randint(1, 60) for _ in range(2))
        places = {0, 2, *sympy.primefactors(a), *sympy.primefactors(b)}
        product = 1
        for p in places:
            product *= hilbert_symbol(a, b, p)
        assert product == 1


def test_long_witnesses_are_determinants_that_are_not_written_out() -> None:
    """On coordinate lines w0 w3 w6 cannot be seen, and on general lines everything is long."""
    layer = Layer(8, 2, 3, 1)
    V = [[(3 * i + 5 * p * p) % 11 - 5 for p in range(8)] for i in range(2)]
    A = [[(2 * p + 7 * q * q + p * q) % 11 - 5 if p < 3 else 0 for q in range(8)] for p in range(8)]
    values = [int(x) for x in layer.image(V, A)]
    on_image = dict(zip(layer.symbols, map(sympy.Integer, values), strict=True))
    values[layer.symbols.index(sympy.Symbol("T_0_03_6"))] += 1
    answer = recognize(layer, values)
    assert answer.representable is False
    assert answer.failed is not None
    relation = answer.failed.relation
    assert isinstance(relation, sympy.Determinant)
    at_point = dict(zip(layer.symbols, map(sympy.Integer, values), strict=True))
    assert relation.xreplace(at_point).doit() == answer.failed.value != 0
    assert relation.xreplace(on_image).doit() == 0
