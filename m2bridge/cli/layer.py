"""Commands about one layer: analyze, ideal, singular-locus, boundary, strata, and their kin."""

from __future__ import annotations

from typing import Any

import click

import m2bridge.report as show
from m2bridge.cli.options import (
    chosen_layer,
    engine_options,
    json_option,
    layer_options,
    out_option,
    time_limit_option,
)
from m2bridge.cli.running import (
    open_session_for,
    published,
    rendered,
    reporter,
    without_macaulay2,
)
from m2bridge.cli.writing import checked_folder

__all__ = [
    "analyze",
    "boundary",
    "ideal",
    "invariants",
    "singular_locus",
    "strata",
    "verify_theorems",
]

_degree_option = click.option(
    "--max-degree", type=int, help="Last degree to search.  [default: as far as provably needed]"
)
_limit_option = click.option(
    "--time-limit", type=float, metavar="SECONDS", help="Limit for the search for equations."
)


@click.command()
@layer_options
@_degree_option
@time_limit_option
@engine_options
@json_option
@out_option
def analyze(as_json: bool, out: str | None, save_scripts: str | None, **options: Any) -> None:
    """Everything about one layer: equations, strata, singular locus, boundary.

    \b
    m2bridge analyze --d 2 --d-out 1 --a 2 --t 2
    m2bridge analyze --d 2 --d-out 2 --a 1 --json --save-scripts scripts
    """
    layer = chosen_layer(options)
    folders = checked_folder(out), checked_folder(save_scripts)
    with open_session_for(options) as session, reporter() as report:
        found = layer.analyze(session=session, progress=report, **options)
    published(found, show.document.analysis_document, show.terminal.analysis, as_json, folders)


@click.command()
@layer_options
@click.option(
    "--method", default="auto", show_default=True, help="auto, weights, elimination or multigraded."
)
@_degree_option
@_limit_option
@click.option("--no-certify", is_flag=True, help="Only the equations; no Macaulay2 is needed.")
@engine_options
@json_option
@out_option
def ideal(
    as_json: bool, out: str | None, save_scripts: str | None, no_certify: bool, **options: Any
) -> None:
    """The equations of the closure of all functions, with certificates.

    \b
    m2bridge ideal --d 2 --d-out 2 --a 2
    m2bridge ideal --d 3 --d-out 1 --a 3 --max-degree 4 --json
    """
    layer = chosen_layer(options)
    folders = checked_folder(out), checked_folder(save_scripts)
    method = options.pop("method")
    macaulay2 = not no_certify or method in ("elimination", "multigraded")
    with (
        open_session_for(options) if macaulay2 else without_macaulay2(options) as session,
        reporter() as report,
    ):
        found = layer.implicit_ideal(
            method, session=session, certify=not no_certify, progress=report, **options
        )
    published(found, show.document.ideal_document, show.terminal.ideal, as_json, folders)


def _ask(question: str, options: dict[str, Any]) -> Any:
    """singular_locus or boundary of the chosen layer, with Macaulay2 unless equations are off."""
    ask = getattr(chosen_layer(options), question)
    if options.pop("no_equations"):
        with without_macaulay2(options):
            return ask(equations=False)
    with open_session_for(options) as session, reporter() as report:
        return ask(session=session, progress=report)


_no_equations = click.option(
    "--no-equations", is_flag=True, help="Only types and dimensions; no Macaulay2 is needed."
)


@click.command("singular-locus")
@layer_options
@_no_equations
@engine_options
@json_option
@out_option
def singular_locus(
    as_json: bool, out: str | None, save_scripts: str | None, **options: Any
) -> None:
    """Where the closure of the functions is singular: components, equations, certificates.

    \b
    m2bridge singular-locus --d 2 --d-out 1 --a 2
    m2bridge singular-locus --d 64 --d-out 64 --a 8 --no-equations
    """
    folders = checked_folder(out), checked_folder(save_scripts)
    found = _ask("singular_locus", options)
    published(
        found, show.document.singular_document, show.terminal.singular_locus, as_json, folders
    )


@click.command()
@layer_options
@_no_equations
@engine_options
@json_option
@out_option
def boundary(as_json: bool, out: str | None, save_scripts: str | None, **options: Any) -> None:
    """Where the functions of real weights end, and what lies beyond.

    \b
    m2bridge boundary --d 2 --d-out 1 --a 2
    m2bridge boundary --d 3 --d-out 1 --a 1 --t 1
    """
    folders = checked_folder(out), checked_folder(save_scripts)
    found = _ask("boundary", options)
    published(found, show.document.boundary_document, show.terminal.boundary, as_json, folders)


@click.command()
@layer_options
@json_option
@out_option
def strata(as_json: bool, out: str | None, **options: Any) -> None:
    """The functions by rank type of the weights: dimension, fibre, singular, boundary.

    \b
    m2bridge strata --d 3 --d-out 2 --a 2
    m2bridge strata --d 64 --d-out 64 --a 8 --json
    """
    layer = chosen_layer(options)
    folder = checked_folder(out)
    with reporter() as report:
        found = layer.strata(progress=report)
    rendered(
        lambda: show.document.strata_document(layer, found),
        lambda: show.terminal.strata(layer, found),
        as_json=as_json,
        out=folder,
    )


@click.command()
@layer_options
@json_option
def invariants(as_json: bool, **options: Any) -> None:
    """The published families of equations (arXiv 2604.15632), counted and compared.

    \b
    m2bridge invariants --d 3 --d-out 1 --a 3
    """
    layer = chosen_layer(options)
    with reporter() as report:
        report("published equations", 0, None)
        found = layer.invariants()
    rendered(
        lambda: show.document.invariants_document(found),
        lambda: show.terminal.invariants(found),
        as_json=as_json,
    )


@click.command("verify-theorems")
@click.option("--max-d", type=int, default=3, show_default=True, help="Largest d.")
@click.option("--max-d-out", type=int, help="Largest d_out.  [default: max-d]")
@click.option("--max-a", type=int, help="Largest a.  [default: max-d]")
@json_option
def verify_theorems(as_json: bool, **options: Any) -> None:
    """Published statements beside what is computed, for every model in a range.

    \b
    m2bridge verify-theorems --max-d 3
    """
    from m2bridge.geometry.theorems import verify_theorems as verify

    given = {name: value for name, value in options.items() if value is not None}
    with reporter() as report:
        table = verify(progress=report, **given)
    rendered(lambda: table.to_dict(), lambda: show.terminal.theorems(table), as_json=as_json)
