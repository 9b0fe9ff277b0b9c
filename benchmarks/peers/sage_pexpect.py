"""Sage's interface, as passagemath-macaulay2 ships it: text through a pseudo-terminal."""

from __future__ import annotations

import os
import signal

import sage.all__sagemath_macaulay2
from common import (
    GENERATORS,
    TERMS,
    coefficient,
    exponents,
    m2_polynomial,
    serve,
    timed,
)
from sage.interfaces.macaulay2 import Macaulay2
from sage.rings.polynomial.polynomial_ring_constructor import PolynomialRing
from sage.rings.rational_field import QQ

assert sage.all__sagemath_macaulay2


def new() -> Macaulay2:
    path = os.environ["M2BRIDGE_BENCHMARK_M2"]
    return Macaulay2(command=f"{path} --no-debug --no-readline --silent -q")


def restart() -> None:
    """Who was interrupted may hear the answer to an earlier question next."""
    global m2
    os.kill(m2.pid(), signal.SIGKILL)
    m2 = new()
    m2.eval("1")


def from_m2(terms: int) -> float:
    m2.eval("R = QQ[x_1..x_6]")
    f = m2(m2_polynomial(terms))
    return timed(lambda: f.sage())


def to_m2(terms: int) -> float:
    ring = PolynomialRing(QQ, 6, "x")
    f = ring({exponents(i): QQ(coefficient(i)) for i in range(terms)})
    m2(ring)
    return timed(lambda: m2(f))


def many_from_m2() -> float:
    m2.eval("R = QQ[x_1..x_6]")
    gens = m2("ideal apply(500, k -> sum(20, i -> (i+k)*x_1^i*x_2^(k%7)*x_3^(k//7)))")
    return timed(lambda: gens.sage())


m2 = new()
serve(
    lambda: m2.eval("1"),
    lambda code: m2.eval(code),
    [
        [(f"M2 -> Python, {n} terms", lambda n=n: from_m2(n)) for n in TERMS],
        [(f"Python -> M2, {n} terms", lambda n=n: to_m2(n)) for n in TERMS],
        [(f"M2 -> Python, {GENERATORS} generators", many_from_m2)],
    ],
    restart,
)
