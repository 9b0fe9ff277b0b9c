"""The pool: the manners of concurrent.futures, over processes that die. With a stand-in for M2."""

from __future__ import annotations

import contextlib
import os
import pickle
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, as_completed
from pathlib import Path

import pytest

from m2bridge.engine import Answer, Installation, Pool, Session
from m2bridge.errors import (
    M2CrashedError,
    M2Error,
    M2InterruptedError,
    M2NotFoundError,
    M2TimeoutError,
)
from tests.engine.test_lifecycle import descendants, descriptors


@pytest.fixture
def pool(fake: Path, temporary: Path) -> Iterator[Pool]:
    with Pool(2, path=fake, timeout=30, isolate=False) as opened:
        yield opened
    assert list(temporary.iterdir()) == []


def total(session: Session, a: int, b: int) -> int:
    return int(session.eval(f"sum {a} {b}").segments[0])


def pid(session: Session) -> int:
    return int(session.eval("pid").segments[0])


def test_jobs_and_results(pool: Pool) -> None:
    futures = {pool.submit(total, k, b=1): k for k in range(30)}
    assert {futures[f]: f.result() for f in as_completed(futures)} == {k: k + 1 for k in range(30)}
    assert pool.submit_eval("sum 1 2").result().segments == (b"3",)


def test_map_keeps_the_order(pool: Pool) -> None:
    assert list(pool.map(total, range(40), range(40))) == [2 * k for k in range(40)]


def test_an_exception_reaches_the_future(pool: Pool) -> None:
    assert isinstance(pool.submit_eval("fail so").exception(), M2Error)
    with pytest.raises(ZeroDivisionError):
        pool.submit(lambda session: 1 // 0).result()
    assert pool.submit(total, 1, 1).result() == 2


def test_a_dead_worker_is_replaced(pool: Pool) -> None:
    futures = [pool.submit_eval("die 1") for _ in range(4)]
    assert all(isinstance(future.exception(), M2CrashedError) for future in futures)
    assert list(pool.map(total, range(6), range(6))) == [0, 2, 4, 6, 8, 10]


def test_a_session_that_a_job_closed_is_replaced(pool: Pool) -> None:
    for _ in range(3):
        pool.submit(Session.close).result()
    assert pool.submit(total, 1, 1).result() == 2


def test_cancelling_what_has_not_begun(pool: Pool) -> None:
    gate = threading.Event()
    busy = [pool.submit(lambda session: gate.wait(20)) for _ in range(2)]
    waiting = pool.submit(total, 1, 1)
    time.sleep(0.5)
    assert waiting.cancel()
    gate.set()
    with pytest.raises(CancelledError):
        waiting.result()
    assert all(future.result() for future in busy)


def test_waiting_for_a_result_has_a_limit_and_the_job_goes_on(pool: Pool) -> None:
    gate = threading.Event()
    future = pool.submit(lambda session: gate.wait(20))
    with pytest.raises(TimeoutError):
        future.result(timeout=0.05)
    gate.set()
    assert future.result()


def test_the_time_limit_of_a_job(pool: Pool) -> None:
    assert isinstance(pool.submit_eval("hang", timeout=0.3).exception(), M2TimeoutError)
    assert pool.submit(total, 1, 1).result() == 2


def test_interrupting_the_jobs_that_run(pool: Pool) -> None:
    futures = [pool.submit_eval("hang") for _ in range(2)]
    while not all(future.running() for future in futures):
        time.sleep(0.01)
    time.sleep(0.5)
    pool.interrupt()
    assert all(isinstance(future.exception(), M2InterruptedError) for future in futures)


def test_interrupting_a_job_whose_m2_is_still_coming_up(
    fake: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_M2_SLOW", "1")
    with Pool(1, path=fake, timeout=30) as pool:
        job = pool.submit_eval("hang")
        while not job.running():
            time.sleep(0.01)
        pool.interrupt()
        assert isinstance(job.exception(timeout=20), M2InterruptedError)
        assert pool.submit(total, 1, 1).result() == 2


def test_isolated_jobs_never_share_a_process(fake: Path, temporary: Path) -> None:
    with Pool(2, path=fake, timeout=30) as pool:
        pids = list(pool.map(pid_of, range(8)))
    assert len(set(pids)) == 8
    assert list(temporary.iterdir()) == []


def pid_of(session: Session, number: int) -> int:
    return pid(session)


def test_shared_processes_are_used_again(pool: Pool) -> None:
    assert len({pool.submit(pid).result() for _ in range(10)}) <= 2


def test_an_exception_stops_a_job_that_has_not_yet_asked(fake: Path, temporary: Path) -> None:
    def late(session: Session) -> Answer:
        time.sleep(0.5)
        return session.eval("hang")

    futures: list[Future[Answer]] = []

    def leave() -> None:
        with Pool(1, path=fake, timeout=60) as pool:
            futures.append(pool.submit(late))
            while not futures[0].running():
                time.sleep(0.01)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        leave()
    assert isinstance(futures[0].exception(), M2InterruptedError)


def test_an_exception_in_the_block_stops_the_jobs(fake: Path, temporary: Path) -> None:
    begun = time.monotonic()
    futures: list[Future[Answer]] = []

    def block() -> None:
        with Pool(1, path=fake, timeout=30) as pool:
            futures.extend(pool.submit_eval("hang") for _ in "12")
            while not futures[0].running():
                time.sleep(0.01)
            time.sleep(0.7)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        block()
    running, waiting = futures
    assert time.monotonic() - begun < 20
    assert isinstance(running.exception(), M2InterruptedError)
    assert waiting.cancelled()


def test_a_fork_has_no_part_in_a_pool(pool: Pool) -> None:
    """Its threads did not come along, so a job would wait for ever."""
    pool.submit(total, 1, 1).result()
    child = os.fork()
    if child == 0:
        try:
            with pool:
                pool.submit(total, 1, 1)
        except RuntimeError as error:
            os._exit(7 if "belongs to the process" in str(error) else 1)
        finally:
            os._exit(2)
    deadline = time.monotonic() + 20
    while (ended := os.waitpid(child, os.WNOHANG))[0] == 0 and time.monotonic() < deadline:
        time.sleep(0.01)
    if ended[0] == 0:
        os.kill(child, signal.SIGKILL)
    assert os.waitstatus_to_exitcode(ended[1]) == 7
    assert ended[0] == child
    assert pool.submit(total, 1, 1).result() == 2


def test_a_pool_cannot_be_pickled(pool: Pool) -> None:
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(pool)


def test_after_shutdown(fake: Path, temporary: Path) -> None:
    pool = Pool(1, path=fake, timeout=30)
    future = pool.submit(total, 1, 1)
    pool.shutdown(wait=False)
    with pytest.raises(RuntimeError):
        pool.submit(total, 1, 1)
    assert future.result() == 2
    deadline = time.monotonic() + 10
    while list(temporary.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert list(temporary.iterdir()) == []


def test_a_start_that_fails_is_told_and_tried_again(
    fake: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_M2_PROTOCOL", "0")
    with Pool(1, path=fake, timeout=30) as pool:
        assert "different versions" in str(pool.submit(total, 1, 1).exception())
        monkeypatch.delenv("FAKE_M2_PROTOCOL")
        pool.submit(total, 1, 1).exception()  # this one may have been started before
        assert pool.submit(total, 1, 1).result() == 2


@pytest.mark.parametrize(
    ("workers", "error"), [(0, ValueError), (True, TypeError), (1.5, TypeError)]
)
def test_numbers_of_workers_that_are_none(workers: int, error: type[Exception]) -> None:
    with pytest.raises(error, match="worker"):
        Pool(workers)


def test_no_m2(tmp_path: Path) -> None:
    with pytest.raises(M2NotFoundError):
        Pool(1, path=tmp_path / "nothing")


def soak(executable: Path, jobs: int, pause: float, job: Callable[[Session, int], int]) -> None:
    """Jobs (each gives three times its number) under random kills of M2 and of keepers.

    No answer may be wrong, and nothing may be left running or open.
    """
    with Pool(1, path=executable, timeout=60) as first:
        first.submit(job, 1).result()
    before, children = descriptors(), descendants()
    dice = random.Random(20260101)
    stop = threading.Event()
    killed = 0

    def kill_at_random() -> None:
        nonlocal killed
        while not stop.wait(pause * (0.3 + dice.random())):
            victims = sorted(descendants() - children)
            if victims:
                number = dice.choice([signal.SIGKILL, signal.SIGINT, signal.SIGSEGV])
                with contextlib.suppress(ProcessLookupError):
                    os.kill(dice.choice(victims), number)
                    killed += 1

    killer = threading.Thread(target=kill_at_random)
    outcomes: Counter[str] = Counter()
    with Pool(3, path=executable, timeout=60, isolate=False) as pool:
        killer.start()
        futures = {pool.submit(job, k): k for k in range(jobs)}
        for future in as_completed(futures):
            error = future.exception()
            outcomes["answered" if error is None else "failed"] += 1
            if error is None:
                assert future.result() == 3 * futures[future]
            else:
                assert isinstance(error, M2CrashedError | M2Error), error
        stop.set()
        killer.join()
    assert sum(outcomes.values()) == jobs
    assert killed > 0
    assert outcomes["failed"] <= 2 * killed  # a kill may spoil a job and the next one's start
    deadline = time.monotonic() + 10
    while descendants() - children and time.monotonic() < deadline:
        time.sleep(0.05)
    assert descendants() - children == set()
    assert descriptors() == before


def fake_job(session: Session, k: int) -> int:
    time.sleep(0.005)
    return total(session, total(session, k, k), k)


def real_job(session: Session, k: int) -> int:
    return int(session.eval(f"sum apply(3 * {k}, i -> 1)").segments[0])


@pytest.mark.parametrize(
    "jobs", [200, pytest.param(10_000, marks=[pytest.mark.slow, pytest.mark.timeout(3600)])]
)
def test_soak(fake: Path, temporary: Path, jobs: int) -> None:
    soak(fake, jobs, 0.15, fake_job)
    assert list(temporary.iterdir()) == []


@pytest.mark.m2
@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_soak_on_a_real_m2(installation: Installation, temporary: Path) -> None:
    soak(installation.path, 10_000, 2.0, real_job)
    assert list(temporary.iterdir()) == []
