"""Frames: what crosses the channel between Python and Macaulay2.

A frame is a header of 16 bytes (``M2B``, one letter, the number of segments in 4 bytes, the job
number in 8 bytes), the segments' lengths in 8 bytes each, and the segments. Numbers have their most
significant byte first. Segments are bytes; nothing in them is searched for a delimiter.

Letters: ``H`` hello (M2 speaks first), ``C`` call, ``R`` result, ``X`` M2's error, ``Q`` quit.
The other half of this file is ``readFrame`` and ``writeFrame`` in ``m2scripts/M2Bridge.m2``.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from m2bridge.errors import WireError

__all__ = ["PROTOCOL_VERSION", "Frame", "FrameReader", "encode_frame"]

PROTOCOL_VERSION = "3"

_MAGIC = b"M2B"
_LETTERS = {bytes([letter]): chr(letter) for letter in b"HCRXQ"}
_HEADER = struct.Struct(">3scIQ")
_LENGTH_BYTES = 8


@dataclass(slots=True)
class Frame:
    """One message: its letter, the job that it belongs to, its segments."""

    letter: str
    job: int
    segments: tuple[bytes, ...]


def encode_frame(letter: str, job: int, segments: Sequence[bytes]) -> bytes:
    """The bytes of a frame."""
    count = len(segments)
    head = _HEADER.pack(_MAGIC, letter.encode("ascii"), count, job)
    return b"".join([head, _lengths(count).pack(*map(len, segments)), *segments])


@functools.lru_cache(maxsize=32)
def _lengths(count: int) -> struct.Struct:
    """The layout of so many lengths."""
    return struct.Struct(f">{count}Q")


class FrameReader:
    """Reads frames one after the other, and can be stopped and taken up again inside of one.

    Args:
        receive: ``receive(deadline)`` gives what has come, at least one byte, or raises
            TimeoutError or EOFError.
    """

    def __init__(self, receive: Callable[[float | None], bytes]) -> None:
        self._receive = receive
        self._data = b""  # what has come and belongs to no frame yet
        self._needed = _HEADER.size  # how much of it there must be to go on

    @property
    def begun(self) -> bool:
        """Whether a part of the next frame has been received."""
        return bool(self._data)

    def next(self, deadline: float | None) -> Frame:
        """The next frame.

        Raises:
            WireError: what came is not a frame; the two sides are out of step.
            EOFError, TimeoutError: from ``receive``.
        """
        if not self._data:
            self._data = self._receive(deadline)  # nearly always all of it
        while True:
            if len(self._data) < self._needed:
                self._gather(deadline)
            frame, end = _frame_in(self._data)
            if frame is not None:
                self._data, self._needed = self._data[end:], _HEADER.size
                return frame
            self._needed = end

    def _gather(self, deadline: float | None) -> None:
        """Receives until as much is there as is needed; what came before a deadline is kept."""
        parts = [self._data]
        missing = self._needed - len(self._data)
        try:
            while missing > 0:
                part = self._receive(deadline)
                parts.append(part)
                missing -= len(part)
        finally:
            self._data = b"".join(parts)


def _frame_in(data: bytes) -> tuple[Frame | None, int]:
    """The frame that data begin with, and where it ends; None where they must go on to there."""
    magic, letter, count, job = _HEADER.unpack_from(data)
    if magic != _MAGIC or letter not in _LETTERS:
        raise WireError(f"Macaulay2 sent {data[:16]!r} where a frame should begin")
    place = _HEADER.size + _LENGTH_BYTES * count
    if len(data) < place:
        return None, place
    sizes = _lengths(count).unpack_from(data, _HEADER.size)
    end = place + sum(sizes)
    if len(data) < end:
        return None, end
    segments = []
    for size in sizes:
        segments.append(data[place : place + size])
        place += size
    return Frame(_LETTERS[letter], job, tuple(segments)), end
