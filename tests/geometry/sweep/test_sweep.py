"""Sweeps: grids, resumption without loss or repetition, failures as rows, executors, tables."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy

from m2bridge.attention import Layer, Network
from m2bridge.geometry.sweep import Case, grid, read_table, sweep, write_table
from m2bridge.geometry.sweep.questions import dimension_row
from m2bridge.geometry.sweep.run import journal_path

CASES = grid(dims=[(2, 2), (2, 3, 1), (3, 3)], ranks=[1, 2], t=[1, 2])


class Counting:
    """A question that knows how often it was asked, and can stop the world."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.asked: list[Network] = []
        self._stop_after = stop_after

    def __call__(self, network: Network) -> dict[str, Any]:
        if self._stop_after is not None and len(self.asked) == self._stop_after:
            raise KeyboardInterrupt
        self.asked.append(network)
        return {"parameters": network.parameters}


def failing(network: Network) -> dict[str, Any]:
    if network.t == 1:
        raise ArithmeticError("one token is too few")
    return {"parameters": network.parameters}


def test_grid() -> None:
    assert len(CASES) == 12
    assert CASES[0] == Case((2, 2), (1,), 1)
    assert CASES[4].ranks == (1, 1)
    assert len(grid([(2, 2), (2, 2)], [1, (1,)])) == 1
    assert isinstance(Case((2, 2), (1,)).model(), Layer)
    assert type(Case((2, 2), (1,), heads=2).model()) is Network


def test_rows_answer_the_question() -> None:
    result = sweep(CASES)
    assert (len(result.rows), result.computed, result.resumed, result.failed) == (12, 12, 0, 0)
    for case, row in zip(CASES, result.rows, strict=True):
        assert row["dims"] == ",".join(map(str, case.dims))
        assert row["dimension"] == row["refined"]
        assert row["certainty"] == "proved"


@pytest.mark.parametrize("cut", [0, 1, 5, 11])
def test_interrupted_and_continued(tmp_path: Path, cut: int) -> None:
    out = tmp_path / "table.csv"
    first = Counting(stop_after=cut)
    with pytest.raises(KeyboardInterrupt):
        sweep(CASES, first, out=out)
    assert not out.exists()
    assert journal_path(out).exists()
    second = Counting()
    result = sweep(CASES, second, out=out)
    assert (result.resumed, result.computed) == (cut, 12 - cut)
    assert len(first.asked) + len(second.asked) == 12
    assert not journal_path(out).exists()
    assert [row["parameters"] for row in read_table(out)] == [
        str(case.model().parameters) for case in CASES
    ]


def test_a_line_that_was_cut_off_is_computed_again(tmp_path: Path) -> None:
    out = tmp_path / "table.json"
    with pytest.raises(KeyboardInterrupt):
        sweep(CASES, Counting(stop_after=4), out=out)
    journal = journal_path(out)
    text = journal.read_text()
    journal.write_text(text[:-10])
    again = Counting()
    assert sweep(CASES, again, out=out).resumed == 3
    assert len(again.asked) == 9


def test_resume_can_be_refused_and_questions_do_not_mix(tmp_path: Path) -> None:
    out = tmp_path / "table.csv"
    with pytest.raises(KeyboardInterrupt):
        sweep(CASES, Counting(stop_after=4), out=out)
    with pytest.raises(ValueError, match="another question"):
        sweep(CASES, "dimension", out=out)
    assert sweep(CASES, Counting(), out=out, resume=False).computed == 12
    journal_path(out).write_text("not a journal\n")
    with pytest.raises(ValueError, match="not the journal"):
        sweep(CASES, Counting(), out=out)


def test_failures_are_rows(tmp_path: Path) -> None:
    cases = (*CASES, Case((2, 2), (1, 1)), Case((2, 0), (1,)), Case((2, 3), (1,), skip=True))
    result = sweep(cases, failing, out=tmp_path / "t.csv")
    assert result.failed == 6 + 3
    by_status = [row["status"] for row in result.rows]
    assert by_status.count("failed") == 9
    assert result.rows[0]["error_type"] == "ArithmeticError"
    assert "one attention dimension per layer" in result.rows[12]["error"]
    assert "positive integer" in result.rows[13]["error"]
    assert "equal widths" in result.rows[14]["error"]


@pytest.mark.parametrize("pool", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_executors_give_the_same_rows(pool: Callable[..., Any]) -> None:
    def without_time(rows: Any) -> list[dict[str, Any]]:
        return [{k: v for k, v in row.items() if k != "seconds"} for row in rows]

    question = partial(dimension_row, method="formula")
    with pool(2) as executor:
        parallel = sweep(CASES, question, executor=executor)
    assert without_time(parallel.rows) == without_time(sweep(CASES, question).rows)


def test_a_question_that_cannot_be_sent_is_a_failed_row() -> None:
    with ProcessPoolExecutor(1) as executor:
        result = sweep(CASES[:2], lambda network: {"t": network.t}, executor=executor)
    assert result.failed == 2
    assert all("pickle" in row["error"] for row in result.rows)


def test_answers_become_cells(tmp_path: Path) -> None:
    def question(network: Network) -> dict[str, Any]:
        return {"n": np.int64(3), "z": sympy.Integer(4), "q": Fraction(1, 2), "l": (1, 2), "x": 0.5}

    out = tmp_path / "t.json"
    sweep(CASES[:1], question, out=out)
    row = read_table(out)[0]
    assert [row[name] for name in "nzqlx"] == [3, 4, "1/2", "(1, 2)", 0.5]


def test_progress_counts_resumed_rows(tmp_path: Path) -> None:
    out = tmp_path / "t.json"
    with pytest.raises(KeyboardInterrupt):
        sweep(CASES, Counting(stop_after=5), out=out)
    seen: list[int] = []
    sweep(CASES, Counting(), out=out, progress=lambda stage, done, total: seen.append(done))
    assert seen == list(range(5, 13))


@pytest.fixture(params=[".csv", ".json", ".parquet"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / "deep" / f"table{request.param}"


def test_tables(table: Path) -> None:
    rows = [{"a": 1, "b": None, "c": "x,y"}, {"a": 2, "d": True}]
    write_table(rows, table)
    assert [p.name for p in table.parent.iterdir()] == [table.name]
    back = read_table(table)
    if table.suffix == ".csv":
        assert back[0] == {"a": "1", "b": "", "c": "x,y", "d": ""}
    else:
        assert [{k: v for k, v in row.items() if v is not None} for row in back] == [
            {k: v for k, v in row.items() if v is not None} for row in rows
        ]


def test_tables_refuse_early(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must end in"):
        sweep(CASES, Counting(), out=tmp_path / "table.xlsx")
    with pytest.raises(ValueError, match="unknown question"):
        sweep(CASES, "meaning")
    with pytest.raises(TypeError):
        write_table([{"a": object()}], tmp_path / "t.json")
    assert list(tmp_path.iterdir()) == []


def test_journal_is_json_lines(tmp_path: Path) -> None:
    out = tmp_path / "t.csv"
    with pytest.raises(KeyboardInterrupt):
        sweep(CASES, Counting(stop_after=2), out=out)
    header, *lines = [json.loads(line) for line in journal_path(out).read_text().splitlines()]
    assert header["question"].endswith("Counting")
    assert [line["key"] for line in lines] == [case.key for case in CASES[:2]]
