"""What a container engine's complaints mean, and how a container is shut in: without an engine.

The client is a small script that says what docker or podman say.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from m2bridge.engine.containers import ContainerClient, ContainerState, Guard, _owner, find_client
from m2bridge.errors import DockerError

NO_DAEMON = (
    "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. "
    "Is the docker daemon running?"
)
NO_PERMISSION = (
    "permission denied while trying to connect to the Docker daemon socket at "
    "unix:///var/run/docker.sock: connect: permission denied"
)


def fake(folder: Path, script: str, name: str = "docker") -> ContainerClient:
    """A client that runs this shell script."""
    command = folder / name
    command.write_text(f"#!/bin/sh\n{script}\n")
    command.chmod(0o755)
    return ContainerClient(str(command))


def complaining(folder: Path, complaint: str) -> ContainerClient:
    return fake(folder, f"cat >&2 <<'END'\n{complaint}\nEND\nexit 1")


@pytest.mark.parametrize(
    ("complaint", "mend"),
    [
        (NO_DAEMON, "systemctl start docker"),
        ("error during connect: Get http://x: EOF", "systemctl start docker"),
        ("Cannot connect to Podman: dial unix: connection refused", "does not answer"),
        (NO_PERMISSION, "usermod -aG docker"),
        ("Error: something new", "something new"),
        ("", "It said: nothing"),
    ],
)
def test_complaints_name_what_mends_them(tmp_path: Path, complaint: str, mend: str) -> None:
    with pytest.raises(DockerError, match=mend):
        complaining(tmp_path, complaint).ask("image", "inspect", "x")


@pytest.mark.parametrize(
    "complaint",
    [
        "Error response from daemon: no such image: x: No such image: x",
        "Error: No such object: x",
        "Error: x: image not known",
    ],
)
def test_a_missing_image_has_no_labels(tmp_path: Path, complaint: str) -> None:
    assert complaining(tmp_path, complaint).labels("x") is None


def test_an_engine_that_does_not_answer_is_not_a_missing_image(tmp_path: Path) -> None:
    with pytest.raises(DockerError):
        complaining(tmp_path, NO_DAEMON).labels("x")


@pytest.mark.parametrize(
    ("printed", "labels"),
    [('{"a":"b"}', {"a": "b"}), ("{}", {}), ("null", {})],
)
def test_labels(tmp_path: Path, printed: str, labels: dict[str, str]) -> None:
    assert fake(tmp_path, f"echo '{printed}'").labels("x") == labels


def test_state(tmp_path: Path) -> None:
    client = fake(tmp_path, """echo '{"Running":false,"ExitCode":137,"OOMKilled":true,"Pid":0}'""")
    assert client.state("x") == ContainerState(False, 137, True)
    assert complaining(tmp_path, "Error: No such container: x").state("x") is None


def test_removing_what_is_gone_is_no_error(tmp_path: Path) -> None:
    complaining(tmp_path, "Error response from daemon: No such container: x").remove("x")
    with pytest.raises(DockerError):
        complaining(tmp_path, NO_DAEMON).remove("x")


def test_a_client_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("m2bridge.engine.containers._COMMAND_SECONDS", 0.2)
    with pytest.raises(DockerError, match="did not answer within"):
        fake(tmp_path, "exec sleep 5").ask("ps")


def test_a_client_that_cannot_be_run(tmp_path: Path) -> None:
    with pytest.raises(DockerError, match="cannot be run"):
        ContainerClient(str(tmp_path / "none")).ask("ps")


def test_which_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("M2BRIDGE_DOCKER", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DockerError, match=r"neither docker nor podman .*install-m2"):
        find_client()
    podman = fake(tmp_path, "", "podman")
    assert find_client().command == podman.command
    assert find_client().is_podman
    docker = fake(tmp_path, "", "docker")
    assert find_client().command == docker.command
    monkeypatch.setenv("M2BRIDGE_DOCKER", "podman")
    assert find_client().command == podman.command
    monkeypatch.setenv("M2BRIDGE_DOCKER", "nerdctl")
    with pytest.raises(DockerError, match="nerdctl"):
        find_client()


def test_the_container_is_shut_in() -> None:
    command = ContainerClient("docker").run_command(
        "image", "n", ["sh", "-c", "x"], memory=5, processes=7
    )
    options, rest = command[: command.index("image")], command[command.index("image") + 1 :]
    assert rest == ["-c", "x"]
    assert {
        "--network=none",
        "--read-only",
        "--cap-drop=ALL",
        "--security-opt=no-new-privileges",
        "--user=65534:65534",
        "--memory=5",
        "--memory-swap=5",
        "--pids-limit=7",
        "--pull=never",
        "--name=n",
        "--entrypoint=sh",
        "--init",
    } <= set(options)
    assert "--init" not in ContainerClient("podman").run_command(
        "i", "n", ["sh"], memory=5, processes=7
    )


def test_a_folder_is_shown_but_not_given() -> None:
    command = ContainerClient("docker").run_command(
        "image", "n", ["sh"], memory=5, processes=7, user="3:4", folder="/x/y"
    )
    assert "--user=3:4" in command
    assert "--mount=type=bind,source=/x/y,target=/bridge,readonly" in command


def test_an_owner_is_one_process_and_no_later_one() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        alive = _owner(process.pid)
        assert alive == _owner(process.pid)
        assert alive != _owner(os.getpid())
        process.communicate(b"\n")
    assert _owner(process.pid) != alive


def test_orphans_are_those_whose_owner_is_dead(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as dead:
        dead_owner = _owner(dead.pid)
    elsewhere = "0123456789abcdef/1.1"
    client = fake(
        tmp_path,
        f"""case "$1 $4" in
          rm*) echo "$@" >> {tmp_path}/removed ;;
          ps*) echo mine; echo orphan; echo foreign; echo vanished ;;
          *mine) echo "/mine {_owner(os.getpid())}" ;;
          *orphan) echo "/orphan {dead_owner}" ;;
          *foreign) echo "/foreign {elsewhere}" ;;
          *vanished) echo "Error: No such container" >&2; exit 1 ;;
        esac""",
    )
    assert client.remove_orphans() == ["orphan"]
    assert (tmp_path / "removed").read_text() == "rm --force --volumes orphan\n"


# ------------------------------------------------------------------ the guard


def recorder(folder: Path) -> tuple[ContainerClient, Path]:
    record = folder / "record"
    return fake(folder, f'echo "$@" >> {record}'), record


def test_a_released_guard_removes_nothing(tmp_path: Path) -> None:
    client, record = recorder(tmp_path)
    guard = Guard(client, "x")
    guard.release()
    guard.release()
    assert not record.exists()


def test_the_guard_acts_when_its_process_is_killed(tmp_path: Path) -> None:
    client, record = recorder(tmp_path)
    folder = tmp_path / "pipes"
    folder.mkdir()
    code = (
        "import os, signal, sys\n"
        "from m2bridge.engine.containers import ContainerClient, Guard\n"
        f"guard = Guard(ContainerClient({client.command!r}), 'name', {str(folder)!r})\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], check=False)
    deadline = time.monotonic() + 10
    while not record.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert record.read_text().splitlines()[0] == "rm --force --volumes name"
    assert not folder.exists()
