"""Coefficients given as numbers: each one exact, all of them there, none of them unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import sympy

from m2bridge.attention.layer import Layer

__all__ = ["Full", "exact_number", "full_named", "full_numbers", "named", "numbers"]

Full = dict[tuple[tuple[int, int], Any], flint.fmpq]
"""Values of full coordinates by output (i, j) and monomial of X."""


def exact_number(value: object, name: str, rationalize: bool) -> flint.fmpq:
    """One coefficient as ``fmpq``.

    Raises:
        TypeError: for floats (unless ``rationalize``), symbols and other things.
        ValueError: for NaN, infinities and irrational numbers.
    """
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} is the truth value {value!r}; a rational number is needed")
    if isinstance(value, (int, np.integer)):
        return flint.fmpq(int(value))
    if isinstance(value, (flint.fmpq, flint.fmpz)):
        return flint.fmpq(value)
    if isinstance(value, (float, np.floating, sympy.Float)):
        return _from_float(float(value), name, rationalize)
    if isinstance(value, sympy.Basic):
        return _from_sympy(value, name)
    if isinstance(value, Fraction) or hasattr(value, "numerator"):
        return flint.fmpq(int(value.numerator), int(value.denominator))  # type: ignore[attr-defined]
    raise TypeError(f"{name} is {value!r} ({type(value).__name__}); a rational number is needed")


def _from_float(value: float, name: str, rationalize: bool) -> flint.fmpq:
    if not np.isfinite(value):
        raise ValueError(f"{name} is {value!r}; coefficients must be finite numbers")
    if not rationalize:
        raise TypeError(
            f"{name} is the floating-point number {value!r}; recognize is exact. Give integers or "
            "fractions, round to rationals yourself, or pass rationalize=True to take each float "
            "as exactly the binary fraction that it is"
        )
    fraction = Fraction(value)
    return flint.fmpq(fraction.numerator, fraction.denominator)


def _from_sympy(value: sympy.Basic, name: str) -> flint.fmpq:
    number = value if isinstance(value, sympy.Rational) else sympy.simplify(value)
    if isinstance(number, sympy.Rational):
        return flint.fmpq(int(number.p), int(number.q))
    if getattr(value, "free_symbols", None):
        raise TypeError(f"{name} is {value}, which is no number")
    raise ValueError(
        f"{name} is {value}, which is not rational; coefficients must be rational numbers "
        "(scale the function, if that helps)"
    )


def numbers(layer: Layer, values: Sequence[Any], rationalize: bool) -> tuple[flint.fmpq, ...]:
    """All coordinates in order.

    Raises:
        ValueError: for a wrong length.
    """
    __tracebackhide__ = True  # notebooks: the caller's line is what matters
    expected = layer.ambient_dimension
    if len(values) != expected:
        raise ValueError(
            f"{layer!r} has {expected} coordinates ({layer.coordinates[0].name}, ..., "
            f"{layer.coordinates[-1].name}), got {len(values)} values"
        )
    names = (c.name for c in layer.coordinates)
    return tuple(
        exact_number(value, name, rationalize) for value, name in zip(values, names, strict=True)
    )


def named(layer: Layer, values: Mapping[Any, Any], rationalize: bool) -> tuple[flint.fmpq, ...]:
    """All coordinates by name.

    Raises:
        ValueError: for unknown or missing names.
    """
    given = {str(name): value for name, value in values.items()}
    names = [c.name for c in layer.coordinates]
    unknown = sorted(set(given) - set(names))
    if unknown:
        raise ValueError(f"no such coordinates: {', '.join(unknown[:5])}; they are {names[0]}, ...")
    missing = [name for name in names if name not in given]
    if missing:
        raise ValueError(f"{len(missing)} coordinates are missing, the first is {missing[0]}")
    return tuple(exact_number(given[name], name, rationalize) for name in names)


def full_named(layer: Layer, values: Mapping[Any, Any], rationalize: bool) -> Full:
    """Values of full coordinates by name; those that are missing are zero.

    Raises:
        ValueError: for an unknown name.
    """
    given = {str(name): value for name, value in values.items()}
    found: Full = {}
    for c in layer.full_coordinates:
        if c.name in given:
            found[c.output, c.monomial] = exact_number(given.pop(c.name), c.name, rationalize)
    if given:
        raise ValueError(f"no such coordinates: {', '.join(sorted(given)[:5])}")
    return found


def full_numbers(layer: Layer, values: Sequence[Any], rationalize: bool) -> Full:
    """Values of all full coordinates, in the order of ``layer.full_coordinates``."""
    return {
        (c.output, c.monomial): exact_number(value, c.name, rationalize)
        for c, value in zip(layer.full_coordinates, values, strict=True)
    }
