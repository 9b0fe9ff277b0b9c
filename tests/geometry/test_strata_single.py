"""Types for t = 1: cubics v_i S, with signatures over the reals."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise, product

import flint
import pytest

from m2bridge.attention import Layer
from m2bridge.geometry.strata import maximal, strata
from m2bridge.geometry.strata.equations import EquationSearch, closure_map


def by_type(d, d_out, a):
    return {s.type: s for s in strata(Layer(d, d_out, a, t=1))}


def test_products_of_three_lines_in_the_plane():
    """(3, 1, 1): singular, and on the boundary, exactly where a factor repeats."""
    found = by_type(3, 1, 1)
    numbers = {k: (s.dimension, s.tangent_dimension, s.fibre_points) for k, s in found.items()}
    assert numbers == {
        (0, 0, 3, 0): (0, 10, None),
        (1, 1, 2, 0): (3, 10, 1),  # l^3
        (1, 2, 1, 0): (5, 8, 2),  # l^2 m
        (1, 2, 1, 1): (6, 7, 3),  # three lines through a point
        (1, 2, 0, 2): (7, 7, 3),
    }
    repeated = {(0, 0, 3, 0), (1, 1, 2, 0), (1, 2, 1, 0)}
    assert {k for k, s in found.items() if s.singular} == repeated
    assert {k for k, s in found.items() if s.boundary} == repeated
    assert {k: s.closure_degree() for k, s in found.items() if k[0]} == {
        (1, 1, 2, 0): 9,
        (1, 2, 1, 0): 24,
        (1, 2, 1, 1): 15,
        (1, 2, 0, 2): 15,
    }


def test_all_binary_cubics():
    """(2, 1, a): the closure is the whole space, nothing is singular, not even zero."""
    for a in (1, 2, 3):
        found = by_type(2, 1, a)
        assert not any(s.singular for s in found.values())
        assert {s.tangent_dimension for s in found.values()} == {4}
    assert {k for k, s in by_type(2, 1, 1).items() if s.boundary} == {
        (0, 0, 2, 0),
        (1, 1, 1, 0),
        (1, 2, 0, 0),
    }
    assert not any(s.boundary for s in by_type(2, 1, 2).values())


def test_the_boundary_may_depend_on_the_signature():
    """(3, 1, 2): S of signature (2, 0) is a limit of (3, 0); (1, 1) is not."""
    s = by_type(3, 1, 2)[1, 2, 0, 2]
    assert s.boundary is None
    assert "(2, 0)" in s.boundary_reason
    flags = {f.signature: f.boundary for f in s.real_forms}
    assert flags == {(2, 0): True, (1, 1): False}
    assert {f.signature: f.fibre_points for f in s.real_forms} == {(2, 0): 1, (1, 1): 3}
    assert s.to_dict()["boundary"] is None
    assert s.to_dict()["boundary_reason"]


def test_width_one():
    for s in strata(Layer(1, 3, 2, t=1)):
        assert (s.tangent_dimension, s.singular, s.boundary) == (3, False, False)


def rank(rows, p):
    return flint.nmod_mat(rows, p).rank() if rows else 0


def kind_of(V, S, p):
    """(rank V, rank S, j, rho) over F_p from their definitions, by listing subspaces."""
    d = len(S)
    kernel = [
        x
        for x in product(range(p), repeat=d)
        if all(sum(v[k] * x[k] for k in range(d)) % p == 0 for v in V)
    ]
    times = {x: tuple(sum(S[i][k] * x[k] for k in range(d)) % p for i in range(d)) for x in kernel}
    common = sum(1 for x in kernel if not any(times[x]))
    radical = sum(
        1 for x in kernel if all(sum(times[x][k] * y[k] for k in range(d)) % p == 0 for y in kernel)
    )
    log = {p**k: k for k in range(d + 1)}
    return rank(V, p), rank(S, p), log[common], log[len(kernel)] - log[radical]


@pytest.mark.parametrize("d_out", [1, 2])
def test_fibres_by_brute_force_over_five_elements(d_out):
    """d = 2: rational fibres of (V, S) -> V S over F_5 are as over the reals."""
    p, d = 5, 2
    layer = Layer(d, d_out, 1, t=1)
    fibres = defaultdict(list)
    forms = [[[x, y], [y, z]] for x, y, z in product(range(p), repeat=3) if (x, y, z) != (0,) * 3]
    rows = list(product(range(p), repeat=d))
    for V in product(rows, repeat=d_out):
        # Outputs up to GL(U): a first row that is not zero, the second from a small set.
        if not any(V[0]) or (d_out == 2 and V[1] not in [(0, 0), (1, 0), (0, 1)]):
            continue
        for S in forms:
            image = tuple(x % p for x in layer.image(V, S))
            fibres[image].append((V, S))
    found = by_type(d, d_out, 1)
    seen = set()
    for pairs in fibres.values():
        kinds = {kind_of([list(v) for v in V], S, p) for V, S in pairs}
        (stratum,) = (s for s in found.values() if kinds <= set(s.preimage_types))
        seen.add(stratum.type)
        if d_out == 1:
            allowed = {f.fibre_points for f in stratum.real_forms}
            assert len(pairs) // (p - 1) in allowed
    assert seen == set(found) - {(0, 0, d, 0)}


@pytest.mark.parametrize("model", [(2, 2, 1), (3, 1, 1), (3, 1, 2), (3, 2, 1)])
def test_closures_are_seen_by_their_equations(model):
    """A stratum lies in a closure exactly when the equations of degree <= 4 vanish on it."""
    found = strata(Layer(*model, t=1), certify=False)
    for upper in found[1:]:
        search = EquationSearch(closure_map(upper))
        for _ in range(4):
            search.advance()
        for lower in found:
            point = lower.point()
            vanish = all(value(f, point) == 0 for f in search.equations)
            inside = upper.closure_contains(lower)
            assert vanish or not inside, (upper.type, lower.type)
            if search.equations and (upper.type, lower.type) != BEYOND_DEGREE_FOUR:
                assert vanish == inside, (upper.type, lower.type)


def value(equation, point):
    total = 0
    for places, c in equation.items():
        for k in places:
            c *= point[k]
        total += c
    return total


# In (3, 2, 1): S vanishes on the line ker V of the first and of its limits with rank V = 2, and not
# on that of the second; but no equation of degree at most 4 tells.
BEYOND_DEGREE_FOUR = ((2, 2, 0, 0), (2, 1, 0, 1))


def test_covers():
    found = by_type(3, 1, 2)
    assert found[1, 3, 0, 2].covers == ((1, 2, 0, 2), (1, 3, 0, 1))
    assert found[1, 3, 0, 1].covers == ((1, 2, 1, 1),)
    assert [s.type for s in maximal(list(found.values()))] == [(1, 3, 0, 2)]


@pytest.mark.parametrize("model", [(2, 2, 1), (3, 2, 2), (4, 2, 2), (5, 3, 2)])
def test_weights_of_every_real_form(model):
    """The normal forms have the type and the signature that they are listed under."""
    d, _, a = model
    for s in strata(Layer(*model, t=1), certify=False)[1:]:
        for form in s.real_forms:
            V, A = ([list(row) for row in m] for m in s.weights(form))
            S = flint.fmpz_mat(A) + flint.fmpz_mat(A).transpose()
            assert S.rank() == s.rank_s == sum(form.signature)
            assert flint.fmpz_mat(A).rank() == max(form.signature)
            assert form.in_image == (max(form.signature) <= a)
            # V's rows are the first unit rows, so ker V is given by the other coordinates.
            inner = [row[s.rank_v :] for row in S.tolist()[s.rank_v :]]
            assert flint.fmpz_mat(V).rank() == s.rank_v
            if inner:
                assert flint.fmpz_mat(inner).rank() == s.rank_restricted
                wide = [row[s.rank_v :] for row in S.tolist()]
                assert d - s.rank_v - flint.fmpz_mat(wide).rank() == s.kernel_radical
            assert signature(S) == form.signature or signature(S)[::-1] == form.signature
        assert flint.fmpz_mat([list(r) for r in s.representative.A]).rank() <= a


def signature(S):
    """Signs of the roots of the characteristic polynomial, by Descartes (all roots are real)."""
    coefficients = [int(c) for c in S.charpoly().coeffs()]
    plus = changes(coefficients)
    minus = changes([(-1) ** k * c for k, c in enumerate(coefficients)])
    return plus, minus


def changes(coefficients):
    signs = [c > 0 for c in coefficients if c]
    return sum(x != y for x, y in pairwise(signs))


def test_tangent_formula_is_not_called_proved_without_computation():
    big = strata(Layer(6, 2, 2, t=1))
    special = next(s for s in big if s.type == (1, 2, 3, 2))
    assert special.claims["tangent_dimension"].certainty == "conjectural"
    assert special.claims["singular"].certainty == "proved"
    normal = big[-1]
    assert normal.claims["tangent_dimension"].certainty == "proved"
