"""What is here and what is missing: Python, Macaulay2, packages, Docker; and the remedies."""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from m2bridge.display import table_html
from m2bridge.engine.discovery import Installation, candidates, find_m2
from m2bridge.engine.local import LocalEngine
from m2bridge.engine.session import Session
from m2bridge.errors import M2BridgeError

__all__ = ["NEEDED_PACKAGES", "USEFUL_PACKAGES", "Diagnosis", "Finding", "examine"]

NEEDED_PACKAGES = ("MinimalPrimes", "PrimaryDecomposition", "Elimination")
"""M2 packages that scripts of ours load; every M2 that we support has them."""

USEFUL_PACKAGES = ("MultigradedImplicitization", "FastMinors", "RealRoots", "Msolve")
"""M2 packages that give a second way to some answer where they are there."""

_SMOKE_SECONDS = 60.0


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. ``remedy`` is the command that mends it, or None."""

    name: str
    ok: bool
    text: str
    remedy: str | None = None
    needed: bool = True


@dataclass(frozen=True)
class Diagnosis:
    """Everything that was looked at; ``m2`` is the Macaulay2 that would be used."""

    findings: tuple[Finding, ...]
    m2: Installation | None
    packages: dict[str, bool] = field(default_factory=dict)
    docker: bool = False

    @property
    def ok(self) -> bool:
        """Is everything there that is needed?"""
        return all(finding.ok for finding in self.findings if finding.needed)

    def _repr_html_(self) -> str:
        rows = [
            (f.name, f.ok, f.needed, f.text, "" if f.ok else f.remedy or "") for f in self.findings
        ]
        verdict = "everything needed is here" if self.ok else "something needed is missing"
        header = ("looked at", "good", "needed", "found", "remedy")
        return table_html(header, rows, f"This machine: {verdict}")

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        m2 = self.m2
        return {
            "ok": self.ok,
            "python": platform.python_version(),
            "m2": None
            if m2 is None
            else {"path": str(m2.path), "version": m2.version, "origin": m2.origin},
            "packages": self.packages,
            "docker": self.docker,
            "findings": [vars(finding) for finding in self.findings],
        }


def examine(path: str | None = None, *, docker: bool = True) -> Diagnosis:
    """Looks at this machine. Nothing is installed or changed.

    Args:
        path: an M2 to look at instead of the one that would be found.
        docker: whether to ask a Docker engine too.
    """
    findings = [_python()]
    found, m2_findings, packages = _macaulay2(path)
    findings += m2_findings
    findings.append(_pictures())
    usable = False
    if docker:
        finding = _docker()
        usable = finding.ok
        findings.append(finding)
    return Diagnosis(tuple(findings), found, packages, usable)


def _python() -> Finding:
    text = f"{platform.python_version()} at {sys.executable}"
    return Finding("Python", sys.version_info >= (3, 11), text, "use Python 3.11 or newer")


def _macaulay2(
    path: str | None,
) -> tuple[Installation | None, list[Finding], dict[str, bool]]:
    looked = ", ".join(f"{origin}: {place or 'nothing'}" for origin, place in candidates(path))
    try:
        installation = find_m2(path)
    except M2BridgeError as error:
        mend = "m2bridge install-m2" if path is None else "give another path, or none"
        finding = Finding("Macaulay2", False, f"{error} (looked at {looked})", mend)
        return None, [finding], {}
    text = f"{installation.version} at {installation.path} (from {installation.origin})"
    session = Session(LocalEngine(installation), timeout=_SMOKE_SECONDS)
    names = (*NEEDED_PACKAGES, *USEFUL_PACKAGES)
    try:
        answer = session.call("packages", [name.encode("ascii") for name in names])
        packages = {
            name: said == b"true" for name, said in zip(names, answer.segments, strict=True)
        }
    except M2BridgeError as error:
        broken = Finding("Macaulay2", False, f"{text}, but: {error}", "m2bridge install-m2")
        return installation, [broken], {}
    finally:
        session.close()
    findings = [Finding("Macaulay2", True, text)]
    for name, there in packages.items():
        needed = name in NEEDED_PACKAGES
        remedy = None if there else "m2bridge install-m2 (a newer Macaulay2)"
        state = "there" if there else "missing"
        if not there and not needed:
            state = "missing: some answers have one check less"
        findings.append(Finding(f"M2 package {name}", there, state, remedy, needed))
    return installation, findings, packages


def _pictures() -> Finding:
    there = find_spec("matplotlib") is not None
    text = "there" if there else "missing: reports have no pictures, and plot does not work"
    return Finding("matplotlib", there, text, "pip install 'm2bridge[plot]'", needed=False)


def _docker() -> Finding:
    from m2bridge.engine.docker import DockerEngine

    try:
        engine = DockerEngine()
        engine.check()
    except M2BridgeError as error:
        return Finding("Docker", False, str(error), needed=False)  # the text says what to do
    return Finding("Docker", True, engine.description, needed=False)
