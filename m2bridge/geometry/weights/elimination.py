"""Kernels of sparse integer matrices modulo a prime.

Short rows give pivots one after another; rows that grow long on the way are put aside, and make a
dense problem in the columns that remain, which flint solves. For raising operators almost nothing
remains: thousands of columns take about a second.
"""

from __future__ import annotations

from collections.abc import Iterable

from flint import nmod_mat

__all__ = ["Triples", "sparse_kernel"]

Triples = Iterable[tuple[int, int, int]]
"""(row, column, value); repeated positions add up."""

_SHORT = 10
"""A row that grows longer than this is put aside."""

_Row = dict[int, int]


def _different_rows(triples: Triples, height: int, p: int) -> list[_Row]:
    """The different non-zero rows modulo p, shortest first."""
    rows: list[_Row] = [{} for _ in range(height)]
    for i, j, value in triples:
        rows[i][j] = (rows[i].get(j, 0) + value) % p
    unique: dict[tuple[tuple[int, int], ...], _Row] = {}
    for row in rows:
        entries = tuple(sorted((j, v) for j, v in row.items() if v))
        unique[entries] = dict(entries)
    return sorted((row for row in unique.values() if row), key=len)


def _reduce(row: _Row, pivots: dict[int, _Row], p: int) -> _Row:
    """Eliminate pivot columns while the row stays short. Pivot rows are 1 at their pivot."""
    row = dict(row)
    waiting = [j for j in row if j in pivots]
    while waiting and len(row) <= _SHORT:
        j = waiting.pop()
        c = row.get(j, 0)
        if not c:
            continue
        for k, v in pivots[j].items():
            new = (row.get(k, 0) - c * v) % p
            if new:
                row[k] = new
                if k in pivots:
                    waiting.append(k)
            else:
                row.pop(k, None)
    return row


def _short_pivots(
    rows: list[_Row], n: int, rank: int, p: int
) -> tuple[dict[int, _Row], list[_Row]]:
    """Pivot rows by their columns, in order, and the rows put aside.

    It ends when ``rank`` pivots are there: further rows depend on these.
    """
    count = [0] * n
    for row in rows:
        for j in row:
            count[j] += 1
    pivots: dict[int, _Row] = {}
    aside: list[_Row] = []
    for original in rows:
        if len(pivots) == rank:
            return pivots, []
        row = _reduce(original, pivots, p)
        if len(row) > _SHORT:
            aside.append(row)
        elif row:
            j = min(row, key=lambda k: (count[k], k))
            inverse = pow(row[j], -1, p)
            pivots[j] = {k: v * inverse % p for k, v in row.items()}
    return pivots, aside


def _expressed(row: _Row, skip: int, values: dict[int, list[int]], width: int, p: int) -> list[int]:
    """The sum of entry * value over the columns of a row, without one column."""
    out = [0] * width
    for k, c in row.items():
        if k != skip:
            for place, x in enumerate(values[k]):
                if x:
                    out[place] = (out[place] + c * x) % p
    return out


def _dense_kernel(rows: list[list[int]], width: int, p: int) -> list[list[int]]:
    """Kernel vectors of a dense matrix, each 1 at its own free column and 0 at the others."""
    reduced, rank = nmod_mat(len(rows), width, [x for row in rows for x in row], p).rref()
    pivots: list[int] = []
    column = 0
    for i in range(rank):
        while not int(reduced[i, column]):
            column += 1
        pivots.append(column)
        column += 1
    vectors = []
    for f in sorted(set(range(width)) - set(pivots)):
        vector = [0] * width
        vector[f] = 1
        for i, c in enumerate(pivots):
            vector[c] = -int(reduced[i, f]) % p
        vectors.append(vector)
    return vectors


def sparse_kernel(
    triples: Triples, shape: tuple[int, int], nullity: int, p: int
) -> list[list[int]]:
    """The kernel of a sparse matrix modulo a prime.

    Args:
        triples: the entries.
        shape: (rows, columns).
        nullity: the dimension of the kernel over QQ, which that modulo p cannot fall below.
        p: a prime below 2^63.

    Returns:
        A basis; each vector is 1 at a column where the others are 0. It has ``nullity`` vectors
        unless the prime is a bad one.
    """
    height, n = shape
    rows = _different_rows(triples, height, p)
    pivots, aside = _short_pivots(rows, n, n - nullity, p)
    rest = [j for j in range(n) if j not in pivots]
    width = len(rest)
    values = {j: [int(i == place) for i in range(width)] for place, j in enumerate(rest)}
    for j in reversed(pivots):
        found = _expressed(pivots[j], j, values, width, p)
        values[j] = [-x % p for x in found]
    dense = [_expressed(row, -1, values, width, p) for row in aside]
    vectors = _dense_kernel(dense, width, p)
    return [
        [sum(v * x for v, x in zip(values[j], vector, strict=True)) % p for j in range(n)]
        for vector in vectors
    ]
