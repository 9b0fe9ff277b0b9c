"""The derivative of a network in its weights, for many inputs at once and in any ring.

For each input one linear functional of the output is taken and carried back through the layers
(adjoint derivative): one row of the Jacobian costs about as much as three evaluations. Everything
is exact in the exact rings.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from m2bridge.attention import Network
from m2bridge.geometry.depth.narrow import narrow_layers
from m2bridge.geometry.depth.rings import Array, Ring, transpose

__all__ = ["Head", "Weights", "forward", "gradient_rows", "split_weights"]


@dataclass(frozen=True)
class Head:
    """One head's matrices in the ring at hand: Q, K are a x d, V is d_out x d."""

    Q: Array
    K: Array
    V: Array


Weights = list[list[Head]]


@dataclass(frozen=True)
class _Trace:
    """What the backward pass needs from the forward pass through one head."""

    keys: Array  # K X
    queries: Array  # Q X
    attention: Array  # S, t x t
    mixed: Array  # X S


def split_weights(network: Network, vector: Array) -> Weights:
    """Cut a weight vector (the order of ``to_vector``) into matrices."""
    layers, position = [], 0
    for i in range(network.depth):
        heads = []
        for _ in range(network.heads):
            matrices = []
            for rows, columns in network.head_shapes(i):
                piece = vector[position : position + rows * columns]
                matrices.append(np.ascontiguousarray(piece).reshape(rows, columns))
                position += rows * columns
            heads.append(Head(*matrices))
        layers.append(heads)
    return layers


def forward(
    network: Network, weights: Weights, X: Array, ring: Ring
) -> tuple[Array, list[list[_Trace]], list[Array]]:
    """Run the network on a batch; return the output, the traces and each layer's input."""
    softmax = network.attention == "softmax"
    symmetric = narrow_layers(network)
    traces: list[list[_Trace]] = []
    inputs: list[Array] = []
    for i, heads in enumerate(weights):
        inputs.append(X)
        layer, update = [], None
        for head in heads:
            keys, queries = ring.matmul(head.K, X), ring.matmul(head.Q, X)
            attention = ring.matmul(transpose(keys), queries)
            if softmax:
                attention = ring.softmax(attention, symmetric[i])
            mixed = ring.matmul(X, attention)
            layer.append(_Trace(keys, queries, attention, mixed))
            value = ring.matmul(head.V, mixed)
            update = value if update is None else ring.add(update, value)
        assert update is not None
        traces.append(layer)
        X = ring.add(X, update) if network.skip else update
    return X, traces, inputs


def _backward_head(
    ring: Ring, softmax: bool, head: Head, trace: _Trace, X: Array, Y_bar: Array
) -> tuple[list[Array], Array]:
    """Adjoints of (Q, K, V), and of the layer's input X, from that of the layer's output."""
    V_bar = ring.matmul(Y_bar, transpose(trace.mixed))
    mixed_bar = ring.matmul(transpose(head.V), Y_bar)
    X_bar = ring.matmul(mixed_bar, transpose(trace.attention))
    scores_bar = ring.matmul(transpose(X), mixed_bar)
    if softmax:
        # dS_mn = S_mn (ds_mn - sum_k S_kn ds_kn)
        weighted = ring.times(trace.attention, scores_bar)
        means = ring.column_sums(weighted)
        scores_bar = ring.subtract(weighted, ring.times(trace.attention, means))
    keys_bar = ring.matmul(trace.queries, transpose(scores_bar))
    queries_bar = ring.matmul(trace.keys, scores_bar)
    Q_bar = ring.matmul(queries_bar, transpose(X))
    K_bar = ring.matmul(keys_bar, transpose(X))
    X_bar = ring.add(X_bar, ring.matmul(transpose(head.K), keys_bar))
    X_bar = ring.add(X_bar, ring.matmul(transpose(head.Q), queries_bar))
    return [Q_bar, K_bar, V_bar], X_bar


def gradient_rows(
    network: Network, weights: Weights, X: Array, covector: Array, ring: Ring
) -> Array:
    """Derivative of <covector, phi(X)> in all weights, one row for each input of the batch.

    Args:
        network: the network, with ``parameters`` = P weights.
        weights: matrices in the ring, from `split_weights`.
        X: inputs, (batch, d_0, t), for series (terms, batch, d_0, t).
        covector: functionals of the output, of the shape of the output.
        ring: the arithmetic.

    Returns:
        (batch, P), for series (terms, batch, P), columns in the order of ``to_vector``.
    """
    _, traces, inputs = forward(network, weights, X, ring)
    softmax = network.attention == "softmax"
    blocks: list[Array] = []
    Y_bar = covector
    for i in reversed(range(network.depth)):
        layer_blocks: list[Array] = []
        X_bar = Y_bar if network.skip else None
        for head, trace in zip(weights[i], traces[i], strict=True):
            parts, back = _backward_head(ring, softmax, head, trace, inputs[i], Y_bar)
            layer_blocks += parts
            X_bar = back if X_bar is None else ring.add(X_bar, back)
        blocks = layer_blocks + blocks
        assert X_bar is not None
        Y_bar = X_bar
    return _join(blocks)


def _join(blocks: list[Array]) -> Array:
    """Flatten each matrix and put them side by side; series are padded to the same length."""
    flat = [block.reshape(*block.shape[:-2], -1) for block in blocks]
    if flat[0].ndim == 3:
        length = max(len(block) for block in flat)
        flat = [
            np.concatenate([b, np.zeros((length - len(b), *b.shape[1:]), dtype=b.dtype)])
            for b in flat
        ]
    return np.concatenate(flat, axis=-1)
