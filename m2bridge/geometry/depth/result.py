"""What the dimension question answers with."""

from __future__ import annotations

from dataclasses import dataclass

from m2bridge.attention import Network
from m2bridge.display import brief, facts_html, settled
from m2bridge.geometry.depth.symmetries import SymmetryCount

__all__ = ["DimensionResult"]


@dataclass(frozen=True)
class DimensionResult:
    """The dimension of the affine cone of functions that a network can compute.

    Attributes:
        network: the network that was asked about.
        value: the dimension, or None where the bounds leave a gap; then `reason` says why.
        lower: the largest lower bound found, None if none was computed (``method="formula"`` where
            the formula is only an upper bound).
        upper: a proved upper bound.
        certainty: ``"proved"`` when equal bounds, or a theorem, settle the value; ``"modular"``
            when the bounds differ; ``"numerical"`` for a floating-point rank; ``"conjectural"``
            when only a formula was used whose equality is not proved.
        formula: the published formula (arXiv 2408.17221), None where it says nothing.
        refined: the formula of the theory page, None where no formula covers the architecture.
        parameters: the number of weights.
        reason: why `formula` and `refined` agree or differ, and why a value is missing.
        lower_source, upper_source: where the two bounds come from.
        method: ``"formula"``, ``"rank"``, ``"jets"`` or ``"numerical"``: what was really done.
        primes: moduli of the ranks that were taken, the successful one last.
        seed: the seed of the last rank.
        inputs: random inputs used; the rank being smaller than this number shows that more inputs
            add nothing.
        symmetries: the infinitesimal symmetries behind the upper bound, if they were computed.
        gap: ratio of the last kept and the first dropped singular value (numerical only).
        tolerance: singular values below this fraction of the largest were dropped (numerical only).
        notes: remarks on the network's sizes.
    """

    network: Network
    value: int | None
    lower: int | None
    upper: int
    certainty: str
    formula: int | None
    refined: int | None
    parameters: int
    reason: str
    lower_source: str
    upper_source: str
    method: str
    primes: tuple[int, ...] = ()
    seed: int | None = None
    inputs: int | None = None
    symmetries: SymmetryCount | None = None
    gap: float | None = None
    tolerance: float | None = None
    notes: tuple[str, ...] = ()

    __repr__ = brief

    @property
    def excess(self) -> int | None:
        """Parameters minus dimension: how many directions in weight space do nothing."""
        return None if self.value is None else self.parameters - self.value

    def _repr_html_(self) -> str:
        between = "not computed" if self.lower is None else self.lower
        rows: list[tuple[str, object]] = [
            ("dimension", settled(self.value, self.reason)),
            ("certainty", self.certainty),
            ("lower bound", f"{between}: {self.lower_source}"),
            ("upper bound", f"{self.upper}: {self.upper_source}"),
            ("parameters", self.parameters),
            ("directions that do nothing", self.excess),
            ("published formula", "says nothing" if self.formula is None else self.formula),
            ("refined formula", "says nothing" if self.refined is None else self.refined),
        ]
        if self.primes:
            rows.append(("primes, seed", f"{', '.join(map(str, self.primes))}; {self.seed}"))
        if self.gap is not None:
            rows.append(("singular value gap", f"{self.gap:.3g}, tolerance {self.tolerance:.1g}"))
        if self.reason and self.value is not None:
            rows.append(("remark", self.reason))
        rows += [("remark", note) for note in self.notes]
        return facts_html(f"Dimension of the functions of {self.network}", rows)

    def _repr_latex_(self) -> str:
        if self.value is not None:
            value = f"= {self.value}"
        else:
            value = rf"\le {self.upper}"
            if self.lower is not None:
                value = rf"\in [{self.lower}, {self.upper}]"
        return rf"$\dim {value} \quad \text{{({self.certainty})}}$"
