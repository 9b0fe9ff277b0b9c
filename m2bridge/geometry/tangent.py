"""Tangent space, tangent cone and multiplicity at a point of the closure of all functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import flint
import sympy

from m2bridge.attention import Layer
from m2bridge.display import brief, facts_html, polynomials_html, settled
from m2bridge.engine import Session
from m2bridge.errors import VerificationError
from m2bridge.geometry.generators import Generators, script_lists
from m2bridge.geometry.recognize import Recognition, recognize
from m2bridge.geometry.strata.claims import model_dimension
from m2bridge.geometry.strata.closures import Component, EquationOptions, closure_component
from m2bridge.geometry.strata.confirm import confirmed_component
from m2bridge.geometry.strata.equations import gradient
from m2bridge.geometry.strata.listing import maximal, strata
from m2bridge.geometry.strata.locate import stratum_of_point
from m2bridge.scripts import polynomials_from_answer, run_script

__all__ = ["TangentSpace", "tangent_space"]


@dataclass(frozen=True)
class TangentSpace:
    """The tangent space of the closure of all functions of a layer at one point.

    Attributes:
        layer: the model.
        point: exact coordinates.
        type: the rank type of the stratum that it lies in.
        dimension: of the tangent space, in the affine cone.
        basis: integer vectors that span it; None when the equations found do not cut it out.
        model_dimension: the dimension of the closure; larger tangent spaces are singular points.
        singular: is the point singular?
        multiplicity: of the point on the closure. At smooth points and at zero it is known (1,
            and the degree); elsewhere by Macaulay2, None without a session or complete equations.
        tangent_cone: generators of the ideal of the tangent cone, under the same conditions.
        certainty: of the dimension: "proved", or "conjectural" for a formula that is checked on
            examples only.
        certificate: what this rests on.
    """

    layer: Layer
    point: tuple[sympy.Rational, ...]
    type: tuple[int, ...]
    dimension: int
    basis: tuple[tuple[int, ...], ...] | None
    model_dimension: int
    singular: bool
    multiplicity: int | None
    tangent_cone: tuple[sympy.Poly, ...] | None
    certainty: str
    certificate: str

    __repr__ = brief

    def _repr_html_(self) -> str:
        unasked = "needs Macaulay2 and all equations"
        cone = None if self.tangent_cone is None else polynomials_html(self.tangent_cone)
        basis = None if self.basis is None else f"{len(self.basis)} integer vectors"
        rows: list[tuple[str, object]] = [
            ("dimension", self.dimension),
            ("certainty of the dimension", self.certainty),
            ("singular point?", self.singular),
            ("dimension of the closure", self.model_dimension),
            ("multiplicity", settled(self.multiplicity, unasked)),
            ("tangent cone", settled(cone, unasked)),
            ("basis", settled(basis, "the equations found do not cut the space out")),
            ("stratum", self.type),
            ("why", self.certificate),
        ]
        return facts_html(f"Tangent space at a point of {self.layer}", rows)

    def to_dict(self) -> dict[str, Any]:
        """Plain data; exact numbers as text where they may be rational."""
        cone = self.tangent_cone
        return {
            "point": [str(x) for x in self.point],
            "type": list(self.type),
            "dimension": self.dimension,
            "basis": None if self.basis is None else [list(row) for row in self.basis],
            "model_dimension": self.model_dimension,
            "singular": self.singular,
            "multiplicity": self.multiplicity,
            "tangent_cone": None if cone is None else [str(f.as_expr()) for f in cone],
            "certainty": self.certainty,
            "certificate": self.certificate,
        }


def tangent_space(
    layer: Layer,
    point: Sequence[Any],
    session: Session | None = None,
    *,
    options: EquationOptions | None = None,
    timeout: float | None = None,
) -> TangentSpace:
    """The kernel of the Jacobian matrix of the layer's equations at an exact point.

    Args:
        layer: the model.
        point: rational coordinates, in the order of ``layer.coordinates``.
        session: a Macaulay2 session, for multiplicity and tangent cone.
        options: limits for the search of equations.
        timeout: seconds for the tangent cone.

    Raises:
        TypeError: for coordinates that are not exact.
        ValueError: for a wrong number of coordinates, or a point that is not in the closure of
            the functions of the layer.
        SizeLimitError: the model has too many coordinates.
        M2TimeoutError: the tangent cone took too long.
    """
    options = options or EquationOptions()
    answer = recognize(layer, list(point))
    if answer.over_complex is not True:
        raise ValueError(f"the point is not in the closure of the functions: {answer.reason}")
    values = tuple(sympy.Rational(x) for x in answer.coefficients)
    stratum = stratum_of_point(layer, values, lambda: _rational_weights(answer))
    closure = _closure(layer, session, options)
    generators = closure.generators
    assert generators is not None
    space = _kernel(generators, values)
    if len(space) < stratum.tangent_dimension or (
        closure.complete is True and len(space) > stratum.tangent_dimension
    ):
        raise VerificationError(
            f"{layer}, type {stratum.type}: the equations leave a tangent space of dimension "
            f"{len(space)}, the formula says {stratum.tangent_dimension}"
        )
    basis = space if len(space) == stratum.tangent_dimension else None
    claim = stratum.claims["tangent_dimension"]
    computed = closure.complete is True or (basis is not None and not stratum.singular)
    multiplicity, cone = None, None
    if not stratum.singular:
        multiplicity, cone = 1, None if basis is None else _linear_forms(basis, layer)
    elif stratum.is_origin:
        multiplicity = closure.degree
        cone = tuple(generators) if closure.complete is True else None
    elif closure.complete is True and session is not None:
        multiplicity, cone = _cone(generators, values, layer, session, timeout)
    return TangentSpace(
        layer=layer,
        point=values,
        type=stratum.type,
        dimension=stratum.tangent_dimension,
        basis=basis,
        model_dimension=model_dimension(stratum),
        singular=stratum.singular,
        multiplicity=multiplicity,
        tangent_cone=cone,
        certainty="proved" if computed else claim.certainty,
        certificate=closure.certificate if computed else claim.text,
    )


def _closure(layer: Layer, session: Session | None, options: EquationOptions) -> Component:
    """The closure of all functions with its equations, complete where that can be had."""
    found = strata(layer, certify=False)
    (dense,) = maximal(found)
    closure = closure_component(dense, found, equations=True, options=options)
    if closure.complete is not True and session is not None:
        return confirmed_component(closure, session)
    return closure


def _rational_weights(answer: Recognition) -> tuple[list[Any], list[Any]] | None:
    """Rational V and S of one preimage."""
    for preimage in answer.preimages:
        V, S = preimage.V.tolist(), preimage.S.tolist()
        if all(x.is_Rational for row in (*V, *S) for x in row):
            return V, S
    return None


def _kernel(generators: Generators, point: Sequence[sympy.Rational]) -> tuple[tuple[int, ...], ...]:
    """Integer vectors that span the kernel of the Jacobian matrix at a point.

    Raises:
        VerificationError: an equation does not vanish at the point.
    """
    scale = sympy.ilcm(1, *(x.q for x in point))
    # The variety is a cone: a multiple of the point has the same tangent space.
    integers = [int(x * scale) for x in point]
    size = len(integers)
    rows = []
    for equation in generators.sparse():
        total = 0
        for places, coefficient in equation.items():
            value = coefficient
            for k in places:
                value *= integers[k]
            total += value
        if total:
            raise VerificationError("an equation of the closure does not vanish at a point of it")
        slope = gradient(equation, integers)
        if slope:
            rows.append([slope.get(k, 0) for k in range(size)])
    if not rows:
        return tuple(tuple(int(j == k) for j in range(size)) for k in range(size))
    kernel, nullity = flint.fmpz_mat(rows).nullspace()
    columns = kernel.transpose().tolist()[:nullity]
    return tuple(_primitive([int(x) for x in column]) for column in columns)


def _linear_forms(basis: Sequence[Sequence[int]], layer: Layer) -> tuple[sympy.Poly, ...]:
    """The linear forms that vanish on a space: the tangent cone of a smooth point."""
    kernel, nullity = flint.fmpz_mat([list(row) for row in basis]).nullspace()
    columns = kernel.transpose().tolist()[:nullity]
    size = layer.ambient_dimension
    forms = []
    for column in columns:
        terms = {
            tuple(int(j == k) for j in range(size)): x
            for k, x in enumerate(_primitive([int(x) for x in column]))
            if x
        }
        forms.append(sympy.Poly.from_dict(terms, *layer.symbols, domain=sympy.ZZ))
    return tuple(forms)


def _primitive(vector: list[int]) -> tuple[int, ...]:
    content = int(sympy.igcd(0, *vector)) or 1
    return tuple(x // content for x in vector)


def _cone(
    generators: Generators,
    point: Sequence[sympy.Rational],
    layer: Layer,
    session: Session,
    timeout: float | None,
) -> tuple[int, tuple[sympy.Poly, ...]]:
    answer = run_script(
        session,
        "tangent_cone",
        timeout=timeout,
        variables=layer.ambient_dimension,
        polynomials=script_lists(generators, layer.symbols),
        numerators=[int(x.p) for x in point],
        denominators=[int(x.q) for x in point],
        pivot=next(k for k, x in enumerate(point) if x),
    )
    if not answer["onVariety"]:
        raise VerificationError("Macaulay2 says that the point is not on the closure")
    cone = polynomials_from_answer(answer["generators"], layer.symbols)
    return answer["multiplicity"], tuple(f for f in cone if not f.is_zero)
