"""Strata of one layer with t >= 2 tokens: the rank types (rank V, rank A, rank [V^T | A]).

(V, A) is a representation of a quiver of type A_3, so over any field the orbits of
GL(U) x GL(W) x GL(Z) are classified by these three ranks, and closures by their inequalities
(docs: theory page, theorem 1). Two orbits have the same functions only if they are equal
(theorem 2). The formulas below are those of theorems 1 to 6 for general d, d_out, a, with
their exceptions: d = 1, d_out = a = 1, 2 <= a < d.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

from m2bridge.attention import Layer
from m2bridge.display import brief
from m2bridge.geometry.strata.claims import claims
from m2bridge.geometry.strata.degree import closure_degree
from m2bridge.geometry.strata.stratum import Claim, Matrix, Representative, Stratum

__all__ = ["RankStratum", "rank_strata", "rank_types", "unit_rows"]

Type = tuple[int, int, int]

_STEPS = sorted(((x, y, z) for x, y, z in product((0, 1), repeat=3) if x + y + z), key=sum)


def rank_types(d: int, d_out: int, a: int) -> Iterator[Type]:
    """All types that occur for nonzero functions: (rank V, rank A, rank [V^T | A])."""
    for v in range(1, min(d, d_out) + 1):
        for r in range(1, min(d, a) + 1):
            for joint in range(max(v, r), min(d, v + r) + 1):
                yield v, r, joint


def orbit_dimension(d: int, d_out: int, kind: Type) -> int:
    """Theorem 1: the dimension of an orbit, in the affine cone."""
    v, r, joint = kind
    if v == 0:
        return 0
    meet = v + r - joint
    return v * (d - v) + v * d_out + meet * (v - meet) + (r - meet) * (d - r) + r * d - 1


def source_tangent(d: int, a: int, r: int) -> int:
    """The tangent dimension of {rank A <= a} at a matrix of rank r."""
    return d * d if a >= d or r < a else 2 * a * d - a * a


def tangent_dimension(d: int, d_out: int, a: int, kind: Type) -> int:
    """Theorem 5: the dimension of the tangent space of the closure of all functions."""
    v, r, joint = kind
    if d == 1:
        return d_out
    if v == 0:
        return d_out * d * d * (d + 1) // 2
    smooth_source = d * d_out + source_tangent(d, a, r) - 1
    if (v, r) != (1, 1):
        return smooth_source
    if joint == 2:
        return 2 * smooth_source - (d_out + 3 * d - 3)
    quadrics = d * (d + 1) // 2
    return d_out * quadrics + (d - 1) * (quadrics if a >= 2 else 1)


def is_singular(d: int, d_out: int, a: int, kind: Type) -> bool:
    """Theorem 4, with its exceptions."""
    v, r, joint = kind
    if d == 1:
        return False
    if v == 0:
        return True
    if d_out == 1 and a == 1:
        return d >= 3 and joint == 1
    return (a < d and r < a) or (v, r) == (1, 1)


def unit_rows(rows: int, columns: int, entries: Mapping[tuple[int, int], int]) -> Matrix:
    """A small integer matrix from its nonzero entries."""
    return tuple(tuple(entries.get((i, j), 0) for j in range(columns)) for i in range(rows))


@dataclass(frozen=True, slots=True)
class RankStratum(Stratum):
    """The functions of one rank type, t >= 2; (0, 0, 0) is the zero function.

    Attributes:
        rank_v, rank_a, rank_va: the ranks of V, of A = K^T Q, and of [V^T | A].
    """

    rank_v: int
    rank_a: int
    rank_va: int

    __repr__ = brief

    @property
    def type(self) -> Type:
        """(rank V, rank A, rank [V^T | A])."""
        return self.rank_v, self.rank_a, self.rank_va

    @property
    def is_origin(self) -> bool:
        """Is this the zero function?"""
        return self.rank_v == 0

    @property
    def dimension(self) -> int:
        """Dimension in the affine cone of functions (theory page, theorem 1)."""
        return orbit_dimension(self.layer.d, self.layer.d_out, self.type)

    @property
    def tangent_dimension(self) -> int:
        """Dimension of the tangent space of the closure of all functions here (theorem 5)."""
        return tangent_dimension(self.layer.d, self.layer.d_out, self.layer.a, self.type)

    @property
    def singular(self) -> bool:
        """Is the closure of all functions singular here (theorem 4)?"""
        return is_singular(self.layer.d, self.layer.d_out, self.layer.a, self.type)

    @property
    def boundary(self) -> bool:
        """Do the real points here lie on the boundary of the real image (theorem 6)?"""
        return self.layer.d >= 2 and self.rank_va <= 1

    @property
    def boundary_reason(self) -> str:
        """Why `boundary` is what it is."""
        if self.layer.d == 1:
            return "for d = 1 every real point of the closure has real weights"
        if self.boundary:
            return (
                "a limit of functions u*Q*q with Q definite of rank 2, which have no real weights"
            )
        return "no limit of functions u*Q*q with Q definite, the only ones without real weights"

    @property
    def _swap(self) -> bool:
        return self.type == (1, 1, 2)

    @property
    def fibre_points(self) -> int | None:
        """Number of complex (V, A) up to scaling with the same function (theorem 2)."""
        if self.is_origin:
            return None
        return 2 if self._swap else 1

    @property
    def fibre_reduced(self) -> bool | None:
        """Is the fibre reduced (theorem 2)? It is not exactly at (1, 1, 1) with d >= 2."""
        if self.is_origin:
            return None
        return self.type != (1, 1, 1) or self.layer.d == 1

    @property
    def fibre_length(self) -> int | None:
        """The length of the fibre as a scheme: d at (1, 1, 1), else the number of points."""
        return self.layer.d if self.type == (1, 1, 1) else self.fibre_points

    @property
    def real_fibre_points(self) -> tuple[int, ...]:
        """The numbers of real (V, A) up to scaling over a function with real weights."""
        return () if self.fibre_points is None else (self.fibre_points,)

    @property
    def fibre(self) -> str:
        """The fibre in words."""
        if self.is_origin:
            return "not finite: V = 0 with any A, or A = 0 with any V"
        if self._swap:
            return (
                "two reduced points: the linear form of V and that of A can be exchanged; over the "
                "reals both are real, or they are conjugate and the function has no real weights"
            )
        if not self.fibre_reduced:
            variables = "m" if self.layer.d == 2 else f"m_1..m_{self.layer.d - 1}"
            return f"one point, real, not reduced: k[{variables}]/(m)^2"
        return "one reduced point, real for a real function"

    @property
    def representative(self) -> Representative:
        """V = the first unit rows; A = unit columns, shifted so that the joint rank is right."""
        d, shift = self.layer.d, self.rank_va - self.rank_a
        V = unit_rows(self.layer.d_out, d, {(k, k): 1 for k in range(self.rank_v)})
        A = unit_rows(d, d, {(shift + k, k): 1 for k in range(self.rank_a)})
        return Representative(V, A)

    @property
    def covers(self) -> tuple[Type, ...]:
        """The types directly below this one."""
        if self.is_origin:
            return ()
        if self.type == (1, 1, 1):
            return ((0, 0, 0),)
        v, r, joint = self.type
        steps = _steps_down(
            min(v, 2), min(r, 2), min(joint - v, 1), min(joint - r, 1), min(v + r - joint, 2)
        )
        return tuple(sorted((v - x, r - y, joint - z) for x, y, z in steps))

    def closure_contains(self, other: Stratum) -> bool:
        """Does the closure of this stratum contain the other one? (theorem 1: rank inequalities)

        Raises:
            TypeError: for a stratum with t = 1.
            ValueError: for a stratum of another model.
        """
        if not isinstance(other, RankStratum):
            raise TypeError("both strata must belong to layers with t >= 2")
        if (other.layer.d, other.layer.d_out) != (self.layer.d, self.layer.d_out):
            raise ValueError("both strata must have the same d and d_out")
        return _below(other.type, self.type)

    def closure_degree(self) -> int | None:
        """Degree of the closure as a projective variety; None beyond d = 10."""
        if self.is_origin:
            return 1
        return closure_degree(self.layer.d, self.layer.d_out, self.type)

    @property
    def claims(self) -> dict[str, Claim]:
        """What each statement rests on."""
        return claims(self, _THEOREMS)

    def to_dict(self) -> dict[str, Any]:
        """The entry of the JSON contract."""
        return {
            "rank_v": self.rank_v,
            "rank_a": self.rank_a,
            "rank_va": self.rank_va,
            **self._common_dict(),
            "fibre_length": self.fibre_length,
            "covers": [list(kind) for kind in self.covers],
        }


_THEOREMS = {
    "dimension": "theorem 1: dimensions of the orbits of a quiver of type A_3",
    "tangent_dimension": "theorem 5: local structure of the closure",
    "singular": "theorem 4: the map from the weights is the normalisation",
    "boundary": "theorem 6: real points and complex conjugation of the fibre",
    "fibre": "theorem 2: unique factorisation",
}


@cache
def _steps_down(v: int, r: int, over_v: int, over_r: int, under_sum: int) -> tuple[Type, ...]:
    """The smallest steps from a type to one that occurs.

    Args:
        v, r: the ranks, or 2 if larger: after a step both must be at least 1.
        over_v, over_r: joint rank minus rank, or 1 if larger: at least 0 after a step.
        under_sum: the sum of the ranks minus the joint rank, or 2 if larger: likewise.
    """
    kept: list[Type] = []
    for x, y, z in _STEPS:
        occurs = min(v - x, r - y) >= 1 and min(over_v + x, over_r + y) >= z
        occurs = occurs and under_sum - x - y + z >= 0
        # A step that is larger than one that occurs leads below another type.
        if occurs and not any(_below(other, (x, y, z)) for other in kept):
            kept.append((x, y, z))
    return tuple(kept)


def _below(small: Type, large: Type) -> bool:
    return all(x <= y for x, y in zip(small, large, strict=True))


def rank_strata(layer: Layer) -> list[RankStratum]:
    """All strata of a layer with t >= 2, the origin included, unsorted."""
    types = rank_types(layer.d, layer.d_out, layer.a)
    strata = [RankStratum(*kind, layer=layer) for kind in types]
    return [RankStratum(0, 0, 0, layer=layer), *strata]
