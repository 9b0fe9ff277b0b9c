"""Polynomials that vanish on the image and do not vanish at a given point.

They are the equations of the theory page: 2 x 2 minors of T(w), resultants and determinants of
forms restricted to a line, minors of the flattening. Each is returned as a sympy expression in the
layer's coordinates with its value, so that anyone can substitute and see.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import prod

import flint
import sympy

from m2bridge.geometry.recognize.forms import Point
from m2bridge.geometry.recognize.quadratic import to_sympy
from m2bridge.geometry.recognize.result import Failure

__all__ = [
    "common_factor_failure",
    "flattening_failure",
    "proportionality_failure",
    "rank_failure",
]

#: Lines tried in the search for a restriction that shows the failure; a general one does.
MAX_LINES = 60

#: Determinants are written out up to this size, and up to so many products of their entries' terms;
#: larger ones would be expanded for minutes, and are given as ``sympy.Determinant``.
MAX_EXPANDED_SIZE = 4
MAX_EXPANDED_TERMS = 3_000

Entry = tuple[int, int]


def proportionality_failure(point: Point) -> Failure | None:
    """A 2 x 2 minor of the matrix T(w) that is not the zero polynomial, if there is one."""
    pivot = point.pivot()
    assert pivot is not None
    i0, r0 = pivot
    for i, row in enumerate(point.forms):
        for r, form in enumerate(row):
            if i == i0 or r == r0:
                continue
            minor = point.forms[i0][r0] * form - point.forms[i0][r] * row[r0]
            if minor.is_zero():
                continue
            exponents, value = next(iter(minor.to_dict().items()))
            relation = _product_coefficient(point, (i0, r0), (i, r), exponents)
            relation -= _product_coefficient(point, (i0, r), (i, r0), exponents)
            return Failure(
                "equation",
                f"a 2 x 2 minor of T(w) is not zero: T_{i0}{r0} T_{i}{r} - T_{i0}{r} T_{i}{r0} has "
                f"the coefficient {value} at w^{exponents}",
                relation,
                to_sympy(value),
            )
    return None


def _product_coefficient(
    point: Point, first: Entry, second: Entry, exponents: tuple[int, ...]
) -> sympy.Expr:
    """The coefficient of w^exponents in forms[first] * forms[second], in symbols."""
    terms = []
    for m in point.monomials(*first):
        rest = tuple(e - k for e, k in zip(exponents, m, strict=True))
        if min(rest) >= 0:
            terms.append(point.symbol(*first, m) * point.symbol(*second, rest))
    return sympy.Add(*terms)


# Restriction to lines


def _lines(d: int) -> Iterator[tuple[list[int], list[int]]]:
    """Pairs of points: first coordinate lines, then random ones."""
    for p, q in combinations(range(d), 2):
        yield [int(k == p) for k in range(d)], [int(k == q) for k in range(d)]
    generator = random.Random(0)
    for _ in range(MAX_LINES):
        yield (
            [generator.randint(-3, 3) for _ in range(d)],
            [generator.randint(-3, 3) for _ in range(d)],
        )


def _restriction(
    exponents: tuple[int, ...], p: Sequence[int], q: Sequence[int], degree: int
) -> list[int]:
    """Coefficients of x^degree, ..., y^degree in the monomial w^exponents at w = x p + y q."""
    result = [1]
    for k, e in enumerate(exponents):
        for _ in range(e):
            longer = [0] * (len(result) + 1)
            for n, c in enumerate(result):
                longer[n] += c * p[k]
                longer[n + 1] += c * q[k]
            result = longer
    assert len(result) == degree + 1
    return result


class _OnLine:
    """The forms of some entries on one line: numbers, and linear expressions in symbols."""

    def __init__(
        self, point: Point, entries: Sequence[Entry], p: list[int], q: list[int], degree: int
    ) -> None:
        self.point, self.entries, self.line, self.degree = point, entries, (p, q), degree
        self.numbers = [self._numbers(entry) for entry in entries]

    def _numbers(self, entry: Entry) -> list[flint.fmpq]:
        result = [flint.fmpq(0)] * (self.degree + 1)
        i, r = entry
        for exponents, value in self.point.forms[i][r].to_dict().items():
            for n, c in enumerate(_restriction(exponents, *self.line, self.degree)):
                result[n] += value * c
        return result

    def symbols(self, index: int) -> list[sympy.Expr]:
        """The restricted coefficients as linear forms in the layer's coordinates."""
        i, r = self.entries[index]
        result: list[sympy.Expr] = [sympy.Integer(0)] * (self.degree + 1)
        for exponents in self.point.monomials(i, r):
            for n, c in enumerate(_restriction(exponents, *self.line, self.degree)):
                result[n] += c * self.point.symbol(i, r, exponents)
        return result


def _shifts(rows: Sequence[Sequence[object]], zero: object) -> list[list[object]]:
    """x f, y f for each row f: the coefficients of the products with a linear form."""
    return [row for f in rows for row in ([*list(f), zero], [zero, *list(f)])]


def _determinant(rows: Sequence[Sequence[flint.fmpq]]) -> flint.fmpq:
    return flint.fmpq_mat([list(row) for row in rows]).det()


def _relation(matrix: sympy.Matrix) -> sympy.Expr:
    """The determinant of linear forms; expanded where that is short, for it would only hide it."""
    rows = matrix.tolist()
    terms = prod(sum(len(sympy.Add.make_args(x)) for x in row if x != 0) for row in rows)
    if len(rows) > MAX_EXPANDED_SIZE or terms > MAX_EXPANDED_TERMS:
        return sympy.Determinant(sympy.ImmutableMatrix(matrix))
    return sympy.expand(matrix.det(method="berkowitz"))


def common_factor_failure(point: Point, entries: Sequence[Entry], degree: int) -> Failure:
    """Show that forms of one degree share no factor of degree ``degree - 1``.

    Quadrics: a resultant of two of them on a line, or the determinant of three. Cubics: a maximal
    minor of (x f, y f, x g, y g), or of the coefficients of three.
    """
    for p, q in _lines(point.layer.d):
        line = _OnLine(point, entries, p, q, degree)
        found = _pair_witness(line) or _triple_witness(line)
        if found is not None:
            chosen, relation, value, what = found
            names = ", ".join(_entry_name(point, entries[k]) for k in chosen)
            wanted = "linear" if degree == 2 else "quadratic"
            return Failure(
                "equation",
                f"{names} have no common {wanted} factor: on the line w = x {tuple(p)} + "
                f"y {tuple(q)} {what} is {value}, not 0",
                relation,
                to_sympy(value),
            )
    return Failure("equation", "the forms have no common factor of the degree that is needed")


def _entry_name(point: Point, entry: Entry) -> str:
    return f"T_{entry[0]}" if point.layer.t == 1 else f"T_{entry[0]}{entry[1]}"


_Witness = tuple[tuple[int, ...], sympy.Expr, flint.fmpq, str]


def _pair_witness(line: _OnLine) -> _Witness | None:
    size = line.degree + 2
    for j, k in combinations(range(len(line.entries)), 2):
        rows = _shifts([line.numbers[j], line.numbers[k]], flint.fmpq(0))
        for columns in combinations(range(size), 4):
            value = _determinant([[row[c] for c in columns] for row in rows])
            if value != 0:
                symbols = _shifts([line.symbols(j), line.symbols(k)], sympy.Integer(0))
                matrix = sympy.Matrix([[row[c] for c in columns] for row in symbols])
                what = "their resultant" if line.degree == 2 else "a minor of (xf, yf, xg, yg)"
                return (j, k), _relation(matrix), value, what
    return None


def _triple_witness(line: _OnLine) -> _Witness | None:
    size = line.degree + 1
    independent = _independent(line.numbers)
    if len(independent) < 3:
        return None
    chosen = independent[:3]
    for columns in combinations(range(size), 3):
        value = _determinant([[line.numbers[k][c] for c in columns] for k in chosen])
        if value != 0:
            matrix = sympy.Matrix([[line.symbols(k)[c] for c in columns] for k in chosen])
            return tuple(chosen), _relation(matrix), value, "a determinant of their coefficients"
    return None


def _independent(rows: list[list[flint.fmpq]]) -> list[int]:
    """Indices of linearly independent rows, greedily."""
    chosen: list[int] = []
    for k, _ in enumerate(rows):
        trial = flint.fmpq_mat([rows[i] for i in [*chosen, k]])
        if trial.rank() == len(chosen) + 1:
            chosen.append(k)
    return chosen


# Ranks


def flattening_failure(point: Point, size: int) -> Failure:
    """A nonzero minor of this size of the flattening with rows (i, p, q) and columns r."""
    keys = sorted({(i, m) for i, _, m in point.position})
    rows = [[point.values[point.position[i, r, m]] for r in range(point.layer.d)] for i, m in keys]
    chosen = _first_independent(rows, size)
    columns = _first_independent(
        [list(c) for c in zip(*(rows[k] for k in chosen), strict=True)], size
    )
    value = _determinant([[rows[k][c] for c in columns] for k in chosen])
    matrix = sympy.Matrix(
        [[point.symbol(keys[k][0], c, keys[k][1]) for c in columns] for k in chosen]
    )
    return Failure(
        "equation",
        f"A would need rank {_rank(rows)}, but a = {point.layer.a}: a {size} x {size} minor of the "
        f"flattening of T by its column r is {value}, not 0",
        _relation(matrix),
        to_sympy(value),
    )


def _rank(rows: list[list[flint.fmpq]]) -> int:
    return int(flint.fmpq_mat(rows).rank())


def _first_independent(rows: list[list[flint.fmpq]], size: int) -> list[int]:
    transposed = flint.fmpq_mat([list(c) for c in zip(*rows, strict=True)])
    reduced, rank = transposed.rref()
    pivots = []
    for i in range(int(rank)):
        pivots.append(next(j for j in range(len(rows)) if reduced[i, j] != 0))
    return pivots[:size]


def rank_failure(
    point: Point, matrix: list[list[flint.fmpq]], size: int, what: str, relation_of: Entry | None
) -> Failure:
    """A nonzero minor of this size of the symmetric matrix of a quadratic form.

    Args:
        point: the point.
        matrix: the symmetric matrix.
        size: the size of the minor.
        what: the name of the form in the message.
        relation_of: the entry of T whose own quadratic form this is, if it is one.
    """
    rows = _first_independent(matrix, size)
    value = _determinant([[matrix[p][q] for q in rows] for p in rows])
    columns = rows
    if value == 0:  # principal minors on independent rows never vanish for symmetric matrices of
        columns = _first_independent(  # this rank, but may for larger rank
            [[matrix[p][q] for p in rows] for q in range(len(matrix))], size
        )
        value = _determinant([[matrix[p][q] for q in columns] for p in rows])
    relation = None
    if relation_of is not None:
        symbols = [[_hessian_entry(point, relation_of, p, q) for q in columns] for p in rows]
        relation = _relation(sympy.Matrix(symbols))
    return Failure(
        "equation",
        f"{what} has rank {_rank(matrix)}, at most {size - 1} is possible: the {size} x {size} "
        f"minor on rows {tuple(rows)} and columns {tuple(columns)} of its symmetric matrix is "
        f"{value}, not 0",
        relation,
        to_sympy(value),
    )


def _hessian_entry(point: Point, entry: Entry, p: int, q: int) -> sympy.Expr:
    exponents = [0] * point.layer.d
    exponents[p] += 1
    exponents[q] += 1
    symbol = point.symbol(*entry, tuple(exponents))
    return symbol if p == q else symbol / 2
