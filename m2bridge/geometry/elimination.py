"""The reference: ideals by graded elimination in Macaulay2, and the complete Jacobian criterion.

These questions go to M2 as they stand, without any use of the model's symmetry. They end for small
models only, and there they check the faster methods of this package.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import sympy

from m2bridge.attention.layer import Layer
from m2bridge.engine import Session
from m2bridge.errors import SizeLimitError
from m2bridge.geometry.generators import script_lists
from m2bridge.scripts import polynomials_from_answer, run_script

__all__ = [
    "MAX_MINORS",
    "EliminatedIdeal",
    "JacobianSingularLocus",
    "PrimeComponent",
    "closure_by_elimination",
    "count_minors",
    "eliminated_ideal",
    "jacobian_singular_locus",
    "same_ideal",
]

MAX_MINORS = 20_000
"""The Jacobian criterion is refused when it needs more minors than this."""


@dataclass(frozen=True)
class EliminatedIdeal:
    """A prime ideal over QQ, the kernel of a map of polynomial rings, as M2 found it.

    Attributes:
        generators: minimal, primitive over ZZ, sorted by degree.
        dimension: of the affine cone.
        degree: in the standard grading.
    """

    generators: tuple[sympy.Poly, ...]
    dimension: int
    degree: int

    @property
    def generators_by_degree(self) -> dict[int, int]:
        """Degree -> number of minimal generators."""
        counts: dict[int, int] = {}
        for generator in self.generators:
            total = generator.total_degree()
            counts[total] = counts.get(total, 0) + 1
        return dict(sorted(counts.items()))


@dataclass(frozen=True)
class PrimeComponent:
    """An irreducible component: dimension of the affine cone, degree, prime ideal over QQ."""

    dimension: int
    degree: int
    generators: tuple[sympy.Poly, ...]


@dataclass(frozen=True)
class JacobianSingularLocus:
    """The singular locus by all minors of the Jacobian matrix.

    Attributes:
        dimension: of the affine cone; -1 when it is empty.
        components: its irreducible components over QQ.
        minors: how many minors there are.
    """

    dimension: int
    components: tuple[PrimeComponent, ...]
    minors: int


def eliminated_ideal(
    layer: Layer, session: Session, *, timeout: float | None = None
) -> EliminatedIdeal:
    """The ideal of the closure of all functions of a layer, by graded elimination over QQ.

    Raises:
        M2TimeoutError, M2MemoryError: M2 did not end within the limits.
    """
    sizes = {"d": layer.d, "d_out": layer.d_out, "a": layer.a, "t": layer.t}
    answer = run_script(session, "elimination", timeout=timeout, **sizes)
    return _eliminated(layer, answer)


def closure_by_elimination(
    layer: Layer, ranks: tuple[int, int, int], session: Session, *, timeout: float | None = None
) -> EliminatedIdeal:
    """The ideal of the closure of a stratum (rank V, rank A, rank [V^T | A]), t >= 2.

    Raises:
        ValueError: t = 1, or a zero rank (the closure is the origin).
        M2TimeoutError, M2MemoryError: M2 did not end within the limits.
    """
    v, r, j = ranks
    if layer.t == 1 or min(v, r) < 1:
        raise ValueError(f"closures by elimination are for t >= 2 and positive ranks, not {ranks}")
    answer = run_script(
        session, "closure", timeout=timeout, d=layer.d, d_out=layer.d_out, v=v, r=r, j=j
    )
    return _eliminated(layer, answer)


def _eliminated(layer: Layer, answer: Any) -> EliminatedIdeal:
    generators = polynomials_from_answer(answer["generators"], layer.symbols)
    nonzero = [generator for generator in generators if not generator.is_zero]
    ordered = sorted(nonzero, key=lambda f: (f.total_degree(), len(f.terms()), f.terms()))
    return EliminatedIdeal(tuple(ordered), answer["dimension"], answer["degree"])


def count_minors(generators: int, variables: int, codimension: int) -> int:
    """How many minors the complete Jacobian criterion needs."""
    return comb(generators, codimension) * comb(variables, codimension)


def jacobian_singular_locus(
    generators: Sequence[sympy.Poly],
    symbols: Sequence[sympy.Symbol],
    codimension: int,
    session: Session,
    *,
    max_minors: int = MAX_MINORS,
    timeout: float | None = None,
) -> JacobianSingularLocus:
    """The singular locus of a prime ideal, by ALL minors of its Jacobian matrix, over QQ.

    A part of the minors would give a locus that may be too big, so too many are refused.

    Args:
        generators: of a prime ideal, with integer coefficients in `symbols`.
        codimension: of that ideal.

    Raises:
        SizeLimitError: there are more than `max_minors` minors.
    """
    minors = count_minors(len(generators), len(symbols), codimension)
    if minors > max_minors:
        raise SizeLimitError(
            f"the Jacobian criterion needs {minors} minors of size {codimension}, more than the "
            f"limit of {max_minors} (max_minors raises it); the strata give the singular locus "
            "without it"
        )
    answer = run_script(
        session,
        "jacobian_singular",
        timeout=timeout,
        variables=len(symbols),
        polynomials=script_lists(generators, symbols),
    )
    components = [
        PrimeComponent(
            part["dimension"],
            part["degree"],
            tuple(f for f in polynomials_from_answer(part["generators"], symbols) if not f.is_zero),
        )
        for part in answer["components"]
    ]
    components.sort(key=lambda part: (-part.dimension, part.degree, len(part.generators)))
    return JacobianSingularLocus(answer["dimension"], tuple(components), minors)


def same_ideal(
    first: Sequence[sympy.Poly],
    second: Sequence[sympy.Poly],
    symbols: Sequence[sympy.Symbol],
    session: Session,
    *,
    timeout: float | None = None,
) -> bool:
    """Whether two lists of integer polynomials generate the same ideal over QQ (M2 decides)."""
    answer = run_script(
        session,
        "invariants_of_ideal",
        timeout=timeout,
        variables=len(symbols),
        polynomials=script_lists(first, symbols),
        other=script_lists(second, symbols),
        primality=False,
    )
    return bool(answer["equal"])
