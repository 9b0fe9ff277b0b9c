"""A process held by a keeper (see keeper.py): started, interrupted, ended, asked how it went."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Sequence
from pathlib import Path

from m2bridge.engine.channel import Exit
from m2bridge.errors import EngineError

__all__ = ["KeptProcess", "high_pipe", "private_folder"]

_KEEPER = Path(__file__).with_name("keeper.py")
_END_SECONDS = 15.0
_REPORT_BYTES = 1 << 16

# How M2 and its libraries put it when they get no more memory. Only what the process itself wrote
# to its standard output or error counts; what evaluated code prints goes another way.
_OUT_OF_MEMORY = (
    "out of memory",
    "bad_alloc",
    "failed to expand heap",
    "cannot allocate memory",
    "memory exhausted",
    "virtual memory",
)


def private_folder() -> str:
    """A new empty folder that only this user may enter.

    Raises:
        EngineError: no temporary folder can be made.
    """
    try:
        return tempfile.mkdtemp(prefix="m2bridge-")
    except OSError as error:
        raise EngineError(
            f"no private folder for Macaulay2 can be made: {error}. Free some space there, or name"
            " another place by the environment variable TMPDIR"
        ) from error


def high_pipe() -> tuple[int, int]:
    """A pipe (read end, write end) whose numbers are none of 0, 1, 2.

    Where Python itself was started with these closed, a pipe would take them, and be lost when
    they are set up for the process.
    """
    ends = os.pipe()
    high = []
    for end in ends:
        if end > 2:
            high.append(end)
            continue
        high.append(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 3))
        os.close(end)
    return high[0], high[1]


def _high_socketpair() -> tuple[socket.socket, socket.socket]:
    high = []
    for end in socket.socketpair():
        if end.fileno() > 2:
            high.append(end)
            continue
        high.append(socket.socket(fileno=fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 3)))
        end.close()
    return high[0], high[1]


class KeptProcess:
    """A command with its keeper.

    Args:
        command: what is run, in ``working`` or else in the private folder.
        folder: a private folder; it is the command's home and is removed in the end.
        memory: limit in bytes, 0 for none.
        keep: descriptors that the command inherits under the same numbers.
        stdout: descriptor for its standard output; by default it is kept as transcript,
            like standard error.

    Raises:
        OSError: it cannot be started; the folder is then still there.
    """

    def __init__(
        self,
        command: Sequence[str],
        folder: str,
        memory: int,
        keep: Sequence[int] = (),
        stdout: int | None = None,
        working: str | None = None,
    ) -> None:
        self._exit: Exit | None = None
        self._lock = threading.RLock()  # end may be called by a finalizer in the midst of end
        with contextlib.ExitStack() as stack:
            output, printed = high_pipe()
            stack.callback(os.close, output)
            stack.callback(os.close, printed)
            self._control, theirs = _high_socketpair()
            stack.callback(theirs.close)
            keeper = [sys.executable, "-I", "-S", str(_KEEPER)]
            numbers = [os.getpid(), theirs.fileno(), output, memory]
            closed = ",".join(map(str, keep))
            try:
                self._keeper = subprocess.Popen(
                    [*keeper, *map(str, numbers), folder, closed, *command],
                    cwd=working or folder,
                    env=_environment(folder),
                    stdin=subprocess.DEVNULL,
                    stdout=printed if stdout is None else stdout,
                    stderr=printed,
                    start_new_session=True,
                    pass_fds=(theirs.fileno(), output, *keep),
                )
            except BaseException:
                self._control.close()
                raise
        self._folder = folder
        self._finalizer = weakref.finalize(self, _end_keeper, self._keeper, self._control, folder)

    def fileno(self) -> int:
        """A descriptor that becomes readable when the process has ended."""
        return self._control.fileno()

    def interrupt(self) -> None:
        """Sends the process and its children a SIGINT."""
        with contextlib.suppress(OSError):
            self._control.send(b"I")

    def end(self, grace_seconds: float = 0.0) -> Exit:
        """Ends it and all that it started, unless it ends by itself within the grace."""
        with self._lock:
            if self._exit is None:
                report = self._report(grace_seconds)
                self._finalizer.detach()
                _end_keeper(self._keeper, self._control, self._folder)
                line, _, words = report.partition(b"\n")
                status, _, reason = line.decode("ascii").partition(" ")
                transcript = words.decode("utf-8", "replace")
                number = int(status) if status else None
                self._exit = Exit(number, self._ran_out(reason, number, transcript), transcript)
            return self._exit

    def _ran_out(self, reason: str, status: int | None, transcript: str) -> bool:
        if reason == "memory":
            return True
        lowered = transcript.lower()
        return reason == "ended" and status != 0 and any(s in lowered for s in _OUT_OF_MEMORY)

    def abandon(self) -> None:
        """After a fork, in the child: lets go of a process that belongs to the parent."""
        self._finalizer.detach()
        self._control.close()
        self._keeper.returncode = 0  # it is not this process's child; nobody may wait for it
        self._exit = Exit(None, False, "")

    def _report(self, grace_seconds: float) -> bytes:
        """The keeper's report, after telling it to kill if the grace has passed."""
        parts = []
        deadline = time.monotonic() + grace_seconds
        asked = False
        with contextlib.suppress(OSError):
            while True:
                self._control.settimeout(max(deadline - time.monotonic(), 0.001))
                try:
                    part = self._control.recv(_REPORT_BYTES)
                except TimeoutError:
                    if asked:
                        break
                    asked = True
                    deadline = time.monotonic() + _END_SECONDS
                    self._control.send(b"K")
                    continue
                if not part:
                    break
                parts.append(part)
        return b"".join(parts)


def _end_keeper(keeper: subprocess.Popen[bytes], control: socket.socket, folder: str) -> None:
    """Closing the control socket makes the keeper kill M2's group and remove the folder."""
    control.close()
    try:
        keeper.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(keeper.pid, signal.SIGKILL)
        keeper.wait()
    if Path(folder).exists():  # the keeper was killed itself
        remove_folder(folder)


def _environment(folder: str) -> dict[str, str]:
    """M2's environment: the user's, but with a home that holds no init file and no packages."""
    return {**os.environ, "HOME": folder, "TMPDIR": folder}


def remove_folder(folder: str) -> None:
    """Removes a private folder that no keeper has taken over."""
    shutil.rmtree(folder, ignore_errors=True)
