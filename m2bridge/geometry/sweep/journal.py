"""The journal of a sweep: one line of JSON for each finished row, written at once.

A line that was cut off by a crash is dropped when the journal is opened again, so the row is
computed once more; complete lines are never computed again.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

__all__ = ["Journal"]


class Journal:
    """Rows that are done, on disk or, without a path, in memory only.

    Args:
        path: the file, or None.
        question: identifies what was asked; a journal of another question is refused.
        resume: continue with the rows that are there; otherwise begin anew.

    Raises:
        ValueError: when the file belongs to another question, or is no journal.
        OSError: when it cannot be written.
    """

    def __init__(self, path: Path | None, question: str, *, resume: bool = True) -> None:
        self.rows: dict[str, dict[str, Any]] = {}
        self._path = path
        self._file: TextIO | None = None
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = self._complete_lines(path) if resume and path.exists() else []
        header = {"journal": 1, "question": question}
        if lines:
            self._read(path, lines, header)
        # Written to the side and renamed: a crash here must not cost the rows that were done.
        beside = path.with_name(path.name + ".new")
        with beside.open("w", encoding="utf-8") as fresh:
            fresh.write(json.dumps(header) + "\n")
            fresh.writelines(line + "\n" for line in lines[1:])
        beside.replace(path)
        self._file = path.open("a", encoding="utf-8")

    @staticmethod
    def _complete_lines(path: Path) -> list[str]:
        text = path.read_text(encoding="utf-8")
        return text[: text.rfind("\n") + 1].splitlines()

    def _read(self, path: Path, lines: list[str], header: dict[str, Any]) -> None:
        try:
            found, *entries = [json.loads(line) for line in lines]
            rows = {entry["key"]: entry["row"] for entry in entries}
        except (ValueError, KeyError, TypeError):
            raise ValueError(f"{path} is not the journal of a sweep") from None
        if found != header:
            raise ValueError(
                f"{path} is the journal of another question ({found.get('question')!r}, not "
                f"{header['question']!r}); use another file, or do not resume"
            )
        self.rows.update(rows)

    def add(self, key: str, row: dict[str, Any]) -> None:
        """Keep a row and make sure that it is on disk."""
        self.rows[key] = row
        if self._file is not None:
            self._file.write(json.dumps({"key": key, "row": row}) + "\n")
            self._file.flush()
            os.fsync(self._file.fileno())

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; rows stay readable."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def remove(self) -> None:
        """Delete the file, when the final table is written."""
        self.close()
        if self._path is not None:
            self._path.unlink(missing_ok=True)
