"""Progress on standard error, for whatever takes more than a second."""

from __future__ import annotations

import threading
import time
from types import TracebackType

from rich.console import Console
from rich.status import Status

__all__ = ["Reporter"]

_DELAY_SECONDS = 1.0


class Reporter:
    """Tells which stage a question is in: a spinner on a terminal, plain lines elsewhere.

    Use as a context manager; the object itself is the progress callback.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._begun = time.monotonic()
        self._lock = threading.Lock()
        self._stage = "starting"
        self._shown = ""
        self._status: Status | None = None
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
            if self._status is not None:
                self._status.stop()

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        """The progress callback: stage, steps done, steps in all (or None)."""
        count = f" {done}/{total}" if total else f" {done}" if done else ""
        with self._lock:
            self._stage = f"{stage}{count}"
            if self._visible:
                self._show(stage)

    def _appear(self) -> None:
        with self._lock:
            self._visible = True
            self._show(self._stage)

    def _show(self, key: str) -> None:
        text = f"{self._stage} ({time.monotonic() - self._begun:.0f} s)"
        if not self._console.is_terminal:
            if key != self._shown:
                self._console.print(f"m2bridge: {text}", highlight=False, markup=False)
                self._shown = key
            return
        if self._status is None:
            self._status = self._console.status(text)
            self._status.start()
        else:
            self._status.update(text)
