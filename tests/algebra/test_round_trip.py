"""Whatever goes to M2 and comes back is what went, over every domain, both ways."""

from __future__ import annotations

import sys
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from sympy import Poly, symbols
from sympy.polys.domains import GF, QQ, ZZ
from sympy.polys.rings import PolyRing

from m2bridge.algebra import Macaulay2
from tests.algebra.strategies import lists_of_elements

pytestmark = pytest.mark.m2
_FEW = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def _there_and_back(m2: Macaulay2, ring: PolyRing, elements: list[Any]) -> list[Any]:
    """M2 makes an ideal of the polynomials, and tells its generators."""
    outer = m2.ring(ring.symbols, domain=ring.domain)
    assert outer.poly_ring == ring
    ideal = outer.ideal(elements)
    return m2.ask("generators", outer, [ideal]).elements


@_FEW
@given(case=lists_of_elements())
def test_what_comes_back_is_what_went(m2: Macaulay2, case: tuple[PolyRing, list[Any]]) -> None:
    ring, elements = case
    assert _there_and_back(m2, ring, elements) == elements


@_FEW
@given(case=lists_of_elements())
def test_macaulay2_understood_the_sum(m2: Macaulay2, case: tuple[PolyRing, list[Any]]) -> None:
    """Both ways could be wrong in the same way; a sum that each side computes would tell."""
    ring, elements = case
    outer = m2.ring(ring.symbols, domain=ring.domain)
    total = sum(elements, ring.zero)
    ideal = outer.ideal([total, *elements])
    # M2 subtracts, and finds nothing
    assert m2.ask("sumcheck", outer, [ideal]).elements == [ring.zero]


@pytest.mark.parametrize("domain", [ZZ, QQ, GF(2), GF(32003), GF(2**31 - 1)])
def test_coefficients_of_ten_thousand_digits(m2: Macaulay2, domain: Any) -> None:
    limit = sys.get_int_max_str_digits()
    ring = PolyRing(symbols("x y"), domain, "grevlex")
    long = 7**12000
    values = [domain(long), domain(-long + 1), domain(10**10000), domain(-(10**10000) - 1)]
    if domain.is_QQ:
        values += [QQ(long, 3**20000), QQ(-1, 10**10001), QQ(5)]
    elements = [ring.from_dict({(i, 1): c for i, c in enumerate(values) if c})]
    assert _there_and_back(m2, ring, elements) == elements
    assert sys.get_int_max_str_digits() == limit


def test_more_than_256_variables(m2: Macaulay2) -> None:
    ring = PolyRing(symbols("x:400"), QQ, "grevlex")
    everything = {(1,) * 400: QQ(1, 2), (0,) * 399 + (70000,): QQ(-3), (0,) * 400: QQ(5)}
    elements = [ring.from_dict(everything), ring.zero, ring.gens[399], ring.gens[52]]
    assert _there_and_back(m2, ring, elements) == elements


@pytest.mark.parametrize("terms", [20_000, 100_000])
def test_many_terms(m2: Macaulay2, terms: int) -> None:
    ring = PolyRing(symbols("x:6"), QQ, "grevlex")
    data = {
        (i % 11, i // 11 % 11, i // 121 % 11, i // 1331 % 11, i // 14641, 1): QQ(i + 1, 7)
        for i in range(terms)
    }
    elements = [ring.from_dict(data)]
    assert _there_and_back(m2, ring, elements) == elements


def test_many_polynomials(m2: Macaulay2) -> None:
    ring = PolyRing(symbols("x:6"), ZZ, "grevlex")
    elements = [ring.from_dict({(i % 7, 0, 1, 0, 0, i % 5): ZZ(i + 1)}) for i in range(10_000)]
    assert _there_and_back(m2, ring, elements) == elements


def test_time_is_linear(m2: Macaulay2) -> None:
    """Ten times the terms take far less than a hundred times the time."""

    def seconds(terms: int) -> float:
        ring = PolyRing(symbols("x:4"), QQ, "grevlex")
        data = {(i % 40, i // 40 % 40, i // 1600, 2): QQ(i + 1, 3) for i in range(terms)}
        best = []
        for _ in range(3):
            begun = time.perf_counter()
            _there_and_back(m2, ring, [ring.from_dict(data)])
            best.append(time.perf_counter() - begun)
        return min(best)

    assert seconds(40_000) < 40 * seconds(4_000)


def test_generators_are_polys_of_the_ring(m2: Macaulay2) -> None:
    x, y = symbols("x y")
    ring = m2.ring([y, x])
    (generator,) = ring.ideal(x + 2 * y).generators
    assert generator == Poly(x + 2 * y, y, x, domain=QQ)
    assert generator.gens == (y, x)
