"""Options that several commands share, and the model that they describe."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from m2bridge.geometry.defaults import DEFAULT_SECONDS

if TYPE_CHECKING:
    from m2bridge.models import AttentionNetwork, LightningAttention

__all__ = [
    "chosen_layer",
    "chosen_network",
    "engine_options",
    "json_option",
    "layer_options",
    "network_options",
    "numbers",
    "out_option",
    "parsed_layers",
    "time_limit_option",
]

F = TypeVar("F", bound=Callable[..., Any])


def _together(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    """Several click options as one decorator, shown in --help in this order."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


_sizes = _together(
    click.option("--d", type=int, help="Rows of X: the width of the tokens."),
    click.option("--d-out", type=int, help="Rows of V: the output width."),
    click.option("--a", type=int, help="Rows of Q and K: the attention dimension."),
    click.option("--t", type=int, default=2, show_default=True, help="Number of tokens."),
)


def _not_for_one_layer(context: click.Context, _: click.Parameter, value: str | None) -> None:
    if value is not None:
        raise click.UsageError(
            f"{context.info_name!r} is about one layer, given by --d, --d-out, --a and --t; for"
            " deep networks there are dimension, fibre, unroll and sweep",
            context,
        )


layer_options = _together(
    _sizes,
    # only to say where it belongs
    click.option("--layers", hidden=True, expose_value=False, callback=_not_for_one_layer),
)

network_options = _together(
    _sizes,
    click.option(
        "--layers",
        metavar="D0,D1,...;A1,A2,...",
        help="A deep network: widths; attention dimensions.",
    ),
    click.option(
        "--attention", default="lightning", show_default=True, help="lightning or softmax."
    ),
    click.option("--heads", type=int, default=1, show_default=True, help="Heads in every layer."),
    click.option("--skip", is_flag=True, help="Skip connections: add each layer's input."),
)

engine_options = _together(
    click.option(
        "--engine", metavar="local|docker", help="Where Macaulay2 runs.  [default: local]"
    ),
    click.option("--m2", metavar="PATH", help="This Macaulay2 instead of the one that is found."),
    click.option("--timeout", type=float, metavar="SECONDS", help="Limit for each Macaulay2 job."),
    click.option("--memory", metavar="SIZE", help="Memory limit for Macaulay2, e.g. 4G."),
    click.option("--no-cache", is_flag=True, help="Run every program, also known ones."),
    click.option("--save-scripts", metavar="DIR", help="Write the Macaulay2 programs that ran."),
)

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")

out_option = click.option(
    "--out",
    metavar="DIR",
    help="Also write report.json, report.txt and the Macaulay2 programs, if any, there.",
)

time_limit_option = click.option(
    "--time-limit",
    type=float,
    default=DEFAULT_SECONDS,
    show_default=True,
    metavar="SECONDS",
    help="Limit for the search for equations; finished degrees are kept.",
)


def chosen_layer(options: dict[str, Any]) -> LightningAttention:
    """The layer that --d, --d-out, --a and --t describe.

    Raises:
        click.UsageError: a size is missing, or the options describe another kind of model.
        ValueError: a size is not positive.
    """
    from m2bridge.models import LightningAttention

    sizes = {name: options.pop(name) for name in ("d", "d_out", "a", "t")}
    missing = [f"--{name.replace('_', '-')}" for name, value in sizes.items() if value is None]
    if missing:
        raise click.UsageError(
            f"missing {', '.join(missing)}; a layer is given by --d, --d-out, --a and --t"
        )
    return LightningAttention(**sizes)


def chosen_network(options: dict[str, Any]) -> AttentionNetwork:
    """The network that --layers, or --d, --d-out and --a, describe; a plain layer where it is one.

    Raises:
        click.UsageError: both ways are mixed, or neither is complete.
        ValueError, TypeError: from the model, for impossible sizes.
    """
    from m2bridge.models import AttentionNetwork, LightningAttention

    layers = options.pop("layers")
    attention, heads, skip = (options.pop(name) for name in ("attention", "heads", "skip"))
    plain = attention == "lightning" and heads == 1 and not skip
    if layers is None:
        if plain:
            return chosen_layer(options)
        layer = chosen_layer(options)
        dims, ranks, t = layer.dims, layer.ranks, layer.t
    else:
        t = options.pop("t")
        given = [
            f"--{name.replace('_', '-')}"
            for name in ("d", "d_out", "a")
            if options[name] is not None
        ]
        for name in ("d", "d_out", "a"):
            options.pop(name)
        if given:
            raise click.UsageError(f"--layers goes without {', '.join(given)}")
        dims, ranks = parsed_layers(layers)
        if plain and len(ranks) == 1 and len(dims) == 2:
            return LightningAttention(dims[0], dims[1], ranks[0], t)
    return AttentionNetwork(dims, ranks, t, attention=attention, heads=heads, skip=skip)


def parsed_layers(text: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """``"4,4,4;2,2"`` as widths (4, 4, 4) and attention dimensions (2, 2).

    Raises:
        click.BadParameter: the text is not of this form.
    """
    parts = text.split(";")
    try:
        dims, ranks = (tuple(int(number) for number in part.split(",")) for part in parts)
    except ValueError:
        form = f"{text!r} is not of the form 'd0,d1,...;a1,a2,...', e.g. \"4,4,4;2,2\""
        # Without quotes the shell ends the command at ";", and we see the widths alone.
        hint = "" if ";" in text else "; the quotes are needed, since ';' ends a shell's command"
        raise click.BadParameter(form + hint, param_hint="--layers") from None
    return dims, ranks


def numbers(text: str, option: str) -> tuple[int, ...]:
    """``"2,3,5..8"`` as 2, 3, 5, 6, 7, 8.

    Raises:
        click.BadParameter: the text is not of this form.
    """
    found: list[int] = []
    try:
        for part in text.split(","):
            first, dots, last = part.partition("..")
            found += range(int(first), int(last) + 1) if dots else [int(first)]
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is not a list of numbers such as 2,3 or 2..5", param_hint=option
        ) from None
    return tuple(found)
