"""Ideals, against sympy where sympy can, and against known geometry where it cannot."""

from __future__ import annotations

from typing import Any

import pytest
import sympy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sympy import GF, QQ, ZZ, Poly, Rational, Symbol, groebner, sqrt, symbols

from m2bridge.algebra import Macaulay2, Ring

pytestmark = pytest.mark.m2
_SOME = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
x, y, z, w = symbols("x y z w")
GRID = [(i, j) for i in range(4) for j in range(4)]


def same(ideal: Any, *generators: Any) -> bool:
    return bool(ideal == ideal.ring.ideal(*generators))


def twisted_cubic(m2: Macaulay2) -> Any:
    return m2.ring([x, y, z, w]).ideal(x * z - y**2, y * w - z**2, x * w - y * z)


# ------------------------------------------------------------------------------- Groebner bases


@pytest.mark.parametrize("order", ["lex", "grlex", "grevlex"])
@pytest.mark.parametrize("domain", [QQ, GF(32003)])
@_SOME
@given(
    data=st.lists(
        st.dictionaries(st.sampled_from(GRID), st.integers(-5, 5), min_size=1, max_size=4),
        min_size=1,
        max_size=3,
    )
)
def test_groebner_bases_are_sympys(m2: Macaulay2, order: str, domain: Any, data: Any) -> None:
    ring = m2.ring([x, y], domain=domain, order=order)
    elements = [ring.poly_ring.from_dict({m: domain(c) for m, c in d.items() if c}) for d in data]
    elements = [e for e in elements if e]
    ours = ring.ideal(elements).groebner_basis()
    if not elements:
        assert ours == []
        return
    theirs = groebner([e.as_expr() for e in elements], x, y, domain=domain, order=order)
    assert ours == list(theirs.polys)


def test_an_order_of_blocks_eliminates(m2: Macaulay2) -> None:
    ring = m2.ring([x, y, z], order=("elimination", 1))
    basis = ring.ideal(x - y**2, x**2 - z).groebner_basis()
    assert Poly(y**4 - z, x, y, z, domain=QQ) in basis
    many = m2.ring("x:600")
    first, second = many.symbols[:2]
    assert many.ideal(first - second, first).groebner_elements() == [
        many.element(first),
        many.element(second),
    ]


def test_groebner_basis_over_the_integers(m2: Macaulay2) -> None:
    ring = m2.ring([x, y], domain=ZZ)
    ideal = ring.ideal(2 * x, 3 * y)
    assert x * y in ideal
    assert x not in ideal
    assert ideal.reduce(3 * x) == Poly(x, x, y)


@_SOME
@given(
    f=st.dictionaries(st.sampled_from(GRID), st.fractions(max_denominator=9), max_size=5),
    g=st.dictionaries(st.sampled_from(GRID), st.integers(-9, 9), max_size=3),
)
def test_normal_forms_are_sympys(m2: Macaulay2, f: Any, g: Any) -> None:
    ring = m2.ring([x, y])
    ideal = ring.ideal(x**2 * y - 1, x * y**2 - x + 3)
    expression = sympy.Add(*(Rational(c) * x**i * y**j for (i, j), c in f.items()))
    theirs = groebner(
        [g.as_expr() for g in ideal.generators], x, y, domain=QQ, order="grevlex"
    ).reduce(expression)[1]
    assert ideal.reduce(expression).as_expr() == theirs
    # f is in the ideal just when its normal form is zero; multiples of generators are
    multiple = sum(c * x**i * y**j for (i, j), c in g.items()) * (x**2 * y - 1)
    found = ideal.membership(expression + multiple)
    assert found.member == (theirs == 0)
    assert found.remainder.as_expr() == theirs
    products = [c * h for c, h in zip(found.cofactors, ideal.generators, strict=True)]
    total = sum(products, found.remainder)
    assert total == ring.polynomial(expression + multiple)


def test_membership_says_no(m2: Macaulay2) -> None:
    ideal = twisted_cubic(m2)
    assert not ideal.membership(x)
    assert bool(ideal.membership(x * (x * z - y**2)))
    assert x not in ideal
    zero = ideal.ring.ideal(0, 0)
    assert zero.membership(0).member
    assert not zero.membership(x).member
    assert len(zero.membership(x).cofactors) == 2


# ------------------------------------------------------------------------------- invariants


def test_the_twisted_cubic(m2: Macaulay2) -> None:
    curve = twisted_cubic(m2)
    t, n = symbols("t n")
    assert (curve.dimension, curve.codimension, curve.degree) == (2, 2, 3)
    assert curve.hilbert_polynomial(n) == 3 * n + 1
    assert sympy.simplify(curve.hilbert_series(t) - (1 + 2 * t) / (1 - t) ** 2) == 0
    assert [curve.hilbert_function(k) for k in range(4)] == [1, 4, 7, 10]
    table = curve.betti_table()
    assert table.numbers == {(0, 0): 1, (1, 2): 3, (2, 3): 2}
    assert (table.totals, table.length, table.regularity) == ([1, 3, 2], 2, 1)
    assert str(table).split("\n")[1].split() == ["total:", "1", "3", "2"]
    assert curve.is_prime()
    assert len(curve.minimal_generators()) == 3
    resolution = curve.resolution()
    assert resolution.ranks == (1, 3, 2)
    first, second = resolution.maps
    assert not any((first * second).elements)
    assert curve.syzygies().shape == (3, 2)
    assert not any((first.ring.matrix([curve.generators]) * curve.syzygies()).elements)
    # smooth away from the vertex of its cone
    assert curve.singular_locus().radical() == curve.ring.ideal(x, y, z, w)


def test_degree_does_not_depend_on_the_order(m2: Macaulay2) -> None:
    """M2 takes degrees from leading terms; in lex order those are y, of degree 1."""
    for names in ([x, y], [y, x]):
        for order in ("lex", "grevlex", ("weights", [5, 1])):
            assert m2.ring(names, order=order).ideal(y - x**2).degree == 2


def test_hilbert_functions_count_standard_monomials(m2: Macaulay2) -> None:
    ideal = m2.ring([x, y], order="lex").ideal(x**2 - y, y**2 - 1)
    # 1, x, y, xy
    assert [ideal.hilbert_function(k) for k in range(4)] == [1, 2, 1, 0]
    assert (ideal.dimension, ideal.degree, ideal.hilbert_polynomial()) == (0, 4, 0)


def test_zero_and_unit_ideals(m2: Macaulay2) -> None:
    ring = m2.ring([x, y])
    t, n = symbols("t n")
    for zero in (ring.ideal(0), ring.ideal(), ring.ideal([0, x - x])):
        assert (zero.dimension, zero.codimension, zero.degree) == (2, 0, 1)
        assert zero.hilbert_series(t) == (1 - t) ** -2
        assert zero.hilbert_polynomial(n) == n + 1
        assert zero.groebner_basis() == []
        assert zero.is_zero
        assert zero.is_prime()
        assert [p.generators for p in zero.primary_decomposition()] == [[]]
        assert zero.betti_table().totals == [1]
        assert zero.eliminate(x).is_zero
        assert zero.singular_locus().is_unit
        assert zero.quotient(x).is_zero
    for unit in (ring.ideal(1), ring.ideal(x, x + 3)):
        assert (unit.dimension, unit.codimension, unit.degree) == (-1, sympy.oo, 0)
        assert unit.hilbert_series() == 0
        assert unit.is_unit
        assert not unit.is_prime()
        assert unit.primary_decomposition() == unit.minimal_primes() == []
        assert unit.radical().is_unit
        assert unit.betti_table().totals == []
        assert unit.resolution().ranks == (0,)
        assert unit.singular_locus().is_unit
        assert unit.groebner_basis() == [Poly(1, x, y, domain=QQ)]


def test_a_ring_without_variables(m2: Macaulay2) -> None:
    ring = m2.ring([])
    zero, unit = ring.ideal(0), ring.ideal(3)
    assert (zero.dimension, zero.degree, unit.dimension) == (0, 1, -1)
    assert zero.is_prime()
    assert not unit.is_prime()
    assert unit.groebner_basis() == [1]
    assert unit.membership(7).cofactors == (Rational(7, 3),)
    integers = m2.ring([], domain=ZZ)
    assert integers.ideal(4, 6).groebner_basis() == [2]
    assert 3 not in integers.ideal(4, 6)


def test_superfluous_generators_do_not_disturb_betti_numbers(m2: Macaulay2) -> None:
    ring = m2.ring([x, y])
    assert ring.ideal(x, x, 0, 2 * x).betti_table().totals == [1, 1]
    # homogeneous, by generators that are not
    assert ring.ideal(x + y**2, y**2, x).betti_table().numbers[1, 1] == 1
    with pytest.raises(ValueError, match="homogeneous"):
        ring.ideal(x - y**2).betti_table()


# ------------------------------------------------------------------------------- operations


def test_operations(m2: Macaulay2) -> None:
    ring = m2.ring([x, y, z])
    a, b = ring.ideal(x**2 * y, x * z), ring.ideal(x, y * z)
    assert same(a.quotient(x), x * y, z)
    assert same(a.saturate(x), y, z)
    assert same(a.saturate(ring.ideal(x, y)), a.saturate(x).intersect(a.saturate(y)).generators)
    assert same(ring.ideal(x) & ring.ideal(y, z), x * y, x * z)
    assert same(ring.ideal(x).intersect(ring.ideal(y), ring.ideal(z)), x * y * z)
    assert same(a + b, x, y * z)
    assert same(ring.ideal(x, y) * ring.ideal(x, z), x**2, x * z, x * y, y * z)
    assert same(ring.ideal(x, y) ** 2, x**2, x * y, y**2)
    assert (ring.ideal(x) ** 0).is_unit
    assert ring.ideal(x * y) <= ring.ideal(x)
    assert not ring.ideal(x) <= ring.ideal(x * y)
    assert ring.ideal(x) >= ring.ideal(x * y)
    assert same(ring.ideal(x - y**2, x - z**3).eliminate(x), y**2 - z**3)
    assert same(ring.ideal(x - z, y - z**2).eliminate(z), y - x**2)
    assert same(ring.ideal(x - z, y - z**2).eliminate([x, z]), 0)
    assert ring.ideal(x, y) == ring.ideal(x + y, y)
    assert hash(ring.ideal(x, y)) == hash(ring.ideal(x + y, y))
    assert ring.ideal(x) != ring.ideal(y)
    assert same(ring.ideal(x**2, x * y).radical(), x)
    assert ring.ideal(x * y).is_radical()
    assert not ring.ideal(x**2).is_radical()


def test_decompositions(m2: Macaulay2) -> None:
    ring = m2.ring([x, y, z])
    ideal = ring.ideal(x**2, x * y)
    primary = ideal.primary_decomposition()
    assert len(primary) == 2
    assert primary[0].intersect(primary[1]) == ideal
    assert {len(p.generators) for p in ideal.associated_primes()} == {1, 2}
    assert ideal.minimal_primes() == [ring.ideal(x)]
    # irreducible over QQ, not over QQ(i)
    circle = ring.ideal(x**2 + y**2)
    assert circle.is_prime()
    gaussian = m2.ring([x, y, z], domain=sympy.QQ_I).ideal(x**2 + y**2)
    assert not gaussian.is_prime()
    assert len(gaussian.minimal_primes()) == 2
    # and modulo 5, where -1 is a square
    modular = m2.ring([x, y, z], domain=GF(5)).ideal(x**2 + y**2)
    assert len(modular.minimal_primes()) == 2
    frobenius = m2.ring([x, y], domain=GF(2)).ideal(x**2 + y**2)
    assert frobenius.radical() == frobenius.ring.ideal(x + y)


def test_singular_loci(m2: Macaulay2) -> None:
    ring = m2.ring([x, y, z])

    def singular(*generators: Any) -> Any:
        return ring.ideal(*generators).singular_locus().radical()

    assert same(singular(y**2 - x**3), x, y)  # a line of cusps
    assert same(singular(x**2 + y**2 - z**2), x, y, z)
    assert singular(x**2 + y**2 - 1).is_unit
    assert same(singular(x**2), x)  # nowhere reduced
    # a plane and a line that meets it: only their common point, though the line is thinner
    assert same(singular(x * z, y * z), x, y, z)
    # two planes that meet in a line
    assert same(singular(x * y), x, y)
    # three coordinate axes, more generators than the codimension
    assert same(singular(x * y, y * z, x * z), x, y, z)


def test_over_an_extended_field(m2: Macaulay2) -> None:
    ring = m2.ring([x, y], domain=QQ.algebraic_field(sqrt(2), sqrt(3)))
    ideal = ring.ideal(x**2 - 2, y**2 - 3)
    assert (ideal.dimension, ideal.degree) == (0, 4)
    primes = ideal.minimal_primes()
    assert len(primes) == 4
    assert any(same(p, x - sqrt(2), y + sqrt(3)) for p in primes)
    assert ideal.eliminate(x) == ring.ideal(y**2 - 3)
    assert ideal.membership(x * (y**2 - 3)).member
    assert ideal.is_radical()
    assert ring.ideal((x - sqrt(2)) * y).saturate(y) == ring.ideal(x - sqrt(2))


# ------------------------------------------------------------------------------- refusals


def test_refused_before_macaulay2_is_asked(m2: Macaulay2) -> None:
    integers = m2.ring([x], domain=ZZ).ideal(2 * x)
    for question in ("radical", "is_prime", "primary_decomposition", "betti_table", "hilbert"):
        with pytest.raises(ValueError, match="field"):
            getattr(integers, question)()
    with pytest.raises(ValueError, match="field"):
        _ = integers.dimension
    ring = m2.ring([x, y])
    with pytest.raises(ValueError, match="different rings"):
        ring.ideal(x).intersect(m2.ring([x, z]).ideal(x))
    with pytest.raises(ValueError, match="not a variable"):
        ring.ideal(x).eliminate(z)
    with pytest.raises(ValueError, match="natural"):
        _ = ring.ideal(x) ** -1
    with pytest.raises(ValueError):
        ring.ideal(x).quotient(1 / x)
    with pytest.raises(ValueError, match="not a variable"):
        _ = Symbol("x", positive=True) in ring.ideal(x)


@pytest.mark.parametrize("p", [2, 32003, 2**31 - 1])
def test_characteristics(m2: Macaulay2, p: int) -> None:
    ring = m2.ring([x, y], domain=GF(p))
    ideal = ring.ideal(x**2 - y, x * y - 1)
    assert ideal.groebner_basis() == list(
        groebner([x**2 - y, x * y - 1], x, y, domain=GF(p), order="grevlex").polys
    )
    assert ideal.degree == 3
    if p < 2**29:
        assert ring.factor(x**2 - y**2).unit == 1
        return
    # M2 would end its process with "characteristic is too large"
    for refused in (ideal.radical, ideal.is_prime, ideal.minimal_primes):
        with pytest.raises(ValueError, match="2\\^29"):
            refused()
    with pytest.raises(ValueError, match="2\\^29"):
        ring.factor(x**2 - y**2)


def test_answers_are_kept(m2: Macaulay2, monkeypatch: pytest.MonkeyPatch) -> None:
    ideal = twisted_cubic(m2)
    first = ideal.groebner_basis(), ideal.dimension, ideal.eliminate(x), ideal.radical()

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("asked again")

    monkeypatch.setattr(m2, "ask", refuse)
    again = ideal.groebner_basis(), ideal.dimension, ideal.eliminate(x), ideal.radical()
    assert again[2] is first[2]
    assert again == first
    assert isinstance(ideal.ring, Ring)


@pytest.mark.parametrize("root", [sqrt(2), sympy.I, sympy.root(2, 3)])
def test_quotients_over_an_extended_field(m2: Macaulay2, root: Any) -> None:
    # M2's own quotient gives a wrong ideal here
    ring = m2.ring([x, y, z], domain=QQ.algebraic_field(root))
    ideal = ring.ideal(
        x**2 * y * z**2 + 2 * x**2 * y + x * z + root * (x - 3 * y * z), 2 * y**2 * z + 4 * z**2
    )
    # (I : x) x is the intersection of I with (x)
    quotient = ideal.quotient(x)
    assert quotient * ring.ideal(x) == ideal.intersect(ring.ideal(x))
    while quotient.quotient(x) != quotient:
        quotient = quotient.quotient(x)
    assert ideal.saturate(x) == quotient
