"""The symmetries of one layer, as groups and as Lie algebras with explicit generators.

Each infinitesimal symmetry is linear: it sends ([Q; K], V) to (M [Q; K], c V) with a 2a x 2a matrix
M acting on the stacked rows of Q and K, and a number c. (Names as in arXiv 2408.17221; for t = 1
only sym(K^T Q) matters, and the query-key symmetry grows to the orthogonal group of the form
(Q, K) -> K^T Q + Q^T K, derived in the docs, theory page.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import sympy

from m2bridge.attention.layer import Layer

__all__ = ["Generator", "Symmetry", "symmetries"]


@dataclass(frozen=True)
class Generator:
    """One infinitesimal symmetry.

    Attributes:
        mixing: M, the 2a x 2a matrix acting on the rows of Q (first) and K (last).
        value: c, the factor on V.
    """

    mixing: sympy.ImmutableMatrix
    value: sympy.Expr

    def apply(
        self, Q: sympy.MatrixBase, K: sympy.MatrixBase, V: sympy.MatrixBase
    ) -> tuple[sympy.Matrix, sympy.Matrix, sympy.Matrix]:
        """The tangent vector (dQ, dK, dV) at these weights."""
        moved = self.mixing * sympy.Matrix(Q).col_join(sympy.Matrix(K))
        a = self.mixing.rows // 2
        return moved[:a, :], moved[a:, :], self.value * sympy.Matrix(V)


@dataclass(frozen=True)
class Symmetry:
    """One named factor of the symmetry group.

    Attributes:
        name: ``"scaling"`` or ``"query-key"``.
        group: over the complex numbers, e.g. ``"GL(2)"``.
        real_group: over the reals, e.g. ``"O(2, 2)"``.
        dimension: of the group.
        action: what an element does.
        a: the attention dimension, which sizes the generators.
    """

    name: str
    group: str
    real_group: str
    dimension: int
    action: str
    a: int

    @cached_property
    def lie_algebra(self) -> tuple[Generator, ...]:
        """A basis of the Lie algebra: ``dimension`` generators."""
        makers = {"scaling": _scaling, "query-key": _general_linear, "query-key-form": _orthogonal}
        key = "query-key-form" if self.group.startswith("O(") else self.name
        return tuple(makers[key](self.a))


def _block(a: int, entries: dict[tuple[int, int], int]) -> sympy.ImmutableMatrix:
    return sympy.ImmutableMatrix(2 * a, 2 * a, lambda i, j: entries.get((i, j), 0))


def _scaling(a: int) -> Iterator[Generator]:
    # V -> c V, Q -> Q / c.
    yield Generator(_block(a, {(k, k): -1 for k in range(a)}), sympy.Integer(1))


def _general_linear(a: int) -> Iterator[Generator]:
    for i in range(a):
        for j in range(a):
            yield Generator(_block(a, {(i, j): 1, (a + j, a + i): -1}), sympy.Integer(0))


def _orthogonal(a: int) -> Iterator[Generator]:
    """gl(a), and the antisymmetric maps Q -> B K and K -> B Q."""
    yield from _general_linear(a)
    for i in range(a):
        for j in range(i + 1, a):
            yield Generator(_block(a, {(i, a + j): 1, (j, a + i): -1}), sympy.Integer(0))
            yield Generator(_block(a, {(a + i, j): 1, (a + j, i): -1}), sympy.Integer(0))


def symmetries(layer: Layer) -> tuple[Symmetry, ...]:
    """The continuous symmetries of (Q, K, V) -> phi that hold at all weights."""
    a = layer.a
    scaling = Symmetry(
        "scaling", "GL(1)", "GL(1, R)", 1, "V -> c V, Q -> Q / c, K -> K, for c != 0", a
    )
    if layer.t == 1:
        return (
            scaling,
            Symmetry(
                "query-key",
                f"O({2 * a})",
                f"O({a}, {a})",
                a * (2 * a - 1),
                "[Q; K] -> M [Q; K] for M that preserve the form sum_j (k_j q_j): "
                "M^T H M = H with H = [[0, 1], [1, 0]]; it contains Q -> g Q, K -> g^(-T) K",
                a,
            ),
        )
    return (
        scaling,
        Symmetry(
            "query-key",
            f"GL({a})",
            f"GL({a}, R)",
            a * a,
            f"Q -> g Q, K -> g^(-T) K, V -> V, for g in GL({a})",
            a,
        ),
    )
