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
import logging
import os
import select
import subprocess
import time
import weakref
from pathlib import Path

from m2bridge.engine.attached import Attached, PipePair
from m2bridge.engine.channel import Exit, Limits, is_ready
from m2bridge.engine.containers import NOBODY, ContainerClient, ContainerState, find_client
from m2bridge.engine.local import serve_command
from m2bridge.engine.pins import PINNED
from m2bridge.errors import DockerError
from m2bridge.scripts_folder import SCRIPTS_FOLDER

__all__ = ["DEFAULT_IMAGE", "DockerEngine"]

_log = logging.getLogger("m2bridge.engine.docker")

DEFAULT_IMAGE = f"m2bridge-m2:{PINNED.m2_version}"
_VERSION_LABEL = "m2bridge.m2-version"

# In the container: the first bytes of standard input are M2's half of the bridge, the rest are
# frames. Arguments: names and sizes of its files, "--", the word to be found in the named pipe if
# there is one, the command. M2 gets the frames on descriptors of its own, as in the local engine;
# what it prints goes to standard error, and its standard input is empty. The working folder is
# /tmp, where M2 looks first for packages.
_SHELL = """
while [ "$1" != -- ]; do head -c "$2" > "$1" || exit; shift 2; done
word=$2
shift 2
if [ -n "$word" ] && [ "$(timeout 3 head -c 16 /bridge/in 2>/dev/null)" = "$word" ]
then exec 3</bridge/in 4>/bridge/out; printf P
else exec 3<&0 4>&1; printf S
fi
exec "$@" 0</dev/null 1>&2
"""
_BY_PIPES, _BY_STREAMS = b"P", b"S"

# M2 has about 7 threads, and its libraries some for each processor.
_PROCESSES = 128
# The kernel rather kills M2 in its container than anything of the user's outside.
_MEMORY_SHARE = 0.75
_CLIENT_FAILED = (125, 126, 127)  # docker's own statuses: the container was not started
_SETTLE_SECONDS = 10.0
_LAST_WORDS_SECONDS = 2.0
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
        self._pipes_work = PipePair.possible()

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
        try:
            channel = self._started(limits, first)
        except DockerError:
            if not self._pipes_work:
                raise
            # An engine elsewhere refuses to show the container a folder of this machine.
            self._pipes_work = False
            channel = self._started(limits, first)
        self._pipes_work = channel.by_pipes
        return channel

    def _started(self, limits: Limits, first: bool) -> DockerChannel:
        memory = limits.memory or _default_memory()
        channel = DockerChannel(self.client, self.image, memory, pipes=self._pipes_work)
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

    def __init__(self, client: ContainerClient, image: str, memory: int, *, pipes: bool) -> None:
        names_and_sizes, self._bridge = _bridge_files()
        self.by_pipes = False
        self._client = client
        self._exit: Exit | None = None
        self._received = b""
        self._transcript = bytearray()
        pair = _pipe_pair() if pipes else None
        serve = [pair.word if pair else "", *serve_command("M2", 3, 4)]
        self.name = client.new_name()
        run = client.run_command(
            image,
            self.name,
            ["sh", "-c", _SHELL, "sh", *names_and_sizes, "--", *serve],
            memory=memory,
            processes=_PROCESSES,
            user=pair.user if pair else NOBODY,
            folder=pair.folder if pair else None,
        )
        self._attached = Attached(client, self.name, run, pair)
        self._finalizer = weakref.finalize(self, self._attached.forgotten)
        self._err: int | None = self._attached.errors
        self._use(self._attached.inputs, self._attached.outputs)

    def _use(self, inputs: int, outputs: int) -> None:
        """Takes these descriptors for what goes to M2 and what comes from it."""
        self._in, self._out = inputs, outputs
        self._readable, self._writable = select.poll(), select.poll()
        self._readable.register(outputs, select.POLLIN)
        self._writable.register(inputs, select.POLLOUT)
        if self._err is not None:
            for poll in (self._readable, self._writable):
                poll.register(self._err, select.POLLIN)

    def await_first_words(self, deadline: float) -> None:
        """Sends the bridge and waits until M2 has said something.

        Raises:
            DockerError: the container did not start, or ended without a word.
        """
        try:
            self.send(self._bridge, deadline)
            self._await(deadline)
            letter, self._received = self._received[:1], self._received[1:]
            self._agree_on_the_way(letter)
            self._await(deadline)
        except TimeoutError:
            raise DockerError(
                "Macaulay2 in the container did not say hello in time; it said:"
                f" {self.end().describe()}"
            ) from None
        except EOFError:
            status = self._attached.process.wait(_SETTLE_SECONDS)
            self._drain()
            words = self._words()
            if status in _CLIENT_FAILED:
                raise self._client.explain(words) from None
            raise DockerError(f"the container ended at once: {self.end().describe()}") from None

    def _agree_on_the_way(self, letter: bytes) -> None:
        """The container has said whether the word came through the named pipe."""
        if letter not in (_BY_PIPES, _BY_STREAMS):
            raise DockerError(f"the container began with {letter!r}: the image is not ours")
        pipes = self._attached.pipes
        if letter == _BY_PIPES and pipes is not None:
            pipes.connected()
            self._use(pipes.requests, pipes.answers)
            self.by_pipes = True

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

    def receive(self, deadline: float | None) -> bytes:
        """Receives what has come, at least one byte. Raises EOFError or TimeoutError."""
        self._await(deadline)
        data, self._received = self._received, b""
        return data

    def _await(self, deadline: float | None) -> None:
        """Waits until something has come."""
        while not self._received:
            self._wait(self._readable, self._out, deadline)
            with contextlib.suppress(BlockingIOError):
                self._received = os.read(self._out, _CHUNK)
                if not self._received:
                    raise EOFError("the container has ended")

    def has_come(self) -> bool:
        """Whether something can be received at once."""
        return bool(self._received) or is_ready(self._out)

    def interrupt(self) -> None:
        """Asks M2 to stop what it is doing; the container's init hands the signal on."""
        self._client.signal(self.name, "INT")

    def end(self, grace_seconds: float = 0.0) -> Exit:
        """Ends and removes the container; called again, tells the same."""
        if self._exit is not None:
            return self._exit
        try:
            self._exit = self._end(grace_seconds)
        finally:
            self._finalizer.detach()
            self._attached.close()
        return self._exit

    def abandon(self) -> None:
        """In a fork of the Python process: lets go of the parent's container."""
        self._finalizer.detach()
        self._attached.let_go()
        self._exit = Exit(None, False, "")

    def _end(self, grace_seconds: float) -> Exit:
        # A container that has ended by itself, or does so in time, can be asked why.
        by_itself = self._ends_within(grace_seconds)
        try:
            state = self._last_state() if by_itself else None
        finally:
            self._client.remove(self.name)
        if not by_itself:
            self._ends_within(_SETTLE_SECONDS)
            return Exit(-9, False, self._words())
        if state is None or state.running:
            return Exit(None, False, self._words())
        return Exit(_as_signal(state.exit_code), state.out_of_memory, self._words())

    def _last_state(self) -> ContainerState | None:
        """How the container ended; the engine may take a moment to know."""
        deadline = time.monotonic() + _SETTLE_SECONDS
        while True:
            state = self._client.state(self.name)
            if state is None or not state.running or time.monotonic() > deadline:
                return state
            time.sleep(0.05)

    def _ends_within(self, seconds: float) -> bool:
        """Waits for the end of M2's side of the stream, and a little for its last words."""
        deadline = time.monotonic() + seconds
        while not (over := self._is_over()) and time.monotonic() < deadline:
            self._drain()
            time.sleep(0.005)
        if over:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._attached.process.wait(_LAST_WORDS_SECONDS)
        self._drain()
        return over

    def _is_over(self) -> bool:
        """Whether the container has ended or is about to: its client has, or the stream has."""
        return self._attached.process.poll() is not None or self._at_end_of_file()

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


def _pipe_pair() -> PipePair | None:
    """The short way, where it can be made."""
    try:
        return PipePair()
    except OSError as error:
        _log.debug("no named pipes: %s", error)
        return None


def _as_signal(exit_code: int) -> int:
    """A shell's 128 + n, for "ended by signal n", as minus n."""
    return 128 - exit_code if exit_code > 128 else exit_code


def _default_memory() -> int:
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return int(pages * _MEMORY_SHARE)
