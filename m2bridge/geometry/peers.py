"""The ideal of a layer by other people's methods, in Macaulay2: references to compare with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sympy

from m2bridge.errors import EngineError, VerificationError
from m2bridge.geometry.elimination import eliminated_ideal
from m2bridge.geometry.generators import sparse_from_poly
from m2bridge.geometry.hilbert import image_degree, image_dimension
from m2bridge.geometry.implicit_result import ImplicitIdeal
from m2bridge.geometry.weights import layer_map
from m2bridge.geometry.weights.space import weight_of
from m2bridge.scripts import polynomials_from_answer, run_script

if TYPE_CHECKING:
    from m2bridge.attention.layer import Layer

__all__ = ["MULTIGRADED", "macaulay2_ideal", "multigraded_available"]

MULTIGRADED = "MultigradedImplicitization"
"""The Macaulay2 package behind the method "multigraded"; older versions of M2 lack it."""

_DEFAULT_DEGREE = 4


def multigraded_available(session: Any) -> bool:
    """Whether this Macaulay2 has the package MultigradedImplicitization."""
    answer = session.call("packages", [MULTIGRADED.encode("ascii")])
    return bool(answer.segments[0] == b"true")


def macaulay2_ideal(
    layer: Layer,
    method: str,
    max_degree: int | None,
    session: Any,
    timeout: float | None,
) -> ImplicitIdeal:
    """The ideal by "elimination" (all degrees) or "multigraded" (up to a degree).

    Raises:
        ValueError: no session was given.
        EngineError: Macaulay2 lacks the package for "multigraded".
        VerificationError: what Macaulay2 found contradicts a theorem or does not vanish.
        M2TimeoutError, M2MemoryError: Macaulay2 did not end within its limits.
    """
    if session is None:
        raise ValueError(f'method "{method}" runs in Macaulay2: pass a session')
    if method == "elimination":
        return _eliminated(layer, max_degree, session, timeout)
    return _multigraded(layer, max_degree or _DEFAULT_DEGREE, session, timeout)


def _eliminated(
    layer: Layer, max_degree: int | None, session: Any, timeout: float | None
) -> ImplicitIdeal:
    """Graded elimination over QQ finds the kernel of the map, so nothing is missing."""
    found = eliminated_ideal(layer, session, timeout=timeout)
    expected = image_dimension(layer), image_degree(layer)
    if (found.dimension, found.degree) != expected:
        raise VerificationError(
            f"elimination gives dimension and degree {(found.dimension, found.degree)}, "
            f"but the theorems say {expected}"
        )
    kept = tuple(
        f for f in found.generators if max_degree is None or f.total_degree() <= max_degree
    )
    complete = len(kept) == len(found.generators)
    certificate = "Graded elimination over QQ by Macaulay2: the kernel of the parametrization."
    if not complete:
        certificate += f" Generators of degree above {max_degree} were left out."
    return _result(layer, kept, "elimination", max_degree, complete, certificate)


def _multigraded(
    layer: Layer, max_degree: int, session: Any, timeout: float | None
) -> ImplicitIdeal:
    """MultigradedImplicitization decides ranks modulo a prime; its equations are proved here."""
    if not multigraded_available(session):
        raise EngineError(
            f"this Macaulay2 has no package {MULTIGRADED}; install a newer one "
            "(m2bridge install-m2)"
        )
    sizes = {"d": layer.d, "d_out": layer.d_out, "a": layer.a, "t": layer.t}
    map_ = layer_map(layer)
    weights = [[e for row in weight_of(label, map_.dims) for e in row] for label in map_.labels]
    answer = run_script(
        session,
        "multigraded",
        timeout=timeout,
        max_degree=max_degree,
        grading=[list(row) for row in zip(*weights, strict=True)],
        **sizes,
    )
    polynomials = polynomials_from_answer(answer["generators"], layer.symbols)
    kept = sorted(
        (f for f in polynomials if not f.is_zero),
        key=lambda f: (f.total_degree(), len(f.terms()), f.terms()),
    )
    for f in kept:
        if not map_.vanishes(sparse_from_poly(f, layer.symbols)):
            raise VerificationError(f"{MULTIGRADED} gave a polynomial that does not vanish: {f}")
    certificate = (
        f"Each equation vanishes identically on the parametrization (exact substitution). Up to "
        f"degree {max_degree} the search of {MULTIGRADED} decides ranks modulo a prime."
    )
    return _result(layer, tuple(kept), "multigraded", max_degree, None, certificate)


def _result(
    layer: Layer,
    generators: tuple[sympy.Poly, ...],
    method: str,
    max_degree: int | None,
    complete: bool | None,
    certificate: str,
) -> ImplicitIdeal:
    counts: dict[int, int] = {}
    for f in generators:
        counts[f.total_degree()] = counts.get(f.total_degree(), 0) + 1
    return ImplicitIdeal(
        layer=layer,
        generators=generators,
        generators_by_degree=dict(sorted(counts.items())),
        irreducibles={},
        highest_weight_vectors={},
        method=method,
        max_degree=max_degree,
        complete=complete,
        certainty="proved",
        certificate=certificate,
    )
