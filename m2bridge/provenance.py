"""Where a result comes from: the scripts, the Macaulay2 and engine that ran them, the time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from m2bridge.display import brief, facts_html, sections_html, table_html
from m2bridge.engine import Session
from m2bridge.scripts import Journal, RanScript, recording, save_scripts
from m2bridge.version import m2bridge_version

__all__ = ["Provenance", "Watch", "watched"]


@dataclass(frozen=True)
class Provenance:
    """What ran, where.

    Attributes:
        m2_version, engine: None when no Macaulay2 was asked.
        scripts: the M2 programs in order, with M2's answers.
        seconds: wall time of the whole question.
        seed: of random choices, None when there were none.
    """

    m2_version: str | None
    engine: str | None
    m2bridge_version: str
    scripts: tuple[RanScript, ...]
    seconds: float
    seed: int | None = None

    __repr__ = brief

    def save(self, folder: str | Path) -> list[Path]:
        """Writes the programs so that plain ``M2 --script`` runs them; the files written.

        Raises:
            EngineError: the folder cannot be written.
        """
        return save_scripts(self.scripts, Path(folder))

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [
            ("m2bridge", self.m2bridge_version),
            ("Macaulay2", "not asked" if self.m2_version is None else self.m2_version),
            ("engine", "none" if self.engine is None else self.engine),
            ("seconds", f"{self.seconds:.1f}"),
            ("seed", "no random choices" if self.seed is None else self.seed),
        ]
        ran = [(s.template, f"{s.seconds:.2f}", s.cached, s.digest[:12]) for s in self.scripts]
        header = ("M2 script", "seconds", "answer from disk", "SHA-256")
        return sections_html(facts_html("Where this comes from", rows), table_html(header, ran))

    def to_dict(self) -> dict[str, Any]:
        """Plain data with the keys of the JSON contract."""
        return {
            "m2_version": self.m2_version,
            "engine": self.engine,
            "m2bridge_version": self.m2bridge_version,
            "scripts": [
                {
                    "name": f"{number:02d}-{script.template}.m2",
                    "sha256": script.digest,
                    "seconds": round(script.seconds, 3),
                    "cached": script.cached,
                }
                for number, script in enumerate(self.scripts, start=1)
            ],
            "seconds": round(self.seconds, 3),
            "seed": self.seed,
        }


class Watch:
    """Collects what a question does; ``provenance`` is complete when its block has ended."""

    def __init__(self, session: Session | None, journal: Journal) -> None:
        self._session = session
        self._journal = journal
        self._begun = time.perf_counter()

    def provenance(self, *, seed: int | None = None) -> Provenance:
        """The provenance of everything that ran so far."""
        scripts = tuple(self._journal.scripts)
        used = self._session if scripts else None
        return Provenance(
            m2_version=None if used is None else used.m2_version,
            engine=None if used is None else used.engine.description,
            m2bridge_version=m2bridge_version(),
            scripts=scripts,
            seconds=time.perf_counter() - self._begun,
            seed=seed,
        )


@contextmanager
def watched(session: Session | None = None) -> Iterator[Watch]:
    """Watches over one question: time, and the scripts that run in the session."""
    with recording() as journal:
        yield Watch(session, journal)
