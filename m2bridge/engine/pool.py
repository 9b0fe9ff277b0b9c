"""A pool of warm sessions, with the manners of ``concurrent.futures``."""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any, TypeVar

from m2bridge.engine.answers import interrupted_error
from m2bridge.engine.channel import Engine
from m2bridge.engine.opening import open_session
from m2bridge.engine.session import Answer, Session

__all__ = ["Pool"]

_Result = TypeVar("_Result")
_INTERRUPT_PAUSE_SECONDS = 0.2


class Pool(Executor):
    """Several Macaulay2 processes, kept warm, for jobs as futures.

    ``submit(fn, *args)`` calls ``fn(session, *args)`` in one of the pool's threads, with a session
    that is the job's alone while it runs; ``Macaulay2.on(session)`` gives it rings and ideals.
    Futures, ``map`` (results in order), ``cancel``, ``shutdown`` and exceptions behave as in
    ``concurrent.futures``. A session whose M2 has died is replaced; the job that killed it gets the
    exception.

    Args:
        workers: how many M2 run at once; by default as many as there are processors.
        engine: as for ``open_session``.
        path: the M2 executable of the local engine.
        memory: the limit of each M2.
        timeout: seconds that any one call of a job may take.
        isolate: True gives every job a fresh M2, started ahead while others work (0.4 to 1.3 s of
            a processor for each job). False hands processes on from job to job: much faster for
            small jobs, but a job then sees what earlier ones have defined.

    As there, Python waits at its exit for jobs that were submitted; ``timeout`` bounds that. A pool
    belongs to the process that made it: a fork has to make its own.

    Raises:
        ValueError, TypeError: bad arguments.
        M2NotFoundError, DockerError: the engine cannot be used here.
    """

    def __init__(
        self,
        workers: int | None = None,
        engine: str | Engine | None = None,
        *,
        path: str | os.PathLike[str] | None = None,
        memory: str | int | None = None,
        timeout: float | None = None,
        isolate: bool = True,
    ) -> None:
        count = _checked_workers(workers)
        # Arguments are checked and the engine is looked up once, here and not in a thread.
        chosen = open_session(engine, path=path, memory=memory, timeout=timeout).engine
        self._shown = f"{count} workers, {chosen.description}"
        self._isolate = isolate
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self._running: set[_Running] = set()
        self._threads = ThreadPoolExecutor(count, "m2bridge-pool")
        self._supply = _Supply(count, lambda: open_session(chosen, memory=memory, timeout=timeout))

    def submit(self, fn: Callable[..., _Result], /, *args: Any, **kwargs: Any) -> Future[_Result]:
        """Schedules ``fn(session, *args, **kwargs)``.

        Raises:
            RuntimeError: the pool is shut down, or was made before this process was forked.
        """
        if self._forked():
            raise RuntimeError("this pool belongs to the process that made it; make another here")
        return self._threads.submit(self._run, fn, args, kwargs)

    def submit_eval(self, code: str, *, timeout: float | None = None) -> Future[Answer]:
        """Schedules ``session.eval(code)``; the result's ``text`` is the value's."""
        return self.submit(Session.eval, code, timeout=timeout)

    def submit_script(self, script: str, *, timeout: float | None = None) -> Future[Answer]:
        """Schedules ``session.run_script(script)``."""
        return self.submit(Session.run_script, script, timeout=timeout)

    def interrupt(self) -> None:
        """Stops the jobs that are running now: they raise M2InterruptedError."""
        with self._lock:
            for job in self._running:
                if job.session is None:  # its M2 is still coming up
                    job.unwanted = True
                else:
                    job.session.interrupt()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """As in ``concurrent.futures``; the sessions end when the jobs have."""
        if self._forked():
            return
        self._threads.shutdown(wait=wait, cancel_futures=cancel_futures)
        if wait:
            self._supply.close()
        else:
            threading.Thread(target=self._close_later, daemon=True).start()

    def _close_later(self) -> None:
        self._threads.shutdown(wait=True)
        self._supply.close()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Waits for the jobs; when an exception (Ctrl-C) leaves the block, stops them instead."""
        if kind is not None and not self._forked():
            self._threads.shutdown(wait=False, cancel_futures=True)
            ending = threading.Thread(target=self._threads.shutdown, daemon=True)
            ending.start()
            while ending.is_alive():  # a job may not have begun to wait for its M2
                self.interrupt()
                ending.join(_INTERRUPT_PAUSE_SECONDS)
        self.shutdown()

    def __repr__(self) -> str:
        return f"<Pool, {self._shown}>"

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a pool holds running Macaulay2s and cannot be pickled")

    def _forked(self) -> bool:
        """Whether this is a copy in a fork: its threads did not come with it."""
        return os.getpid() != self._owner

    def _run(
        self, fn: Callable[..., _Result], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> _Result:
        job = _Running()
        with self._lock:
            self._running.add(job)
        try:
            session = self._supply.take()
            with self._lock:
                job.session = session
            if job.unwanted:
                self._supply.give_back(session, fresh=False)
                raise interrupted_error("", state_kept=True)
            try:
                return fn(session, *args, **kwargs)
            finally:
                self._supply.give_back(session, fresh=self._isolate)
        finally:
            with self._lock:
                self._running.discard(job)


class _Running:
    """A job that has begun, and its session once it has one."""

    session: Session | None = None
    unwanted = False


class _Supply:
    """Sessions that are up, or coming up in the background."""

    def __init__(self, count: int, make: Callable[[], Session]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._starters = ThreadPoolExecutor(count, "m2bridge-start")
        self._coming: deque[Future[Session]] = deque()
        self._closed = False
        for _ in range(count):
            self._order()

    def take(self) -> Session:
        """A warm session. Raises what its start raised; then another is started."""
        with self._lock:
            coming = self._coming.popleft()
        try:
            return coming.result()
        except BaseException:
            self._order()
            raise

    def give_back(self, session: Session, *, fresh: bool) -> None:
        """Takes a session back after a job; a used-up or closed one is replaced."""
        if fresh or session.closed:
            self._order()
            session.close()
            return
        ready: Future[Session] = Future()
        ready.set_result(session)
        with self._lock:
            self._coming.append(ready)

    def close(self) -> None:
        """Ends all sessions, once they are up."""
        with self._lock:
            self._closed = True
            coming, self._coming = self._coming, deque()
        for future in coming:
            future.cancel()
        self._starters.shutdown(wait=True)
        for future in coming:
            if not future.cancelled() and future.exception() is None:
                future.result().close()

    def _order(self) -> None:
        with self._lock, contextlib.suppress(RuntimeError):
            if not self._closed:
                self._coming.append(self._starters.submit(self._started))

    def _started(self) -> Session:
        session = self._make()
        try:
            session.start()
        except BaseException:
            session.close()
            raise
        return session


def _checked_workers(workers: int | None) -> int:
    if workers is None:
        return os.cpu_count() or 1
    if isinstance(workers, bool) or not isinstance(workers, int):
        raise TypeError(f"the number of workers is an int, not {workers!r}")
    if workers < 1:
        raise ValueError(f"a pool needs at least one worker, not {workers}")
    return workers
