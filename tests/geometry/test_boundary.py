"""The boundary of real functions: dimensions, exact points on both sides, inequalities."""

from __future__ import annotations

import random

import pytest
import sympy

from m2bridge.attention import Layer
from m2bridge.errors import SizeLimitError
from m2bridge.geometry.boundary import boundary
from m2bridge.geometry.recognize import recognize
from m2bridge.geometry.semialgebraic import inequalities
from m2bridge.geometry.strata import strata


@pytest.mark.parametrize(
    ("model", "dimension", "degree", "missing"),
    [
        ((2, 1, 2), 3, 4, 4),
        ((2, 1, 1), 3, 4, 4),
        ((2, 2, 2), 4, 12, 5),
        ((3, 1, 1), 5, 24, 7),
        ((3, 1, 3), 5, 24, 7),
    ],
)
def test_boundary_for_two_tokens(model, dimension, degree, missing):
    edge = boundary(Layer(*model))
    (component,) = edge.components
    assert (edge.dimension, component.degree, edge.complement_dimension) == (
        dimension,
        degree,
        missing,
    )
    assert edge.types == ((1, 1, 1), (0, 0, 0))
    assert component.complete is True
    assert set(component.generators_by_degree) == {2}
    assert [point.side for point in edge.points] == ["inside", "boundary", "beyond"]
    assert len(edge.inequalities) == 1
    assert edge.inequalities_minimal is True


@pytest.mark.parametrize("model", [(1, 1, 1, 2), (1, 3, 2, 2), (2, 2, 2, 1), (3, 1, 4, 1)])
def test_no_boundary(model):
    """d = 1, and t = 1 with a >= d: every real point of the closure has real weights."""
    edge = boundary(Layer(*model))
    assert (edge.dimension, edge.complement_dimension) == (-1, -1)
    assert (edge.components, edge.types, edge.inequalities) == ((), (), ())
    assert edge.description.startswith("empty")
    assert edge.complement == "empty"
    assert [point.side for point in edge.points] == ["inside"]


def test_the_equations_separate_the_sides():
    """Equations of the boundary vanish on its point only; those of the model on all three."""
    edge = boundary(Layer(2, 1, 2))
    generators = edge.components[0].generators
    for point in edge.points:
        vanish = all(f.eval(point.coordinates) == 0 for f in generators)
        assert vanish == (point.side == "boundary")


def test_binary_cubics_with_real_roots():
    """(2, 1, 1), t = 1: all real roots, so discriminant >= 0; the boundary is its zero set."""
    layer = Layer(2, 1, 1, t=1)
    edge = boundary(layer)
    (inequality,) = edge.inequalities
    a, b, c, d = layer.symbols
    x = sympy.Symbol("x")
    expected = sympy.discriminant(a * x**3 + b * x**2 + c * x + d, x)
    assert sympy.expand(inequality.polynomial.as_expr() - expected) == 0
    (component,) = edge.components
    assert (component.dimension, component.degree, component.generators_by_degree) == (3, 4, {4: 1})
    assert sympy.rem(expected, component.generators[0].as_expr(), *layer.symbols) == 0


@pytest.mark.parametrize("model", [(3, 1, 1), (3, 2, 1), (4, 1, 1)])
def test_inequality_for_products_of_three_linear_forms(model):
    """a = 1, t = 1: it holds for real products, fails for every v Q with Q definite of rank 2."""
    layer = Layer(*model, t=1)
    (inequality,), minimal = inequalities(layer)
    assert minimal is True
    d, d_out, _ = model
    rng = random.Random(5)

    def vector(n):
        return [sympy.Integer(rng.randint(-2, 2)) for _ in range(n)]

    for _ in range(40):
        V = (
            [[x * y for y in vector(d)] for x in vector(d_out)]
            if rng.random() < 0.5
            else [vector(d) for _ in range(d_out)]
        )
        left, right = vector(d), vector(d)
        A = [[x * y for y in right] for x in left]
        assert inequality.holds(layer.image(V, A))
        # left^2 + right^2, definite of rank 2 when these are independent
        S = [[left[p] * left[q] + right[p] * right[q] for q in range(d)] for p in range(d)]
        if sympy.Matrix([left, right]).rank() == 2 and sympy.Matrix(V).rank():
            assert not inequality.holds(layer.image(V, S))


@pytest.mark.parametrize("model", [(2, 1, 1), (2, 2, 2), (3, 2, 2)])
def test_inequality_for_two_tokens(model):
    layer = Layer(*model)
    (inequality,), _ = inequalities(layer)
    d, d_out, _ = model
    rng = random.Random(7)

    def vector(n):
        return [sympy.Integer(rng.randint(-2, 2)) for _ in range(n)]

    for _ in range(40):
        V, A = [vector(d) for _ in range(d_out)], [vector(d) for _ in range(d)]
        assert inequality.holds(layer.image(V, A))
        x, y, u, q = vector(d), vector(d), vector(d_out), vector(d)
        if sympy.Matrix([x, y]).rank() < 2 or not any(u) or not any(q):
            continue
        # u (x) (x^2 + y^2) (x) q, from complex weights
        v = [a + sympy.I * b for a, b in zip(x, y, strict=True)]
        complex_v = [[s * a for a in v] for s in u]
        complex_a = [[sympy.conjugate(a) * s for s in q] for a in v]
        point = [sympy.expand(value) for value in layer.image(complex_v, complex_a)]
        assert all(value.is_Integer for value in point)
        assert not inequality.holds(point)


@pytest.mark.parametrize("model", [(3, 1, 2), (4, 1, 2), (4, 2, 3), (5, 1, 1)])
def test_points_near_the_boundary_leave_the_image(model):
    """t = 1: raising p beyond a, however little, is possible exactly on the boundary."""
    d, _, a = model
    layer = Layer(*model, t=1)
    for s in strata(layer, certify=False)[1:]:
        for form in s.real_forms:
            if not form.in_image or (s.rank_v == 1 and s.rank_s <= 2):
                continue
            p, q = form.signature
            # Small changes of S reach all (p', q') with p' >= p, q' >= q, p' + q' <= rank bound.
            top = min(2 * a, d)
            leaves = any(max(x, y) > a for x in range(p, top + 1) for y in range(q, top + 1 - x))
            assert form.boundary == leaves


def test_sizes():
    edge = boundary(Layer(40, 40, 40), equations=False)
    assert edge.dimension == 40 + 2 * 40 - 2
    assert edge.inequalities is None
    assert edge.points[0].coordinates is None
    assert edge.to_dict()["points"][0]["coordinates"] is None
    with pytest.raises(SizeLimitError, match="equations=False"):
        boundary(Layer(5, 5, 5))


def test_only_signatures_are_known_for_larger_attention_and_one_token():
    edge = boundary(Layer(3, 1, 2, t=1), equations=False)
    assert inequalities(Layer(3, 1, 2, t=1)) == (None, None)
    assert (edge.dimension, edge.complement_dimension) == (7, 8)
    assert "signature" in edge.semialgebraic


@pytest.mark.parametrize(
    "model", [(2, 1, 1, 2), (3, 2, 2, 2), (2, 2, 1, 1), (3, 1, 2, 1), (5, 1, 2, 1)]
)
def test_recognition_agrees_with_the_sides(model):
    """An independent way, by factorisation: real weights exist unless the point lies beyond."""
    layer = Layer(*model)
    for point in boundary(layer, equations=False).points:
        answer = recognize(layer, list(point.coordinates))
        assert answer.representable == (point.side != "beyond")
        assert answer.over_complex is True
