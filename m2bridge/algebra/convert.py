"""Whatever a user may call a polynomial, as a sparse polynomial of one sympy ring.

Expressions are walked with a stack of our own, so their depth does not matter; nothing is parsed,
nothing is evaluated, and everything that is no polynomial with exact coefficients is refused here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import comb, prod
from typing import Any

import numpy as np
import sympy
from sympy.polys.fields import FracElement
from sympy.polys.rings import PolyElement

from m2bridge.algebra.domains import convert_number, number_from
from m2bridge.algebra.monomials import LARGEST_DEGREE
from m2bridge.algebra.wire import element_of_terms
from m2bridge.errors import SizeLimitError

__all__ = ["element_from", "shown_element", "symbol_positions"]

_SHOWN_TERMS = 30
_MOST_CELLS = 1 << 25  # terms times symbols that multiplying out may give
_MOST_BITS = 1 << 32  # in the coefficients of a power


def symbol_positions(symbols: tuple[sympy.Symbol, ...]) -> dict[sympy.Symbol, int]:
    """Which variable a symbol is; symbols that print alike stay different."""
    return {symbol: i for i, symbol in enumerate(symbols)}


def element_from(ring: Any, value: Any) -> Any:
    """The ``PolyElement`` of a sympy ``PolyRing`` that this value means.

    Args:
        ring: the target.
        value: a sympy Expr, Poly or PolyElement, or a number (Python's, numpy's, flint's).

    Raises:
        ValueError: it is no polynomial in the ring's symbols with coefficients in its domain.
        TypeError: it is nothing of this kind; text is never parsed.
        SizeLimitError: a product or a power in it is too large to be multiplied out.
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, PolyElement):
        return _from_element(ring, value)
    if isinstance(value, sympy.Poly):
        return _from_poly(ring, value)
    if isinstance(value, FracElement):
        raise ValueError(f"{value} is a rational function, not a polynomial")
    if isinstance(value, str | bytes):
        raise TypeError(f"{value!r} is text; give a sympy expression, Poly or PolyElement")
    if isinstance(value, sympy.Basic):
        if not isinstance(value, sympy.Expr) or isinstance(value, sympy.MatrixExpr):
            raise TypeError(f"{type(value).__name__} is not a polynomial: {_shown(value)}")
        return _Walk(ring).run(value)
    number = number_from(ring.domain, value)
    return _constant(ring, number)


def _constant(ring: Any, number: Any) -> Any:
    return element_of_terms(ring, [(ring.zero_monom, number)] if number else [])


def shown_element(element: Any, write: Callable[[Any], str] = str) -> str:
    """A polynomial for the eye: long ones, and numbers that Python does not print, in words."""
    if len(element) <= _SHOWN_TERMS:
        try:
            return write(element.as_expr())
        except ValueError:  # an integer of more than 4300 digits
            words = f"{len(element)} terms with very long coefficients"
    else:
        words = f"{len(element)} terms"
    return rf"\text{{({words})}}" if write is sympy.latex else f"({words})"


def _shown(value: Any) -> str:
    try:
        text = str(value)
    except (ValueError, RecursionError):
        text = "an expression that is too deep, or has too long numbers, to be shown"
    return text if len(text) <= 80 else f"{text[:77]}..."


# ------------------------------------------------------------------------ Poly and PolyElement


def _from_element(ring: Any, value: Any) -> Any:
    source = value.ring
    if source == ring:
        return value
    if source.symbols == ring.symbols and source.domain == ring.domain:
        return element_of_terms(ring, value.items())
    if source.domain.is_Composite:
        return _from_poly(
            ring, sympy.Poly.from_dict(dict(value), *source.symbols, domain=source.domain)
        )
    return _renumbered(ring, source.symbols, source.domain, value)


def _from_poly(ring: Any, value: sympy.Poly) -> Any:
    domain = value.domain
    if domain.is_Composite:
        if not domain.is_PolynomialRing:
            raise ValueError(f"coefficients in {domain} are not polynomial: {_shown(value)}")
        value = value.inject()
    return _renumbered(ring, value.gens, value.domain, value.rep.to_dict())


def _renumbered(
    ring: Any, symbols: tuple[Any, ...], domain: Any, terms: Mapping[tuple[int, ...], Any]
) -> Any:
    """Terms in other symbols, or in another order of them, over another domain."""
    positions = symbol_positions(ring.symbols)
    places = [positions.get(symbol) for symbol in symbols]
    same_places = places == list(range(ring.ngens))
    found: dict[tuple[int, ...], Any] = {}
    for monomial, number in terms.items():
        if not number:
            continue
        if not same_places:
            monomial = _moved(ring, monomial, symbols, places)
        converted = convert_number(ring.domain, number, domain)
        if converted:
            found[monomial] = converted
    return element_of_terms(ring, found.items())


def _moved(
    ring: Any,
    monomial: tuple[int, ...],
    symbols: tuple[Any, ...],
    places: list[int | None],
) -> tuple[int, ...]:
    exponents = [0] * ring.ngens
    for exponent, place, symbol in zip(monomial, places, symbols, strict=True):
        if not exponent:
            continue
        if place is None:
            raise _foreign(ring, symbol)
        exponents[place] += exponent
    return tuple(exponents)


def _foreign(ring: Any, symbol: Any) -> ValueError:
    alike = [s for s in ring.symbols if str(s) == str(symbol)]
    hint = (
        "; the ring's symbol of this name has other assumptions and is another symbol"
        if alike
        else ""
    )
    names = ", ".join(map(str, ring.symbols[:12])) or "no symbols"
    return ValueError(f"{_shown(symbol)} is not a variable of this ring ({names}){hint}")


# ----------------------------------------------------------------------------------- expressions


class _Walk:
    """Post-order over an expression; values of finished parts are on a stack."""

    def __init__(self, ring: Any) -> None:
        self._ring = ring
        self._positions = symbol_positions(ring.symbols)
        self._one = ring.domain.one
        self._values: list[Any] = []
        self._tasks: list[Any] = []

    def run(self, expression: sympy.Expr) -> Any:
        self._tasks.append(expression)
        while self._tasks:
            task = self._tasks.pop()
            if isinstance(task, sympy.Basic):
                self._open(task)
            else:
                task()
        return self._values.pop()

    def _open(self, node: Any) -> None:
        term = self._term(node)
        if term is not None:
            self._values.append(element_of_terms(self._ring, [term] if term[1] else []))
        elif node.is_Add:
            self._open_sum(node)
        elif node.is_Mul:
            count = len(node.args)
            self._tasks.append(lambda: self._multiply(count))
            self._tasks.extend(node.args)
        elif node.is_Pow and node.exp.is_Integer and node.exp >= 0:
            exponent = int(node.exp)
            self._tasks.append(lambda: self._raise(exponent))
            self._tasks.append(node.base)
        else:
            self._values.append(self._number(node))

    def _open_sum(self, node: Any) -> None:
        """Sums of many terms go into one dictionary: linear, where adding up would not be."""
        sums: dict[tuple[int, ...], Any] = {}
        others = []
        for part in node.args:
            term = self._term(part)
            if term is None:
                others.append(part)
            else:
                _add(sums, *term)
        self._tasks.append(lambda: self._add_up(sums, len(others)))
        self._tasks.extend(others)

    def _add_up(self, sums: dict[tuple[int, ...], Any], count: int) -> None:
        for _ in range(count):
            for monomial, number in self._values.pop().items():
                _add(sums, monomial, number)
        kept = ((m, c) for m, c in sums.items() if c)
        self._values.append(element_of_terms(self._ring, kept))

    def _multiply(self, count: int) -> None:
        product = self._values.pop()
        for _ in range(count - 1):
            factor = self._values.pop()
            _check_product(self._ring, product, factor)
            product = product * factor
        self._values.append(product)

    def _raise(self, exponent: int) -> None:
        base = self._values.pop()
        _check_power(self._ring, base, exponent)
        self._values.append(base**exponent if exponent else self._ring.one)

    def _term(self, node: Any) -> tuple[tuple[int, ...], Any] | None:
        """(exponents, coefficient) of a product of numbers and powers of symbols, else None."""
        exponents = [0] * self._ring.ngens
        number = self._one
        for factor in node.args if node.is_Mul else (node,):
            if factor.is_Rational:
                number = number * number_from(self._ring.domain, factor)
                continue
            base, exponent = factor, 1
            if factor.is_Pow and factor.exp.is_Integer and factor.exp >= 0:
                base, exponent = factor.base, int(factor.exp)
            if not base.is_Symbol:
                return None
            place = self._positions.get(base)
            if place is None:
                raise _foreign(self._ring, base)
            exponents[place] += exponent
            if exponents[place] > LARGEST_DEGREE:
                raise ValueError(f"the exponent {exponent} is larger than Macaulay2's 2^31 - 1")
        return tuple(exponents), number

    def _number(self, node: Any) -> Any:
        """A constant that is not rational, if the domain has it; everything else is refused."""
        if _has_symbols(node):
            raise ValueError(f"{_shown(node)} is not a polynomial")
        return _constant(self._ring, number_from(self._ring.domain, node))


def _add(sums: dict[tuple[int, ...], Any], monomial: tuple[int, ...], number: Any) -> None:
    old = sums.get(monomial)
    sums[monomial] = number if old is None else old + number


def _check_product(ring: Any, f: Any, g: Any) -> None:
    """Refuses what would fill the memory with terms."""
    if len(f) * len(g) * max(1, ring.ngens) <= _MOST_CELLS:
        return
    degrees = zip(f.degrees(), g.degrees(), strict=True)
    terms = min(len(f) * len(g), prod(a + b + 1 for a, b in degrees))
    if terms * ring.ngens > _MOST_CELLS:
        raise SizeLimitError(
            f"multiplying out a product may give {terms} terms, and {_MOST_CELLS // ring.ngens} "
            "is the limit; give it expanded, as a Poly or PolyElement"
        )


def _check_power(ring: Any, base: Any, exponent: int) -> None:
    """Refuses degrees that M2 does not have, and what would fill the memory."""
    if exponent < 2 or not base:
        return
    degree = max(map(sum, base)) * exponent
    if degree > LARGEST_DEGREE:
        raise ValueError(
            f"{_shown(base)} to the power {_shown(exponent)} has a degree beyond Macaulay2's "
            "2^31 - 1"
        )
    terms = comb(exponent + len(base) - 1, len(base) - 1) if len(base) < 10 else _MOST_CELLS
    terms = min(terms, prod(d * exponent + 1 for d in base.degrees()))
    bits = 0 if ring.domain.is_FiniteField else exponent * _height(ring.domain, base) * terms
    if terms * ring.ngens > _MOST_CELLS or bits > _MOST_BITS:
        raise SizeLimitError(
            f"a sum of {len(base)} terms to the power {_shown(exponent)} is too large to be "
            "multiplied out; give it expanded, as a Poly or PolyElement"
        )


def _height(domain: Any, base: Any) -> int:
    """How many bits each factor may add to a coefficient of a power."""
    if domain.is_AlgebraicField:
        numbers = [q for c in base.values() for q in c.to_list()]
    else:
        numbers = list(base.values())
    top = max(int(q.numerator).bit_length() for q in numbers)
    bottom = max(int(q.denominator).bit_length() for q in numbers)
    return max(0, top - 1 + bottom - 1) + (len(base) - 1).bit_length()


def _has_symbols(node: Any) -> bool:
    """Whether anything but numbers is inside; without recursion."""
    parts = [node]
    while parts:
        part = parts.pop()
        if part.is_Symbol or (isinstance(part, sympy.core.function.Application) and not part.args):
            return True
        parts.extend(part.args)
    return False
