"""The session: what lives on M2's side, and what happens when that side is gone."""

from __future__ import annotations

import gc
import threading
from typing import Any

import pytest
from sympy import QQ, Symbol, symbols

from m2bridge.algebra import Macaulay2
from m2bridge.engine import Pool, Session
from m2bridge.errors import EngineError, M2CrashedError, M2Error, M2TimeoutError
from tests.algebra.strategies import NAMES

pytestmark = pytest.mark.m2
x, y, z = symbols("x y z")


def test_raw_code() -> None:
    with Macaulay2(timeout=60) as m2:
        assert m2.eval("2+2") == "4"
        assert m2.version.startswith("1.")
        with pytest.raises(M2Error, match="division by zero"):
            m2.eval("1/0")
        assert m2.run_script('needsPackage "M2Bridge"; bridgeAnswer {1, 2/3}').segments == (
            b'[1,"2/3"]',
        )
    with pytest.raises(EngineError, match="closed"):
        m2.eval("1")


def test_arguments_are_checked_first() -> None:
    for wrong in ({"timeout": -1}, {"memory": "much"}, {"engine": "cloud"}):
        with pytest.raises(ValueError):
            Macaulay2(**wrong)  # type: ignore[arg-type]
    with Macaulay2() as m2:
        for nothing in (5, m2, m2.session):  # a session starts M2, but is no engine
            with pytest.raises(TypeError, match="an engine is 'local' or 'docker'"):
                Macaulay2(nothing)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="a session of m2bridge is needed"):
            Macaulay2.on(m2)  # type: ignore[arg-type]


def test_several_may_ask_one_session() -> None:
    """Objects of one are known to the other, and what is let go is let go for all."""
    with Macaulay2(timeout=60) as m2:
        ideal = m2.ring([x, y]).ideal(x**2, x * y)
        assert ideal.degree == 1
        other = Macaulay2.on(m2.session)
        assert other.eval("2+2") == "4"
        ring = other.ring([x, y])
        assert ring.ideal(x) == ring.ideal(x, x * y)
        assert ring.ideal(x) >= ideal
        assert m2.session.generation == 1
        with pytest.raises(M2CrashedError):
            other.eval("exit 3")
        assert ideal.trim().degree == ring.ideal(x * y, x**2).degree == 1
        assert m2.session.generation == 2
    with pytest.raises(EngineError, match="closed"):
        other.eval("1")


@pytest.mark.parametrize("isolate", [True, False])
def test_the_jobs_of_a_pool_have_the_algebra(isolate: bool) -> None:
    def corners(session: Session, k: int) -> list[Any]:
        ring = Macaulay2.on(session).ring([x, y])
        return [g.as_expr() for g in ring.ideal(x**k - y, y**2).eliminate(y).generators]

    with Pool(2, isolate=isolate, timeout=60) as pool:
        assert list(pool.map(corners, range(1, 5))) == [[x ** (2 * k)] for k in range(1, 5)]


def test_nothing_starts_before_the_first_question() -> None:
    m2 = Macaulay2()
    ideal = m2.ring("x y").ideal(x)
    assert ideal.generators == [m2.ring("x y").polynomial(x)]
    assert m2.session.generation == 0
    assert ideal.dimension == 1
    assert m2.session.generation == 1
    m2.close()


def test_objects_outlive_the_process() -> None:
    """After a crash, and after a time-out, whatever a question needs is sent again."""
    with Macaulay2(timeout=60) as m2:
        ring = m2.ring([x, y, z])
        ideal = ring.ideal(x**2 - y * z, x * y - z**2)
        other = ideal.quotient(x)  # made by M2
        matrix = ring.matrix([[x, y], [y, z]])
        phi = ring.map(ring, [y, z, x])
        assert matrix.rank() == 2
        with pytest.raises(M2CrashedError):
            m2.eval("exit 3")
        assert ideal.degree == 4
        assert other.intersect(ideal) == ideal
        assert matrix.minors(2) == ring.ideal(x * z - y**2)
        assert m2.session.generation == 2
        with pytest.raises(M2TimeoutError):
            m2.eval("while true do 1", timeout=0.5)
        assert phi(x) == ring.polynomial(y)
        assert other.saturate(x) == ideal.saturate(x)
        assert m2.session.generation == 3


def test_macaulay2_forgets_what_python_forgot(m2: Macaulay2) -> None:
    ring = m2.ring([x])

    def held() -> int:
        return int(m2.ask("held", ring).data)

    gc.collect()
    ring.ideal(x).groebner_basis()
    before = held()
    kept = [ring.ideal(x**i).radical() for i in range(1, 30)]
    assert held() > before
    del kept
    gc.collect()
    assert held() <= before + 1


def test_names_never_reach_macaulay2(m2: Macaulay2) -> None:
    for name in NAMES:
        plain, other = Symbol(name), Symbol(name, positive=True)
        ring = m2.ring([plain, other])
        ideal = ring.ideal(plain**2 - other, plain * other - 1)
        assert ideal.eliminate(plain).generators == [ring.polynomial(other**3 - 1)]


def test_users_code_does_not_disturb(m2: Macaulay2) -> None:
    m2.eval("R = 5; x = 7; things = 0; keep = 0; operation = 1; ideal2 = 3; K = 1; toString 1")
    assert m2.ring([x]).ideal(x**2).degree == 2


def test_equal_rings_meet(m2: Macaulay2) -> None:
    first, second = m2.ring("x y"), m2.ring([x, y], domain=QQ, order="grevlex")
    assert first.ideal(x) + second.ideal(y) == second.ideal(x, y)
    # renamed variables are the same ring for M2, not for us
    assert first.ideal(x) != m2.ring("a b").ideal(Symbol("a"))


def test_two_sessions_meet(m2: Macaulay2) -> None:
    with Macaulay2(timeout=60) as other:
        here, there = m2.ring([x, y]), other.ring([x, y])
        common = here.ideal(x).intersect(there.ideal(y))
        assert common == here.ideal(x * y)
        assert there.ideal(x * y) == common


def test_several_threads(m2: Macaulay2) -> None:
    ring = m2.ring([x, y])
    wrong: list[Any] = []

    def ask(k: int) -> None:
        for i in range(1, 8):
            if ring.ideal(x**i, y**k).degree != i * k:
                wrong.append((i, k))

    threads = [threading.Thread(target=ask, args=(k,)) for k in range(1, 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_an_error_of_macaulay2_leaves_the_session(m2: Macaulay2) -> None:
    ring = m2.ring([x])
    generation = m2.session.generation
    with pytest.raises(M2Error):
        m2.ask("nonsense", ring)
    assert ring.ideal(x).dimension == 0
    assert m2.session.generation == generation


@pytest.mark.parametrize("package", ["M2Bridge", "M2Algebra"])
def test_macaulay2s_half_passes_its_own_tests(m2: Macaulay2, package: str) -> None:
    m2.ask("held", m2.ring([x]))  # loads the packages
    assert int(m2.eval(f'#tests "{package}"')) > 0
    m2.eval(f'check "{package}"')
