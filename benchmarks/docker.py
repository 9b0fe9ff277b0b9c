"""What the Docker path costs: image sizes, cold and warm times, beside the local engine.

    python benchmarks/docker.py

Needs a container engine with both images (make docker-build) and a local Macaulay2. Prints a
table; numbers are medians, in brackets the fastest. Nothing is measured once only.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from m2bridge import LightningAttention
from m2bridge.engine import Limits, Session, open_engine
from m2bridge.engine.containers import ContainerClient, find_client
from m2bridge.engine.docker import DEFAULT_IMAGE

ROOT = Path(__file__).parents[1]
PROGRAM_IMAGE = "m2bridge:0.1.0"
MODEL = ["--d", "2", "--d-out", "1", "--a", "2", "--t", "2"]
GROEBNER = b"R = QQ[x,y,z]; toString gens gb ideal(x^2-y*z, x*y-z^2, x^3-y)"
MEGABYTE = b"x" * 10**6


def seconds(action: Callable[[], object], times: int) -> tuple[float, float]:
    """Median and minimum of the time that an action takes."""
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        action()
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken), min(taken)


def row(name: str, local: tuple[float, float], docker: tuple[float, float], unit: str) -> None:
    scale = {"s": 1.0, "ms": 1e3, "us": 1e6}[unit]
    texts = [f"{scale * median:9.2f} [{scale * least:.2f}]" for median, least in (local, docker)]
    ratio = docker[0] / local[0]
    print(
        f"{name:34}{texts[0]:>22}{texts[1]:>22} {unit:3} x {ratio:.2f} [{docker[1] / local[1]:.2f}]"
    )


def start_and_stop(engine: str) -> None:
    session = Session(open_engine(engine), limits=Limits())
    session.start()
    session.close()


def analyse(engine: str) -> None:
    session = Session(open_engine(engine), limits=Limits())
    try:
        LightningAttention(d=2, d_out=1, a=2, t=2).analyze(session=session)
    finally:
        session.close()


def command_here() -> None:
    code = "from m2bridge.cli import main; main()"
    command = [sys.executable, "-c", code, "analyze", *MODEL, "--json"]
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT)


def command_in_container(client: ContainerClient) -> None:
    shut_in = ["run", "--rm", "--network=none", "--read-only", "--tmpfs=/tmp", "--cap-drop=ALL"]
    client.ask(*shut_in, PROGRAM_IMAGE, "analyze", *MODEL, "--json")


def warm_calls() -> None:
    """Round trips through sessions that are up; both kinds in turn, so that load hits both."""
    sessions = {name: Session(open_engine(name), limits=Limits()) for name in ("local", "docker")}
    calls: list[tuple[str, str, list[bytes], int, str]] = [
        ("echo of one byte", "echo", [b"x"], 1000, "us"),
        ("eval 2+2", "eval", [b"2+2"], 1000, "us"),
        ("a small Groebner basis", "eval", [GROEBNER], 200, "us"),
        ("1 MB out and back", "echo", [MEGABYTE], 10, "ms"),
    ]
    try:
        for name, operation, data, times, unit in calls:
            taken = {}
            for engine, session in sessions.items():
                session.call(operation, data)
                taken[engine] = seconds(lambda: session.call(operation, data), times)  # noqa: B023
            row(name, taken["local"], taken["docker"], unit)
    finally:
        for session in sessions.values():
            session.close()


def main() -> None:
    client = find_client()
    print(f"engine: {client.command} {client.ask('version', '--format', '{{.Server.Version}}')}")
    for image in (DEFAULT_IMAGE, PROGRAM_IMAGE):
        size = int(client.ask("image", "inspect", "--format", "{{.Size}}", image))
        print(f"image {image:28}{size / 1e6:8.0f} MB")
    print(f"\n{'':34}{'local':>22}{'docker':>22}")
    row(
        "start to first answer, and end",
        seconds(lambda: start_and_stop("local"), 5),
        seconds(lambda: start_and_stop("docker"), 5),
        "s",
    )
    warm_calls()
    row(
        "analysis of (2,1,2,2), Python",
        seconds(lambda: analyse("local"), 3),
        seconds(lambda: analyse("docker"), 3),
        "s",
    )
    row(
        "analysis of (2,1,2,2), command",
        seconds(command_here, 3),
        seconds(lambda: command_in_container(client), 3),
        "s",
    )


if __name__ == "__main__":
    main()
