"""Factors, resultants and real roots, against sympy."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
import sympy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sympy import GF, QQ, ZZ, Poly, Rational, sqrt, symbols

from m2bridge.algebra import Macaulay2

pytestmark = pytest.mark.m2
_SOME = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
x, y = symbols("x y")
SMALL = st.lists(
    st.dictionaries(
        st.tuples(st.integers(0, 2), st.integers(0, 2)), st.integers(-3, 3), min_size=1, max_size=3
    ),
    min_size=1,
    max_size=3,
)


def expression(terms: dict[tuple[int, int], int]) -> Any:
    return sympy.Add(*(c * x**i * y**j for (i, j), c in terms.items()))


def monic(factors: Any) -> set[Any]:
    return {(f.monic(), e) for f, e in factors}


@pytest.mark.parametrize("domain", [QQ, GF(5), GF(32003)])
@_SOME
@given(parts=SMALL)
def test_factors_are_sympys(m2: Macaulay2, domain: Any, parts: Any) -> None:
    """Over GF(p) in one variable: sympy factors no others there."""
    product = sympy.prod(map(expression, parts))
    gens = (x, y) if domain.is_QQ else (x,)
    f = Poly(product if domain.is_QQ else product.subs(y, 2), *gens, domain=domain)
    ring = m2.ring(gens, domain=domain)
    if f.is_zero:
        with pytest.raises(ValueError, match="zero"):
            ring.factor(f)
        return
    unit, factors = ring.factor(f)
    assert monic(factors) == monic(f.factor_list()[1])
    together = sympy.prod((g**e for g, e in factors), start=Poly(1, *gens, domain=domain))
    assert together * domain.from_sympy(unit) == f


@_SOME
@given(parts=SMALL)
def test_factors_over_the_integers(m2: Macaulay2, parts: Any) -> None:
    f = sympy.expand(6 * sympy.prod(map(expression, parts)))
    if f == 0:
        return
    found = m2.ring([x, y], domain=ZZ).factor(f)
    assert sympy.expand(found.as_expr() - f) == 0
    assert len(found.factors) == len(sympy.factor_list(f)[1])


def test_factors_over_an_extended_field(m2: Macaulay2) -> None:
    ring = m2.ring([x, y], domain=QQ.algebraic_field(sqrt(2)))
    unit, factors = ring.factor(3 * (x**2 - 2 * y**2) * (x + sqrt(2) * y) * (x**2 + y))
    assert unit == 3
    expected = {x - sqrt(2) * y: 1, x + sqrt(2) * y: 2, x**2 + y: 1}
    assert {f.monic().as_expr(): e for f, e in factors} == expected
    assert ring.factor(sqrt(2)).unit == sqrt(2)


@_SOME
@given(f=SMALL, g=SMALL)
def test_resultants_are_sympys(m2: Macaulay2, f: Any, g: Any) -> None:
    p, q = expression(f[0]) + x**3, expression(g[0]) + 2 * x**3 * y
    theirs = sympy.resultant(p, q, x)
    assert sympy.expand(m2.ring([x, y]).resultant(p, q, x).as_expr() - theirs) == 0


@_SOME
@given(
    roots=st.lists(st.fractions(-3, 3, max_denominator=4), max_size=4),
    others=st.lists(st.integers(-4, 4), min_size=1, max_size=5),
)
def test_real_roots(m2: Macaulay2, roots: list[Fraction], others: list[int]) -> None:
    f = sympy.prod((x - Rational(r)) ** 2 for r in roots) * sum(
        c * x**i for i, c in enumerate(others)
    )
    ring = m2.ring([x, y])
    if sympy.expand(f) == 0:
        return
    found = ring.real_roots(f, Rational(1, 50))
    exact = sorted(set(Poly(f, x).real_roots())) if sympy.expand(f).has(x) else []
    assert len(found) == len(exact)
    for (lower, upper), root in zip(found, exact, strict=True):
        assert lower <= root <= upper
        assert upper - lower <= Rational(1, 50)


def test_real_roots_refuse(m2: Macaulay2) -> None:
    ring = m2.ring([x, y])
    assert ring.real_roots(x**2 + 1) == []
    assert ring.real_roots(7) == []
    assert ring.real_roots(3 * y) == [(0, 0)]
    for wrong in (x * y, 0):
        with pytest.raises(ValueError):
            ring.real_roots(wrong)
    with pytest.raises(TypeError):
        ring.real_roots(x, 0.1)
    with pytest.raises(ValueError):
        ring.real_roots(x, 0)
    with pytest.raises(ValueError):
        m2.ring([x], domain=GF(5)).real_roots(x)


def sylvester(f: Any, g: Any) -> Any:
    """The determinant of Sylvester's matrix, by sympy; f and g are not zero."""
    a, b = Poly(f, x).all_coeffs(), Poly(g, x).all_coeffs()
    m, n = len(a) - 1, len(b) - 1
    rows = [[0] * i + a + [0] * (n - 1 - i) for i in range(n)]
    rows += [[0] * i + b + [0] * (m - 1 - i) for i in range(m)]
    return sympy.Matrix(rows).det(method="berkowitz") if rows else sympy.Integer(1)


@pytest.mark.parametrize(
    "domain", [ZZ, QQ, GF(5), GF(2**31 - 1), QQ.algebraic_field(sqrt(2)), sympy.QQ_I]
)
@pytest.mark.parametrize("gens", [(x,), (x, y)])
def test_resultants_over_every_domain(m2: Macaulay2, domain: Any, gens: Any) -> None:
    ring = m2.ring(gens, domain=domain)
    root = {"QQ<sqrt(2)>": sqrt(2), "QQ<I>": sympy.I}.get(str(ring.domain), 2)
    other = y if len(gens) > 1 else 3
    polynomials = [1, 7, x, x - root, 3 * x + 1, root * x * other, x**3 + other * x - root]
    for f in polynomials:
        for g in polynomials:
            assert ring.resultant(f, g, x) == ring.polynomial(sympy.expand(sylvester(f, g)))
    for f in [0, *polynomials]:
        assert not ring.resultant(0, f, x)
        assert not ring.resultant(f, 0, x)


def test_resultants_have_their_sign(m2: Macaulay2) -> None:
    """Of f = x - 2 and g it is g(2); exchanged, the sign is that of the degrees' product."""
    ring = m2.ring([x])
    assert ring.resultant(x - 2, x**3, x) == ring.polynomial(8)
    assert ring.resultant(x**3, x - 2, x) == ring.polynomial(-8)
    assert ring.resultant(x - 2, x**2 + 5, x) == ring.resultant(x**2 + 5, x - 2, x)


def test_exact_roots_are_no_wrong_answers(m2: Macaulay2, caplog: pytest.LogCaptureFixture) -> None:
    assert m2.ring([x]).real_roots(-(x**3)) == [(0, 0)]
    assert caplog.text == ""
