"""The models of a sweep, as plain data that need not be valid yet."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

from m2bridge.attention import Layer, Network

__all__ = ["Case", "grid"]


@dataclass(frozen=True)
class Case:
    """Sizes of one model. An impossible one becomes a failed row, not an exception."""

    dims: tuple[int, ...]
    ranks: tuple[int, ...]
    t: int = 2
    attention: str = "lightning"
    heads: int = 1
    skip: bool = False

    @property
    def key(self) -> str:
        """The same for equal sizes; identifies the row when a sweep is continued."""
        return json.dumps(asdict(self), sort_keys=True)

    def columns(self) -> dict[str, Any]:
        """The sizes as columns of a row."""
        return {
            "dims": ",".join(map(str, self.dims)),
            "ranks": ",".join(map(str, self.ranks)),
            "t": self.t,
            "attention": self.attention,
            "heads": self.heads,
            "skip": self.skip,
        }

    def model(self) -> Network:
        """The model: a `Layer` where it is one plain layer of lightning attention.

        Raises:
            TypeError, ValueError: for impossible sizes.
        """
        network = Network(self.dims, self.ranks, self.t, self.attention, self.heads, self.skip)
        layer = Layer(self.dims[0], self.dims[1], self.ranks[0], self.t)
        same = (network.dims, network.attention, network.heads, network.skip)
        return layer if same == (layer.dims, "lightning", 1, False) else network


def grid(
    dims: Iterable[Sequence[int]],
    ranks: Iterable[int | Sequence[int]],
    t: Iterable[int] = (2,),
    attention: Iterable[str] = ("lightning",),
    heads: Iterable[int] = (1,),
    skip: Iterable[bool] = (False,),
) -> tuple[Case, ...]:
    """All combinations, without repetition, the last argument varying fastest.

    Args:
        dims: widths d_0, ..., d_l of each architecture.
        ranks: attention dimensions; a single integer stands for the same in every layer.
        t, attention, heads, skip: values to combine.
    """
    cases: dict[Case, None] = {}
    choices = product(dims, tuple(ranks), tuple(t), tuple(attention), tuple(heads), tuple(skip))
    for widths, a, tokens, kind, h, s in choices:
        rank = (a,) * (len(widths) - 1) if isinstance(a, int) else tuple(a)
        cases[Case(tuple(widths), rank, tokens, kind, h, s)] = None
    return tuple(cases)
