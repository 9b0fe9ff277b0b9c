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

from m2bridge.geometry.recognize.isotropy import Isotropy, isotropic_vector, squarefree_part
from m2bridge.geometry.recognize.lattice import LatticeForm, lattice_form, split_plane

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
_DIAGONAL_FORMS = 5

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
    needed = max(0, len(diagonal) - count)
    if len(diagonal) > 2 * count:
        return None
    pairs, rest, decided = _rational_planes(diagonal, needed)
    left = [[to_sympy(x) for x in f] for f, _ in pairs]
    right = [[to_sympy(x) for x in g] for _, g in pairs]
    radicands: list[int] = []
    joined = _pairs_to_split(rest, needed - len(pairs))
    for (c, L), (e, M) in joined:
        m, factor = squarefree_part(-e / c)
        root = to_sympy(factor) * sympy.sqrt(m)
        if m != 1 and m not in radicands:
            radicands.append(m)
        left.append([to_sympy(c) * (to_sympy(x) - root * to_sympy(y)) for x, y in _zip(L, M)])
        right.append([to_sympy(x) + root * to_sympy(y) for x, y in _zip(L, M)])
    used = {id(L) for pair in joined for _, L in pair}
    for c, L in rest:
        if id(L) not in used:
            left.append([to_sympy(c * x) for x in L])
            right.append([to_sympy(x) for x in L])
    smallest = True if decided and len(radicands) <= 1 else None
    return Splitting(_freeze(left), _freeze(right), tuple(radicands), smallest)


def _rational_planes(
    diagonal: Diagonal, needed: int
) -> tuple[list[tuple[Vector, Vector]], Diagonal, bool]:
    """Split off up to ``needed`` hyperbolic planes over QQ.

    Returns:
        The pairs (f, g), the rest in diagonal form, and whether it is proved that no more planes
        exist where fewer than ``needed`` were found.
    """
    pairs: list[tuple[Vector, Vector]] = []
    if not needed:
        return pairs, diagonal, True
    if min(signature(diagonal)) == 0:
        return pairs, diagonal, True  # definite
    form: LatticeForm | None = lattice_form(_gram(diagonal))
    while form is not None and len(pairs) < needed:
        isotropic = _rational_zero(form)
        if isotropic.vector is None:
            return pairs, _diagonal_of(form), isotropic.decided
        pair, form = split_plane(form, isotropic.vector)
        pairs.append(pair)
    return pairs, [] if form is None else _diagonal_of(form), True


def _rational_zero(form: LatticeForm) -> Isotropy:
    """A zero of the Gram matrix, looked for in several diagonal forms of it."""
    gram = [[flint.fmpq(x) for x in row] for row in form.gram]
    generator = random.Random(0)
    attempt = diagonalise(gram)
    for _ in range(_DIAGONAL_FORMS):
        isotropic = isotropic_vector([c for c, _ in attempt])
        if isotropic.vector is not None:
            forms = flint.fmpq_mat([L for _, L in attempt])
            solution = forms.solve(flint.fmpq_mat([[x] for x in isotropic.vector]))
            return Isotropy([solution[i, 0] for i in range(form.rank)], True)
        if isotropic.decided:
            return isotropic
        # Large common primes of the coefficients hinder the search: take other coefficients.
        attempt = diagonalise(gram, generator)
    return Isotropy(None, False)


def _diagonal_of(form: LatticeForm) -> Diagonal:
    """The form as a sum of squares of linear forms in w."""
    result: Diagonal = []
    for c, L in diagonalise([[flint.fmpq(x) for x in row] for row in form.gram]):
        row = [flint.fmpq(0)] * len(form.maps[0])
        for weight, map_row in zip(L, form.maps, strict=True):
            row = [x + weight * y for x, y in zip(row, map_row, strict=True)]
        result.append((c * form.factor, row))
    return result


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
