"""Infinitesimal symmetries of a network, as explicit tangent vectors in its weights.

Each field below moves the weights without changing the function, to first order and for every
value of the weights. Their span at one point modulo a prime is therefore at most as large as at a
generic point over Q: parameters minus that rank is a proved upper bound for the dimension, which
rests on no dimension formula. The kinds of symmetry (docs: theory page, "Deep lightning networks"):

* query-key: Q -> g Q, K -> g^-T K. Where only sym(A) is seen, all of so(2a) acts on [K; Q].
* scaling: V -> c V, Q -> Q / c (lightning).
* layer to layer: GL(d_i) between layers i and i + 1 (no skip connections).
* unused: weights that act on directions which no input reaches.
* unseen: outputs in directions that no later layer reads.
* head mixing: what else leaves a multi-head layer's function alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import flint
import numpy as np

from m2bridge.attention import Network
from m2bridge.geometry.depth.derivative import Head, Weights, forward, gradient_rows
from m2bridge.geometry.depth.echelon import matrix_rank
from m2bridge.geometry.depth.multihead import ambient_dimension, layer_bound
from m2bridge.geometry.depth.rank import SLACK, RowSource
from m2bridge.geometry.depth.rings import Array, Modular
from m2bridge.geometry.depth.sizes import sizes

__all__ = ["KINDS", "SymmetryCount", "UnluckyPointError", "count_fields", "symmetry_fields"]

KINDS = ("query-key", "scaling", "layer-to-layer", "unused", "unseen", "head-mixing")


class UnluckyPointError(Exception):
    """A random point was not generic, so that kernels taken at it prove nothing."""


@dataclass(frozen=True)
class SymmetryCount:
    """How many independent infinitesimal symmetries were found at a random point.

    Attributes:
        total: the rank of all fields together.
        upper: parameters minus ``total``, a proved upper bound of the dimension.
        by_kind: for each kind (see `KINDS`) the rank of its fields alone; kinds overlap.
        prime: the modulus of the point.
    """

    total: int
    upper: int
    by_kind: tuple[tuple[str, int], ...]
    prime: int


class _Fields:
    """A list of tangent vectors, built block by block."""

    def __init__(self, network: Network, prime: int) -> None:
        self._prime = prime
        self._width = network.parameters
        self._start: dict[tuple[int, int, str], tuple[int, tuple[int, int]]] = {}
        position = 0
        for i in range(network.depth):
            for h in range(network.heads):
                for letter, shape in zip("QKV", network.head_shapes(i), strict=True):
                    self._start[i, h, letter] = (position, shape)
                    position += shape[0] * shape[1]
        self.vectors: list[Array] = []

    def new(self) -> None:
        """Begin another field."""
        self.vectors.append(np.zeros(self._width, dtype=np.int64))

    def block(self, layer: int, head: int, letter: str) -> Array:
        """The part of the newest field that moves one matrix, as a writable view."""
        start, (rows, columns) = self._start[layer, head, letter]
        return self.vectors[-1][start : start + rows * columns].reshape(rows, columns)

    def place(self, layer: int, vectors: Array) -> None:
        """Add fields that move one layer only, given in that layer's own vector order."""
        start = self._start[layer, 0, "Q"][0]
        for vector in vectors:
            self.new()
            self.vectors[-1][start : start + len(vector)] = vector

    def matrix(self) -> Array:
        """All fields as rows of residues."""
        if not self.vectors:
            return np.zeros((0, self._width), dtype=np.int64)
        return np.asarray(np.stack(self.vectors) % self._prime)


def symmetry_fields(network: Network, source: RowSource) -> dict[str, Array]:
    """The fields at the weights of ``source``, by kind; rows are tangent vectors.

    Raises:
        UnluckyPointError: when the weights are not generic enough; use another seed.
    """
    weights, prime = source.weights(), source.prime
    fields = {kind: _Fields(network, prime) for kind in KINDS}
    blind = _blind_layers(network)
    linear = network.attention == "softmax" and network.t == 1
    for i, heads in enumerate(weights):
        for h, head in enumerate(heads):
            if linear:
                _ignored(fields["query-key"], i, h, head)
            elif i in blind:
                _orthogonal(fields["query-key"], i, h, head)
            else:
                _query_key(fields["query-key"], i, h, head)
            if network.attention == "lightning":
                _scaling(fields["scaling"], i, h, head)
    reach = _reachable(network, weights, prime)
    if network.heads > 1 and network.attention == "lightning":
        for i, heads in enumerate(weights):
            fields["head-mixing"].place(i, _layer_kernel(network, i, heads, reach[i], source))
    if not network.skip:
        for i in range(1, network.depth):
            _layer_to_layer(fields["layer-to-layer"], i, weights)
        _unused(fields["unused"], weights, reach, prime)
        _unseen(fields["unseen"], network, weights, prime, linear)
    return {kind: builder.matrix() for kind, builder in fields.items()}


def count_fields(network: Network, fields: dict[str, Array], prime: int) -> SymmetryCount:
    """Rank of the infinitesimal symmetries, by kind and together, and the upper bound."""
    total = matrix_rank(np.concatenate(list(fields.values())), prime)
    by_kind = tuple((kind, matrix_rank(rows, prime)) for kind, rows in fields.items() if len(rows))
    return SymmetryCount(total, network.parameters - total, by_kind, prime)


def _blind_layers(network: Network) -> range:
    """0-based layers of which only sym(A) is seen."""
    if network.attention == "softmax":
        return range(0)
    if network.t == 1:
        return range(network.depth)
    if network.heads > 1 or network.skip:
        return range(0)
    return range(sizes(network).lost_after, network.depth)


def _query_key(fields: _Fields, i: int, h: int, head: Head) -> None:
    """dQ = M Q, dK = -M^T K for M = E_uv."""
    a = len(head.Q)
    for u in range(a):
        for v in range(a):
            fields.new()
            fields.block(i, h, "Q")[u] = head.Q[v]
            fields.block(i, h, "K")[v] = -head.K[u]


def _orthogonal(fields: _Fields, i: int, h: int, head: Head) -> None:
    """d[K; Q] = J S [K; Q], S antisymmetric: K^T Q + Q^T K = [K; Q]^T J [K; Q] stays."""
    a = len(head.Q)
    stacked = np.concatenate([head.K, head.Q])
    for u in range(2 * a):
        for v in range(u):
            fields.new()
            parts = (fields.block(i, h, "K"), fields.block(i, h, "Q"))
            for row, value in (((u + a) % (2 * a), stacked[v]), ((v + a) % (2 * a), -stacked[u])):
                parts[row // a][row % a] = value


def _ignored(fields: _Fields, i: int, h: int, head: Head) -> None:
    """Softmax of a single score is constant: Q and K may move freely."""
    for letter, matrix in (("Q", head.Q), ("K", head.K)):
        for index in np.ndindex(*matrix.shape):
            fields.new()
            fields.block(i, h, letter)[index] = 1


def _scaling(fields: _Fields, i: int, h: int, head: Head) -> None:
    fields.new()
    fields.block(i, h, "V")[:] = head.V
    fields.block(i, h, "Q")[:] = -head.Q


def _layer_to_layer(fields: _Fields, i: int, weights: Weights) -> None:
    """Layer i (1-based) outputs N X_i more, layer i + 1 undoes it; N = E_uv."""
    d = len(weights[i - 1][0].V)
    for u in range(d):
        for v in range(d):
            fields.new()
            for h, head in enumerate(weights[i - 1]):
                fields.block(i - 1, h, "V")[u] = head.V[v]
            for h, head in enumerate(weights[i]):
                for letter, matrix in (("Q", head.Q), ("K", head.K), ("V", head.V)):
                    fields.block(i, h, letter)[:, v] = -matrix[:, u]


def _reachable(network: Network, weights: Weights, prime: int) -> list[Array]:
    """For each layer a basis (as columns) of the space that the columns of its input span.

    Inputs of layer i + 1 are sampled from layer i. The span found must have the largest dimension
    that is possible: no more than d_i, than h times what reaches the layer, and than the number of
    coefficients that one row of its output has.
    """
    reach = [np.eye(network.dims[0], dtype=np.int64)]
    generator = np.random.default_rng([prime, network.depth])
    for i in range(1, network.depth):
        if network.skip:
            reach.append(reach[0])
            continue
        basis, ring = reach[-1], Modular(prime)
        expected = min(network.dims[i], network.heads * basis.shape[1])
        if network.attention == "softmax":
            columns = np.concatenate([ring.matmul(h.V, basis) for h in weights[i - 1]], axis=1)
        else:
            expected = min(expected, ambient_dimension(basis.shape[1], 1, network.t))
            layer = Network(
                network.dims[i - 1 : i + 1],
                network.ranks[i - 1 : i],
                network.t,
                heads=network.heads,
            )
            shape = (expected + SLACK, basis.shape[1], network.t)
            X = ring.matmul(basis, generator.integers(0, prime, size=shape, dtype=np.int64))
            columns = np.concatenate(list(forward(layer, [weights[i - 1]], X, ring)[0]), axis=1)
        reach.append(_independent_rows(columns.T, prime, expected).T)
    return reach


def _unused(fields: _Fields, weights: Weights, reach: list[Array], prime: int) -> None:
    """Rows of Q, K, V of a layer may move by vectors that vanish on everything reachable."""
    for i, basis in enumerate(reach):
        kernel = _nullspace(basis.T, prime)
        for h, head in enumerate(weights[i]):
            for letter, matrix in (("Q", head.Q), ("K", head.K), ("V", head.V)):
                for row in range(len(matrix)):
                    for vector in kernel:
                        fields.new()
                        fields.block(i, h, letter)[row] = vector


def _unseen(fields: _Fields, network: Network, weights: Weights, prime: int, linear: bool) -> None:
    """Columns of V_i may move by vectors that no later layer reads."""
    ring, seen = Modular(prime), np.eye(network.dims[-1], dtype=np.int64)
    for i in reversed(range(1, network.depth)):
        parts = []
        for head in weights[i]:
            parts.append(ring.matmul(seen, head.V))
            parts += [] if linear else [head.K, head.Q]
        stacked = np.concatenate(parts)
        expected = min(network.dims[i], len(stacked))
        seen = _independent_rows(stacked, prime, expected)
        kernel = _nullspace(seen, prime)
        for h in range(network.heads):
            for column in range(network.dims[i - 1]):
                for vector in kernel:
                    fields.new()
                    fields.block(i - 1, h, "V")[:, column] = vector


def _layer_kernel(
    network: Network, i: int, heads: list[Head], basis: Array, source: RowSource
) -> Array:
    """Tangent vectors at which a multi-head layer's function on its reachable inputs stands still.

    The rank at the point must reach the proved bound of the layer; then the kernel there is the
    reduction of the generic kernel.
    """
    d, d_out, a, t = network.dims[i], network.dims[i + 1], network.ranks[i], network.t
    layer = Network((d, d_out), (a,), t, heads=network.heads)
    bound = layer_bound(basis.shape[1], d_out, a, t, network.heads)
    prime = source.prime
    ring, generator = Modular(prime), np.random.default_rng([source.seed, prime, 0, i])
    shapes = ((bound + SLACK, basis.shape[1], t), (bound + SLACK, d_out, t))
    inner, covector = (generator.integers(0, prime, size=s, dtype=np.int64) for s in shapes)
    rows = gradient_rows(layer, [heads], ring.matmul(basis, inner), covector, ring)
    kernel = _nullspace(rows, prime)
    rank = layer.parameters - len(kernel)
    if rank != bound:
        raise UnluckyPointError(
            f"layer {i + 1} has rank {rank} at the random weights, below its bound {bound}"
        )
    return kernel


def _nullspace(matrix: Array, prime: int) -> Array:
    """A basis of {x : matrix x = 0}, as rows."""
    rows, columns = matrix.shape
    if rows == 0:
        return np.eye(columns, dtype=np.int64)
    basis, nullity = flint.nmod_mat(rows, columns, matrix.ravel().tolist(), prime).nullspace()
    entries = [[int(basis[k, j]) for k in range(columns)] for j in range(nullity)]
    return np.array(entries, dtype=np.int64).reshape(nullity, columns)


def _independent_rows(matrix: Array, prime: int, expected: int) -> Array:
    """A basis of the row space, whose dimension must be the largest possible one."""
    rows, columns = matrix.shape
    reduced, rank = flint.nmod_mat(rows, columns, matrix.ravel().tolist(), prime).rref()
    if rank != expected:
        raise UnluckyPointError(
            f"a generic {rows} x {columns} matrix has rank {rank}, not {expected}"
        )
    entries = [[int(reduced[k, j]) for j in range(columns)] for k in range(rank)]
    return np.array(entries, dtype=np.int64).reshape(rank, columns)
