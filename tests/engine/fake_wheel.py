"""Small wheels whose "Macaulay2" is a shell script, for tests of the installer."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

from m2bridge.engine.pins import WheelPin

# Answers the two questions that the installer asks.
GOOD_M2 = """#!/bin/sh
case $1 in
  --version) echo 9.9 ;;
  *) echo 2/3/3/2 ;;
esac
"""


def make_wheel(folder: Path, version: str = "1.0", m2: str = GOOD_M2) -> Path:
    """Writes a wheel that pip accepts, with that script as its M2."""
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"m2bridge_fake-{version}-py3-none-any.whl"
    info = f"m2bridge_fake-{version}.dist-info"
    files = {
        "sage/interfaces/unneeded.py": "",
        "sage_wheels/bin/M2": m2,
        "sage_wheels/share/Macaulay2/Core.m2": "-- core",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: m2bridge-fake\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            member = zipfile.ZipInfo(name)
            member.external_attr = (0o100755 if "/bin/" in name else 0o100644) << 16
            archive.writestr(member, text)
    return wheel


def pin_of(*wheels: Path, version: str = "1.0") -> WheelPin:
    """The pin that accepts exactly these files."""
    return WheelPin(
        distribution="m2bridge-fake",
        version=version,
        m2_version="9.9",
        sha256={wheel.name: hashlib.sha256(wheel.read_bytes()).hexdigest() for wheel in wheels},
    )
