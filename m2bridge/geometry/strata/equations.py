"""Equations of closures of strata, and of the model, by the weights method."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from m2bridge.errors import SizeLimitError
from m2bridge.geometry.generators import module_sources
from m2bridge.geometry.strata.forms import normal_products
from m2bridge.geometry.strata.ranks import RankStratum
from m2bridge.geometry.strata.stratum import Stratum
from m2bridge.geometry.strata.symmetric import SymmetricStratum
from m2bridge.geometry.weights import EquivariantMap, WeightIdeal, bilinear_map, stratum_map
from m2bridge.geometry.weights.ideal import next_degree
from m2bridge.geometry.weights.maps import IntegerPolynomial

__all__ = [
    "Equation",
    "EquationSearch",
    "closure_map",
    "gradient",
    "gradients",
]

Equation = IntegerPolynomial
"""A polynomial in the coordinates: sorted coordinate positions, with repetition -> coefficient."""

Terms = tuple[tuple[int, tuple[int, ...]], ...]


def closure_map(stratum: Stratum) -> EquivariantMap:
    """A parametrization of the closure of a stratum; constant for the zero function."""
    layer = stratum.layer
    if stratum.is_origin:
        degrees, dims = ((1, 2, 1), (layer.d_out, layer.d, layer.d))
        if layer.t == 1:
            return EquivariantMap((1, 3), dims[:2], 1, ((),) * layer.ambient_dimension, "zero")
        return EquivariantMap(degrees, dims, 1, ((),) * layer.ambient_dimension, "zero")
    if isinstance(stratum, RankStratum):
        return stratum_map(layer.d, layer.d_out, *stratum.type, layer.t)
    assert isinstance(stratum, SymmetricStratum)
    return _symmetric_map(stratum)


def _symmetric_map(stratum: SymmetricStratum) -> EquivariantMap:
    """V = (L[:, :rank V] P)^T, and S = the normal form in the columns of L, for all L and P."""
    d, d_out, v = stratum.layer.d, stratum.layer.d_out, stratum.rank_v
    form = [f for f in stratum.real_forms if f.in_image][-1]
    products = normal_products(d, stratum.type, form)
    columns = d - stratum.kernel_radical
    start = d * columns
    V: list[list[Terms]] = [
        [tuple((1, (p * columns + k, start + k * d_out + i)) for k in range(v)) for p in range(d)]
        for i in range(d_out)
    ]
    A: list[list[Terms]] = [
        [
            tuple(
                (x * y, tuple(sorted((q * columns + k, r * columns + h))))
                for left, right in products
                for k, x in left.items()
                for h, y in right.items()
            )
            for r in range(d)
        ]
        for q in range(d)
    ]
    name = f"type {stratum.type} of (d={d}, d_out={d_out}, t=1)"
    return bilinear_map(V, A, 1, start + v * d_out, name)


def gradient(equation: Equation, point: Sequence[int]) -> dict[int, int]:
    """The gradient of an equation at an integer point, sparse."""
    total: dict[int, int] = {}
    for positions, coefficient in equation.items():
        zeros = [k for k in positions if not point[k]]
        if len(zeros) > 1:
            continue
        for place, k in enumerate(positions):
            if zeros and k != zeros[0]:
                continue
            value = coefficient
            for other, j in enumerate(positions):
                if other != place:
                    value *= point[j]
            if value:
                total[k] = total.get(k, 0) + value
    return {k: value for k, value in total.items() if value}


def gradients(equations: Sequence[Equation], point: Sequence[int]) -> Iterator[dict[int, int]]:
    """The nonzero gradients of the equations at a point."""
    for equation in equations:
        found = gradient(equation, point)
        if found:
            yield found


@dataclass
class EquationSearch:
    """Minimal generators of the ideal of an equivariant map, one degree after the other.

    Attributes:
        map: whose image is meant.
        limit: refuse a degree with more new generators than that.
        max_weight_space: refuse weight spaces with more monomials than that.
        equations: those found so far, proved to vanish.
        degree: the last degree that is done; up to it the ideal is complete.
    """

    map: EquivariantMap
    limit: int = 20_000
    max_weight_space: int = 20_000
    equations: list[Equation] = field(default_factory=list)
    degree: int = 0
    _ideal: WeightIdeal | None = None

    def advance(self, deadline: float | None = None) -> list[Equation]:
        """Go one degree further and return the new generators.

        Raises:
            SizeLimitError: too many generators or too large weight spaces.
            TimeoutError: the deadline (`time.monotonic`) passed.
        """
        current = self._ideal or WeightIdeal(self.map)
        current = next_degree(current, max_weight_space=self.max_weight_space, deadline=deadline)
        degree = current.max_degree
        count = current.new_dimension(degree)
        if count > self.limit:
            raise SizeLimitError(
                f"{self.map.name}: {count} minimal generators of degree {degree}, the limit is "
                f"{self.limit} (option limit)"
            )
        new = [f for source in module_sources(current, degree) for f in source.expand()]
        self._ideal, self.degree = current, degree
        self.equations += new
        return new

    def dimension(self, degree: int) -> int:
        """dim I_degree, for a degree that is done."""
        return self._ideal.dimension(degree) if self._ideal else 0
