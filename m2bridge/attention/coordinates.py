"""Names and order of the coefficients of one lightning attention layer.

phi(X) = V X X^T A X has, in output (i, j), the terms V_ip A_qr X_pn X_qn X_rj. Reading off
coefficients gives the *full* coordinates. For t >= 2 all of them are 0/1 combinations of the
*reduced* ones, T_{i;pq;r} = coefficient of X_pn X_qn X_rj with n != j, which depends on neither n
nor j: where n = j, a monomial X_pj X_qj X_rj collects one T for each way to say which of its
factors is the last one. (Docs: theory page, "One layer".)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import sympy

__all__ = [
    "Coordinate",
    "FullCoordinate",
    "Monomial",
    "SparseIntegerMatrix",
    "cubic_coordinates",
    "full_coordinates",
    "full_from_reduced",
    "last_factors",
    "reduced_coordinates",
]

Monomial = tuple[tuple[int, int], ...]
"""A monomial in the entries of X: the sorted (row, column) of each factor, with repetition."""


@dataclass(frozen=True)
class Coordinate:
    """One reduced coordinate of a layer; all indices are 0-based.

    Attributes:
        name: the name that equations use.
        output: the row i of phi(X).
        pair: p <= q, the symmetrised pair.
        column: r, the column of A; for t = 1 the largest index of the sorted triple.
        monomial: the monomial of X whose coefficient in output (i, 0) this is.
    """

    name: str
    output: int
    pair: tuple[int, int]
    column: int
    monomial: Monomial


@dataclass(frozen=True)
class FullCoordinate:
    """The coefficient of one monomial of X in output entry ``output`` = (i, j) of phi(X)."""

    name: str
    output: tuple[int, int]
    monomial: Monomial


@dataclass(frozen=True)
class SparseIntegerMatrix:
    """An exact integer matrix: for each row its (column, entry) pairs with nonzero entries."""

    columns: int
    entries: tuple[tuple[tuple[int, int], ...], ...]

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return len(self.entries), self.columns

    def apply(self, vector: Sequence[Any]) -> list[Any]:
        """Multiply by a column vector, in whatever ring its entries are.

        Raises:
            ValueError: when the vector has the wrong length.
        """
        if len(vector) != self.columns:
            raise ValueError(f"expected a vector of length {self.columns}, got {len(vector)}")
        return [sum((entry * vector[j] for j, entry in row), 0) for row in self.entries]

    def to_numpy(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The dense matrix."""
        dense = np.zeros(self.shape, dtype=np.int64)
        for i, row in enumerate(self.entries):
            for j, entry in row:
                dense[i, j] = entry
        return dense

    def to_sympy(self) -> sympy.Matrix:
        """The dense matrix over the integers."""
        return sympy.Matrix(*self.shape, [int(x) for x in self.to_numpy().ravel()])


def _name(d: int, i: int, p: int, q: int, r: int) -> str:
    # Beyond ten rows two digits would run together.
    return f"T_{i}_{p}{q}_{r}" if d <= 10 else f"T_{i}_{p}_{q}_{r}"


def reduced_coordinates(d: int, d_out: int) -> tuple[Coordinate, ...]:
    """The coordinates T_{i;pq;r} for t >= 2: i first, then p <= q, then r, all lexicographic."""
    pairs = list(combinations_with_replacement(range(d), 2))
    return tuple(
        Coordinate(_name(d, i, p, q, r), i, (p, q), r, tuple(sorted(((p, 1), (q, 1), (r, 0)))))
        for i in range(d_out)
        for p, q in pairs
        for r in range(d)
    )


def cubic_coordinates(d: int, d_out: int) -> tuple[Coordinate, ...]:
    """The coefficients of the cubics (V x)_i (x^T A x), t = 1: i first, then p <= q <= r."""
    triples = list(combinations_with_replacement(range(d), 3))
    return tuple(
        Coordinate(_name(d, i, p, q, r), i, (p, q), r, ((p, 0), (q, 0), (r, 0)))
        for i in range(d_out)
        for p, q, r in triples
    )


def monomial_name(d: int, t: int, monomial: Monomial) -> str:
    """A short name of a monomial of X, usable inside a symbol name: ``00_10_11`` or so."""
    small = d <= 10 and t <= 10
    return "_".join(f"{r}{c}" if small else f"{r}x{c}" for r, c in monomial)


def _entry_monomials(d: int, t: int, j: int) -> Iterator[Monomial]:
    """Monomials that column j of phi(X) can contain; every other coefficient is identically 0."""
    for n in range(t):
        if n == j:
            for triple in combinations_with_replacement(range(d), 3):
                yield tuple((row, j) for row in triple)
            continue
        for p, q in combinations_with_replacement(range(d), 2):
            for r in range(d):
                yield tuple(sorted(((p, n), (q, n), (r, j))))


def full_coordinates(d: int, d_out: int, t: int) -> tuple[FullCoordinate, ...]:
    """All coefficients of phi(X) that are not identically zero: by output (i, j), then monomial."""
    return tuple(
        FullCoordinate(f"F_{i}_{j}__{monomial_name(d, t, monomial)}", (i, j), monomial)
        for i in range(d_out)
        for j in range(t)
        for monomial in sorted(_entry_monomials(d, t, j))
    )


def last_factors(rows: tuple[int, ...]) -> list[tuple[tuple[int, ...], int]]:
    """The ways to take one factor off a monomial w_p w_q w_r: (the other two, the one taken)."""
    ways = []
    for taken in sorted(set(rows)):
        rest = list(rows)
        rest.remove(taken)
        ways.append((tuple(rest), taken))
    return ways


def full_from_reduced(d: int, d_out: int, t: int) -> SparseIntegerMatrix:
    """The exact linear map L with full = L * reduced, for any t >= 1 (the identity for t = 1)."""
    full = full_coordinates(d, d_out, t)
    if t == 1:
        return SparseIntegerMatrix(len(full), tuple(((i, 1),) for i in range(len(full))))
    position = {
        (c.output, c.pair, c.column): k for k, c in enumerate(reduced_coordinates(d, d_out))
    }
    rows = []
    for coordinate in full:
        i, j = coordinate.output
        last = [row for row, column in coordinate.monomial if column == j]
        if len(last) == 3:
            terms = last_factors(tuple(last))
        else:
            others = [row for row, column in coordinate.monomial if column != j]
            terms = [(tuple(others), last[0])]
        rows.append(tuple(sorted((position[i, (p, q), r], 1) for (p, q), r in terms)))
    return SparseIntegerMatrix(len(position), tuple(rows))
