"""Macaulay2's word on the equations of a component: dimension, degree, primality."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from m2bridge.engine import Session
from m2bridge.errors import M2TimeoutError, VerificationError
from m2bridge.geometry.strata.closures import Component
from m2bridge.scripts import polynomials_to_lists, run_script

__all__ = ["confirmed_component"]

# M2's primality test ends within seconds up to here; beyond, dimension and degree are asked only.
_PRIMALITY_COORDINATES = 24
_PRIMALITY_GENERATORS = 120
_GENERATORS = 1_500
_SECONDS = 120.0


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
    size = component.stratum.layer.ambient_dimension
    primality = size <= _PRIMALITY_COORDINATES and len(generators) <= _PRIMALITY_GENERATORS
    try:
        answer = run_script(
            session,
            "component",
            timeout=_SECONDS,
            variables=size,
            polynomials=polynomials_to_lists(generators),
            primality=primality,
        )
    except M2TimeoutError:
        note = f"Macaulay2 did not confirm it within {_SECONDS:.0f} s"
        return replace(component, certificate=f"{component.certificate}; {note}")
    return _merged(component, answer)


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
        return replace(
            component,
            degree=numbers[1],
            complete=True,
            prime=True,
            certificate=f"{component.certificate}; {text}, so these are all equations",
            confirmed=confirmed,
        )
    agreed = "as expected" if numbers == expected else "so generators are missing"
    text = f"Macaulay2: dimension {numbers[0]}, degree {numbers[1]} of the equations, {agreed}"
    return replace(component, certificate=f"{component.certificate}; {text}", confirmed=confirmed)
