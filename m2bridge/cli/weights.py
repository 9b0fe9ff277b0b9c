"""Commands about given weights or a given function: fibre, identify, recognize."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

import m2bridge.report as show
from m2bridge.cli.options import (
    chosen_layer,
    chosen_network,
    engine_options,
    json_option,
    layer_options,
    network_options,
)
from m2bridge.cli.reading import exact_numbers, read_json, read_weights
from m2bridge.cli.running import open_session_for, rendered, reporter
from m2bridge.cli.writing import checked_folder

if TYPE_CHECKING:
    from m2bridge.models import AttentionNetwork, LightningAttention

__all__ = ["fibre", "identify", "recognize"]


def _layer_of(weights: Mapping[str, Any], options: dict[str, Any]) -> LightningAttention:
    """The layer of the weights' shapes; sizes that were given too must agree (checked later)."""
    import numpy as np

    shapes = {}
    for name in ("Q", "V"):
        try:
            shape = np.shape(weights[name])[-2:]
        except ValueError:
            raise ValueError(f"{name} is not a matrix: its rows are of different lengths") from None
        if len(shape) != 2:
            raise ValueError(f"{name} must be a matrix (or N matrices), not of shape {shape}")
        shapes[name] = shape
    if options.get("d") is None and shapes["Q"][1] != shapes["V"][1]:
        q, v = (" x ".join(str(n) for n in shapes[name]) for name in ("Q", "V"))
        raise ValueError(
            f"Q is {q} and V is {v}, but Q, K (a x d) and V (d_out x d) have one column for each "
            "input, as in torch.nn.Linear; transpose weights that are stored the other way"
        )
    sizes = {"d": shapes["Q"][1], "a": shapes["Q"][0], "d_out": shapes["V"][0]}
    for name, size in sizes.items():
        if options.get(name) is None:
            options[name] = int(size)
    return chosen_layer(options)


@click.command()
@click.argument("file")
@layer_options
@click.option("--tolerance", type=float, help="Relative tolerance for floating-point weights.")
@json_option
def identify(file: str, as_json: bool, tolerance: float | None, **options: Any) -> None:
    """Where do these weights sit: ranks, stratum, singular, boundary.

    FILE is an .npz file with arrays Q, K (a x d) and V (d_out x d), as torch.nn.Linear stores its
    weight, or a JSON object with these; fractions are texts such as "1/2". The sizes are read off
    the arrays. With a leading axis the file holds many weights, as logged in training.

    \b
    m2bridge identify weights.npz --t 8
    """
    import numpy as np

    weights = read_weights(file)
    layer = _layer_of(weights, options)
    many = np.ndim(weights["Q"]) == 3
    if many:
        with reporter() as report:
            report("ranks", 0, None)
            batch = layer.identify_batch(**weights, tolerance=tolerance)
        body = show.weights_text.batch_body(batch)
        rendered(
            lambda: show.document.with_model(layer, body),
            lambda: show.weights_text.batch(batch),
            as_json=as_json,
        )
        return
    with reporter() as report:
        report("ranks", 0, None)
        found = layer.identify(**weights, tolerance=tolerance)
    rendered(
        lambda: show.document.with_model(layer, found.as_dict()),
        lambda: show.weights_text.identification(found),
        as_json=as_json,
    )


@click.command()
@click.argument("file")
@layer_options
@json_option
def recognize(file: str, as_json: bool, **options: Any) -> None:
    """Is this a function of the layer, and by which weights.

    FILE ("-": standard input) is a JSON list of coefficients in the order of the layer's
    coordinates, or an object from their names to values; fractions are texts such as "1/2".

    \b
    echo '[1, 0, 0, 1, 1, 2]' | m2bridge recognize - --d 2 --d-out 1 --a 2
    """
    layer = chosen_layer(options)
    given = _coefficients(file)
    with reporter() as report:
        report("recognizing the function", 0, None)
        found = layer.recognize(given)
    rendered(
        lambda: show.document.with_model(layer, found.as_dict()),
        lambda: show.weights_text.recognition(found),
        as_json=as_json,
    )


def _coefficients(file: str) -> Any:
    given = read_json(file)
    if isinstance(given, dict):
        return {name: exact_numbers(value) for name, value in given.items()}
    if isinstance(given, list):
        return exact_numbers(given)
    raise ValueError(f"{file} must hold a JSON list of coefficients, or an object by their names")


@click.command()
@network_options
@click.option(
    "--weights", metavar="FILE", help="The weights whose function is meant (as identify)."
)
@click.option("--function", metavar="FILE", help="The function itself (as recognize).")
@click.option(
    "--prove",
    is_flag=True,
    help="Let Macaulay2 find the fibre at random rational weights (small networks).",
)
@click.option("--seed", type=int, default=0, show_default=True, help="For the random weights.")
@engine_options
@json_option
def fibre(
    as_json: bool, weights: str | None, function: str | None, prove: bool, **options: Any
) -> None:
    """All weights with the same function: symmetries, dimension, points.

    Without --weights or --function: over a general function, at any depth. With --prove Macaulay2
    then finds, over QQ, all reduced data with the function of random integer weights, and the
    command fails if their number is not the one stated. The engine options are for --prove.

    \b
    m2bridge fibre --layers "4,4,4;2,2" --t 3
    m2bridge fibre --layers "2,2,1;2,1" --prove
    m2bridge fibre --weights weights.json
    """
    if weights is not None and function is not None:
        raise click.UsageError("give --weights or --function, not both")
    if weights is None and function is None:
        _generic_fibre(chosen_network(options), as_json, prove, options)
        return
    if prove:
        raise click.UsageError("--prove goes without --weights and --function")
    with reporter() as report:
        report("fibre", 0, None)
        if weights is not None:
            given = read_weights(weights)
            layer = _layer_of(given, options)
            found = layer.fibre(**given)
        else:
            layer = chosen_layer(options)
            found = layer.fibre(_coefficients(str(function)))
    rendered(
        lambda: show.document.with_model(layer, found.as_dict()),
        lambda: show.weights_text.fibre(found),
        as_json=as_json,
    )


def _generic_fibre(
    network: AttentionNetwork, as_json: bool, prove: bool, options: dict[str, Any]
) -> None:
    """The fibre over a general function, printed; with Macaulay2 if that was asked for."""
    from m2bridge.provenance import watched

    seed, scripts = options["seed"], checked_folder(options.pop("save_scripts"))
    if prove:
        with open_session_for(options) as session, reporter() as report, watched(session) as watch:
            generic = network.generic_fibre(session=session, seed=seed, progress=report)
            provenance = watch.provenance(seed=seed)
    else:
        with reporter() as report:
            generic = network.generic_fibre(seed=seed, progress=report)
        provenance = None
    rendered(
        lambda: show.document.generic_fibre_document(generic, provenance),
        lambda: show.weights_text.generic_fibre(generic),
        as_json=as_json,
        scripts=scripts,
        provenance=provenance,
    )
