"""Talking to a container engine through its own command: docker, or podman where it behaves alike.

This module knows containers and nothing of Macaulay2: which command there is, what its complaints
mean, how a container is shut in, how it ended, and how none is left behind.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import secrets
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from m2bridge.errors import DockerError

__all__ = ["NOBODY", "ContainerClient", "ContainerState", "Guard", "find_client"]

_OWNER_LABEL = "m2bridge.owner"
_COMMAND_SECONDS = 60.0
NOBODY = "65534:65534"
"""The user number of the unprivileged, in every image."""


@dataclass(frozen=True)
class ContainerState:
    """How a container stands.

    Attributes:
        running: whether it still runs.
        exit_code: its status when it has ended.
        out_of_memory: whether the kernel killed something in it for want of memory.
    """

    running: bool
    exit_code: int
    out_of_memory: bool


def find_client() -> ContainerClient:
    """The engine's command: $M2BRIDGE_DOCKER, else docker, else podman.

    Raises:
        DockerError: there is none, or the named one is not there.
    """
    chosen = os.environ.get("M2BRIDGE_DOCKER")
    for name in [chosen] if chosen else ["docker", "podman"]:
        if command := shutil.which(name):
            return ContainerClient(command)
    if chosen:
        raise DockerError(f"M2BRIDGE_DOCKER is {chosen!r}, and there is no such command")
    raise DockerError(
        "no container engine: neither docker nor podman is on PATH. Install one"
        " (Debian and Ubuntu: apt install docker.io, or podman), or name its command by the"
        " environment variable M2BRIDGE_DOCKER, or use a local Macaulay2 (m2bridge install-m2)."
    )


class ContainerClient:
    """One container engine, reached through its command.

    Args:
        command: path or name of docker, podman, or of something that takes the same arguments.
    """

    def __init__(self, command: str) -> None:
        self.command = command

    @property
    def is_podman(self) -> bool:
        """Whether it is podman, which needs a helper for ``--init`` that may not be installed."""
        return "podman" in Path(self.command).name

    def ask(self, *arguments: str) -> str:
        """Runs one short command of the client; returns what it printed.

        Raises:
            DockerError: it failed; the message says what that means and what mends it.
        """
        try:
            done = subprocess.run(
                [self.command, *arguments],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=_COMMAND_SECONDS,
                check=False,
            )
        except OSError as error:
            raise DockerError(f"{self.command} cannot be run: {error}") from error
        except subprocess.TimeoutExpired as error:
            raise DockerError(
                f"'{self.command} {arguments[0]}' did not answer within {_COMMAND_SECONDS:.0f} s;"
                " the engine may hang: restart it"
            ) from error
        if done.returncode != 0:
            raise self.explain(done.stderr, arguments)
        return done.stdout

    def explain(self, complaint: str, arguments: Sequence[str] = ()) -> DockerError:
        """The error that a complaint of the client stands for."""
        text, said = complaint.lower(), complaint.strip()[-600:] or "nothing"
        if "permission denied" in text and ("socket" in text or "connect" in text):
            mend = (
                "you may not use the Docker daemon: join its group (sudo usermod -aG docker"
                " $USER, then log in again), or use rootless docker or podman"
            )
        elif any(
            sign in text
            for sign in (
                "cannot connect",
                "connection refused",
                "error during connect",
                "is the do",
            )
        ):
            mend = (
                "the Docker daemon does not answer: start it (sudo systemctl start docker, or"
                " Docker Desktop), or check DOCKER_HOST"
            )
        else:
            what = arguments[0] if arguments else "run"
            mend = f"'{Path(self.command).name} {what}' failed"
        return DockerError(f"{mend}. It said: {said}")

    # -------------------------------------------------------------- images

    def labels(self, image: str) -> dict[str, str] | None:
        """The labels of a local image, or None when there is no such image."""
        try:
            text = self.ask("image", "inspect", "--format", "{{json .Config.Labels}}", image)
        except DockerError as error:
            if any(
                sign in str(error).lower() for sign in ("no such image", "not known", "no such o")
            ):
                return None
            raise
        labels = json.loads(text)
        return dict(labels) if labels else {}

    # ---------------------------------------------------------- containers

    def new_name(self) -> str:
        """A name for a container that no other has."""
        return f"m2bridge-{os.getpid()}-{secrets.token_hex(6)}"

    def run_command(
        self,
        image: str,
        name: str,
        command: Sequence[str],
        *,
        memory: int,
        processes: int,
        user: str = NOBODY,
        folder: str | None = None,
    ) -> list[str]:
        """The command that starts a shut-in container with its standard streams attached.

        No network, no writable place but a small /tmp in memory, no privileges, limits on memory
        (bytes, swap included) and on processes. It is not removed when it ends, so that one can
        ask how it ended.

        Args:
            user: whom it runs as; nobody by default.
            folder: one of this machine that it sees as /bridge and may not write to.
        """
        return [
            self.command,
            "run",
            "--interactive",
            *([] if self.is_podman else ["--init"]),
            "--pull=never",
            f"--name={name}",
            f"--label={_OWNER_LABEL}={_owner(os.getpid())}",
            "--log-driver=none",  # else the engine keeps a copy of all that is said
            "--network=none",
            "--read-only",
            "--tmpfs=/tmp:size=256m,mode=1777",
            "--workdir=/tmp",
            "--cap-drop=ALL",
            "--security-opt=no-new-privileges",
            f"--user={user}",
            *([f"--mount=type=bind,source={folder},target=/bridge,readonly"] if folder else []),
            f"--pids-limit={processes}",
            f"--memory={memory}",
            f"--memory-swap={memory}",
            f"--entrypoint={command[0]}",
            image,
            *command[1:],
        ]

    def state(self, name: str) -> ContainerState | None:
        """How that container stands; None when there is none of that name."""
        try:
            text = self.ask("container", "inspect", "--format", "{{json .State}}", name)
        except DockerError as error:
            if "no such container" in str(error).lower():
                return None
            raise
        state = json.loads(text)
        return ContainerState(
            running=bool(state["Running"]),
            exit_code=int(state["ExitCode"]),
            out_of_memory=bool(state["OOMKilled"]),
        )

    def signal(self, name: str, signal_name: str) -> None:
        """Sends a signal to the container's first process; nothing if it has ended."""
        with contextlib.suppress(DockerError):
            self.ask("kill", f"--signal={signal_name}", name)

    def remove(self, name: str) -> None:
        """Ends and removes a container, whatever it does; nothing if there is none.

        Raises:
            DockerError: the engine could not be asked.
        """
        try:
            self.ask("rm", "--force", "--volumes", name)
        except DockerError as error:
            text = str(error).lower()
            if "no such container" not in text and "already in progress" not in text:
                raise

    def remove_orphans(self) -> list[str]:
        """Removes the containers of our own kind whose owner on this machine is dead.

        The guard of each container does that by itself; this is for the case that the guard was
        killed too. Returns the names.
        """
        mine = _owner(os.getpid()).partition("/")[0]
        removed = []
        listed = self.ask("ps", "--all", "--quiet", f"--filter=label={_OWNER_LABEL}")
        question = f'--format={{{{.Name}}}} {{{{index .Config.Labels "{_OWNER_LABEL}"}}}}'
        for container in listed.split():
            with contextlib.suppress(DockerError):  # it may be gone by now
                name, owner = self.ask("container", "inspect", question, container).split()
                machine, _, process = owner.partition("/")
                if machine == mine and _owner(int(process.partition(".")[0])) != owner:
                    self.remove(container)
                    removed.append(name.lstrip("/"))
        return removed


class Guard:
    """Removes a container when this process dies, however it dies and whatever M2 does then.

    A small shell waits at the reading end of a pipe whose writing end only this process has. When
    the pipe closes without a word, the process is dead, and the shell removes the container: at
    once, and again a little later, because the container may just have been about to start. A
    folder that was made for the container goes with it.
    """

    _SCRIPT = (
        'read -r word; [ "$word" = done ] && exit;'
        ' [ -z "$2" ] || rm -rf -- "$2";'
        ' for pause in 0 1 4; do sleep "$pause"; "$0" rm --force --volumes "$1"; done'
    )

    def __init__(self, client: ContainerClient, name: str, folder: str = "") -> None:
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", self._SCRIPT, client.command, name, folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # a Ctrl-C or a kill of our group is not for it
            cwd="/",
            bufsize=0,
        )
        assert self._process.stdin is not None
        self._pipe = self._process.stdin

    def release(self) -> None:
        """The container is gone; the guard may go."""
        if self._pipe.closed:
            return
        with contextlib.suppress(OSError):
            self._pipe.write(b"done\n")
            self._pipe.close()
        self._process.wait()

    def let_go(self) -> None:
        """In a fork of the Python process: the guard watches over the parent only."""
        self._pipe.close()
        self._process.returncode = 0  # it is not our child, so nobody need wait for it


def _owner(pid: int) -> str:
    """Who owns a container: machine and process, told apart from a later one of the same number."""
    try:
        # Process numbers mean something within one boot and one process namespace.
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        space = Path("/proc/self/ns/pid").readlink()
        machine = hashlib.sha256(f"{boot} {space}".encode()).hexdigest()[:16]
    except OSError:
        machine = hashlib.sha256(platform.node().encode()).hexdigest()[:16]
    return f"{machine}/{pid}.{_started(pid)}"


def _started(pid: int) -> str:
    """When a process started, in the kernel's count; "" when it is dead; "?" when nobody says."""
    if not Path("/proc/self/stat").exists():
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return ""
        except PermissionError:
            pass
        return "?"
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]
