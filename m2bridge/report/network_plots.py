"""Pictures of networks: dimension against width, and the unrolling into reduced data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from m2bridge.geometry.unroll import Node, Unrolled
from m2bridge.geometry.width import WidthPoint
from m2bridge.report.plots import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["unrolled_figure", "width_figure"]

_PARAMETERS, _FORMULA, _COMPUTED, _OPEN = "#8c8c8c", "#b03a2e", "#1f4e79", "#7d3c98"
_FILL = {
    "input": "#ffffff",
    "weight": "#eeeeee",
    "reduced": "#dbe7f3",
    "tokens": "#f7ecd9",
    "output": "#ffffff",
}
_ROW_HEIGHT, _COLUMN_WIDTH = 1.0, 2.0


def width_figure(points: Sequence[WidthPoint], title: str = "") -> Figure:
    """Dimension against width: parameters, the published formula, and what was computed.

    Raises:
        ValueError: for no points.
        ImportError: without matplotlib.
    """
    if not points:
        raise ValueError("there are no widths to draw")
    figure = new_figure(6.4, 4.4)
    axes = figure.add_subplot()
    widths = [point.width for point in points]
    axes.plot(widths, [p.parameters for p in points], color=_PARAMETERS, ls=":", label="parameters")
    known = [(p.width, p.formula) for p in points if p.formula is not None]
    if known:
        axes.plot(*zip(*known, strict=True), color=_FORMULA, ls="--", label="published formula")
    for certainty in dict.fromkeys(p.certainty for p in points):
        found = [(p.width, p.computed) for p in points if p.certainty == certainty and p.computed]
        if found:
            color = _COMPUTED if certainty == "proved" else _OPEN
            axes.plot(*zip(*found, strict=True), "o", color=color, label=f"computed ({certainty})")
    gaps = [(p.width, p.gap) for p in points if p.gap is not None]
    if gaps:
        axes.plot(
            *zip(*gaps, strict=True), color=_OPEN, lw=0.8, label="gap: parameters - dimension"
        )
    axes.set_xlabel("width")
    axes.set_ylabel("dimension of the function space")
    axes.set_title(title, fontsize=10)
    axes.set_xticks(widths if len(widths) <= 12 else widths[:: len(widths) // 8])
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    return figure


def unrolled_figure(found: Unrolled) -> Figure:
    """The reduced data of a network as boxes and arrows: weights, reduced data, tokens, output.

    Raises:
        ImportError: without matplotlib.
    """
    columns = 1 + max(node.column for node in found.nodes)
    rows = 1 + max(node.row for node in found.nodes)
    figure = new_figure(1.0 + 1.6 * columns, 0.8 + 1.0 * rows)
    axes = figure.add_subplot()
    places = {node.key: _place(node) for node in found.nodes}
    for edge in found.edges:
        axes.annotate(
            "",
            xy=places[edge.end],
            xytext=places[edge.start],
            arrowprops={
                "arrowstyle": "->",
                "color": "#555555",
                "lw": 0.9,
                "shrinkA": 17,
                "shrinkB": 17,
            },
        )
    for node in found.nodes:
        x, y = places[node.key]
        box = {"boxstyle": "round,pad=0.35", "fc": _FILL[node.kind], "ec": "#444444"}
        axes.text(x, y, f"${node.latex}$", ha="center", va="center", fontsize=11, bbox=box)
        size = rf"${node.shape[0]} \times {node.shape[1]}$"
        axes.text(x + 0.36, y - 0.16, size, ha="left", va="center", fontsize=7, color="#555555")
    axes.set_xlim(-0.5 * _COLUMN_WIDTH, (columns - 0.5) * _COLUMN_WIDTH)
    axes.set_ylim(-(rows - 0.4) * _ROW_HEIGHT, 0.6 * _ROW_HEIGHT)
    axes.set_axis_off()
    return figure


def _place(node: Node) -> tuple[float, float]:
    return node.column * _COLUMN_WIDTH, -node.row * _ROW_HEIGHT
