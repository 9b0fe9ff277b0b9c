"""Pictures: ``m2bridge plot strata|slice|dimension``."""

from __future__ import annotations

from typing import Any

import click

from m2bridge.cli.options import chosen_layer, layer_options, numbers
from m2bridge.cli.reading import exact_numbers, read_json
from m2bridge.cli.running import reporter

__all__ = ["plot"]


@click.group()
def plot() -> None:
    """Pictures, written as .png, .svg or .pdf (needs the extra: pip install 'm2bridge[plot]').

    \b
    m2bridge plot strata --d 3 --d-out 2 --a 2 --out strata.svg
    m2bridge plot slice --out slice.png
    m2bridge plot dimension --widths 2..8 --a 1 --out dimension.svg
    """


_out = click.option("--out", required=True, metavar="FILE", help="A .png, .svg or .pdf file.")


@plot.command()
@layer_options
@_out
def strata(out: str, **options: Any) -> None:
    """The strata of a layer by dimension, singular and boundary ones marked."""
    from m2bridge.report.plots import hasse_figure, save_figure

    layer = chosen_layer(options)
    with reporter() as report:
        report("drawing", 0, None)
        target = save_figure(hasse_figure(layer.strata(), str(layer)), out)
    click.echo(f"wrote {target}")


@plot.command("slice")
@click.option("--a", type=int, default=2, show_default=True, help="The attention dimension.")
@click.option("--through", metavar="FILE", help="JSON: points (lists of 6 coefficients) in it.")
@click.option("--seed", type=int, help="A random slice; with --through: its random directions.")
@click.option("--dimension", type=int, default=3, show_default=True, help="2 or 3.")
@_out
def slice_(out: str, a: int, through: str | None, seed: int | None, dimension: int) -> None:
    """A slice of the (d, d_out, a) = (2, 1, 2) neuromanifold, and what real weights miss of it."""
    from m2bridge.geometry.slices import default_slice, random_slice, slice_through
    from m2bridge.models import LightningAttention
    from m2bridge.report.plots import save_figure, slice_figure

    layer = LightningAttention(2, 1, a)
    points = None if through is None else exact_numbers(read_json(through))
    with reporter() as report:
        report("drawing", 0, None)
        if points is not None:
            piece = slice_through(layer, points, dimension, seed or 0)
        elif seed is not None:
            piece = random_slice(layer, dimension, seed)
        else:
            piece = default_slice(layer)
        target = save_figure(slice_figure(piece), out)
    click.echo(f"wrote {target}")


@plot.command()
@click.option("--widths", default="1..6", show_default=True, help="Widths, e.g. 2..8 or 2,4,8.")
@click.option("--depth", type=click.IntRange(min=1), default=2, show_default=True, help="Layers.")
@click.option("--a", type=int, help="Attention dimension.  [default: the width]")
@click.option("--t", type=int, default=2, show_default=True, help="Number of tokens.")
@click.option("--attention", default="lightning", show_default=True, help="lightning or softmax.")
@click.option("--heads", type=int, default=1, show_default=True, help="Heads in every layer.")
@click.option("--skip", is_flag=True, help="Skip connections.")
@_out
def dimension(out: str, widths: str, **options: Any) -> None:
    """Dimension against width: computed, by the published formula, and the parameter count."""
    from m2bridge.geometry.width import dimension_against_width
    from m2bridge.report.network_plots import width_figure
    from m2bridge.report.plots import save_figure

    with reporter() as report:
        points = dimension_against_width(numbers(widths, "--widths"), progress=report, **options)
    layers = f"{options['depth']} layers, {options['attention']} attention, t = {options['t']}"
    click.echo(f"wrote {save_figure(width_figure(points, layers), out)}")
