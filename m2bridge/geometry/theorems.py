"""Common statements about one layer, model by model, beside what is computed.

The first two statements are those of the public summary of arXiv 2408.17221 (the dimension
formula, and "singular exactly when A and V have rank at most one"); the others are commonly said
about the same objects. For each model and statement the table has what it says, what was computed,
whether they agree, and a witness where they do not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from m2bridge.attention import Layer
from m2bridge.display import brief, facts_html, sections_html, table_html
from m2bridge.errors import VerificationError
from m2bridge.geometry.strata.certify import tangent_vectors
from m2bridge.geometry.strata.claims import model_dimension
from m2bridge.geometry.strata.linear import rank
from m2bridge.geometry.strata.listing import add_gradients, strata
from m2bridge.geometry.strata.stratum import Stratum

__all__ = ["STATEMENTS", "TheoremRow", "TheoremTable", "verify_theorems"]

Progress = Callable[[str, int, int | None], None]

STATEMENTS = {
    "dimension": "the dimension is 2 al d - al^2 + d d_out - 1 with al = min(a, d)",
    "singular": "a function is singular exactly when A and V have rank at most 1",
    "fibre": "over rank V = rank A = rank [V^T | A] = 1 the fibre is one point, not reduced",
    "generic fibre": "a generic function has one (V, A) up to scaling, and two if d_out = a = 1",
    "boundary": "the boundary of the real functions is the stratum (1, 1, 1) with zero",
}


@dataclass(frozen=True)
class TheoremRow:
    """One statement for one model.

    Attributes:
        d, d_out, a: the model; t >= 2.
        statement: a key of STATEMENTS.
        stated: what the statement says for this model.
        found: what is true.
        agrees: are they the same?
        warrant: "computed" when `found` was recomputed exactly at representatives, else
            "theorem": at least one part rests on the theorems of the theory page.
        witness: weights and numbers that show a disagreement, else empty.
    """

    d: int
    d_out: int
    a: int
    statement: str
    stated: str
    found: str
    agrees: bool
    warrant: str
    witness: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "model": {"d": self.d, "d_out": self.d_out, "a": self.a},
            "statement": self.statement,
            "stated": self.stated,
            "found": self.found,
            "agrees": self.agrees,
            "warrant": self.warrant,
            "witness": self.witness,
        }


@dataclass(frozen=True)
class TheoremTable:
    """All rows, and how often the statements hold."""

    rows: tuple[TheoremRow, ...]

    __repr__ = brief

    @property
    def exceptions(self) -> tuple[TheoremRow, ...]:
        """The rows that disagree."""
        return tuple(row for row in self.rows if not row.agrees)

    def counts(self) -> dict[str, tuple[int, int]]:
        """Statement -> (models where it holds, models)."""
        out = {}
        for name in STATEMENTS:
            rows = [row for row in self.rows if row.statement == name]
            out[name] = (sum(row.agrees for row in rows), len(rows))
        return out

    def _repr_html_(self) -> str:
        summary = [
            (STATEMENTS[name], f"holds for {good} of {models} models")
            for name, (good, models) in self.counts().items()
        ]
        exceptions = [
            (f"{r.d}, {r.d_out}, {r.a}", r.statement, r.stated, r.found, r.warrant, r.witness)
            for r in self.exceptions
        ]
        header = ("d, d_out, a", "statement", "said", "found", "rests on", "witness")
        sure = facts_html("", [("certainty", "proved: by computation or by theorem, as named")])
        return sections_html(
            facts_html("Published statements beside what is computed", summary),
            sure,
            table_html(header, exceptions, "Exceptions"),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "statements": dict(STATEMENTS),
            "counts": {name: list(pair) for name, pair in self.counts().items()},
            "rows": [row.to_dict() for row in self.rows],
        }


def verify_theorems(
    max_d: int = 3,
    max_d_out: int | None = None,
    max_a: int | None = None,
    *,
    gradient_coordinates: int = 40,
    progress: Progress | None = None,
) -> TheoremTable:
    """Compare common statements with exact computation for all models in a range.

    Args:
        max_d: the largest width.
        max_d_out, max_a: the largest other sizes; max_d when not given.
        gradient_coordinates: models with more coordinates get no gradients of equations; that
            a stratum is smooth then rests on the theorem.
        progress: called with (stage, done, total).

    Raises:
        TypeError, ValueError: for sizes that are no positive integers.
        VerificationError: a computation contradicts the theory page.
    """
    sizes = [max_d, max_d if max_d_out is None else max_d_out, max_d if max_a is None else max_a]
    for name, size in zip(("max_d", "max_d_out", "max_a"), sizes, strict=True):
        if isinstance(size, bool) or not isinstance(size, int):
            raise TypeError(f"{name} must be an integer, not {size!r}")
        if size < 1:
            raise ValueError(f"{name} must be at least 1, not {size}")
    models = [
        Layer(d, d_out, a)
        for d in range(1, sizes[0] + 1)
        for d_out in range(1, sizes[1] + 1)
        for a in range(1, sizes[2] + 1)
    ]
    rows: list[TheoremRow] = []
    for k, layer in enumerate(models):
        if progress is not None:
            progress("models", k, len(models))
        rows += _rows(layer, gradient_coordinates)
    return TheoremTable(tuple(rows))


def _rows(layer: Layer, gradient_coordinates: int) -> Iterator[TheoremRow]:
    found = strata(layer, certify=True)
    if layer.ambient_dimension <= gradient_coordinates:
        found, _ = add_gradients(found)
    yield _dimension_row(layer, found)
    yield _singular_row(layer, found)
    yield _fibre_row(layer, found)
    yield _generic_fibre_row(layer, found)
    yield _boundary_row(layer, found)


def _row(
    layer: Layer, statement: str, stated: object, found: object, warrant: str, witness: str = ""
) -> TheoremRow:
    agrees = stated == found
    return TheoremRow(
        layer.d,
        layer.d_out,
        layer.a,
        statement,
        str(stated),
        str(found),
        agrees,
        warrant,
        "" if agrees else witness,
    )


def _shown(stratum: Stratum) -> str:
    V, A = stratum.representative
    return f"type {stratum.type}: V = {[list(r) for r in V]}, A = {[list(r) for r in A]}"


def _dimension_row(layer: Layer, found: Sequence[Stratum]) -> TheoremRow:
    """The rank of the differential at the representative of the open orbit."""
    top = max(found, key=lambda s: s.dimension)
    _, vectors = tangent_vectors(top)
    al = min(layer.a, layer.d)
    stated = 2 * al * layer.d - al**2 + layer.d * layer.d_out - 1
    return _row(layer, "dimension", stated, rank(vectors), "computed", _shown(top))


def _singular_row(layer: Layer, found: Sequence[Stratum]) -> TheoremRow:
    stated = [s.type for s in found if s.type[0] <= 1 and s.type[1] <= 1]
    dimension = model_dimension(found[0])
    singular = []
    warrant = "computed"
    for s in found:
        assert s.evidence is not None
        above = s.evidence.tangent_lower > dimension
        if above != s.singular:
            raise VerificationError(
                f"{layer}, type {s.type}: tangent vectors of rank {s.evidence.tangent_lower} "
                f"against dimension {dimension} contradict theorem 4"
            )
        if above:
            singular.append(s.type)
        if s.claims["singular"].warrant != "computed":
            warrant = "theorem"
    wrong = [s for s in found if (s.type in stated) != s.singular]
    wrong.sort(key=lambda s: -s.dimension)
    witness = ""
    if wrong:
        s = wrong[0]
        kind = "singular" if s.singular else "smooth"
        witness = (
            f"{_shown(s)} is {kind}: tangent dimension {s.tangent_dimension}, dimension {dimension}"
        )
    return _row(layer, "singular", stated, singular, warrant, witness)


def _fibre_row(layer: Layer, found: Sequence[Stratum]) -> TheoremRow:
    point = next(s for s in found if s.type == (1, 1, 1))
    assert point.evidence is not None
    kernel = point.evidence.differential_kernel
    reduced = "one point, reduced" if kernel == 0 else "one point, not reduced"
    witness = f"{_shown(point)}: the differential has kernel {kernel} modulo scaling"
    return _row(layer, "fibre", "one point, not reduced", reduced, "computed", witness)


def _generic_fibre_row(layer: Layer, found: Sequence[Stratum]) -> TheoremRow:
    top = max(found, key=lambda s: s.dimension)
    assert top.evidence is not None
    stated = 2 if layer.d_out == 1 and layer.a == 1 else 1
    return _row(layer, "generic fibre", stated, top.evidence.preimages, "computed", _shown(top))


def _boundary_row(layer: Layer, found: Sequence[Stratum]) -> TheoremRow:
    stated = [(0, 0, 0), (1, 1, 1)]
    edge = [s.type for s in found if s.boundary]
    point = next(s for s in found if s.type == (1, 1, 1))
    witness = f"{_shown(point)}: {point.boundary_reason}"
    return _row(layer, "boundary", stated, edge, "theorem", witness)
