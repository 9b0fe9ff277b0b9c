"""Polynomials on the wire: sympy's sparse polynomials to segments of bytes, and back.

What crosses are numbers only: terms per polynomial, exponents, coefficients. M2's side of it is
``polynomialSegments`` and ``polynomialsFromSegments`` in M2Bridge.m2. Over QQ extended by a root
the root travels as one more variable, the last.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from sympy.polys.domains import QQ

from m2bridge.algebra.domains import coefficient_lines, numbers_from_text
from m2bridge.algebra.monomials import exponent_segments, monomials_from_text
from m2bridge.errors import WireError

__all__ = ["decode_polynomials", "element_of_terms", "encode_polynomials"]


def encode_polynomials(elements: Sequence[Any], ring: Any) -> list[bytes]:
    """The six segments of a list of ``PolyElement`` of one sympy ``PolyRing``.

    Raises:
        ValueError: a degree is larger than M2 holds.
    """
    size = ring.ngens
    if ring.domain.is_AlgebraicField:
        lists = [_flat_terms(element) for element in elements]
        counts = [len(terms) for terms in lists]
        monomials = [m for terms in lists for m, _ in terms]
        values = [c for terms in lists for _, c in terms]
        domain, size = QQ, size + 1
    else:
        counts = [len(element) for element in elements]
        monomials = list(chain.from_iterable(elements))
        values = list(chain.from_iterable(element.values() for element in elements))
        domain = ring.domain
    width_last = exponent_segments(monomials, size)
    return [
        ",".join(map(str, counts)).encode("ascii"),
        width_last[0],
        coefficient_lines(domain, values),
        *width_last[1:],
    ]


def _flat_terms(element: Any) -> list[tuple[tuple[int, ...], Any]]:
    """Terms over QQ, with the power of the root behind the exponents."""
    found = []
    for monomial, number in element.items():
        for power, rational in enumerate(reversed(number.to_list())):
            if rational:
                found.append(((*monomial, power), rational))
    return found


def decode_polynomials(segments: Sequence[bytes], ring: Any) -> list[Any]:
    """The polynomials that M2 sent as three segments, as ``PolyElement`` of this ``PolyRing``.

    Raises:
        WireError: the segments do not fit together.
    """
    counts = _counts(segments[0])
    total = sum(counts)
    extended = ring.domain.is_AlgebraicField
    values = numbers_from_text(QQ if extended else ring.domain, segments[1])
    if len(values) != total:
        raise WireError(f"{len(values)} coefficients came where {total} were due")
    monomials = monomials_from_text(segments[2], total, ring.ngens + extended)
    found, start = [], 0
    for count in counts:
        stop = start + count
        terms: Iterable[tuple[tuple[int, ...], Any]] = zip(
            monomials[start:stop], values[start:stop], strict=True
        )
        if extended:
            terms = _gathered(terms, ring.domain)
        found.append(element_of_terms(ring, terms))
        start = stop
    return found


def _counts(text: bytes) -> list[int]:
    try:
        return [int(count) for count in text.split(b",")] if text else []
    except ValueError:
        raise WireError(f"numbers of terms were due, and {text[:60]!r} came") from None


def _gathered(
    terms: Iterable[tuple[tuple[int, ...], Any]], domain: Any
) -> Iterable[tuple[tuple[int, ...], Any]]:
    """Terms over the extended field from terms over QQ with the root as last variable."""
    powers: dict[tuple[int, ...], dict[int, Any]] = {}
    for monomial, rational in terms:
        powers.setdefault(monomial[:-1], {})[monomial[-1]] = rational
    for monomial, by_power in powers.items():
        top = max(by_power)
        yield monomial, domain([by_power.get(i, QQ(0)) for i in range(top, -1, -1)])


def element_of_terms(ring: Any, terms: Iterable[tuple[tuple[int, ...], Any]]) -> Any:
    """A ``PolyElement`` from terms that are known to be different and not zero."""
    element = ring.zero.copy()  # sympy may hand out one and the same zero
    element.update(terms)
    return element
