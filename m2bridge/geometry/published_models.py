"""Attention of published models, by formula, from their sizes alone.

A head with input width d and head dimension a has Q, K and V of size a x d. Heads of one layer are
concatenated, so each writes into rows of its own and their dimensions add up. What follows (output
projection, position encoding, normalization, residual connections, bias) is not modelled: the
numbers are about the attention maps themselves.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from m2bridge.attention import Network
from m2bridge.attention.network import ATTENTION_KINDS
from m2bridge.geometry.depth.formulas import refined

__all__ = ["ModelRow", "ModelSize", "model_table", "published_models"]


@dataclass(frozen=True)
class ModelSize:
    """Sizes of a published model: layers, width d, heads per layer, head dimension, source."""

    name: str
    layers: int
    width: int
    heads: int
    head_dim: int
    source: str


@dataclass(frozen=True)
class ModelRow:
    """One row of the table.

    Attributes:
        size: the model's sizes.
        attention: ``"softmax"`` or ``"lightning"``: which attention the dimension is of.
        head_parameters, head_dimension: of one head, a network with dims (d, a) and rank a.
        layer_parameters, layer_dimension: of one layer of concatenated heads.
        parameters, dimension: of all layers' attention maps taken one by one.
    """

    size: ModelSize
    attention: str
    head_parameters: int
    head_dimension: int
    layer_parameters: int
    layer_dimension: int
    parameters: int
    dimension: int

    @property
    def gap(self) -> int:
        """Parameters minus dimension over all layers."""
        return self.parameters - self.dimension


def published_models() -> tuple[ModelSize, ...]:
    """The sizes that come with the package, each with its source."""
    text = resources.files("m2bridge.geometry").joinpath("published_models.json").read_text("utf-8")
    return tuple(ModelSize(**entry) for entry in json.loads(text))


def model_table(
    attention: str = "softmax", models: Sequence[ModelSize] | None = None
) -> tuple[ModelRow, ...]:
    """Parameters, dimension and gap of each model's attention, for two or more tokens.

    Args:
        attention: the kind of attention; published models use softmax.
        models: other sizes than those that come with the package.

    Raises:
        ValueError: for an unknown kind of attention.
    """
    if attention not in ATTENTION_KINDS:
        raise ValueError(f"attention must be one of {ATTENTION_KINDS}, got {attention!r}")
    rows = []
    for size in published_models() if models is None else models:
        head = Network((size.width, size.head_dim), (size.head_dim,), 2, attention=attention)
        value = refined(head)[0]
        assert value is not None  # one head in one layer is always covered
        rows.append(
            ModelRow(
                size=size,
                attention=attention,
                head_parameters=head.parameters,
                head_dimension=value,
                layer_parameters=size.heads * head.parameters,
                layer_dimension=size.heads * value,
                parameters=size.layers * size.heads * head.parameters,
                dimension=size.layers * size.heads * value,
            )
        )
    return tuple(rows)
