"""The local engine: a Macaulay2 process on this machine, held by a keeper (see keeper.py)."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
import weakref
from pathlib import Path
from typing import IO

from m2bridge.engine.channel import Exit, Limits
from m2bridge.engine.discovery import Installation
from m2bridge.errors import EngineError
from m2bridge.scripts_folder import SCRIPTS_FOLDER

__all__ = ["LocalChannel", "LocalEngine", "serve_command"]

_KEEPER = Path(__file__).with_name("keeper.py")
_M2_PACKAGE = "M2Bridge.m2"
_M2_OPTIONS = ("-q", "--silent", "--no-readline", "--no-debug", "--no-tty", "--stop")
_TRANSCRIPT_BYTES = 4000
_END_SECONDS = 10.0
_CHUNK = 1 << 20


def serve_command(executable: str, inputs: int, outputs: int) -> list[str]:
    """The command line of an M2 that serves frames on two descriptors; only integers go in."""
    code = f'needsPackage "M2Bridge"; bridgeServe({inputs}, {outputs})'
    return [executable, *_M2_OPTIONS, "-e", code]


class LocalEngine:
    """Starts processes of one installed Macaulay2."""

    def __init__(self, installation: Installation) -> None:
        self.installation = installation

    @property
    def description(self) -> str:
        """For provenance: where this M2 is and which rule found it."""
        return f"local: {self.installation.path} ({self.installation.origin})"

    def start(self, limits: Limits) -> LocalChannel:
        """Starts M2 in an empty private folder.

        Raises:
            EngineError: the process or its folder cannot be made.
        """
        try:
            folder = tempfile.mkdtemp(prefix="m2bridge-")
        except OSError as error:
            raise EngineError(f"no private folder for Macaulay2 can be made: {error}") from error
        try:
            (Path(folder) / _M2_PACKAGE).write_bytes((SCRIPTS_FOLDER / _M2_PACKAGE).read_bytes())
            return LocalChannel(str(self.installation.path), folder, limits.memory or 0)
        except BaseException as error:
            _remove(folder)
            if isinstance(error, OSError):
                raise EngineError(f"Macaulay2 cannot be started: {error}") from error
            raise


class LocalChannel:
    """A running local M2. Bytes pass through two pipes that only M2 and Python hold."""

    def __init__(self, executable: str, folder: str, memory: int) -> None:
        self._folder = folder
        self._exit: Exit | None = None
        with contextlib.ExitStack() as stack:  # closes M2's ends here, and all on failure
            request_read, self._requests = os.pipe()
            stack.callback(os.close, request_read)
            self._answers, answer_write = os.pipe()
            stack.callback(os.close, answer_write)
            self._control, keeper_control = socket.socketpair()
            stack.callback(keeper_control.close)
            self._transcript: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
            os.set_blocking(self._requests, False)
            os.set_blocking(self._answers, False)
            command = serve_command(executable, request_read, answer_write)
            try:
                self._keeper = subprocess.Popen(
                    [sys.executable, "-I", "-S", str(_KEEPER)]
                    + [str(keeper_control.fileno()), str(memory), folder, *command],
                    cwd=folder,
                    env=_environment(folder),
                    stdin=subprocess.DEVNULL,
                    stdout=self._transcript,
                    stderr=self._transcript,
                    start_new_session=True,
                    pass_fds=(request_read, answer_write, keeper_control.fileno()),
                )
            except BaseException:
                self._close_descriptors()
                raise
        self._finalizer = weakref.finalize(self, _end_keeper, self._keeper, self._control)

    @property
    def folder(self) -> str:
        """The private folder; the keeper removes it when M2 has ended."""
        return self._folder

    def send(self, data: bytes, deadline: float | None) -> None:
        """See Channel.send."""
        view = memoryview(data)
        while view:
            _wait(self._requests, select.POLLOUT, deadline)
            try:
                view = view[os.write(self._requests, view[:_CHUNK]) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise EOFError from None

    def receive(self, size: int, deadline: float | None) -> bytes:
        """See Channel.receive."""
        parts: list[bytes] = []
        while size > 0:
            try:
                part = os.read(self._answers, min(size, _CHUNK))
            except BlockingIOError:
                _wait(self._answers, select.POLLIN, deadline)
                continue
            if not part:
                raise EOFError
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def interrupt(self) -> None:
        """See Channel.interrupt."""
        with contextlib.suppress(OSError):
            self._control.send(b"I")

    def end(self, grace_seconds: float = 0.0) -> Exit:
        """See Channel.end. With a grace M2 may first end by itself (it was asked to quit)."""
        if self._exit is None:
            report = self._last_report(grace_seconds)
            self._finalizer.detach()
            _end_keeper(self._keeper, self._control)
            transcript = self._read_transcript()
            self._close_descriptors()
            status, _, reason = report.partition(" ")
            self._exit = Exit(int(status) if status else None, reason == "memory", transcript)
        return self._exit

    def _last_report(self, grace_seconds: float) -> str:
        """The keeper's line about M2's end, after telling it to kill if the grace has passed."""
        with contextlib.suppress(OSError):
            self._control.settimeout(max(grace_seconds, 0.01))
            try:
                line = self._control.recv(100)
            except TimeoutError:
                self._control.settimeout(_END_SECONDS)
                self._control.send(b"K")
                line = self._control.recv(100)
            return line.decode("ascii").strip()
        return ""

    def _read_transcript(self) -> str:
        with contextlib.suppress(OSError, ValueError):
            end = self._transcript.seek(0, os.SEEK_END)
            self._transcript.seek(max(0, end - _TRANSCRIPT_BYTES))
            return self._transcript.read().decode("utf-8", "replace")
        return ""

    def _close_descriptors(self) -> None:
        for descriptor in (self._requests, self._answers):
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self._control.close()
        self._transcript.close()


def _wait(descriptor: int, event: int, deadline: float | None) -> None:
    """Waits until the descriptor is ready. Raises TimeoutError at the deadline."""
    poll = select.poll()
    poll.register(descriptor, event)
    left = None if deadline is None else max(0.0, deadline - time.monotonic())
    if not poll.poll(None if left is None else left * 1000 + 1) and left is not None:
        raise TimeoutError


def _end_keeper(keeper: subprocess.Popen[bytes], control: socket.socket) -> None:
    """Closing the control socket makes the keeper kill M2's group and remove the folder."""
    control.close()
    try:
        keeper.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(keeper.pid, signal.SIGKILL)
        keeper.wait()


def _environment(folder: str) -> dict[str, str]:
    """M2's environment: the user's, but with a home that holds no init file and no packages."""
    return {**os.environ, "HOME": folder, "TMPDIR": folder}


def _remove(folder: str) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
