"""Any M2 script of the user's, run to its end under our limits.

Not a session: the script has a process of its own and may print, exit, load files beside it, and
use the package M2Bridge. Its standard output is the result.
"""

from __future__ import annotations

import hashlib
import os
import select
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from m2bridge.engine.channel import Engine, Exit, Limits, checked_timeout
from m2bridge.engine.kept import KeptProcess, high_pipe
from m2bridge.engine.local import M2_PACKAGE, LocalEngine
from m2bridge.engine.messages import error_from_output
from m2bridge.engine.opening import memory_bytes, open_engine
from m2bridge.engine.session import Session
from m2bridge.errors import (
    EngineError,
    M2CrashedError,
    M2MemoryError,
    M2TimeoutError,
    SizeLimitError,
)

__all__ = ["ScriptRun", "run_file"]

_OPTIONS = ("-q", "--silent", "--stop", "--no-debug", "--no-readline", "--no-tty")
# The private folder is the home; M2Bridge lies there, after everything else on M2's path.
_PATH = 'path = append(path, getenv "HOME" | "/")'
_OUTPUT_LIMIT = 1 << 28
_SLICE_MS = 500
_GRACE_SECONDS = 5.0
_ERROR_STATUS = 1
_START_MATTERS_SECONDS = 10.0


@dataclass(frozen=True)
class ScriptRun:
    """A script that ran to its end.

    Attributes:
        path: the script.
        digest: SHA-256 of its text.
        status: its exit status.
        output: its standard output; empty if that was handed on while it ran.
        messages: the end of its standard error.
        seconds: how long it took.
        m2_version: the Macaulay2 that ran it.
        engine: where that was.
    """

    path: Path
    digest: str
    status: int
    output: str
    messages: str
    seconds: float
    m2_version: str
    engine: str


def run_file(
    path: str | os.PathLike[str],
    engine: str | Engine | None = None,
    *,
    m2: str | os.PathLike[str] | None = None,
    memory: str | int | None = None,
    timeout: float | None = None,
    on_output: Callable[[bytes], None] | None = None,
) -> ScriptRun:
    """Runs a script as ``M2 --script`` does, and ends all that it started.

    The local engine runs it in the script's own folder, without the user's init file, with an
    empty standard input. Other engines run it inside a session, as one text: there it cannot load
    files beside it, and its output comes at the end.

    M2 holds printed lines back until there are 4 KiB of them, or the script says ``<< flush``. What
    is held back when a limit ends the script is lost.

    Args:
        path: the script, a text file in UTF-8.
        engine: as for ``open_session``.
        m2: the M2 executable of the local engine.
        memory: what M2 may take.
        timeout: seconds until its end.
        on_output: gets the bytes of its standard output as they come.

    Raises:
        ValueError, TypeError: bad arguments, or there is no such file.
        M2Error: M2 stopped at an error; with its file, line and column.
        M2TimeoutError, M2MemoryError, M2CrashedError: as for a session's calls.
        SizeLimitError: it printed more than can be kept (only without ``on_output``).
    """
    limits = Limits(memory=memory_bytes(memory))
    limit = checked_timeout(timeout)
    file = Path(path)
    text = _text_of(file)
    chosen = open_engine(engine, m2)
    job = _Job(file.absolute(), text, limits, limit, on_output)
    return job.run_locally(chosen) if isinstance(chosen, LocalEngine) else job.run_inside(chosen)


def _text_of(file: Path) -> bytes:
    """A script's text.

    Raises:
        ValueError: it cannot be read, or could be read only once (and M2 reads it again).
    """
    try:
        if file.exists() and not file.is_dir() and not file.is_file():
            raise ValueError(
                f"the script {file} is a pipe or a device; give a file (a script that comes"
                " through a pipe has to be saved first)"
            )
        return file.read_bytes()
    except OSError as error:
        raise ValueError(f"the script {file} cannot be read: {error.strerror}") from error


@dataclass(frozen=True)
class _Job:
    path: Path
    text: bytes
    limits: Limits
    timeout: float | None
    on_output: Callable[[bytes], None] | None

    def run_locally(self, engine: LocalEngine) -> ScriptRun:
        """In a process of its own."""
        begun = time.monotonic()
        output, how = self._process(engine, None if self.timeout is None else begun + self.timeout)
        if how.out_of_memory:
            limit = self.limits.memory
            size = f"its memory limit of {limit / 2**20:.0f} MiB" if limit else "the end of memory"
            raise M2MemoryError(f"Macaulay2 reached {size} while it ran {self.path}")
        if how.status is None or how.status < 0:
            raise M2CrashedError(f"while it ran {self.path}: {how.describe()}")
        # M2's own end at an error; a script that calls exit may have printed such a line, too
        if how.status == _ERROR_STATUS and ": error: " in how.transcript:
            error = error_from_output(
                how.transcript, self.text.decode("utf-8", "replace"), self.path.name
            )
            error.output = output.decode("utf-8", "replace")
            raise error
        return self._done(
            how.status,
            output.decode("utf-8", "replace"),
            how.transcript,
            begun,
            engine.installation.version,
            engine,
        )

    def run_inside(self, engine: Engine) -> ScriptRun:
        """In a session: for engines that can only do that."""
        begun = time.monotonic()
        # the limit is until the script's end, so M2's start counts
        with Session(engine, limits=self.limits, session_timeout=self.timeout) as session:
            version = session.m2_version
            code = self.text.decode("utf-8", "replace")
            output = session.call("scriptrun", [self.text], code=code).output
        if self.on_output is not None:
            self.on_output(output.encode("utf-8"))
            output = ""
        return self._done(0, output, "", begun, version, engine)

    def _done(
        self, status: int, output: str, messages: str, begun: float, version: str, engine: Engine
    ) -> ScriptRun:
        return ScriptRun(
            path=self.path,
            digest=hashlib.sha256(self.text).hexdigest(),
            status=status,
            output=output,
            messages=messages,
            seconds=time.monotonic() - begun,
            m2_version=version,
            engine=engine.description,
        )

    def _command(self, engine: LocalEngine) -> list[str]:
        executable = str(engine.installation.path)
        return [executable, *_OPTIONS, "-e", _PATH, str(self.path), "-e", "exit 0"]

    def _process(self, engine: LocalEngine, deadline: float | None) -> tuple[bytes, Exit]:
        """What the process printed, and how it ended."""
        try:
            read, write = high_pipe()
        except OSError as error:
            raise EngineError(f"Macaulay2 cannot be started: {error}") from error
        try:
            process = self._started(engine, write)
        except BaseException:
            os.close(read)
            raise
        finally:
            os.close(write)
        try:
            output = self._collect(read, process, deadline)
            return output, process.end(_GRACE_SECONDS)
        finally:
            os.close(read)
            process.end()

    def _started(self, engine: LocalEngine, output: int) -> KeptProcess:
        folder = str(self.path.parent)
        try:
            return KeptProcess(
                self._command(engine),
                [M2_PACKAGE],
                self.limits.memory or 0,
                stdout=output,
                working=folder,
            )
        except OSError as error:
            raise EngineError(f"Macaulay2 cannot be started: {error}") from error

    def _collect(self, read: int, process: KeptProcess, deadline: float | None) -> bytes:
        """Reads until the end of the output, or of the process."""
        parts: list[bytes] = []
        size = 0
        poll = select.poll()
        poll.register(read, select.POLLIN)
        poll.register(process, select.POLLIN)
        while True:
            left = _SLICE_MS if deadline is None else (deadline - time.monotonic()) * 1000
            if left <= 0:
                assert self.timeout is not None
                start = "" if self.timeout > _START_MATTERS_SECONDS else ", its start included"
                raise M2TimeoutError(
                    f"Macaulay2 did not finish {self.path} within {self.timeout:g} s{start}; its"
                    " process was ended"
                )
            ready = dict(poll.poll(min(left + 1, _SLICE_MS)))
            if read not in ready:
                if process.fileno() in ready:  # ended, though a child may hold its output
                    return b"".join(parts)
                continue
            chunk = os.read(read, 1 << 16)
            if not chunk:
                return b"".join(parts)
            if self.on_output is not None:
                self.on_output(chunk)
                continue
            parts.append(chunk)
            size += len(chunk)
            if size > _OUTPUT_LIMIT:
                raise SizeLimitError(
                    f"{self.path} printed more than {_OUTPUT_LIMIT >> 20} MiB, which is not kept in"
                    " memory; take it as it comes, by on_output"
                )
