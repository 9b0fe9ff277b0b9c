"""Frames: what is written is read, whatever is in it and however it arrives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from m2bridge.engine.frames import Frame, FrameReader, encode_frame
from m2bridge.errors import WireError

FRAMES = st.builds(
    Frame,
    st.sampled_from("HCRXQ"),
    st.integers(0, 2**64 - 1),
    st.lists(st.binary(max_size=40), max_size=8).map(tuple),
)


class Trickle:
    """Bytes that arrive in pieces, with a time-out after each."""

    def __init__(self, data: bytes, pieces: list[int]) -> None:
        self.data = data
        self.pieces = pieces
        self.late = False

    def receive(self, deadline: float | None) -> bytes:
        self.late = not self.late
        if self.late:
            raise TimeoutError
        size = self.pieces.pop() if self.pieces else len(self.data)
        data, self.data = self.data[:size], self.data[size:]
        if not data:
            raise EOFError
        return data


@given(frames=st.lists(FRAMES, min_size=1, max_size=4), pieces=st.lists(st.integers(1, 50)))
def test_frames_come_back(frames: list[Frame], pieces: list[int]) -> None:
    data = b"".join(encode_frame(f.letter, f.job, f.segments) for f in frames)
    reader = FrameReader(Trickle(data, pieces).receive)
    found: list[Frame] = []
    while len(found) < len(frames):
        try:
            found.append(reader.next(None))
        except TimeoutError:
            continue
    assert found == frames


@given(data=st.binary(min_size=16, max_size=200))
def test_what_is_no_frame_is_refused(data: bytes) -> None:
    if data.startswith(b"M2B"):
        return
    with pytest.raises(WireError, match="where a frame should begin"):
        FrameReader(lambda deadline: data).next(None)


def test_an_unknown_letter_is_refused() -> None:
    data = encode_frame("R", 1, [b"x"]).replace(b"M2BR", b"M2BZ")
    with pytest.raises(WireError):
        FrameReader(lambda deadline: data).next(None)


def test_what_a_frame_is_byte_for_byte() -> None:
    """The other side is written in another language: this is the agreement."""
    assert encode_frame("C", 258, [b"ab", b""]) == (
        b"M2BC" + b"\0\0\0\2" + b"\0\0\0\0\0\0\1\2" + b"\0\0\0\0\0\0\0\2" + bytes(8) + b"ab"
    )
