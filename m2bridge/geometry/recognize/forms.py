"""The function as polynomials in w, and linear forms as vectors.

For t >= 2 a point is the d_out x d matrix of quadratic forms T_ir(w) = v_i(w) a_r(w); for t = 1 a
vector of cubics T_i(w) = v_i(w) s(w). All polynomials live in one ring QQ[w_0, ..., w_{d-1}].
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import flint
import sympy

from m2bridge.attention.layer import Layer

__all__ = ["Point", "constant_ratio", "degree", "linear_vector", "quotient", "symmetric_matrix"]


class Point:
    """A point of the coefficient space with its polynomials.

    Attributes:
        layer, values: the layer and its coordinates' values as ``fmpq``.
        context, w: the polynomial ring and its variables.
        forms: ``forms[i][r]`` (t >= 2) or ``forms[i][0]`` (t = 1).
    """

    def __init__(self, layer: Layer, values: Sequence[flint.fmpq]) -> None:
        self.layer = layer
        self.values = list(values)
        names = [f"w{p}" for p in range(layer.d)]
        self.context = flint.fmpq_mpoly_ctx.get(names, flint.Ordering.lex)
        self.w = self.context.gens()
        columns = 1 if layer.t == 1 else layer.d
        terms: list[list[dict[tuple[int, ...], flint.fmpq]]] = [
            [{} for _ in range(columns)] for _ in range(layer.d_out)
        ]
        #: (row, column, exponents of w) -> position of the coordinate
        self.position: dict[tuple[int, int, tuple[int, ...]], int] = {}
        for k, c in enumerate(layer.coordinates):
            rows = (*c.pair, c.column) if layer.t == 1 else c.pair
            column = 0 if layer.t == 1 else c.column
            exponents = _exponents(layer.d, rows)
            self.position[c.output, column, exponents] = k
            if self.values[k] != 0:
                terms[c.output][column][exponents] = self.values[k]
        self.forms = [[self.context.from_dict(entry) for entry in row] for row in terms]

    def pivot(self) -> tuple[int, int] | None:
        """The first nonzero form, or None for the zero function."""
        for i, row in enumerate(self.forms):
            for r, form in enumerate(row):
                if not form.is_zero():
                    return i, r
        return None

    def symbol(self, i: int, r: int, exponents: tuple[int, ...]) -> sympy.Symbol:
        """The coordinate that holds one coefficient of ``forms[i][r]``."""
        return self.layer.symbols[self.position[i, r, exponents]]

    def monomials(self, i: int, r: int) -> list[tuple[int, ...]]:
        """The exponents of all coordinates of ``forms[i][r]``."""
        return [m for (row, column, m) in self.position if (row, column) == (i, r)]


def _exponents(d: int, rows: Sequence[int]) -> tuple[int, ...]:
    counted = Counter(rows)
    return tuple(counted.get(p, 0) for p in range(d))


def degree(form: Any) -> int:
    """Total degree of a form; 0 for a constant."""
    return int(form.total_degree())


def quotient(form: Any, divisor: Any) -> Any | None:
    """form / divisor when that is exact, else None."""
    q, r = divmod(form, divisor)
    return q if r.is_zero() else None


def constant_ratio(form: Any, unit: Any) -> flint.fmpq:
    """The rational c with form = c unit, for forms that are known to be proportional."""
    if form.is_zero():
        return flint.fmpq(0)
    exponents, value = next(iter(unit.to_dict().items()))
    ratio = form.to_dict().get(exponents, flint.fmpq(0)) / value
    assert form == ratio * unit, "gcds of full degree make the forms proportional"
    return ratio


def linear_vector(form: Any, d: int) -> list[flint.fmpq]:
    """The coefficients of a linear form (the zero form included)."""
    vector = [flint.fmpq(0)] * d
    for exponents, coefficient in form.to_dict().items():
        vector[exponents.index(1)] = coefficient
    return vector


def symmetric_matrix(form: Any, d: int) -> list[list[flint.fmpq]]:
    """The symmetric matrix S of a quadratic form w^T S w."""
    matrix = [[flint.fmpq(0)] * d for _ in range(d)]
    for exponents, coefficient in form.to_dict().items():
        p, q = (k for k, e in enumerate(exponents) for _ in range(e))
        if p == q:
            matrix[p][p] = coefficient
        else:
            matrix[p][q] = matrix[q][p] = coefficient / 2
    return matrix
