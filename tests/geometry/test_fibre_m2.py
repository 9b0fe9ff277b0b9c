"""Fibres against Macaulay2: lengths, points, real points, components of (Q, K)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
import sympy

from m2bridge.attention import Layer
from m2bridge.engine import Session, open_session
from m2bridge.errors import VerificationError
from m2bridge.geometry.fibre import confirmed, factorisation_primes, fibre

pytestmark = pytest.mark.m2


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    opened = open_session(timeout=120)
    yield opened
    opened.close()


def special(layer):
    """Weights of every kind: general ones, then both ranks one with and without a common form."""
    d, d_out, a = layer.d, layer.d_out, layer.a
    yield layer.random_weights(2, 3).layers[0][0]
    last, first = [[0] * d for _ in range(a)], [[0] * d for _ in range(a)]
    last[0][-1], first[0][0] = 1, 1
    V = [[0] * d for _ in range(d_out)]
    V[0][0] = 2
    yield layer.weights(last, first, V)  # V = x0, A = x0 (x) x_last
    yield layer.weights(first, last, V)
    yield layer.weights(last, last, V)


@pytest.mark.parametrize("t", [1, 2])
@pytest.mark.parametrize("shape", [(1, 2, 1), (2, 1, 1), (2, 1, 2), (2, 2, 1), (2, 1, 3)])
def test_m2_finds_the_same_fibre(session: Session, shape, t):
    layer = Layer(*shape, t=t)
    for weights in special(layer):
        answer = fibre(layer, weights, session=session)
        assert answer.m2 is not None
        assert answer.m2["length"] == answer.length
        assert sum(answer.m2["lengths"]) == answer.length
        assert sum(answer.m2["degrees"]) == answer.points


def test_lengths_on_the_smallest_strata(session: Session):
    layer = Layer(3, 1, 1)
    unit = [[1, 0, 0]]
    assert fibre(layer, Q=[[0, 0, 1]], K=unit, V=unit, session=session).m2["lengths"] == [3]
    cubic = Layer(3, 1, 1, 1)
    assert fibre(cubic, Q=unit, K=unit, V=unit, session=session).m2["lengths"] == [6]
    answer = fibre(cubic, Q=unit, K=[[0, 1, 0]], V=unit, session=session).m2
    assert sorted(answer["lengths"]) == [1, 3]


def test_complex_points_have_no_real_ones(session: Session):
    answer = fibre(Layer(2, 1, 2), [1, 0, 0, 0, 3, 0], session=session)
    assert answer.m2 == {
        "length": 2,
        "points": 2,
        "real_points": 0,
        "degrees": [2],
        "lengths": [2],
    }


def test_cubic_fields(session: Session):
    layer = Layer(2, 1, 2, 1)
    one_real = fibre(layer, [1, 0, 0, -2], session=session)  # x^3 - 2 y^3
    assert (one_real.m2["degrees"], one_real.m2["real_points"]) == ([3], 1)
    three = fibre(layer, [1, 0, -3, 1], session=session)
    assert (three.m2["degrees"], three.m2["real_points"]) == ([3], 3)


@pytest.mark.parametrize(
    ("d", "a", "rank"), [(2, 1, 1), (2, 2, 2), (2, 2, 1), (3, 2, 1), (2, 3, 1)]
)
def test_factorisations(session: Session, d, a, rank):
    layer = Layer(d, 1, a)
    Q, K = [[0] * d for _ in range(a)], [[0] * d for _ in range(a)]
    for k in range(rank):
        Q[k][k], K[k][d - 1 - k] = 1, 2
    answer = fibre(layer, Q=Q, K=K, V=[[1] * d])
    found = factorisation_primes(answer, answer.given, session)
    assert found["dimensions"] == [x - 1 for x in answer.components[answer.given].dimensions]
    assert found["radical"]


@pytest.mark.parametrize(("d", "a"), [(1, 1), (2, 1), (2, 2), (3, 1)])
def test_factorisations_of_forms(session: Session, d, a):
    layer = Layer(d, 2, a, 1)
    ones = [[1 + (k == p) for p in range(d)] for k in range(a)]
    answer = fibre(layer, Q=ones, K=ones[::-1], V=[[1] * d, [2] * d])
    assert not answer.is_zero
    found = factorisation_primes(answer, answer.given, session)
    # A split form over QQ: its two families of isotropic subspaces are rational too.
    assert found["dimensions"] == [x - 1 for x in answer.components[answer.given].dimensions]


def test_a_wrong_answer_is_not_confirmed(session: Session):
    answer = fibre(Layer(2, 1, 1), Q=[[1, 1]], K=[[0, 1]], V=[[1, 0]])
    with pytest.raises(VerificationError, match="M2 finds"):
        confirmed(replace(answer, components=answer.components[:1]), session)
    with pytest.raises(ValueError, match="not finite"):
        confirmed(fibre(Layer(2, 1, 1), [0] * 6), session)
    irrational = fibre(Layer(2, 1, 1), [1, 0, 0, 0, -2, 0])
    assert sympy.sqrt(2) in irrational.components[0].preimage.V.atoms(sympy.Pow)
    with pytest.raises(ValueError, match="rational"):
        factorisation_primes(irrational, 0, session)
