"""Strata of one layer with a single token, t = 1, where only the symmetric part of A matters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from m2bridge.attention import Layer
from m2bridge.display import brief
from m2bridge.geometry.strata.claims import claims
from m2bridge.geometry.strata.degree import symmetric_closure_degree
from m2bridge.geometry.strata.forms import (
    FormType,
    RealForm,
    canonical,
    form_types,
    is_special,
    normal_products,
    orbit_dimension,
    order_key,
    preimage_types,
    real_forms,
    tangent_dimension,
)
from m2bridge.geometry.strata.ranks import unit_rows
from m2bridge.geometry.strata.stratum import Claim, Representative, Stratum

__all__ = ["SymmetricStratum", "symmetric_strata"]


@dataclass(frozen=True, slots=True)
class SymmetricStratum(Stratum):
    """The functions of one type of (V, S), S(x) = x^T A x, t = 1; (0, 0, d, 0) is zero.

    Attributes:
        rank_v, rank_s: the ranks of V and of the quadratic form S.
        kernel_radical: j, the dimension of what ker V and the radical of S have in common.
        rank_restricted: rho, the rank of S on ker V.

    The functions u * l^2 m come from two types of pairs, (l; l m) and (m; l^2); they are listed
    once, under the first.
    """

    rank_v: int
    rank_s: int
    kernel_radical: int
    rank_restricted: int

    __repr__ = brief

    @property
    def type(self) -> FormType:
        """(rank V, rank S, j, rho)."""
        return self.rank_v, self.rank_s, self.kernel_radical, self.rank_restricted

    @property
    def is_origin(self) -> bool:
        """Is this the zero function?"""
        return self.rank_v == 0

    @property
    def form_rank(self) -> int:
        """The largest rank of S in this model: min(2 a, d)."""
        return min(2 * self.layer.a, self.layer.d)

    @property
    def preimage_types(self) -> tuple[FormType, ...]:
        """The types of all pairs (V, S) with these functions."""
        return preimage_types(self.layer.d, self.type)

    @property
    def dimension(self) -> int:
        """Dimension in the affine cone of functions."""
        return orbit_dimension(self.layer.d, self.layer.d_out, self.type)

    @property
    def tangent_dimension(self) -> int:
        """Dimension of the tangent space of the closure of all functions here."""
        return tangent_dimension(self.layer.d, self.layer.d_out, self.form_rank, self.type)

    @property
    def _full(self) -> bool:
        """Is the closure of all functions the whole linear space?"""
        return self.layer.d == 1 or (self.layer.d == 2 and self.layer.d_out == 1)

    @property
    def _is_chow(self) -> bool:
        """Are the functions exactly the products of three linear forms?"""
        return self.layer.d_out == 1 and self.form_rank == 2

    @property
    def singular(self) -> bool:
        """Is the closure of all functions singular here?"""
        if self._full:
            return False
        if self.is_origin:
            return True
        if self._is_chow:
            return self.repeated_factor
        source_singular = self.form_rank < self.layer.d and self.rank_s < self.form_rank
        return source_singular or is_special(self.type)

    @property
    def repeated_factor(self) -> bool:
        """Is the function u * l^2 m or u * l^3 (with d >= 2)?"""
        return (
            is_special(self.type)
            and self.layer.d >= 2
            and not (self.rank_s == 2 and self.rank_restricted >= 1)
        )

    @property
    def real_forms(self) -> tuple[RealForm, ...]:
        """The real shapes: signatures, in the real image or not, boundary or not, real fibre."""
        return real_forms(self.layer.d, self.layer.a, self.type)

    @property
    def all_real(self) -> bool:
        """For a >= d every real S is that of some A: the real functions have no edge."""
        return self.layer.a >= self.layer.d

    @property
    def boundary(self) -> bool | None:
        """Do the real functions here lie on the boundary; None when it depends on signatures."""
        if self.all_real:
            return False
        flags = {form.boundary for form in self.real_forms if form.in_image}
        return flags.pop() if len(flags) == 1 else None

    @property
    def boundary_reason(self) -> str:
        """Why `boundary` is what it is."""
        a, d = self.layer.a, self.layer.d
        if a >= d:
            return "for a >= d every real point of the closure has real weights"
        rule = f"min(p, q) < {min(a, d - a)} for the signature of some real preimage S"
        if self.boundary is None:
            edge = [f.signature for f in self.real_forms if f.boundary]
            inner = [f.signature for f in self.real_forms if f.in_image and not f.boundary]
            return f"{rule}: so for the signatures {edge}, not so for {inner}"
        return f"{rule}: so for {'every' if self.boundary else 'no'} real function here"

    @property
    def fibre_points(self) -> int | None:
        """Number of complex (V, S) up to scaling with the same function."""
        if self.is_origin:
            return None
        if self.layer.d == 1 or not is_special(self.type) or self.rank_s == 1:
            return 1
        return 3 if self.rank_restricted else 2

    @property
    def fibre_reduced(self) -> bool | None:
        """Is the fibre, in (V, S), reduced?"""
        return None if self.is_origin else not self.repeated_factor

    @property
    def real_fibre_points(self) -> tuple[int, ...]:
        """The numbers of real (V, S) up to scaling over a function with real weights."""
        if self.is_origin:
            return ()
        return tuple(sorted({form.fibre_points for form in self.real_forms if form.in_image}))

    @property
    def fibre(self) -> str:
        """The fibre in words, in (V, S) up to scaling."""
        if self.is_origin:
            return "not finite: V = 0 with any S, or S = 0 with any V"
        if self.repeated_factor:
            if self.rank_s == 1:
                return "one point, real, not reduced: the function is u times a cube"
            return "two points, real, not reduced: u * l^2 m is l times lm and m times l^2"
        if self.fibre_points == 3:
            return (
                "three reduced points: any of three linear factors can be V's; over the reals all "
                "are real, or one is real and two are conjugate"
            )
        return "one reduced point, real for a real function"

    @property
    def representative(self) -> Representative:
        """Real integer weights with rank A <= a: the most balanced signature."""
        if self.is_origin:
            return self.weights(self.real_forms[0])
        return self.weights([form for form in self.real_forms if form.in_image][-1])

    def weights(self, form: RealForm) -> Representative:
        """Integer weights of the given real shape; rank A is max(p, q), which may exceed a."""
        d = self.layer.d
        V = unit_rows(self.layer.d_out, d, {(k, k): 1 for k in range(self.rank_v)})
        entries: dict[tuple[int, int], int] = {}
        if not self.is_origin:
            for left, right in normal_products(d, self.type, form):
                for q, x in left.items():
                    for r, y in right.items():
                        entries[q, r] = entries.get((q, r), 0) + x * y
        return Representative(V, unit_rows(d, d, entries))

    @property
    def covers(self) -> tuple[FormType, ...]:
        """The types directly below this one (computed from all types of the model)."""
        below = [s for s in symmetric_strata(self.layer) if s.type != self.type]
        below = [s for s in below if self.closure_contains(s)]
        return tuple(
            sorted(
                s.type
                for s in below
                if not any(o.type != s.type and o.closure_contains(s) for o in below)
            )
        )

    def closure_contains(self, other: Stratum) -> bool:
        """Does the closure of this stratum contain the other one?

        Decided by the order of ranks (theory page, part 4), whose covers were all realised by
        explicit limits for d <= 3.

        Raises:
            TypeError: for a stratum with t >= 2.
            ValueError: for a stratum of another model.
        """
        if not isinstance(other, SymmetricStratum):
            raise TypeError("both strata must belong to layers with t = 1")
        if (other.layer.d, other.layer.d_out) != (self.layer.d, self.layer.d_out):
            raise ValueError("both strata must have the same d and d_out")
        if other.is_origin:
            return True
        d = self.layer.d
        uppers = [order_key(d, kind) for kind in self.preimage_types]
        return any(
            all(x <= y for x, y in zip(order_key(d, kind), upper, strict=True))
            for kind in other.preimage_types
            for upper in uppers
        )

    def closure_degree(self) -> int | None:
        """Degree of the closure as a projective variety, where a formula is known, else None."""
        if self.is_origin:
            return 1
        return symmetric_closure_degree(self.layer.d, self.layer.d_out, self.type)

    @property
    def claims(self) -> dict[str, Claim]:
        """What each statement rests on."""
        return claims(self, _THEOREMS, self._unproved)

    @property
    def _unproved(self) -> frozenset[str]:
        """The tangent formula at special types is proved only where all is a symmetric product."""
        proved = self.layer.d == 1 or self.is_origin or not is_special(self.type) or self._is_chow
        return frozenset() if proved else frozenset({"tangent_dimension"})

    def to_dict(self) -> dict[str, Any]:
        """The entry of the JSON contract, with the keys of t = 1."""
        return {
            "rank_v": self.rank_v,
            "rank_s": self.rank_s,
            "kernel_radical": self.kernel_radical,
            "rank_restricted": self.rank_restricted,
            "preimage_types": [list(kind) for kind in self.preimage_types],
            **self._common_dict(),
            "real_forms": [
                {
                    "signature": list(form.signature),
                    "restricted": list(form.restricted),
                    "in_image": form.in_image,
                    "boundary": form.boundary,
                    "fibre_points": None if self.is_origin else form.fibre_points,
                }
                for form in self.real_forms
            ],
        }


_THEOREMS = {
    "dimension": "theory page, part 4: dimensions of the orbits of (V, S)",
    "tangent_dimension": "theory page, part 4: local structure of the closure",
    "singular": "theory page, part 4: the map from the weights is the normalisation",
    "boundary": "theory page, part 4: signatures of real symmetric matrices of rank A <= a",
    "fibre": "theory page, part 4: unique factorisation",
}


def symmetric_strata(layer: Layer) -> list[SymmetricStratum]:
    """All strata of a layer with t = 1, the origin included, unsorted."""
    d = layer.d
    rank = min(2 * layer.a, d)
    kinds = [k for k in form_types(d, layer.d_out, rank) if canonical(d, k) == k]
    return [SymmetricStratum(*kind, layer=layer) for kind in [(0, 0, d, 0), *kinds]]
