"""What is a polynomial, and what is refused before any M2 is asked. No M2 here."""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from sympy import I, Mul, Poly, Rational, Symbol, exp, oo, pi, sin, sqrt, symbols
from sympy.polys.domains import EX, GF, QQ, RR, ZZ
from sympy.polys.matrices import DomainMatrix
from sympy.polys.rings import PolyRing
from sympy.polys.rings import ring as sympy_ring

from m2bridge.algebra.convert import element_from
from m2bridge.algebra.domains import checked_domain
from m2bridge.algebra.ring import Ring
from tests.algebra.strategies import lists_of_elements

x, y, z, n = symbols("x y z n")
RING = PolyRing((x, y), QQ, "grevlex")


def ring_of(*args: Any) -> Ring:
    """A ring that never asks."""
    return Ring(None, *args)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "terms"),
    [
        (x**2 - y / 3, {(2, 0): QQ(1), (0, 1): QQ(-1, 3)}),
        ((x + y) ** 2 * (x - 1), {}),
        (Poly(x * y + 1, y, x), {(1, 1): QQ(1), (0, 0): QQ(1)}),
        (Poly(x * y, y), {(1, 1): QQ(1)}),  # the coefficient ring is ZZ[x]
        (Poly(x, x, z), {(1, 0): QQ(1)}),  # z does not occur
        (sympy_ring("y,x", ZZ)[1] * 3, {(0, 1): QQ(3)}),
        (0, {}),
        (x - x, {}),
        (-4, {(0, 0): QQ(-4)}),
        (Fraction(2, 6), {(0, 0): QQ(1, 3)}),
        (np.int64(7), {(0, 0): QQ(7)}),
        (np.array(5), {(0, 0): QQ(5)}),
        (np.array(x * y, dtype=object), {(1, 1): QQ(1)}),
        (Poly(2 * x, x, domain=QQ.algebraic_field(sqrt(2))), {(1, 0): QQ(2)}),
        (Poly(x * I, x, domain=sympy.ZZ_I) * Poly(-I, x), {(1, 0): QQ(1)}),
        (sympy.Pow(1, 2**40, evaluate=False), {(0, 0): QQ(1)}),
        (flint.fmpz(9), {(0, 0): QQ(9)}),
        (flint.fmpq(1, 9), {(0, 0): QQ(1, 9)}),
        (QQ(2, 7), {(0, 0): QQ(2, 7)}),
        (Rational(1, 2), {(0, 0): QQ(1, 2)}),
        ((x + 1) ** 0, {(0, 0): QQ(1)}),
    ],
)
def test_polynomials(value: Any, terms: dict[Any, Any]) -> None:
    element = element_from(RING, value)
    assert element.ring == RING
    if terms or value in (0, x - x):
        assert dict(element) == terms
    if isinstance(value, sympy.Expr):
        assert sympy.expand(element.as_expr() - value) == 0


@pytest.mark.parametrize(
    "value",
    [
        1 / x,
        sqrt(x),
        x**n,
        x**-1 * y,
        x ** Rational(1, 2),
        sin(x),
        0.5 * x,
        sympy.nan,
        oo,
        sympy.zoo,
        x * oo,
        sqrt(2) * x,
        I * x,
        pi * x,
        x + z,
        Symbol("x", positive=True),
        1.5,
        1j,
        float("nan"),
        float("inf"),
        np.float64(0.5),
        Poly(0.5 * x, x),
        Poly(x, x, modulus=7),
        Poly(x / y, x),
        Poly(exp(x) + 1, exp(x)),
        Poly(z, x, z),
        x ** (2**40),
        sympy.Function("f")(x),
        sympy.Derivative(x**2, x),
        sympy.Piecewise((x, x > 0), (0, True)),
        Symbol("A", commutative=False),
        flint.nmod(3, 7),
        Poly(x + I, x),
        Poly(sqrt(2) * x, x, extension=True),
        sympy.Pow(x * y, 2**31, evaluate=False),
        sympy.Pow(x + 1, 2**31, evaluate=False),
    ],
    ids=str,
)
def test_no_polynomial(value: Any) -> None:
    with pytest.raises(ValueError):
        element_from(RING, value)


@pytest.mark.parametrize(
    "value",
    [
        *("x", b"x", True, np.bool_(True), None, [x], x > 0, object()),
        *(sympy.MatrixSymbol("M", 1, 1), sympy.Matrix([x]), flint.fmpz_poly([1, 2]), flint.arb(1)),
    ],
)
def test_nothing_of_the_kind(value: Any) -> None:
    with pytest.raises(TypeError):
        element_from(RING, value)


def test_symbols_that_print_alike_are_different() -> None:
    positive = Symbol("x", positive=True)
    ring = ring_of([x, positive])
    element = ring.element(x - positive)
    assert dict(element) == {(1, 0): 1, (0, 1): -1}
    assert ring.polynomial(x - positive) == Poly(x - positive, x, positive, domain=QQ)
    with pytest.raises(ValueError, match="other assumptions"):
        ring_of([x]).element(positive)


def test_deep_expressions_need_no_recursion() -> None:
    depth = 4 * sys.getrecursionlimit()
    deep: Any = x
    for _ in range(depth):
        deep = Mul(sympy.Add(deep, 1, evaluate=False), -1, evaluate=False)
    element = element_from(PolyRing((x,), GF(3), "lex"), deep)
    # -(t + 1) done twice is t
    assert dict(element) == {(1,): GF(3)(1)}
    wrong = 1 / y
    for _ in range(depth):
        wrong = sympy.Add(Mul(wrong, x, evaluate=False), 1, evaluate=False)
    with pytest.raises(ValueError, match="1/y is not a polynomial"):
        element_from(RING, wrong)


@pytest.mark.parametrize("wrap", [sin, lambda e: 1 / e, sqrt, lambda e: e > 0])
def test_deep_expressions_that_are_none(wrap: Any) -> None:
    """Even what cannot be printed for its depth is refused in words."""
    deep: Any = x
    for _ in range(4 * sys.getrecursionlimit()):
        deep = Mul(sympy.Add(deep, 1, evaluate=False), 2, evaluate=False)
    with sympy.evaluate(False), pytest.raises((ValueError, TypeError), match="too deep"):
        element_from(RING, wrap(deep))
    constant: Any = sympy.Integer(2)
    for _ in range(4 * sys.getrecursionlimit()):
        constant = sympy.Add(sympy.Pow(constant, Rational(1, 2), evaluate=False), 1, evaluate=False)
    with pytest.raises(ValueError, match="too deep"):
        element_from(PolyRing((x,), QQ.algebraic_field(sqrt(2)), "lex"), constant)


@pytest.mark.parametrize(
    "value",
    [
        (x + y) ** (10**6),
        (x + 1) ** (10**7),
        sympy.Pow(2, 2**40, evaluate=False),  # gmp would end the process
        Mul(sympy.Pow(Rational(2, 3), 2**40, evaluate=False), x, evaluate=False),
    ],
    ids=range(4),
)
def test_powers_too_large_to_be_multiplied_out(value: Any) -> None:
    from m2bridge.errors import SizeLimitError

    with pytest.raises(SizeLimitError, match="expanded"):
        element_from(RING, value)


def test_products_too_large_to_be_multiplied_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from m2bridge.errors import SizeLimitError

    monkeypatch.setattr("m2bridge.algebra.convert._MOST_CELLS", 2**21)
    ring = ring_of("x:400")
    with pytest.raises(SizeLimitError, match="expanded"):
        ring.element(sympy.prod(s + 1 for s in ring.symbols))
    # large, but not in the end: 2^12 terms, and 3001 of them
    assert len(ring.element(sympy.prod(s + 1 for s in ring.symbols[:12]))) == 2**12
    s = ring.symbols[0]
    assert len(ring.element(sympy.Mul(*[s**30 + 1] * 100, evaluate=False))) == 101


def test_long_sums() -> None:
    total = sympy.Add(*(i * x**i for i in range(1, 2_001)))
    assert len(element_from(RING, total)) == 2_000


def test_modular_numbers() -> None:
    ring = PolyRing((x,), GF(7), "lex")
    assert dict(element_from(ring, x / 2 + 8)) == {(1,): GF(7)(4), (0,): GF(7)(1)}
    assert dict(element_from(ring, 7 * x)) == {}
    assert dict(element_from(ring, Poly(x, x, modulus=7))) == {(1,): GF(7)(1)}
    with pytest.raises(ValueError, match="modulo 7"):
        element_from(ring, x / 14)
    with pytest.raises(ValueError, match="GF"):
        element_from(ring, Poly(x, x, modulus=5))
    with pytest.raises(ValueError, match="integer"):
        element_from(PolyRing((x,), ZZ, "lex"), x / 2)
    assert dict(element_from(ring, flint.nmod(3, 7))) == {(0,): GF(7)(3)}
    with pytest.raises(ValueError, match="modulo 5"):
        element_from(ring, flint.nmod(3, 5))
    # the same field, shown in another way
    for symmetric in (True, False):
        poly = Poly(5 * x, x, domain=GF(7, symmetric=symmetric))
        assert dict(element_from(ring, poly)) == {(1,): GF(7)(5)}


def test_algebraic_numbers() -> None:
    field = QQ.algebraic_field(sqrt(2))
    ring = PolyRing((x,), field, "lex")
    (number,) = element_from(ring, (sqrt(2) + 1) * x).values()
    assert number == field.from_sympy(1 + sqrt(2))
    (number,) = element_from(ring, x / (sqrt(2) + 1)).values()
    assert number == field.from_sympy(sqrt(2) - 1)
    with pytest.raises(ValueError):
        element_from(ring, sqrt(3) * x)
    gaussian = ring_of([x], sympy.QQ_I)
    assert gaussian.polynomial(Poly(x + 1 + I, x)).domain.is_AlgebraicField


@pytest.mark.parametrize("domain", [RR, EX, ZZ[y], QQ.frac_field(y), GF(6), GF(4), GF(2**31 + 11)])
def test_domains_that_macaulay2_lacks(domain: Any) -> None:
    with pytest.raises(ValueError):
        checked_domain(domain)


@pytest.mark.parametrize(
    ("given", "error"),
    [("x x", ValueError), (["x"], TypeError), ([x + 1], TypeError), (3, TypeError)],
)
def test_bad_variables(given: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        ring_of(given)


def test_noncommuting_variables_are_refused() -> None:
    with pytest.raises(ValueError, match="commute"):
        ring_of([Symbol("A", commutative=False)])


def test_generators_come_in_many_shapes() -> None:
    ring = ring_of([x, y])
    expected = ring.ideal(x, y).elements
    array = np.array([x, y], dtype=object)
    for shape in ([x, y], (x, y), array, sympy.Matrix([x, y]), iter([x, y])):
        assert ring.ideal(shape).elements == expected
    assert ring.ideal([x], y).elements == expected
    assert ring.ideal(ring.element(x), y).elements == expected
    assert ring.ideal(np.array([2, 3])).elements == ring.ideal(2, 3).elements
    for unordered in ({x, y}, {x: 1}):
        with pytest.raises(TypeError, match="order"):
            ring.ideal(unordered)
    with pytest.raises(ValueError, match="polynomial 1"):
        ring.ideal(x, 1 / y)


def test_rings_are_values() -> None:
    ring = ring_of("x y", QQ, "lex")
    assert ring == ring_of([x, y], QQ, "lex")
    assert hash(ring) == hash(ring_of([x, y], QQ, "lex"))
    assert ring != ring_of("y x", QQ, "lex")
    assert ring != ring_of("x y", ZZ, "lex")
    assert ring != ring_of("x y", QQ, "grevlex")
    assert ring_of("").symbols == ()
    assert ring_of(x).symbols == (x,)


def test_a_ring_without_variables_has_numbers() -> None:
    ring = ring_of([])
    assert ring.ideal(3, Fraction(1, 2)).generators == [3, Rational(1, 2)]
    with pytest.raises(ValueError, match="no symbols"):
        ring.element(x)


def test_huge_exponents_stay_sparse() -> None:
    from m2bridge.errors import SizeLimitError

    ideal = ring_of("x").ideal(x ** (2**31 - 1))
    assert dict(ideal.elements[0]) == {(2**31 - 1,): 1}
    with pytest.raises(SizeLimitError, match="elements"):
        _ = ideal.generators


def test_many_variables_stay_sparse() -> None:
    from m2bridge.errors import SizeLimitError

    ring = ring_of("x:2000")
    ideal = ring.ideal(ring.symbols[1999] ** 2)
    assert len(ideal.elements[0]) == 1
    with pytest.raises(SizeLimitError, match="elements"):
        _ = ideal.generators


def test_matrices_come_in_many_shapes() -> None:
    ring = ring_of([x, y])
    expected = ring.matrix([[1, 2], [3, 4]])
    numbers = [[1, 2], [3, 4]]
    for shape in (np.array(numbers), sympy.Matrix(numbers), flint.fmpz_mat(numbers), expected):
        assert ring.matrix(shape) == expected
    assert ring.matrix(np.array([[x, 1]], dtype=object)).elements == ring.matrix([[x, 1]]).elements
    assert ring.matrix(sympy.zeros(0, 3)).shape == (0, 3)
    assert ring.matrix([]).shape == (0, 0)
    rational = DomainMatrix([[QQ(1), QQ(2)], [QQ(3), QQ(4)]], (2, 2), QQ)
    assert ring.matrix(rational) == expected
    polynomial = QQ[x]
    entry = DomainMatrix([[polynomial(x)]], (1, 1), polynomial)
    assert ring.matrix(entry) == ring.matrix([[x]])
    field = GF(7)
    modular = DomainMatrix([[field(5)]], (1, 1), field)
    assert ring_of([x], field).matrix(modular) == ring_of([x], field).matrix([[5]])
    real = DomainMatrix([[RR(0.5)]], (1, 1), RR)
    # residues do not become integers, floats not rationals
    for wrong in ([[1], [1, 2]], np.array([[0.5]]), np.array([1, 2]), [[1.5]], modular, real):
        with pytest.raises(ValueError):
            ring.matrix(wrong)
    for wrong in ("x", x, 3, [x, y], ["xy"], sympy.MatrixSymbol("M", 2, 2)):
        with pytest.raises(TypeError):
            ring.matrix(wrong)


def test_what_is_shown() -> None:
    ring = ring_of([x, y])
    ideal = ring.ideal(x**2 - y / 2)
    assert repr(ideal) == "Ideal(x**2 - y/2) in Ring(QQ[x, y], grevlex)"
    latex = r"$\left\langle x^{2} - \frac{y}{2} \right\rangle \subset \mathbb{Q}[x, y]$"
    assert ideal._repr_latex_() == latex
    assert "long" in repr(ring.ideal(10**5000 * x))
    assert "(100 terms)" in repr(ring.ideal(sympy.Add(*(x**i for i in range(100)))))
    assert "9 x 9" in repr(ring.matrix([[x] * 9] * 9))
    assert "more" in repr(ring.ideal([x**i for i in range(20)]))


def test_long_numbers_are_shown_in_words() -> None:
    ring = ring_of([x, y])
    long = 10**5000 * x
    for shown in (ring.ideal(long)._repr_latex_(), ring.matrix([[long]])._repr_latex_()):
        assert shown.startswith("$")
        assert r"\text{(1 terms with very long coefficients)}" in shown
    assert r"\times" in ring.matrix([[x] * 9] * 9)._repr_latex_()
    assert ring.matrix([[x, 1], [y / 2, 0]])._repr_latex_() == (
        r"$\left[\begin{matrix}x & 1 \\ \frac{y}{2} & 0\end{matrix}\right]$"
    )
    assert ring_of([x], QQ.algebraic_field(sqrt(2))).latex() == (
        r"\mathbb{Q}\left(\sqrt{2}\right)[x]"
    )
    assert ring_of([]).latex() == r"\mathbb{Q}"


def test_copies_are_the_value_itself_and_nothing_is_pickled() -> None:
    import copy
    import pickle

    ring = ring_of([x, y])
    values = [ring, ring.ideal(x), ring.matrix([[x]]), ring.map(ring, [y, x])]
    for value in values:
        assert copy.copy(value) is value
        assert copy.deepcopy([value])[0] is value
        with pytest.raises(TypeError, match="another process"):
            pickle.dumps(value)


def test_positions() -> None:
    ring = ring_of([x, y])
    assert ring.position(y) == ring.position(Poly(y, x, y)) == ring.position(ring.element(y)) == 1
    for wrong in (z, 1, "y", [y], x + y, None):
        with pytest.raises(ValueError, match="not a variable"):
            ring.position(wrong)


@settings(max_examples=200, deadline=None)
@given(case=lists_of_elements())
def test_expressions_polys_and_elements_say_the_same(case: tuple[PolyRing, list[Any]]) -> None:
    """Whatever form a polynomial has, and however its ring is ordered, it is the same one."""
    ring, elements = case
    turned = PolyRing(tuple(reversed(ring.symbols)), ring.domain, "lex")
    for element in elements:
        assert element_from(ring, element.as_expr()) == element
        other = turned.from_dict({m[::-1]: c for m, c in element.items()})
        assert element_from(ring, other) == element
        if ring.ngens and max(map(max, element), default=0) <= 300:
            poly = Poly.from_dict(dict(element), *ring.symbols, domain=ring.domain)
            assert element_from(ring, poly) == element
            if ring.ngens > 1:  # the last symbols are in the coefficients
                assert element_from(ring, poly.eject(ring.symbols[-1])) == element
