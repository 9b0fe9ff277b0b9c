"""The table of published models."""

from __future__ import annotations

import pytest

from m2bridge.geometry.published_models import ModelSize, model_table, published_models


def test_sizes_are_complete_and_consistent() -> None:
    models = published_models()
    assert len({m.name for m in models}) == len(models)
    for model in models:
        assert model.heads * model.head_dim == model.width
        assert model.source


def test_gpt2_small_by_hand() -> None:
    row = next(r for r in model_table() if r.size.name == "GPT-2 small")
    # Q, K, V of all 12 layers: 3 * 768^2 entries each.
    assert row.parameters == 12 * 3 * 768 * 768
    # Softmax loses GL(64) in each of the 12 * 12 heads, and nothing else.
    assert row.gap == 144 * 64 * 64


def test_lightning_loses_one_scaling_more_in_each_head() -> None:
    for soft, light in zip(model_table("softmax"), model_table("lightning"), strict=True):
        assert light.gap - soft.gap == soft.size.layers * soft.size.heads


def test_own_sizes_and_refusal() -> None:
    (row,) = model_table("lightning", [ModelSize("toy", 2, 4, 2, 2, "none")])
    assert (row.head_dimension, row.layer_dimension, row.dimension) == (19, 38, 76)
    with pytest.raises(ValueError, match="attention must be"):
        model_table("linear")
