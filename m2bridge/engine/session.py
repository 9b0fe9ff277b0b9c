"""A session: one warm Macaulay2, asked one thing at a time through frames."""

from __future__ import annotations

import logging
import os
import threading
import time
import weakref
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from m2bridge.engine.answers import Answer, encoded, interrupted_error, opened
from m2bridge.engine.channel import Engine, Exit, Limits, checked_timeout
from m2bridge.engine.conversation import Conversation, NoReactionError
from m2bridge.engine.frames import Frame
from m2bridge.errors import (
    EngineError,
    M2CrashedError,
    M2InterruptedError,
    M2MemoryError,
    M2TimeoutError,
    WireError,
)

__all__ = ["Answer", "Session"]

_log = logging.getLogger("m2bridge.engine")
_SHORT_SECONDS = 0.1
_LEAST_START_SECONDS = 10.0  # a busy machine may need some seconds for what takes one
_DYING_SECONDS = 2.0  # a process that closed its channel has this long to end by itself


class Session:
    """One M2 process, started at the first use.

    Args:
        engine: how M2 is started.
        limits: memory and start-up time.
        timeout: seconds that any one call may take; a call may set its own.
        session_timeout: seconds that all calls together may take, starts of M2 included.

    M2's start does not count in ``timeout``, but has as long as that, though never less than 10
    and never more than 60 seconds; in ``session_timeout`` it counts.

    Several threads may share a session; their calls take turns, and a call's time begins when
    its turn has come. In asyncio, or in a notebook that must not stand still, let a thread wait:
    ``await asyncio.to_thread(session.eval, code)``. To cancel the waiting does not stop M2:
    ``session.interrupt()`` does.

    After a time-out or a crash the process is gone; the next call starts a new one, and
    ``generation`` has grown: whatever was defined in M2 before is lost. A fork of the Python
    process has no part in its parent's M2; its copy of the session starts one of its own.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        limits: Limits | None = None,
        timeout: float | None = None,
        session_timeout: float | None = None,
    ) -> None:
        self._engine = engine
        self._limits = limits or Limits()
        self.timeout = checked_timeout(timeout)
        self.session_timeout = checked_timeout(session_timeout)
        self._spent = 0.0
        self._lock = threading.RLock()
        self._talk: Conversation | None = None
        self._hello: Frame | None = None
        self._script = 0
        self._closed = False
        self._generation = 0
        self._state_lost = False
        self._starting = False
        self._unwanted = False  # whether the start is to be given up
        _sessions.add(self)

    @property
    def engine(self) -> Engine:
        """The engine that starts this session's M2."""
        return self._engine

    @property
    def generation(self) -> int:
        """How many M2 processes this session has started so far."""
        return self._generation

    @property
    def state_lost(self) -> bool:
        """Whether an M2 of this session has ended early, and with it what was defined there."""
        return self._state_lost

    @property
    def closed(self) -> bool:
        """Whether ``close`` was called."""
        return self._closed

    @property
    def m2_version(self) -> str:
        """M2's own version; starts M2 if need be."""
        with self._lock:
            self.start()
            assert self._hello is not None
            return self._hello.segments[1].decode("ascii")

    def start(self) -> None:
        """Starts M2 now if it does not run yet.

        Raises:
            EngineError, M2CrashedError, M2TimeoutError, M2MemoryError: it does not come up.
            M2NotFoundError: it is too old.
            M2InterruptedError: ``interrupt`` or ``close`` was called.
        """
        with self._lock:
            if self._closed:
                raise EngineError("this session is closed; open a new one")
            if self._talk is not None:
                return
            begun = time.monotonic()
            seconds = self._start_seconds()
            self._starting, self._unwanted = True, False
            try:
                self._come_up(begun, seconds)
            finally:
                self._starting = False
                self._spent += time.monotonic() - begun
            if self._unwanted:  # said in its last moment
                raise interrupted_error("", state_kept=True)
            _log.debug("%s started in %.2f s", self._engine.description, time.monotonic() - begun)

    def _come_up(self, begun: float, seconds: float) -> None:
        """Starts M2 and waits for its hello."""
        talk = Conversation(self._engine.start(self._limits))
        try:
            hello = talk.hello(begun + seconds, lambda: self._unwanted)
        except EOFError:
            raise self._explained(talk.end(_DYING_SECONDS), "starting") from None
        except TimeoutError:
            words = talk.end().transcript.strip()[-500:]
            raise M2TimeoutError(
                f"Macaulay2 did not come up within {seconds:.2g} s; its process was ended. It"
                f" had said: {words or 'nothing'}"
            ) from None
        except NoReactionError:
            talk.end()
            raise M2InterruptedError(
                "Macaulay2 was interrupted while it came up; its process was ended",
                state_kept=False,
            ) from None
        except BaseException:
            talk.end()
            raise
        self._talk, self._hello = talk, hello
        self._generation += 1

    def call(
        self,
        operation: str,
        segments: Sequence[bytes] = (),
        *,
        timeout: float | None = None,
        code: str = "",
    ) -> Answer:
        """Runs one operation of M2Bridge.m2 and waits for its answer.

        Args:
            operation: a name that ``bridgeOperation`` defined.
            segments: its data.
            timeout: seconds; by default the session's.
            code: the code behind the call, for error messages.

        Raises:
            M2Error: M2 said no; the session goes on.
            M2InterruptedError: ``interrupt`` was called; it says whether the session goes on.
            M2TimeoutError, M2MemoryError, M2CrashedError: the process is gone.
            KeyboardInterrupt: Ctrl-C. M2 was interrupted, too, and keeps its state where it came
                back in step; otherwise it was ended, and ``state_lost`` is true.
        """
        limit = self.timeout if timeout is None else checked_timeout(timeout)
        with self._lock:
            if self._talk is None or self._closed:
                self.start()
            talk = self._talk
            assert talk is not None
            begun = time.monotonic()
            deadline = self._deadline(begun, limit)
            try:
                frame = talk.ask(operation.encode("ascii"), segments, deadline)
            except EOFError:
                self._forget()
                how = talk.end(_DYING_SECONDS)
                if talk.interrupted and not how.out_of_memory:  # at a moment that M2 did not stand
                    raise interrupted_error(code, state_kept=False) from None
                raise self._explained(how, operation) from None
            except TimeoutError:
                self._lose("the time limit passed")
                raise self._too_late(operation, limit, deadline) from None
            except WireError as error:
                self._forget()
                raise M2CrashedError(
                    f"during {operation}: {error}; {talk.end().describe()}"
                ) from error
            except NoReactionError:
                self._lose("it did not react to an interrupt")
                raise interrupted_error(code, state_kept=False) from None
            except EngineError:
                raise
            except BaseException:
                self._settle(talk)
                raise
            finally:
                self._spent += time.monotonic() - begun
            return opened(frame, code, talk.interrupted)

    def eval(self, code: str, *, timeout: float | None = None) -> Answer:
        """Evaluates raw M2 code: the one place where a user's text becomes M2 code.

        The answer's ``text`` is the last value's (M2's ``toString``), ``output`` what was printed.
        """
        return self.call("eval", [encoded(code)], timeout=timeout, code=code)

    def run_script(self, script: str, *, timeout: float | None = None) -> Answer:
        """Runs a whole script that ends with ``bridgeAnswer``; ``text`` is its JSON."""
        data = encoded(script)
        with self._lock:
            self.start()
            assert self._talk is not None
            folder = self._talk.channel.folder
            if folder is None:
                return self.call("scripttext", [data], timeout=timeout, code=script)
            self._script += 1
            # whole, because code may have changed M2's folder or path
            file = Path(folder, f"job{self._script}.m2")
            try:
                if not file.parent.exists():  # the machine cleans its temporary folders
                    file.parent.mkdir(mode=0o700)
                file.write_bytes(data)
            except OSError as error:
                raise EngineError(f"the script cannot be written to {folder}: {error}") from error
            try:
                return self.call("script", [os.fsencode(file)], timeout=timeout, code=script)
            finally:
                file.unlink(missing_ok=True)

    def interrupt(self) -> bool:
        """Stops the call that another thread waits for: it raises M2InterruptedError there.

        Safe to call from any thread and from a signal handler. Nothing happens, and False comes
        back, when no call is under way. A call that is done within its first 20 ms ends as if
        nothing had been asked: so early a signal could end M2.
        """
        if self._starting:
            self._unwanted = True
            return True
        talk = self._talk
        return talk is not None and talk.interrupt()

    def close(self) -> None:
        """Ends M2, and interrupts a call that another thread waits for. May be called again."""
        self._closed = True
        while not self._lock.acquire(timeout=_SHORT_SECONDS):
            self.interrupt()
        try:
            talk, self._talk = self._talk, None
            if talk is not None:
                talk.end()
        finally:
            self._lock.release()

    def __repr__(self) -> str:
        if self._closed:
            state = "closed"
        elif self._talk is None:
            state = "not started"
        else:
            assert self._hello is not None
            state = f"version {self._hello.segments[1].decode('ascii', 'replace')}"
        return f"<{type(self).__name__}, {state}, {self._engine.description}>"

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError(
            "a session holds a running Macaulay2 and cannot be pickled; open another one in the"
            " other process"
        )

    # ------------------------------------------------------------- time limits

    def _start_seconds(self) -> float:
        """How long M2 may take to come up."""
        seconds = self._limits.start_seconds
        if self.timeout is not None:
            seconds = min(seconds, max(self.timeout, _LEAST_START_SECONDS))
        left = self._budget()
        return seconds if left is None else min(seconds, left)

    def _budget(self) -> float | None:
        """What is left of the time for the whole session; the last moment is never reached."""
        if self.session_timeout is None:
            return None
        left = self.session_timeout - self._spent
        if left <= 0:
            self._lose("the session's time is used up")
            raise M2TimeoutError(
                f"the time limit of {self.session_timeout:g} s for the whole session is used up;"
                " open a new session"
            )
        return left

    def _deadline(self, begun: float, limit: float | None) -> float | None:
        if limit is None and self.session_timeout is None:
            return None
        left = self._budget()
        given = [seconds for seconds in (limit, left) if seconds is not None]
        return begun + min(given) if given else None

    def _too_late(
        self, operation: str, limit: float | None, deadline: float | None
    ) -> M2TimeoutError:
        total = self.session_timeout
        if total is not None and self._spent + (limit or total) >= total and limit is None:
            which = f"the session's limit of {total:g} s"
        else:
            which = f"the limit of {limit:g} s" if limit is not None else "its limit"
        return M2TimeoutError(
            f"Macaulay2 did not finish {operation!r} within {which}; its process was ended, and"
            " what was defined in it is lost"
        )

    # ------------------------------------------------------ the end of a process

    def _explained(self, how: Exit, what: str) -> M2CrashedError | M2MemoryError:
        """The error that an exit stands for."""
        if how.out_of_memory:
            limit = self._limits.memory
            size = f"its memory limit of {limit / 2**20:.0f} MiB" if limit else "the end of memory"
            return M2MemoryError(f"Macaulay2 reached {size} during {what}; its process was ended")
        return M2CrashedError(f"during {what}: {how.describe()}")

    def _settle(self, talk: Conversation) -> None:
        """After an exception from outside: keeps M2 if it comes back in step."""
        try:
            usable = talk.settle()
        except BaseException:  # a second Ctrl-C: no more patience
            self._lose("it was interrupted twice")
            raise
        if usable:
            _log.info("Macaulay2 was interrupted; what is defined in it is kept")
        else:
            self._lose("it did not react to an interrupt")

    def _forget(self) -> None:
        self._talk = None
        self._state_lost = True

    def _lose(self, why: str) -> None:
        """Ends a process whose state is unknown; the next call starts another."""
        talk = self._talk
        if talk is not None:
            self._forget()
            talk.end()
            _log.warning("Macaulay2 was ended (%s); what was defined in it is lost", why)

    def _after_fork(self) -> None:
        """In the child of a fork: the M2 is the parent's."""
        self._starting = False
        self._lock = threading.RLock()  # another thread of the parent may have held it
        talk, self._talk = self._talk, None
        if talk is not None:
            self._state_lost = True
            talk.channel.abandon()


_sessions: weakref.WeakSet[Session] = weakref.WeakSet()


def _after_fork_in_child() -> None:
    for session in list(_sessions):
        session._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
