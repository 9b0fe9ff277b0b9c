"""The real container engine, and the two images, built once."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from m2bridge.engine import Limits, Session
from m2bridge.engine.containers import ContainerClient, find_client
from m2bridge.engine.docker import DEFAULT_IMAGE, DockerEngine
from m2bridge.errors import DockerError

Names = Callable[[], set[str]]

ROOT = Path(__file__).parents[2]
PROGRAM_IMAGE = "m2bridge:0.1.0"
TEST_IMAGE = "m2bridge-test:0.1.0"
_BUILD_SECONDS = 1200


def build(client: ContainerClient, target: str, image: str) -> None:
    """Builds a target of the Dockerfile; what is cached is not built again."""
    done = subprocess.run(
        f"{client.command} build -f docker/Dockerfile --target {target} -t {image} .".split(),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=_BUILD_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


@pytest.fixture(scope="session")
def client() -> ContainerClient:
    """The engine's command. Without an engine the tests are skipped, but fail where CI says so."""
    try:
        found = find_client()
        found.ask("version")
    except DockerError as error:
        if os.environ.get("CI", "").lower() in ("1", "true"):
            pytest.fail(f"CI needs a container engine: {error}")
        pytest.skip(str(error))
    return found


@pytest.fixture(scope="session")
def m2_image(client: ContainerClient) -> str:
    """The image of target ``m2``."""
    build(client, "m2", DEFAULT_IMAGE)
    return DEFAULT_IMAGE


@pytest.fixture(scope="session")
def program_image(client: ContainerClient, m2_image: str) -> str:
    """The image of target ``m2bridge``."""
    build(client, "m2bridge", PROGRAM_IMAGE)
    return PROGRAM_IMAGE


@pytest.fixture
def engine(client: ContainerClient, m2_image: str) -> DockerEngine:
    return DockerEngine(m2_image, client)


@pytest.fixture
def session(engine: DockerEngine) -> Iterator[Session]:
    """A session in a container with 400 MB."""
    opened = Session(engine, limits=Limits(memory=400 * 2**20), timeout=60)
    yield opened
    opened.close()


@pytest.fixture
def ours(client: ContainerClient) -> Names:
    """Tells the containers of our kind, running or not, that came since the test began."""

    def names() -> set[str]:
        listed = client.ask("ps", "--all", "--filter=label=m2bridge.owner", "--format={{.Names}}")
        return set(listed.split())

    before = names()
    return lambda: names() - before
