"""Writes the requirements files of the images anew: exact versions with their hashes.

    python docker/lock.py

pip solves the dependencies for the Python of the base image on both processors; nothing is
installed. Versions move to the newest that pyproject.toml allows. The wheel of Macaulay2 is not
touched: see m2bridge/engine/pins.py.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
PYTHON = "3.13"  # of Debian trixie
PROCESSORS = ("x86_64", "aarch64")
GLIBCS = ("manylinux_2_28", "manylinux_2_27", "manylinux_2_17", "manylinux2014")
TESTING = ("hypothesis", "pytest", "pytest-timeout")


def solve(requirements: list[str], processor: str) -> dict[str, tuple[str, str]]:
    """Name -> (version, sha256) of what pip would install there."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--report", "-"]
    command += ["--ignore-installed", "--only-binary", ":all:", "--python-version", PYTHON]
    command += ["--target", "unused"]
    for glibc in GLIBCS:
        command += ["--platform", f"{glibc}_{processor}"]
    report = subprocess.run([*command, *requirements], check=True, stdout=subprocess.PIPE).stdout
    return {
        item["metadata"]["name"].lower().replace("_", "-"): (
            item["metadata"]["version"],
            item["download_info"]["archive_info"]["hashes"]["sha256"],
        )
        for item in json.loads(report)["install"]
    }


def lock(name: str, purpose: str, requirements: list[str]) -> None:
    """Writes one file; both processors get the same versions."""
    solved = [solve(requirements, PROCESSORS[0])]
    exact = [f"{package}=={version}" for package, (version, _) in solved[0].items()]
    solved += [solve(exact, processor) for processor in PROCESSORS[1:]]
    lines = [f"# {purpose}", "# Written by docker/lock.py, for CPython 3.13 on x86_64 and aarch64."]
    for package, (version, _) in sorted(solved[0].items()):
        hashes = sorted({answer[package][1] for answer in solved})
        lines.append(" \\\n    --hash=sha256:".join([f"{package}=={version}", *hashes]))
    (HERE / name).write_text("\n".join(lines) + "\n", "utf-8")


def main() -> None:
    project = tomllib.loads((HERE.parent / "pyproject.toml").read_text("utf-8"))
    extras = project["project"]["optional-dependencies"]["dev"]
    lock(
        "requirements.txt",
        "What m2bridge needs at run time, in the image.",
        project["project"]["dependencies"],
    )
    lock(
        "build-requirements.txt",
        "What builds the wheel of m2bridge for the image.",
        project["build-system"]["requires"],
    )
    lock(
        "test-requirements.txt",
        "What the test service needs beside requirements.txt.",
        [line for line in extras if line.split(">")[0] in TESTING],
    )


if __name__ == "__main__":
    main()
