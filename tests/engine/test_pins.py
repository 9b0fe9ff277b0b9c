"""The pinned wheel: one truth, said twice, and the platforms it is for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from m2bridge.engine.pins import PINNED, unsupported_platform

REQUIREMENTS = Path(__file__).parents[2] / "docker" / "m2-requirements.txt"


def test_names_and_hashes_are_well_formed() -> None:
    stem = f"{PINNED.distribution.replace('-', '_')}-{PINNED.version}-"
    for name, digest in PINNED.sha256.items():
        assert name.startswith(stem)
        assert re.fullmatch("[0-9a-f]{64}", digest)
    assert len(set(PINNED.sha256.values())) == len(PINNED.sha256)


def test_every_platform_has_a_wheel_for_old_and_new_python() -> None:
    tags = {name.split("-", 2)[2] for name in PINNED.sha256}
    for platform in ("manylinux_2_28_x86_64", "manylinux_2_28_aarch64", "macosx_13_0_arm64"):
        assert {f"cp311-cp311-{platform}.whl", f"cp312-abi3-{platform}.whl"} <= tags


def test_the_image_gets_the_same_wheels() -> None:
    text = REQUIREMENTS.read_text("utf-8")
    lines = " ".join(
        line.rstrip("\\").strip() for line in text.splitlines() if not line.startswith("#")
    ).split()
    assert lines[0] == f"{PINNED.distribution}=={PINNED.version}"
    assert set(lines[1:]) == {
        f"--hash=sha256:{digest}"
        for name, digest in PINNED.sha256.items()
        if "-cp312-abi3-manylinux" in name
    }


@pytest.mark.parametrize(
    ("system", "machine", "libc", "macos", "expected"),
    [
        ("Linux", "x86_64", ("glibc", "2.36"), "", None),
        ("Linux", "aarch64", ("glibc", "2.28"), "", None),
        ("Linux", "x86_64", ("glibc", "2.17"), "", "glibc 2.17"),
        ("Linux", "x86_64", ("", ""), "", "C library"),
        ("Linux", "x86_64", ("musl", "1.2"), "", "musl"),
        ("Linux", "ppc64le", ("glibc", "2.36"), "", "ppc64le"),
        ("Darwin", "arm64", ("", ""), "15.1", None),
        ("Darwin", "x86_64", ("", ""), "13.0", None),
        ("Darwin", "arm64", ("", ""), "12.7.1", "macOS 12.7.1"),
        ("Windows", "AMD64", ("", ""), "", "Windows"),
        ("", "", ("", ""), "", "unknown"),
    ],
)
def test_platforms(
    system: str, machine: str, libc: tuple[str, str], macos: str, expected: str | None
) -> None:
    reason = unsupported_platform(system=system, machine=machine, libc=libc, macos=macos)
    if expected is None:
        assert reason is None
    else:
        assert reason is not None
        assert expected in reason
