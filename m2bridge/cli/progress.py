"""Progress on standard error, for whatever takes more than a second."""

from __future__ import annotations

import contextlib
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

__all__ = ["Reporter"]

_DELAY_SECONDS = 1.0


class Reporter:
    """Tells which stage a question is in: a bar with time on a terminal, plain lines elsewhere.

    Use as a context manager; the object itself is the progress callback.
    """

    def __init__(self, console: Console | None = None) -> None:
        """On ``console``; None is standard error."""
        self._console = console
        self._begun = time.monotonic()
        self._lock = threading.Lock()
        self._now: tuple[str, int, int | None] = ("starting", 0, None)
        self._shown = ""
        self._bar: Progress | None = None
        self._visible = False
        self._timer = threading.Timer(_DELAY_SECONDS, self._appear)
        self._timer.daemon = True

    def __enter__(self) -> Reporter:
        self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        with self._lock:
            self._visible = False
            if self._bar is not None:
                with contextlib.suppress(OSError):
                    self._bar.stop()

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        """The progress callback: stage, steps done, steps in all (or None)."""
        with self._lock:
            self._now = (stage, done, total)
            if self._visible:
                self._show()

    def _appear(self) -> None:
        with self._lock:
            if self._timer.finished.is_set():  # cancelled while this waited for the lock
                return
            self._visible = True
            self._show()

    def _show(self) -> None:
        # An answer is not lost because nobody can be told how far it is.
        with contextlib.suppress(OSError):
            self._tell(*self._now)

    def _tell(self, stage: str, done: int, total: int | None) -> None:
        from rich.console import Console

        if self._console is None:
            self._console = Console(stderr=True)
        text = f"{stage} {done}/{total}" if total else f"{stage} {done}" if done else stage
        if not self._console.is_terminal or self._console.is_dumb_terminal:
            if stage != self._shown:
                seconds = time.monotonic() - self._begun
                line = f"m2bridge: {text} ({seconds:.0f} s)"
                self._console.print(line, highlight=False, markup=False)
                self._shown = stage
            return
        if self._bar is None:
            self._bar = _new_bar(self._console)
            self._bar.add_task("")
            self._bar.tasks[0].start_time = self._begun
            self._bar.start()
        task = self._bar.tasks[0].id
        self._bar.update(task, description=text, completed=done, total=total or None)


def _new_bar(console: Console) -> Progress:
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
