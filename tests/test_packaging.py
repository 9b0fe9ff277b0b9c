"""What the package says about itself, in one voice."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import entry_points, version
from pathlib import Path

import m2bridge

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_one_version() -> None:
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    assert cited is not None
    assert cited[1] == PROJECT["version"] == version("m2bridge") == m2bridge.__version__


def test_one_licence() -> None:
    assert PROJECT["license"] == "MIT"
    assert (ROOT / "LICENSE").read_text("utf-8").startswith("MIT License")
    assert "license: MIT" in (ROOT / "CITATION.cff").read_text("utf-8")


def test_the_program_is_installed() -> None:
    (program,) = entry_points(group="console_scripts", name="m2bridge")
    assert callable(program.load())


def test_every_version_has_a_part_on_compatibility() -> None:
    parts = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text("utf-8"), flags=re.MULTILINE)[1:]
    assert parts
    assert all("### Compatibility" in part for part in parts)
