"""Where Linux runs Macaulay2: not on the processor on which Python waits for it.

Who writes to a pipe is expected to sleep soon, so Linux wakes the reader on the writer's processor.
But Python looks for a moment whether the answer is there before it sleeps; the two would take
turns on one processor while another has nothing to do, and a short call would take several times
as long. Python notices: when it yields its processor, somebody else keeps it for long.

Then M2's thread is moved once, and may afterwards run wherever it might before. What is moved in
vain (all processors are busy) is left alone for longer each time.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

__all__ = ["Placement"]

_LONG_SECONDS = 15e-6  # a look at a pipe takes about one microsecond, a trivial call of M2 twenty
_FEWEST_CALLS = 4  # so many in a row, before anything is done
_MOST_CALLS = 4096


class Placement:
    """Keeps one Macaulay2 off the processor of the thread that waits for it.

    Args:
        keeper: number of the process whose only child is M2.

    Nothing here raises or is needed for a right answer: where a system has no such calls, or
    does not allow them, M2 runs where it is put.
    """

    def __init__(self, keeper: int) -> None:
        self._keeper = keeper
        self._thread: int | None = None  # M2's interpreter, once it is known
        self._shared = 0  # calls in a row during which somebody else had this processor
        self._enough = _FEWEST_CALLS if _current_processor is not None else None

    def waited(self, longest_look: float) -> None:
        """Tells how long the longest look for an answer took, in seconds."""
        if longest_look > _LONG_SECONDS:
            self._shared += 1
        else:
            self._shared, self._enough = 0, self._enough and _FEWEST_CALLS

    def improve(self) -> None:
        """Moves M2 if that is due. To be called when M2 has just been woken up."""
        if self._enough is None or self._shared < self._enough:
            return
        self._shared, self._enough = 0, min(2 * self._enough, _MOST_CALLS)
        try:
            if self._thread is None:
                self._thread = _busiest_thread(self._keeper)
            _move_from_here(self._thread)
        except (OSError, ValueError, IndexError):
            self._enough = None


def _move_from_here(thread: int) -> None:
    """Has a thread moved if it waits for the processor that runs this; it may come back."""
    assert _current_processor is not None
    allowed = os.sched_getaffinity(thread)
    others = allowed - {_current_processor()}
    if others and others != allowed:
        try:
            os.sched_setaffinity(thread, others)
        finally:
            os.sched_setaffinity(thread, allowed)


def _busiest_thread(keeper: int) -> int:
    """The thread of the keeper's child that has computed most: in M2, the interpreter's."""
    process = Path(f"/proc/{keeper}/task/{keeper}/children").read_text().split()[0]
    return int(max(Path(f"/proc/{process}/task").iterdir(), key=_ticks).name)


def _ticks(task: Path) -> int:
    """The time that a thread has computed; the name in front of it may hold anything."""
    fields = (task / "stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


_current_processor = (
    getattr(ctypes.CDLL(None), "sched_getcpu", None) if hasattr(os, "sched_setaffinity") else None
)
