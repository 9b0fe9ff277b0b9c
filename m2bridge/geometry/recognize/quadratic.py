"""Quadratic forms over the rationals: diagonal form, signature, and sums of products.

A form s is a sum of n products of linear forms over a field exactly when it has, on its support of
dimension r, an isotropic subspace of dimension r - n: the common zeros of the first factors. Over
the reals that says p <= n and q <= n for the signature (p, q); over QQ it is a question about
rational points, answered in `isotropy`. (Derived in the docs, theory page, "One layer, t = 1".)
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt

import flint
import sympy

from m2bridge.geometry.recognize.isotropy import isotropic_vector, squarefree_part

__all__ = [
    "Diagonal",
    "Splitting",
    "diagonalise",
    "rational",
    "rational_square_root",
    "signature",
    "split",
    "to_sympy",
]

#: Diagonal forms tried in the search for a rational zero.
_DIAGONAL_FORMS = 8

Vector = list[flint.fmpq]
Diagonal = list[tuple[flint.fmpq, Vector]]
"""Pairs (c, L) with s(w) = sum of c (L . w)^2, the L linearly independent, every c nonzero."""


def rational(value: object) -> flint.fmpq:
    """An exact number (int, Fraction, sympy Rational, flint) as ``fmpq``."""
    if isinstance(value, (flint.fmpq, flint.fmpz, int)):
        return flint.fmpq(value)
    if isinstance(value, sympy.Rational):
        return flint.fmpq(int(value.p), int(value.q))
    return flint.fmpq(int(value.numerator), int(value.denominator))  # type: ignore[attr-defined]


def to_sympy(value: flint.fmpq) -> sympy.Rational:
    """An ``fmpq`` as sympy ``Rational``."""
    value = flint.fmpq(value)
    return sympy.Rational(int(value.p), int(value.q))


def diagonalise(
    matrix: Sequence[Sequence[flint.fmpq]], generator: random.Random | None = None
) -> Diagonal:
    """Lagrange's reduction of the quadratic form w^T S w of a symmetric rational matrix S.

    With a ``generator`` the vectors that are split off are small random ones.
    """
    rest = [[flint.fmpq(x) for x in row] for row in matrix]
    n = len(rest)
    found: Diagonal = []
    while True:
        row = generator and _random_row(rest, generator)
        row = row or _nonisotropic_row(rest)
        if row is None:
            return found
        c, linear = row
        found.append((c, linear))
        for i in range(n):
            if linear[i] == 0:
                continue
            factor = c * linear[i]
            for j in range(n):
                rest[i][j] -= factor * linear[j]


def _nonisotropic_row(matrix: list[Vector]) -> tuple[flint.fmpq, Vector] | None:
    """(s(e), S e / s(e)) for some vector e with s(e) != 0; None for the zero form."""
    n = len(matrix)
    for i in range(n):
        if matrix[i][i] != 0:
            return matrix[i][i], [x / matrix[i][i] for x in matrix[i]]
    for i in range(n):
        for j in range(i + 1, n):
            if matrix[i][j] != 0:
                c = 2 * matrix[i][j]
                return c, [(x + y) / c for x, y in zip(matrix[i], matrix[j], strict=True)]
    return None


def _random_row(matrix: list[Vector], generator: random.Random) -> tuple[flint.fmpq, Vector] | None:
    """As `_nonisotropic_row`, for a random vector e; None when s(e) = 0."""
    e = [generator.randint(-1, 1) for _ in matrix]
    image = [sum((x * k for x, k in zip(row, e, strict=True)), flint.fmpq(0)) for row in matrix]
    c = sum((x * k for x, k in zip(image, e, strict=True)), flint.fmpq(0))
    return None if c == 0 else (c, [x / c for x in image])


def _gram(diagonal: Diagonal) -> list[Vector]:
    """The symmetric matrix of a diagonal form."""
    n = len(diagonal[0][1])
    return [
        [sum((c * L[i] * L[j] for c, L in diagonal), flint.fmpq(0)) for j in range(n)]
        for i in range(n)
    ]


def signature(diagonal: Diagonal) -> tuple[int, int]:
    """The numbers of positive and of negative squares."""
    positive = sum(1 for c, _ in diagonal if c > 0)
    return positive, len(diagonal) - positive


def rational_square_root(value: flint.fmpq) -> flint.fmpq | None:
    """The square root when it is rational, else None."""
    if value < 0:
        return None
    p, q = isqrt(int(value.p)), isqrt(int(value.q))
    if p * p == int(value.p) and q * q == int(value.q):
        return flint.fmpq(p, q)
    return None


@dataclass(frozen=True)
class Splitting:
    """s(w) = sum over j of (left_j . w)(right_j . w).

    Attributes:
        left, right: rows of sympy numbers.
        radicands: squarefree integers whose square roots occur; empty over QQ.
        real: False when one of them is negative.
        smallest: True when no smaller field is possible, None when that was not decided.
    """

    left: tuple[tuple[sympy.Expr, ...], ...]
    right: tuple[tuple[sympy.Expr, ...], ...]
    radicands: tuple[int, ...]
    smallest: bool | None = True

    @property
    def real(self) -> bool:
        return all(m > 0 for m in self.radicands)


def split(diagonal: Diagonal, count: int) -> Splitting | None:
    """Write a form as a sum of at most ``count`` products of linear forms.

    Over QQ when that is possible; else over the reals with square roots; else over the complex
    numbers.

    Returns:
        The splitting, or None when the rank exceeds 2 ``count``, so that none exists at all.
    """
    planes_needed = max(0, len(diagonal) - count)
    if len(diagonal) > 2 * count:
        return None
    pairs: list[tuple[Vector, Vector]] = []
    rest = diagonal
    decided = True
    while len(pairs) < planes_needed:
        found, decided = _rational_plane(rest)
        if found is None:
            break
        plane, rest = found
        pairs.append(plane)
    left = [[to_sympy(x) for x in f] for f, _ in pairs]
    right = [[to_sympy(x) for x in g] for _, g in pairs]
    missing = planes_needed - len(pairs)
    radicands: list[int] = []
    for (c, L), (e, M) in _pairs_to_split(rest, missing):
        m, factor = squarefree_part(-e / c)
        root = to_sympy(factor) * sympy.sqrt(m)
        if m != 1 and m not in radicands:
            radicands.append(m)
        left.append([to_sympy(c) * (to_sympy(x) - root * to_sympy(y)) for x, y in _zip(L, M)])
        right.append([to_sympy(x) + root * to_sympy(y) for x, y in _zip(L, M)])
    used = {id(L) for pair in _pairs_to_split(rest, missing) for _, L in pair}
    for c, L in rest:
        if id(L) not in used:
            left.append([to_sympy(c * x) for x in L])
            right.append([to_sympy(x) for x in L])
    smallest = True if decided and len(radicands) <= 1 else None
    return Splitting(_freeze(left), _freeze(right), tuple(radicands), smallest)


def _rational_plane(
    diagonal: Diagonal,
) -> tuple[tuple[tuple[Vector, Vector], Diagonal] | None, bool]:
    """Split off a hyperbolic plane over QQ, or None; and whether None is proved."""
    generator = random.Random(0)
    attempt = diagonal
    for _ in range(_DIAGONAL_FORMS):
        isotropic = isotropic_vector([c for c, _ in attempt])
        if isotropic.vector is not None:
            return _split_plane(attempt, isotropic.vector), True
        if isotropic.decided:
            return None, True
        # Large common primes of the coefficients hinder the search: take other coefficients.
        attempt = diagonalise(_gram(diagonal), generator)
    return None, False


def _zip(first: Vector, second: Vector) -> list[tuple[flint.fmpq, flint.fmpq]]:
    return list(zip(first, second, strict=True))


def _freeze(rows: list[list[sympy.Expr]]) -> tuple[tuple[sympy.Expr, ...], ...]:
    return tuple(tuple(sympy.expand(x) for x in row) for row in rows)


def _pairs_to_split(
    diagonal: Diagonal, count: int
) -> list[tuple[tuple[flint.fmpq, Vector], tuple[flint.fmpq, Vector]]]:
    """Which squares to join into products: opposite signs first, as those stay real."""
    positive = [term for term in diagonal if term[0] > 0]
    negative = [term for term in diagonal if term[0] < 0]
    pairs = []
    for _ in range(count):
        if positive and negative:
            pairs.append((positive.pop(), negative.pop()))
        else:
            same = positive or negative
            pairs.append((same.pop(), same.pop()))
    return pairs


def _split_plane(diagonal: Diagonal, x: Vector) -> tuple[tuple[Vector, Vector], Diagonal]:
    """Split off the hyperbolic plane around the isotropic x: s = f g + (form of rank r - 2).

    ``x`` is given in the coordinates z_i = L_i . w, in which s is diagonal.
    """
    coefficients = [c for c, _ in diagonal]
    k = next(i for i, value in enumerate(x) if value != 0)
    # y = partner of x, made isotropic: B(x, y) = 1, B(y, y) = 0.
    y = [flint.fmpq(0)] * len(x)
    y[k] = 1 / (coefficients[k] * x[k])
    norm = sum((c * b * b for c, b in zip(coefficients, y, strict=True)), flint.fmpq(0))
    y = [b - norm / 2 * a for a, b in zip(x, y, strict=True)]
    f = _combine(diagonal, [2 * c * a for c, a in zip(coefficients, x, strict=True)])
    g = _combine(diagonal, [c * b for c, b in zip(coefficients, y, strict=True)])
    n = len(f)
    gram = _gram(diagonal)
    rest = [[gram[i][j] - (f[i] * g[j] + f[j] * g[i]) / 2 for j in range(n)] for i in range(n)]
    return (f, g), diagonalise(rest)


def _combine(diagonal: Diagonal, weights: Vector) -> Vector:
    n = len(diagonal[0][1])
    return [
        sum((b * L[j] for b, (_, L) in zip(weights, diagonal, strict=True)), flint.fmpq(0))
        for j in range(n)
    ]
