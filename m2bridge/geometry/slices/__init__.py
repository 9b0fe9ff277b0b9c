"""Slices of the (2, 1, a) neuromanifolds through which one can see them: exact data for pictures.

For d = 2, d_out = 1 a function is a pair (T_0, T_1) of binary quadratic forms: six coefficients.
Real weights with a >= 2 exist exactly when the two forms have a common real zero rho: for each rho
these are two linear conditions, so a slice of dimension 3 is a surface ruled by lines, and one of
dimension 2 a curve. The closure is the resultant hypersurface. It is singular where the forms are
proportional, (T_0, T_1) = Q (x) q: the surface meets itself there when Q has two real zeros,
nothing real passes through when Q is definite (these points have complex weights only), and where
Q is a square the surface has a pinch point. For a = 1 the curve of singular points is all there is.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from m2bridge.attention.layer import Layer
from m2bridge.display import brief
from m2bridge.geometry.slices.curve import SingularCurve
from m2bridge.geometry.slices.ruled import Array, Lines, Vector, form_of

__all__ = ["Slice", "default_slice", "random_slice", "slice_image", "slice_through"]


@dataclass(frozen=True, eq=False)
class Slice:
    """An affine plane or three-space in coefficient space and the image in it.

    Attributes:
        layer: the layer.
        origin, directions: rationals; a point of the slice is origin + sum x_k directions[k].
        radius: everything is cut off at this distance from x = 0.
        equation: the restricted resultant, a polynomial in x, y (and z), for a >= 2.
        sheets: meshes of the surface, each (m, n, 3): m lines of n points; for a plane slice
            curves (m, 2).
        double: polylines of singular points that real weights reach, each (m, dim).
        unreached: polylines (plane slices: single points) of real points of the closure that only
            complex weights reach.
        pinch_points: (k, dim); a general plane meets none.
        marked: points that the slice was laid through, (k, dim).
    """

    layer: Layer
    origin: Vector
    directions: tuple[Vector, ...]
    radius: float
    equation: sympy.Poly | None
    sheets: tuple[Array, ...]
    double: tuple[Array, ...]
    unreached: tuple[Array, ...]
    pinch_points: Array
    marked: Array

    __repr__ = brief

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return len(self.directions)

    def lift(self, x: Sequence[float]) -> list[float]:
        """The coefficients at slice coordinates x."""
        return [
            float(o) + sum(float(v[k]) * s for v, s in zip(self.directions, x, strict=True))
            for k, o in enumerate(self.origin)
        ]


def default_slice(layer: Layer, radius: float = 2.4) -> Slice:
    """A three-space with a smooth singular curve and two pinch points.

    T_0 = ((1 - z) w_0^2 - (1 + z) w_1^2) and T_1 = (x + 1/3) w_0^2 + y w_0 w_1 + (1/3 - x) w_1^2.
    """
    b = Fraction(1, 3)
    origin = (1, b, 0, 0, -1, b)
    directions = ((0, 1, 0, 0, 0, -1), (0, 0, 0, 1, 0, 0), (-1, 0, 0, 0, -1, 0))
    return slice_image(layer, origin, directions, radius=radius)


def random_slice(
    layer: Layer, dimension: int = 3, seed: int = 0, radius: float | None = None
) -> Slice:
    """A slice through a random function of the layer.

    Raises:
        ValueError: for a dimension other than 2 or 3, or an unsuitable layer.
    """
    _check_layer(layer)
    weights = layer.random_weights(seed, 3).layers[0][0]
    return slice_through(layer, [layer.coefficients(weights)], dimension, seed, radius)


def slice_through(
    layer: Layer,
    points: Sequence[Sequence[Any]],
    dimension: int = 3,
    seed: int = 0,
    radius: float | None = None,
) -> Slice:
    """The slice spanned by given points; random directions fill up what is missing.

    Args:
        layer: a layer with d = 2, d_out = 1, t >= 2.
        points: one to ``dimension`` + 1 points of six coefficients.
        dimension: 2 or 3.
        seed: of the random directions.
        radius: where to cut; by default far enough to see the nearest singular points.

    Raises:
        ValueError: for too many points, or points that do not span.
    """
    _check_layer(layer)
    if dimension not in (2, 3):
        raise ValueError(f"a slice has dimension 2 or 3, got {dimension}")
    if not 1 <= len(points) <= dimension + 1:
        raise ValueError(f"give 1 to {dimension + 1} points, got {len(points)}")
    exact = [_vector(point) for point in points]
    origin = exact[0]
    directions = [tuple(x - o for x, o in zip(p, origin, strict=True)) for p in exact[1:]]
    generator = random.Random(seed)
    while len(directions) < dimension:
        directions.append(tuple(Fraction(generator.randint(-5, 5)) for _ in origin))
        if _rank(directions) < len(directions):
            directions.pop()
    marked = [[0.0] * dimension]
    for k in range(len(points) - 1):
        marked.append([float(k == j) for j in range(dimension)])
    return slice_image(layer, origin, directions, radius=radius, marked=np.array(marked))


def slice_image(
    layer: Layer,
    origin: Sequence[Any],
    directions: Sequence[Sequence[Any]],
    *,
    radius: float | None = None,
    resolution: int = 240,
    marked: Array | None = None,
) -> Slice:
    """Compute one slice.

    Args:
        layer: a layer with d = 2, d_out = 1, t >= 2.
        origin: six coefficients (exact numbers, or floats taken as they are).
        directions: two or three independent directions.
        radius: where to cut, in slice coordinates; by default far enough to see the nearest
            pinch point or, when there is none, the nearest singular points.
        resolution: lines per sheet, and points per curve.
        marked: points to remember, in slice coordinates.

    Raises:
        ValueError: for another layer, dependent directions, or a slice in special position
            (one that contains a family of lines of singular points).
    """
    _check_layer(layer)
    start = _vector(origin)
    span = [_vector(v) for v in directions]
    if len(span) not in (2, 3):
        raise ValueError(f"a slice has 2 or 3 directions, got {len(span)}")
    if _rank(span) < len(span):
        raise ValueError("the directions of a slice must be linearly independent")
    if radius is not None and not (radius > 0 and np.isfinite(radius)):
        raise ValueError(f"radius must be a positive number, got {radius!r}")
    curve = SingularCurve(start, span)
    if radius is None:
        radius = _wide_enough(*curve.points(1e3, resolution), marked)
    reached, unreached, pinch = curve.points(radius, resolution)
    sheets: list[Array] = []
    equation = None
    if layer.a >= 2:
        equation = _equation(start, span)
        lines = Lines(start, span)
        sheets = (
            lines.surface(radius, resolution)
            if len(span) == 3
            else lines.curve(radius, 6 * resolution)
        )
    return Slice(
        layer,
        start,
        tuple(span),
        radius,
        equation,
        tuple(sheets),
        tuple(reached),
        tuple(unreached),
        pinch,
        np.zeros((0, len(span))) if marked is None else marked,
    )


def _wide_enough(
    reached: list[Array], unreached: list[Array], pinch: Array, marked: Array | None
) -> float:
    """1.6 times the distance of the nearest special point, and beyond all marked ones."""
    special = [pinch] if len(pinch) else [*reached, *unreached]
    lengths = [float(np.linalg.norm(p, axis=1).min()) for p in special]
    nearest = min((x for x in lengths if x > 0.2), default=2.0)
    farthest = 0.0
    if marked is not None and len(marked):
        farthest = float(np.linalg.norm(marked, axis=1).max())
    return max(1.6 * nearest, 1.4 * farthest, 0.5)


def _check_layer(layer: Layer) -> None:
    if layer.t == 1 or layer.d != 2 or layer.d_out != 1:
        raise ValueError(
            f"slices are drawn for d = 2, d_out = 1, t >= 2, where the closure is a hypersurface "
            f"(a >= 2) or a singular curve can be cut out of it; got {layer!r}"
        )


def _vector(values: Sequence[Any]) -> Vector:
    if len(values) != 6:
        raise ValueError(f"a point of this layer has 6 coefficients, got {len(values)}")
    result = []
    for value in values:
        if isinstance(value, (float, np.floating)) and not np.isfinite(value):
            raise ValueError(f"coefficients must be finite, got {value!r}")
        if isinstance(value, sympy.Rational):
            result.append(Fraction(int(value.p), int(value.q)))
        else:
            result.append(Fraction(value if isinstance(value, (int, Fraction)) else float(value)))
    return tuple(result)


def _rank(vectors: Sequence[Vector]) -> int:
    return int(sympy.Matrix([[sympy.Rational(x) for x in v] for v in vectors]).rank())


def _equation(origin: Vector, directions: Sequence[Vector]) -> sympy.Poly:
    """The resultant of T_0 and T_1 on the slice."""
    symbols = sympy.symbols("x y z")[: len(directions)]

    def restricted(r: int) -> list[sympy.Expr]:
        parts = [[sympy.Rational(c) for c in form_of(v, r)] for v in (origin, *directions)]
        factors = (sympy.Integer(1), *symbols)
        return [sum(f * p[k] for f, p in zip(factors, parts, strict=True)) for k in range(3)]

    (a, b, c), (p, q, r) = restricted(0), restricted(1)
    return sympy.Poly((a * r - c * p) ** 2 - (a * q - b * p) * (b * r - c * q), *symbols)
