"""What `recognize` answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy

from m2bridge.attention.layer import Layer
from m2bridge.attention.weights import Weights
from m2bridge.display import brief, facts_html, latex_lines, sections_html, settled, table_html

__all__ = ["Failure", "Preimage", "Recognition", "field_name"]


def field_name(radicands: tuple[int, ...]) -> str:
    """``QQ``, ``QQ(sqrt(2))``, ``QQ(sqrt(2), sqrt(-3))``."""
    return f"QQ({', '.join(f'sqrt({m})' for m in radicands)})" if radicands else "QQ"


@dataclass(frozen=True)
class Failure:
    """Why a point is no function of the layer.

    Attributes:
        kind: ``"equation"`` (not even over the complex numbers), ``"inequality"`` (real weights do
            not exist, complex ones do) or ``"form"`` (not a function of this kind at all).
        statement: the failing condition in words.
        relation: a polynomial in the layer's coordinates that vanishes on the whole image, where
            the condition is such a polynomial; else None. A long one is a ``sympy.Determinant`` of
            a matrix of linear forms.
        value: its nonzero value at the point, or the number that decides the condition.
    """

    kind: str
    statement: str
    relation: sympy.Expr | None = None
    value: sympy.Expr | None = None

    __repr__ = brief


@dataclass(frozen=True)
class Preimage:
    """One point of the fibre in (V, A) up to scaling, with weights that realise it.

    Attributes:
        Q, K, V: exact sympy matrices, A = K^T Q. For t = 1 only sym(A) is determined: A is one
            choice of rank at most a.
        field: where their entries lie.
        real: whether real weights exist here, and then these are real.
        multiplicity: the length of the fibre of (V, A) -> function at this point, modulo scaling;
            1 means reduced (docs, theory page: theorem 2 and "One layer, t = 1").
        rank: the rank of A (t >= 2) or of sym(A) (t = 1).
        signature: of sym(A), t = 1, where V and sym(A) are real up to scaling; else None.
        smallest_field: True when no smaller field has such weights, None when undecided.
    """

    Q: sympy.ImmutableMatrix
    K: sympy.ImmutableMatrix
    V: sympy.ImmutableMatrix
    field: str
    real: bool
    multiplicity: int
    rank: int
    signature: tuple[int, int] | None = None
    smallest_field: bool | None = True

    __repr__ = brief

    @property
    def A(self) -> sympy.ImmutableMatrix:
        """A = K^T Q, d x d."""
        return sympy.ImmutableMatrix((self.K.T * self.Q).applyfunc(sympy.expand))

    @property
    def S(self) -> sympy.ImmutableMatrix:
        """The symmetric part of A."""
        A = self.A
        return sympy.ImmutableMatrix(((A + A.T) / 2).applyfunc(sympy.expand))


@dataclass(frozen=True)
class Recognition:
    """Whether a point is a function of the layer.

    Attributes:
        layer: the layer that was asked.
        coefficients: the point, as sympy rationals in the order of ``layer.coordinates``.
        representable: True when real weights exist; None when that was not settled.
        reason: one sentence.
        weights: exact weights, or None.
        field: the field of ``weights``, e.g. ``"QQ"`` or ``"QQ(sqrt(2))"``.
        preimages: all points of the fibre in (V, A), for t = 1 in (V, sym A), up to scaling, over
            the complex numbers; empty for the zero function, whose fibre is not finite.
        over_complex: whether complex weights exist, that is, whether the point lies in the
            closure of the image.
        failed: the failing condition, when there is one.
        rank_v, rank_a: ranks of V and of A (t >= 2) or of V alone (t = 1: rank_a is None), where
            the point lies in the closure.
        certainty: ``"proved"``; ``"conjectural"`` for a function known by its values only.
    """

    layer: Layer
    coefficients: tuple[sympy.Rational, ...]
    representable: bool | None
    reason: str
    weights: Weights | None = None
    field: str | None = None
    preimages: tuple[Preimage, ...] = ()
    over_complex: bool | None = None
    failed: Failure | None = None
    rank_v: int | None = None
    rank_a: int | None = None
    certainty: str = "proved"

    __repr__ = brief

    @property
    def is_zero(self) -> bool:
        """Whether the point is the zero function."""
        return bool(self.coefficients) and not any(self.coefficients)

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [
            ("real weights?", settled(self.representable, self.reason)),
            ("complex weights?", settled(self.over_complex, self.reason)),
            ("certainty", self.certainty),
            ("why", self.reason),
        ]
        if self.failed is not None:
            rows.append(("what fails", f"{self.failed.kind}: {self.failed.statement}"))
            if self.failed.relation is not None:
                rows.append(("relation", self.failed.relation))
            if self.failed.value is not None:
                rows.append(("its value", self.failed.value))
        if self.weights is not None:
            rows += [(name, getattr(self.weights, name).tolist()) for name in ("Q", "K", "V")]
            rows.append(("field", self.field))
        parts = [facts_html(f"Function of {self.layer}?", rows)]
        if self.preimages:
            found = [
                (p.V.tolist(), p.A.tolist(), p.field, p.real, p.multiplicity)
                for p in self.preimages
            ]
            header = ("V", "A", "field", "real", "multiplicity")
            parts.append(table_html(header, found, "Fibre, up to scaling"))
        return sections_html(*parts)

    def _repr_latex_(self) -> str | None:
        if self.weights is None:
            return None
        pairs = [(name, sympy.Matrix(getattr(self.weights, name).tolist())) for name in "QKV"]
        return latex_lines([r",\quad ".join(f"{name} = {sympy.latex(M)}" for name, M in pairs)])

    def as_dict(self) -> dict[str, Any]:
        """A JSON document; exact numbers as text."""
        weights = None
        if self.weights is not None:
            weights = {
                name: [[str(x) for x in row] for row in getattr(self.weights, name).tolist()]
                for name in ("Q", "K", "V")
            }
        failed = None
        if self.failed is not None:
            failed = {
                "kind": self.failed.kind,
                "statement": self.failed.statement,
                "relation": None if self.failed.relation is None else str(self.failed.relation),
                "value": None if self.failed.value is None else str(self.failed.value),
            }
        return {
            "representable": self.representable,
            "reason": self.reason,
            "weights": weights,
            "field": self.field,
            "over_complex": self.over_complex,
            "failed": failed,
            "preimages": [
                {
                    "V": [[str(x) for x in row] for row in p.V.tolist()],
                    "A": [[str(x) for x in row] for row in p.A.tolist()],
                    "field": p.field,
                    "real": p.real,
                    "multiplicity": p.multiplicity,
                }
                for p in self.preimages
            ],
            "rank_v": self.rank_v,
            "rank_a": self.rank_a,
            "certainty": {"representable": self.certainty},
        }
