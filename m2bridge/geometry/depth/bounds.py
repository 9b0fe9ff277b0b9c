"""Proved upper bounds for the dimension, each with its source."""

from __future__ import annotations

from dataclasses import dataclass

from m2bridge.attention import Network
from m2bridge.errors import VerificationError
from m2bridge.geometry.depth.formulas import refined
from m2bridge.geometry.depth.multihead import coefficient_space
from m2bridge.geometry.depth.rank import RowSource
from m2bridge.geometry.depth.rings import Modular
from m2bridge.geometry.depth.symmetries import (
    SymmetryCount,
    UnluckyPointError,
    count_fields,
    symmetry_fields,
)

__all__ = ["UpperBound", "upper_bound"]

_ATTEMPTS = 3


@dataclass(frozen=True)
class UpperBound:
    """The smallest upper bound, everything that attains it, and the symmetries behind it."""

    value: int
    source: str
    symmetries: SymmetryCount | None


def upper_bound(network: Network, source: RowSource, *, symmetries: bool) -> UpperBound:
    """Collect the upper bounds that hold for this network and take the smallest.

    Args:
        network: the network.
        source: gives the random weights at which symmetries are counted.
        symmetries: count infinitesimal symmetries (cubic cost in the number of parameters).

    Raises:
        VerificationError: when a symmetry changes the function, which would be a mistake here.
    """
    candidates = [(network.parameters, "the number of parameters")]
    value, _, where = refined(network)
    if value is not None:
        candidates.append((value, where))
    if network.attention == "lightning":
        space = coefficient_space(network.dims, network.t, network.skip)
        candidates.append((space, "the number of coefficients"))
    found = _symmetries(network, source) if symmetries else None
    if found is not None:
        text = f"parameters minus {found.total} infinitesimal symmetries (exact rank)"
        candidates.append((found.upper, text))
    best = min(bound for bound, _ in candidates)
    names = [text for bound, text in candidates if bound == best]
    return UpperBound(best, "; ".join(names), found)


def _symmetries(network: Network, source: RowSource) -> SymmetryCount | None:
    for attempt in range(_ATTEMPTS):
        point = RowSource(network, source.prime, source.seed + attempt, source.jets)
        try:
            fields = symmetry_fields(network, point)
        except UnluckyPointError:
            continue
        ring, rows = Modular(point.prime), point.rows(0)[:4]
        for kind, vectors in fields.items():
            if len(vectors) and ring.matmul(rows, vectors.T).any():
                raise VerificationError(
                    f"a {kind} symmetry changes the function to first order: the derivative or "
                    "the symmetry is wrong"
                )
        return count_fields(network, fields, point.prime)
    return None
