"""Questions about single polynomials: factors, resultants, real roots."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import sympy
from sympy.polys.domains import QQ

from m2bridge.algebra.domains import LARGEST_FACTORING_CHARACTERISTIC
from m2bridge.errors import VerificationError

if TYPE_CHECKING:
    from m2bridge.algebra.ring import Ring

_log = logging.getLogger("m2bridge.algebra")

__all__ = ["Factorization", "check_factoring", "factorization", "real_roots", "resultant"]


@dataclass(frozen=True)
class Factorization:
    """A polynomial as a constant times powers of irreducible polynomials.

    Attributes:
        unit: the constant, as a sympy number; over ZZ it is not factored further.
        factors: pairs of an irreducible ``sympy.Poly`` and its exponent.
    """

    unit: Any
    factors: tuple[tuple[Any, int], ...]

    def as_expr(self) -> Any:
        """The product, not expanded."""
        return sympy.Mul(self.unit, *(f.as_expr() ** e for f, e in self.factors))

    def __iter__(self) -> Any:
        """As sympy's ``factor_list``: the unit, then the list of pairs."""
        return iter((self.unit, list(self.factors)))

    def _repr_latex_(self) -> str:
        return f"${sympy.latex(self.as_expr())}$"


def check_factoring(ring: Ring, what: str) -> None:
    """Refuses characteristics at which M2's factory library ends the process."""
    if (
        ring.domain.is_FiniteField
        and ring.domain.characteristic() > LARGEST_FACTORING_CHARACTERISTIC
    ):
        raise ValueError(
            f"{what} needs factorization, which Macaulay2 has over GF(p) only for p < 2^29, "
            f"not for p = {ring.domain.characteristic()}"
        )


def factorization(ring: Ring, element: Any) -> Factorization:
    """Irreducible factors with multiplicities, computed by M2; the product is checked here.

    Raises:
        ValueError: the zero polynomial; a characteristic of 2^29 or more.
        VerificationError: M2's factors do not multiply to the polynomial.
    """
    if not element:
        raise ValueError("the zero polynomial has no factorization")
    check_factoring(ring, "factor")
    domain = ring.domain
    if element.is_ground:
        return Factorization(domain.to_sympy(element.LC), ())
    reply = ring.macaulay2.ask("factor", ring, [], [element])
    pairs = [
        (factor, int(exponent))
        for factor, exponent in zip(reply.elements, reply.data, strict=True)
        if not factor.is_ground
    ]
    product = ring.poly_ring.one
    for factor, exponent in pairs:
        product = product * factor**exponent
    # lex on both sides: any one order finds the same monomial in equal polynomials
    lead = max(product)
    unit = domain.exquo(element.get(lead, domain.zero), product[lead]) if product else domain.zero
    if element != product * unit:
        raise VerificationError("the product of Macaulay2's factors is not the polynomial")
    ordered = sorted(pairs, key=lambda pair: (pair[1], len(pair[0]), sorted(pair[0], reverse=True)))
    return Factorization(domain.to_sympy(unit), tuple((ring.poly_of(f), e) for f, e in ordered))


def resultant(ring: Ring, f: Any, g: Any, position: int) -> Any:
    """The resultant with respect to the variable at this position.

    It is the determinant of Sylvester's matrix: lc(f)^n lc(g)^m times the product of all
    differences of a root of f and one of g, for degrees m and n; zero if f or g is. (sympy's
    ``resultant`` has the other sign where m < n are both odd.) The matrix is made here, since M2's
    own ``resultant`` wants two variables, and loses the root of an extended field (1.26).
    """
    from m2bridge.algebra.matrix import Matrix

    if not f or not g:
        return ring.poly_of(ring.poly_ring.zero)
    upper, lower = _coefficients(ring, f, position), _coefficients(ring, g, position)
    m, n = len(upper) - 1, len(lower) - 1
    zero = ring.poly_ring.zero
    rows = [[zero] * i + upper + [zero] * (n - 1 - i) for i in range(n)]
    rows += [[zero] * i + lower + [zero] * (m - 1 - i) for i in range(m)]
    return Matrix(ring, m + n, m + n, [e for row in rows for e in row]).determinant()


def _coefficients(ring: Ring, element: Any, position: int) -> list[Any]:
    """The coefficients of the powers of one variable, the highest first."""
    parts: dict[int, dict[tuple[int, ...], Any]] = {}
    for m, c in element.items():
        rest = (*m[:position], 0, *m[position + 1 :])
        parts.setdefault(m[position], {})[rest] = c
    return [ring.poly_ring.from_dict(parts.get(k, {})) for k in range(max(parts), -1, -1)]


def real_roots(ring: Ring, element: Any, precision: Any = None) -> list[tuple[Any, Any]]:
    """The real roots of a polynomial in one variable, each alone in a closed interval.

    Args:
        ring: over ZZ or QQ.
        element: not zero, in at most one of the ring's variables.
        precision: intervals are at most this wide (a positive rational; default 1/1000).

    Returns:
        (lower, upper) sympy Rationals, ascending and disjoint; a root that is an end of its
        interval gives lower == upper. Multiple roots count once.

    M2's package RealRoots isolates; where it is missing, or its answer is wrong, sympy's
    ``Poly.intervals`` does. Either way every interval is checked by a Sturm count, and so is their
    number: the answer is proved.

    Raises:
        ValueError: another ring, the zero polynomial, or several variables.
        VerificationError: the counts do not agree.
    """
    width = _checked_precision(precision)
    if not (ring.domain.is_ZZ or ring.domain.is_QQ):
        raise ValueError(f"real roots need coefficients in ZZ or QQ, not in {ring.domain}")
    if not element:
        raise ValueError("every number is a root of the zero polynomial")
    used = [i for i in range(ring.ngens) if any(m[i] for m in element)]
    if len(used) > 1:
        raise ValueError("real roots need a polynomial in one variable")
    if not used:
        return []
    symbol = ring.symbols[used[0]]
    terms = {(m[used[0]],): QQ.convert(c, ring.domain) for m, c in element.items()}
    # monic: M2 1.21 goes wrong where the leading coefficient is negative
    squarefree = sympy.Poly.from_dict(terms, symbol, domain=QQ).sqf_part().monic()
    line = type(ring)(ring.macaulay2, (symbol,), QQ)
    reply = line.macaulay2.ask(
        "realroots", line, [width.numerator, width.denominator], [line.element(squarefree)]
    )
    eps = sympy.Rational(width.numerator, width.denominator)
    if reply.data is not None:
        found = sorted(tuple(map(_rational, pair)) for pair in reply.data)
        try:
            return _checked([_closed(squarefree, *pair) for pair in found], squarefree, eps)
        except VerificationError as error:
            _log.warning(
                "the answer of Macaulay2's RealRoots was wrong (%s); sympy's is taken", error
            )
    return _checked([pair for pair, _ in squarefree.intervals(eps=eps)], squarefree, eps)


def _checked_precision(precision: Any) -> Fraction:
    if precision is None:
        return Fraction(1, 1000)
    if isinstance(precision, bool) or not isinstance(precision, int | Fraction | sympy.Rational):
        raise TypeError(f"precision is an int, a Fraction or a sympy Rational, not {precision!r}")
    width = Fraction(int(precision.numerator), int(precision.denominator))
    if width <= 0:
        raise ValueError(f"precision must be positive, not {precision}")
    return width


def _rational(value: Any) -> Any:
    return sympy.Rational(Fraction(value))


def _checked(intervals: list[tuple[Any, Any]], polynomial: Any, eps: Any) -> list[tuple[Any, Any]]:
    """The intervals, if there is exactly one root in each, and none elsewhere."""
    total = polynomial.count_roots()
    if len(intervals) != total:
        raise VerificationError(f"{len(intervals)} intervals, but {total} real roots")
    for i, (lower, upper) in enumerate(intervals):
        if not 0 <= upper - lower <= eps or polynomial.count_roots(lower, upper) != 1:
            raise VerificationError(f"[{lower}, {upper}] is too wide, or does not hold one root")
        if i and not intervals[i - 1][1] < lower:
            raise VerificationError(f"the intervals before and at {lower} meet")
    return intervals


def _closed(polynomial: Any, lower: Any, upper: Any) -> tuple[Any, Any]:
    """The root of (lower, upper] in a closed interval with no other root in it."""
    if lower == upper and polynomial.eval(lower) == 0:
        return lower, upper
    if not lower < upper:
        raise VerificationError(f"{lower} is not below {upper}")
    if polynomial.eval(upper) == 0:
        return upper, upper
    middle = (lower + upper) / 2
    while polynomial.eval(lower) == 0 or polynomial.eval(middle) == 0:
        if polynomial.eval(middle) == 0:
            return middle, middle
        # another root sits at the lower end; leave it
        if polynomial.count_roots(middle, upper) == 1:
            lower = middle
        else:
            upper = middle
        middle = (lower + upper) / 2
    return lower, upper
