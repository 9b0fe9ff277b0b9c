"""The closure of a stratum as a variety: dimension, degree, prime ideal, the strata in it."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import sympy

from m2bridge.attention import Layer
from m2bridge.display import (
    brief,
    counts,
    facts_html,
    latex_lines,
    listed,
    polynomials_html,
    settled,
)
from m2bridge.errors import SizeLimitError
from m2bridge.geometry.generators import Generators, module_sources, texts
from m2bridge.geometry.hilbert import generator_degree_bound
from m2bridge.geometry.strata.equations import closure_map
from m2bridge.geometry.strata.forms import generic_type
from m2bridge.geometry.strata.ranks import RankStratum
from m2bridge.geometry.strata.stratum import Stratum
from m2bridge.geometry.strata.symmetric import SymmetricStratum
from m2bridge.geometry.weights import WeightIdeal
from m2bridge.geometry.weights.ideal import next_degree

__all__ = ["Component", "EquationOptions", "closure_component", "degree_bound"]

logger = logging.getLogger("m2bridge.geometry.strata")

HIGHEST_BOUND = 5
"""A proved bound above this is not pursued by default: degree 6 takes minutes."""


@dataclass(frozen=True)
class EquationOptions:
    """Limits for the search of equations.

    Attributes:
        max_degree: the last degree to look at; None: a proved bound where there is one (up to
            5), else 4.
        max_coordinates: refuse models with more coordinates.
        max_generators: refuse a degree with more new generators.
        seconds: time limit for one closure; None for none.
    """

    max_degree: int | None = None
    max_coordinates: int = 100
    max_generators: int = 20_000
    seconds: float | None = 120.0


@dataclass(frozen=True)
class Component:
    """One irreducible variety: the closure of a stratum.

    Attributes:
        stratum: the stratum that is dense in it.
        dimension: of the affine cone.
        degree: as a projective variety; None when not known.
        strata: the types of the strata in it, the zero function left out unless it is alone.
        generators: polynomials that vanish on it (a sequence of sympy Poly), or None when
            equations were not asked for.
        searched_degree: up to it all minimal generators were found; None without equations.
        complete: True when these generate its prime ideal; None when that is not settled.
        prime: True when the ideal of the generators is known to be prime; None when not.
        certainty: "proved": the variety, its dimension and degree, and that the generators vanish.
        reasons: what dimension and degree rest on.
        completeness: why the generators are all, or up to which degree they are.
        confirmed: what Macaulay2 computed from the generators, or empty.
    """

    stratum: Stratum
    dimension: int
    degree: int | None
    strata: tuple[tuple[int, ...], ...]
    generators: Generators | None
    complete: bool | None
    prime: bool | None
    certainty: str
    reasons: tuple[str, ...]
    completeness: str = ""
    confirmed: dict[str, Any] = field(default_factory=dict)
    searched_degree: int | None = None

    __repr__ = brief

    @property
    def certificate(self) -> str:
        """What dimension, degree and completeness rest on, in words."""
        return "; ".join((*self.reasons, *filter(None, [self.completeness])))

    @property
    def generators_by_degree(self) -> dict[int, int] | None:
        """Degree -> number of minimal generators."""
        return None if self.generators is None else self.generators.by_degree()

    def _repr_html_(self) -> str:
        unasked = "no equations" if self.generators is None else self.completeness
        rows: list[tuple[str, object]] = [
            ("dimension", self.dimension),
            ("degree", settled(self.degree, "no formula for this closure is known")),
            ("certainty", self.certainty),
            ("why", "; ".join(self.reasons)),
            ("strata in it", listed(self.strata)),
            ("equations", counts(self.generators_by_degree)),
            ("all equations?", settled(self.complete, unasked)),
            ("prime ideal?", settled(self.prime, unasked)),
        ]
        if self.completeness and self.complete is not None:
            rows.append(("why all", self.completeness))
        if self.generators is not None and len(self.generators):
            rows.append(("the equations", polynomials_html(self.generators)))
        title = f"Closure of the stratum {self.stratum.type} of {self.stratum.layer}"
        return facts_html(title, rows)

    def _repr_latex_(self) -> str:
        lines = [rf"\dim = {self.dimension}"]
        if self.degree is not None:
            lines[0] += rf",\quad \deg = {self.degree}"
        shown = self.generators[:6] if self.generators is not None else ()
        lines += [sympy.latex(f.as_expr()) + " = 0" for f in shown]
        more = len(self.generators or ()) - len(shown)
        return latex_lines(lines + ([rf"\text{{and {more} more}}"] if more else []))

    def to_dict(self) -> dict[str, Any]:
        """Plain data with the keys of the JSON contract."""
        generators = self.generators
        counts = self.generators_by_degree
        return {
            "dimension": self.dimension,
            "degree": self.degree,
            "generators": None
            if generators is None
            else texts(generators, self.stratum.layer.symbols),
            "generators_by_degree": None
            if counts is None
            else {str(k): n for k, n in counts.items()},
            "strata": [list(kind) for kind in self.strata],
            "searched_degree": self.searched_degree,
            "complete": self.complete,
            "prime": self.prime,
            "certainty": self.certainty,
            "certificate": self.certificate,
            "confirmed": self.confirmed,
        }


def degree_bound(stratum: Stratum) -> tuple[int, str] | None:
    """A proved bound for the degrees of minimal generators of a closure's ideal, and why."""
    layer = stratum.layer
    codimension = layer.ambient_dimension - stratum.dimension
    if codimension == 0:
        return 1, "the closure is the whole space"
    if stratum.is_origin:
        return 1, "the zero function is given by all coordinates"
    if codimension == 1:
        degree = stratum.closure_degree()
        if degree is not None:
            return degree, f"the closure is a hypersurface of degree {degree}"
    if isinstance(stratum, RankStratum):
        return _rank_bound(stratum)
    assert isinstance(stratum, SymmetricStratum)
    return _symmetric_bound(stratum)


def _symmetric_bound(stratum: SymmetricStratum) -> tuple[int, str] | None:
    layer = stratum.layer
    d, d_out = layer.d, layer.d_out
    v, r, j, _ = stratum.type
    if (v, r, j) == (1, 1, d - 1):
        return 2, "the closure is a Segre-Veronese variety, whose ideal is generated by quadrics"
    if v == 1 and d_out > 1:
        # u (x) cubic: a Segre product adds the 2-minors to the equations of the cubics.
        single = SymmetricStratum(*stratum.type, layer=Layer(d, 1, layer.a, 1))
        bound = degree_bound(single)
        return bound and (
            max(2, bound[0]),
            f"the closure is the Segre product of P(U) with cubics, of which {bound[1]}",
        )
    if stratum.type == generic_type(d, d_out, r) and (r % 2 == 0 or r == d):
        return generator_degree_bound(Layer(d, d_out, (r + 1) // 2, 1))
    return None


def _rank_bound(stratum: RankStratum) -> tuple[int, str] | None:
    layer = stratum.layer
    d, d_out = layer.d, layer.d_out
    if stratum.type == (1, 1, 1):
        return 2, "the closure is a Segre-Veronese variety, whose ideal is generated by quadrics"
    if stratum.type == (1, 1, 2):
        return 3 if d >= 3 else 2, (
            "the closure is the Segre product of P(U), the symmetric matrices of rank <= 2 and "
            "P(Z), whose ideal is generated by quadrics and the 3-minors of the symmetric matrix"
        )
    v, r, joint = stratum.type
    if v == min(d, d_out) and joint == min(d, v + r):
        return generator_degree_bound(Layer(d, d_out, r, layer.t))
    return None


def closure_component(
    stratum: Stratum,
    found: Sequence[Stratum],
    *,
    equations: bool,
    options: EquationOptions | None = None,
) -> Component:
    """The closure of a stratum as a component.

    Args:
        stratum: the dense stratum.
        found: all strata of the layer.
        equations: find equations too.
        options: limits for these.

    Raises:
        SizeLimitError: equations are asked for and the model is larger than the limits.
    """
    inside = [s for s in found if not s.is_origin and stratum.closure_contains(s)]
    types = tuple(s.type for s in sorted(inside, key=lambda s: (-s.dimension, s.type)))
    degree = stratum.closure_degree()
    reasons = [f"dimension {stratum.dimension}: {stratum.claims['dimension'].text}"]
    if degree is not None:
        way = (
            "a product formula" if stratum.layer.t == 1 else "intersection numbers on a resolution"
        )
        reasons.append(f"degree {degree}: {way}")
    component = Component(
        stratum=stratum,
        dimension=stratum.dimension,
        degree=degree,
        strata=types or (stratum.type,),
        generators=None,
        complete=None,
        prime=None,
        certainty="proved",
        reasons=tuple(reasons),
    )
    return with_equations(component, options or EquationOptions()) if equations else component


def check_size(layer: Layer, options: EquationOptions) -> None:
    """Refuse models with too many coordinates.

    Raises:
        SizeLimitError: for more than options.max_coordinates coordinates.
    """
    if layer.ambient_dimension > options.max_coordinates:
        raise SizeLimitError(
            f"equations in {layer.ambient_dimension} coordinates are refused, the limit is "
            f"{options.max_coordinates}: ask with equations=False, or raise max_coordinates"
        )


def with_equations(component: Component, options: EquationOptions) -> Component:
    """The component with generators, complete where a bound on their degrees is proved."""
    stratum = component.stratum
    layer = stratum.layer
    check_size(layer, options)
    bound = degree_bound(stratum)
    top = options.max_degree
    if top is None:
        top = bound[0] if bound and bound[0] <= HIGHEST_BOUND else 4
    ideal, stopped = _search(stratum, top, options)
    done = ideal.max_degree
    sources = [source for degree in ideal.parts for source in module_sources(ideal, degree)]
    generators = Generators(layer.symbols, sources)
    complete = True if bound is not None and done >= bound[0] else None
    if complete and bound is not None:
        why = f"these are all equations: {bound[1]}, and all degrees up to {done} were computed"
    else:
        why = (
            f"all equations of degree up to {done} follow from the generators; whether there are "
            "more is not settled"
        )
    if stopped:
        why += f" ({stopped})"
    return replace(
        component,
        generators=generators,
        complete=complete,
        prime=complete,
        searched_degree=done,
        reasons=(*component.reasons, "generators vanish on it by exact substitution"),
        completeness=why,
    )


def _search(stratum: Stratum, top: int, options: EquationOptions) -> tuple[WeightIdeal, str]:
    """The ideal up to a degree, or as far as the limits allow, and what stopped it."""
    deadline = None if options.seconds is None else time.monotonic() + options.seconds
    ideal = WeightIdeal(closure_map(stratum))
    while ideal.max_degree < top:
        try:
            further = next_degree(ideal, deadline=deadline)
        except (SizeLimitError, TimeoutError) as stop:
            logger.info("type %s: %s", stratum.type, stop)
            return ideal, str(stop)
        count = further.new_dimension(further.max_degree)
        if count > options.max_generators:
            return ideal, f"{count} generators of degree {further.max_degree} exceed the limit"
        ideal = further
    return ideal, ""
