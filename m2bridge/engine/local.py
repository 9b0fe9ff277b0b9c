"""The local engine: a Macaulay2 process on this machine, held by a keeper (see keeper.py)."""

from __future__ import annotations

import contextlib
import logging
import os
import select
import sys
import time
import weakref

from m2bridge.engine.channel import Exit, Limits, is_ready
from m2bridge.engine.discovery import Installation
from m2bridge.engine.kept import KeptProcess, high_pipe
from m2bridge.engine.placement import Placement
from m2bridge.errors import EngineError
from m2bridge.scripts_folder import SCRIPTS_FOLDER

__all__ = ["M2_PACKAGE", "LocalChannel", "LocalEngine", "serve_command"]


def _processors() -> int:
    """How many this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_log = logging.getLogger("m2bridge.engine")
M2_PACKAGE = SCRIPTS_FOLDER / "M2Bridge.m2"
_M2_OPTIONS = ("-q", "--silent", "--no-readline", "--no-debug", "--no-tty")
_PIPE_SIZE = 1 << 16  # what a pipe holds
# A trivial answer is there sooner than a processor that was put to sleep is woken up, and so is
# the next request: both sides look for it before they sleep, M2 so many times (about 1 µs each).
# That must not keep the other side from its work: Python yields its processor at each look, M2 does
# not look for long, and with one processor only neither does.
_SPIN_SECONDS = 0.0002 if _processors() > 1 else 0.0
_M2_LOOKS = 40 if _processors() > 1 else 0
_yield_processor = getattr(os, "sched_yield", lambda: None)


def serve_command(executable: str, inputs: int, outputs: int) -> list[str]:
    """The command line of an M2 that serves frames on two descriptors; only integers go in."""
    code = f'needsPackage "M2Bridge"; bridgeServe({inputs}, {outputs}, {_M2_LOOKS})'
    return [executable, *_M2_OPTIONS, "-e", code]


class LocalEngine:
    """Starts processes of one installed Macaulay2."""

    def __init__(self, installation: Installation) -> None:
        self.installation = installation

    @property
    def description(self) -> str:
        """For provenance: where this M2 is and which rule found it."""
        return f"local: {self.installation.path} ({self.installation.origin})"

    def start(self, limits: Limits) -> LocalChannel:
        """Starts M2 in an empty private folder.

        Raises:
            EngineError: the process or its folder cannot be made.
        """
        if limits.memory and sys.platform != "linux":
            _log.warning("memory limits of local processes are only kept on Linux, not here")
        try:
            return LocalChannel(str(self.installation.path), limits.memory or 0)
        except OSError as error:
            raise EngineError(f"Macaulay2 cannot be started: {error}") from error


class LocalChannel:
    """A running local M2. Bytes pass through two pipes that only M2 and Python hold."""

    def __init__(self, executable: str, memory: int) -> None:
        with contextlib.ExitStack() as theirs, contextlib.ExitStack() as ours:
            request_read, self._requests = high_pipe()
            theirs.callback(os.close, request_read)
            ours.callback(os.close, self._requests)
            self._answers, answer_write = high_pipe()
            theirs.callback(os.close, answer_write)
            ours.callback(os.close, self._answers)
            os.set_blocking(self._requests, False)
            os.set_blocking(self._answers, False)
            command = serve_command(executable, request_read, answer_write)
            ends = (request_read, answer_write)
            self._process = KeptProcess(command, [M2_PACKAGE], memory, ends)
            self._placement = Placement(self._process.keeper)
            self._descriptors = ours.pop_all()
        self._finalizer = weakref.finalize(self, self._descriptors.close)
        self._finalizer.atexit = False  # a thread may still read; it sees M2's end
        self._readable = select.poll()
        self._readable.register(self._answers, select.POLLIN)
        self._readable.register(self._process, select.POLLIN)

    @property
    def folder(self) -> str:
        """The private folder; the keeper removes it when M2 has ended."""
        return self._process.folder

    def send(self, data: bytes, deadline: float | None) -> None:
        """See Channel.send."""
        try:
            sent = os.write(self._requests, data)
        except BlockingIOError:
            sent = 0
        except BrokenPipeError:
            raise EOFError from None
        if sent == len(data):
            return
        rest = memoryview(data)[sent:]
        writable = select.poll()
        writable.register(self._requests, select.POLLOUT)
        writable.register(self._process, select.POLLIN)
        while rest:
            _wait(writable, deadline)
            try:
                rest = rest[os.write(self._requests, rest) :]
            except BlockingIOError:
                if self._has_ended():
                    raise EOFError from None
            except BrokenPipeError:
                raise EOFError from None

    def receive(self, deadline: float | None) -> bytes:
        """See Channel.receive."""
        data = self._soon()
        while data is None:
            _wait(self._readable, deadline)
            try:
                data = os.read(self._answers, _PIPE_SIZE)
            except BlockingIOError:
                # Nothing to read, so the keeper has spoken: M2 is gone, though a process that it
                # left may still hold the pipe.
                if self._has_ended():
                    raise EOFError from None
        if not data:
            raise EOFError
        return data

    def _soon(self) -> bytes | None:
        """What comes within a moment, if anything does."""
        self._placement.improve()
        now = time.monotonic()
        until = now + _SPIN_SECONDS
        longest = 0.0
        while now < until:
            try:
                data = os.read(self._answers, _PIPE_SIZE)
            except BlockingIOError:
                _yield_processor()
                before, now = now, time.monotonic()
                longest = max(longest, now - before)
            else:
                self._placement.waited(longest)
                return data
        self._placement.waited(longest)
        return None

    def has_come(self) -> bool:
        """See Channel.has_come."""
        return is_ready(self._answers)

    def _has_ended(self) -> bool:
        # without a number Python is at its end, and has ended M2
        return self._process.fileno() < 0 or is_ready(self._process.fileno())

    def interrupt(self) -> None:
        """See Channel.interrupt."""
        self._process.interrupt()

    def end(self, grace_seconds: float = 0.0) -> Exit:
        """See Channel.end. With a grace M2 may first end by itself (it was asked to quit)."""
        how = self._process.end(grace_seconds)
        self._finalizer()
        return how

    def abandon(self) -> None:
        """See Channel.abandon."""
        self._process.abandon()
        self._finalizer()


def _wait(poll: select.poll, deadline: float | None) -> None:
    """Waits until one of the poll's descriptors is ready. Raises TimeoutError at the deadline."""
    if deadline is None:
        poll.poll()
        return
    left = deadline - time.monotonic()
    if not poll.poll(left * 1000 + 1 if left > 0 else 0) and time.monotonic() >= deadline:
        raise TimeoutError
