"""Fetching the pinned wheel by pip, which knows the user's index, proxy and certificates."""

from __future__ import annotations

import importlib.util
import logging
import os
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

from m2bridge.engine.commands import complaint, run_command
from m2bridge.engine.pins import WheelPin
from m2bridge.errors import M2NotFoundError

__all__ = ["ALTERNATIVES", "fetch"]

_log = logging.getLogger("m2bridge.engine.install")

ALTERNATIVES = (
    "Other ways to a Macaulay2: a package of the system (Debian and Ubuntu: apt install"
    " macaulay2; macOS: brew install macaulay2/tap/M2), named by M2BRIDGE_M2 unless it is on"
    " PATH; or Docker (make docker-build, then --engine docker)."
)


def fetch(work: Path, pin: WheelPin, tell: Callable[[str, int, int | None], None]) -> Path:
    """Lets pip download the wheel; returns its file.

    pip runs in the empty private folder, so that no ``pip.py`` beside the user's work is taken
    for pip, and its temporary files lie there too and go with the folder.
    """
    _need_pip()
    requirements, fetched, scratch = work / "requirements.txt", work / "wheel", work / "tmp"
    requirements.write_text(pin.requirement(), "utf-8")
    scratch.mkdir()
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--require-hashes"]
    command += ["--only-binary", ":all:", "--progress-bar", "off", "--no-input", *_wheel_tags()]
    command += ["--dest", str(fetched), "--requirement", str(requirements)]
    _log.info("fetching %s %s", pin.distribution, pin.version)

    def bytes_so_far() -> None:
        tell("download", max(_size(scratch), _size(fetched)), None)

    status, output = run_command(command, work, None, bytes_so_far, {"TMPDIR": str(scratch)})
    wheels = sorted(fetched.glob("*.whl"))
    if status != 0 or len(wheels) != 1:
        raise M2NotFoundError(
            f"could not fetch {pin.distribution} {pin.version}; pip said:\n{complaint(output)}\n"
            "Try again when the index can be reached (pip's own settings, such as PIP_INDEX_URL,"
            " PIP_PROXY and PIP_CERT, are heeded), or fetch the wheel elsewhere and name the file"
            f" (--wheel FILE). {ALTERNATIVES}"
        )
    return wheels[0]


def _need_pip() -> None:
    if sys.executable and importlib.util.find_spec("pip") is not None:
        return
    python = sys.executable or "python3"
    raise M2NotFoundError(
        f"{python} has no pip, which is needed to fetch Macaulay2. Mend it with"
        f" '{python} -m ensurepip' (or 'uv pip install pip', or the system's python3-pip), or"
        f" fetch the wheel with another pip and name the file (--wheel FILE). {ALTERNATIVES}"
    )


def _wheel_tags() -> list[str]:
    """pip's options that make it accept a wheel for another Python.

    M2 does not depend on Python, so a Python that the release was not built for (PyPy, a
    free-threaded build, one that is too new for the release) takes the file for CPython 3.12.
    """
    plain = sys.implementation.name == "cpython" and not sysconfig.get_config_var("Py_GIL_DISABLED")
    if plain and sys.version_info < (3, 12):
        return []
    return ["--python-version", "3.12", "--implementation", "cp", "--abi", "abi3"]


def _size(folder: Path) -> int:
    """Bytes in the files of a folder that others write to meanwhile."""
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                total += Path(path, name).stat().st_size
            except OSError:
                continue
    return total
