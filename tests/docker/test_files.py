"""The files of docker/ say the same as the rest of the project. No engine is needed."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from m2bridge.engine.docker import DEFAULT_IMAGE
from m2bridge.engine.pins import PINNED

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "docker" / "Dockerfile").read_text("utf-8")
COMPOSE = (ROOT / "docker" / "compose.yaml").read_text("utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_versions_agree() -> None:
    version = PROJECT["version"]
    assert f'm2bridge.version="{version}"' in DOCKERFILE
    assert f'm2bridge.m2-version="{PINNED.m2_version}"' in DOCKERFILE
    assert re.findall(r"image: (\S+)", COMPOSE) == [
        f"m2bridge:{version}",
        DEFAULT_IMAGE,
        f"m2bridge-test:{version}",
    ]
    assert f"-t {DEFAULT_IMAGE} ." in DOCKERFILE
    assert f"-t m2bridge:{version} ." in DOCKERFILE


def test_a_plain_builder_can_build_it() -> None:
    """Neither a fetched front end nor what only BuildKit knows."""
    assert "syntax=" not in DOCKERFILE
    assert "--mount" not in DOCKERFILE
    assert "<<" not in DOCKERFILE


def test_every_install_checks_hashes() -> None:
    """Each ``pip install`` reads hashes, or takes the one wheel that was just built."""
    commands = DOCKERFILE.replace("\\\n", " ").splitlines()
    installs = [line for line in commands if re.search(r"pip\S*( --python \S+)? install", line)]
    assert len(installs) >= 4
    for line in installs:
        assert "--require-hashes" in line or "--no-index" in line


@pytest.mark.parametrize("name", ["requirements", "build-requirements", "test-requirements"])
def test_requirements_are_exact(name: str) -> None:
    text = (ROOT / "docker" / f"{name}.txt").read_text("utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert lines
    for line in lines:
        assert re.fullmatch(r"[a-z0-9.-]+==[\w.]+( +--hash=sha256:[0-9a-f]{64})+", line)


def test_requirements_cover_the_dependencies() -> None:
    text = (ROOT / "docker" / "requirements.txt").read_text("utf-8")
    there = set(re.findall(r"^([a-z0-9.-]+)==", text, re.MULTILINE))
    needed = {re.split(r"[<>=~!;\[ ]", line)[0] for line in PROJECT["dependencies"]}
    assert needed <= there


def test_every_service_is_shut_in() -> None:
    """The shared part has it all, and no service takes any of it back."""
    shared, services = COMPOSE.split("\nservices:\n")
    for line in ("network_mode: none", "read_only: true", "no-new-privileges:true", "mem_limit:"):
        assert line in shared
    assert "cap_drop: [ALL]" in shared
    for word in ("network", "privileged", "read_only", "cap_add", "security_opt", "user:"):
        assert word not in services
