"""Where ``m2scripts/`` is: beside the package in a checkout, inside it in an installed wheel."""

from __future__ import annotations

from pathlib import Path

__all__ = ["SCRIPTS_FOLDER"]

_PACKAGE = Path(__file__).parent

SCRIPTS_FOLDER: Path = next(
    (
        folder
        for folder in (_PACKAGE / "m2scripts", _PACKAGE.parent / "m2scripts")
        if (folder / "M2Bridge.m2").is_file()
    ),
    _PACKAGE / "m2scripts",
)
