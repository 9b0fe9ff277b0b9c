"""One stratum, asked for by its type."""

from __future__ import annotations

from collections.abc import Sequence

from m2bridge.attention import Layer
from m2bridge.engine import Session
from m2bridge.geometry.strata.closures import Component, EquationOptions, closure_component
from m2bridge.geometry.strata.confirm import confirmed_component
from m2bridge.geometry.strata.forms import canonical, form_types
from m2bridge.geometry.strata.listing import strata
from m2bridge.geometry.strata.ranks import RankStratum
from m2bridge.geometry.strata.stratum import Stratum
from m2bridge.geometry.strata.symmetric import SymmetricStratum

__all__ = ["closure_of_type", "stratum_of_type"]


def _integers(kind: Sequence[int], names: tuple[str, ...]) -> tuple[int, ...]:
    """The type as integers.

    Raises:
        TypeError: for entries that are no integers.
        ValueError: for a wrong number of entries.
    """
    entries = tuple(kind)
    if any(isinstance(x, bool) or not isinstance(x, int) for x in entries):
        raise TypeError(f"a type consists of integers ({', '.join(names)}), not {entries!r}")
    if len(entries) != len(names):
        raise ValueError(f"a type here is ({', '.join(names)}), not {entries!r}")
    return entries


def stratum_of_type(layer: Layer, kind: Sequence[int]) -> Stratum:
    """The stratum of this type.

    Args:
        layer: the model.
        kind: (rank V, rank A, rank [V^T | A]) for t >= 2; (rank V, rank S, j, rho) for t = 1.

    Raises:
        TypeError: for entries that are no integers.
        ValueError: for a type that does not occur in this model; the message says why.
    """
    if layer.t == 1:
        return _symmetric(layer, _integers(kind, ("rank V", "rank S", "j", "rho")))
    v, r, joint = _integers(kind, ("rank V", "rank A", "rank [V^T | A]"))
    d = layer.d
    if (v, r, joint) == (0, 0, 0):
        return RankStratum(0, 0, 0, layer=layer)
    bounds = [
        (1 <= v <= min(d, layer.d_out), f"1 <= rank V <= min(d, d_out) = {min(d, layer.d_out)}"),
        (1 <= r <= layer.alpha, f"1 <= rank A <= min(a, d) = {layer.alpha}"),
        (max(v, r) <= joint, f"rank [V^T | A] >= max(rank V, rank A) = {max(v, r)}"),
        (joint <= min(d, v + r), f"rank [V^T | A] <= min(d, rank V + rank A) = {min(d, v + r)}"),
    ]
    for good, text in bounds:
        if not good:
            raise ValueError(
                f"no weights of {layer!r} have ranks {(v, r, joint)}: {text} is needed"
            )
    return RankStratum(v, r, joint, layer=layer)


def _symmetric(layer: Layer, kind: tuple[int, ...]) -> SymmetricStratum:
    v, r, j, rho = kind
    d = layer.d
    if kind != (0, 0, d, 0):
        rank = min(2 * layer.a, d)
        if (v, r, j, rho) not in form_types(d, layer.d_out, rank):
            raise ValueError(
                f"no weights of {layer!r} have type {kind}: 1 <= rank V <= min(d, d_out), "
                f"1 <= rank S <= min(2 a, d) = {rank}, and with m = d - rank V - j: 0 <= j <= "
                "d - rank S, 0 <= rho <= m and 2 m - rho <= rank S are needed"
            )
    return SymmetricStratum(*canonical(d, (v, r, j, rho)), layer=layer)


def closure_of_type(
    layer: Layer,
    kind: Sequence[int],
    session: Session | None = None,
    *,
    equations: bool = True,
    options: EquationOptions | None = None,
) -> Component:
    """The Zariski closure of a stratum: dimension, degree, equations, the strata in it.

    Args:
        layer, kind: as for `stratum_of_type`.
        session: a Macaulay2 session, to confirm the equations.
        equations: find equations.
        options: limits for these.

    Raises:
        TypeError, ValueError: as `stratum_of_type`.
        SizeLimitError: equations are asked for and the model has too many coordinates.
        VerificationError: Macaulay2 contradicts what was proved.
    """
    stratum = stratum_of_type(layer, kind)
    found = strata(layer, certify=False)
    component = closure_component(stratum, found, equations=equations, options=options)
    if session is not None and equations:
        return confirmed_component(component, session)
    return component
