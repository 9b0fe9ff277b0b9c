"""Commands about networks of any depth: dimension, unroll, models, sweep."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

import m2bridge.report as show
from m2bridge.cli.options import (
    chosen_network,
    json_option,
    network_options,
    numbers,
    parsed_layers,
)
from m2bridge.cli.running import printed, rendered, reporter

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from m2bridge.geometry.sweep import Case

__all__ = ["dimension", "models", "sweep", "unroll"]


@click.command()
@network_options
@click.option(
    "--method", default="auto", show_default=True, help="auto, formula, rank, jets or numerical."
)
@click.option("--seed", type=int, default=0, show_default=True, help="For the random weights.")
@click.option("--prime", type=int, help="Compute ranks modulo this prime.")
@json_option
def dimension(as_json: bool, **options: Any) -> None:
    """The dimension of a network's functions: formulas, exact bounds, proof where they meet.

    The value is proved if the lower bound, an exact rank modulo a prime, meets the upper bound,
    from symmetries or the theory; formula rests on the theory alone. Methods: auto (rank for up
    to 4,000 parameters, beyond that formula); rank; jets (softmax: rank of Taylor coefficients at
    0, not of formal exponentials); formula; numerical (a floating-point rank with its gap; it
    proves nothing).

    \b
    m2bridge dimension --layers "4,4,4,4;2,2,2" --t 3
    m2bridge dimension --layers "3,4,2;2,3" --t 2 --attention softmax
    m2bridge dimension --d 3 --d-out 3 --a 3 --heads 2
    """
    network = chosen_network(options)
    given = {name: options[name] for name in ("method", "seed", "prime")}
    with reporter() as report:
        found = network.dimension(progress=report, **given)
    rendered(
        lambda: show.document.dimension_document(found),
        lambda: show.terminal.dimension(found),
        as_json=as_json,
    )


@click.command()
@network_options
@click.option("--latex", is_flag=True, help="Print LaTeX.")
@click.option("--out", metavar="FILE", help="Draw it: a .png, .svg or .pdf file.")
@json_option
def unroll(as_json: bool, latex: bool, out: str | None, **options: Any) -> None:
    """A deep network as its reduced data: what its function depends on, as formulas.

    \b
    m2bridge unroll --layers "4,4,4;2,2" --t 3
    m2bridge unroll --layers "4,4,4;2,2" --t 3 --out unrolled.svg
    """
    from m2bridge.geometry.unroll import unroll as unrolled

    found = unrolled(chosen_network(options))
    if out is not None:
        from m2bridge.report.network_plots import unrolled_figure
        from m2bridge.report.plots import save_figure

        click.echo(f"wrote {save_figure(unrolled_figure(found), out)}", err=True)
    if as_json:
        body = {
            "formulas": [vars(formula) for formula in found.formulas],
            "nodes": [{**vars(node), "shape": list(node.shape)} for node in found.nodes],
            "edges": [vars(edge) for edge in found.edges],
            "latex": found.latex,
        }
        click.echo(show.document.json_text(show.document.with_model(found.network, body)))
    else:
        click.echo(found.latex if latex else str(found))


@click.command()
@click.option(
    "--attention",
    default="softmax",
    show_default=True,
    help="lightning or softmax: which attention the dimension is of.",
)
@json_option
def models(attention: str, as_json: bool) -> None:
    """The attention of published models, by formula, from their sizes alone.

    For each model: the weights Q, K, V of all heads in all layers, how many dimensions of functions
    these heads have, taken one by one, and the difference, the directions that do nothing. For two
    or more tokens. Projections after the heads, residual connections, normalization and biases are
    not modelled.

    \b
    m2bridge models
    m2bridge models --attention lightning --json
    """
    from m2bridge.geometry.published_models import model_table

    rows = model_table(attention)
    rendered(
        lambda: show.document.models_document(attention, rows),
        lambda: show.terminal.models(rows),
        as_json=as_json,
    )


def _grid(layers: tuple[str, ...], a: str | None, t: str, **kinds: Any) -> tuple[Case, ...]:
    """The models of a sweep.

    Raises:
        click.BadParameter: a list of numbers is not one.
    """
    from m2bridge.geometry.sweep import grid

    cases: list[Case] = []
    tokens = numbers(t, "--t")
    for text in layers:
        if ";" in text:
            dims, ranks = parsed_layers(text)
            cases += grid([dims], [ranks], tokens, **kinds)
        elif a is None:
            raise click.UsageError(
                f"--layers {text!r} has no attention dimensions: add ';a1,...' or --a"
            )
        else:
            cases += grid([numbers(text, "--layers")], numbers(a, "--a"), tokens, **kinds)
    return tuple(cases)


@click.command()
@click.option(
    "--layers",
    multiple=True,
    required=True,
    metavar="D0,D1,...[;A1,...]",
    help="An architecture; repeat it.",
)
@click.option("--a", metavar="LIST", help="Attention dimensions to try in every layer, e.g. 1..4.")
@click.option(
    "--t", default="2", show_default=True, metavar="LIST", help="Numbers of tokens to try."
)
@click.option(
    "--attention", multiple=True, default=("lightning",), help="Repeat it for both kinds."
)
@click.option("--heads", default="1", show_default=True, metavar="LIST", help="Heads to try.")
@click.option("--skip", is_flag=True, help="With skip connections.")
@click.option("--question", default="dimension", show_default=True, help="dimension or fibre.")
@click.option("--out", metavar="FILE", help="The table: .csv, .json or .parquet.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes.")
@click.option("--dask", metavar="ADDRESS", help="A Dask scheduler instead of processes here.")
@click.option("--fresh", is_flag=True, help="Begin anew instead of continuing from FILE.journal.")
@json_option
def sweep(as_json: bool, **options: Any) -> None:
    """One question for a grid of models; interrupted, the same command continues.

    A model that fails is a row that says so. Finished rows are in FILE.journal, beside the table of
    --out, which is written at the end.

    \b
    m2bridge sweep --layers 4,4,4 --layers 6,3,2 --a 1..4 --t 1,2,3 --out table.csv
    """
    from m2bridge.geometry.sweep import sweep as run_sweep

    cases = _grid(
        options["layers"],
        options["a"],
        options["t"],
        attention=options["attention"],
        heads=numbers(options["heads"], "--heads"),
        skip=(options["skip"],),
    )
    with executor_for(options["jobs"], options["dask"]) as executor, reporter() as report:
        found = run_sweep(
            cases,
            options["question"],
            out=options["out"],
            resume=not options["fresh"],
            executor=executor,
            progress=report,
        )
    text = f"{found.computed} computed, {found.resumed} from before, {found.failed} failed"
    text += "" if options["out"] is None else f"; wrote {options['out']}"
    click.echo(f"m2bridge: {text}", err=True)
    if as_json:
        click.echo(show.document.json_text({"rows": list(found.rows), "failed": found.failed}))
    elif options["out"] is None:
        printed(show.terminal.rows_table(found.rows))


@contextlib.contextmanager
def executor_for(jobs: int, dask: str | None) -> Iterator[Executor | None]:
    """Processes here, a Dask cluster's executor, or None for one after another.

    Raises:
        ValueError: Dask was asked for and is not installed, or does not answer.
    """
    if dask is not None:
        try:
            from distributed import Client
        except ImportError:
            raise ValueError("--dask needs Dask: pip install 'm2bridge[cluster]'") from None
        try:
            client = Client(dask, timeout="10s")
        except OSError as error:
            raise ValueError(f"no Dask scheduler answers at {dask}: {error}") from error
        with client:
            yield client.get_executor()
        return
    if jobs == 1:
        yield None
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool
