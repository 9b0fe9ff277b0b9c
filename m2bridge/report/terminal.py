"""Results as text for people: tables and sentences (rich renderables)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sympy
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from m2bridge.attention.layer import Layer
from m2bridge.attention.network import Network
from m2bridge.display import listed
from m2bridge.geometry.analysis import Analysis
from m2bridge.geometry.boundary import Boundary
from m2bridge.geometry.depth.result import DimensionResult
from m2bridge.geometry.implicit import ImplicitIdeal
from m2bridge.geometry.invariants import InvariantReport
from m2bridge.geometry.published_models import ModelRow
from m2bridge.geometry.singular import SingularLocus
from m2bridge.geometry.strata.closures import Component
from m2bridge.geometry.strata.stratum import Stratum
from m2bridge.geometry.theorems import TheoremTable
from m2bridge.report.words import counts_text

__all__ = [
    "analysis",
    "boundary",
    "dimension",
    "facts",
    "ideal",
    "invariants",
    "model_line",
    "models",
    "rows_table",
    "singular_locus",
    "strata",
    "theorems",
]

_MOST_POLYNOMIALS = 6
_LONGEST_POLYNOMIAL = 400
_MOST_STRATA = 1_000


def model_line(network: Network) -> Text:
    """What the model is, in one line."""
    if isinstance(network, Layer):
        sizes = f"d = {network.d}, d_out = {network.d_out}, a = {network.a}, t = {network.t}"
        line = Text(f"Lightning self-attention layer, {sizes}", style="bold")
        return line.append("".join(f"\n({note})" for note in network.notes), style="not bold")
    kind = f"{network.attention} self-attention"
    extra = f", {network.heads} heads" if network.heads > 1 else ""
    extra += ", skip connections" if network.skip else ""
    sizes = f"widths {network.dims}, attention dimensions {network.ranks}, t = {network.t}"
    return Text(f"{kind}{extra}: {sizes}", style="bold")


def facts(rows: Iterable[tuple[str, Any]]) -> Table:
    """Names and values, two columns without lines."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")  # a path that is cut cannot be copied
    for name, value in rows:
        table.add_row(name, Text(str(value)))
    return table


def _short(polynomial: sympy.Poly) -> str:
    text = str(polynomial.as_expr())
    if len(text) <= _LONGEST_POLYNOMIAL:
        return text
    return f"{text[:_LONGEST_POLYNOMIAL]} ... ({len(polynomial.terms())} terms)"


def _polynomials(polynomials: Sequence[sympy.Poly]) -> list[RenderableType]:
    shown: list[RenderableType] = [
        Text(f"  {_short(polynomials[k])}") for k in range(min(len(polynomials), _MOST_POLYNOMIALS))
    ]
    if len(polynomials) > _MOST_POLYNOMIALS:
        shown.append(Text(f"  ... and {len(polynomials) - _MOST_POLYNOMIALS} more (see --json)"))
    return shown


def _truth(value: bool | None) -> str:
    return {True: "yes", False: "no", None: "not settled"}[value]


def _some(value: Any) -> str:
    return "-" if value is None else str(value)


def _heading(text: str) -> Text:
    return Text(f"\n{text}", style="bold")


def ideal(found: ImplicitIdeal) -> RenderableType:
    """The equations of a layer."""
    return Group(model_line(found.layer), *_ideal_parts(found))


def _shown_equations(found: ImplicitIdeal) -> list[RenderableType]:
    """All generators where these are few; else one for each module that they form."""
    if len(found.generators) <= _MOST_POLYNOMIALS or not found.highest_weight_vectors:
        return _polynomials(found.generators)
    vectors = [f for _, fs in sorted(found.highest_weight_vectors.items()) for f in fs]
    head = Text("  one polynomial for each module (--json lists all generators):", style="dim")
    return [head, *_polynomials(vectors)]


def _ideal_parts(found: ImplicitIdeal) -> list[RenderableType]:
    rows: list[tuple[str, Any]] = [
        ("dimension", f"{found.dimension} of {found.layer.ambient_dimension}"),
        ("degree", found.degree),
        ("minimal generators", counts_text(found.generators_by_degree, found.complete)),
    ]
    for degree, entries in sorted(found.irreducibles.items()):
        rows.append((f"degree {degree} as modules", " + ".join(map(str, entries))))
    rows += [
        ("method", found.method),
        ("all equations?", _truth(found.complete)),
        ("certainty", found.certainty),
        ("why", found.certificate),
    ]
    return [facts(rows), *_shown_equations(found)]


def strata(layer: Layer, found: Sequence[Stratum]) -> RenderableType:
    """The strata of a layer, one row each."""
    return Group(model_line(layer), _strata_table(layer, found))


def _strata_table(layer: Layer, found: Sequence[Stratum]) -> Table:
    kind = "rank V, rank S, j, rho" if layer.t == 1 else "rank V, rank A, rank [V^T|A]"
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in (kind, "dimension", "tangent", "singular", "boundary", "fibre"):
        left = name in (kind, "fibre")
        table.add_column(name, justify="left" if left else "right", overflow="fold")
    omitted = range(_MOST_STRATA // 2, len(found) - _MOST_STRATA // 2)
    for k, stratum in enumerate(found):
        if k in omitted:
            if k == omitted.start:
                table.add_row(f"... {len(omitted):,} more (--json has all)", *[""] * 5)
            continue
        flag = "bold" if stratum.singular or stratum.boundary else ""
        table.add_row(
            str(stratum.type),
            str(stratum.dimension),
            str(stratum.tangent_dimension),
            _truth(stratum.singular),
            {True: "yes", False: "no", None: "in part"}[stratum.boundary],
            Text(stratum.fibre),
            style=flag,
        )
    return table


def _component(component: Component) -> list[RenderableType]:
    rows: list[tuple[str, Any]] = [
        ("component", f"dimension {component.dimension}, degree {_some(component.degree)}"),
        ("strata in it", listed(component.strata)),
        ("equations", counts_text(component.generators_by_degree, component.complete)),
        ("prime ideal?", _truth(component.prime)),
        ("why", component.certificate),
    ]
    parts: list[RenderableType] = [facts(rows)]
    if component.generators is not None:
        parts += _polynomials(component.generators)
    return parts


def singular_locus(found: SingularLocus) -> RenderableType:
    """The singular locus of a layer."""
    return Group(model_line(found.layer), *_singular_parts(found))


def _singular_parts(found: SingularLocus) -> list[RenderableType]:
    if not found.components:
        return [Text("smooth everywhere, zero included"), facts([("certainty", found.certainty)])]
    only = " (the zero function alone)" if found.dimension == 0 else ""
    parts: list[RenderableType] = [
        facts(
            [
                ("dimension", f"{found.dimension}{only}"),
                ("certainty", found.certainty),
            ]
        )
    ]
    for component in found.components:
        parts += _component(component)
    return parts


def boundary(found: Boundary) -> RenderableType:
    """The boundary of the real functions of a layer."""
    return Group(model_line(found.layer), *_boundary_parts(found))


def _boundary_parts(found: Boundary) -> list[RenderableType]:
    size = "empty" if found.dimension < 0 else f"dimension {found.dimension}"
    parts: list[RenderableType] = [
        facts(
            [
                ("boundary", size),
                ("in weights", found.description),
                ("beyond it", found.complement),
                ("real functions", found.semialgebraic),
                ("certainty", found.certainty),
            ]
        )
    ]
    for component in found.components:
        parts += _component(component)
    return parts


def analysis(found: Analysis) -> RenderableType:
    """Everything about a layer."""
    layer, where = found.layer, found.provenance
    parts: list[RenderableType] = [
        model_line(layer),
        facts(
            [
                ("parameters", layer.parameters),
                ("ambient dimension", layer.ambient_dimension),
                (
                    "dimension",
                    f"{found.dimension} (published formula: {_some(found.expected_dimension)})",
                ),
                ("codimension", found.codimension),
                ("degree", found.degree),
            ]
        ),
        _heading("Equations"),
    ]
    if found.ideal is None:
        parts.append(Text("not computed; see the notes"))
    else:
        parts += _ideal_parts(found.ideal)
    parts += [_heading("Strata"), _strata_table(layer, found.strata)]
    parts += [_heading("Singular locus"), *_singular_parts(found.singular_locus)]
    parts += [_heading("Boundary of the real functions"), *_boundary_parts(found.boundary)]
    if found.cross_checks:
        parts.append(_heading("Checked in a second way"))
        parts.append(facts((c.question, f"{c.method}: {c.text}") for c in found.cross_checks))
    if found.notes:
        parts.append(_heading("Notes"))
        parts += [Text(f"- {note}") for note in found.notes]
    parts.append(_heading("Where this comes from"))
    parts.append(
        facts(
            [
                ("m2bridge", where.m2bridge_version),
                ("Macaulay2", f"{_some(where.m2_version)}, {_some(where.engine)}"),
                ("M2 scripts", len(where.scripts)),
                ("seconds", f"{where.seconds:.1f}"),
            ]
        )
    )
    return Group(*parts)


def dimension(found: DimensionResult) -> RenderableType:
    """The dimension of a network's functions."""
    value = (
        _some(found.value) if found.value is not None else f"{_some(found.lower)} to {found.upper}"
    )
    rows: list[tuple[str, Any]] = [
        ("dimension", value),
        ("parameters", found.parameters),
        ("directions that do nothing", _some(found.excess)),
        ("published formula", _some(found.formula)),
        ("refined formula", _some(found.refined)),
        ("lower bound", f"{_some(found.lower)}: {found.lower_source}"),
        ("upper bound", f"{found.upper}: {found.upper_source}"),
        ("certainty", found.certainty),
    ]
    if found.primes:
        rows.append(("primes, seed", f"{', '.join(map(str, found.primes))}; {found.seed}"))
    if found.gap is not None:
        rows.append(("singular value gap", f"{found.gap:.3g} (tolerance {found.tolerance:.1g})"))
    if found.reason:
        rows.append(("remark", found.reason))
    return Group(model_line(found.network), facts(rows))


def invariants(found: InvariantReport) -> RenderableType:
    """The families of published equations."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("family", "degree", "built", "dimension", "modules", "new generators"):
        table.add_column(name)
    for family in found.families:
        table.add_row(
            family.name,
            _some(family.degree),
            str(family.built),
            str(family.dimension) if not family.skipped else f"skipped: {family.skipped}",
            Text(" + ".join(map(str, family.irreducibles))),
            Text(" + ".join(map(str, family.minimal)) or "none"),
        )
    rows = [
        ("linear relations", f"{found.linear_relations} in one output entry"),
        ("together", counts_text(found.generated_by_degree, found.whole)),
        ("the whole ideal?", _truth(found.whole)),
        ("certainty", found.certainty),
    ]
    return Group(model_line(found.layer), table, facts(rows))


def rows_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Rows of a sweep, without the columns that are empty everywhere."""
    names = [
        name
        for name in dict.fromkeys(key for row in rows for key in row)
        if name not in ("reason", "seconds") and any(row.get(name) is not None for row in rows)
    ]
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in names:
        table.add_column(name)
    for row in rows:
        table.add_row(*(Text(_some(row.get(name))) for name in names))
    return table


def models(rows: Sequence[ModelRow]) -> RenderableType:
    """Published models: parameters and dimension of their attention, and where sizes are from."""
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="dim")
    for name in ("model", "layers", "heads", "d", "a", "parameters", "dimension", "gap"):
        table.add_column(name, justify="left" if name == "model" else "right")
    sources = list(dict.fromkeys(row.size.source for row in rows))
    for row in rows:
        size = row.size
        numbers = (size.layers, size.heads, size.width, size.head_dim)
        table.add_row(
            Text(f"{size.name} [{sources.index(size.source) + 1}]"),
            *map(str, numbers),
            f"{row.parameters:,}",
            f"{row.dimension:,}",
            f"{row.gap / row.parameters:.1%}",
        )
    notes = [Text(f"[{number}] {source}") for number, source in enumerate(sources, start=1)]
    return Group(table, Text(), *notes)


def theorems(table: TheoremTable) -> RenderableType:
    """Statements with how often they hold, and every exception with its witness."""
    summary = [
        (name, f"holds for {good} of {models} models")
        for name, (good, models) in table.counts().items()
    ]
    rows = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("d, d_out, a", "statement", "said", "found", "witness"):
        rows.add_column(name)
    for row in table.exceptions:
        model = f"{row.d}, {row.d_out}, {row.a}"
        rows.add_row(model, row.statement, Text(row.stated), Text(row.found), Text(row.witness))
    return Group(facts(summary), _heading("Exceptions"), rows)
