"""The surface of a slice, ruled by lines: one for each common zero of the two forms."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

__all__ = ["Array", "Lines", "Vector", "form_of", "runs"]

Array = np.ndarray[Any, np.dtype[np.float64]]
Vector = tuple[Fraction, ...]


def form_of(vector: Vector, r: int) -> list[Fraction]:
    """The coefficients of w_0^2, w_0 w_1, w_1^2 in T_r."""
    return [vector[r], vector[2 + r], vector[4 + r]]


def runs(flags: Any) -> list[tuple[int, int]]:
    """Maximal intervals of True, as (first, last) with at least two entries."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], np.asarray(flags, dtype=int), [0]])))
    return [(int(a), int(b) - 1) for a, b in edges.reshape(-1, 2) if b - a >= 2]


class Lines:
    """For each zero rho = (cos phi, sin phi): the points of the slice whose forms vanish there."""

    def __init__(self, origin: Vector, directions: Sequence[Vector]) -> None:
        self.constant = np.array([[float(c) for c in form_of(origin, r)] for r in (0, 1)])
        self.linear = np.array(
            [[[float(c) for c in form_of(v, r)] for v in directions] for r in (0, 1)]
        )

    def _conditions(self, phi: Array) -> tuple[Array, Array]:
        """Matrices (n, 2, dim) and right sides (n, 2)."""
        c, s = np.cos(phi), np.sin(phi)
        monomials = np.stack([c * c, c * s, s * s], axis=-1)
        matrix = np.einsum("rvk,nk->nrv", self.linear, monomials)
        return matrix, -np.einsum("rk,nk->nr", self.constant, monomials)

    def _foot(self, phi: Array) -> tuple[Array, Array]:
        """The point of each line nearest to 0 and its unit direction; NaN where undefined."""
        matrix, right = self._conditions(phi)
        direction = np.cross(matrix[:, 0], matrix[:, 1])
        norm = np.linalg.norm(direction, axis=1)
        gram = matrix @ np.swapaxes(matrix, 1, 2)
        bad = norm < 1e-9
        gram[bad] = np.eye(2)
        foot = np.einsum("nrv,nr->nv", matrix, np.linalg.solve(gram, right[..., None])[..., 0])
        foot[bad] = np.nan
        return foot, direction / np.where(bad, 1.0, norm)[:, None]

    def surface(self, radius: float, resolution: int) -> list[Array]:
        """Meshes of the ruled surface in the ball, one for each interval of phi that meets it."""
        fine = np.linspace(0, np.pi, 6001)
        distance = np.linalg.norm(self._foot(fine)[0], axis=1)
        inside = np.nan_to_num(distance, nan=np.inf) < radius
        meshes = []
        for first, last in runs(inside):
            # Denser where lines become tangent to the ball, so that the rim is round.
            u = (1 - np.cos(np.linspace(0, np.pi, resolution))) / 2
            whole = first == 0 and last == len(fine) - 1
            grid = np.linspace(0, 1, resolution) if whole else u
            phi = fine[first] + grid * (fine[last] - fine[first])
            foot, direction = self._foot(phi)
            half = np.sqrt(np.clip(radius**2 - (foot**2).sum(axis=1), 0, None))
            steps = np.linspace(-1, 1, 61)
            mesh = foot[:, None] + (half[:, None] * steps)[..., None] * direction[:, None]
            meshes.append(mesh[~np.isnan(mesh).any(axis=(1, 2))])
        return meshes

    def curve(self, radius: float, resolution: int) -> list[Array]:
        """For a plane: one point for each phi, cut at the circle."""
        matrix, right = self._conditions(np.linspace(0, np.pi, resolution))
        determinant = np.linalg.det(matrix)
        matrix[np.abs(determinant) < 1e-12] = np.nan
        with np.errstate(invalid="ignore"):
            points = _cramer(matrix, right)
            inside = np.nan_to_num(np.linalg.norm(points, axis=1), nan=np.inf) <= radius
        return [points[first : last + 1] for first, last in runs(inside)]


def _cramer(matrix: Array, right: Array) -> Array:
    (a, b), (c, d) = (matrix[:, 0].T, matrix[:, 1].T)
    determinant = a * d - b * c
    x = (right[:, 0] * d - right[:, 1] * b) / determinant
    y = (a * right[:, 1] - c * right[:, 0]) / determinant
    return np.stack([x, y], axis=1)
