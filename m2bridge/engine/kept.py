"""A process held by a keeper (see keeper.py): started, interrupted, ended, asked how it went."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
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

__all__ = ["KeptProcess", "high_pipe"]

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


def _new_name() -> str:
    """A name for a private folder, in the place for temporary files.

    Raises:
        EngineError: there is no such place.
    """
    try:
        return str(Path(tempfile.gettempdir(), f"m2bridge-{secrets.token_hex(8)}"))
    except OSError as error:
        raise _no_folder(error) from error


def _make_folder(folder: str, files: Sequence[Path]) -> None:
    """Makes a folder that only this user may enter; it must not be there yet."""
    try:
        Path(folder).mkdir(mode=0o700)
    except OSError as error:
        raise _no_folder(error) from error
    for file in files:
        (Path(folder) / file.name).write_bytes(file.read_bytes())


def _no_folder(error: OSError) -> EngineError:
    return EngineError(
        f"no private folder for Macaulay2 can be made: {error}. Free some space there, or name"
        " another place by the environment variable TMPDIR"
    )


class KeptProcess:
    """A command with its keeper, and a private folder that is the command's home.

    Args:
        command: what is run, in ``working`` or else in the private folder.
        files: these are copied into the private folder.
        memory: limit in bytes, 0 for none.
        keep: descriptors that the command inherits under the same numbers.
        stdout: descriptor for its standard output; by default it is kept as transcript,
            like standard error.

    Attributes:
        folder: the private folder; the keeper removes it in the end.

    Raises:
        EngineError: there is no place for the folder.
        OSError: it cannot be started. Nothing is left of it.
    """

    def __init__(
        self,
        command: Sequence[str],
        files: Sequence[Path],
        memory: int,
        keep: Sequence[int] = (),
        stdout: int | None = None,
        working: str | None = None,
    ) -> None:
        self._exit: Exit | None = None
        self._lock = threading.RLock()  # end may be called by a finalizer in the midst of end
        self.folder = folder = _new_name()
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
                    [*keeper, *map(str, numbers), folder, working or folder, closed, *command],
                    cwd="/",
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
        mine = (self._keeper, self._control, folder, os.getpid())
        self._finalizer = weakref.finalize(self, _end_keeper, *mine)
        # Only now: whatever happens to Python from here on, the keeper removes the folder.
        try:
            _make_folder(folder, files)
            self._control.send(b"G")
        except BaseException:
            self._finalizer()
            raise

    @property
    def keeper(self) -> int:
        """The keeper's process number; the command is its child."""
        return self._keeper.pid

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
                self._finalizer()
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


def _end_keeper(
    keeper: subprocess.Popen[bytes], control: socket.socket, folder: str, owner: int
) -> None:
    """Closing the control socket makes the keeper kill M2's group and remove the folder."""
    control.close()
    if os.getpid() != owner:  # a fork, made while another thread was starting this
        keeper.returncode = 0
        return
    try:
        keeper.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(keeper.pid, signal.SIGKILL)
        keeper.wait()
    if Path(folder).exists():  # the keeper was killed itself
        shutil.rmtree(folder, ignore_errors=True)


def _environment(folder: str) -> dict[str, str]:
    """M2's environment: the user's, but with a home that holds no init file and no packages."""
    return {**os.environ, "HOME": folder, "TMPDIR": folder}
