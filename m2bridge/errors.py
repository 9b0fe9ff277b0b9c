"""The exceptions of m2bridge, in one tree.

    M2BridgeError
    ├── M2NotFoundError         no Macaulay2 to be had, or one that is too old
    ├── EngineError             the machinery around M2 refused
    │   └── DockerError         no client, no daemon, no permission, no image, wrong image
    ├── M2Error                 M2 ran the code and said no
    │   └── M2InterruptedError  ... because it was interrupted
    ├── M2TimeoutError          the time limit passed
    ├── M2MemoryError           the memory limit was reached
    ├── M2CrashedError          the M2 process ended, or left the protocol, by itself
    ├── WireError               a value that cannot cross between Python and M2 exactly
    ├── SizeLimitError          the question is well posed but larger than the limit that was set
    └── VerificationError       a result's certificate does not hold

Bad arguments are ``ValueError`` or ``TypeError``, raised before M2 starts.
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "DockerError",
    "EngineError",
    "M2BridgeError",
    "M2CrashedError",
    "M2Error",
    "M2InterruptedError",
    "M2MemoryError",
    "M2NotFoundError",
    "M2TimeoutError",
    "SizeLimitError",
    "SourceLocation",
    "VerificationError",
    "WireError",
]


@dataclass(frozen=True)
class SourceLocation:
    """Where in which file M2 saw the error, as M2 prints it.

    Lines count from 1. Columns count from 0 in recent versions of M2, from 1 in older ones (1.21).
    """

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class M2BridgeError(Exception):
    """Base of everything that m2bridge raises by itself."""

    def _render_traceback_(self) -> list[str]:
        """What notebooks show: the caller's lines, the place inside, the message; one screen."""
        frames = traceback.extract_tb(self.__traceback__)
        package = str(Path(__file__).parent)
        theirs = [f for f in frames if not f.filename.startswith(package)]
        # The first frame is the notebook's own, which calls the cell.
        shown = traceback.format_list(theirs[1:] or theirs)
        inside = [f for f in frames if f.filename.startswith(package)][-1:]
        places = [f"(raised in {f.filename}:{f.lineno}, {f.name})" for f in inside]
        return [*(line.rstrip("\n") for line in shown), *places, f"{type(self).__name__}: {self}"]


class M2NotFoundError(M2BridgeError):
    """No usable Macaulay2 was found; the message says where we looked and what mends it."""


class EngineError(M2BridgeError):
    """The engine around M2 could not do its part (start, limits, private folder)."""


class DockerError(EngineError):
    """Docker said no; the message names the command that mends it."""


class M2Error(M2BridgeError):
    """M2 evaluated the code and reported an error.

    Attributes:
        message: M2's own words, without the location.
        location: where M2 saw it, or None when M2 gave no place.
        script: the code that was run.
        output: what the code had printed before the error.
    """

    def __init__(
        self,
        message: str,
        *,
        location: SourceLocation | None = None,
        script: str = "",
        output: str = "",
    ) -> None:
        self.message = message
        self.location = location
        self.script = script
        self.output = output
        super().__init__(f"{location}: {message}" if location else message)

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword-only arguments do not survive Exception's default pickling (process pools).
        return _rebuild_m2error, (self.message, self.location, self.script, self.output)


def _rebuild_m2error(
    message: str, location: SourceLocation | None, script: str, output: str
) -> M2Error:
    return M2Error(message, location=location, script=script, output=output)


class M2InterruptedError(M2Error):
    """The computation was stopped by ``interrupt``.

    Attributes:
        state_kept: whether M2 came back, with everything that was defined in it; otherwise its
            process was ended.
    """

    def __init__(self, message: str, *, script: str = "", state_kept: bool = True) -> None:
        super().__init__(message, script=script)
        self.state_kept = state_kept

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild_interrupted, (self.message, self.script, self.state_kept)


def _rebuild_interrupted(message: str, script: str, state_kept: bool) -> M2InterruptedError:
    return M2InterruptedError(message, script=script, state_kept=state_kept)


class M2TimeoutError(M2BridgeError):
    """The time limit passed before M2 answered; its process group was ended."""


class M2MemoryError(M2BridgeError):
    """M2 reached the memory limit; its process group was ended."""


class M2CrashedError(M2BridgeError):
    """The M2 process ended, or spoke out of turn, while an answer was due."""


class WireError(M2BridgeError):
    """A value cannot cross between Python and M2 exactly."""


class SizeLimitError(M2BridgeError):
    """The question is well posed but larger than the limit that was set.

    The message gives the size, the limit and the option that raises it.
    """


class VerificationError(M2BridgeError):
    """A certificate that a result carries was recomputed and does not hold."""
