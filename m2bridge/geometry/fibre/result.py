"""What `fibre` answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy

from m2bridge.attention.layer import Layer
from m2bridge.display import brief, facts_html, sections_html, table_html
from m2bridge.geometry.fibre.symmetry import Symmetry
from m2bridge.geometry.recognize.result import Preimage

__all__ = ["Fibre", "FibreComponent"]


@dataclass(frozen=True)
class FibreComponent:
    """All weights over one point (V, A), for t = 1 (V, sym A), up to scaling.

    Attributes:
        preimage: the point, with weights; None for a component over the zero function.
        description: in words.
        dimensions: the dimensions in (Q, K, V) of its irreducible components over the complex
            numbers, in decreasing order.
        real_dimension: the dimension of its real points; None when there are none.
        real: whether it has real points.
        multiplicity: the length of the fibre of (V, A) -> function here, modulo scaling; None over
            the zero function.
        reduced: whether that length is 1.
        homogeneous: whether it is one orbit of the scaling and query-key symmetries.
        differential_kernel: the dimension, without scaling, of the kernel of the differential on
            the tangent space of (V, A), computed exactly; 0 proves "reduced". None when the
            matrices are irrational or large.
    """

    preimage: Preimage | None
    description: str
    dimensions: tuple[int, ...]
    real_dimension: int | None
    real: bool
    multiplicity: int | None
    reduced: bool | None
    homogeneous: bool
    differential_kernel: int | None = None

    __repr__ = brief

    @property
    def dimension(self) -> int:
        """The largest dimension in (Q, K, V)."""
        return self.dimensions[0]


@dataclass(frozen=True)
class Fibre:
    """All weights of a layer that compute one function.

    Attributes:
        layer: the layer.
        coefficients: the function.
        components: what lies over the points of the fibre of (V, A) -> function up to scaling;
            complex ones included.
        symmetries: scaling and query-key symmetry, with their Lie algebras.
        swap: whether linear forms can be exchanged: that of V with that of A (t >= 2, both ranks
            one), or any of the linear factors of the cubic (t = 1).
        given: the position in ``components`` of the weights that were asked about, else None.
        certainty: ``"proved"``.
        m2: what M2's decomposition over QQ found, when it was asked.
    """

    layer: Layer
    coefficients: tuple[sympy.Rational, ...]
    components: tuple[FibreComponent, ...]
    symmetries: tuple[Symmetry, ...]
    swap: bool
    given: int | None = None
    certainty: str = "proved"
    m2: dict[str, Any] | None = None

    __repr__ = brief

    @property
    def is_zero(self) -> bool:
        """Is this the fibre of the zero function?"""
        return not any(self.coefficients)

    @property
    def points(self) -> int | None:
        """Points (V, A) up to scaling over the complex numbers; None: infinitely many."""
        return None if self.is_zero else len(self.components)

    @property
    def real_points(self) -> int | None:
        """Those with real weights."""
        return None if self.is_zero else sum(1 for c in self.components if c.real)

    @property
    def reduced(self) -> bool | None:
        """Is the fibre of (V, A) -> function, up to scaling, reduced? None over zero."""
        if self.is_zero:
            return None
        return all(bool(c.reduced) for c in self.components)

    @property
    def length(self) -> int | None:
        """The length of that fibre; None over zero."""
        if self.is_zero:
            return None
        return sum(c.multiplicity or 0 for c in self.components)

    @property
    def dimension(self) -> int:
        """The dimension of the fibre in (Q, K, V), over the complex numbers."""
        return max(c.dimension for c in self.components)

    @property
    def real_dimension(self) -> int | None:
        """The dimension of its real points; None when the function has no real weights."""
        found = [c.real_dimension for c in self.components if c.real_dimension is not None]
        return max(found) if found else None

    def _repr_html_(self) -> str:
        many = "infinitely many (the zero function)"
        points = many if self.points is None else self.points
        real = many if self.real_points is None else self.real_points
        none = "there are no real weights"
        rows: list[tuple[str, object]] = [
            ("points (V, A) up to scaling", points),
            ("real ones", real),
            ("reduced?", "not finite" if self.is_zero else self.reduced),
            ("dimension in (Q, K, V)", self.dimension),
            ("real dimension", none if self.real_dimension is None else self.real_dimension),
            ("certainty", self.certainty),
        ]
        components = [
            (c.description, ", ".join(map(str, c.dimensions)), c.real, c.multiplicity or "-")
            for c in self.components
        ]
        symmetries = [(s.name, s.group, s.dimension, s.action) for s in self.symmetries]
        return sections_html(
            facts_html(f"Weights of {self.layer} with one function", rows),
            table_html(("component", "dimensions", "real", "multiplicity"), components),
            table_html(("symmetry", "group", "dimension", "action"), symmetries),
        )

    def as_dict(self) -> dict[str, Any]:
        """A JSON document; exact numbers as text."""
        return {
            "points": self.points,
            "real_points": self.real_points,
            "reduced": self.reduced,
            "length": self.length,
            "dimension": self.dimension,
            "real_dimension": self.real_dimension,
            "swap": self.swap,
            "given": self.given,
            "components": [_component(c) for c in self.components],
            "symmetries": [
                {
                    "name": s.name,
                    "group": s.group,
                    "real_group": s.real_group,
                    "dimension": s.dimension,
                    "action": s.action,
                }
                for s in self.symmetries
            ],
            "m2": self.m2,
            "certainty": {"fibre": self.certainty},
        }


def _text(matrix: sympy.MatrixBase) -> list[list[str]]:
    return [[str(x) for x in row] for row in matrix.tolist()]


def _component(component: FibreComponent) -> dict[str, Any]:
    preimage = component.preimage
    return {
        "V": None if preimage is None else _text(preimage.V),
        "A": None if preimage is None else _text(preimage.A),
        "field": None if preimage is None else preimage.field,
        "description": component.description,
        "dimensions": list(component.dimensions),
        "real_dimension": component.real_dimension,
        "real": component.real,
        "multiplicity": component.multiplicity,
        "reduced": component.reduced,
        "homogeneous": component.homogeneous,
    }
