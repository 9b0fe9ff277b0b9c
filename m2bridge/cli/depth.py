"""Commands about networks of any depth: dimension, unroll, sweep."""

from __future__ import annotations

from typing import Any

import click

from m2bridge.cli.options import chosen_network, json_option, network_options
from m2bridge.cli.running import failures_told, rendered, reporter
from m2bridge.report import document, terminal

__all__ = ["dimension"]


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

    \b
    m2bridge dimension --layers "4,4,4,4;2,2,2" --t 3
    m2bridge dimension --layers "3,4,2;2,3" --t 2 --attention softmax
    m2bridge dimension --d 3 --d-out 3 --a 3 --heads 2
    """
    with failures_told():
        network = chosen_network(options)
        given = {name: options[name] for name in ("method", "seed", "prime")}
        with reporter() as report:
            found = network.dimension(progress=report, **given)
        rendered(
            document.dimension_document(found), lambda: terminal.dimension(found), as_json=as_json
        )
