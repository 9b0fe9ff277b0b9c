"""Everything about one layer, in one result: equations, strata, singular locus, boundary."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sympy

from m2bridge.attention.layer import Layer
from m2bridge.display import brief, facts_html, sections_html, settled, size, table_html
from m2bridge.engine import Session
from m2bridge.errors import SizeLimitError, VerificationError
from m2bridge.geometry.boundary import Boundary, boundary
from m2bridge.geometry.defaults import DEFAULT_SECONDS
from m2bridge.geometry.depth.formulas import published
from m2bridge.geometry.elimination import (
    count_minors,
    eliminated_ideal,
    jacobian_singular_locus,
    same_ideal,
)
from m2bridge.geometry.hilbert import image_degree, image_dimension
from m2bridge.geometry.implicit import ImplicitIdeal, implicit_ideal
from m2bridge.geometry.singular import SingularLocus, singular_locus
from m2bridge.geometry.strata.stratum import Stratum, strata_html
from m2bridge.provenance import Provenance, watched

__all__ = ["DEFAULT_SECONDS", "Analysis", "CrossCheck", "analyze"]

_log = logging.getLogger("m2bridge.geometry")

Progress = Callable[[str, int, int | None], None]

_CROSS_CHECK_MINORS = 2_000
_CROSS_CHECK_SECONDS = 60.0


@dataclass(frozen=True)
class CrossCheck:
    """A second, independent way to one of the answers, and that it agrees.

    A disagreement never gets here: it raises ``VerificationError``.
    """

    question: str
    method: str
    text: str


@dataclass(frozen=True)
class Analysis:
    """The exact geometry of the functions of one layer.

    Attributes:
        layer: the model.
        dimension, degree: of the affine cone of functions and of its Zariski closure.
        expected_dimension: the published formula (arXiv 2408.17221), None where it says nothing.
        ideal: the equations, or None when they were refused by size; `notes` then says why.
        strata: the image by rank type, the zero function first, with what certifies them.
        singular_locus, boundary: with equations where these were not refused by size.
        certainty: question -> "proved", "modular", "numerical" or "conjectural".
        cross_checks: which answers were found in a second way too.
        notes: what a reader should know: a > d, equations refused, completeness undecided.
        provenance: scripts, engine, versions, time.
    """

    layer: Layer
    dimension: int
    degree: int
    expected_dimension: int | None
    ideal: ImplicitIdeal | None
    strata: tuple[Stratum, ...]
    singular_locus: SingularLocus
    boundary: Boundary
    certainty: dict[str, str]
    cross_checks: tuple[CrossCheck, ...]
    notes: tuple[str, ...]
    provenance: Provenance

    __repr__ = brief

    @property
    def codimension(self) -> int:
        """Of the closure in the space of coordinates."""
        return self.layer.ambient_dimension - self.dimension

    def _repr_html_(self) -> str:
        silent = "says nothing" if self.expected_dimension is None else self.expected_dimension
        rows: list[tuple[str, object]] = [
            ("dimension", f"{self.dimension} of {self.layer.ambient_dimension}"),
            ("degree", self.degree),
            ("published formula", silent),
            ("dimension of the singular locus", size(self.singular_locus.dimension)),
            ("dimension of the boundary", size(self.boundary.dimension)),
        ]
        known = self.ideal is not None and self.ideal.complete is True
        names = {"ideal": "all equations" if known else "the equations found"}
        sure = [
            (names.get(name, name.replace("_", " ")), value)
            for name, value in self.certainty.items()
            if name != "ideal" or self.ideal is not None
        ]
        ideal = facts_html("", [("equations", settled(None, "refused by size, see the notes"))])
        notes = [("note", note) for note in self.notes] or [("notes", "none")]
        checks = [(c.question.replace("_", " "), c.method, c.text) for c in self.cross_checks]
        return sections_html(
            facts_html(f"Functions of {self.layer}", rows),
            facts_html("Certainty", sure),
            ("Equations", ideal if self.ideal is None else self.ideal._repr_html_()),
            ("Strata", strata_html(self.strata)),
            ("Singular locus", self.singular_locus._repr_html_()),
            ("Boundary", self.boundary._repr_html_()),
            ("Found in a second way", table_html(("answer", "method", "result"), checks)),
            ("Notes", facts_html("", notes)),
            ("Where this comes from", self.provenance._repr_html_()),
        )

    def _repr_latex_(self) -> str:
        layer = self.layer
        size = rf"(d, d_{{out}}, a, t) = ({layer.d}, {layer.d_out}, {layer.a}, {layer.t})"
        lines = [
            rf"\text{{lightning layer }} {size}",
            rf"\dim = {self.dimension} \text{{ in }} \mathbb{{R}}^{{{layer.ambient_dimension}}}, "
            rf"\quad \deg = {self.degree}",
            rf"\dim \operatorname{{Sing}} = {self.singular_locus.dimension}, \quad "
            rf"\dim \partial = {self.boundary.dimension}",
        ]
        if self.ideal is not None:
            counts = self.ideal.generators_by_degree
            shown = ", ".join(rf"{n} \text{{ of degree }} {k}" for k, n in sorted(counts.items()))
            lines.append(rf"\text{{minimal generators: }} {shown or '0'}")
            if len(self.ideal.generators) == 1:
                lines.append(sympy.latex(self.ideal.generators[0].as_expr()) + " = 0")
        body = r" \\ ".join(lines)
        return rf"$\displaystyle \begin{{array}}{{l}} {body} \end{{array}}$"


def analyze(
    layer: Layer,
    session: Session,
    *,
    max_degree: int | None = None,
    time_limit: float | None = DEFAULT_SECONDS,
    progress: Progress | None = None,
) -> Analysis:
    """Answers every question about one layer, and checks answers against each other.

    Equations come from the weights method; where graded elimination and the complete Jacobian
    criterion end in reasonable time, Macaulay2 does these too, and must agree.

    Args:
        layer: one layer.
        session: a Macaulay2 session.
        max_degree: the last degree in which equations are searched (None: as far as is proved
            sufficient, within limits).
        time_limit: seconds for the search for equations; the degrees that are finished by then
            are kept, and the answer says so. None: no limit.
        progress: called with (stage, done, total).

    Raises:
        VerificationError: two ways to one answer disagree.
        M2Error, M2TimeoutError, M2MemoryError, M2CrashedError: from Macaulay2.
    """
    tell = progress or _silent
    checks: list[CrossCheck] = []
    notes = list(layer.notes)
    with watched(session) as watch:
        tell("equations", 0, None)
        ideal = _ideal(layer, session, max_degree, time_limit, notes, progress)
        tell("elimination", 0, None)
        checks += _eliminate(layer, ideal, session)
        tell("strata and singular locus", 0, None)
        singular = _with_equations(singular_locus, layer, session, notes)
        tell("Jacobian criterion", 0, None)
        checks += _jacobian(layer, ideal, singular, session)
        tell("boundary", 0, None)
        edge = _with_equations(boundary, layer, session, notes)
        return Analysis(
            layer=layer,
            dimension=image_dimension(layer),
            degree=image_degree(layer),
            expected_dimension=published(layer),
            ideal=ideal,
            strata=singular.strata,
            singular_locus=singular,
            boundary=edge,
            certainty={
                "ideal": "proved" if ideal is None else ideal.certainty,
                "dimension": "proved",
                "degree": "proved",
                "singular_locus": singular.certainty,
                "boundary": edge.certainty,
            },
            cross_checks=tuple(checks),
            notes=tuple(notes),
            provenance=watch.provenance(),
        )


def _silent(stage: str, done: int, total: int | None) -> None:
    """For callers who want no progress."""


def _ideal(
    layer: Layer,
    session: Session,
    max_degree: int | None,
    time_limit: float | None,
    notes: list[str],
    progress: Progress | None,
) -> ImplicitIdeal | None:
    try:
        ideal = implicit_ideal(
            layer,
            max_degree=max_degree,
            session=session,
            time_limit=time_limit,
            progress=progress,
        )
    except SizeLimitError as error:
        notes.append(f"equations were not computed: {error}")
        return None
    if ideal.complete is not True:
        notes.append(f"whether these are all equations: {ideal.certificate}")
    return ideal


def _with_equations(question: Any, layer: Layer, session: Session, notes: list[str]) -> Any:
    """Asks with equations, and without them when these are refused by size."""
    try:
        return question(layer, session)
    except SizeLimitError as error:
        notes.append(f"{question.__name__.replace('_', ' ')} without equations: {error}")
        return question(layer, None, equations=False)


def elimination_is_quick(layer: Layer) -> bool:
    """Is graded elimination over QQ known to end within seconds for such a layer?"""
    if layer.d == 1:
        return layer.d_out <= 4
    if layer.d == 2:
        return layer.d_out <= 3
    return (layer.d, layer.d_out, layer.a) == (3, 1, 1) and layer.t >= 2


def _eliminate(layer: Layer, ideal: ImplicitIdeal | None, session: Session) -> list[CrossCheck]:
    """The same ideal by graded elimination in M2, where that is quick."""
    if ideal is None or ideal.complete is not True or not elimination_is_quick(layer):
        return []
    other = eliminated_ideal(layer, session, timeout=_CROSS_CHECK_SECONDS)
    numbers = (image_dimension(layer), image_degree(layer))
    if (other.dimension, other.degree) != numbers:
        raise VerificationError(
            f"{layer}: elimination gives dimension {other.dimension} and degree {other.degree}, "
            f"the theory {numbers[0]} and {numbers[1]}"
        )
    if not same_ideal(ideal.generators, other.generators, layer.symbols, session):
        raise VerificationError(f"{layer}: elimination gives another ideal than the weights")
    return [
        CrossCheck(
            "ideal",
            "graded elimination over QQ (Macaulay2)",
            "the same ideal, dimension and degree",
        )
    ]


def _jacobian(
    layer: Layer, ideal: ImplicitIdeal | None, singular: SingularLocus, session: Session
) -> list[CrossCheck]:
    """The same singular locus by all minors of the Jacobian matrix, where these are few."""
    if (
        ideal is None
        or ideal.complete is not True
        or any(component.generators is None for component in singular.components)
    ):
        return []
    codimension = layer.ambient_dimension - image_dimension(layer)
    count = count_minors(len(ideal.generators), layer.ambient_dimension, codimension)
    if codimension == 0 or count > _CROSS_CHECK_MINORS:
        return []
    other = jacobian_singular_locus(
        ideal.generators, layer.symbols, codimension, session, timeout=_CROSS_CHECK_SECONDS
    )
    ours = [(c.dimension, c.degree) for c in singular.components]
    theirs = [(c.dimension, c.degree) for c in other.components]
    if sorted(ours, key=str) != sorted(theirs, key=str):
        raise VerificationError(
            f"{layer}: the Jacobian criterion gives components of (dimension, degree) {theirs}, "
            f"the strata {ours}"
        )
    if len(ours) == 1 and not same_ideal(
        singular.components[0].generators or (),
        other.components[0].generators,
        layer.symbols,
        session,
    ):
        raise VerificationError(f"{layer}: the Jacobian criterion gives another singular locus")
    return [
        CrossCheck(
            "singular_locus",
            "complete Jacobian criterion over QQ (Macaulay2)",
            f"all {other.minors} minors; the same components",
        )
    ]
