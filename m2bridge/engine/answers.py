"""What comes back for a call: an answer, or an error, out of a frame."""

from __future__ import annotations

from dataclasses import dataclass

from m2bridge.engine.frames import Frame
from m2bridge.engine.messages import error_from_text, printed_text
from m2bridge.errors import M2InterruptedError

__all__ = ["Answer", "encoded", "interrupted_error", "opened"]


@dataclass(slots=True, repr=False)
class Answer:
    """What M2 gave back.

    Attributes:
        segments: its data, as bytes; of ``eval`` and of a script there is one, ``text``.
        captured: what M2's ``capture`` gave meanwhile; ``output`` is taken from it when asked for.
    """

    segments: tuple[bytes, ...]
    captured: bytes = b""

    @property
    def text(self) -> str:
        """The first segment as text: the value that ``eval`` gave, or a script's JSON."""
        return self.segments[0].decode("utf-8", "replace")

    @property
    def output(self) -> str:
        """What the code printed."""
        return printed_text(self.captured.decode("utf-8", "replace"))

    def __repr__(self) -> str:
        return f"Answer(segments={self.segments!r}, output={self.output!r})"


def opened(frame: Frame, code: str, interrupted: bool) -> Answer:
    """The answer in a frame; raises the error that is in it."""
    captured = frame.segments[0]
    if frame.letter == "R":
        return Answer(frame.segments[1:], captured)
    error = error_from_text(captured.decode("utf-8", "replace"), code)
    # M2's parser takes an interrupt for the end of what it reads
    stopped = error.message == "interrupted" or error.message.startswith("syntax error")
    if interrupted and stopped:
        raise interrupted_error(code, state_kept=True)
    raise error


def interrupted_error(code: str, *, state_kept: bool) -> M2InterruptedError:
    """The error for a call that was stopped."""
    state = "kept" if state_kept else "lost: it did not come back, and its process was ended"
    return M2InterruptedError(
        f"Macaulay2 was interrupted; what was defined in it is {state}",
        script=code,
        state_kept=state_kept,
    )


def encoded(code: str) -> bytes:
    """M2 code as bytes.

    Raises:
        TypeError, ValueError: it is no text, or none that UTF-8 has.
    """
    if not isinstance(code, str):
        raise TypeError(f"M2 code is a str, not {type(code).__name__}")
    try:
        return code.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(f"M2 code must be encodable as UTF-8: {error}") from error
