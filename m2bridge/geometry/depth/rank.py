"""Exact rank of a network's Jacobian modulo a prime: a proved lower bound for the dimension.

Each row is the derivative of one random functional of the output at one random input. Rows are
independent draws from one irreducible family, so for generic draws N of them have rank
min(N, dimension): as soon as the rank is below the number of rows, more inputs add nothing. (Taking
all outputs of few inputs instead can look saturated long before it is.)
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from itertools import islice

import numpy as np

from m2bridge.attention import Network
from m2bridge.geometry.depth.derivative import Weights, gradient_rows, split_weights
from m2bridge.geometry.depth.echelon import Echelon, matrix_rank
from m2bridge.geometry.depth.rings import Array, FormalModular, Modular, Ring, Series

__all__ = [
    "DEFAULT_PRIMES",
    "SLACK",
    "Progress",
    "RowSource",
    "jacobian_rank",
    "jet_order",
]

Progress = Callable[[str, int, int | None], None]

DEFAULT_PRIMES = (2147483647, 2147483629, 2147483587)
"""The three largest primes below 2^31; later ones are used when a random point was unlucky."""

SLACK = 8
"""Rows beyond the upper bound: they show that further inputs add nothing."""

_CHUNK_ENTRIES = 6_000_000
_AHEAD = 4
"""Chunks that an executor may be working on at a time."""
_ONE_CALL = 6_000_000
"""Entries up to which FLINT takes the rank in one call, of a few seconds."""

_log = logging.getLogger("m2bridge.geometry.dimension")


@dataclass(frozen=True)
class RowSource:
    """A reproducible supply of Jacobian rows at fixed random weights.

    Attributes:
        network: whose Jacobian.
        prime: the modulus, below 2^31.
        seed: decides weights, inputs and functionals; rows do not depend on how work is split.
        jets: for softmax attention, take Taylor coefficients at X = 0 up to this order instead of
            formal exponentials; None otherwise.
    """

    network: Network
    prime: int
    seed: int
    jets: int | None = None

    @property
    def chunk(self) -> int:
        """Rows that are computed at a time, so that memory stays bounded."""
        width = max(self.network.parameters, 8 * self.network.t**2)
        terms = 1 if self.jets is None else self.jets + 1
        return int(max(1, min(512, _CHUNK_ENTRIES // (width * terms))))

    def weights(self) -> Weights:
        """The random weights, residues modulo the prime."""
        generator = np.random.default_rng([self.seed, self.prime])
        vector = generator.integers(0, self.prime, size=self.network.parameters, dtype=np.int64)
        return split_weights(self.network, vector)

    def rows(self, index: int) -> Array:
        """Chunk number ``index``: (chunk, parameters) residues."""
        network, prime = self.network, self.prime
        generator = np.random.default_rng([self.seed, prime, index + 1])
        d, d_out, t = network.dims[0], network.dims[-1], network.t
        X = generator.integers(0, prime, size=(self.chunk, d, t), dtype=np.int64)
        covector = generator.integers(0, prime, size=(self.chunk, d_out, t), dtype=np.int64)
        if self.jets is None:
            ring: Ring = Modular(prime)
            if network.attention == "softmax":
                ring = FormalModular(prime, generator)
            return gradient_rows(network, self.weights(), X, covector, ring)
        series = Series(prime, self.jets)
        line = np.stack([np.zeros_like(X), X])  # X = eps Y
        terms = gradient_rows(network, self.weights(), line, covector[None], series)
        # A random combination of the Taylor coefficients is one generic functional.
        mix = generator.integers(0, prime, size=(len(terms), 1, 1), dtype=np.int64)
        return np.asarray((terms * mix % prime).sum(axis=0) % prime)


def jet_order(network: Network) -> int:
    """The order of X at which the last attention matrix enters: 2 * 3^(l-1) + 1.

    Source: derived in the docs (theory page, "Softmax attention", proof of Theorem 10).
    """
    return 2 * int(3 ** (network.depth - 1)) + 1


def _chunks(
    source: RowSource, rows: int, executor: Executor | None, progress: Progress | None
) -> Iterator[Array]:
    count = -(-rows // source.chunk)
    left = rows
    for chunk in _in_order(source, count, executor):
        yield chunk[:left]
        left -= len(chunk[:left])
        if progress is not None:
            progress("Jacobian", rows - left, rows)


def _in_order(source: RowSource, count: int, executor: Executor | None) -> Iterator[Array]:
    """Chunks 0..count-1; with an executor a few of them ahead, so that memory stays bounded."""
    if executor is None:
        yield from map(source.rows, range(count))
        return
    ahead: deque[Future[Array]] = deque()
    indices = iter(range(count))
    try:
        ahead.extend(executor.submit(source.rows, i) for i in islice(indices, _AHEAD))
        while ahead:
            yield ahead.popleft().result()
            ahead.extend(executor.submit(source.rows, i) for i in islice(indices, 1))
    finally:
        for future in ahead:
            future.cancel()


def jacobian_rank(
    source: RowSource,
    rows: int,
    *,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> int:
    """Exact rank modulo the prime of ``rows`` rows of the Jacobian.

    Small Jacobians are ranked by FLINT in one call; large ones block by block, which is up to twice
    as slow but can be interrupted.

    Args:
        source: where rows come from.
        rows: how many; a rank below this number means that more inputs add nothing.
        executor: any ``concurrent.futures.Executor`` for computing rows.
        progress: called as ``progress(stage, done, total)`` with stage ``"Jacobian"`` when rows
            are there and ``"rank"`` when they have been counted in.
    """
    chunks = _chunks(source, rows, executor, progress)
    if rows * source.network.parameters <= _ONE_CALL:
        rank = matrix_rank(np.concatenate(list(chunks)), source.prime)
    else:
        echelon, done = Echelon(source.prime), 0
        for chunk in chunks:
            echelon.add(chunk)
            done += len(chunk)
            if progress is not None:
                progress("rank", done, rows)
        rank = echelon.rank
    _log.debug("rank %d of a %d x %d matrix", rank, rows, source.network.parameters)
    return rank
