"""Which Macaulay2 is used, and why.

The order: an explicit path, ``$M2BRIDGE_M2``, the managed copy (``m2bridge install-m2``), ``M2``
on PATH. Docker is an engine of its own and is asked for by name.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from subprocess import TimeoutExpired

from m2bridge.engine.commands import run_command
from m2bridge.engine.store import managed_m2
from m2bridge.errors import M2NotFoundError

__all__ = ["MINIMUM_VERSION", "Installation", "candidates", "find_m2", "is_old"]

MINIMUM_VERSION = (1, 21)
_VERSION_SECONDS = 60.0
_VERSION = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?[\w.+~-]*")

_REMEDY = (
    "Install one with 'm2bridge install-m2' (no root needed), or your system's package "
    "('apt-get install macaulay2', 'brew install macaulay2/tap/M2'), or set M2BRIDGE_M2 to the "
    "path of an M2 executable, or use the Docker engine ('--engine docker')."
)


@dataclass(frozen=True)
class Installation:
    """A Macaulay2 executable. ``origin`` says which rule of the look-up order found it."""

    path: Path
    version: str
    origin: str


def is_old(version: str) -> bool:
    """Whether a version of M2 is older than m2bridge needs, or not a version at all."""
    match = _VERSION.fullmatch(version)
    return match is None or (int(match[1]), int(match[2])) < MINIMUM_VERSION


def candidates(explicit: str | os.PathLike[str] | None = None) -> list[tuple[str, str | None]]:
    """The look-up order as (origin, path or None), without running anything."""
    managed = managed_m2()
    return [
        ("argument", None if explicit is None else os.fspath(explicit)),
        ("M2BRIDGE_M2", os.environ.get("M2BRIDGE_M2") or None),
        ("managed", None if managed is None else str(managed)),
        ("PATH", shutil.which("M2")),
    ]


def find_m2(explicit: str | os.PathLike[str] | None = None) -> Installation:
    """The first Macaulay2 of the look-up order, run once for its version.

    A path that was asked for (argument, environment) and does not work is an error, never a
    reason to take another one silently.

    Raises:
        M2NotFoundError: none is there, or the one that is there does not run or is too old.
    """
    for origin, path in candidates(explicit):
        if path is not None:
            executable = _executable(path, origin)
            return Installation(executable, _checked_version(executable, origin), origin)
    raise M2NotFoundError(f"No Macaulay2 was found. {_REMEDY}")


def _executable(path: str, origin: str) -> Path:
    found = shutil.which(path)
    if found is None:
        raise M2NotFoundError(
            f"{path!r} (from {origin}) is not an executable file. Give the path of an M2 "
            f"executable. {_REMEDY}"
        )
    return Path(found).absolute()


def _checked_version(executable: Path, origin: str) -> str:
    status = executable.stat()
    version = _version(str(executable), status.st_mtime_ns, status.st_size)
    match = _VERSION.fullmatch(version)
    if match is None:
        raise M2NotFoundError(
            f"{executable} (from {origin}) does not look like Macaulay2: asked for its version, "
            f"it said {version[:200]!r}. {_REMEDY}"
        )
    if is_old(version):
        wanted = ".".join(map(str, MINIMUM_VERSION))
        raise M2NotFoundError(
            f"{executable} (from {origin}) is Macaulay2 {version}; m2bridge needs {wanted} or "
            f"newer. {_REMEDY}"
        )
    return version


@lru_cache(maxsize=32)
def _version(executable: str, mtime_ns: int, size: int) -> str:
    """What ``M2 --version`` says; asked anew only when the file has changed."""
    try:
        status, output = run_command(
            [executable, "--version"], Path(tempfile.gettempdir()), _VERSION_SECONDS, None, {}
        )
    except TimeoutExpired:
        raise M2NotFoundError(
            f"{executable} did not tell its version in {_VERSION_SECONDS:.0f} s. {_REMEDY}"
        ) from None
    except OSError as error:
        raise M2NotFoundError(f"{executable} cannot be run: {error.strerror}. {_REMEDY}") from error
    if status in (-4, 132):
        raise M2NotFoundError(
            f"{executable} was built for another processor (it stopped at an illegal "
            f"instruction). {_REMEDY}"
        )
    if status != 0:
        said = output.strip()[-200:]
        raise M2NotFoundError(
            f"{executable} --version ended with status {status}"
            + (f" and said {said!r}" if said else "")
            + f". {_REMEDY}"
        )
    return output.strip()
