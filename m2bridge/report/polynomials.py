"""Polynomials in a layer's coordinates T_{i;pq;r}, as MathML and as LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

import sympy

from m2bridge.attention.layer import Layer

__all__ = ["MOST_TERMS", "label", "latex_polynomial", "mathml_polynomial"]

#: Longer polynomials are cut off, with the number of terms that are left out.
MOST_TERMS = 60


def label(layer: Layer, position: int) -> str:
    """The index of a coordinate: output; pair; column (one token: output; three positions)."""
    coordinate = layer.coordinates[position]
    between = "" if layer.d <= 10 else ","
    pair = between.join(map(str, coordinate.pair))
    if layer.t == 1:
        return f"{coordinate.output};{pair}{between}{coordinate.column}"
    return f"{coordinate.output};{pair};{coordinate.column}"


def latex_polynomial(polynomial: sympy.Poly, layer: Layer) -> str:
    """LaTeX of a polynomial in ``layer.symbols``, terms in its own order."""

    def power(position: int, exponent: int) -> str:
        raised = "" if exponent == 1 else f"^{{{exponent}}}"
        return f"T_{{{label(layer, position)}}}{raised}"

    def number(value: Fraction) -> str:
        if value.denominator == 1:
            return str(value.numerator)
        return rf"\tfrac{{{value.numerator}}}{{{value.denominator}}}"

    left_out = r"\; \ldots \text{{ ({count} more terms)}}"
    return _written(polynomial, power, number, (" + ", " - ", "-"), left_out, r"\,")


def mathml_polynomial(polynomial: sympy.Poly, layer: Layer) -> str:
    """MathML of a polynomial in ``layer.symbols``: elements only, which need no escaping.

    Each term is a formula of its own, since browsers break lines only between formulas.
    """

    def power(position: int, exponent: int) -> str:
        index = f"<mtext>{label(layer, position)}</mtext>"
        if exponent == 1:
            return f"<msub><mi>T</mi>{index}</msub>"
        return f"<msubsup><mi>T</mi>{index}<mn>{exponent}</mn></msubsup>"

    def number(value: Fraction) -> str:
        if value.denominator == 1:
            return f"<mn>{value.numerator}</mn>"
        return f"<mfrac><mn>{value.numerator}</mn><mn>{value.denominator}</mn></mfrac>"

    def sign(of: str) -> str:
        return f'</mrow></math> <math><mrow><mo form="infix">{of}</mo>'

    signs = (sign("+"), sign("−"), '<mo form="prefix">−</mo>')
    left_out = "</mrow></math> <math><mrow><mtext>… ({count} more terms)</mtext>"
    return f"<math><mrow>{_written(polynomial, power, number, signs, left_out, '')}</mrow></math>"


def _written(
    polynomial: sympy.Poly,
    power: Callable[[int, int], str],
    number: Callable[[Fraction], str],
    signs: tuple[str, str, str],
    left_out: str,
    between: str,
) -> str:
    """A sum of terms; ``signs`` are plus, minus and the minus of a first term."""
    parts = []
    terms = list(_terms(polynomial))
    for count, (exponents, value) in enumerate(terms[:MOST_TERMS]):
        if count:
            parts.append(signs[0] if value > 0 else signs[1])
        elif value < 0:
            parts.append(signs[2])
        factors = [power(k, exponent) for k, exponent in enumerate(exponents) if exponent]
        if abs(value) != 1 or not factors:
            factors.insert(0, number(abs(value)))
        parts.append(between.join(factors))
    if len(terms) > MOST_TERMS:
        parts.append(left_out.format(count=len(terms) - MOST_TERMS))
    return "".join(parts) or number(Fraction(0))


def _terms(polynomial: sympy.Poly) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    for exponents, coefficient in polynomial.terms():
        value = Fraction(int(coefficient.p), int(coefficient.q))
        if value:
            yield exponents, value
