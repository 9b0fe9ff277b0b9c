"""Sweeps: one question asked of a grid of models, resumable, failures kept as rows."""

from m2bridge.geometry.sweep.cases import Case, grid
from m2bridge.geometry.sweep.questions import QUESTIONS, Question, ask
from m2bridge.geometry.sweep.run import SweepResult, sweep
from m2bridge.geometry.sweep.table import FORMATS, read_table, write_table

__all__ = [
    "FORMATS",
    "QUESTIONS",
    "Case",
    "Question",
    "SweepResult",
    "ask",
    "grid",
    "read_table",
    "sweep",
    "write_table",
]
