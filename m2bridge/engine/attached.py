"""A container with its streams in our hands: its client, its guard, and a short way to its M2.

Whatever ``docker run`` carries passes through the client, the daemon and a helper of the daemon;
that is four changes of process for each message. Where the container runs on this very machine,
two named pipes in a folder that both sides see lead straight to M2. Whether they do is found by
trying: a word is put into one of them, and the container says whether it came. Where it does not
(another machine, a virtual machine, user numbers that are mapped), the frames take the long way.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from m2bridge.engine.containers import ContainerClient, Guard
from m2bridge.errors import DockerError

__all__ = ["Attached", "PipePair"]

_NOBODY = 65534


class PipePair:
    """Two named pipes in a private folder that one user of the container may enter.

    That user is never root: it is the one that runs Python, or nobody if that is root.

    Raises:
        OSError: they cannot be made.
    """

    def __init__(self) -> None:
        self.word = secrets.token_hex(8)
        self.folder = tempfile.mkdtemp(prefix="m2bridge-pipes-")
        self._open: list[int] = []
        try:
            paths = [Path(self.folder, name) for name in ("in", "out")]
            for path in paths:
                os.mkfifo(path, 0o600)
            if os.getuid() == 0:
                for owned in (*paths, Path(self.folder)):
                    os.chown(owned, _NOBODY, _NOBODY)
            # For reading too, or it could not be opened before the other side has opened it.
            self.requests = self._opened(paths[0], os.O_RDWR)
            self.answers = self._opened(paths[1], os.O_RDONLY)
            os.write(self.requests, self.word.encode("ascii"))
        except BaseException:
            self.close()
            raise

    @staticmethod
    def possible() -> bool:
        """Whether it is worth trying: elsewhere than on Linux, containers have another kernel."""
        # A comma would end the folder's name in the client's option.
        return sys.platform == "linux" and "," not in tempfile.gettempdir()

    @property
    def user(self) -> str:
        """Whom the container has to run as."""
        if os.getuid() == 0:
            return f"{_NOBODY}:{_NOBODY}"
        return f"{os.getuid()}:{os.getgid()}"

    def connected(self) -> None:
        """The other side has opened both pipes: from now on its end is seen, and no name needed."""
        both_ways = self.requests
        self.requests = self._opened(Path(self.folder, "in"), os.O_WRONLY)
        self._open.remove(both_ways)
        os.close(both_ways)
        shutil.rmtree(self.folder, ignore_errors=True)

    def close(self) -> None:
        """Closes our ends and removes the folder."""
        self.let_go()
        shutil.rmtree(self.folder, ignore_errors=True)

    def let_go(self) -> None:
        """Closes our ends only."""
        while self._open:
            os.close(self._open.pop())

    def _opened(self, path: Path, mode: int) -> int:
        descriptor = os.open(path, mode | os.O_NONBLOCK | os.O_CLOEXEC)
        self._open.append(descriptor)
        return descriptor


class Attached:
    """A container's client as our child, with the guard that removes the container if we die.

    Attributes:
        process: the client; it ends after its container.
        inputs, outputs, errors: its streams' descriptors; they do not block.

    Args:
        client: the container engine.
        name: of the container.
        command: what ``ContainerClient.run_command`` gave.
        pipes: the short way, if it is to be tried; closed with the rest.

    Raises:
        DockerError: the client cannot be run.
    """

    def __init__(
        self, client: ContainerClient, name: str, command: list[str], pipes: PipePair | None
    ) -> None:
        self.name = name
        self.pipes = pipes
        self._client = client
        self._owner = os.getpid()
        self._guard = Guard(client, name, pipes.folder if pipes else "")
        try:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # the terminal's Ctrl-C is not for the client
            )
        except OSError as error:
            self._guard.release()
            if pipes is not None:
                pipes.close()
            raise DockerError(f"{client.command} cannot be run: {error}") from error
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.inputs = self.process.stdin.fileno()
        self.outputs = self.process.stdout.fileno()
        self.errors = self.process.stderr.fileno()
        for descriptor in (self.inputs, self.outputs, self.errors):
            os.set_blocking(descriptor, False)

    def close(self) -> None:
        """Ends the client, closes everything, sends the guard home. The container is gone."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._close_streams()
        if self.pipes is not None:
            self.pipes.close()
        self._guard.release()

    def let_go(self) -> None:
        """In a fork of Python: drops our copies of descriptors; the rest is the parent's."""
        self._close_streams()
        if self.pipes is not None:
            self.pipes.let_go()
        self.process.returncode = 0  # it is not our child, so nobody need wait for it
        self._guard.let_go()

    def forgotten(self) -> None:
        """What is done when nobody ended it: removes the container, but not from a fork."""
        if os.getpid() != self._owner:
            self.let_go()
            return
        with contextlib.suppress(DockerError):
            self._client.remove(self.name)
        self.close()

    def _close_streams(self) -> None:
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
