"""Lists of generators that are expanded when they are looked at.

An irreducible module may have thousands of basis polynomials and one short description. Counting
them must not cost anything; seeing them costs once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import lcm
from typing import Any, overload

import sympy

from m2bridge.errors import SizeLimitError
from m2bridge.geometry.weights.expand import irreducible_basis, polynomial_of_codes
from m2bridge.geometry.weights.highest import Shape
from m2bridge.geometry.weights.ideal import WeightIdeal
from m2bridge.geometry.weights.maps import EquivariantMap, IntegerPolynomial
from m2bridge.geometry.weights.space import monomials

__all__ = [
    "Generators",
    "HighestSource",
    "ModuleSource",
    "module_sources",
    "script_lists",
    "sparse_from_poly",
    "sparse_lists",
    "texts",
    "to_poly",
]


MAX_SYMPY_VARIABLES = 800
"""sympy nests dense polynomials once for each variable, and Python's stack ends near 1000."""


def to_poly(polynomial: IntegerPolynomial, symbols: Sequence[sympy.Symbol]) -> sympy.Poly:
    """A sparse polynomial (sorted coordinate positions -> coefficient) as a sympy Poly over ZZ.

    Raises:
        SizeLimitError: there are more variables than sympy can nest.
    """
    if len(symbols) > MAX_SYMPY_VARIABLES:
        raise SizeLimitError(
            f"sympy cannot hold polynomials in {len(symbols)} variables (limit "
            f"{MAX_SYMPY_VARIABLES}); use the sparse form: sparse_generators()"
        )
    terms: dict[tuple[int, ...], int] = {}
    for monomial, c in polynomial.items():
        exponents = [0] * len(symbols)
        for position in monomial:
            exponents[position] += 1
        terms[tuple(exponents)] = c
    return sympy.Poly.from_dict(terms, *symbols, domain=sympy.ZZ)


def sparse_from_poly(
    polynomial: sympy.Poly | sympy.Expr, symbols: Sequence[sympy.Symbol]
) -> IntegerPolynomial:
    """A rational polynomial in the coordinates as a sparse integer one, denominators cleared.

    Raises:
        ValueError: it has other variables, or its coefficients are not rational.
        TypeError: it is no polynomial.
    """
    if not isinstance(polynomial, (sympy.Poly, sympy.Expr)):
        raise TypeError(f"expected a sympy polynomial, got {type(polynomial).__name__}")
    of_the_ring = isinstance(polynomial, sympy.Poly) and polynomial.gens == tuple(symbols)
    if of_the_ring and polynomial.domain in (sympy.ZZ, sympy.QQ):
        return _cleared(polynomial)
    expression = polynomial.as_expr()
    strangers = expression.free_symbols - set(symbols)
    if strangers:
        names = ", ".join(sorted(map(str, strangers)))
        raise ValueError(f"these are not coordinates of the layer: {names}")
    try:
        poly = sympy.Poly(expression, *symbols, domain=sympy.QQ)
    except sympy.CoercionFailed as exc:
        raise ValueError(f"the coefficients are not rational numbers: {expression}") from exc
    return _cleared(poly)


def _cleared(poly: sympy.Poly) -> IntegerPolynomial:
    """The sparse form of a polynomial over ZZ or QQ, denominators cleared."""
    # Straight from the terms: sympy's conversions rebuild the nested lists, variable by variable.
    terms = [(exponents, sympy.Rational(c)) for exponents, c in poly.terms() if c]
    factor = lcm(*(int(c.q) for _, c in terms))
    return {
        tuple(i for i, e in enumerate(exponents) for _ in range(e)): int(c * factor)
        for exponents, c in terms
    }


def _sparse(
    polynomials: Sequence[sympy.Poly], symbols: Sequence[sympy.Symbol]
) -> Iterator[IntegerPolynomial]:
    """Sparse forms; expanding thousands of generators as sympy objects would take minutes."""
    if isinstance(polynomials, Generators):
        yield from polynomials.sparse()
        return
    for polynomial in polynomials:
        yield sparse_from_poly(polynomial, symbols)


def texts(polynomials: Sequence[sympy.Poly], symbols: Sequence[sympy.Symbol]) -> list[str]:
    """Polynomials in sympy's syntax, in the names of the symbols; terms in the order of these."""
    names = [str(symbol) for symbol in symbols]
    return [_text(f, names) for f in _sparse(polynomials, symbols)]


def _text(polynomial: IntegerPolynomial, names: Sequence[str]) -> str:
    parts: list[str] = []
    for monomial, c in sorted(polynomial.items()):
        powers = [
            names[i] if n == 1 else f"{names[i]}**{n}" for i, n in sorted(Counter(monomial).items())
        ]
        if abs(c) != 1 or not powers:
            powers.insert(0, str(abs(c)))
        sign = ("- " if c < 0 else "+ ") if parts else ("-" if c < 0 else "")
        parts.append(sign + "*".join(powers))
    return " ".join(parts) or "0"


def script_lists(
    polynomials: Sequence[sympy.Poly], symbols: Sequence[sympy.Symbol]
) -> list[list[list[Any]]]:
    """Polynomials as an M2 script wants them, cleared of denominators; see ``sparse_lists``."""
    return sparse_lists(_sparse(polynomials, symbols))


def sparse_lists(polynomials: Iterable[IntegerPolynomial]) -> list[list[list[Any]]]:
    """Sparse polynomials for an M2 script: terms ``[coefficient, [[variable, exponent], ...]]``."""
    return [
        [
            [int(c), [[i, n] for i, n in sorted(Counter(monomial).items())]]
            for monomial, c in sorted(f.items())
        ]
        for f in polynomials
    ]


@dataclass(frozen=True)
class ModuleSource:
    """One irreducible module of generators: its highest-weight vector, and how many there are."""

    map: EquivariantMap
    degree: int
    shape: Shape
    top: IntegerPolynomial
    count: int

    def expand(self) -> list[IntegerPolynomial]:
        """A basis, in sorted coordinate positions."""
        index = self.map.index_of_code
        basis = irreducible_basis(self.map.degrees, self.map.dims, self.shape, dict(self.top))
        return [{tuple(index[code] for code in key): c for key, c in f.items()} for f in basis]


@dataclass(frozen=True)
class HighestSource:
    """Of a module only its highest-weight vector."""

    module: ModuleSource
    count: int = 1

    @property
    def degree(self) -> int:
        """The degree of the polynomial."""
        return self.module.degree

    def expand(self) -> list[IntegerPolynomial]:
        """The highest-weight vector, in sorted coordinate positions."""
        index = self.module.map.index_of_code
        return [{tuple(index[code] for code in key): c for key, c in self.module.top.items()}]


def module_sources(ideal: WeightIdeal, degree: int) -> list[ModuleSource]:
    """The modules of minimal generators of one degree, in the order of their weights."""
    out = []
    for block in ideal.parts[degree].new_blocks:
        rows = monomials(ideal.map.degrees, block.shape)
        for column in block.new.T:
            top = polynomial_of_codes(rows, column)
            count = ideal.irreducible_dimension(block.shape)
            out.append(ModuleSource(ideal.map, degree, block.shape, top, count))
    return out


class Generators(Sequence[sympy.Poly]):
    """A sequence of sympy polynomials in the coordinates, expanded on demand.

    It behaves like a tuple of ``sympy.Poly`` over ZZ; ``len`` is free.
    """

    def __init__(
        self, symbols: Sequence[sympy.Symbol], sources: Sequence[ModuleSource | HighestSource]
    ) -> None:
        self._symbols = tuple(symbols)
        self._sources = tuple(sources)
        self._sparse: list[list[IntegerPolynomial] | None] = [None] * len(self._sources)
        self._polys: dict[int, sympy.Poly] = {}

    def __len__(self) -> int:
        return sum(source.count for source in self._sources)

    @overload
    def __getitem__(self, index: int) -> sympy.Poly: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[sympy.Poly, ...]: ...

    def __getitem__(self, index: int | slice) -> sympy.Poly | tuple[sympy.Poly, ...]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        size = len(self)
        i = index + size if index < 0 else index
        if not 0 <= i < size:
            raise IndexError(f"there are {size} generators, no number {index}")
        if i not in self._polys:
            self._polys[i] = to_poly(self._sparse_at(i), self._symbols)
        return self._polys[i]

    def _sparse_at(self, i: int) -> IntegerPolynomial:
        for number, source in enumerate(self._sources):
            if i < source.count:
                return self._expanded(number)[i]
            i -= source.count
        raise IndexError(i)

    def _expanded(self, number: int) -> list[IntegerPolynomial]:
        known = self._sparse[number]
        if known is None:
            known = self._sparse[number] = self._sources[number].expand()
        return known

    def sparse(self) -> Iterator[IntegerPolynomial]:
        """The same polynomials as sorted coordinate positions -> coefficient, much faster."""
        for number in range(len(self._sources)):
            yield from self._expanded(number)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        counts: Mapping[int, int] = self.by_degree()
        inner = ", ".join(f"{n} of degree {k}" for k, n in counts.items())
        return f"<Generators: {inner or 'none'}>"

    def by_degree(self) -> dict[int, int]:
        """Degree -> how many."""
        out: dict[int, int] = {}
        for source in self._sources:
            out[source.degree] = out.get(source.degree, 0) + source.count
        return out
