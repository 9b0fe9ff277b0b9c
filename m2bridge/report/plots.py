"""Pictures: the order of the strata, and slices of the (2, 1, a) neuromanifolds.

matplotlib is an optional dependency; everything else here is data made by `geometry`.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from m2bridge.geometry.slices import Slice
from m2bridge.geometry.strata import Stratum, hasse_diagram

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["hasse_figure", "new_figure", "save_figure", "slice_figure"]

_INK = "#222222"
_SMOOTH, _SINGULAR, _BOUNDARY = "#dbe7f3", "#f4c7b8", "#7a1f1f"
_SHEET, _DOUBLE, _UNREACHED, _PINCH = "#8fb3d9", "#b03a2e", "#7d3c98", "#111111"

#: Labels get unreadable beyond this many strata.
MAX_STRATA = 150


def new_figure(width: float, height: float) -> Figure:
    """A figure that needs no display and leaves matplotlib's global state alone."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "pictures need matplotlib, which the extra `plot` brings: pip install 'm2bridge[plot]'"
        ) from error
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save_figure(figure: Figure, path: str | Path, dpi: int = 160) -> Path:
    """Write a figure as PNG, SVG or PDF, by the file's ending.

    Raises:
        ValueError: for another ending.
    """
    target = Path(path)
    if target.suffix.lower() not in {".png", ".svg", ".pdf"}:
        raise ValueError(f"pictures are written as .png, .svg or .pdf, got {target.name!r}")
    metadata: dict[str, Any] = {} if target.suffix.lower() == ".png" else {"Date": None}
    if target.suffix.lower() == ".pdf":
        metadata = {"CreationDate": None}
    from matplotlib import rc_context

    content = io.BytesIO()  # so that an interruption leaves no half of a file
    # Without a salt the ids inside SVG files would differ from run to run.
    with rc_context({"svg.hashsalt": "m2bridge"}):
        kind = target.suffix.lower()[1:]
        figure.savefig(content, format=kind, dpi=dpi, metadata=metadata, facecolor="white")
    target.write_bytes(content.getvalue())
    return target


# The order of the strata


def hasse_figure(strata: Sequence[Stratum], title: str | None = None) -> Figure:
    """Draw the strata of one layer by dimension, with the covers of the closure order.

    Singular strata are filled red, others blue; a thick border marks the boundary of the real
    image, a dashed one strata that lie on it for some signatures only.

    Raises:
        ValueError: for no strata, or more than `MAX_STRATA`.
        ImportError: without matplotlib.
    """
    if not strata:
        raise ValueError("there are no strata to draw")
    if len(strata) > MAX_STRATA:
        raise ValueError(
            f"{len(strata)} strata are too many for one picture (at most {MAX_STRATA})"
        )
    edges = hasse_diagram(strata)
    places = _places([s.dimension for s in strata], edges)
    levels = sorted({y for _, y in places})
    widest = max(sum(1 for _, y in places if y == level) for level in levels)
    figure = new_figure(max(4.5, 1.5 * widest + 1.6), max(3.2, 0.95 * len(levels) + 1.4))
    axes = figure.add_subplot()
    for low, high in edges:
        (x0, y0), (x1, y1) = places[low], places[high]
        axes.plot([x0, x1], [y0, y1], color="#9a9a9a", linewidth=1.0, zorder=1)
    for stratum, (x, y) in zip(strata, places, strict=True):
        _draw_stratum(axes, stratum, x, y)
    _dimension_axis(axes, strata, places)
    layer = strata[0].layer
    axes.set_title(title or f"strata of {_name(layer)}", fontsize=11, color=_INK)
    _hasse_legend(axes, strata)
    return figure


def _name(layer: Any) -> str:
    return f"d = {layer.d}, d' = {layer.d_out}, a = {layer.a}, t = {layer.t}"


def _places(
    dimensions: Sequence[int], edges: Sequence[tuple[int, int]]
) -> list[tuple[float, float]]:
    """Rows by dimension; inside a row sorted by the mean place of neighbours, a few sweeps."""
    rows: dict[int, list[int]] = {}
    for k, dimension in enumerate(dimensions):
        rows.setdefault(dimension, []).append(k)
    order = sorted(rows)
    height = {dimension: float(level) for level, dimension in enumerate(order)}
    x = {k: float(i) - (len(row) - 1) / 2 for row in rows.values() for i, k in enumerate(row)}
    neighbours: dict[int, list[int]] = {k: [] for k in range(len(dimensions))}
    for low, high in edges:
        neighbours[low].append(high)
        neighbours[high].append(low)
    for sweep in range(12):
        for dimension in order if sweep % 2 else reversed(order):
            row = rows[dimension]
            mean = {
                k: np.mean([x[n] for n in neighbours[k]]) if neighbours[k] else x[k] for k in row
            }
            row.sort(key=lambda k: (mean[k], k))
            for i, k in enumerate(row):
                x[k] = float(i) - (len(row) - 1) / 2
    return [(x[k], height[d]) for k, d in enumerate(dimensions)]


def _draw_stratum(axes: Any, stratum: Stratum, x: float, y: float) -> None:
    on_boundary = stratum.boundary is not False
    label = "0" if stratum.is_origin else "(" + ",".join(map(str, stratum.type)) + ")"
    axes.text(
        x,
        y,
        label,
        ha="center",
        va="center",
        fontsize=9.5,
        color=_INK,
        zorder=3,
        bbox={
            "boxstyle": "round,pad=0.42",
            "facecolor": _SINGULAR if stratum.singular else _SMOOTH,
            "edgecolor": _BOUNDARY if on_boundary else "#8a8a8a",
            "linewidth": 2.2 if on_boundary else 0.8,
            "linestyle": "--" if stratum.boundary is None else "-",
        },
    )


def _dimension_axis(
    axes: Any, strata: Sequence[Stratum], places: Sequence[tuple[float, float]]
) -> None:
    levels = {y: s.dimension for s, (_, y) in zip(strata, places, strict=True)}
    axes.set_yticks(sorted(levels), [str(levels[y]) for y in sorted(levels)])
    axes.set_ylabel("dimension (affine cone)", color=_INK)
    axes.set_xticks([])
    reach = max(abs(x) for x, _ in places) + 0.75
    axes.set_xlim(-reach, reach)
    axes.set_ylim(-0.6, max(levels) + 0.6)
    for side in ("top", "right", "bottom"):
        axes.spines[side].set_visible(False)
    axes.tick_params(length=0, colors=_INK)


def _hasse_legend(axes: Any, strata: Sequence[Stratum]) -> None:
    from matplotlib.patches import Patch

    handles = [
        Patch(facecolor=_SMOOTH, edgecolor="#8a8a8a", label="smooth"),
        Patch(facecolor=_SINGULAR, edgecolor="#8a8a8a", label="singular"),
        Patch(facecolor="white", edgecolor=_BOUNDARY, linewidth=2.2, label="on the boundary"),
    ]
    if any(s.boundary is None for s in strata):
        handles.append(
            Patch(
                facecolor="white",
                edgecolor=_BOUNDARY,
                linewidth=2.0,
                linestyle="--",
                label="partly on it",
            )
        )
    axes.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.03),
        ncols=2,
        frameon=False,
        fontsize=8.5,
    )


# Slices


def slice_figure(piece: Slice, *, elevation: float = 18, azimuth: float = -62) -> Figure:
    """Draw a slice: the image, its singular curve, pinch points, and what real weights miss.

    Args:
        piece: made by `geometry.slices`.
        elevation, azimuth: the view of a three-dimensional slice, in degrees.

    Raises:
        ImportError: without matplotlib.
    """
    figure = new_figure(7.2, 6.6)
    if piece.dimension == 2:
        _plane(figure.add_subplot(), piece)
        return figure
    axes = figure.add_subplot(projection="3d", computed_zorder=False)
    for sheet in piece.sheets:
        _surface(axes, sheet)
    for line in piece.double:
        axes.plot(*line.T, color=_DOUBLE, linewidth=2.4, zorder=5)
    for line in piece.unreached:
        axes.plot(*line.T, color=_UNREACHED, linewidth=2.2, linestyle=(0, (4, 2)), zorder=6)
    if len(piece.pinch_points):
        axes.scatter(*piece.pinch_points.T, color=_PINCH, s=52, zorder=8, depthshade=False)
    if len(piece.marked):
        axes.scatter(*piece.marked.T, color="#e08e0b", s=44, marker="D", depthshade=False, zorder=8)
    axes.view_init(elev=elevation, azim=azimuth)
    axes.set_box_aspect((1, 1, 1))
    reach = 0.72 * piece.radius
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), zlim=(-reach, reach))
    axes.set_axis_off()
    _slice_title(axes, piece)
    return figure


def _surface(axes: Any, sheet: Any) -> None:
    """Quadrilaterals shaded by their normals, both sides alike; thin lines show the ruling."""
    from matplotlib.colors import to_rgb
    from mpl_toolkits.mplot3d.art3d import (  # type: ignore[import-untyped]
        Line3DCollection,
        Poly3DCollection,
    )

    step = 4
    coarse = sheet[:, ::step]
    corners = np.stack(
        [coarse[:-1, :-1], coarse[1:, :-1], coarse[1:, 1:], coarse[:-1, 1:]], axis=2
    ).reshape(-1, 4, 3)
    normal = np.cross(corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1])
    size = np.linalg.norm(normal, axis=1)
    keep = size > 1e-12
    light = np.array([0.35, -0.55, 0.75])
    shade = np.abs(normal[keep] @ light) / (size[keep] * np.linalg.norm(light))
    colour = np.outer(0.62 + 0.38 * shade, to_rgb(_SHEET))
    rgba = np.concatenate([colour, np.full((len(colour), 1), 0.62)], axis=1)
    axes.add_collection3d(
        Poly3DCollection(corners[keep], facecolors=rgba, edgecolors="none", antialiased=True)
    )
    every = max(1, len(sheet) // 48)
    ruling = [(line[0], line[-1]) for line in sheet[::every]]
    axes.add_collection3d(Line3DCollection(ruling, colors="#3f6d9b", linewidths=0.35, alpha=0.55))


def _slice_title(axes: Any, piece: Slice) -> None:
    from matplotlib.lines import Line2D

    flat = piece.dimension == 2
    handles = []
    if piece.sheets:
        word = "curve" if flat else "surface"
        handles.append(Line2D([], [], color="#4f7fb0", linewidth=4, label=f"image ({word})"))
    dot = {"linestyle": "none", "marker": "o"} if flat else {"linewidth": 2.4}
    if piece.double:
        # For a = 1 there is nothing but these points, and they are smooth.
        label = "two real (V, A)" if piece.layer.alpha == 1 else "singular: two real (V, A)"
        handles.append(Line2D([], [], color=_DOUBLE, label=label, **dot))
    if piece.unreached:
        style = {"linestyle": "none", "marker": "x"} if flat else {"linestyle": (0, (4, 2))}
        handles.append(
            Line2D([], [], color=_UNREACHED, label="in the closure, no real weights", **style)
        )
    if len(piece.pinch_points):
        handles.append(
            Line2D([], [], color=_PINCH, linestyle="none", marker="o", label="pinch points")
        )
    if len(piece.marked):
        handles.append(
            Line2D([], [], color="#e08e0b", linestyle="none", marker="D", label="given points")
        )
    axes.set_title(f"a slice of the functions of {_name(piece.layer)}", fontsize=11, color=_INK)
    axes.legend(
        handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.02), ncols=2, frameon=False
    )


def _plane(axes: Any, piece: Slice) -> None:
    for line in piece.sheets:
        axes.plot(*line.T, color="#4f7fb0", linewidth=1.8, zorder=2)
    for point in piece.double:
        axes.plot(*point.T, "o", color=_DOUBLE, markersize=8, zorder=4)
    for point in piece.unreached:
        axes.plot(*point.T, "x", color=_UNREACHED, markersize=10, markeredgewidth=2.4, zorder=4)
    if len(piece.pinch_points):
        axes.plot(*piece.pinch_points.T, "o", color=_PINCH, markersize=8, zorder=4)
    if len(piece.marked):
        axes.plot(*piece.marked.T, "D", color="#e08e0b", markersize=6, zorder=5)
    reach = piece.radius
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", xlabel="x", ylabel="y")
    axes.grid(color="#e6e6e6", linewidth=0.6)
    _slice_title(axes, piece)
    axes.get_legend().set_bbox_to_anchor((0.5, -0.12))
