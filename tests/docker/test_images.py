"""The two images: who runs in them, what is in them, and what is not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from m2bridge.engine.containers import ContainerClient
from m2bridge.engine.pins import PINNED

pytestmark = pytest.mark.docker

UNWANTED = ("gcc", "cc", "g++", "make", "pip", "pip3", "curl", "wget", "ssh", "git")


def inspect(client: ContainerClient, image: str) -> dict[str, Any]:
    return dict(json.loads(client.ask("image", "inspect", image))[0])


def run(client: ContainerClient, image: str, *command: str) -> str:
    """Runs a program of the image without network and with nothing to write to but /tmp."""
    shut_in = ["run", "--rm", "--network=none", "--read-only", "--tmpfs=/tmp", "--cap-drop=ALL"]
    return client.ask(*shut_in, f"--entrypoint={command[0]}", image, *command[1:])


@pytest.fixture(params=["m2_image", "program_image"])
def image(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(request.param))


def test_not_root(client: ContainerClient, image: str) -> None:
    assert inspect(client, image)["Config"]["User"] == "65534:65534"
    assert run(client, image, "id", "-u").strip() == "65534"


def test_labels(client: ContainerClient, image: str) -> None:
    labels = inspect(client, image)["Config"]["Labels"]
    assert labels["m2bridge.m2-version"] == PINNED.m2_version
    for name in ("title", "description", "licenses"):
        assert labels[f"org.opencontainers.image.{name}"]


def test_only_what_is_needed(client: ContainerClient, image: str) -> None:
    found = run(client, image, "sh", "-c", f"command -v {' '.join(UNWANTED)}; true")
    assert found == ""
    setuid = run(client, image, "sh", "-c", "find /opt -perm /6000")
    assert setuid == ""


def test_size(client: ContainerClient, m2_image: str, program_image: str) -> None:
    """In bytes, unpacked. Measured on x86_64: 410 MB and 580 MB."""
    assert inspect(client, m2_image)["Size"] < 450e6
    assert inspect(client, program_image)["Size"] < 620e6


def test_the_images_share_their_macaulay2(
    client: ContainerClient, m2_image: str, program_image: str
) -> None:
    lower = inspect(client, m2_image)["RootFS"]["Layers"]
    assert inspect(client, program_image)["RootFS"]["Layers"][: len(lower)] == lower


def test_macaulay2_computes(client: ContainerClient, image: str) -> None:
    code = "R = QQ[x, y]; print toString first entries gens gb ideal(x^2 - y, x*y - 1); exit 0"
    assert run(client, image, "M2", "-q", "--silent", "-e", code).strip() == "{y^2-x, x*y-1, x^2-y}"


def test_doctor_is_content(client: ContainerClient, program_image: str) -> None:
    assert inspect(client, program_image)["Config"]["Healthcheck"]["Test"] == [
        "CMD",
        "m2bridge",
        "doctor",
    ]
    found = json.loads(run(client, program_image, "m2bridge", "doctor", "--json"))
    assert found["ok"] is True
    assert found["m2"]["version"] == PINNED.m2_version


def test_the_program_is_compiled(client: ContainerClient, program_image: str) -> None:
    """Where nothing can be written, Python would compile sympy anew at every start."""
    code = (
        "import os, sympy, m2bridge\n"
        "print(all(os.path.exists(module.__cached__) for module in (sympy, m2bridge)))"
    )
    assert run(client, program_image, "python", "-c", code).strip() == "True"
