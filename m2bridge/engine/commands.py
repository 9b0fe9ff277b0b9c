"""Running a command to its end: with a time limit, and never outliving the call."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

__all__ = ["complaint", "run_command"]

_POLL_SECONDS = 0.25


def run_command(
    command: Sequence[str],
    folder: Path,
    seconds: float | None,
    while_waiting: Callable[[], None] | None,
    variables: Mapping[str, str],
) -> tuple[int, str]:
    """Runs a command in a process group of its own, which never outlives this call.

    Returns its status and everything it printed.

    Raises:
        subprocess.TimeoutExpired: it did not end in time.
        OSError: it cannot be started.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    with tempfile.TemporaryFile(dir=folder) as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **variables},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            while True:
                try:
                    status = process.wait(_POLL_SECONDS)
                    break
                except subprocess.TimeoutExpired:
                    if deadline is not None and time.monotonic() > deadline:
                        raise
                if while_waiting is not None:
                    while_waiting()
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        output.seek(0)
        return status, output.read().decode("utf-8", "replace")


def complaint(output: str) -> str:
    """What a command complained of: its error lines, or its last words."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith(("error", "expected", "got"))]
    return "\n".join(f"  {line[:300]}" for line in (errors or lines)[-8:]) or "  (nothing)"
