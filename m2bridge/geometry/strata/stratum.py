"""What is known of one stratum of the functions of a layer: the parts common to all t.

A stratum is an orbit of GL(U) x GL(W) x GL(Z) (t = 1: GL(U) x GL(W)) on the image, so its points
look alike: one exact representative stands for all of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from m2bridge.attention import Layer
from m2bridge.display import MOST_ROWS, Html, facts_html, sections_html, settled, table_html

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Claim", "Evidence", "Matrix", "Representative", "Strata", "Stratum", "strata_html"]

Matrix = tuple[tuple[int, ...], ...]

_LISTED_WIDTH = 8


class Representative(NamedTuple):
    """Small integer weights whose function lies in a stratum: V is d_out x d, A is d x d."""

    V: Matrix
    A: Matrix


@dataclass(frozen=True, slots=True)
class Claim:
    """What a statement about a stratum rests on.

    Attributes:
        certainty: "proved" or "conjectural".
        warrant: "computed" (checked exactly at the representative) or "theorem".
        text: the reason, in words.
    """

    certainty: str
    warrant: str
    text: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """Exact numbers computed at the representative of a stratum.

    Attributes:
        orbit_rank: rank of the action of the Lie algebra: the dimension of the stratum.
        differential_kernel: dimension of the kernel of the differential of the map from
            (V, A), modulo scaling; 0 means that the fibre is reduced there. None for the origin.
        preimages: weights, equal up to no scaling, that were seen to give the same function.
        tangent_lower: rank of explicit vectors in the tangent space of the image.
        gradient_rank: rank of the gradients of known equations, or None when none were used.
        equations: how many equations these were, by degree.
        tangent_upper: number of coordinates minus gradient_rank, or None.
    """

    orbit_rank: int
    differential_kernel: int | None
    preimages: int
    tangent_lower: int
    gradient_rank: int | None = None
    equations: tuple[tuple[int, int], ...] = ()
    tangent_upper: int | None = None


def _rows(matrix: Matrix) -> str:
    return "; ".join(" ".join(map(str, row)) for row in matrix)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum(ABC):
    """One orbit of functions of a layer.

    `dimension` always counts in the affine cone of functions, and so does `tangent_dimension`.
    Properties are closed formulas of the theory page; `evidence` holds the numbers that were
    recomputed exactly at the representative, and `claims` says which statement rests on what.

    Attributes:
        layer: the model.
        evidence: what was computed at the representative, or None.
    """

    layer: Layer
    evidence: Evidence | None = field(default=None, compare=False)

    @property
    @abstractmethod
    def type(self) -> tuple[int, ...]:
        """The rank type."""

    @property
    @abstractmethod
    def is_origin(self) -> bool:
        """Is this the zero function?"""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Dimension of the stratum in the affine cone of functions."""

    @property
    @abstractmethod
    def tangent_dimension(self) -> int:
        """Dimension of the tangent space of the neuromanifold's closure at points here."""

    @property
    @abstractmethod
    def singular(self) -> bool:
        """Are the points here singular on the Zariski closure of all functions of the layer?"""

    @property
    @abstractmethod
    def boundary(self) -> bool | None:
        """Do the real points here lie on the boundary; None when some do and some do not."""

    @property
    @abstractmethod
    def boundary_reason(self) -> str:
        """Why `boundary` is what it is."""

    @property
    @abstractmethod
    def fibre_points(self) -> int | None:
        """Number of complex (V, A) up to scaling with the same function; None: infinitely many."""

    @property
    @abstractmethod
    def fibre_reduced(self) -> bool | None:
        """Is the fibre a reduced scheme (None: not finite)?"""

    @property
    @abstractmethod
    def real_fibre_points(self) -> tuple[int, ...]:
        """The possible numbers of real (V, A) up to scaling over a real function of this type."""

    @property
    @abstractmethod
    def fibre(self) -> str:
        """The fibre in words."""

    @property
    @abstractmethod
    def representative(self) -> Representative:
        """Integer weights of this type."""

    @property
    @abstractmethod
    def covers(self) -> tuple[tuple[int, ...], ...]:
        """The types directly below: maximal among those in the closure, itself left out."""

    @property
    @abstractmethod
    def claims(self) -> Mapping[str, Claim]:
        """For dimension, tangent_dimension, singular, boundary and fibre: what they rest on."""

    @abstractmethod
    def closure_contains(self, other: Stratum) -> bool:
        """Does the closure of this stratum contain the other one?"""

    @abstractmethod
    def closure_degree(self) -> int | None:
        """Degree of the Zariski closure as a projective variety, or None when not known."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain data with the keys of the JSON contract; weights for d <= 8 only."""

    def point(self) -> list[int]:
        """The coordinates of the representative's function."""
        V, A = self.representative
        return [int(x) for x in self.layer.image(V, A)]

    def _answers(self) -> list[tuple[str, object]]:
        """The questions of `claims` with their answers, for people."""
        return [
            ("dimension", self.dimension),
            ("tangent_dimension", self.tangent_dimension),
            ("singular", self.singular),
            ("boundary", settled(self.boundary, self.boundary_reason)),
            ("fibre", self.fibre),
        ]

    def _repr_html_(self) -> str:
        claims, rows = self.claims, []
        for name, answer in self._answers():
            claim = claims[name]
            sure = f"{claim.certainty} ({claim.warrant})"
            rows.append((name.replace("_", " "), answer, sure, claim.text))
        V, A = self.representative
        small = self.layer.d <= _LISTED_WIDTH
        title = f"Stratum {self.type} of {self.layer}"
        parts = [table_html(("question", "answer", "certainty", "why"), rows, title)]
        if small:
            parts.append(facts_html("Representative", [("V", _rows(V)), ("A", _rows(A))]))
        return sections_html(*parts)

    @property
    def certificate(self) -> tuple[str, ...]:
        """One line per claim: what is claimed and why."""
        return tuple(f"{name}: {claim.text}" for name, claim in self.claims.items())

    def _common_dict(self) -> dict[str, Any]:
        claims = self.claims
        entry: dict[str, Any] = {
            "dimension": self.dimension,
            "tangent_dimension": self.tangent_dimension,
            "singular": self.singular,
            "boundary": self.boundary,
            "fibre_points": self.fibre_points,
            "fibre_reduced": self.fibre_reduced,
            "fibre": self.fibre,
            "real_fibre_points": list(self.real_fibre_points),
            "certainty": {name: claim.certainty for name, claim in claims.items()},
            "warrant": {name: claim.warrant for name, claim in claims.items()},
        }
        if self.boundary is None:
            entry["boundary_reason"] = self.boundary_reason
        if self.layer.d <= _LISTED_WIDTH:
            V, A = self.representative
            entry["representative"] = {"V": [list(r) for r in V], "A": [list(r) for r in A]}
        return entry


def strata_html(found: Sequence[Stratum], title: str = "") -> Html:
    """Strata as one table, a row each, with the least certain of a row's claims."""
    rows = []
    for s in found[:MOST_ROWS]:
        sure = {claim.certainty for claim in s.claims.values()}
        certainty = "conjectural" if "conjectural" in sure else "proved"
        numbers = (s.type, s.dimension, s.tangent_dimension, s.singular)
        boundary = "in part" if s.boundary is None else s.boundary
        rows.append((*numbers, boundary, s.fibre, certainty))
    header = ("type", "dimension", "tangent", "singular", "boundary", "fibre", "certainty")
    return table_html(header, rows, title, len(found))


_NAMED = 6


class Strata(tuple["Stratum", ...]):
    """All strata of a layer: a tuple that shows itself as a table."""

    __slots__ = ()

    def __repr__(self) -> str:
        left = len(self) - _NAMED
        types = ", ".join(str(stratum.type) for stratum in self[:_NAMED])
        return f"<{len(self)} strata: {types}{f' and {left} more' if left > 0 else ''}>"

    def _repr_html_(self) -> str:
        return strata_html(self)
