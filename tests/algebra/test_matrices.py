"""Matrices and maps of rings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sympy import GF, QQ, ZZ, symbols
from sympy.matrices.normalforms import smith_normal_form

from m2bridge.algebra import Macaulay2
from m2bridge.algebra.smith import _Work

pytestmark = pytest.mark.m2
_SOME = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
x, y, z = symbols("x y z")


@st.composite
def integer_matrices(draw: Any) -> Any:
    rows, columns = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    numbers = st.one_of(st.integers(-12, 12), st.integers(-(10**30), 10**30))
    return sympy.Matrix(rows, columns, [draw(numbers) for _ in range(rows * columns)])


@_SOME
@given(matrix=integer_matrices())
def test_smith_forms_of_integers(m2: Macaulay2, matrix: Any) -> None:
    d, p, q = m2.ring([], domain=ZZ).matrix(matrix).smith_form()
    assert p.to_sympy() * matrix * q.to_sympy() == d.to_sympy()
    assert abs(p.to_sympy().det()) == abs(q.to_sympy().det()) == 1
    theirs = smith_normal_form(matrix, domain=sympy.ZZ)
    size = min(matrix.shape)
    assert [d.to_sympy()[i, i] for i in range(size)] == [abs(theirs[i, i]) for i in range(size)]


@pytest.mark.parametrize("domain", [QQ, GF(7)])
def test_smith_forms_of_polynomials(m2: Macaulay2, domain: Any) -> None:
    ring = m2.ring([x], domain=domain)
    a = ring.matrix([[x**2 - 1, 0, 0], [0, x - 1, 0], [0, 0, x**3]])
    form = a.smith_form()
    expected = [1, x - 1, x**3 * (x**2 - 1)]
    assert form.invariants == [ring.polynomial(e) for e in expected]
    b = ring.matrix([[x, 1, x], [x**2, x, x**2]])
    assert b.smith_form().invariants == [ring.polynomial(1), ring.polynomial(0)]


def test_the_chain_of_divisions_is_made_here() -> None:
    """Whatever order M2 leaves the diagonal in."""
    from sympy.polys.rings import PolyRing

    ring = PolyRing((), ZZ, "lex")

    def rows(numbers: list[list[int]]) -> Any:
        return [[ring.ground_new(ZZ(n)) for n in row] for row in numbers]

    identity = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    work = _Work(rows([[0, 0, 0], [0, 6, 0], [0, 0, 4]]), rows(identity), rows(identity))
    work.make_chain(ring)
    work.normalize(ZZ)
    assert work.d == rows([[2, 0, 0], [0, 12, 0], [0, 0, 0]])


def test_smith_form_refuses_other_rings(m2: Macaulay2) -> None:
    for ring in (m2.ring([x, y]), m2.ring([x], domain=ZZ), m2.ring([])):
        with pytest.raises(ValueError, match="Smith"):
            ring.matrix([[1]]).smith_form()
    with pytest.raises(ValueError, match="integers"):
        m2.ring([x]).matrix([[1]]).lll()


def test_lll(m2: Macaulay2) -> None:
    ring = m2.ring([], domain=ZZ)
    # the minimal polynomial of sqrt(2) + 1, hidden in a lattice
    scaled = int(sympy.N((sympy.sqrt(2) + 1) * 10**20, 40))
    squared = int(sympy.N((sympy.sqrt(2) + 1) ** 2 * 10**20, 40))
    basis = ring.matrix([[1, 0, 0], [0, 1, 0], [0, 0, 1], [10**20, scaled, squared]]).lll()
    shortest = [int(basis[i, 0]) for i in range(3)]
    assert shortest in ([1, 2, -1], [-1, -2, 1])
    # the same lattice: equal Smith forms and determinants
    assert abs(ring.matrix([[3, 1], [5, 2]]).lll().determinant()) == 1
    assert ring.matrix(np.zeros((0, 3), dtype=int)).lll().shape == (0, 3)


def test_questions_about_matrices(m2: Macaulay2) -> None:
    ring = m2.ring([x, y, z])
    generic = ring.matrix([[x, y], [y, z]])
    assert generic.determinant() == ring.polynomial(x * z - y**2)
    assert generic.minors(2) == ring.ideal(x * z - y**2)
    assert generic.minors(1) == ring.ideal(x, y, z)
    assert generic.minors(3).is_zero
    assert generic.minors(0).is_unit
    assert generic.rank() == 2
    row = ring.matrix([[x, y, z]])
    koszul = row.syzygies()
    assert koszul.shape == (3, 3)
    assert not any((row * koszul).elements)
    assert row.resolution().ranks == (1, 3, 3, 1)
    assert ring.matrix([[x, x, 0]]).image().shape == (1, 1)
    assert row.transpose.shape == (3, 1)
    assert generic == ring.matrix(generic.to_sympy())
    assert generic[0, 1] == ring.polynomial(y)
    with pytest.raises(ValueError, match="determinant"):
        row.determinant()
    with pytest.raises(ValueError, match="multiply"):
        _ = row * row


@pytest.mark.parametrize("domain", [QQ, ZZ, GF(7)])
def test_arithmetic_of_matrices(m2: Macaulay2, domain: Any) -> None:
    """The same as sympy's own, entry by entry."""
    ring = m2.ring([x, y], domain=domain)
    a, b = sympy.Matrix([[x, y, 1], [0, 2 * x, y**2]]), sympy.Matrix([[1, y, x], [3, x - y, -y]])
    c = sympy.Matrix([[x], [y], [x + 1]])
    m, n, k = ring.matrix(a), ring.matrix(b), ring.matrix(c)
    assert m + n == ring.matrix(a + b)
    assert m - n == ring.matrix(a - b)
    assert -m == ring.matrix(-a)
    assert m * k == m @ k == ring.matrix((a * c).expand())
    for factor in (3, x - y, ring.polynomial(x - y), ring.element(x - y)):
        times = ring.matrix((a * ring.polynomial(factor).as_expr()).expand())
        assert m * factor == times
        if not isinstance(factor, sympy.Poly):
            assert factor * m == times


def test_arithmetic_of_matrices_refuses(m2: Macaulay2) -> None:
    ring = m2.ring([x, y])
    m = ring.matrix([[x, y]])
    with pytest.raises(ValueError, match=r"\(1, 2\) and \(1, 2\) do not multiply"):
        m * m
    with pytest.raises(ValueError, match=r"\(1, 2\) and \(2, 1\) do not add"):
        m + m.transpose
    for operation in (m.__mul__, m.__add__, m.__sub__):
        with pytest.raises(ValueError, match=r"over Ring\(QQ\[x, y\], lex\) and one over"):
            operation(m2.ring([x, y], order="lex").matrix([[1], [1]]))
    with pytest.raises(ValueError, match="not exact"):
        0.5 * m
    with pytest.raises(ValueError, match="z is not a variable"):
        m * z
    for wrong in (lambda: m + 1, lambda: m - x, lambda: m @ 2, lambda: m * "x"):
        with pytest.raises(TypeError):
            wrong()


def test_empty_matrices(m2: Macaulay2) -> None:
    ring = m2.ring([x])
    for rows, columns in ((0, 0), (0, 3), (2, 0)):
        empty = ring.matrix(np.zeros((rows, columns), dtype=int))
        assert empty.shape == (rows, columns)
        assert empty.rank() == 0
        assert empty.minors(1).is_zero
        assert empty.smith_form().diagonal.shape == (rows, columns)
        assert empty.resolution().ranks[0] == rows
    # everything goes to zero
    assert ring.matrix(np.zeros((0, 3), dtype=int)).syzygies().shape == (3, 3)
    assert ring.matrix([]).determinant() == ring.polynomial(1)


# ------------------------------------------------------------------------------- maps of rings


def test_kernels(m2: Macaulay2) -> None:
    s, t = symbols("s t")
    a, b, c, d = symbols("a b c d")
    source, target = m2.ring([a, b, c, d]), m2.ring([s, t])
    cubic = source.map(target, [s**3, s**2 * t, s * t**2, t**3])
    assert cubic.kernel() == source.ideal(a * c - b**2, b * d - c**2, a * d - b * c)
    assert cubic(a * d - 2) == target.polynomial(s**3 * t**3 - 2)
    # images that allow no grading, a zero image, a constant one
    plane = m2.ring([a, b])
    assert plane.map(target, [s**2 + s, s]).kernel() == plane.ideal(a - b**2 - b)
    assert plane.map(target, [s, 0]).kernel() == plane.ideal(b)
    assert plane.map(target, [s, 3]).kernel() == plane.ideal(b - 3)
    assert plane.map(target, [s, t]).kernel().is_zero


def test_preimages_and_images(m2: Macaulay2) -> None:
    source, target = m2.ring([x, y], order="lex"), m2.ring([z])
    square = source.map(target, [z, z**2])
    assert square.kernel() == source.ideal(x**2 - y)
    assert square.preimage(target.ideal(z**2)) == source.ideal(y, x**2)
    assert square.preimage(target.ideal(z - 1)) == source.ideal(x - 1, y - 1)
    assert square.image(source.ideal(y, x)) == target.ideal(z)
    with pytest.raises(ValueError, match="lives in"):
        square.preimage(source.ideal(x))


def test_kernels_modulo_a_prime(m2: Macaulay2) -> None:
    source, target = m2.ring([x, y], domain=GF(3)), m2.ring([z], domain=GF(3))
    assert source.map(target, [z**2, z**3]).kernel() == source.ideal(x**3 - y**2)


def test_maps_that_are_none(m2: Macaulay2) -> None:
    source, target = m2.ring([x, y]), m2.ring([z])
    with pytest.raises(ValueError, match="2 variables"):
        source.map(target, [z])
    with pytest.raises(ValueError, match="coefficients"):
        source.map(m2.ring([z], domain=GF(3)), [z, z])
    with pytest.raises(ValueError, match="not a variable"):
        source.map(target, [x, z])


@pytest.mark.parametrize("target", ["", "u"])
def test_kernels_of_maps_to_constants(m2: Macaulay2, target: str) -> None:
    """Also where the target has no variables: M2 finds nothing there."""
    plane, goal = m2.ring([x, y]), m2.ring(target)
    phi = plane.map(goal, [1, -3])
    assert phi.kernel() == plane.ideal(x - 1, y + 3)
    assert phi.preimage(goal.ideal(1)).is_unit
    assert phi.kernel() is phi.kernel()
    none = m2.ring("")
    assert none.map(goal, []).kernel().is_zero
    assert none.map(goal, []).preimage(goal.ideal(5)).is_unit


def test_kernels_over_the_integers(m2: Macaulay2) -> None:
    source, target = m2.ring([x, y], domain=ZZ), m2.ring([z], domain=ZZ)
    assert source.map(target, [z**2, z**3]).kernel() == source.ideal(x**3 - y**2)
    # 2z and 3z generate z, so nothing is divided: 3x - 2y goes to zero
    assert source.map(target, [2 * z, 3 * z]).kernel() == source.ideal(3 * x - 2 * y)
    assert source.map(target, [2 * z, z**2]).kernel() == source.ideal(x**2 - 4 * y)
    assert source.map(target, [z, 2]).preimage(target.ideal(4, z)) == source.ideal(x, y - 2, 4)
    numbers = m2.ring([], domain=ZZ)
    assert numbers.map(target, []).preimage(target.ideal(6, 2 * z + 4)) == numbers.ideal(6)


def test_ranks_over_the_integers(m2: Macaulay2) -> None:
    numbers = m2.ring([], domain=ZZ)
    assert numbers.matrix([[2, 4], [3, 6]]).rank() == 1
    assert numbers.matrix([[2, 4], [3, 7]]).rank() == 2
    ring = m2.ring([x, y], domain=ZZ)
    assert ring.matrix([[2 * x, 4 * y], [x**2, 2 * x * y]]).rank() == 1
    assert ring.matrix([[6]]).rank() == 1


@pytest.mark.parametrize("domain", [QQ, GF(2**31 - 1), QQ.algebraic_field(sympy.sqrt(2))])
def test_resolutions_without_variables(m2: Macaulay2, domain: Any) -> None:
    """Vector spaces: the columns' span is free, and nothing follows."""
    ring = m2.ring([], domain=domain)
    assert ring.matrix([[2, 0, 3], [1, 4, 6]]).resolution().ranks == (2, 2)
    assert ring.matrix([[1, 2], [2, 4]]).resolution().ranks == (2, 1)
    assert ring.matrix([[0, 0], [0, 0]]).resolution().ranks == (2,)


@st.composite
def polynomial_matrices(draw: Any) -> Any:
    rows, columns = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    entry = st.lists(st.integers(-2, 2), max_size=3).map(
        lambda cs: sum(c * x**i for i, c in enumerate(cs))
    )
    return sympy.Matrix(rows, columns, [draw(entry) for _ in range(rows * columns)])


@pytest.mark.parametrize(
    "domain", [QQ, GF(2), GF(3), GF(2**31 - 1), QQ.algebraic_field(sympy.sqrt(2))]
)
@_SOME
@given(matrix=polynomial_matrices())
def test_smith_forms_have_the_determinantal_divisors(
    m2: Macaulay2, domain: Any, matrix: Any
) -> None:
    """The product of the first k entries generates the ideal of the minors of size k."""
    ring = m2.ring([x], domain=domain)
    a = ring.matrix(matrix)
    d, p, q = a.smith_form()
    assert p * a * q == d
    assert p.determinant().is_ground
    assert q.determinant().is_ground
    product = ring.polynomial(1)
    for k, entry in enumerate(d[i, i] for i in range(min(d.shape))):
        product = product * entry
        assert ring.ideal(product) == a.minors(k + 1)


def gram_schmidt(vectors: list[Any]) -> tuple[list[Any], dict[tuple[int, int], Any]]:
    found: list[Any] = []
    mu = {}
    for i, v in enumerate(vectors):
        rest = v
        for j, u in enumerate(found):
            mu[i, j] = v.dot(u) / u.dot(u)
            rest = rest - mu[i, j] * u
        found.append(rest)
    return found, mu


@_SOME
@given(matrix=integer_matrices())
def test_lll_is_reduced_and_the_same_lattice(m2: Macaulay2, matrix: Any) -> None:
    """Lenstra, Lenstra, Lovasz, definition (1.4), (1.5)."""
    a = m2.ring([], domain=ZZ).matrix(matrix)
    basis, change = a.lll().to_sympy(), a.lll_transformation().to_sympy()
    assert matrix * change == basis
    assert abs(change.det()) == 1
    vectors = [basis.col(j) for j in range(basis.cols) if any(basis.col(j))]
    assert len(vectors) == matrix.rank()
    orthogonal, mu = gram_schmidt(vectors)
    assert all(abs(m) <= sympy.Rational(1, 2) for m in mu.values())
    for k in range(1, len(orthogonal)):
        u, v = orthogonal[k - 1], orthogonal[k]
        assert v.dot(v) >= (sympy.Rational(3, 4) - mu[k, k - 1] ** 2) * u.dot(u)


def test_answers_about_matrices_are_kept(m2: Macaulay2, monkeypatch: pytest.MonkeyPatch) -> None:
    a = m2.ring([x, y, z]).matrix([[x, y], [y, z]])
    questions = [a.determinant, a.rank, a.syzygies, a.image, a.resolution, lambda: a.minors(2)]
    first = [question() for question in questions]

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("asked again")

    monkeypatch.setattr(m2, "ask", refuse)
    assert [question() for question in questions] == first
