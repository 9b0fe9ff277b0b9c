"""Random rings and polynomials for hypothesis."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from sympy import Symbol, sqrt
from sympy.polys.domains import GF, QQ, ZZ
from sympy.polys.rings import PolyRing

DOMAINS: list[Any] = [
    ZZ,
    QQ,
    GF(2),
    GF(7),
    GF(32003),
    GF(2**31 - 1),
    QQ.algebraic_field(sqrt(2)),
    QQ.algebraic_field(sqrt(2), sqrt(3)),
]
# names that mean something to M2 or to Python, or are hard to write
NAMES = ["x", "x_1", "QQ", "ideal", "i1", "lambda", "α", "x'", "a b", "line\nbreak", "1/0", "oo"]


def symbols(count: int) -> tuple[Symbol, ...]:
    """Symbols that look dangerous; every second one prints like the one before it."""
    found = []
    for i in range(count):
        name = NAMES[(i // 2) % len(NAMES)] + ("" if i < 2 * len(NAMES) else str(i))
        found.append(Symbol(name, positive=True) if i % 2 else Symbol(name))
    return tuple(found)


def numbers(domain: Any) -> st.SearchStrategy[Any]:
    """Elements of a domain, small and large."""
    integers = st.one_of(st.integers(-9, 9), st.integers(-(10**700), 10**700))
    if domain.is_ZZ or domain.is_FiniteField:
        return integers.map(lambda n: domain(int(n)))
    rationals = st.tuples(integers, st.one_of(st.integers(1, 9), st.integers(1, 10**700)))
    if domain.is_QQ:
        return rationals.map(lambda pair: domain(*pair))
    degree = domain.mod.degree()
    parts = st.lists(rationals.map(lambda pair: QQ(*pair)), min_size=degree, max_size=degree)
    return parts.map(lambda values: domain(values))


@st.composite
def rings(draw: Any, most: int = 60) -> PolyRing:
    """Rings with no, few, and more than 52 variables."""
    size = draw(st.one_of(st.integers(0, 4), st.integers(5, most)))
    return PolyRing(symbols(size), draw(st.sampled_from(DOMAINS)), "grevlex")


@st.composite
def elements(draw: Any, ring: PolyRing) -> Any:
    """A sparse polynomial; exponents are small, or too large for a byte."""
    exponent = st.one_of(st.just(0), st.integers(0, 3), st.integers(0, 300_000))
    # where a byte ends, and where M2 ends (a root of degree 4 is one more variable)
    edges = st.tuples(st.integers(0, 99), st.sampled_from([1, 255, 256, 65536, 2**31 - 4]))
    monomial = st.one_of(
        st.just((0,) * ring.ngens),
        st.lists(exponent, min_size=ring.ngens, max_size=ring.ngens).map(tuple),
        edges.map(
            lambda pair: tuple(
                pair[1] if i == pair[0] % ring.ngens else 0 for i in range(ring.ngens)
            )
        ),
    )
    terms = draw(st.dictionaries(monomial, numbers(ring.domain), max_size=5))
    return ring.from_dict({m: c for m, c in terms.items() if c})


@st.composite
def lists_of_elements(draw: Any) -> tuple[PolyRing, list[Any]]:
    """A ring and some of its polynomials."""
    ring = draw(rings())
    return ring, draw(st.lists(elements(ring), max_size=4))
