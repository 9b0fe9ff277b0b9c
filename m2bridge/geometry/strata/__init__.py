"""Strata of one layer: rank types, dimensions, closures, fibres, and what certifies them.

A stratum is one orbit of functions under the symmetries of the coordinates: for t >= 2 the rank
types (rank V, rank A, rank [V^T | A]), for t = 1 types of (V, S) with S the quadratic form of A.
"""

from __future__ import annotations

from m2bridge.geometry.strata.by_type import closure_of_type, stratum_of_type
from m2bridge.geometry.strata.closures import Component, EquationOptions
from m2bridge.geometry.strata.listing import hasse_diagram, maximal, strata
from m2bridge.geometry.strata.preimages import preimages
from m2bridge.geometry.strata.ranks import RankStratum
from m2bridge.geometry.strata.stratum import Claim, Evidence, Representative, Stratum
from m2bridge.geometry.strata.symmetric import SymmetricStratum

__all__ = [
    "Claim",
    "Component",
    "EquationOptions",
    "Evidence",
    "RankStratum",
    "Representative",
    "Stratum",
    "SymmetricStratum",
    "closure_of_type",
    "hasse_diagram",
    "maximal",
    "preimages",
    "strata",
    "stratum_of_type",
]
