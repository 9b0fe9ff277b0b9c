"""The weights method: ideals of equivariant maps from torus weights and highest-weight vectors."""

from __future__ import annotations

from m2bridge.geometry.weights.ideal import (
    Block,
    Degree,
    WeightIdeal,
    ideal_up_to_degree,
    next_degree,
)
from m2bridge.geometry.weights.maps import (
    EquivariantMap,
    attention_map,
    bilinear_map,
    layer_map,
    stratum_map,
)
from m2bridge.geometry.weights.partitions import (
    Partition,
    multiplicities,
    partitions,
    schur_dimension,
)

__all__ = [
    "Block",
    "Degree",
    "EquivariantMap",
    "Partition",
    "WeightIdeal",
    "attention_map",
    "bilinear_map",
    "ideal_up_to_degree",
    "layer_map",
    "multiplicities",
    "next_degree",
    "partitions",
    "schur_dimension",
    "stratum_map",
]
