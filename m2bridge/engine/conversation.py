"""The talk with one Macaulay2 process: ask, wait, interrupt, and get back into step.

M2 handles an interrupt well only while it evaluates; where it waits for a request, or begins to
read one, a signal ends it. So Python signals only when a job has been with M2 for a moment and no
answer is there, and afterwards makes sure, by an echo of a fresh token, that both sides are at the
same place. When they are not, the process is of no more use; its owner ends it.
"""

from __future__ import annotations

import os
import select
import threading
import time
from collections.abc import Callable, Sequence

from m2bridge.engine.channel import Channel, Exit
from m2bridge.engine.discovery import MINIMUM_VERSION, is_old
from m2bridge.engine.frames import PROTOCOL_VERSION, Frame, FrameReader, encode_frame
from m2bridge.errors import EngineError, M2NotFoundError, WireError

__all__ = ["Conversation", "NoReactionError"]

# How long M2 may take to come back after an interrupt. Its engine looks for interrupts often,
# libraries under it do not look at all.
INTERRUPT_SECONDS = 5.0
# M2 is not signalled when it is about to answer: between two evaluations a signal would end it.
_NEARLY_DONE_SECONDS = 0.1
# Nor before it has surely woken up, and begun to evaluate.
_BEGUN_SECONDS = 0.02
# Waiting is cut into slices, so that an interrupt from another thread can end it.
_SLICE_SECONDS = 0.5
_START_SLICE_SECONDS = 0.1


class NoReactionError(Exception):
    """M2 was interrupted and did not come back."""


class Conversation:
    """One process and what passes between it and Python. Only ``interrupt`` is for other threads.

    Args:
        channel: the way to a process that has not said hello yet.
    """

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.interrupted = False  # whether the last job was
        self._reader = FrameReader(channel.receive)
        self._job = 0
        self._guard = threading.RLock()
        self._pending = False  # a job is with M2, whole
        self._sending = 0  # ... or on its way: so many bytes
        self._sent = 0.0  # when it was
        self._react_until: float | None = None

    def hello(self, deadline: float, unwanted: Callable[[], bool]) -> Frame:
        """The first frame. ``unwanted`` is asked now and then whether to give up.

        Raises:
            EngineError, M2NotFoundError: it speaks another protocol, or is too old.
            EOFError, TimeoutError: as ``ask`` does.
            NoReactionError: it was given up.
        """
        while True:
            try:
                hello = self._reader.next(min(deadline, time.monotonic() + _START_SLICE_SECONDS))
            except TimeoutError:
                if unwanted():
                    raise NoReactionError from None
                if time.monotonic() >= deadline:
                    raise
                continue
            except WireError as error:
                raise _stranger() from error
            _check_hello(hello)
            return hello

    def ask(self, operation: bytes, segments: Sequence[bytes], deadline: float | None) -> Frame:
        """Sends a job and waits for its answer.

        Raises:
            EOFError: M2 is gone.
            TimeoutError: the deadline has passed.
            WireError: what came is not this job's answer.
            NoReactionError: it was interrupted and did not come back.
            EngineError: the engine cannot have this job done; it goes on to the next.
        """
        self._job += 1
        data = encode_frame("C", self._job, [operation, *segments])
        # in this order: nobody interrupts before the last of them
        self.interrupted, self._react_until, self._sending = False, None, len(data)
        try:
            self.channel.send(data, deadline)
            with self._guard:
                self._sending, self._pending = 0, True
                self._sent = time.monotonic()
                unsignalled = self.interrupted  # from now on, who interrupts signals
            if unsignalled:
                self._signal_soon(self._job)
            frame = self._await(deadline)
            with self._guard:
                self._pending = False
        except (EOFError, TimeoutError, WireError, NoReactionError, EngineError):
            with self._guard:
                self._sending, self._pending = 0, False
            raise
        if self.interrupted and not self._in_step():
            raise NoReactionError
        return frame

    def interrupt(self) -> bool:
        """Interrupts the job that is being worked on; False when there is none."""
        with self._guard:
            job, pending = self._job, self._pending
            if not (pending or self._sending):
                return False
            if self.interrupted:  # a second signal would end M2
                return True
            self.interrupted = True
        if pending:
            self._signal_soon(job)
        return True

    def settle(self) -> bool:
        """After an exception (Ctrl-C) came in the midst of ``ask``: whether M2 is usable again.

        It may have come between the sending of the request, or the reading of its answer, and
        Python's knowing of that. So an echo follows the request, and M2 is interrupted only when
        the echo's answer keeps us waiting; an answer that comes before is thrown away.
        """
        with self._guard:
            sending, working = self._sending, self._pending or self._sending > 0
            self._sending, self._pending = 0, False
        if sending > select.PIPE_BUF:  # only smaller ones are written whole or not at all
            return False
        try:
            token = self._send_echo()
            try:
                return self._echoes(token, _NEARLY_DONE_SECONDS)
            except TimeoutError:
                quiet = not self._reader.begun and not self.channel.has_come()
                if working and quiet and self._react_until is None:
                    self._signal()
            return self._echoes(token, INTERRUPT_SECONDS)
        except (EOFError, TimeoutError, WireError):
            return False

    def end(self, grace_seconds: float = 0.0) -> Exit:
        """Ends the process."""
        return self.channel.end(grace_seconds)

    def _signal_soon(self, job: int) -> None:
        """Signals M2 when it has begun with this job, unless it has already done it."""
        time.sleep(max(0.0, self._sent + _BEGUN_SECONDS - time.monotonic()))
        with self._guard:
            wanted = self._pending and self._job == job and self._react_until is None
            if wanted and not self._reader.begun and not self.channel.has_come():
                self._signal()

    def _signal(self) -> None:
        self._react_until = time.monotonic() + INTERRUPT_SECONDS
        self.channel.interrupt()

    def _await(self, deadline: float | None) -> Frame:
        while True:
            until = time.monotonic() + _SLICE_SECONDS
            if deadline is not None and deadline < until:
                until = deadline
            try:
                return self._checked(self._reader.next(until))
            except TimeoutError:
                now = time.monotonic()
                if self._react_until is not None and now >= self._react_until:
                    raise NoReactionError from None
                if deadline is not None and now >= deadline:
                    raise

    def _checked(self, frame: Frame) -> Frame:
        if frame.job != self._job or frame.letter not in "RX" or not frame.segments:
            raise WireError(
                f"Macaulay2 sent a frame {frame.letter!r} of job {frame.job} where the answer of"
                f" job {self._job} was due"
            )
        return frame

    def _in_step(self) -> bool:
        """Whether M2 is there and both sides are at the same place."""
        try:
            return self._echoes(self._send_echo(), INTERRUPT_SECONDS)
        except (EOFError, TimeoutError, WireError):
            return False

    def _send_echo(self) -> bytes:
        """Asks M2 to send back a fresh token."""
        token = os.urandom(8)
        self._job += 1
        data = encode_frame("C", self._job, [b"echo", token])
        self.channel.send(data, time.monotonic() + INTERRUPT_SECONDS)
        return token

    def _echoes(self, token: bytes, seconds: float) -> bool:
        """Whether the token comes back in time, perhaps behind the answer of the job before."""
        deadline = time.monotonic() + seconds
        frame = self._reader.next(deadline)
        if frame.job == self._job - 1:
            frame = self._reader.next(deadline)
        self._checked(frame)
        return frame.letter == "R" and frame.segments[1:] == (token,)


def _check_hello(hello: Frame) -> None:
    if hello.letter != "H" or hello.segments[0].decode("ascii", "replace") != PROTOCOL_VERSION:
        raise _stranger()
    version = hello.segments[1].decode("ascii", "replace")
    if is_old(version):
        wanted = ".".join(map(str, MINIMUM_VERSION))
        raise M2NotFoundError(f"this is Macaulay2 {version}; m2bridge needs {wanted} or newer")


def _stranger() -> EngineError:
    return EngineError(
        "this Macaulay2 serves another protocol: its M2Bridge package and this m2bridge are of"
        " different versions; remove any other M2Bridge.m2 from M2's path"
    )
