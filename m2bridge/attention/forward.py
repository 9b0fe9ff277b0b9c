"""The network as a function: one generic forward pass, exact, symbolic or numerical."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from m2bridge.attention.scalars import Matrix, as_matrix, is_exact
from m2bridge.attention.weights import NetworkWeights, Weights

if TYPE_CHECKING:
    from m2bridge.attention.network import Network

__all__ = ["evaluate"]


def evaluate(network: Network, X: object, weights: NetworkWeights) -> Any:
    """Run the network on one input; see `Network.evaluate` for what comes in and out."""
    entry = as_matrix("X", X, (network.dims[0], network.t))
    numerical = not (is_exact(entry) and weights.exact)
    symbolic = isinstance(X, sympy.MatrixBase)
    if network.attention == "softmax" and not symbolic:
        numerical = True  # exp of a nonzero rational is no rational: plain arrays get floats
    value: Matrix = _to_float(entry) if numerical else entry
    for heads in weights.layers:
        update = sum(
            (_head(network.attention, value, _convert(head, numerical)) for head in heads), 0
        )
        value = np.asarray(value + update if network.skip else update)
        if not numerical:
            value = _tidy(value)
    if symbolic:
        return sympy.Matrix(*value.shape, [sympy.sympify(x) for x in value.ravel().tolist()])
    return value


def _to_float(matrix: Matrix) -> Matrix:
    """Entries as ``float64``; a matrix with free symbols stays as it is."""
    if matrix.dtype == np.float64:
        return matrix
    if any(isinstance(x, sympy.Expr) and x.free_symbols for x in matrix.flat):
        return matrix
    return np.array([[float(x) for x in row] for row in matrix], dtype=np.float64)


def _convert(head: Weights, numerical: bool) -> Weights:
    if not numerical:
        return head
    return Weights(_to_float(head.Q), _to_float(head.K), _to_float(head.V))


def _head(attention: str, X: Matrix, head: Weights) -> Matrix:
    """V X S for the scores S of one head: linear, or softmax down each column."""
    scores = (head.K @ X).T @ (head.Q @ X)
    if attention == "softmax":
        scores = _softmax(scores)
    # X S first would cost d t^2; the order does not matter for the value.
    return np.asarray((head.V @ X) @ scores)


def _softmax(scores: Matrix) -> Matrix:
    if scores.dtype != object:
        shifted = np.exp(scores - scores.max(axis=0, keepdims=True))
        return np.asarray(shifted / shifted.sum(axis=0, keepdims=True))
    exponentials = np.empty(scores.shape, dtype=object)
    for index in np.ndindex(*scores.shape):
        exponentials[index] = sympy.exp(sympy.expand(scores[index]))
    return np.asarray(exponentials / exponentials.sum(axis=0))


def _tidy(matrix: Matrix) -> Matrix:
    """Expand exact numbers such as (1 + sqrt(2))^2, so that they can be compared with zero."""
    tidy = np.empty(matrix.shape, dtype=object)
    for index in np.ndindex(*matrix.shape):
        entry = matrix[index]
        expandable = isinstance(entry, sympy.Expr) and entry.is_number
        tidy[index] = sympy.expand(entry) if expandable else entry
    return tidy
