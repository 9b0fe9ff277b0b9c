"""Renderings of results: documents, terminals, pages, pictures.

Modules are imported when they are first used, so that a program may name them all and still
start, or complete an option, without sympy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from m2bridge.report import document, terminal, weights_text

__all__ = ["document", "terminal", "weights_text"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'm2bridge.report' has no attribute {name!r}")
    return importlib.import_module(f"m2bridge.report.{name}")
