"""Questions that a sweep can ask of each model, and how one is asked in a worker."""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Mapping
from typing import Any

from m2bridge.attention import Network
from m2bridge.geometry.dimension import dimension
from m2bridge.geometry.generic_fibre import generic_fibre
from m2bridge.geometry.sweep.cases import Case

__all__ = ["QUESTIONS", "Question", "ask", "dimension_row", "fibre_row"]

Question = Callable[[Network], Mapping[str, Any]]
"""From a model to columns. It must be picklable to be asked in other processes: a module's
function, or ``functools.partial`` of one."""


def dimension_row(network: Network, **options: Any) -> dict[str, Any]:
    """The dimension with its bounds and formulas; options as for ``dimension``."""
    result = dimension(network, **options)
    return {
        "parameters": result.parameters,
        "dimension": result.value,
        "lower": result.lower,
        "upper": result.upper,
        "formula": result.formula,
        "refined": result.refined,
        "certainty": result.certainty,
        "method": result.method,
        "reason": result.reason,
    }


def fibre_row(network: Network, **options: Any) -> dict[str, Any]:
    """The generic fibre: dimension, components and groups; options as for ``generic_fibre``."""
    fibre = generic_fibre(network, **options)
    return {
        "parameters": network.parameters,
        "fibre_dimension": fibre.dimension,
        "reduced_points": fibre.reduced_points,
        "components": fibre.components,
        "groups": " x ".join(f.group for f in fibre.factors if f.kind != "unused"),
        "certainty": fibre.certainty,
        "reason": fibre.reason,
    }


QUESTIONS: dict[str, Question] = {"dimension": dimension_row, "fibre": fibre_row}


def _cell(value: Any) -> Any:
    """A value that every table format can hold: a number, a truth value, a text or nothing."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    try:
        return operator.index(value)  # integers of numpy, sympy and the like
    except TypeError:
        return str(value)


def ask(case: Case, question: Question) -> dict[str, Any]:
    """Answer one case as a row; whatever goes wrong becomes part of the row."""
    start = time.perf_counter()
    row: dict[str, Any] = {**case.columns(), "status": "ok", "error_type": None, "error": None}
    try:
        answer = question(case.model())
        row.update({str(name): _cell(value) for name, value in answer.items()})
    except Exception as error:  # the row says what happened; the sweep goes on
        row.update(status="failed", error_type=type(error).__name__, error=str(error))
    row["seconds"] = round(time.perf_counter() - start, 6)
    return row
