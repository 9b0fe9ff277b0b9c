"""Slices of the (2, 1, a) neuromanifolds: every drawn point is where it is said to be."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy

from m2bridge.attention import Layer
from m2bridge.geometry.identify import identify
from m2bridge.geometry.recognize import recognize
from m2bridge.geometry.slices import default_slice, random_slice, slice_image, slice_through

LAYER = Layer(2, 1, 2)


def forms_at(piece, x):
    """(T_0, T_1) as arrays of the coefficients of w0^2, w0 w1, w1^2."""
    values = np.array(piece.lift(x))
    return values[0::2], values[1::2]


def resultant(f, g):
    (a, b, c), (p, q, r) = f, g
    return (a * r - c * p) ** 2 - (a * q - b * p) * (b * r - c * q)


PIECES = {
    "default": lambda: default_slice(LAYER),
    **{f"3d-{k}": (lambda k=k: random_slice(LAYER, 3, k)) for k in range(4)},
    **{f"2d-{k}": (lambda k=k: random_slice(LAYER, 2, k)) for k in range(4)},
}


@pytest.mark.parametrize("name", PIECES)
def test_points_satisfy_what_defines_them(name):
    piece = PIECES[name]()
    scale = float(max(abs(x) for v in (piece.origin, *piece.directions) for x in v)) ** 4
    scale *= max(1.0, piece.radius) ** 4
    for sheet in piece.sheets:
        for x in sheet.reshape(-1, piece.dimension)[::97]:
            f, g = forms_at(piece, x)
            assert abs(resultant(f, g)) < 1e-9 * scale
            assert abs(float(piece.equation.eval(tuple(x)))) < 1e-9 * scale
            assert np.linalg.norm(x) <= piece.radius * 1.001
    for lines, sign in ((piece.double, 1), (piece.unreached, -1)):
        for line in lines:
            for x in line[1:-1:7] if len(line) > 2 else line:
                f, g = forms_at(piece, x)
                size = np.linalg.norm(f) * np.linalg.norm(g) + 1e-9
                assert np.linalg.norm(np.cross(f, g)) < 1e-6 * size  # proportional
                a, b, c = max(f, g, key=np.linalg.norm)
                assert sign * (b * b - 4 * a * c) > -1e-6 * (b * b + abs(a * c))
    for x in piece.pinch_points:
        a, b, c = max(forms_at(piece, x), key=np.linalg.norm)
        assert abs(b * b - 4 * a * c) <= 1e-6 * (b * b + abs(a * c))


def test_the_default_slice():
    """Pinch points at z = 1 and z = -1; between them both real, beyond them no real weights."""
    piece = default_slice(LAYER)
    assert sorted(map(tuple, piece.pinch_points.round(9))) == [
        (-0.333333333, 0.0, 1.0),
        (0.333333333, 0.0, -1.0),
    ]
    assert len(piece.double) == len(piece.unreached) == 2
    assert all((np.abs(line[:, 2]) < 1.05).all() for line in piece.double)
    assert all((np.abs(line[:, 2]) > 0.95).all() for line in piece.unreached)
    x, y, z = piece.equation.gens
    expected = 4 * x**2 * z**2 + sympy.Rational(8, 3) * x * z + y**2 * z**2 - y**2
    assert piece.equation.as_expr() == sympy.expand(expected + sympy.Rational(4, 9))


def test_exact_points_of_the_default_slice_are_recognised():
    piece = default_slice(LAYER)

    def exact(*x):
        return [
            o + sum(v[k] * s for v, s in zip(piece.directions, x, strict=True))
            for k, o in enumerate(piece.origin)
        ]

    half = Fraction(1, 2)
    # On the singular curve x z = -1/3, y = 0.
    reached = recognize(LAYER, exact(-Fraction(2, 3), 0, half))
    assert (reached.representable, len(reached.preimages)) == (True, 2)
    where = identify(LAYER, reached.weights.Q, reached.weights.K, reached.weights.V)
    assert where.stratum.type == (1, 1, 2)
    beyond = recognize(LAYER, exact(-Fraction(1, 6), 0, 2))
    assert (beyond.representable, beyond.over_complex) == (False, True)
    pinch = recognize(LAYER, exact(-Fraction(1, 3), 0, 1))
    where = identify(LAYER, pinch.weights.Q, pinch.weights.K, pinch.weights.V)
    assert (where.stratum.type, where.boundary) == ((1, 1, 1), True)


def test_slices_through_given_points():
    points = [LAYER.coefficients(LAYER.random_weights(k, 3).layers[0][0]) for k in range(4)]
    for dimension in (2, 3):
        piece = slice_through(LAYER, points[: dimension + 1], dimension)
        for point, x in zip(points, piece.marked, strict=False):
            assert piece.lift(x) == pytest.approx([float(v) for v in point])
            assert float(piece.equation.eval(tuple(map(sympy.nsimplify, x)))) == 0
            assert np.linalg.norm(x) < piece.radius


def test_one_dimensional_attention_leaves_the_singular_curve():
    piece = random_slice(Layer(2, 1, 1), 3, 1)
    assert piece.sheets == ()
    assert piece.equation is None
    assert piece.double


@pytest.mark.parametrize("layer", [Layer(3, 1, 2), Layer(2, 2, 2), Layer(2, 1, 2, 1)])
def test_other_layers_are_refused(layer):
    with pytest.raises(ValueError, match="d = 2, d_out = 1"):
        default_slice(layer)


def test_bad_input():
    unit = [[int(i == k) for i in range(6)] for k in range(6)]
    with pytest.raises(ValueError, match="linearly independent"):
        slice_image(LAYER, unit[0], [unit[1], unit[1]])
    with pytest.raises(ValueError, match="2 or 3"):
        slice_image(LAYER, unit[0], unit[:4])
    with pytest.raises(ValueError, match="6 coefficients"):
        slice_image(LAYER, [1, 2], unit[:3])
    with pytest.raises(ValueError, match="positive"):
        slice_image(LAYER, unit[0], unit[1:4], radius=-1)
    with pytest.raises(ValueError, match="finite"):
        slice_image(LAYER, [float("nan")] * 6, unit[1:4])
    with pytest.raises(ValueError, match="special position"):
        slice_image(LAYER, [0] * 6, [unit[0], unit[2], unit[4]])  # T_1 = 0: all singular
    with pytest.raises(ValueError, match="1 to 4"):
        slice_through(LAYER, unit[:5])
    with pytest.raises(ValueError, match="dimension 2 or 3"):
        slice_through(LAYER, unit[:2], dimension=4)
