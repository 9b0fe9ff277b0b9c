"""Folders and files of answers: looked at before the work, written whole after it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from m2bridge.errors import EngineError

if TYPE_CHECKING:
    from m2bridge.provenance import Provenance

__all__ = ["checked_folder", "write_folder"]


def checked_folder(name: str | None) -> Path | None:
    """A folder that results will go to, tried before any work starts; nothing is made yet.

    Raises:
        EngineError: it cannot be written.
    """
    if name is None:
        return None
    folder = Path(name)
    try:
        there = folder
        while not os.path.lexists(there):  # raises for names that are too long, say
            there = there.parent
        with tempfile.TemporaryFile(dir=there):
            pass
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise EngineError(f"the folder {name} cannot be written: {reason}") from error
    return folder


def write_folder(
    folder: Path,
    files: Mapping[str, str | bytes],
    provenance: Provenance | None = None,
    *,
    programs: str = "scripts",
) -> None:
    """Writes all files, and the Macaulay2 programs into the folder ``programs`` inside.

    A new folder appears whole or not at all. In one that is there already each file is replaced
    whole, the last one of ``files`` after all others.

    Raises:
        EngineError: it cannot be written.
    """
    try:
        new = not folder.exists()
        if new:
            folder.parent.mkdir(parents=True, exist_ok=True)
        place = folder.parent if new else folder
        part = Path(tempfile.mkdtemp(dir=place, prefix=f".{folder.name}."))
        try:
            for name, content in files.items():
                data = content.encode() if isinstance(content, str) else content
                (part / name).write_bytes(data)
            if provenance is not None:
                provenance.save((part if new else folder) / programs)
            if new:
                part.chmod(0o777 & ~_umask())
                part.replace(folder)
            else:
                for name in files:
                    (part / name).replace(folder / name)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    except OSError as error:
        raise EngineError(f"{folder} cannot be written: {error.strerror}") from error


def _umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask
