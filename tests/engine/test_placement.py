"""Where M2 runs: it is moved off the processor on which Python waits, and nothing else changes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from m2bridge.engine import Session, placement
from m2bridge.engine.placement import Placement

LONG, SHORT = 1e-3, 1e-6

pytestmark = pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="this system has no affinities"
)


@pytest.fixture
def moved(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The threads that were moved, while none is."""
    threads: list[int] = []
    monkeypatch.setattr(placement, "_busiest_thread", lambda keeper: keeper + 1)
    monkeypatch.setattr(placement, "_move_from_here", threads.append)
    return threads


@pytest.fixture
def busy() -> Iterator[int]:
    """A process that computes."""
    code = "print(flush=True)\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process.pid
        process.kill()


def calls(one: Placement, look: float, times: int) -> None:
    for _ in range(times):
        one.improve()
        one.waited(look)


def value(session: Session, code: str) -> str:
    return session.eval(code).segments[0].decode()


def stat(pid: int) -> list[str]:
    """What Linux says of a process, after its name: its parent is 1, its processor 36."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def processor_of(pid: int) -> int:
    return int(stat(pid)[36])


def test_m2_is_moved_only_after_several_calls_in_a_row_that_shared(moved: list[int]) -> None:
    one = Placement(7)
    for _ in range(5):
        calls(one, LONG, 3)
        calls(one, SHORT, 1)
    assert moved == []
    calls(one, LONG, 5)
    assert moved == [8]


def test_moves_that_do_not_help_become_rare(moved: list[int]) -> None:
    one = Placement(7)
    calls(one, LONG, 100_000)
    assert 8 < len(moved) < 40
    calls(one, SHORT, 1)
    before = len(moved)
    calls(one, LONG, 5)  # after one call alone it is tried again at once
    assert len(moved) == before + 1


def test_a_process_that_cannot_be_looked_at_is_left_alone() -> None:
    one = Placement(2**22 + 5)  # more than Linux has numbers for
    calls(one, LONG, 100)


def test_a_move_changes_the_processor_and_not_what_is_allowed(busy: int) -> None:
    mine = os.sched_getaffinity(0)
    if len(mine) < 2:
        pytest.skip("there is one processor only")
    here = min(mine)
    os.sched_setaffinity(0, {here})
    try:
        os.sched_setaffinity(busy, {here})
        os.sched_setaffinity(busy, mine)
        placement._move_from_here(busy)
        until = time.monotonic() + 5
        while processor_of(busy) == here and time.monotonic() < until:
            pass
        assert processor_of(busy) != here
        assert os.sched_getaffinity(busy) == mine
        os.sched_setaffinity(busy, {here})
        placement._move_from_here(busy)  # what the user has pinned stays
        assert os.sched_getaffinity(busy) == {here}
    finally:
        os.sched_setaffinity(0, mine)


@pytest.mark.m2
def test_the_thread_found_is_the_interpreter(session: Session) -> None:
    pid = int(value(session, "processID()"))
    thread = placement._busiest_thread(int(stat(pid)[1]))
    before = placement._ticks(Path(f"/proc/{pid}/task/{thread}"))
    value(session, "t = cpuTime(); while cpuTime() < t + 0.3 do 1")
    assert placement._ticks(Path(f"/proc/{pid}/task/{thread}")) >= before + 20


@pytest.mark.m2
def test_answers_are_right_while_m2_is_moved_at_every_call(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placement, "_LONG_SECONDS", -1.0)
    monkeypatch.setattr(placement, "_MOST_CALLS", 1)
    monkeypatch.setattr(placement, "_FEWEST_CALLS", 1)
    before = os.sched_getaffinity(int(value(session, "processID()")))
    assert [value(session, f"{k}+{k}") for k in range(300)] == [str(2 * k) for k in range(300)]
    assert os.sched_getaffinity(int(value(session, "processID()"))) == before
