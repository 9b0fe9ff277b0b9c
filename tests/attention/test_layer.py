"""One layer: coordinates, the linear map between them, and what phi(X) itself gives."""

from __future__ import annotations

import itertools
import pickle
from fractions import Fraction

import numpy as np
import pytest
import sympy

from m2bridge.attention import Layer, Network

SIZES = [
    (1, 1, 1, 2),
    (2, 1, 1, 1),
    (2, 1, 2, 2),
    (2, 2, 1, 3),
    (2, 1, 2, 4),
    (3, 1, 3, 2),
    (3, 2, 2, 1),
    (2, 2, 3, 2),
]


def symbolic(layer: Layer) -> tuple[sympy.Matrix, sympy.Matrix, sympy.Matrix, sympy.Matrix]:
    a, d, d_out, t = layer.a, layer.d, layer.d_out, layer.t
    Q = sympy.Matrix(a, d, lambda i, j: sympy.Symbol(f"Q_{i}_{j}"))
    K = sympy.Matrix(a, d, lambda i, j: sympy.Symbol(f"K_{i}_{j}"))
    V = sympy.Matrix(d_out, d, lambda i, j: sympy.Symbol(f"V_{i}_{j}"))
    X = sympy.Matrix(d, t, lambda i, j: sympy.Symbol(f"X_{i}_{j}"))
    return Q, K, V, X


@pytest.mark.parametrize(("d", "d_out", "a", "t"), SIZES)
def test_coordinates_are_what_phi_gives(d: int, d_out: int, a: int, t: int) -> None:
    # phi is expanded by sympy from its definition; nothing of the package's formulas is used.
    layer = Layer(d, d_out, a, t)
    Q, K, V, X = symbolic(layer)
    phi = V * X * X.T * (K.T * Q) * X
    found: dict[tuple[tuple[int, int], tuple[tuple[int, int], ...]], sympy.Expr] = {}
    for i, j in itertools.product(range(d_out), range(t)):
        poly = sympy.Poly(phi[i, j], *X)
        for exponents, coefficient in poly.terms():
            monomial = tuple((k // t, k % t) for k, e in enumerate(exponents) for _ in range(e))
            found[(i, j), monomial] = sympy.expand(coefficient)
    full = layer.full_coordinates
    assert {(c.output, c.monomial) for c in full} == set(found)
    assert len(full) == len(set(full)) == len({c.name for c in full})

    reduced = [p.as_expr() for p in layer.parametrization().polynomials]
    mapped = layer.full_from_reduced.apply(reduced)
    assert [sympy.expand(x - found[c.output, c.monomial]) for c, x in zip(full, mapped, strict=True)
            ] == [0] * len(full)  # fmt: skip
    assert [p.as_expr() for p in layer.full_parametrization().polynomials] == [
        p.as_expr() for p in (sympy.Poly(x, *layer.weight_symbols) for x in mapped)
    ]
    by_place = {(c.output, c.monomial): x for c, x in zip(full, mapped, strict=True)}
    for c, x in zip(layer.coordinates, reduced, strict=True):
        assert sympy.expand(by_place[(c.output, 0), c.monomial] - x) == 0


@pytest.mark.parametrize(("d", "d_out", "a", "t"), SIZES)
def test_relations(d: int, d_out: int, a: int, t: int) -> None:
    layer = Layer(d, d_out, a, t)
    full, relations = layer.full_from_reduced, layer.full_relations
    assert full.shape == (len(layer.full_coordinates), layer.ambient_dimension)
    assert np.linalg.matrix_rank(full.to_numpy()) == layer.ambient_dimension
    assert relations.shape[0] == full.shape[0] - layer.ambient_dimension
    if relations.shape[0]:
        assert np.linalg.matrix_rank(relations.to_numpy()) == relations.shape[0]
        assert not (relations.to_numpy() @ full.to_numpy()).any()


def test_ten_relations_in_one_output_entry() -> None:
    layer = Layer(3, 1, 3, 2)
    keep = [k for k, c in enumerate(layer.full_coordinates) if c.output == (0, 0)]
    block = layer.full_from_reduced.to_numpy()[keep]
    assert len(keep) - np.linalg.matrix_rank(block) == 10


def test_order_and_names() -> None:
    names = [c.name for c in Layer(2, 2, 1).coordinates]
    assert names[:6] == ["T_0_00_0", "T_0_00_1", "T_0_01_0", "T_0_01_1", "T_0_11_0", "T_0_11_1"]
    assert names[6] == "T_1_00_0"
    assert [(c.pair, c.column) for c in Layer(2, 1, 1, 1).coordinates] == [
        ((0, 0), 0),
        ((0, 0), 1),
        ((0, 1), 1),
        ((1, 1), 1),
    ]
    wide = Layer(12, 1, 1)
    assert len({c.name for c in wide.coordinates}) == wide.ambient_dimension
    assert all(s.assumptions0 == {"commutative": True} for s in wide.symbols)


def test_image_formula_by_hand() -> None:
    V, A = [[2, 3]], [[5, 7], [11, 13]]
    assert Layer(2, 1, 2).image(V, A) == [10, 14, 22 + 15, 26 + 21, 33, 39]
    # (2x+3y)(5x^2+18xy+13y^2)
    assert Layer(2, 1, 2, 1).image(V, A) == [10, 51, 80, 39]


@pytest.mark.parametrize("t", [1, 2, 3, 4])
def test_values_agree_with_evaluation(t: int) -> None:
    layer = Layer(3, 2, 2, t)
    weights = layer.random_weights(seed=t).layers[0][0]
    X = np.array([[(3 * i + j * j) % 7 - 3 for j in range(t)] for i in range(3)])
    full = layer.full_from_reduced.apply(layer.coefficients(weights))
    expected = layer.evaluate(X, weights)
    got = np.zeros((2, t), dtype=object)
    for c, value in zip(layer.full_coordinates, full, strict=True):
        got[c.output] += value * int(np.prod([int(X[place]) for place in c.monomial]))
    assert (got == expected).all()
    direct = weights.V @ X @ X.T @ weights.K.T @ weights.Q @ X
    assert (expected == direct).all()


def test_rank_above_width_is_noted() -> None:
    layer = Layer(2, 1, 5)
    assert layer.alpha == 2
    assert layer.parameters == 2 * 5 * 2 + 2
    assert "rank at most 2" in layer.notes[0]
    assert Layer(2, 1, 2).notes == ()


@pytest.mark.parametrize("value", [0, -1, True, 2.0, "2", None, Fraction(2)])
@pytest.mark.parametrize("name", ["d", "d_out", "a", "t"])
def test_bad_sizes(name: str, value: object) -> None:
    sizes: dict[str, object] = {"d": 2, "d_out": 1, "a": 2, "t": 2, name: value}
    with pytest.raises((TypeError, ValueError), match=rf"^{name} must be a positive integer"):
        Layer(**sizes)  # type: ignore[arg-type]


@pytest.mark.parametrize("two", [np.int64(2), sympy.Integer(2)])
def test_integers_of_other_libraries(two: object) -> None:
    assert Layer(two, 1, two) == Layer(2, 1, 2)  # type: ignore[arg-type]
    assert type(Layer(two, 1, 1).d) is int  # type: ignore[arg-type]


def test_is_a_network() -> None:
    layer = Layer(3, 2, 1, 4)
    assert isinstance(layer, Network)
    assert (layer.dims, layer.ranks, layer.t, layer.depth) == ((3, 2), (1,), 4, 1)
    assert repr(layer) == "Layer(d=3, d_out=2, a=1, t=4)"
    assert pickle.loads(pickle.dumps(layer)) == layer
    assert hash(layer) == hash(Layer(3, 2, 1, 4))
    assert layer != Layer(3, 2, 1, 3)


def test_ambient_dimension_counts_coordinates() -> None:
    for d, d_out, t in itertools.product((1, 2, 3, 4), (1, 2), (1, 2)):
        layer = Layer(d, d_out, 1, t)
        assert layer.ambient_dimension == len(layer.coordinates)
