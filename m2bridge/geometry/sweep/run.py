"""Running a sweep: any executor, rows kept as they come, continued where it was interrupted."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from m2bridge.display import brief, facts_html, sections_html, table_html
from m2bridge.geometry.depth.rank import Progress
from m2bridge.geometry.sweep.cases import Case
from m2bridge.geometry.sweep.journal import Journal
from m2bridge.geometry.sweep.questions import QUESTIONS, Question, ask
from m2bridge.geometry.sweep.table import check_format, columns_of, write_table

__all__ = ["SweepResult", "journal_path", "sweep"]

_IN_FLIGHT = 64

_log = logging.getLogger("m2bridge.geometry.sweep")


@dataclass(frozen=True)
class SweepResult:
    """What a sweep found.

    Attributes:
        rows: one for each case, in the order of the cases.
        computed: how many were computed now.
        resumed: how many came from an earlier, interrupted run.
        failed: how many rows say that something went wrong.
        path: the table that was written, if any.
    """

    rows: tuple[dict[str, Any], ...]
    computed: int
    resumed: int
    failed: int
    path: Path | None

    __repr__ = brief

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [
            ("models", len(self.rows)),
            ("computed now", self.computed),
            ("from an earlier run", self.resumed),
            ("failed", self.failed),
            ("table", "not written" if self.path is None else self.path),
        ]
        names = [
            name
            for name in columns_of(self.rows)
            if name != "seconds" and any(row.get(name) is not None for row in self.rows)
        ]
        cells = [["-" if r.get(name) is None else r[name] for name in names] for r in self.rows]
        return sections_html(facts_html("Sweep", rows), table_html(names, cells))


def journal_path(out: Path) -> Path:
    """Where a sweep that writes ``out`` keeps its finished rows until it is complete."""
    return out.with_name(out.name + ".journal")


def sweep(
    cases: Iterable[Case],
    question: str | Question = "dimension",
    *,
    out: str | Path | None = None,
    resume: bool = True,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> SweepResult:
    """Ask one question of many models.

    Args:
        cases: the models; equal ones are computed once.
        question: a name from `QUESTIONS`, or a function from a model to a mapping of columns
            (picklable, for executors with other processes).
        out: the table to write (.csv, .json or .parquet). Finished rows are kept in a journal
            beside it; after an interruption the same call continues there.
        resume: use such a journal; otherwise begin anew.
        executor: any ``concurrent.futures.Executor``, a Dask cluster's
            ``client.get_executor()`` too; None computes here, one after another.
        progress: called as ``progress("sweep", done, total)``.

    Returns:
        All rows. A model that fails is a row with status ``"failed"``.

    Raises:
        ValueError: for an unknown question, a bad table name or a journal of another question.
        OSError: when the table or the journal cannot be written.
    """
    function, name = _question(question)
    path = None if out is None else Path(out)
    if path is not None:
        check_format(path)
    todo = {case.key: case for case in cases}
    with Journal(None if path is None else journal_path(path), name, resume=resume) as journal:
        resumed = len(todo.keys() & journal.rows.keys())
        missing = [case for key, case in todo.items() if key not in journal.rows]
        done = resumed
        if progress is not None:
            progress("sweep", done, len(todo))
        for key, row in _answers(missing, function, executor):
            journal.add(key, row)
            done += 1
            if progress is not None:
                progress("sweep", done, len(todo))
        rows = tuple(journal.rows[key] for key in todo)
        if path is not None:
            write_table(rows, path)
            journal.remove()
    failed = sum(row["status"] == "failed" for row in rows)
    _log.info("sweep: %d rows, %d computed, %d failed", len(rows), len(missing), failed)
    return SweepResult(rows, len(missing), resumed, failed, path)


def _question(question: str | Question) -> tuple[Question, str]:
    if isinstance(question, str):
        if question not in QUESTIONS:
            known = ", ".join(QUESTIONS)
            raise ValueError(f"unknown question {question!r}; known ones: {known}")
        return QUESTIONS[question], question
    if not callable(question):
        raise ValueError(f"a question is a name or a function, got {question!r}")
    return question, _name(question)


def _name(question: Question) -> str:
    """A name that is the same in the next run: the function's, with its fixed options."""
    if isinstance(question, partial):
        options = ", ".join(
            [*map(repr, question.args), *(f"{k}={v!r}" for k, v in question.keywords.items())]
        )
        return f"{_name(question.func)}({options})"
    for name, known in QUESTIONS.items():
        if known is question:
            return name
    qualified = getattr(question, "__qualname__", type(question).__qualname__)
    return f"{question.__module__}.{qualified}"


def _answers(
    cases: list[Case], question: Question, executor: Executor | None
) -> Iterator[tuple[str, dict[str, Any]]]:
    if executor is None:
        for case in cases:
            yield case.key, ask(case, question)
        return
    waiting = iter(cases)
    running: dict[Future[dict[str, Any]], Case] = {}
    try:
        while True:
            # A bounded number in flight: a grid may have more cases than fit in memory as futures.
            for case in waiting:
                running[executor.submit(ask, case, question)] = case
                if len(running) >= _IN_FLIGHT:
                    break
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                case = running.pop(future)
                yield case.key, _result(future, case)
    finally:
        for future in running:
            future.cancel()


def _result(future: Future[dict[str, Any]], case: Case) -> dict[str, Any]:
    """A worker's row; an answer that could not come back is a failed row."""
    error = future.exception()
    if error is None:
        return future.result()
    if not isinstance(error, Exception):
        raise error
    columns = case.columns()
    return {**columns, "status": "failed", "error_type": type(error).__name__, "error": str(error)}
