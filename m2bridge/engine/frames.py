"""Frames: what crosses the channel between Python and Macaulay2.

A frame is a header of 16 bytes (``M2B2``, one letter, the job number in 8 bytes, the number of
segments in 3 bytes), the segments' lengths in 6 bytes each, and the segments. Numbers have their
most significant byte first. Segments are bytes; nothing in them is searched for a delimiter.

Letters: ``H`` hello (M2 speaks first), ``C`` call, ``R`` result, ``X`` M2's error, ``Q`` quit.
The other half of this file is ``readFrame`` and ``writeFrame`` in ``m2scripts/M2Bridge.m2``.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import NamedTuple

from m2bridge.errors import WireError

__all__ = ["PROTOCOL_VERSION", "Frame", "FrameReader", "encode_frame"]

PROTOCOL_VERSION = "2"

_MAGIC = b"M2B2"
_LETTERS = b"HCRXQ"
_HEADER = struct.Struct(">4scQBH")
_LENGTH_BYTES = 6
_LENGTH = struct.Struct(">HI")
_MOST_SEGMENTS = 2**24 - 1


class Frame(NamedTuple):
    """One message: its letter, the job that it belongs to, its segments."""

    letter: str
    job: int
    segments: tuple[bytes, ...]


def encode_frame(letter: str, job: int, segments: Sequence[bytes]) -> bytes:
    """The bytes of a frame.

    Raises:
        ValueError: there are more segments than a frame can count.
    """
    count = len(segments)
    if count > _MOST_SEGMENTS:
        raise ValueError(f"a frame holds at most {_MOST_SEGMENTS} segments, not {count}")
    head = _HEADER.pack(_MAGIC, letter.encode("ascii"), job, count >> 16, count & 0xFFFF)
    lengths = [len(segment).to_bytes(_LENGTH_BYTES, "big") for segment in segments]
    return b"".join([head, *lengths, *segments])


class FrameReader:
    """Reads frames one after the other, and can be stopped and taken up again inside of one.

    Args:
        receive: ``receive(size, deadline)`` gives exactly so many bytes, or raises TimeoutError
            or EOFError and then has consumed none.
    """

    def __init__(self, receive: Callable[[int, float | None], bytes]) -> None:
        self._receive = receive
        self._head: tuple[str, int, int] | None = None
        self._sizes: list[int] | None = None
        self._segments: list[bytes] = []

    def next(self, deadline: float | None) -> Frame:
        """The next frame.

        Raises:
            WireError: what came is not a frame; the two sides are out of step.
            EOFError, TimeoutError: from ``receive``.
        """
        if self._head is None:
            self._head = _parsed_header(self._receive(_HEADER.size, deadline))
        letter, job, count = self._head
        if self._sizes is None:
            table = self._receive(_LENGTH_BYTES * count, deadline)
            self._sizes = [(high << 32) + low for high, low in _LENGTH.iter_unpack(table)]
        segments = self._segments
        for size in self._sizes[len(segments) :]:
            segments.append(self._receive(size, deadline))
        self._head, self._sizes, self._segments = None, None, []
        return Frame(letter, job, tuple(segments))


def _parsed_header(header: bytes) -> tuple[str, int, int]:
    magic, letter, job, high, low = _HEADER.unpack(header)
    if magic != _MAGIC or letter not in _LETTERS:
        raise WireError(f"Macaulay2 sent {header!r} where a frame should begin")
    return letter.decode("ascii"), job, (high << 16) + low
