"""Tangent spaces, multiplicities and tangent cones at points."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy

from m2bridge.attention import Layer
from m2bridge.engine import Session
from m2bridge.geometry.strata import strata
from m2bridge.geometry.strata.locate import stratum_of_cubic, stratum_of_tensor
from m2bridge.geometry.tangent import tangent_space


@pytest.mark.parametrize("model", [(2, 1, 2, 2), (2, 2, 2, 2), (3, 1, 1, 2), (3, 1, 1, 1)])
def test_representatives(model):
    layer = Layer(*model)
    for s in strata(layer):
        space = tangent_space(layer, s.point())
        assert space.type == s.type
        assert (space.dimension, space.singular) == (s.tangent_dimension, s.singular)
        assert len(space.basis) == space.dimension
        if not s.singular:
            assert space.multiplicity == 1
            assert len(space.tangent_cone) == layer.ambient_dimension - space.dimension
            for form in space.tangent_cone:
                assert all(form.eval(vector) == 0 for vector in space.basis)


def test_velocities_of_weights_are_tangent():
    """d/ds phi(V + s B, A + s C) lies in the space, at a point with rational coordinates."""
    layer = Layer(2, 2, 2)
    V, A = [[1, 2], [Fraction(1, 3), -1]], [[2, 0], [1, Fraction(5, 2)]]
    B, C = [[3, 1], [0, 1]], [[1, 1], [-2, 4]]
    space = tangent_space(layer, layer.image(V, A))
    first, second = layer.image(B, A), layer.image(V, C)
    velocity = [sympy.Rational(x + y) for x, y in zip(first, second, strict=True)]
    rows = [[sympy.Integer(x) for x in row] for row in space.basis]
    assert sympy.Matrix(rows).rank() == sympy.Matrix([*rows, velocity]).rank() == 7


def test_points_that_are_not_in_the_closure_are_refused():
    layer = Layer(2, 1, 2)
    with pytest.raises(ValueError, match="not in the closure"):
        tangent_space(layer, [1, 0, 0, 0, 0, 1])
    with pytest.raises(ValueError):
        tangent_space(layer, [1, 0, 0])
    with pytest.raises(TypeError):
        tangent_space(layer, [1.5, 0.25, 0, 0, 0, 0])


def test_a_point_beyond_the_real_functions_has_a_tangent_space():
    """(x_0^2 + x_1^2) times q: in the closure, of complex type (1, 1, 2)."""
    layer = Layer(2, 1, 2)
    point = [int(c.pair[0] == c.pair[1] and c.column == 0) for c in layer.coordinates]
    space = tangent_space(layer, point)
    assert (space.type, space.dimension, space.singular) == ((1, 1, 2), 6, True)
    assert space.multiplicity is None  # a session would tell


def test_types_of_points():
    layer = Layer(4, 3, 3)
    for s in strata(layer, certify=False):
        assert stratum_of_tensor(layer, s.point()).type == s.type
    cubic = Layer(4, 2, 2, t=1)
    for s in strata(cubic, certify=False)[1:]:
        V, A = s.representative
        S = [[A[p][q] + A[q][p] for q in range(4)] for p in range(4)]
        assert stratum_of_cubic(cubic, s.point(), lambda V=V, S=S: (V, S)).type == s.type


def test_an_irreducible_product_of_three_linear_forms():
    """The norm of x + r y + r^2 z, r^3 = 2: three conjugate linear forms, no rational weights."""
    layer = Layer(3, 1, 1, t=1)
    x, y, z = sympy.symbols("x y z")
    norm = x**3 + 2 * y**3 + 4 * z**3 - 6 * x * y * z
    poly = sympy.Poly(norm, x, y, z)
    point = []
    for c in layer.coordinates:
        exponents = [0, 0, 0]
        for k in (*c.pair, c.column):
            exponents[k] += 1
        point.append(poly.coeff_monomial(tuple(exponents)))
    space = tangent_space(layer, point)
    assert (space.type, space.singular, space.dimension) == ((1, 2, 0, 2), False, 7)


@pytest.mark.m2
def test_multiplicities(session: Session):
    """Double points where two sheets are glued; 3 (the degree) at the cone's vertex."""
    layer = Layer(2, 1, 2)
    for s in strata(layer):
        space = tangent_space(layer, s.point(), session)
        expected = {(0, 0, 0): 4, (1, 1, 1): 2, (1, 1, 2): 2, (1, 2, 2): 1}
        assert space.multiplicity == expected[s.type]
        assert len(space.tangent_cone) == 1
        assert space.tangent_cone[0].total_degree() == space.multiplicity
    triangle = Layer(3, 1, 1, t=1)
    found = {s.type: tangent_space(triangle, s.point(), session) for s in strata(triangle)}
    assert found[1, 2, 1, 0].multiplicity == 2
    assert found[1, 2, 0, 2].multiplicity == 1
    assert all(space.certainty == "proved" for space in found.values())
