"""A session: one warm Macaulay2, asked one thing at a time through frames."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from m2bridge.engine.channel import Channel, Engine, Limits
from m2bridge.engine.frames import PROTOCOL_VERSION, Frame, encode_frame, read_frame
from m2bridge.engine.messages import error_from_text, printed_text
from m2bridge.errors import (
    EngineError,
    M2CrashedError,
    M2MemoryError,
    M2TimeoutError,
    WireError,
)

__all__ = ["Answer", "Session"]

_log = logging.getLogger("m2bridge.engine")
_QUIT_SECONDS = 2.0


@dataclass(frozen=True)
class Answer:
    """What M2 gave back: data segments, and what the code printed beside them."""

    segments: tuple[bytes, ...]
    output: str


class Session:
    """One M2 process, started at the first use.

    Args:
        engine: how M2 is started.
        limits: memory and start-up time.
        timeout: seconds that any one call may take; a call may set its own.

    After a time-out or a crash the process is gone; the next call starts a new one, and
    ``generation`` has grown: whatever was defined in M2 before is lost.
    """

    def __init__(
        self, engine: Engine, *, limits: Limits | None = None, timeout: float | None = None
    ) -> None:
        self._engine = engine
        self._limits = limits or Limits()
        self.timeout = checked_timeout(timeout)
        self._lock = threading.RLock()
        self._channel: Channel | None = None
        self._hello: Frame | None = None
        self._job = 0
        self._closed = False
        self.generation = 0

    @property
    def engine(self) -> Engine:
        """The engine that starts this session's M2."""
        return self._engine

    @property
    def m2_version(self) -> str:
        """M2's own version; starts M2 if need be."""
        self.start()
        assert self._hello is not None
        return self._hello.segments[1].decode("ascii")

    def start(self) -> None:
        """Starts M2 now if it does not run yet.

        Raises:
            EngineError, M2CrashedError, M2TimeoutError: it does not come up.
        """
        with self._lock:
            if self._closed:
                raise EngineError("this session is closed; open a new one")
            if self._channel is not None:
                return
            begun = time.monotonic()
            self._channel = self._engine.start(self._limits)
            self.generation += 1
            self._job = 0
            deadline = begun + self._limits.start_seconds
            hello = self._receive(deadline, "starting")
            if hello.letter != "H" or hello.segments[0].decode("ascii") != PROTOCOL_VERSION:
                self._drop()
                raise WireError(
                    "this Macaulay2 serves another protocol; its M2Bridge package and this "
                    "m2bridge are of different versions"
                )
            self._hello = hello
            _log.debug("%s started in %.2f s", self._engine.description, time.monotonic() - begun)

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
            M2TimeoutError, M2MemoryError, M2CrashedError: the process is gone.
        """
        limit = self.timeout if timeout is None else checked_timeout(timeout)
        with self._lock:
            self.start()
            assert self._channel is not None
            self._job += 1
            deadline = None if limit is None else time.monotonic() + limit
            what = f"{operation} (limit {limit:g} s)" if limit is not None else operation
            request = encode_frame("C", self._job, [operation.encode("ascii"), *segments])
            try:
                self._send(request, deadline, what)
                frame = self._receive(deadline, what)
            except BaseException:
                # Interrupted half-way: nobody knows where in its answer M2 is.
                self._drop()
                raise
            return self._opened(frame, code)

    def _opened(self, frame: Frame, code: str) -> Answer:
        if frame.job != self._job or frame.letter not in ("R", "X"):
            self._drop()
            raise WireError(f"Macaulay2 answered job {frame.job} where job {self._job} was due")
        text = frame.segments[0].decode("utf-8", "replace")
        if frame.letter == "X":
            raise error_from_text(text, code)
        return Answer(frame.segments[1:], printed_text(text))

    def eval(self, code: str, *, timeout: float | None = None) -> Answer:
        """Evaluates raw M2 code: the one place where a user's text becomes M2 code.

        The answer's first segment is the value's text (``toString``).
        """
        if not isinstance(code, str):
            raise TypeError(f"M2 code is a str, not {type(code).__name__}")
        return self.call("eval", [code.encode("utf-8")], timeout=timeout, code=code)

    def run_script(self, script: str, *, timeout: float | None = None) -> Answer:
        """Runs a whole script that ends with ``bridgeAnswer``; the answer is its JSON text."""
        with self._lock:
            self.start()
            assert self._channel is not None
            folder = self._channel.folder
            if folder is None:
                return self.call("scripttext", [script.encode()], timeout=timeout, code=script)
            name = f"job{self._job + 1}.m2"
            file = Path(folder) / name
            try:
                file.write_text(script, encoding="utf-8")
            except OSError as error:
                raise EngineError(f"the script cannot be written to {folder}: {error}") from error
            try:
                return self.call("script", [name.encode()], timeout=timeout, code=script)
            finally:
                file.unlink(missing_ok=True)

    def interrupt(self) -> None:
        """Sends M2 an interrupt; safe to call from another thread or a signal handler."""
        channel = self._channel
        if channel is not None:
            channel.interrupt()

    def close(self) -> None:
        """Ends M2. May be called again."""
        with self._lock:
            self._closed = True
            if self._channel is None:
                return
            try:
                quit_by = time.monotonic() + _QUIT_SECONDS
                self._channel.send(encode_frame("Q", 0, []), quit_by)
                self._channel.end(_QUIT_SECONDS)
            except (EOFError, TimeoutError):
                self._channel.end()
            finally:
                self._channel = None

    def _send(self, data: bytes, deadline: float | None, what: str) -> None:
        assert self._channel is not None
        try:
            self._channel.send(data, deadline)
        except EOFError:
            raise self._gone(what) from None
        except TimeoutError:
            self._drop()
            raise M2TimeoutError(f"Macaulay2 did not take the data of {what} in time") from None

    def _receive(self, deadline: float | None, what: str) -> Frame:
        channel = self._channel
        assert channel is not None
        try:
            return read_frame(lambda size: channel.receive(size, deadline))
        except EOFError:
            raise self._gone(what) from None
        except TimeoutError:
            self._drop()
            raise M2TimeoutError(
                f"Macaulay2 did not answer in time: {what}; its process was ended"
            ) from None

    def _gone(self, what: str) -> M2CrashedError | M2MemoryError:
        assert self._channel is not None
        how = self._channel.end(0.5)
        self._channel = None
        if how.out_of_memory:
            limit = self._limits.memory
            size = f" of {limit / 2**20:.0f} MiB" if limit else ""
            return M2MemoryError(f"Macaulay2 reached its memory limit{size} during {what}")
        return M2CrashedError(f"during {what}: {how.describe()}")

    def _drop(self) -> None:
        """Ends a process whose state is unknown; the next call starts another."""
        if self._channel is not None:
            self._channel.end()
            self._channel = None


def checked_timeout(timeout: float | None) -> float | None:
    """A time limit in seconds.

    Raises:
        ValueError, TypeError: it is not a positive number.
    """
    if timeout is None:
        return None
    if isinstance(timeout, bool) or not isinstance(timeout, int | float):
        raise TypeError(f"a time limit is a number of seconds, not {timeout!r}")
    if not timeout > 0:
        raise ValueError(f"a time limit must be positive, not {timeout!r}")
    return float(timeout)
