"""The answer of ``implicit_ideal``: equations with their modules and certificates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import comb, prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sympy

from m2bridge.display import brief, counts, facts_html, latex_lines, polynomials_html, settled
from m2bridge.errors import VerificationError
from m2bridge.geometry.certificates import betti_numbers, hilbert_series_of
from m2bridge.geometry.completeness import Verdict, check_hilbert_function
from m2bridge.geometry.export import polynomial_text, save_ideal
from m2bridge.geometry.generators import (
    Generators,
    HighestSource,
    module_sources,
    sparse_from_poly,
)
from m2bridge.geometry.hilbert import (
    HilbertSeries,
    hilbert_function,
    hilbert_series,
    image_degree,
    image_dimension,
)
from m2bridge.geometry.implicit_check import check_generators
from m2bridge.geometry.weights import WeightIdeal, ideal_up_to_degree, layer_map
from m2bridge.geometry.weights.highest import Shape
from m2bridge.geometry.weights.maps import IntegerPolynomial
from m2bridge.geometry.weights.partitions import Partition, schur_dimension

if TYPE_CHECKING:
    from m2bridge.attention.layer import Layer

__all__ = ["ImplicitIdeal", "Irreducible", "from_weights", "irreducible"]


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
    highest_weight_vectors: Mapping[int, Sequence[sympy.Poly]]
    method: str
    max_degree: int | None
    complete: bool | None
    certainty: str
    certificate: str
    weights: WeightIdeal | None = None
    provenance: Any = field(default=None, compare=False)

    __repr__ = brief

    @property
    def dimension(self) -> int:
        """Dimension of the affine cone over the image (a theorem, docs/theory)."""
        return image_dimension(self.layer)

    @property
    def degree(self) -> int:
        """Degree of the closure of the image (a theorem, docs/theory)."""
        return image_degree(self.layer)

    def _first(self) -> Sequence[sympy.Poly]:
        """What a notebook shows: all generators where these are few, else one for each module."""
        if len(self.generators) <= 6 or not self.highest_weight_vectors:
            return self.generators
        return [f for _, some in sorted(self.highest_weight_vectors.items()) for f in some]

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [
            ("dimension", f"{self.dimension} of {self.layer.ambient_dimension}"),
            ("degree", self.degree),
            ("minimal generators", counts(self.generators_by_degree)),
            *(
                (f"degree {degree} as modules", " + ".join(map(str, entries)))
                for degree, entries in sorted(self.irreducibles.items())
            ),
            ("all equations?", settled(self.complete, self.certificate)),
            ("certainty of the equations", self.certainty),
            ("method", self.method),
            ("equations", polynomials_html(self._first(), len(self.generators))),
        ]
        if self.complete is not None:
            rows.append(("why", self.certificate))
        return facts_html(f"Equations of {self.layer}", rows)

    def _repr_latex_(self) -> str:
        if not len(self.generators):
            return latex_lines([r"(0)"])
        first = self._first()
        lines = [sympy.latex(first[k].as_expr()) + " = 0" for k in range(min(len(first), 6))]
        more = len(self.generators) - len(lines)
        return latex_lines(lines + ([rf"\text{{and {more} more}}"] if more else []))

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

    def hilbert_series(
        self, session: Any = None, *, prime: int = 0, timeout: float | None = None
    ) -> HilbertSeries | None:
        """The Hilbert series: of the image by theorem 7, or of the generators by Macaulay2.

        Args:
            session: a Macaulay2 session; None asks the theorem, which may not cover the layer.
            prime: the characteristic for Macaulay2; 0 is QQ.
            timeout: seconds for Macaulay2.
        """
        if session is None:
            return hilbert_series(self.layer)
        polynomials, n = self.sparse_generators(), self.layer.ambient_dimension
        return hilbert_series_of(polynomials, n, session, prime=prime, timeout=timeout)

    def betti_numbers(
        self, session: Any, *, prime: int = 0, timeout: float | None = None
    ) -> dict[tuple[int, int], int]:
        """Graded Betti numbers by Macaulay2: (homological degree, degree) -> rank.

        Args:
            session: a Macaulay2 session.
            prime: the characteristic; 0 is QQ, modulo a prime they are upper bounds.
            timeout: seconds.
        """
        polynomials, n = self.sparse_generators(), self.layer.ambient_dimension
        return betti_numbers(polynomials, n, session, prime=prime, timeout=timeout)

    def save(self, path: str | Path) -> Path:
        """Write a .m2, .sing (Singular) or .mrdi (OSCAR) file; see ``geometry.export``."""
        return save_ideal(self, path)

    def sparse_generators(self) -> list[IntegerPolynomial]:
        """The generators as sorted coordinate positions -> integer coefficient."""
        if isinstance(self.generators, Generators):
            return list(self.generators.sparse())
        return [sparse_from_poly(f, self.layer.symbols) for f in self.generators]

    def _shown(self, f: IntegerPolynomial) -> str:
        """The beginning of a polynomial, for messages."""
        names = [c.name for c in self.layer.coordinates]
        return polynomial_text(f, names)[:300]

    def with_generators(self, generators: Sequence[sympy.Poly]) -> ImplicitIdeal:
        """The same claim about other generators; ``verify`` decides whether it holds."""
        return replace(self, generators=tuple(generators))

    def verify(self, progress: Callable[[str, int, int | None], None] | None = None) -> None:
        """Prove the result again, from the parametrization.

        Every generator is substituted exactly; the counts by degree are compared; generators that
        are not the list of the weights method are proved to be minimal generators, and all up to
        ``max_degree`` (None: up to their own degree), by the weights method; the computed
        dimensions are compared with the Hilbert function of theorem 7.

        Raises:
            VerificationError: naming the generator or the number that is wrong.
            SizeLimitError: other generators of a degree that is too large for the weights method.
        """
        polynomials = self.sparse_generators()
        counts = self._substituted(polynomials, progress)
        claimed = {k: n for k, n in self.generators_by_degree.items() if n}
        if counts != claimed:
            raise VerificationError(f"generators by degree: {counts} found, {claimed} claimed")
        ideal = self.weights
        if ideal is None:
            last = max(counts, default=0) if self.max_degree is None else self.max_degree
            ideal = ideal_up_to_degree(layer_map(self.layer), last)
        by_construction = self.weights is not None and isinstance(self.generators, Generators)
        for degree in sorted({*ideal.parts, *counts}):
            found = [f for f in polynomials if len(next(iter(f))) == degree]
            check_generators(ideal, degree, found, independent=by_construction)
        check_hilbert_function(self.layer, ideal)

    def _substituted(
        self,
        polynomials: Sequence[IntegerPolynomial],
        progress: Callable[[str, int, int | None], None] | None,
    ) -> dict[int, int]:
        """Substitute every polynomial exactly; how many there are of each degree."""
        map_ = layer_map(self.layer)
        counts: dict[int, int] = {}
        for number, f in enumerate(polynomials):
            degrees = {len(monomial) for monomial in f}
            if len(degrees) != 1:
                kind = "zero" if not degrees else "not homogeneous"
                raise VerificationError(f"generator {number} is {kind}")
            if not map_.vanishes(f):
                raise VerificationError(
                    f"generator {number} does not vanish on the parametrization: {self._shown(f)}"
                )
            degree = degrees.pop()
            counts[degree] = counts.get(degree, 0) + 1
            if progress is not None:
                progress("verify", number + 1, len(polynomials))
        return counts


def irreducible(layer: Layer, shape: Shape, multiplicity: int) -> Irreducible:
    """The module of a layer with this highest weight."""
    output, pair = shape[0], shape[1]
    column = shape[2] if len(shape) > 2 else ()
    dims = (layer.d_out, layer.d, layer.d)
    dimension = prod(schur_dimension(p, n) for p, n in zip(shape, dims, strict=False))
    return Irreducible(multiplicity, output, pair, column, dimension)


def from_weights(layer: Layer, ideal: WeightIdeal, verdict: Verdict) -> ImplicitIdeal:
    """Dress the result of the weights method."""
    symbols = layer.symbols
    sources = [s for D in ideal.parts for s in module_sources(ideal, D)]
    irreducibles: dict[int, tuple[Irreducible, ...]] = {}
    highest: dict[int, Sequence[sympy.Poly]] = {}
    for D, part in ideal.parts.items():
        if not part.new_blocks:
            continue
        irreducibles[D] = tuple(
            irreducible(layer, block.shape, block.new.shape[1]) for block in part.new_blocks
        )
        highest[D] = Generators(symbols, [HighestSource(s) for s in sources if s.degree == D])
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
