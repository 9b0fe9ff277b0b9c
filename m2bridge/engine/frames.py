"""Frames: what crosses the channel between Python and Macaulay2.

A frame is a header of 22 bytes (``M2B1``, one letter, the job number in 10 digits, the number of
segments in 6 digits, a newline), the segments' lengths in 12 digits each, and the segments.
Segments are bytes; nothing in them is ever searched for a delimiter.

Letters: ``H`` hello (M2 speaks first), ``C`` call, ``R`` result, ``X`` M2's error, ``Q`` quit.
The other half of this file is ``readFrame`` and ``writeFrame`` in ``m2scripts/M2Bridge.m2``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from m2bridge.errors import WireError

__all__ = ["PROTOCOL_VERSION", "Frame", "encode_frame", "read_frame"]

PROTOCOL_VERSION = "1"

_MAGIC = b"M2B1"
_LETTERS = b"HCRXQ"
_HEADER_SIZE = 22
_LENGTH_DIGITS = 12


@dataclass(frozen=True)
class Frame:
    """One message: its letter, the job that it belongs to, its segments."""

    letter: str
    job: int
    segments: tuple[bytes, ...]


def encode_frame(letter: str, job: int, segments: Sequence[bytes]) -> bytes:
    """The bytes of a frame."""
    head = b"%s%s%010d%06d\n" % (_MAGIC, letter.encode("ascii"), job, len(segments))
    table = b"".join(b"%012d" % len(segment) for segment in segments)
    return b"".join((head, table, *segments))


def read_frame(read: Callable[[int], bytes]) -> Frame:
    """The next frame, through a function that reads exactly so many bytes.

    Raises:
        WireError: what came is not a frame; the two sides are out of step.
    """
    header = read(_HEADER_SIZE)
    letter, job, count = header[4:5], header[5:15], header[15:21]
    well_formed = (
        header[:4] == _MAGIC
        and letter in _LETTERS
        and job.isdigit()
        and count.isdigit()
        and header[21:] == b"\n"
    )
    if not well_formed:
        raise WireError(f"Macaulay2 sent {header!r} where a frame should begin")
    table = read(_LENGTH_DIGITS * int(count))
    if table and not table.isdigit():
        raise WireError(f"Macaulay2 sent {table[:60]!r} where the lengths of segments should be")
    sizes = [
        int(table[start : start + _LENGTH_DIGITS]) for start in range(0, len(table), _LENGTH_DIGITS)
    ]
    return Frame(letter.decode("ascii"), int(job), tuple(read(size) for size in sizes))
