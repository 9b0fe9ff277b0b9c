"""Weights of a head, and of a network, with their shapes checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from m2bridge.attention.scalars import Matrix, is_exact

__all__ = ["NetworkWeights", "Weights"]


@dataclass(frozen=True, eq=False)
class Weights:
    """The weights of one head: Q and K are a x d, V is d_out x d.

    All three are read-only arrays, either exact (dtype ``object``) or numerical (``float64``);
    models make them, see `Layer.weights`.
    """

    Q: Matrix
    K: Matrix
    V: Matrix

    @property
    def A(self) -> Matrix:
        """The attention matrix A = K^T Q, d x d, of rank at most a."""
        return np.asarray(self.K.T @ self.Q)

    @property
    def exact(self) -> bool:
        """True when no entry is a floating-point number."""
        return all(is_exact(m) for m in (self.Q, self.K, self.V))

    def to_vector(self) -> Matrix:
        """All entries in one vector: Q, K, V, each row by row."""
        return np.concatenate([self.Q.ravel(), self.K.ravel(), self.V.ravel()])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Weights):
            return NotImplemented
        return all(
            mine.shape == theirs.shape and bool((mine == theirs).all())
            for mine, theirs in zip(
                (self.Q, self.K, self.V), (other.Q, other.K, other.V), strict=True
            )
        )

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class NetworkWeights:
    """The weights of a network: ``layers[i][h]`` is head ``h`` of layer ``i``, 0-based."""

    layers: tuple[tuple[Weights, ...], ...]

    @property
    def exact(self) -> bool:
        """True when no entry is a floating-point number."""
        return all(head.exact for layer in self.layers for head in layer)

    def to_vector(self) -> Matrix:
        """All entries in one vector: layer by layer, head by head, each as Q, K, V."""
        parts: list[Any] = [head.to_vector() for layer in self.layers for head in layer]
        return np.concatenate(parts)
