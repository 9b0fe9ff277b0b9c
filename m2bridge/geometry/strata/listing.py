"""All strata of a layer, certified as far as is wanted, and their order."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence

from m2bridge.attention import Layer
from m2bridge.errors import SizeLimitError
from m2bridge.geometry.strata.certify import certified, with_gradients
from m2bridge.geometry.strata.claims import model_dimension
from m2bridge.geometry.strata.equations import Equation, EquationSearch
from m2bridge.geometry.strata.ranks import rank_strata
from m2bridge.geometry.strata.stratum import Strata, Stratum
from m2bridge.geometry.strata.symmetric import symmetric_strata
from m2bridge.geometry.strata.tensors import Tensors
from m2bridge.geometry.weights import layer_map

__all__ = ["Progress", "add_gradients", "hasse_diagram", "maximal", "strata"]

logger = logging.getLogger("m2bridge.geometry.strata")

Progress = Callable[[str, int, int | None], None]

_WORK_BY_DEFAULT = {1: 2_000, 2: 20_000}
"""Strata times coordinates up to which the numbers are recomputed unasked (t = 1, t >= 2)."""

_HASSE_LIMIT = 3_000


def strata(
    layer: Layer,
    *,
    certify: bool | None = None,
    equations: Sequence[Equation] | None = None,
    progress: Progress | None = None,
) -> tuple[Stratum, ...]:
    """All strata of the functions of a layer, by dimension, the zero function first.

    Args:
        layer: the model; any size.
        certify: recompute dimensions, fibres and tangent vectors exactly at the representatives.
            None does so for small models (strata times coordinates up to 20000; t = 1: 2000);
            otherwise the statements rest on the theorems, and say so.
        equations: polynomials that vanish on the model, as mappings {sorted coordinate
            positions: coefficient}; their gradients are then used too, which needs certify.
        progress: called with (stage, done, total).

    Raises:
        TypeError: for anything but a layer.
        ValueError: equations are given with certify=False.
        VerificationError: a computed number contradicts a closed formula.
    """
    if not isinstance(layer, Layer):
        raise TypeError(f"strata are those of one layer, not of {type(layer).__name__}")
    if equations is not None and certify is False:
        raise ValueError("equations are of use only when strata are certified")
    found: list[Stratum] = [*(symmetric_strata(layer) if layer.t == 1 else rank_strata(layer))]
    found.sort(key=lambda s: (s.dimension, s.type))
    if certify is None:
        work = len(found) * layer.ambient_dimension
        certify = equations is not None or work <= _WORK_BY_DEFAULT[min(layer.t, 2)]
    if not certify:
        return Strata(found)
    tensors = Tensors(layer)
    done = []
    for k, stratum in enumerate(found):
        if progress is not None:
            progress("strata", k, len(found))
        proved = certified(stratum, tensors)
        done.append(proved if equations is None else with_gradients(proved, equations))
    return Strata(done)


def _settled(stratum: Stratum) -> bool:
    """Do gradients already decide the tangent dimension and smoothness?"""
    evidence = stratum.evidence
    return evidence is not None and evidence.tangent_upper == stratum.tangent_dimension


def add_gradients(
    found: Sequence[Stratum],
    *,
    max_degree: int = 4,
    limit: int = 3_000,
    seconds: float | None = 60.0,
    progress: Progress | None = None,
) -> tuple[tuple[Stratum, ...], EquationSearch]:
    """Bound all tangent spaces by the gradients of generators of the model's ideal.

    Generators come from the weights method, degree by degree, until the tangent dimension of
    every stratum is settled or a limit is reached; then the certificates say what is missing.

    Args:
        found: certified strata of one layer.
        max_degree: the last degree to look at.
        limit: the largest number of generators in one degree.
        seconds: a time limit, looked at between steps; None for none.
        progress: called with (stage, done, total).

    Returns:
        The strata with gradient ranks, and the search with its equations.
    """
    layer = found[0].layer
    search = EquationSearch(layer_map(layer), limit=limit)
    deadline = None if seconds is None else time.monotonic() + seconds
    current = Strata(found)
    codimension = layer.ambient_dimension - model_dimension(found[0])
    while codimension and search.degree < max_degree:
        if progress is not None:
            progress("equations", search.degree, max_degree)
        try:
            new = search.advance(deadline)
        except (SizeLimitError, TimeoutError) as stop:
            logger.info("gradients stop after degree %d: %s", search.degree, stop)
            break
        if new:
            current = Strata(with_gradients(s, search.equations) for s in current)
        if all(map(_settled, current)):
            break
    return current, search


def maximal(found: Sequence[Stratum]) -> tuple[Stratum, ...]:
    """Those that lie in the closure of no other one of the list."""
    kept: list[Stratum] = []
    for stratum in sorted(found, key=lambda s: -s.dimension):
        if not any(other.closure_contains(stratum) for other in kept):
            kept.append(stratum)
    return tuple(kept)


def hasse_diagram(found: Sequence[Stratum]) -> tuple[tuple[int, int], ...]:
    """The covers among all strata of a layer, as pairs (lower, upper) of positions in the list.

    Raises:
        SizeLimitError: for more than 3000 strata.
    """
    if len(found) > _HASSE_LIMIT:
        raise SizeLimitError(
            f"{len(found)} strata: their order is drawn for at most {_HASSE_LIMIT}; "
            "ask for `covers` of single strata"
        )
    if found and found[0].layer.t != 1:
        place = {s.type: k for k, s in enumerate(found)}
        pairs = [(place[t], k) for k, s in enumerate(found) for t in s.covers if t in place]
        return tuple(sorted(pairs))
    order = sorted(range(len(found)), key=lambda k: -found[k].dimension)
    pairs = []
    for upper in range(len(found)):
        below = [k for k in order if k != upper and found[upper].closure_contains(found[k])]
        covers: list[int] = []
        for k in below:
            if not any(found[c].closure_contains(found[k]) for c in covers):
                covers.append(k)
        pairs += [(k, upper) for k in covers]
    return tuple(sorted(pairs))
