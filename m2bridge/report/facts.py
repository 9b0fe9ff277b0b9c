"""What the pages about a layer show: plain data for templates, the same for HTML and LaTeX."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import sympy

from m2bridge.display import MOST_ROWS, listed
from m2bridge.geometry.analysis import Analysis
from m2bridge.geometry.slices import default_slice
from m2bridge.geometry.strata.closures import Component
from m2bridge.report.plots import MAX_STRATA, hasse_figure, slice_figure
from m2bridge.report.words import counts_text

__all__ = ["MOST_POLYNOMIALS", "Picture", "facts", "pictures"]

#: Longer lists are cut off; the JSON document has all of them.
MOST_POLYNOMIALS = 12

Written = Callable[[sympy.Poly], str]


@dataclass(frozen=True)
class Picture:
    """A picture for a page.

    Attributes:
        name: of a file, without its ending.
        kind: "svg", "pdf" or "png".
        content: the file.
        caption: what one sees.
    """

    name: str
    kind: str
    content: bytes
    caption: str


def pictures(analysis: Analysis, drawing: str) -> tuple[list[Picture], list[str]]:
    """The pictures of a layer, and what is missing with the reason.

    Args:
        analysis: the layer.
        drawing: "svg" or "pdf", the kind of the line drawing. Surfaces are always "png".
    """
    layer = analysis.layer
    made: list[Picture] = []
    try:
        if len(analysis.strata) > MAX_STRATA:
            return [], [f"no picture: {len(analysis.strata)} strata are too many to be drawn"]
        caption = (
            "The strata, the functions of one type of weights each, by dimension. A line leads "
            "from a stratum to one in its closure."
        )
        figure = hasse_figure(analysis.strata)
        made.append(Picture("strata", drawing, _file(figure, drawing), caption))
        if (layer.d, layer.d_out) == (2, 1) and layer.t >= 2:
            figure = slice_figure(default_slice(layer))
            caption = (
                "A three-dimensional slice of the space of coefficients, and the functions in it."
            )
            made.append(Picture("slice", "png", _file(figure, "png"), caption))
    except ImportError as error:
        return [], [f"no pictures: {error}"]
    return made, []


def _file(figure: Any, kind: str) -> bytes:
    """A figure as a file's content, the same in every run."""
    from matplotlib import rc_context

    dates: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    content = io.BytesIO()
    with rc_context({"svg.hashsalt": "m2bridge"}):
        figure.savefig(content, format=kind, dpi=130, metadata=dates, facecolor="white")
    return content.getvalue()


def facts(analysis: Analysis, written: Written) -> dict[str, Any]:
    """The sections of a page, polynomials already in its language."""
    layer, edge = analysis.layer, analysis.boundary
    return {
        "layer": layer,
        "analysis": analysis,
        "numbers": _numbers(analysis),
        "equations": _equations(analysis, written),
        "strata": [_stratum(stratum) for stratum in analysis.strata[: -MOST_ROWS - 1 : -1]],
        "more_strata": max(0, len(analysis.strata) - MOST_ROWS),
        "singular": [_component(c, written) for c in analysis.singular_locus.components],
        "singular_certificate": _cut(analysis.singular_locus.certificate),
        "boundary": [_component(c, written) for c in edge.components],
        "inequalities": [(written(i.polynomial), i.text) for i in edge.inequalities or ()],
        "points": [_point(point, layer.ambient_dimension) for point in edge.points],
        "certainty": _certainty(analysis),
        "command": (
            f"m2bridge report --d {layer.d} --d-out {layer.d_out} --a {layer.a} --t {layer.t}"
        ),
    }


def _numbers(analysis: Analysis) -> list[tuple[str, str]]:
    def size(value: int) -> str:
        return "none" if value < 0 else str(value)

    layer = analysis.layer
    return [
        ("parameters", str(layer.parameters)),
        ("coefficients", str(layer.ambient_dimension)),
        ("dimension", str(analysis.dimension)),
        ("codimension", str(analysis.codimension)),
        ("degree", str(analysis.degree)),
        ("singular locus", size(analysis.singular_locus.dimension)),
        ("boundary", size(analysis.boundary.dimension)),
    ]


def _certainty(analysis: Analysis) -> list[tuple[str, str]]:
    """Answer and what it rests on; the equations are not called the ideal unless they are it."""
    known = analysis.ideal is not None and analysis.ideal.complete is True
    names = {"ideal": "all equations" if known else "the equations found"}
    return [
        (names.get(name, name.replace("_", " ")), value)
        for name, value in sorted(analysis.certainty.items())
        if name != "ideal" or analysis.ideal is not None
    ]


def _first(polynomials: Sequence[Any], written: Written) -> tuple[list[str], int]:
    """The first polynomials, and how many more there are."""
    count = min(len(polynomials), MOST_POLYNOMIALS)
    return [written(polynomials[k]) for k in range(count)], len(polynomials) - count


def _equations(analysis: Analysis, written: Written) -> dict[str, Any] | None:
    ideal = analysis.ideal
    if ideal is None:
        return None
    shown, more = _first(ideal.generators, written)
    return {
        "counts": counts_text(ideal.generators_by_degree, ideal.complete),
        "modules": [
            (degree, " + ".join(map(str, modules)))
            for degree, modules in sorted(ideal.irreducibles.items())
            if modules
        ],
        "complete": {True: "yes", False: "no", None: "not settled"}[ideal.complete],
        "certainty": ideal.certainty,
        "certificate": ideal.certificate,
        "shown": shown,
        "more": more,
    }


def _stratum(stratum: Any) -> dict[str, Any]:
    return {
        "type": _tuple(stratum.type),
        "dimension": stratum.dimension,
        "tangent": stratum.tangent_dimension,
        "singular": stratum.singular,
        "boundary": stratum.boundary,
        "fibre": stratum.fibre,
    }


def _component(component: Component, written: Written) -> dict[str, Any]:
    shown: list[str] = []
    more, counts = 0, "not computed"
    if component.generators is not None:
        shown, more = _first(component.generators, written)
        by_degree: dict[int, int] = {}
        for polynomial in component.generators:
            degree = int(polynomial.total_degree())
            by_degree[degree] = by_degree.get(degree, 0) + 1
        counts = ", ".join(f"{n} of degree {k}" for k, n in sorted(by_degree.items())) or "none"
    return {
        "dimension": component.dimension,
        "degree": "not known" if component.degree is None else component.degree,
        "strata": listed([_tuple(kind) for kind in component.strata]),
        "counts": counts,
        "shown": shown,
        "more": more,
        "certainty": component.certainty,
        "reasons": [*component.reasons, *filter(None, [component.completeness])],
    }


def _point(point: Any, size: int) -> tuple[str, str, str]:
    coordinates = _tuple(point.coordinates) if size <= 24 else f"{size} coordinates"
    return point.side, coordinates, point.text


def _cut(lines: Sequence[str]) -> list[str]:
    left = len(lines) - MOST_ROWS
    return [*lines[:MOST_ROWS], *([f"and {left} more lines"] if left > 0 else [])]


def _tuple(values: Sequence[Any]) -> str:
    return f"({', '.join(map(str, values))})"
