"""Equations against Macaulay2: equality of ideals, certificates, peers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import pytest
import sympy

from m2bridge.attention.layer import Layer
from m2bridge.engine import Session, open_session
from m2bridge.errors import EngineError, VerificationError
from m2bridge.geometry.certificates import betti_numbers, hilbert_series_of
from m2bridge.geometry.elimination import same_ideal
from m2bridge.geometry.hilbert import hilbert_series
from m2bridge.geometry.implicit import implicit_ideal
from m2bridge.geometry.peers import multigraded_available

pytestmark = pytest.mark.m2


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    opened = open_session(timeout=250)
    yield opened
    opened.close()


@pytest.mark.parametrize(
    "sizes",
    [
        (1, 2, 1),
        (2, 1, 1),
        (2, 1, 2),
        (2, 2, 1),
        (2, 2, 2),
        (2, 3, 2),
        (3, 1, 1),
        pytest.param((3, 1, 3), marks=pytest.mark.slow),
        (2, 1, 1, 1),
        (2, 2, 1, 1),
        (2, 3, 1, 1),
        pytest.param((3, 1, 1, 1), marks=pytest.mark.slow),
    ],
)
def test_same_ideal_as_elimination(sizes: tuple[int, ...], session: Session) -> None:
    layer = Layer(*sizes)
    ours = implicit_ideal(layer, session=session)
    reference = implicit_ideal(layer, method="elimination", session=session)
    assert ours.complete is True
    assert reference.complete is True
    assert ours.generators_by_degree == reference.generators_by_degree
    assert same_ideal(list(ours.generators), list(reference.generators), layer.symbols, session)
    reference.verify()


@pytest.mark.parametrize("sizes", [(2, 1, 2), (2, 2, 1), (2, 3, 2), (3, 1, 1), (3, 1, 3)])
def test_hilbert_series_over_a_prime_and_over_the_rationals(
    sizes: tuple[int, ...], session: Session
) -> None:
    layer = Layer(*sizes)
    ideal = implicit_ideal(layer)
    for prime in (0, 32003) if sizes != (3, 1, 3) else (32003,):
        found = hilbert_series_of(
            ideal.sparse_generators(), layer.ambient_dimension, session, prime=prime
        )
        assert found == hilbert_series(layer)


def test_macaulay2_settles_one_token(session: Session) -> None:
    ideal = implicit_ideal(Layer(3, 1, 1, 1), session=session)
    assert ideal.complete is True
    assert "unmixed" in ideal.certificate


@pytest.mark.slow
def test_macaulay2_settles_3_2_1_by_the_hilbert_series(session: Session) -> None:
    ideal = implicit_ideal(Layer(3, 2, 1), max_degree=4, session=session)
    assert ideal.complete is True
    assert ideal.generators_by_degree == {2: 198, 3: 40, 4: 225}


def test_macaulay2_refutes_too_few_equations(session: Session) -> None:
    ideal = implicit_ideal(Layer(3, 1, 2, 1), max_degree=4, session=session)
    assert ideal.complete is False


@pytest.mark.parametrize("sizes", [(2, 2, 1), (3, 1, 2)])
def test_low_rank_is_full_rank_plus_minors_of_the_flattening(
    sizes: tuple[int, int, int], session: Session
) -> None:
    d, d_out, a = sizes
    layer, full = Layer(d, d_out, a), Layer(d, d_out, d)
    place = {
        (c.output, c.pair, c.column): s
        for c, s in zip(layer.coordinates, layer.symbols, strict=True)
    }
    rows = sorted({(c.output, c.pair) for c in layer.coordinates})
    minors = [
        sympy.Matrix(a + 1, a + 1, lambda i, j, r=r, q=q: place[(*r[i], q[j])]).det()
        for r in combinations(rows, a + 1)
        for q in combinations(range(d), a + 1)
    ]
    built = list(implicit_ideal(full).generators) + [sympy.Poly(m, *layer.symbols) for m in minors]
    ours = list(implicit_ideal(layer).generators)
    assert same_ideal(ours, built, layer.symbols, session)


def test_a_hilbert_series_that_is_too_large_leads_to_more_generators(session: Session) -> None:
    ideal = implicit_ideal(Layer(3, 2, 1), max_degree=3, session=session)
    assert ideal.complete is False
    assert "225 of degree 4" in ideal.certificate


def test_betti_numbers(session: Session) -> None:
    layer = Layer(2, 1, 1)
    ideal = implicit_ideal(layer)
    # Three quadrics, the 2 x 2 minors of a generic 2 x 3 matrix: Hilbert-Burch.
    expected = {(0, 0): 1, (1, 2): 3, (2, 3): 2}
    assert betti_numbers(ideal.sparse_generators(), 6, session) == expected
    assert ideal.betti_numbers(session, prime=32003) == expected
    assert ideal.hilbert_series(session) == ideal.hilbert_series()


def test_multigraded_is_the_same_or_says_why_not(session: Session) -> None:
    layer = Layer(2, 1, 1)
    if not multigraded_available(session):
        with pytest.raises(EngineError, match="MultigradedImplicitization"):
            implicit_ideal(layer, method="multigraded", session=session)
        return
    peer = implicit_ideal(layer, method="multigraded", max_degree=2, session=session)
    ours = list(implicit_ideal(layer).generators)
    assert same_ideal(list(peer.generators), ours, layer.symbols, session)
    peer.verify()


def test_elimination_can_be_cut_off(session: Session) -> None:
    ideal = implicit_ideal(Layer(2, 2, 2), method="elimination", max_degree=2, session=session)
    assert ideal.generators_by_degree == {2: 5}
    assert ideal.complete is False
    with pytest.raises(VerificationError):
        ideal.with_generators([ideal.generators[0] ** 2]).verify()
