"""Exact linear algebra for the strata: ranks over QQ, and limits of moving subspaces.

A vector is a sparse dictionary ``{position: integer}``. A *moving* vector is a polynomial in a
parameter s with such coefficients, lowest power first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import gcd

import flint

__all__ = ["Moving", "Vector", "combine", "dense_rank", "limit_span", "rank"]

Vector = Mapping[int, int]
Moving = tuple[dict[int, int], ...]


def combine(terms: Iterable[tuple[int, Vector]]) -> dict[int, int]:
    """The integer combination sum c * v, without its zero entries."""
    total: dict[int, int] = {}
    for factor, vector in terms:
        for position, value in vector.items():
            total[position] = total.get(position, 0) + factor * value
    return {position: value for position, value in total.items() if value}


def _dense(vectors: Sequence[Vector]) -> flint.fmpz_mat:
    """The rows as a matrix over the positions that occur (others are zero columns)."""
    used = sorted({position for vector in vectors for position in vector})
    place = {position: k for k, position in enumerate(used)}
    entries = [0] * (len(vectors) * len(used))
    for row, vector in enumerate(vectors):
        for position, value in vector.items():
            entries[row * len(used) + place[position]] = value
    return flint.fmpz_mat(len(vectors), len(used), entries)


def rank(vectors: Iterable[Vector]) -> int:
    """The rank over QQ of integer vectors, exact."""
    rows = [vector for vector in vectors if vector]
    return int(_dense(rows).rank()) if rows else 0


def dense_rank(rows: Sequence[Sequence[int]]) -> int:
    """The rank over QQ of an integer matrix given by rows, exact."""
    if not rows or not rows[0]:
        return 0
    return int(flint.fmpz_mat([list(row) for row in rows]).rank())


def _relations(vectors: Sequence[Vector]) -> list[tuple[int, list[int]]]:
    """The linear relations among the vectors: pairs (pivot, coefficients).

    In reduced echelon form: each relation has a pivot, its first nonzero place, where all other
    relations are zero.
    """
    matrix = _dense(vectors).transpose()
    if matrix.nrows() == 0:
        return [(k, [int(j == k) for j in range(len(vectors))]) for k in range(len(vectors))]
    basis, nullity = matrix.nullspace()
    if not nullity:
        return []
    columns = basis.transpose().tolist()[:nullity]
    reduced, _, _ = flint.fmpz_mat(columns).rref()
    found = []
    for row in reduced.tolist():
        content = 0
        for value in row:
            content = gcd(content, int(value))
        coefficients = [int(value) // content for value in row]
        found.append((next(k for k, c in enumerate(coefficients) if c), coefficients))
    return found


def _trim(moving: Sequence[dict[int, int]]) -> Moving:
    """Divide by the largest power of s and drop zero leading coefficients; () for zero."""
    parts = list(moving)
    while parts and not parts[-1]:
        parts.pop()
    while parts and not parts[0]:
        parts.pop(0)
    return tuple(parts)


def limit_span(vectors: Iterable[Moving]) -> list[dict[int, int]]:
    """A basis of the limit, as s goes to 0, of the span of moving vectors.

    As long as the constant terms are dependent, a vector of highest degree in a relation is
    replaced by the relation's value divided by s. The span over QQ(s) stays, the sum of the
    degrees falls, so this ends, and then the constant terms are a basis of the limit.
    """
    current = [moving for moving in map(_trim, vectors) if moving]
    while current:
        current.sort(key=len, reverse=True)
        relations = _relations([moving[0] for moving in current])
        if not relations:
            break
        renewed: dict[int, Moving] = {}
        for pivot, coefficients in relations:
            involved = [(c, current[k]) for k, c in enumerate(coefficients) if c]
            length = max(len(moving) for _, moving in involved)
            renewed[pivot] = _trim(
                [
                    combine((c, moving[power]) for c, moving in involved if power < len(moving))
                    for power in range(1, length)
                ]
            )
        current = [renewed.get(k, moving) for k, moving in enumerate(current)]
        current = [moving for moving in current if moving]
    return [dict(moving[0]) for moving in current]
