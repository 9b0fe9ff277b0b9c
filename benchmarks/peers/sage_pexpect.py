"""Sage's interface, as passagemath-macaulay2 ships it: text through a pseudo-terminal."""

from __future__ import annotations

import os

import sage.all__sagemath_macaulay2
from common import (
    GENERATORS,
    TERMS,
    coefficient,
    exponents,
    m2_polynomial,
    once,
    serve,
)
from sage.interfaces.macaulay2 import Macaulay2
from sage.rings.polynomial.polynomial_ring_constructor import PolynomialRing
from sage.rings.rational_field import QQ

assert sage.all__sagemath_macaulay2
m2 = Macaulay2(
    command=os.environ["M2BRIDGE_BENCHMARK_M2"] + " --no-debug --no-readline --silent -q"
)


def from_m2(terms: int) -> float:
    m2.eval("R = QQ[x_1..x_6]")
    f = m2(m2_polynomial(terms))
    return once(lambda: f.sage())


def to_m2(terms: int) -> float:
    ring = PolynomialRing(QQ, 6, "x")
    f = ring({exponents(i): QQ(coefficient(i)) for i in range(terms)})
    m2(ring)
    return once(lambda: m2(f))


def many_from_m2() -> float:
    m2.eval("R = QQ[x_1..x_6]")
    gens = m2("ideal apply(500, k -> sum(20, i -> (i+k)*x_1^i*x_2^(k%7)*x_3^(k//7)))")
    return once(lambda: gens.sage())


serve(
    lambda: m2.eval("1"),
    m2.eval,
    [
        [(f"M2 -> Python, {n} terms", lambda n=n: from_m2(n)) for n in TERMS],
        [(f"Python -> M2, {n} terms", lambda n=n: to_m2(n)) for n in TERMS],
        [(f"M2 -> Python, {GENERATORS} generators", many_from_m2)],
    ],
)
