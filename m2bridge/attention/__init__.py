"""The models: shapes, weights, evaluation and coefficient coordinates of attention networks."""

from m2bridge.attention.coordinates import Coordinate, FullCoordinate, SparseIntegerMatrix
from m2bridge.attention.expansion import Parametrization
from m2bridge.attention.layer import Layer
from m2bridge.attention.network import Network
from m2bridge.attention.weights import NetworkWeights, Weights

__all__ = [
    "Coordinate",
    "FullCoordinate",
    "Layer",
    "Network",
    "NetworkWeights",
    "Parametrization",
    "SparseIntegerMatrix",
    "Weights",
]
