"""Tables of rows as CSV, JSON or Parquet, written completely or not at all."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["FORMATS", "check_format", "columns_of", "read_table", "write_table"]

FORMATS = (".csv", ".json", ".parquet")

Row = dict[str, Any]


def check_format(path: Path) -> None:
    """Check the ending of a table's name, and that what writes it is there.

    Raises:
        ValueError: for an unknown ending, or Parquet without pyarrow.
    """
    if path.suffix not in FORMATS:
        raise ValueError(f"a table's name must end in {', '.join(FORMATS)}, got {path.name!r}")
    if path.suffix == ".parquet":
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            raise ValueError(
                "Parquet needs pyarrow: pip install 'm2bridge[parquet]', or write .csv or .json"
            ) from None


def columns_of(rows: Sequence[Row]) -> list[str]:
    """All columns in order of first appearance."""
    return list(dict.fromkeys(name for row in rows for name in row))


def write_table(rows: Sequence[Row], path: Path) -> None:
    """Write rows to ``path``; the ending decides the format. A failure leaves no partial file.

    Raises:
        ValueError: see `check_format`.
        OSError: when the file cannot be written.
    """
    check_format(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(path.name + ".new")
    try:
        if path.suffix == ".parquet":
            _write_parquet(rows, beside)
        else:
            text = _csv(rows) if path.suffix == ".csv" else json.dumps(list(rows), indent=1) + "\n"
            beside.write_text(text, encoding="utf-8", newline="")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _csv(rows: Sequence[Row]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns_of(rows), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _write_parquet(rows: Sequence[Row], path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    names = columns_of(rows)
    table = pyarrow.table({name: [row.get(name) for row in rows] for name in names})
    pyarrow.parquet.write_table(table, path)


def read_table(path: Path) -> list[Row]:
    """Read a table back. CSV knows text only: its values come back as strings, missing as "".

    Raises:
        ValueError: for an unknown ending.
        OSError: when the file cannot be read.
    """
    check_format(path)
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            return [dict(row) for row in csv.DictReader(file)]
    if path.suffix == ".json":
        rows: list[Row] = json.loads(path.read_text(encoding="utf-8"))
        return rows
    import pyarrow.parquet

    found: list[Row] = pyarrow.parquet.read_table(path).to_pylist()
    return found
