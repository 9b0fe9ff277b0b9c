"""The boundary of the real functions of one layer, and what real weights miss.

M(R) is the set of functions of real weights, closed in the Euclidean topology; it lies in the real
points of its Zariski closure. Its boundary is its frontier there: the functions of real weights
that are limits of real points of the closure without real weights.
(Docs: theory page, theorem 6 for t >= 2 and part 4 for t = 1.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from m2bridge.attention import Layer
from m2bridge.display import (
    brief,
    facts_html,
    listed,
    polynomials_html,
    sections_html,
    settled,
    size,
    table_html,
)
from m2bridge.geometry.semialgebraic import (
    Inequality,
    SidePoint,
    inequalities,
    points_on_both_sides,
)
from m2bridge.geometry.strata.closures import (
    Component,
    EquationOptions,
    check_size,
    closure_component,
)
from m2bridge.geometry.strata.confirm import confirmed_component
from m2bridge.geometry.strata.listing import maximal, strata
from m2bridge.geometry.strata.stratum import Stratum
from m2bridge.geometry.strata.symmetric import SymmetricStratum

__all__ = ["Boundary", "boundary"]

Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True)
class Boundary:
    """The boundary of the real functions in the real points of their Zariski closure.

    Attributes:
        layer: the model.
        dimension: of the Zariski closure of the boundary, in the affine cone; -1: no boundary.
        components: the irreducible components of that closure.
        types: the types of strata with boundary points, the zero function included.
        description: the boundary in terms of weights.
        complement: which real points of the closure are functions of no real weights.
        complement_dimension: its dimension, -1 when it is empty.
        inequalities: with the equations of the closure they describe the functions of real
            weights among all real points; None where only the signature rule is known.
        inequalities_minimal: True when fewer inequalities cannot do; None when not settled.
        semialgebraic: the description of the functions of real weights, in words.
        points: exact points inside, on the boundary and beyond it.
        certainty: "proved".
    """

    layer: Layer
    dimension: int
    components: tuple[Component, ...]
    types: tuple[tuple[int, ...], ...]
    description: str
    complement: str
    complement_dimension: int
    inequalities: tuple[Inequality, ...] | None
    inequalities_minimal: bool | None
    semialgebraic: str
    points: tuple[SidePoint, ...]
    certainty: str = "proved"
    provenance: Any = field(default=None, compare=False)

    __repr__ = brief

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [
            ("dimension", size(self.dimension)),
            ("certainty", self.certainty),
            ("in weights", self.description),
            ("beyond it", self.complement),
            ("dimension beyond it", size(self.complement_dimension)),
            ("real functions", self.semialgebraic),
            ("strata", listed(self.types)),
        ]
        parts = [facts_html(f"Boundary of the real functions of {self.layer}", rows)]
        if self.inequalities:
            shown = [(polynomials_html([i.polynomial]), i.text) for i in self.inequalities]
            parts.append(table_html(("at least zero", "what it says"), shown))
            fewer = settled(self.inequalities_minimal, "whether fewer would do is open")
            parts.append(facts_html("", [("all of them needed?", fewer)]))
        points = [(point.side, point.text) for point in self.points]
        parts.append(table_html(("point", "why"), points))
        return sections_html(*parts, *(component._repr_html_() for component in self.components))

    def to_dict(self) -> dict[str, Any]:
        """Plain data with the keys of the JSON contract."""
        given = self.inequalities
        return {
            "dimension": self.dimension,
            "components": [component.to_dict() for component in self.components],
            "types": [list(kind) for kind in self.types],
            "description": self.description,
            "complement": self.complement,
            "complement_dimension": self.complement_dimension,
            "inequalities": None if given is None else [entry.to_dict() for entry in given],
            "inequalities_minimal": self.inequalities_minimal,
            "semialgebraic": self.semialgebraic,
            "points": [point.to_dict() for point in self.points],
            "certainty": self.certainty,
        }


def boundary(
    layer: Layer,
    session: Any = None,
    *,
    equations: bool = True,
    options: EquationOptions | None = None,
    progress: Progress | None = None,
) -> Boundary:
    """The boundary of the functions of real weights.

    Args:
        layer: the model.
        session: a Macaulay2 session; it then confirms the equations of the components.
        equations: find equations of the boundary's Zariski closure, and inequalities.
        options: limits for equations.
        progress: called with (stage, done, total).

    Raises:
        TypeError: for anything but a layer.
        SizeLimitError: equations are asked for and the model has too many coordinates.
        VerificationError: a certificate does not hold.
    """
    options = options or EquationOptions()
    if isinstance(layer, Layer) and equations:
        check_size(layer, options)
    found = strata(layer, progress=progress)
    edge = [s for s in found if _has_boundary_points(s)]
    components: list[Component] = []
    for stratum in maximal(edge):
        component = closure_component(stratum, found, equations=equations, options=options)
        if session is not None and equations:
            component = confirmed_component(component, session)
        components.append(component)
    given, minimal = inequalities(layer) if equations else (None, None)
    texts = _cubic_texts(layer) if layer.t == 1 else _texts(layer)
    return Boundary(
        layer=layer,
        dimension=max((c.dimension for c in components), default=-1),
        components=tuple(components),
        types=tuple(s.type for s in sorted(edge, key=lambda s: (-s.dimension, s.type))),
        description=texts[0],
        complement=texts[1],
        complement_dimension=_complement_dimension(found),
        inequalities=given,
        inequalities_minimal=minimal,
        semialgebraic=texts[2],
        points=points_on_both_sides(layer),
    )


def _has_boundary_points(stratum: Stratum) -> bool:
    if isinstance(stratum, SymmetricStratum):
        return not stratum.all_real and any(form.boundary for form in stratum.real_forms)
    return bool(stratum.boundary)


def _complement_dimension(found: tuple[Stratum, ...]) -> int:
    """The dimension of the real points of the closure that are functions of no real weights."""
    layer = found[0].layer
    if layer.t != 1:
        return layer.d_out + 3 * layer.d - 3 if layer.d >= 2 else -1
    missing = [
        s.dimension
        for s in found
        if isinstance(s, SymmetricStratum)
        and not s.all_real
        and any(not f.in_image for f in s.real_forms)
    ]
    return max(missing, default=-1)


_EMPTY = (
    "empty: every real point of the Zariski closure is a function of real weights",
    "empty",
)


def _texts(layer: Layer) -> tuple[str, str, str]:
    """Boundary, complement and image in words, t >= 2."""
    if layer.d == 1:
        return (*_EMPTY, "the real points of the Zariski closure, a linear space")
    return (
        "zero, and the functions of V = u v^T, A = v q^T (ranks 1, 1, and 1 for [V^T | A]): "
        "T = u (x) v^2 (x) q; they are limits of u (x) Q (x) q with Q definite of rank 2",
        "T = u (x) Q (x) q with real u, q and a quadratic form Q that is definite of rank 2: its "
        "two linear factors are complex conjugates, so V and A cannot be real",
        "the real points of the Zariski closure at which the sum of the discriminants "
        "T_{i;pq;r}^2 - 4 T_{i;pp;r} T_{i;qq;r} over all i, r and p < q is not negative",
    )


def _cubic_texts(layer: Layer) -> tuple[str, str, str]:
    """Boundary, complement and image in words, t = 1."""
    a, d = layer.a, layer.d
    if a >= d:
        return (*_EMPTY, "the real points of the Zariski closure: V S with V and S real")
    smaller = min(a, d - a)
    return (
        "zero, and the functions V S of real V and S, S of signature (p, q) with p, q <= "
        f"{a} and min(p, q) < {smaller}",
        f"V S with V and S real, rank S <= {min(2 * a, d)}, such that no real choice of S has "
        f"signature (p, q) with p, q <= {a}: for rank A <= {a} the symmetric part of A has at most "
        f"{a} positive and at most {a} negative eigenvalues",
        f"V S with V and S real and S of signature (p, q) with p, q <= {a}",
    )
