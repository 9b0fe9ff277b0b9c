"""Dimension against width: the data behind a plot, with both curves really computed."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

from m2bridge.attention import Network
from m2bridge.attention.scalars import positive_int, positive_ints
from m2bridge.geometry.depth.rank import Progress
from m2bridge.geometry.dimension import dimension

__all__ = ["WidthPoint", "dimension_against_width"]


@dataclass(frozen=True)
class WidthPoint:
    """One width of the plot.

    Attributes:
        width: d_0 = .. = d_l.
        parameters: the number of weights.
        formula: the published formula, None where it says nothing.
        refined: the formula of the theory page, None where there is none.
        computed: the dimension found for this network by rank and upper bound; None if undecided.
        certainty: of ``computed``.
    """

    width: int
    parameters: int
    formula: int | None
    refined: int | None
    computed: int | None
    certainty: str

    @property
    def gap(self) -> int | None:
        """Parameters minus computed dimension."""
        return None if self.computed is None else self.parameters - self.computed


def dimension_against_width(
    widths: Sequence[int],
    *,
    depth: int = 2,
    a: int | None = None,
    t: int = 2,
    attention: str = "lightning",
    heads: int = 1,
    skip: bool = False,
    seed: int = 0,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> tuple[WidthPoint, ...]:
    """Expected and computed dimension of networks of equal widths.

    Args:
        widths: the widths to plot.
        depth: number of layers.
        a: attention dimension of every layer; None for a = width.
        t, attention, heads, skip: as for `Network`.
        seed, executor, progress: as for ``dimension``; the rank is taken at every width.

    Raises:
        TypeError, ValueError: for bad sizes.
        SizeLimitError: for a network that is too large for a rank.
    """
    depth = positive_int("depth", depth)
    points = []
    for width in positive_ints("widths", widths):
        ranks = (width if a is None else a,) * depth
        network = Network(
            (width,) * (depth + 1), ranks, t, attention=attention, heads=heads, skip=skip
        )
        found = dimension(network, method="rank", seed=seed, executor=executor, progress=progress)
        points.append(
            WidthPoint(
                width,
                network.parameters,
                found.formula,
                found.refined,
                found.value,
                found.certainty,
            )
        )
    return tuple(points)
