"""Numbers that the command line shows before any of the mathematics is imported."""

from __future__ import annotations

__all__ = ["DEFAULT_SECONDS"]

DEFAULT_SECONDS = 60.0
"""Where no bound on the degrees is proved, an analysis searches for equations this long."""
