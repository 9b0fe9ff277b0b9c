"""Macaulay2 in a container: the same frames, through ``docker run -i``.

The container is the sandbox: M2 can run any program of its image, so the image holds little and
the container may do nothing (see ``containers``). M2's half of the bridge is not part of the
image; it is sent first, through the same stream, and so is always of this version.

One container per M2, made by ``docker run`` and never reused after an interrupt or a timeout: a
second M2 inside a running container would start only 0.15 s sooner, and signals, the report of an
exhausted memory and the cleaning up would be lost.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import time
import weakref
from pathlib import Path

from m2bridge.engine.channel import Exit, Limits
from m2bridge.engine.containers import ContainerClient, Guard, find_client
from m2bridge.engine.local import serve_command
from m2bridge.engine.pins import PINNED
from m2bridge.errors import DockerError
from m2bridge.scripts_folder import SCRIPTS_FOLDER

__all__ = ["DEFAULT_IMAGE", "DockerEngine"]

DEFAULT_IMAGE = f"m2bridge-m2:{PINNED.m2_version}"
_VERSION_LABEL = "m2bridge.m2-version"

# In the container: the first bytes of standard input are M2's half of the bridge, the rest are
# frames. Arguments: names and sizes of its files, "--", the command. M2 gets the frames on
# descriptors of its own, as in the local engine; what it prints goes to standard error, and its
# standard input is empty. The working folder is /tmp, where M2 looks first for packages.
_SHELL = (
    'while [ "$1" != -- ]; do head -c "$2" > "$1" || exit; shift 2; done; shift;'
    ' exec "$@" 3<&0 4>&1 0</dev/null 1>&2'
)

# M2 has about 7 threads, and its libraries some for each processor.
_PROCESSES = 128
# The kernel rather kills M2 in its container than anything of the user's outside.
_MEMORY_SHARE = 0.75
_CLIENT_FAILED = (125, 126, 127)  # docker's own statuses: the container was not started
_SETTLE_SECONDS = 10.0
_TRANSCRIPT_BYTES = 65536
_CHUNK = 1 << 20


class DockerEngine:
    """Starts M2 in containers of one image.

    Args:
        image: an image made by docker/Dockerfile, target ``m2``; by default the one of this
            version, or what the environment's M2BRIDGE_DOCKER_IMAGE says.
        client: the container engine; by default docker, else podman (M2BRIDGE_DOCKER).

    Raises:
        DockerError: there is no client.
    """

    def __init__(self, image: str | None = None, client: ContainerClient | None = None) -> None:
        self.image = image or os.environ.get("M2BRIDGE_DOCKER_IMAGE") or DEFAULT_IMAGE
        self.client = client or find_client()
        self._checked = False

    @property
    def description(self) -> str:
        """For provenance: the client's name and the image's."""
        return f"{Path(self.client.command).name}: {self.image}"

    def check(self) -> None:
        """Makes sure that the engine answers and has the right image.

        Raises:
            DockerError: no daemon, no permission, no such image, an image of another version.
        """
        name = Path(self.client.command).name
        build = (
            f"build it in a checkout of m2bridge: {name} build -f docker/Dockerfile --target m2"
            f" -t {self.image} ."
        )
        labels = self.client.labels(self.image)
        if labels is None:
            raise DockerError(f"there is no image {self.image}; {build} (or make docker-build)")
        version = labels.get(_VERSION_LABEL)
        if version is None:
            raise DockerError(f"the image {self.image} is not one of m2bridge's; {build}")
        if version != PINNED.m2_version:
            raise DockerError(
                f"the image {self.image} holds Macaulay2 {version}, and this m2bridge wants"
                f" {PINNED.m2_version}; {build}"
            )

    def start(self, limits: Limits) -> DockerChannel:
        """Starts a container whose M2 is about to say hello.

        Raises:
            DockerError: it cannot be started; the message says what mends it.
        """
        first = not self._checked
        if first:
            self.check()
            self._checked = True
        memory = limits.memory or _default_memory()
        channel = DockerChannel(self.client, self.image, memory)
        try:
            if first:
                self.client.remove_orphans()  # while M2 starts
            channel.await_first_words(time.monotonic() + limits.start_seconds)
        except BaseException:
            channel.end()
            raise
        return channel


class DockerChannel:
    """A running container and the way to its M2 (see ``channel.Channel``)."""

    folder: str | None = None  # no files are shared

    def __init__(self, client: ContainerClient, image: str, memory: int) -> None:
        names_and_sizes, self._bridge = _bridge_files()
        self.name = client.new_name()
        self._client = client
        self._exit: Exit | None = None
        self._received = bytearray()
        self._transcript = bytearray()
        serve = serve_command("M2", 3, 4)
        command = ["sh", "-c", _SHELL, "sh", *names_and_sizes, "--", *serve]
        self._guard = Guard(client, self.name)
        try:
            self._process = subprocess.Popen(
                client.run_command(image, self.name, command, memory=memory, processes=_PROCESSES),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # the terminal's Ctrl-C is not for the client
            )
        except OSError as error:
            self._guard.release()
            raise DockerError(f"{client.command} cannot be run: {error}") from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._in = self._process.stdin.fileno()
        self._out = self._process.stdout.fileno()
        self._err: int | None = self._process.stderr.fileno()
        for descriptor in (self._in, self._out, self._err):
            os.set_blocking(descriptor, False)
        self._readable, self._writable = select.poll(), select.poll()
        self._readable.register(self._out, select.POLLIN)
        self._writable.register(self._in, select.POLLOUT)
        for poll in (self._readable, self._writable):
            poll.register(self._err, select.POLLIN)
        self._finalizer = weakref.finalize(
            self, _forgotten, os.getpid(), client, self.name, self._process, self._guard
        )

    def await_first_words(self, deadline: float) -> None:
        """Sends the bridge and waits until M2 has said something.

        Raises:
            DockerError: the container did not start, or ended without a word.
        """
        try:
            self.send(self._bridge, deadline)
            self._await(1, deadline)
        except TimeoutError:
            raise DockerError(
                "Macaulay2 in the container did not say hello in time; it said:"
                f" {self.end().describe()}"
            ) from None
        except EOFError:
            status = self._process.wait(_SETTLE_SECONDS)
            self._drain()
            words = self._words()
            if status in _CLIENT_FAILED:
                raise self._client.explain(words) from None
            raise DockerError(f"the container ended at once: {self.end().describe()}") from None

    def send(self, data: bytes, deadline: float | None) -> None:
        """Sends all bytes. Raises EOFError or TimeoutError."""
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[os.write(self._in, rest[:_CHUNK]) :]
            except BlockingIOError:
                self._wait(self._writable, self._in, deadline)
            except BrokenPipeError:
                raise EOFError("the container is gone") from None

    def receive(self, size: int, deadline: float | None) -> bytes:
        """Receives exactly so many bytes. Raises EOFError or TimeoutError."""
        self._await(size, deadline)
        data = bytes(self._received[:size])
        del self._received[:size]
        return data

    def _await(self, size: int, deadline: float | None) -> None:
        """Waits until so many bytes have come."""
        while len(self._received) < size:
            self._wait(self._readable, self._out, deadline)
            with contextlib.suppress(BlockingIOError):
                chunk = os.read(self._out, _CHUNK)
                if not chunk:
                    raise EOFError("the container has ended")
                self._received += chunk

    def interrupt(self) -> None:
        """Asks M2 to stop what it is doing; the container's init hands the signal on."""
        self._client.signal(self.name, "INT")

    def end(self, grace_seconds: float = 0.0) -> Exit:
        """Ends and removes the container; called again, tells the same."""
        if self._exit is not None:
            return self._exit
        with contextlib.suppress(OSError):
            self._process.stdin.close()  # type: ignore[union-attr]
        try:
            self._exit = self._end(grace_seconds)
        finally:
            self._finalizer.detach()
            _close(self._process, self._guard)
        return self._exit

    def abandon(self) -> None:
        """In a fork of the Python process: lets go of the parent's container."""
        self._finalizer.detach()
        _let_go(self._process, self._guard)
        self._exit = Exit(None, False, "")

    def _end(self, grace_seconds: float) -> Exit:
        # A container that has ended by itself, or does so in time, can be asked why.
        by_itself = self._ends_within(grace_seconds)
        status: int | None = -9
        out_of_memory = False
        try:
            if by_itself:
                state = self._client.state(self.name)
                status, out_of_memory = (
                    (None, False)
                    if state is None
                    else (_as_signal(state.exit_code), state.out_of_memory)
                )
        finally:
            self._client.remove(self.name)
        if not by_itself:
            self._ends_within(_SETTLE_SECONDS)
        return Exit(status, out_of_memory, self._words())

    def _ends_within(self, seconds: float) -> bool:
        """Waits for the client, which ends after its container; reads its last words."""
        if self._at_end_of_file():
            seconds = max(seconds, _SETTLE_SECONDS)
        deadline = time.monotonic() + seconds
        while self._process.poll() is None and time.monotonic() < deadline:
            self._drain()
            time.sleep(0.005)
        self._drain()
        return self._process.poll() is not None

    def _at_end_of_file(self) -> bool:
        """Whether M2's side of the stream is closed: then the container is ending already."""
        try:
            chunk = os.read(self._out, 1 << 16)
        except BlockingIOError:
            return False
        self._received += chunk
        return not chunk

    def _wait(self, poll: select.poll, descriptor: int, deadline: float | None) -> None:
        """Waits until a descriptor is ready, and meanwhile takes in what M2 prints."""
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            ready = poll.poll(None if left is None else left * 1000)
            if any(one != descriptor for one, _ in ready):
                self._drain()
            if any(one == descriptor for one, _ in ready):
                return
            if deadline is not None and time.monotonic() >= deadline:
                raise TimeoutError("Macaulay2 in the container did not answer in time")

    def _drain(self) -> None:
        """Takes in what was printed so far; keeps the end of it."""
        while self._err is not None:
            try:
                chunk = os.read(self._err, 1 << 16)
            except BlockingIOError:
                break
            if not chunk:
                for poll in (self._readable, self._writable):
                    poll.unregister(self._err)
                self._err = None
            self._transcript = (self._transcript + chunk)[-_TRANSCRIPT_BYTES:]

    def _words(self) -> str:
        return self._transcript.decode("utf-8", "replace")


def _bridge_files() -> tuple[list[str], bytes]:
    """M2's half of the bridge: names and sizes of its files one after the other, and their text."""
    texts = {file.name: file.read_bytes() for file in sorted(SCRIPTS_FOLDER.glob("*.m2"))}
    names_and_sizes = [word for name, text in texts.items() for word in (name, str(len(text)))]
    return names_and_sizes, b"".join(texts.values())


def _close(process: subprocess.Popen[bytes], guard: Guard) -> None:
    """Ends the client, closes its streams, sends the guard home."""
    if process.poll() is None:
        process.kill()
    process.wait()
    _close_streams(process)
    guard.release()


def _let_go(process: subprocess.Popen[bytes], guard: Guard) -> None:
    """In a fork: drops our copies of descriptors; client and guard are the parent's."""
    _close_streams(process)
    process.returncode = 0  # it is not our child, so nobody need wait for it
    guard.let_go()


def _close_streams(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()


def _forgotten(
    owner: int,
    client: ContainerClient,
    name: str,
    process: subprocess.Popen[bytes],
    guard: Guard,
) -> None:
    """What is done for a channel that nobody ended."""
    if os.getpid() != owner:
        _let_go(process, guard)
        return
    with contextlib.suppress(DockerError):
        client.remove(name)
    _close(process, guard)


def _as_signal(exit_code: int) -> int:
    """A shell's 128 + n, for "ended by signal n", as minus n."""
    return 128 - exit_code if exit_code > 128 else exit_code


def _default_memory() -> int:
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return int(pages * _MEMORY_SHARE)
