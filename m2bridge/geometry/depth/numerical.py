"""The floating-point rank of the Jacobian, with its singular value gap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from m2bridge.attention import Network
from m2bridge.geometry.depth.derivative import gradient_rows, split_weights
from m2bridge.geometry.depth.rings import Floats

__all__ = ["NumericalRank", "numerical_rank"]


@dataclass(frozen=True)
class NumericalRank:
    """A rank by singular values: evidence, not proof.

    Attributes:
        rank: singular values above ``tolerance`` times the largest.
        gap: ratio of the last kept and the first dropped one; infinite when none was dropped or
            the dropped ones are exactly zero. A small gap means that the rank is not to be trusted.
        tolerance: the relative threshold.
    """

    rank: int
    gap: float
    tolerance: float


def numerical_rank(network: Network, rows: int, seed: int = 0) -> NumericalRank:
    """Rank of ``rows`` rows of the Jacobian in double precision.

    Rows are derivatives of random functionals at random inputs, scaled to unit length, at weights
    drawn from a normal distribution and scaled by the square root of their width.
    """
    generator = np.random.default_rng([seed, rows])
    d, d_out, t = network.dims[0], network.dims[-1], network.t
    weights = split_weights(network, generator.standard_normal(network.parameters))
    for layer in weights:
        for head in layer:
            for matrix in (head.Q, head.K, head.V):
                matrix /= np.sqrt(matrix.shape[1])
    X = generator.standard_normal((rows, d, t))
    covector = generator.standard_normal((rows, d_out, t))
    jacobian = gradient_rows(network, weights, X, covector, Floats())
    lengths = np.linalg.norm(jacobian, axis=1, keepdims=True)
    jacobian = jacobian / np.where(lengths > 0, lengths, 1.0)
    values = np.linalg.svd(jacobian, compute_uv=False)
    tolerance = float(max(jacobian.shape) * np.finfo(np.float64).eps)
    rank = int((values > tolerance * values[0]).sum())
    dropped = float(values[rank]) if rank < len(values) else 0.0
    gap = float(values[rank - 1]) / dropped if rank and dropped > 0 else float("inf")
    return NumericalRank(rank, gap, tolerance)
