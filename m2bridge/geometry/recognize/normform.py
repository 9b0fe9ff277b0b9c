"""Irreducible cubics over QQ that split into three conjugate linear forms.

Such a cubic is c times the norm of a linear form l over a cubic field QQ(theta). On a line through
a point e with C(e) != 0 it restricts to the characteristic polynomial of a coefficient of l, which
is irreducible or a cube; a root theta on such a line gives the point e_j + theta e on the plane
l = 0, where the gradient of C is proportional to l. Then C = c N(l) is checked exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import flint
import sympy

from m2bridge.geometry.recognize.forms import Point
from m2bridge.geometry.recognize.quadratic import to_sympy

__all__ = ["NormForm", "norm_form"]

Element = list[flint.fmpq]
"""x_0 + x_1 theta + x_2 theta^2."""


@dataclass(frozen=True)
class NormForm:
    """C(w) = scale * l(w) l'(w) l''(w), the conjugates of a linear form over QQ(theta).

    Attributes:
        polynomial: the minimal polynomial of theta, in the symbol ``x``.
        linear: the coefficients of l as polynomials in theta (`Element`).
        scale: a rational.
        real_roots: 1 or 3 real roots theta.
    """

    polynomial: sympy.Poly
    linear: tuple[tuple[flint.fmpq, ...], ...]
    scale: flint.fmpq
    real_roots: int

    def root(self, index: int) -> sympy.Expr:
        """The root number ``index``; real ones come first, in increasing order."""
        return sympy.CRootOf(self.polynomial.as_expr(), self.polynomial.gen, index, radicals=False)

    def factor(self, index: int) -> tuple[sympy.Expr, ...]:
        """The coefficients of the conjugate of l at root number ``index``."""
        theta = self.root(index)
        return tuple(
            sum((to_sympy(x) * theta**k for k, x in enumerate(entry)), sympy.Integer(0))
            for entry in self.linear
        )


def norm_form(point: Point, cubic: Any) -> NormForm | None:
    """Write a cubic that is irreducible over QQ as a norm, or return None when it is none.

    None means that the cubic has no linear factor over the complex numbers: a linear factor would
    have three different conjugates, whose product is the cubic.
    """
    d = point.layer.d
    e = _nonzero_point(cubic, d)
    for j in range(d):
        direction = [flint.fmpq(int(k == j)) for k in range(d)]
        p = _on_line(cubic, direction, e)
        _, factors = p.factor()
        if len(factors) == 1 and factors[0][1] == 3:
            continue  # this coefficient of l is rational
        if len(factors) != 1 or factors[0][0].degree() != 3:
            return None
        linear = _tangent(cubic, direction, e, p)
        return _checked(cubic, linear, p, point)
    return None


def _nonzero_point(cubic: Any, d: int) -> list[flint.fmpq]:
    for vector in _small_points(d):
        if _at(cubic, vector) != 0:
            return vector
    raise AssertionError("a nonzero cubic does not vanish on all of {-1, 0, 1, 2}^d")


def _small_points(d: int) -> Iterator[list[flint.fmpq]]:
    for k in range(d):
        yield [flint.fmpq(int(i == k)) for i in range(d)]
    for vector in product((0, 1, -1, 2), repeat=d):
        yield [flint.fmpq(x) for x in vector]


def _at(form: Any, vector: list[flint.fmpq]) -> flint.fmpq:
    total = flint.fmpq(0)
    for exponents, value in form.to_dict().items():
        for x, exponent in zip(vector, exponents, strict=True):
            value = value * x ** int(exponent)
        total += value
    return total


def _on_line(form: Any, start: list[flint.fmpq], direction: list[flint.fmpq]) -> flint.fmpq_poly:
    """form(start + s direction) as a polynomial in s."""
    total = flint.fmpq_poly([0])
    factors = [flint.fmpq_poly([a, b]) for a, b in zip(start, direction, strict=True)]
    for exponents, value in form.to_dict().items():
        term = flint.fmpq_poly([value])
        for factor, exponent in zip(factors, exponents, strict=True):
            for _ in range(exponent):
                term *= factor
        total += term
    return total


def _tangent(
    cubic: Any, start: list[flint.fmpq], direction: list[flint.fmpq], p: flint.fmpq_poly
) -> list[flint.fmpq_poly]:
    """The gradient of the cubic at start + theta direction, modulo p(theta) = 0."""
    return [_on_line(cubic.derivative(k), start, direction) % p for k in range(len(start))]


def _checked(
    cubic: Any, linear: list[flint.fmpq_poly], p: flint.fmpq_poly, point: Point
) -> NormForm | None:
    """Compare the cubic with the norm of l: the determinant of multiplication by l(w)."""
    ring = point.context
    entries = [[ring.constant(0) for _ in range(3)] for _ in range(3)]
    for coefficient, variable in zip(linear, point.w, strict=True):
        for column in range(3):
            image = (coefficient * flint.fmpq_poly([0] * column + [1])) % p
            for row in range(3):
                entries[row][column] += image[row] * variable
    norm = _determinant(entries)
    exponents, value = next(iter(cubic.to_dict().items()))
    other = norm.to_dict().get(exponents)
    if other is None or norm * (value / other) != cubic:
        return None
    x = sympy.Symbol("x")
    polynomial = sympy.Poly([to_sympy(c) for c in reversed(list(p))], x).clear_denoms()[1]
    polynomial = polynomial.primitive()[1]
    return NormForm(
        polynomial=polynomial,
        linear=tuple(tuple(c[k] for k in range(3)) for c in linear),
        scale=value / other,
        real_roots=polynomial.count_roots(),
    )


def _determinant(m: list[list[Any]]) -> Any:
    return (
        m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1])
        - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
        + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
    )
