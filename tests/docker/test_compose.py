"""The pipeline in one compose command: the same answer as here, results that are the caller's."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from m2bridge.engine.containers import ContainerClient
from tests.docker.conftest import ROOT, TEST_IMAGE, build

pytestmark = pytest.mark.docker

MODEL = ["--d", "2", "--d-out", "1", "--a", "2", "--t", "2"]
SOMEBODY = 12345

Compose = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder that looks like a checkout to compose: the images are there already."""
    folder = tmp_path / "checkout"
    (folder / "docker").mkdir(parents=True)
    shutil.copy(ROOT / "docker" / "compose.yaml", folder / "docker")
    return folder


@pytest.fixture
def compose(client: ContainerClient, program_image: str, checkout: Path) -> Iterator[Compose]:
    """Runs ``docker compose run`` as one would type it; nothing is left whatever happens."""
    names: list[str] = []

    def run(*arguments: str, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
        names.append(f"m2bridge-test-{secrets.token_hex(6)}")
        file = ["-f", "docker/compose.yaml"]
        command = [client.command, "compose", *file, "run", "--rm", "-T", "--name", names[-1]]
        return subprocess.run(
            [*command, *options, *arguments],
            cwd=checkout,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    yield run
    for name in names:
        client.remove(name)


def owners(folder: Path) -> set[int]:
    return {path.stat().st_uid for path in (folder, *folder.rglob("*"))}


def as_here() -> dict[str, Any]:
    """The analysis by the local engine."""
    command = [
        sys.executable,
        "-c",
        "from m2bridge.cli import main; main()",
        "analyze",
        *MODEL,
        "--json",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def without_provenance(report: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in report.items() if key != "provenance"}


@pytest.mark.m2
def test_the_same_answer_as_the_local_engine(compose: Compose) -> None:
    done = compose("analyze", *MODEL, "--json")
    assert done.returncode == 0, done.stderr
    there = json.loads(done.stdout)
    assert without_provenance(there) == without_provenance(as_here())
    assert there["provenance"]["m2_version"] == "1.26.06"


def test_results_belong_to_the_caller(compose: Compose, checkout: Path) -> None:
    """The engine makes the out folder; the second run finds the files of the first in its way."""
    for _ in range(2):
        done = compose("analyze", *MODEL)
        assert done.returncode == 0, done.stderr
    assert (checkout / "out" / "report.json").is_file()
    assert owners(checkout / "out") == {checkout.stat().st_uid}


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder to somebody else")
def test_results_belong_to_somebody_else(compose: Compose, checkout: Path) -> None:
    for path in (checkout, *checkout.rglob("*")):
        os.chown(path, SOMEBODY, SOMEBODY)
    done = compose("analyze", *MODEL)
    assert done.returncode == 0, done.stderr
    assert owners(checkout / "out") == {SOMEBODY}
    assert compose("shell", "-c", "id -u").stdout.strip() == str(SOMEBODY)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder to somebody else")
def test_the_caller_can_be_named(compose: Compose, checkout: Path) -> None:
    (checkout / "out").mkdir()
    os.chown(checkout / "out", SOMEBODY, SOMEBODY)
    named = ("--user", f"{SOMEBODY}:{SOMEBODY}")
    done = compose("analyze", *MODEL, options=named)
    assert done.returncode == 0, done.stderr
    assert owners(checkout / "out") == {SOMEBODY}


def test_an_exit_status_comes_through(compose: Compose, checkout: Path) -> None:
    assert compose("analyze", "--d", "0").returncode == 2
    assert compose("shell", "-c", "exit 7").returncode == 7
    assert compose("shell", "-c", "kill -9 $$").returncode == 128 + 9


def test_shut_in(compose: Compose) -> None:
    script = """
        id -u
        ls /sys/class/net
        grep CapEff /proc/self/status
        grep NoNewPrivs /proc/self/status
        for folder in / /opt/m2bridge /usr /caller /var/tmp; do touch $folder/x; done
        touch /tmp/x /out/x && echo written
    """
    done = compose("shell", "-c", script)
    lines = done.stdout.split("\n")
    assert lines[0] != "0"
    assert lines[1] == "lo"
    assert int(lines[2].split()[1], 16) == 0
    assert lines[3].split()[1] == "1"
    assert lines[4] == "written"
    assert done.stderr.count("touch: cannot touch") == 5


def test_the_test_service(client: ContainerClient, compose: Compose) -> None:
    """Tests of ours pass against what is in the image."""
    build(client, "test", TEST_IMAGE)
    done = compose("test", "-q", "-m", "m2 and not slow", "tests/test_scripts.py")
    assert done.returncode == 0, done.stdout[-2000:]
    assert " passed" in done.stdout


def test_stopping_gives_the_results_back(
    compose: Compose, checkout: Path, client: ContainerClient
) -> None:
    """A container that is stopped while root's results are lent to nobody."""
    name = f"m2bridge-test-{secrets.token_hex(6)}"
    command = [client.command, "compose", "-f", "docker/compose.yaml"]
    command += ["run", "--rm", "-T", "--name", name, "shell", "-c"]
    script = "touch /out/x; echo ready; exec sleep 100"
    with subprocess.Popen(
        [*command, script], cwd=checkout, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        client.ask("stop", "--time=8", name)
        process.wait(30)
    assert owners(checkout / "out") == {checkout.stat().st_uid}
