"""Words that several renderings share, so that no two of them say different things."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["counts_text"]


def counts_text(counts: Mapping[int, int] | None, complete: bool | None) -> str:
    """Generators by degree in words; "none" means something only where these are all."""
    if counts is None:
        return "not computed"
    parts = [f"{n} of degree {degree}" for degree, n in sorted(counts.items()) if n]
    if parts:
        return ", ".join(parts)
    if complete:
        return "none: the closure is the whole space of coefficients"
    return "none found in the degrees that were searched"
