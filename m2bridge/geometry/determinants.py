"""Determinants of small matrices of sparse polynomials, exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

__all__ = ["Sparse", "add", "constant", "determinant", "multiply", "scale"]

Sparse = dict[tuple[int, ...], int]
"""Increasing tuple of variables (any integers, with repetition) -> coefficient."""


def constant(c: int) -> Sparse:
    """A constant polynomial."""
    return {(): c} if c else {}


def add(*polynomials: Mapping[tuple[int, ...], int]) -> Sparse:
    """The sum."""
    out: Sparse = {}
    for f in polynomials:
        for key, c in f.items():
            out[key] = out.get(key, 0) + c
    return {key: c for key, c in out.items() if c}


def scale(f: Mapping[tuple[int, ...], int], c: int) -> Sparse:
    """c * f."""
    return {key: c * x for key, x in f.items()} if c else {}


def multiply(f: Mapping[tuple[int, ...], int], g: Mapping[tuple[int, ...], int]) -> Sparse:
    """f * g."""
    out: Sparse = {}
    for a, x in f.items():
        for b, y in g.items():
            key = tuple(sorted(a + b))
            out[key] = out.get(key, 0) + x * y
    return {key: c for key, c in out.items() if c}


def determinant(matrix: Sequence[Sequence[Mapping[tuple[int, ...], int]]]) -> Sparse:
    """Laplace expansion, row by row, over subsets of columns: 2^n products instead of n!."""
    n = len(matrix)
    minors: dict[int, Sparse] = {0: constant(1)}
    for row in matrix:
        following: dict[int, Sparse] = {}
        for used, minor in minors.items():
            for j in range(n):
                if used >> j & 1 or not row[j]:
                    continue
                sign = -1 if (used >> j).bit_count() % 2 else 1
                term = scale(multiply(minor, row[j]), sign)
                key = used | 1 << j
                following[key] = add(following.get(key, {}), term)
        minors = {key: f for key, f in following.items() if f}
    return minors.get((1 << n) - 1, {})
