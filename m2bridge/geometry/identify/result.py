"""What `identify` answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from m2bridge.attention.layer import Layer
from m2bridge.attention.weights import Weights
from m2bridge.display import brief, facts_html, sections_html, settled, table_html
from m2bridge.geometry.strata import Stratum

__all__ = ["BatchIdentification", "Distance", "Identification", "Spectrum"]


@dataclass(frozen=True)
class Spectrum:
    """Singular values (for S: eigenvalues by absolute value) behind a numerical rank.

    Attributes:
        name: ``"V"``, ``"A"``, ``"[V^T|A]"`` (blocks scaled to norm 1) or ``"sym A"``, ...
        values: in decreasing order.
        tolerance: values up to this count as zero.
        rank: how many do not.
        gap: the smallest value that counts over the largest that does not; infinite when one of
            them does not exist or is 0.
    """

    name: str
    values: tuple[float, ...]
    tolerance: float
    rank: int
    gap: float


@dataclass(frozen=True, eq=False)
class Distance:
    """How far the weights are from weights of special functions.

    The distance is the Frobenius norm sqrt(|V - V'|^2 + |A - A'|^2) in the pair (V, A) as given
    (scaling V by c and A by 1/c changes it), over real V' and real A' of rank at most a.

    Attributes:
        to: ``"singular"``, ``"boundary"`` or ``"zero"``.
        condition: the condition on V' and A' in words.
        stratum: the type of the stratum whose closure it is.
        value: the distance, or an upper bound.
        kind: ``"minimum"`` (computed in floating point), or ``"upper bound"``.
        lower: a proved lower bound; equal to ``value`` at a minimum.
        nearest: weights Q', K', V' at that distance.
    """

    to: str
    condition: str
    stratum: tuple[int, ...]
    value: float
    kind: str
    lower: float
    nearest: Weights


@dataclass(frozen=True, eq=False)
class Identification:
    """Where weights sit: the rank type of their function, and what follows.

    Attributes:
        layer: the layer.
        rank_v, rank_a, rank_va: ranks of V, A = K^T Q and [V^T | A].
        rank_s: the rank of sym(A); decides instead of rank_a when t = 1.
        signature: of sym(A), t = 1 only.
        kernel_radical, rank_restricted: t = 1 only: dim(ker V and rad S in common), rank of S on
            ker V.
        zero: is the function zero?
        stratum: the stratum of the function, with its dimension, tangent dimension and fibre.
        singular: is the function a singular point of the (Zariski closed) neuromanifold? None when
            the tolerance does not decide.
        boundary: does it lie on the Euclidean boundary of the real image? None as before.
        exact: were all weights exact?
        certainty: ``"proved"`` for exact weights, else ``"numerical"``.
        tolerance: the relative tolerance used; None for exact weights.
        reason: a sentence on the verdicts.
        spectra: singular values, gaps and tolerances (numerical weights only).
        distances: to the nearest singular and boundary strata (numerical weights only).
    """

    layer: Layer
    rank_v: int
    rank_a: int
    rank_va: int
    zero: bool
    stratum: Stratum
    singular: bool | None
    boundary: bool | None
    exact: bool
    certainty: str
    reason: str
    rank_s: int | None = None
    signature: tuple[int, int] | None = None
    kernel_radical: int | None = None
    rank_restricted: int | None = None
    tolerance: float | None = None
    spectra: tuple[Spectrum, ...] = ()
    distances: tuple[Distance, ...] = ()

    __repr__ = brief

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [
            ("singular point?", settled(self.singular, self.reason)),
            ("on the boundary?", settled(self.boundary, self.reason)),
            ("certainty", self.certainty),
            ("why", self.reason),
            ("stratum", self.stratum.type),
            ("dimension, tangent", f"{self.stratum.dimension}, {self.stratum.tangent_dimension}"),
            ("ranks of V, A, [Vᵀ | A]", f"{self.rank_v}, {self.rank_a}, {self.rank_va}"),
        ]
        if self.layer.t == 1:
            signature = settled(self.signature, "the tolerance does not decide")
            rows.append(("rank, signature of sym A", f"{self.rank_s}, {signature}"))
        rows += [("zero function?", self.zero), ("fibre", self.stratum.fibre)]
        if self.tolerance is not None:
            rows.append(("relative tolerance", f"{self.tolerance:.3g}"))
        parts = [facts_html(f"Weights of {self.layer}", rows)]
        if self.spectra:
            gaps = [(s.name, s.rank, f"{s.gap:.3g}", f"{s.tolerance:.3g}") for s in self.spectra]
            parts.append(table_html(("matrix", "rank", "gap", "tolerance"), gaps))
        if self.distances:
            far = [(x.to, f"{x.value:.6g}", x.kind, x.condition) for x in self.distances]
            parts.append(table_html(("distance to", "value", "kind", "nearest weights"), far))
        return sections_html(*parts)

    def as_dict(self) -> dict[str, Any]:
        """A JSON document."""
        found: dict[str, Any] = {
            "rank_v": self.rank_v,
            "rank_a": self.rank_a,
            "rank_va": self.rank_va,
        }
        if self.layer.t == 1:
            found |= {
                "rank_s": self.rank_s,
                "signature": None if self.signature is None else list(self.signature),
                "kernel_radical": self.kernel_radical,
                "rank_restricted": self.rank_restricted,
            }
        found |= {
            "zero": self.zero,
            "singular": self.singular,
            "boundary": self.boundary,
            "stratum": self.stratum.to_dict(),
            "exact": self.exact,
            "reason": self.reason,
            "tolerance": self.tolerance,
            "spectra": [
                {
                    "name": s.name,
                    "values": list(s.values),
                    "tolerance": s.tolerance,
                    "rank": s.rank,
                    "gap": s.gap if np.isfinite(s.gap) else None,
                }
                for s in self.spectra
            ],
            "distances": [
                {
                    "to": x.to,
                    "condition": x.condition,
                    "stratum": list(x.stratum),
                    "value": x.value,
                    "kind": x.kind,
                    "lower": x.lower,
                    "nearest": {n: getattr(x.nearest, n).tolist() for n in ("Q", "K", "V")},
                }
                for x in self.distances
            ],
            "certainty": {"ranks": self.certainty},
        }
        return found


@dataclass(frozen=True, eq=False)
class BatchIdentification:
    """Where N weights sit; every array has N as its first axis.

    Attributes:
        layer: the layer.
        rank_v, rank_a, rank_va: integer arrays.
        rank_s: integer array, t = 1 only.
        zero: boolean array.
        singular, boundary: arrays of int8: 1 yes, 0 no, -1 not decided by the tolerance.
        singular_values: arrays by matrix name (numerical weights only).
        singular_distance, boundary_distance: t >= 2, numerical weights: exact Frobenius distances
            in (V, A) to the nearest weights of a singular or boundary function, the zero function
            included; infinite when there is none.
        exact, certainty, tolerance: as for `Identification`.
    """

    layer: Layer
    rank_v: Any
    rank_a: Any
    rank_va: Any
    zero: Any
    singular: Any
    boundary: Any
    exact: bool
    certainty: str
    rank_s: Any = None
    tolerance: float | None = None
    singular_values: dict[str, Any] = field(default_factory=dict)
    singular_distance: Any = None
    boundary_distance: Any = None

    __repr__ = brief

    def __len__(self) -> int:
        return len(self.rank_v)

    def _repr_html_(self) -> str:
        def tally(name: str, verdicts: Any) -> tuple[str, object]:
            yes, no, open_ = (int(np.sum(verdicts == value)) for value in (1, 0, -1))
            undecided = f"; {open_} not settled: the tolerance does not decide" if open_ else ""
            return name, f"{yes} of {len(self)} ({no} not{undecided})"

        rows = [
            tally("singular points", self.singular),
            tally("on the boundary", self.boundary),
            ("zero functions", int(np.sum(self.zero))),
            ("certainty", self.certainty),
        ]
        if self.tolerance is not None:
            rows.append(("relative tolerance", f"{self.tolerance:.3g}"))
        names = ("V", "A", "[Vᵀ | A]") if self.rank_s is None else ("V", "A", "sym A")
        last = self.rank_va if self.rank_s is None else self.rank_s
        triples = np.stack([self.rank_v, self.rank_a, last], axis=-1).reshape(-1, 3)
        kinds, often = np.unique(triples, axis=0, return_counts=True)
        ranks = [(tuple(map(int, k)), int(n)) for k, n in zip(kinds, often, strict=True)]
        return sections_html(
            facts_html(f"{len(self)} weights of {self.layer}", rows),
            table_html((f"ranks of {', '.join(names)}", "weights"), ranks),
        )
