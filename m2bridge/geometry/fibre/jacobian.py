"""Exact local dimensions: kernels of differentials at given exact weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flint
import sympy

from m2bridge.attention.layer import Layer
from m2bridge.geometry.recognize.quadratic import rational

__all__ = ["differential_kernel", "parameter_kernel"]

Rows = list[list[Any]]


def _is_rational(matrix: sympy.MatrixBase) -> bool:
    return all(isinstance(x, sympy.Rational) for x in matrix)


def _directions(rows: int, columns: int) -> list[Rows]:
    """The unit matrices."""
    units = []
    for i in range(rows):
        for j in range(columns):
            unit = [[flint.fmpq(0)] * columns for _ in range(rows)]
            unit[i][j] = flint.fmpq(1)
            units.append(unit)
    return units


def _rows(matrix: sympy.MatrixBase) -> Rows:
    return [[rational(x) for x in matrix.row(i)] for i in range(matrix.rows)]


def _rank(vectors: Sequence[Sequence[flint.fmpq]]) -> int:
    return int(flint.fmpq_mat([list(v) for v in vectors]).rank())


def differential_kernel(layer: Layer, V: sympy.MatrixBase, A: sympy.MatrixBase) -> int | None:
    """dim ker of d(function) on the tangent space of {(V, A)} (t = 1: {(V, sym A)}), minus scaling.

    0 proves that the fibre of (V, A), modulo scaling, is reduced at this point. None for
    irrational matrices. The tangent space of {rank A <= a} is everything where rank A < a, and
    {A X + Y A} where rank A = a (t = 1: of {rank S <= min(2a, d)} likewise).
    """
    if not (_is_rational(V) and _is_rational(A)):
        return None
    d = layer.d
    v, a = _rows(V), _rows(A)
    images = [layer.image(dv, a) for dv in _directions(layer.d_out, d)]
    tangent = _source_tangent(layer, a)
    images += [layer.image(v, da) for da in tangent]
    return len(images) - _rank(images) - 1


def _source_tangent(layer: Layer, a: Rows) -> list[Rows]:
    """A basis of the tangent space of the admissible A (t = 1: symmetric matrices) at A."""
    d = layer.d
    units = _directions(d, d)
    if layer.t == 1:
        S = flint.fmpq_mat([[(a[i][j] + a[j][i]) / 2 for j in range(d)] for i in range(d)])
        bound = min(2 * layer.a, d)
        if bound == d or S.rank() < bound:
            spanning = [[[u[i][j] + u[j][i] for j in range(d)] for i in range(d)] for u in units]
        else:
            products = [(S * flint.fmpq_mat(u)) for u in units]
            spanning = [_to_rows(p + p.transpose()) for p in products]
    elif layer.a >= d or flint.fmpq_mat(a).rank() < layer.a:
        return units
    else:
        A = flint.fmpq_mat(a)
        spanning = [_to_rows(A * flint.fmpq_mat(u)) for u in units]
        spanning += [_to_rows(flint.fmpq_mat(u) * A) for u in units]
    return _basis(spanning, d)


def _to_rows(matrix: flint.fmpq_mat) -> Rows:
    return [[matrix[i, j] for j in range(matrix.ncols())] for i in range(matrix.nrows())]


def _basis(spanning: list[Rows], d: int) -> list[Rows]:
    reduced, rank = flint.fmpq_mat([[x for row in m for x in row] for m in spanning]).rref()
    return [[[reduced[k, i * d + j] for j in range(d)] for i in range(d)] for k in range(int(rank))]


def parameter_kernel(
    layer: Layer, Q: sympy.MatrixBase, K: sympy.MatrixBase, V: sympy.MatrixBase
) -> int | None:
    """Dimension of the kernel of the differential of (Q, K, V) -> function at these weights.

    It is the dimension of the tangent space of the fibre there, so an upper bound for the local
    dimension of the fibre; None for irrational weights.
    """
    if not all(_is_rational(m) for m in (Q, K, V)):
        return None
    q, k, v = _rows(Q), _rows(K), _rows(V)
    Qm, Kt = flint.fmpq_mat(q), flint.fmpq_mat(k).transpose()
    A = _to_rows(Kt * Qm)
    images = [layer.image(dv, A) for dv in _directions(layer.d_out, layer.d)]
    for unit in _directions(layer.a, layer.d):
        images.append(layer.image(v, _to_rows(Kt * flint.fmpq_mat(unit))))
        images.append(layer.image(v, _to_rows(flint.fmpq_mat(unit).transpose() * Qm)))
    return layer.parameters - _rank(images)
