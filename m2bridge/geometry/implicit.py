"""The equations of one layer: ``implicit_ideal`` and its answer.

The method ``weights`` is this project's (docs/theory, "How to find equations"): torus weights and
highest-weight vectors, see :mod:`m2bridge.geometry.weights`. ``elimination`` and ``multigraded``
run in Macaulay2 and serve as references.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from math import comb, prod
from typing import TYPE_CHECKING, Any

import sympy

from m2bridge.errors import SizeLimitError, VerificationError
from m2bridge.geometry.completeness import Verdict, check_hilbert_function, theoretical_verdict
from m2bridge.geometry.generators import (
    Generators,
    module_sources,
    sparse_from_poly,
    to_poly,
)
from m2bridge.geometry.hilbert import (
    generator_degree_bound,
    hilbert_function,
    image_degree,
    image_dimension,
)
from m2bridge.geometry.weights import WeightIdeal, layer_map, next_degree
from m2bridge.geometry.weights.highest import Shape
from m2bridge.geometry.weights.ideal import Progress
from m2bridge.geometry.weights.maps import IntegerPolynomial
from m2bridge.geometry.weights.partitions import Partition, schur_dimension

if TYPE_CHECKING:
    from m2bridge.attention.layer import Layer

__all__ = ["METHODS", "ImplicitIdeal", "Irreducible", "implicit_ideal", "irreducible"]

METHODS = ("auto", "weights", "elimination", "multigraded")

_AUTO_MONOMIALS = {1: 100_000, 2: 1_000_000}
"""``max_degree=None`` goes on while the polynomial ring has fewer monomials than this: for t = 1
(fewer weights, so each weight space is larger) and for t >= 2."""


@dataclass(frozen=True)
class Irreducible:
    """An irreducible module of minimal generators.

    S_output(K^d_out) (x) S_pair(K^d) (x) S_column(K^d) for t >= 2; for t = 1 the group is
    GL(d_out) x GL(d), ``pair`` belongs to the cubics and ``column`` is empty.

    Attributes:
        multiplicity: how often it occurs.
        output, pair, column: partitions, without zeros.
        dimension: of one copy.
    """

    multiplicity: int
    output: Partition
    pair: Partition
    column: Partition
    dimension: int

    def __str__(self) -> str:
        shapes = [self.output, self.pair] + ([self.column] if self.column else [])
        separator = "." if any(x > 9 for shape in shapes for x in shape) else ""
        body = ";".join(separator.join(map(str, shape)) for shape in shapes)
        return f"{self.multiplicity if self.multiplicity > 1 else ''}[{body}]"


@dataclass(frozen=True, eq=False)
class ImplicitIdeal:
    """The ideal of all equations of a layer, up to a degree.

    Attributes:
        layer: whose functions the equations describe.
        generators: minimal generators, primitive over ZZ, in ``layer.symbols``; by degree, then by
            module, then by weight. A lazily expanded sequence: ``len`` is free.
        generators_by_degree: degree -> number of minimal generators.
        irreducibles: degree -> the modules they span (empty for methods other than ``weights``).
        highest_weight_vectors: degree -> one polynomial for each copy of each module.
        method: which method ran.
        max_degree: the last degree that was searched; None when all degrees were.
        complete: True or False when proved, None when undecided.
        certainty: what the generators rest on: "proved", or "modular".
        certificate: why the generators are right, and why they are (not known to be) all.
        weights: the ideal in terms of highest-weight vectors, for the method ``weights``.
        provenance: whatever made the result.
    """

    layer: Layer
    generators: Sequence[sympy.Poly]
    generators_by_degree: Mapping[int, int]
    irreducibles: Mapping[int, tuple[Irreducible, ...]]
    highest_weight_vectors: Mapping[int, tuple[sympy.Poly, ...]]
    method: str
    max_degree: int | None
    complete: bool | None
    certainty: str
    certificate: str
    weights: WeightIdeal | None = None
    provenance: Any = field(default=None, compare=False)

    @property
    def dimension(self) -> int:
        """Dimension of the affine cone over the image (a theorem, docs/theory)."""
        return image_dimension(self.layer)

    @property
    def degree(self) -> int:
        """Degree of the closure of the image (a theorem, docs/theory)."""
        return image_degree(self.layer)

    def hilbert_function(self, D: int) -> int | None:
        """dim of the degree-D part of the coordinate ring; None when neither computed nor proved.

        Raises:
            ValueError: D is negative.
        """
        if D < 0:
            raise ValueError(f"a degree is at least 0, got {D}")
        if self.weights is not None and self.weights.max_degree >= D:
            n = self.layer.ambient_dimension
            return comb(n + D - 1, D) - self.weights.dimension(D)
        return hilbert_function(self.layer, D)

    def sparse_generators(self) -> list[IntegerPolynomial]:
        """The generators as sorted coordinate positions -> integer coefficient."""
        if isinstance(self.generators, Generators):
            return list(self.generators.sparse())
        return [sparse_from_poly(f, self.layer.symbols) for f in self.generators]

    def with_generators(self, generators: Sequence[sympy.Poly]) -> ImplicitIdeal:
        """The same claim about other generators; ``verify`` decides whether it holds."""
        return replace(self, generators=tuple(generators))

    def verify(self, progress: Callable[[str, int, int | None], None] | None = None) -> None:
        """Prove the result again, from the parametrization.

        Every generator is substituted exactly; the counts by degree are compared; the computed
        dimensions are compared with the Hilbert function of theorem 7.

        Raises:
            VerificationError: naming the generator or the number that is wrong.
        """
        map_ = layer_map(self.layer)
        counts: dict[int, int] = {}
        polynomials = self.sparse_generators()
        for number, f in enumerate(polynomials):
            degrees = {len(monomial) for monomial in f}
            if len(degrees) != 1:
                kind = "zero" if not degrees else "not homogeneous"
                raise VerificationError(f"generator {number} is {kind}")
            if not map_.vanishes(f):
                shown = to_poly(f, self.layer.symbols).as_expr()
                raise VerificationError(
                    f"generator {number} does not vanish on the parametrization: {shown}"
                )
            degree = degrees.pop()
            counts[degree] = counts.get(degree, 0) + 1
            if progress is not None:
                progress("verify", number + 1, len(polynomials))
        claimed = {k: n for k, n in self.generators_by_degree.items() if n}
        if counts != claimed:
            raise VerificationError(f"generators by degree: {counts} found, {claimed} claimed")
        if self.weights is not None:
            check_hilbert_function(self.layer, self.weights)


def irreducible(layer: Layer, shape: Shape, multiplicity: int) -> Irreducible:
    """The module of a layer with this highest weight."""
    output, pair = shape[0], shape[1]
    column = shape[2] if len(shape) > 2 else ()
    dims = (layer.d_out, layer.d, layer.d)
    dimension = prod(schur_dimension(p, n) for p, n in zip(shape, dims, strict=False))
    return Irreducible(multiplicity, output, pair, column, dimension)


def _from_weights(layer: Layer, ideal: WeightIdeal, verdict: Verdict) -> ImplicitIdeal:
    """Dress the result of the weights method."""
    symbols = layer.symbols
    sources = [s for D in ideal.parts for s in module_sources(ideal, D)]
    irreducibles: dict[int, tuple[Irreducible, ...]] = {}
    highest: dict[int, tuple[sympy.Poly, ...]] = {}
    for D, part in ideal.parts.items():
        if not part.new_blocks:
            continue
        irreducibles[D] = tuple(
            irreducible(layer, block.shape, block.new.shape[1]) for block in part.new_blocks
        )
        highest[D] = tuple(to_poly(s.highest, symbols) for s in sources if s.degree == D)
    generators = Generators(symbols, sources)
    substitution = (
        f"Each of the {len(generators)} generators lies in a module whose highest-weight vector "
        "vanishes identically on the parametrization (exact substitution over QQ). "
    )
    return ImplicitIdeal(
        layer=layer,
        generators=generators,
        generators_by_degree=generators.by_degree(),
        irreducibles=irreducibles,
        highest_weight_vectors=highest,
        method="weights",
        max_degree=ideal.max_degree,
        complete=verdict.complete,
        certainty="proved",
        certificate=(substitution if len(generators) else "") + verdict.reason,
        weights=ideal,
    )


def _monomial_count(layer: Layer, degree: int) -> int:
    """Monomials that matter in a degree: no weight of degree D has more than D outputs."""
    per_output = layer.ambient_dimension // layer.d_out
    n = per_output * min(layer.d_out, degree)
    return comb(n + degree - 1, degree)


def _unbounded_stop(layer: Layer, ideal: WeightIdeal) -> bool:
    """Where no bound is known, go on until two degrees beyond 4 or the last generator are empty.

    While no equation was found although the image is not everything, never stop.
    """
    last = max((D for D, part in ideal.parts.items() if part.new_blocks), default=0)
    if last == 0 and image_dimension(layer) < layer.ambient_dimension:
        return False
    return ideal.max_degree >= max(4, last) + 2


def _search(
    layer: Layer,
    max_degree: int | None,
    time_limit: float | None,
    options: Mapping[str, Any],
) -> tuple[WeightIdeal, str]:
    """Run the weights method; return the ideal and a remark on why it stopped early, or ""."""
    deadline = None if time_limit is None else time.monotonic() + time_limit
    bound = generator_degree_bound(layer)
    large = _AUTO_MONOMIALS[min(layer.t, 2)]
    ideal = WeightIdeal(layer_map(layer))
    last = max_degree if max_degree is not None else (bound[0] if bound else 1 << 30)
    while ideal.max_degree < last:
        degree = ideal.max_degree + 1
        if max_degree is None and degree > 3 and _monomial_count(layer, degree) > large:
            return ideal, f" max_degree=None stopped before degree {degree}, which is large."
        if max_degree is None and bound is None and _unbounded_stop(layer, ideal):
            return ideal, " max_degree=None stopped here, since no bound is known."
        try:
            ideal = next_degree(ideal, deadline=deadline, **options)
        except TimeoutError as exc:
            return ideal, f" Stopped early: {exc}."
        except SizeLimitError as exc:
            if max_degree is not None:
                raise
            return ideal, f" Stopped early: {exc}."
        check_hilbert_function(layer, WeightIdeal(ideal.map, {degree: ideal.parts[degree]}))
    return ideal, ""


def implicit_ideal(
    layer: Layer,
    method: str = "auto",
    max_degree: int | None = None,
    certify: bool = True,
    session: Any = None,
    *,
    executor: Executor | None = None,
    progress: Progress | None = None,
    time_limit: float | None = None,
    max_weight_space: int = 20_000,
) -> ImplicitIdeal:
    """All equations of the functions that a layer can represent, up to a degree.

    Args:
        layer: the layer.
        method: "weights" (ours), "elimination" or "multigraded" (Macaulay2), or "auto" (weights).
        max_degree: the last degree to search. None goes up to a proved bound on the degrees of
            generators where there is one and the degrees are not too large.
        certify: try to prove that nothing is missing; with a session, also by Macaulay2's Hilbert
            series.
        session: a Macaulay2 session, for certificates and the Macaulay2 methods.
        executor: any ``concurrent.futures.Executor`` to spread the weights over.
        progress: called with (stage, done, total).
        time_limit: seconds; the last finished degree is returned when they are over.
        max_weight_space: refuse weight spaces with more monomials.

    Returns:
        The ideal, with certificates. ``complete`` is None where completeness is undecided.

    Raises:
        ValueError, TypeError: bad arguments.
        SizeLimitError: an explicit ``max_degree`` needs a weight space beyond the limit.
        VerificationError: a result contradicts a theorem or its own certificate.
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
    _check_degree(max_degree)
    if method in ("elimination", "multigraded"):
        raise NotImplementedError(method)
    options = {
        "executor": executor,
        "progress": progress,
        "max_weight_space": max_weight_space,
    }
    ideal, remark = _search(layer, max_degree, time_limit, options)
    if certify:
        verdict = theoretical_verdict(layer, ideal)
    else:
        verdict = Verdict(None, f"Complete up to degree {ideal.max_degree}; not certified further.")
    return _from_weights(layer, ideal, Verdict(verdict.complete, verdict.reason + remark))


def _check_degree(max_degree: int | None) -> None:
    if max_degree is None:
        return
    if isinstance(max_degree, bool) or not isinstance(max_degree, int):
        raise TypeError(f"max_degree must be an integer or None, not {max_degree!r}")
    if max_degree < 1:
        raise ValueError(f"max_degree must be at least 1, got {max_degree}")
