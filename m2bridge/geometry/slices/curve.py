"""The singular points of a slice, where the two forms are proportional."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import sympy

from m2bridge.geometry.slices.ruled import Array, Vector, form_of, runs

__all__ = ["SingularCurve"]

_SPECIAL = (
    "the slice is in special position: it contains lines of singular points; move it a little"
)


class SingularCurve:
    """The points (T_0, T_1) = Q (x) (c, s) of a slice: -s T_0 + c T_1 = 0, three conditions.

    With (c, s) = (1, t) and, for t = infinity, (0, 1), everything is polynomial in t.
    """

    def __init__(self, origin: Vector, directions: Sequence[Vector]) -> None:
        self.dim = len(directions)
        self.t = sympy.Symbol("t")
        self.forms = [
            [[sympy.Rational(x) for x in form_of(v, r)] for v in (origin, *directions)]
            for r in (0, 1)
        ]
        columns = [
            [self.forms[1][v][k] - self.t * self.forms[0][v][k] for k in range(3)]
            for v in range(self.dim + 1)
        ]
        self.matrix = sympy.Matrix(3, self.dim + 1, lambda k, v: columns[v][k])

    def points(self, radius: float, resolution: int) -> tuple[list[Array], list[Array], Array]:
        """Reached and unreached polylines (points for a plane), and pinch points."""
        if self.dim == 2:
            return self._isolated(radius)
        determinant = sympy.Poly(self.matrix[:, 1:].det(), self.t)
        if determinant.is_zero:
            raise ValueError(_SPECIAL)
        numerators = [sympy.Poly(e, self.t) for e in self._numerators()]
        self._check_position(determinant, numerators)
        discriminant = self._discriminant(numerators, determinant)
        pinch = self._pinch_points(numerators, determinant, discriminant, radius)
        reached: list[Array] = []
        unreached: list[Array] = []
        psi = np.linspace(-np.pi / 2, np.pi / 2, 40 * resolution + 1)
        t = np.tan(psi)
        with np.errstate(all="ignore"):
            below = _evaluate(determinant, t)
            xyz = np.stack([_evaluate(n, t) / below for n in numerators], axis=1)
            close = np.asarray(np.linalg.norm(xyz, axis=1) <= radius)
        # A run that goes through t = infinity is one piece; roll the seam out of the way.
        shift = int(np.argmin(close)) if not close.all() else 0
        xyz, t, close = np.roll(xyz, -shift, axis=0), np.roll(t, -shift), np.roll(close, -shift)
        sign = _evaluate(discriminant, t)
        for flags, pieces in (
            (close & (sign >= 0), reached),
            (close & (sign < 0), unreached),
        ):
            for first, last in runs(flags):
                pieces.append(_thinned(xyz[max(0, first - 1) : last + 2], radius))
        return reached, unreached, pinch

    def _check_position(self, determinant: sympy.Poly, numerators: list[sympy.Poly]) -> None:
        """All four are forms of degree 3 in (1 : t); where all vanish, a line may be singular."""
        common = determinant
        for numerator in numerators:
            common = sympy.gcd(common, numerator)
        suspects = [self.matrix.subs(self.t, x.evalf(30)) for x in _real_roots(common)]
        if all(p.is_zero or p.degree() < 3 for p in (determinant, *numerators)):
            suspects.append(self.matrix.diff(self.t))  # t = infinity
        for suspect in suspects:
            values = np.array(suspect.evalf(20), dtype=float)
            linear, whole = (np.linalg.matrix_rank(m, tol=1e-9) for m in (values[:, 1:], values))
            if linear == whole:
                raise ValueError(_SPECIAL)

    def _numerators(self) -> list[sympy.Expr]:
        """Cramer: x_v = numerator_v / determinant."""
        found = []
        for v in range(self.dim):
            replaced = self.matrix[:, 1:].copy()
            replaced[:, v] = -self.matrix[:, 0]
            found.append(sympy.expand(replaced.det()))
        return found

    def _quadric(self, numerators: list[sympy.Poly], scale: sympy.Poly) -> list[sympy.Poly]:
        """Coefficients of scale * (T_0 + t T_1) / (1 + t^2), which is scale * Q up to sign."""
        parts = [scale, *numerators]
        return [
            sum(
                (
                    part * sympy.Poly(self.forms[0][v][k] + self.t * self.forms[1][v][k], self.t)
                    for v, part in enumerate(parts)
                ),
                sympy.Poly(0, self.t),
            )
            for k in range(3)
        ]

    def _discriminant(self, numerators: list[sympy.Poly], scale: sympy.Poly) -> sympy.Poly:
        """Of a positive multiple of Q: its sign says whether Q has real zeros."""
        a, b, c = self._quadric(numerators, scale)
        return b * b - 4 * a * c

    def _pinch_points(
        self,
        numerators: list[sympy.Poly],
        determinant: sympy.Poly,
        discriminant: sympy.Poly,
        radius: float,
    ) -> Array:
        """Real zeros of the discriminant, where Q is a square."""
        found = []
        for root in _real_roots(discriminant):
            value = root.evalf(50)
            below = float(determinant.eval(value))
            if abs(below) < 1e-12:
                continue  # at infinity
            point = [float(n.eval(value)) / below for n in numerators]
            if np.linalg.norm(point) <= radius:
                found.append(point)
        return np.array(found).reshape(-1, self.dim)

    def _isolated(self, radius: float) -> tuple[list[Array], list[Array], Array]:
        """Singular points in a plane: zeros of the 3 x 3 determinant."""
        determinant = sympy.Poly(self.matrix.det(), self.t)
        if determinant.is_zero:
            raise ValueError("the plane is in special position: it contains a singular curve")
        groups: list[list[Array]] = [[], [], []]
        for root in _real_roots(determinant):
            matrix = np.array(self.matrix.subs(self.t, root).evalf(30), dtype=float)
            solution, _, rank, _ = np.linalg.lstsq(matrix[:, 1:], -matrix[:, 0], rcond=1e-10)
            if rank < 2 or np.linalg.norm(solution) > radius:
                continue
            parts = np.array([1.0, *solution])
            forms = np.array(self.forms, dtype=float)
            a, b, c = parts @ (forms[0] + float(root) * forms[1])
            discriminant, size = b * b - 4 * a * c, b * b + abs(4 * a * c)
            kind = 2 if abs(discriminant) <= 1e-9 * size else int(discriminant < 0)
            groups[kind].append(solution[None, :])
        pinch = np.concatenate(groups[2]) if groups[2] else np.zeros((0, 2))
        return groups[0], groups[1], pinch


def _real_roots(polynomial: sympy.Poly) -> list[sympy.Expr]:
    """The different real roots, exact."""
    if polynomial.degree() <= 0:
        return []
    return list(sympy.real_roots(polynomial.sqf_part()))


def _evaluate(polynomial: sympy.Poly, t: Array) -> Array:
    return np.asarray(np.polyval([float(c) for c in polynomial.all_coeffs()], t))


def _thinned(points: Array, radius: float, step: float = 0.01) -> Array:
    """Drop points that lie closer together than step * radius, and those far outside."""
    points = points[np.linalg.norm(points, axis=1) <= radius * 1.02]
    if len(points) < 3:
        return points
    kept = [0]
    for k in range(1, len(points) - 1):
        if np.linalg.norm(points[k] - points[kept[-1]]) >= step * radius:
            kept.append(k)
    return points[[*kept, len(points) - 1]]
