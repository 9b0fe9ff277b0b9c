"""Hilbert series and polynomials from the one thing that M2 computes: the series' numerator.

For a graded quotient R/I of a polynomial ring in n variables the series is N(t)/(1-t)^n with an
integer polynomial N; cancelling gives h(t)/(1-t)^d with d the dimension and h(1) the degree
(Bruns and Herzog, Cohen-Macaulay Rings, section 4.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial
from typing import Any

import sympy

__all__ = ["BettiTable", "HilbertSeries", "hilbert_series"]

_T = sympy.Symbol("t")
_N = sympy.Symbol("n")


@dataclass(frozen=True)
class HilbertSeries:
    """h(t) / (1-t)^d in lowest terms.

    Attributes:
        numerator: the coefficients of h, from the constant one upwards; empty for the zero ring.
        dimension: d, the Krull dimension of R/I; 0 for the zero ring.
    """

    numerator: tuple[int, ...]
    dimension: int

    @property
    def degree(self) -> int:
        """h(1): the multiplicity of R/I."""
        return sum(self.numerator)

    def as_expr(self, variable: Any = _T) -> Any:
        """The series as a sympy expression."""
        h = sympy.Add(*(c * variable**i for i, c in enumerate(self.numerator)))
        return h / (1 - variable) ** self.dimension

    def coefficient(self, k: int) -> int:
        """The Hilbert function at k: the dimension of the part of degree k."""
        if k < 0:
            return 0
        d = self.dimension
        if d == 0:
            return self.numerator[k] if k < len(self.numerator) else 0
        return sum(
            c * int(sympy.binomial(k - i + d - 1, d - 1))
            for i, c in enumerate(self.numerator[: k + 1])
        )

    def polynomial(self, variable: Any = _N) -> Any:
        """The Hilbert polynomial, expanded: the Hilbert function at all large numbers."""
        d = self.dimension
        if d == 0:
            return sympy.Integer(0)
        total = sympy.Poly(0, variable, domain="QQ")
        for i, c in enumerate(self.numerator):
            product = sympy.Poly(c, variable, domain="QQ")
            for j in range(1, d):
                product = product * sympy.Poly(variable - i + j, variable, domain="QQ")
            total = total + product
        return (total * sympy.Rational(1, factorial(d - 1))).as_expr()

    def _repr_latex_(self) -> str:
        return f"${sympy.latex(self.as_expr())}$"


def hilbert_series(terms: list[tuple[int, int]], variables: int) -> HilbertSeries:
    """The series with this numerator, given as (degree, coefficient), over (1-t)^variables."""
    if not terms:
        return HilbertSeries((), 0)
    numerator = [0] * (1 + max(degree for degree, _ in terms))
    for degree, number in terms:
        numerator[degree] += number
    dimension = variables
    while dimension and sum(numerator) == 0:
        # division by 1 - t: partial sums
        total, quotient = 0, []
        for number in numerator:
            total += number
            quotient.append(total)
        numerator = quotient
        while numerator and numerator[-1] == 0:
            numerator.pop()
        dimension -= 1
    return HilbertSeries(tuple(numerator), dimension)


@dataclass(frozen=True)
class BettiTable:
    """Graded Betti numbers of R/I.

    Attributes:
        numbers: {(i, j): how many generators of degree j the i-th free module has}.
    """

    numbers: dict[tuple[int, int], int]

    def __getitem__(self, place: tuple[int, int]) -> int:
        return self.numbers.get(place, 0)

    @property
    def totals(self) -> list[int]:
        """The ranks of the free modules."""
        length = max((i for i, _ in self.numbers), default=-1)
        return [sum(c for (i, _), c in self.numbers.items() if i == k) for k in range(length + 1)]

    @property
    def length(self) -> int:
        """The projective dimension."""
        return len(self.totals) - 1

    @property
    def regularity(self) -> int:
        """The largest j - i: the Castelnuovo-Mumford regularity of R/I."""
        return max((j - i for i, j in self.numbers), default=0)

    def __str__(self) -> str:
        """As M2 prints it: columns are i, rows are j - i."""
        rows = range(min((j - i for i, j in self.numbers), default=0), self.regularity + 1)
        columns = range(self.length + 1)
        cells = [["", *map(str, columns)], ["total:", *map(str, self.totals)]]
        for r in rows:
            cells.append([f"{r}:", *(str(self[i, r + i] or ".") for i in columns)])
        widths = [max(len(row[k]) for row in cells) for k in range(len(cells[0]))]
        return "\n".join(
            " ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            for row in cells
        )

    def _repr_latex_(self) -> str:
        columns = range(self.length + 1)
        rows = range(min((j - i for i, j in self.numbers), default=0), self.regularity + 1)
        lines = [" & ".join(["", *map(str, columns)]) + r" \\ \hline"]
        for r in rows:
            body = " & ".join([str(r), *(str(self[i, r + i] or r"\cdot") for i in columns)])
            lines.append(body + r" \\")
        head = r"\begin{array}{r|" + "r" * len(columns) + "}"
        return "$" + head + " ".join(lines) + r"\end{array}$"
