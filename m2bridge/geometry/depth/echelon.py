"""Exact rank modulo a prime, block of rows by block of rows.

FLINT does the arithmetic. Feeding it blocks keeps memory bounded, reports progress, and lets an
interrupt through between blocks: FLINT's own rank of a large matrix cannot be interrupted.
"""

from __future__ import annotations

import flint

from m2bridge.geometry.depth.rings import Array

__all__ = ["Echelon", "matrix_rank", "to_flint"]


def to_flint(matrix: Array, prime: int) -> flint.nmod_mat:
    """A matrix of residues as a FLINT matrix."""
    # By way of fmpz_mat: python-flint builds that twice as fast, and converts it in C.
    rows, columns = matrix.shape
    return flint.nmod_mat(flint.fmpz_mat(rows, columns, matrix.ravel().tolist()), prime)


def matrix_rank(matrix: Array, prime: int) -> int:
    """Exact rank of a matrix of residues."""
    if 0 in matrix.shape:
        return 0
    return int(to_flint(matrix, prime).rank())


class Echelon:
    """A row space that grows: each block is reduced by the earlier ones and then by itself."""

    def __init__(self, prime: int) -> None:
        self._prime = prime
        self._blocks: list[tuple[list[int], flint.nmod_mat]] = []
        self.rank = 0

    def add(self, rows: Array) -> int:
        """Add rows; return by how much the rank grew."""
        block = to_flint(rows, self._prime)
        count = block.nrows()
        for pivots, reduced in self._blocks:
            entries = [block[i, j] for i in range(count) for j in pivots]
            factor = flint.nmod_mat(count, len(pivots), entries, self._prime)
            block = block - factor * reduced
        block, new = block.rref()
        if new:
            self._blocks.append((_pivots(block, new), _top(block, new, self._prime)))
        self.rank += int(new)
        return int(new)


def _pivots(reduced: flint.nmod_mat, rank: int) -> list[int]:
    """Pivot columns of a matrix in reduced row echelon form."""
    pivots, j = [], 0
    for i in range(rank):
        while int(reduced[i, j]) == 0:
            j += 1
        pivots.append(j)
        j += 1
    return pivots


def _top(reduced: flint.nmod_mat, rank: int, prime: int) -> flint.nmod_mat:
    """The first ``rank`` rows; the others are zero."""
    if rank == reduced.nrows():
        return reduced
    columns = reduced.ncols()
    entries = [int(reduced[i, j]) for i in range(rank) for j in range(columns)]
    return flint.nmod_mat(flint.fmpz_mat(rank, columns, entries), prime)
