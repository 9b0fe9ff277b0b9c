"""Polynomial rings: ordered symbols, a domain of coefficients, a monomial order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import sympy
from sympy.polys.domains import QQ
from sympy.polys.rings import PolyElement, PolyRing

from m2bridge.algebra.convert import element_from, symbol_positions
from m2bridge.algebra.domains import checked_domain, description
from m2bridge.algebra.factoring import Factorization, factorization, real_roots, resultant
from m2bridge.algebra.orders import MonomialOrder, monomial_order
from m2bridge.algebra.values import SessionValue
from m2bridge.errors import SizeLimitError

if TYPE_CHECKING:
    from m2bridge.algebra.ideal import Ideal
    from m2bridge.algebra.macaulay2 import Macaulay2
    from m2bridge.algebra.maps import RingMap
    from m2bridge.algebra.matrix import Matrix

__all__ = ["Ring"]

_LARGEST_POLY_EXPONENT = 10**6
_MOST_POLY_SYMBOLS = 500


class Ring(SessionValue):
    """A polynomial ring over ZZ, QQ, GF(p) or an extension of QQ by one algebraic number.

    Made by ``Macaulay2.ring``. An immutable value: rings with the same symbols, domain and order
    are equal, whichever session they belong to.

    Attributes:
        symbols: the sympy symbols, in order; identity is the symbol, not its name.
        domain: the sympy domain of coefficients.
        order: the monomial order.
        poly_ring: sympy's sparse ring of the same data.
        macaulay2: the session that computes.
    """

    def __init__(
        self, macaulay2: Macaulay2, symbols: Any, domain: Any = QQ, order: Any = "grevlex"
    ) -> None:
        self.macaulay2 = macaulay2
        self.symbols: tuple[sympy.Symbol, ...] = _checked_symbols(symbols)
        self.domain: Any = checked_domain(domain)
        self.order: MonomialOrder = monomial_order(order, len(self.symbols))
        self.poly_ring: Any = PolyRing(self.symbols, self.domain, self.order.sympy_order)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ring):
            return NotImplemented
        return self._value == other._value

    def __hash__(self) -> int:
        return hash(self._value)

    @property
    def _value(self) -> tuple[Any, ...]:
        return self.symbols, self.domain, self.order.blocks

    @property
    def shape(self) -> tuple[Any, ...]:
        """What M2 sees of this ring: coefficients, number of variables, order. No names."""
        kind, p, minimal = description(self.domain)
        blocks = [tuple(map(_hashable, block)) for block in self.order.m2_blocks]
        return kind, p, tuple(minimal), len(self.symbols), tuple(blocks)

    def __repr__(self) -> str:
        names = ", ".join(map(str, self.symbols))
        return f"Ring({self.domain}[{names}], {self.order})"

    def _repr_latex_(self) -> str:
        return f"${self.latex()}$"

    def latex(self) -> str:
        """LaTeX for this ring, without dollar signs."""
        names = ", ".join(map(sympy.latex, self.symbols))
        if self.domain.is_AlgebraicField:
            field = rf"\mathbb{{Q}}\left({sympy.latex(self.domain.ext.as_expr())}\right)"
        else:
            field = sympy.latex(self.domain)
        return f"{field}[{names}]" if names else field

    @property
    def ngens(self) -> int:
        """How many variables."""
        return len(self.symbols)

    @property
    def is_field(self) -> bool:
        """Whether the coefficients form a field (all but ZZ)."""
        return bool(self.domain.is_Field)

    @property
    def gens(self) -> list[Any]:
        """The variables as ``sympy.Poly``."""
        return [self.polynomial(symbol) for symbol in self.symbols]

    # --------------------------------------------------------------------------- conversion

    def element(self, value: Any) -> Any:
        """A polynomial of this ring as sympy's sparse ``PolyElement``.

        Args:
            value: a sympy Expr, Poly or PolyElement, or an exact number.

        Raises:
            ValueError, TypeError: it is no polynomial of this ring.
        """
        return element_from(self.poly_ring, value)

    def polynomial(self, value: Any) -> Any:
        """A polynomial of this ring as ``sympy.Poly`` in its symbols, in their order.

        sympy has no ``Poly`` without symbols; in a ring without variables this is a number.
        """
        return self.poly_of(self.element(value))

    def poly_of(self, element: Any) -> Any:
        """The ``sympy.Poly`` of a ``PolyElement`` of ``poly_ring``.

        Raises:
            SizeLimitError: sympy's dense and nested Poly would fill the memory with so large an
                exponent, or its recursion would not end with so many variables.
        """
        if not self.symbols:
            return self.domain.to_sympy(element.get((), self.domain.zero))
        if self.ngens > _MOST_POLY_SYMBOLS:
            raise SizeLimitError(
                f"sympy's Poly is nested, and fails with {self.ngens} symbols (limit "
                f"{_MOST_POLY_SYMBOLS}); take the sparse polynomials: .elements of the object"
            )
        largest = max(map(max, element), default=0)
        if largest > _LARGEST_POLY_EXPONENT:
            raise SizeLimitError(
                f"sympy's Poly is dense, and has no room for the exponent {largest} (limit "
                f"{_LARGEST_POLY_EXPONENT}); take the sparse polynomials: .elements of the object"
            )
        return sympy.Poly.from_dict(dict(element), *self.symbols, domain=self.domain)

    def elements(self, values: Iterable[Any]) -> list[Any]:
        """Several polynomials; an error says which of them is wrong."""
        found = []
        for i, value in enumerate(values):
            try:
                found.append(self.element(value))
            except (ValueError, TypeError) as error:
                raise type(error)(f"polynomial {i}: {error}") from error
        return found

    def position(self, symbol: Any) -> int:
        """Which variable this symbol is.

        Raises:
            ValueError: it is none of them.
        """
        if isinstance(symbol, sympy.Poly | PolyElement):
            symbol = symbol.as_expr()
        known = isinstance(symbol, sympy.Symbol)
        place = symbol_positions(self.symbols).get(symbol) if known else None
        if place is None:
            raise ValueError(f"{symbol!r} is not a variable of {self!r}")
        return place

    # --------------------------------------------------------------------------- objects

    def ideal(self, *generators: Any) -> Ideal:
        """The ideal of these polynomials: given one by one, as a sequence, or as an array.

        Raises:
            ValueError, TypeError: one of them is no polynomial of this ring; it says which.
        """
        from m2bridge.algebra.ideal import Ideal

        return Ideal(self, self.elements(_flat(generators)))

    def matrix(self, rows: Any) -> Matrix:
        """A matrix: nested sequences, a sympy matrix, a numpy array, or a flint matrix.

        Raises:
            ValueError, TypeError: it is not rectangular, or an entry is no polynomial of this ring.
        """
        from m2bridge.algebra.matrix import matrix_from

        return matrix_from(self, rows)

    def map(self, target: Ring, images: Sequence[Any]) -> RingMap:
        """The map to ``target`` that sends this ring's variables to these polynomials.

        Raises:
            ValueError, TypeError: as many polynomials of ``target`` as this ring has variables
                are needed, and the same coefficients on both sides.
        """
        from m2bridge.algebra.maps import RingMap

        return RingMap(self, target, target.elements(images))

    # --------------------------------------------------------------------------- polynomials

    def factor(self, polynomial: Any) -> Factorization:
        """The irreducible factors of a polynomial, with multiplicities; see Factorization.

        Raises:
            ValueError: the zero polynomial, or GF(p) with p of 2^29 or more.
            VerificationError: the product of M2's factors is not the polynomial.
        """
        return factorization(self, self.element(polynomial))

    def resultant(self, f: Any, g: Any, symbol: Any) -> Any:
        """The resultant of two polynomials with respect to one variable, as a Poly.

        It is Sylvester's determinant, lc(f)^n lc(g)^m times the product of all differences of a
        root of f and one of g, for degrees m and n; zero if f or g is. sympy's own ``resultant``
        has the other sign where m < n are both odd.

        Raises:
            ValueError: the symbol is no variable of this ring.
        """
        return resultant(self, self.element(f), self.element(g), self.position(symbol))

    def real_roots(self, polynomial: Any, precision: Any = None) -> list[tuple[Any, Any]]:
        """The real roots of a polynomial in one variable, each alone in a closed interval.

        Args:
            polynomial: not zero, over ZZ or QQ, in at most one of the ring's variables.
            precision: no interval is wider than this positive rational (by default 1/1000).

        Returns:
            Pairs (lower, upper) of sympy Rationals, ascending and disjoint; equal where the root
            is known exactly. Multiple roots count once. A Sturm count has checked each.

        Raises:
            ValueError, TypeError: another polynomial, ring or precision.
            VerificationError: the counts do not agree.
        """
        return real_roots(self, self.element(polynomial), precision)


_SINGLE = (str, bytes, sympy.Basic, PolyElement)


def _hashable(data: Any) -> Any:
    return tuple(data) if isinstance(data, list) else data


def _checked_symbols(symbols: Any) -> tuple[sympy.Symbol, ...]:
    if isinstance(symbols, str):
        symbols = sympy.symbols(symbols, seq=True) if symbols.strip(" ,") else ()
    elif isinstance(symbols, sympy.Symbol):
        symbols = (symbols,)
    if not hasattr(symbols, "__iter__"):
        raise TypeError(f"a ring's variables are a string or sympy Symbols, not {symbols!r}")
    found = tuple(symbols)
    for symbol in found:
        if not isinstance(symbol, sympy.Symbol):
            raise TypeError(
                f"a ring's variables are sympy Symbols, or names in one string, not {symbol!r}"
            )
        if not symbol.is_commutative:
            raise ValueError(f"{symbol} does not commute; Macaulay2's polynomial rings do")
    if len(set(found)) != len(found):
        repeated = next(s for s in found if found.count(s) > 1)
        raise ValueError(f"the variable {repeated} is given twice")
    return found


def _flat(generators: tuple[Any, ...]) -> list[Any]:
    """One level of sequences, arrays and matrices is opened; sets have no order and are refused."""
    found: list[Any] = []
    for generator in generators:
        if isinstance(generator, sympy.MatrixBase):
            found.extend(generator.flat())
        elif isinstance(generator, _SINGLE) or not hasattr(generator, "__iter__"):
            found.append(generator)
        elif isinstance(generator, set | frozenset | dict):
            raise TypeError("give generators in an order: as arguments, a list or a tuple")
        elif hasattr(generator, "ravel"):
            found.extend(
                generator.ravel().tolist() if generator.dtype.kind in "iu" else generator.ravel()
            )
        else:
            found.extend(generator)
    return found
