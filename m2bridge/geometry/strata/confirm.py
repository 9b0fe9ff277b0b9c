"""Macaulay2's word on the equations of a component: dimension, degree, primality."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from m2bridge.attention import Layer
from m2bridge.engine import Session
from m2bridge.errors import M2TimeoutError, VerificationError
from m2bridge.geometry.generators import script_lists
from m2bridge.geometry.implicit import implicit_ideal
from m2bridge.geometry.strata.closures import Component, closure_component
from m2bridge.geometry.strata.ranks import RankStratum
from m2bridge.geometry.strata.symmetric import SymmetricStratum
from m2bridge.scripts import run_script

__all__ = ["confirmed_component"]

# M2's primality test ends within seconds up to here; beyond, dimension and degree are asked only.
_PRIMALITY_COORDINATES = 24
_PRIMALITY_GENERATORS = 120
_GENERATORS = 1_500
_SECONDS = 60.0


def confirmed_component(component: Component, session: Session) -> Component:
    """The component after Macaulay2 looked at its equations.

    A prime ideal of the component's dimension that vanishes on the component is its ideal: so
    Macaulay2 can settle completeness where no bound on the degrees of generators is proved.

    Args:
        component: with generators; without, or with very many, it is returned as it is.
        session: a Macaulay2 session.

    Raises:
        VerificationError: Macaulay2 contradicts what was proved.
        M2Error, M2MemoryError, M2CrashedError: from Macaulay2.
    """
    generators = component.generators
    if generators is None or len(generators) > _GENERATORS:
        return component
    if component.complete is not True:
        component = _settled_as_a_product(component, session)
    if component.complete is not True:
        component = _settled_as_a_layer(component, session)
    size = component.stratum.layer.ambient_dimension
    primality = size <= _PRIMALITY_COORDINATES and len(generators) <= _PRIMALITY_GENERATORS
    try:
        answer = run_script(
            session,
            "component",
            timeout=_SECONDS,
            variables=size,
            polynomials=script_lists(generators, component.stratum.layer.symbols),
            primality=primality,
        )
    except M2TimeoutError:
        note = f"Macaulay2 did not confirm it within {_SECONDS:.0f} s"
        return replace(component, reasons=(*component.reasons, note))
    return _merged(component, answer)


def _settled_as_a_product(component: Component, session: Session) -> Component:
    """u times a cubic: the Segre product of P(U) with the cubics, which Macaulay2 may settle."""
    stratum = component.stratum
    layer = stratum.layer
    if not isinstance(stratum, SymmetricStratum) or stratum.rank_v != 1 or layer.d_out == 1:
        return component
    single = SymmetricStratum(*stratum.type, layer=Layer(layer.d, 1, layer.a, 1))
    cubics = closure_component(single, [single], equations=True)
    cubics = confirmed_component(cubics, session)
    if cubics.complete is not True or cubics.generators_by_degree is None:
        return component
    # The 2-minors of P(U) are quadrics; products with S^D U carry the other degrees over.
    top = max(2, *cubics.generators_by_degree)
    if component.searched_degree is None or component.searched_degree < top:
        return component
    return replace(
        component,
        complete=True,
        prime=True,
        completeness=(
            "these are all equations: it is the Segre product of P(U) with cubics, and for their "
            f"ideal, generated in degree <= {top}: {cubics.completeness}"
        ),
    )


def _settled_as_a_layer(component: Component, session: Session) -> Component:
    """Where the closure is all of a smaller layer: complete, if that layer's ideal is.

    {rank A <= r} in a layer is the layer with a = r, whose Hilbert series is known more often than
    a bound on the degrees of its generators.
    """
    stratum = component.stratum
    layer = stratum.layer
    if not isinstance(stratum, RankStratum):
        return component
    v, r, joint = stratum.type
    if v != min(layer.d, layer.d_out) or joint != min(layer.d, v + r):
        return component
    smaller = Layer(layer.d, layer.d_out, r, layer.t)
    ideal = implicit_ideal(smaller, session=session, time_limit=_SECONDS)
    if ideal.complete is not True or component.generators is None:
        return component
    if ideal.generators_by_degree != component.generators_by_degree:
        return component
    return replace(
        component,
        complete=True,
        prime=True,
        completeness=f"these are all equations: it is the layer with a = {r}. {ideal.certificate}",
    )


def _merged(component: Component, answer: dict[str, Any]) -> Component:
    """The component with M2's answer, or an error where they contradict each other."""
    numbers = (answer["dimension"], answer["degree"])
    expected = (component.dimension, component.degree or answer["degree"])
    confirmed = {key: answer[key] for key in ("dimension", "degree", "prime")}
    if component.complete and (numbers != expected or answer["prime"] is False):
        raise VerificationError(
            f"type {component.stratum.type}: Macaulay2 finds dimension {numbers[0]}, degree "
            f"{numbers[1]}, prime {answer['prime']}; expected were {expected} and a prime ideal"
        )
    if answer["prime"] is True and numbers[0] == component.dimension:
        if numbers != expected:
            raise VerificationError(
                f"type {component.stratum.type}: the equations' ideal is prime of degree "
                f"{numbers[1]} in Macaulay2, but the closure has degree {expected[1]}"
            )
        text = f"Macaulay2: a prime ideal of dimension {numbers[0]} and degree {numbers[1]}"
        settled = component.completeness if component.complete else ""
        return replace(
            component,
            degree=numbers[1],
            complete=True,
            prime=True,
            reasons=(*component.reasons, text),
            completeness=settled
            or "these are all equations, since their ideal is prime and of the right dimension",
            confirmed=confirmed,
        )
    agreed = "as expected" if numbers == expected else "so generators are missing"
    text = f"Macaulay2: dimension {numbers[0]}, degree {numbers[1]} of the equations, {agreed}"
    return replace(component, reasons=(*component.reasons, text), confirmed=confirmed)
