"""The version of m2bridge, from its one source: the installed package's metadata."""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version

__all__ = ["m2bridge_version"]


@lru_cache(maxsize=1)
def m2bridge_version() -> str:
    """E.g. ``"0.1.0"``; ``"unknown"`` when the package runs without being installed."""
    try:
        return version("m2bridge")
    except PackageNotFoundError:
        return "unknown"
