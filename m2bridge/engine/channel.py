"""The seam between a session and whatever runs Macaulay2 for it.

A session needs four things of an engine: bytes out, bytes in, an interrupt, an end. The local
process, the Docker container and the replay of recorded jobs each give these and nothing more.
"""

from __future__ import annotations

import select
import signal
from dataclasses import dataclass
from typing import Protocol

__all__ = ["Channel", "Engine", "Exit", "Limits", "checked_timeout", "is_ready"]

_LONGEST_SECONDS = 1e9
_TOO_LARGE = "overflow in mpz type"  # how older versions of GMP, under M2, put it


@dataclass(frozen=True)
class Limits:
    """What an M2 process may use. ``memory`` in bytes, ``start_seconds`` until its hello."""

    memory: int | None = None
    start_seconds: float = 60.0


@dataclass(frozen=True)
class Exit:
    """How an M2 process ended.

    Attributes:
        status: exit status, or minus the number of the signal that ended it; None if unknown.
        out_of_memory: True when it ended because of the memory limit.
        transcript: the end of what it wrote to its standard output and error, outside of frames.
    """

    status: int | None
    out_of_memory: bool
    transcript: str

    def describe(self) -> str:
        """The exit in words, for error messages."""
        if self.status is None:
            how = "Macaulay2 ended"
        elif self.status < 0:
            how = f"Macaulay2 was ended by signal {-self.status}{self._meaning()}"
        else:
            how = f"Macaulay2 ended with status {self.status}"
        tail = self.transcript.strip()
        return f"{how}; its last words: {tail[-500:]}" if tail else how

    def _meaning(self) -> str:
        """What a signal tells about the cause, where it tells anything."""
        assert self.status is not None
        if -self.status == signal.SIGFPE or _TOO_LARGE in self.transcript:
            return " (its arithmetic gave up: most likely a number of more than 10^10 digits)"
        if -self.status == signal.SIGSEGV:
            return " (its stack overflowed, or it has a bug)"
        return ""


class Channel(Protocol):
    """A running M2 and the way to it. Deadlines are ``time.monotonic()`` values or None."""

    @property
    def folder(self) -> str | None:
        """A folder that Python may write and M2 may read, or None where they share no files."""

    def send(self, data: bytes, deadline: float | None) -> None:
        """Sends all bytes. Raises EOFError if M2 is gone, TimeoutError at the deadline."""

    def receive(self, deadline: float | None) -> bytes:
        """Receives what has come, at least one byte. Raises EOFError or TimeoutError likewise."""

    def has_come(self) -> bool:
        """Whether something can be received at once."""

    def interrupt(self) -> None:
        """Asks M2 to stop what it is doing (SIGINT)."""

    def end(self, grace_seconds: float = 0.0) -> Exit:
        """Ends M2 and everything it started; may be called again and then tells the same."""

    def abandon(self) -> None:
        """In a fork of the Python process: lets go of an M2 that belongs to the parent."""


class Engine(Protocol):
    """Starts M2 processes of one kind."""

    @property
    def description(self) -> str:
        """What is written into provenance, e.g. ``local: /usr/bin/M2``."""

    def start(self, limits: Limits) -> Channel:
        """Starts an M2 that serves frames.

        Raises:
            M2NotFoundError, EngineError: it cannot be started.
        """


def is_ready(descriptor: int) -> bool:
    """Whether a descriptor can be read at once; its end counts, too."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))


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
    if timeout > _LONGEST_SECONDS:  # for ever; what waits for it would overflow
        return _LONGEST_SECONDS
    return float(timeout)
