"""The singular locus of the functions of one layer, from its strata."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from m2bridge.attention import Layer
from m2bridge.display import brief, facts_html, listed, sections_html, size
from m2bridge.geometry.strata.claims import model_dimension
from m2bridge.geometry.strata.closures import (
    Component,
    EquationOptions,
    check_size,
    closure_component,
)
from m2bridge.geometry.strata.confirm import confirmed_component
from m2bridge.geometry.strata.listing import add_gradients, maximal, strata
from m2bridge.geometry.strata.stratum import Stratum

__all__ = ["SingularLocus", "singular_locus"]

Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True)
class SingularLocus:
    """The singular points of the Zariski closure of all functions of a layer.

    Attributes:
        layer: the model.
        dimension: of the affine cone; 0 when only the zero function is singular, -1 when nothing
            is (as Macaulay2 does for the empty set).
        components: the irreducible components: closures of the maximal singular strata.
        strata: all strata of the model, with what certifies them.
        certificate: one line per stratum: smooth or singular, and why.
        certainty: "proved".
        method: "strata".
    """

    layer: Layer
    dimension: int
    components: tuple[Component, ...]
    strata: tuple[Stratum, ...]
    certificate: tuple[str, ...]
    certainty: str = "proved"
    method: str = "strata"
    provenance: Any = field(default=None, compare=False)

    __repr__ = brief

    @property
    def types(self) -> tuple[tuple[int, ...], ...]:
        """The types of the singular strata; the zero function's type is the last when it is."""
        singular = [s for s in self.strata if s.singular]
        return tuple(s.type for s in sorted(singular, key=lambda s: (-s.dimension, s.type)))

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [
            ("dimension", size(self.dimension)),
            ("certainty", self.certainty),
            ("components", len(self.components)),
            ("singular strata", listed(self.types)),
            ("method", self.method),
        ]
        head = facts_html(f"Singular locus of {self.layer}", rows)
        return sections_html(head, *(component._repr_html_() for component in self.components))

    def to_dict(self) -> dict[str, Any]:
        """Plain data with the keys of the JSON contract."""
        return {
            "dimension": self.dimension,
            "components": [component.to_dict() for component in self.components],
            "types": [list(kind) for kind in self.types],
            "certificate": list(self.certificate),
            "certainty": self.certainty,
            "method": self.method,
        }


def singular_locus(
    layer: Layer,
    session: Any = None,
    *,
    equations: bool = True,
    certify: bool | None = None,
    options: EquationOptions | None = None,
    progress: Progress | None = None,
) -> SingularLocus:
    """The singular locus of the Zariski closure of all functions of a layer.

    Every stratum gets a certificate. Singular: explicit tangent vectors of rank above the
    dimension (there are two points over it, or the fibre is not reduced, or the weights are a
    singular point). Smooth: gradients of equations of rank the codimension; for models beyond the
    limits, the theorem. The components are closures of the maximal singular strata.

    Args:
        layer: the model.
        session: a Macaulay2 session; it then confirms dimension, degree and primality of the
            components' ideals, from the equations alone.
        equations: find the equations of the components.
        certify: compute certificates at the representatives (None: for small models).
        options: limits for equations.
        progress: called with (stage, done, total).

    Raises:
        TypeError: for anything but a layer.
        SizeLimitError: equations are asked for and the model has too many coordinates.
        VerificationError: a computation contradicts the theory, or Macaulay2 contradicts both.
    """
    options = options or EquationOptions()
    if isinstance(layer, Layer) and equations:
        check_size(layer, options)
    found = strata(layer, certify=certify, progress=progress)
    if equations and found[0].evidence is not None:
        found, _ = add_gradients(found, seconds=options.seconds, progress=progress)
    singular = [s for s in found if s.singular]
    components: list[Component] = []
    for stratum in maximal(singular):
        if progress is not None:
            progress("components", len(components), None)
        component = closure_component(stratum, found, equations=equations, options=options)
        if session is not None and equations:
            component = confirmed_component(component, session)
        components.append(component)
    return SingularLocus(
        layer=layer,
        dimension=max((c.dimension for c in components), default=-1),
        components=tuple(components),
        strata=found,
        certificate=_certificate(found),
    )


def _certificate(found: tuple[Stratum, ...]) -> tuple[str, ...]:
    """One line per stratum for models that were certified; the theorem for all others."""
    if found[0].evidence is None:
        dimension = model_dimension(found[0])
        text = found[-1].claims["singular"].text
        return (f"all {len(found)} strata (dimension of the model {dimension}): {text}",)
    return tuple(
        f"{s.type} {'singular' if s.singular else 'smooth'}: {s.claims['singular'].text}"
        for s in found
    )
