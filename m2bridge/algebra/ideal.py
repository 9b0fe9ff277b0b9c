"""Ideals: what they are, and what their Groebner bases tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sympy

from m2bridge.algebra.convert import shown_element
from m2bridge.algebra.ideal_ops import IdealOperations
from m2bridge.errors import VerificationError

if TYPE_CHECKING:
    from m2bridge.algebra.macaulay2 import Remote, Reply
    from m2bridge.algebra.ring import Ring

__all__ = ["Ideal", "Membership"]

_SHOWN = 8  # generators in repr and LaTeX


@dataclass(frozen=True)
class Membership:
    """f = sum of cofactors times generators, plus a remainder; checked when it was made.

    Attributes:
        member: whether the remainder is zero.
        cofactors: one ``sympy.Poly`` for each generator of the ideal.
        remainder: the normal form of f for the ideal's reduced Groebner basis.
    """

    member: bool
    cofactors: tuple[Any, ...]
    remainder: Any

    def __bool__(self) -> bool:
        return self.member

    def _repr_latex_(self) -> str:
        """f = sum of cofactors times generators g_i, plus the remainder."""
        parts = [
            rf"\left({sympy.latex(sympy.sympify(c).as_expr())}\right) g_{{{i}}}"
            for i, c in enumerate(self.cofactors)
            if c
        ]
        if self.remainder or not parts:
            parts.append(sympy.latex(sympy.sympify(self.remainder).as_expr()))
        return f"$f = {' + '.join(parts)}$"


class Ideal(IdealOperations):
    """An ideal of a polynomial ring, given by generators. Immutable; answers are kept.

    Ideals are equal when they hold the same polynomials, which M2 decides. ``f in I`` asks for
    membership, ``I <= J`` for inclusion; ``I + J``, ``I * J``, ``I & J`` and ``I**n`` are sum,
    product, intersection and power.

    Attributes:
        ring: the ring.
        elements: the generators as sympy's sparse ``PolyElement``, as they were given.
    """

    def __init__(
        self, ring: Ring, elements: Iterable[Any], *, _remote: Remote | None = None
    ) -> None:
        self.ring = ring
        self.elements: tuple[Any, ...] = tuple(elements)
        self._remote = _remote
        self._kept: dict[Any, Any] = {}

    def _sending(self) -> tuple[str, Ring, list[Any], Sequence[Any]]:
        return "ideal", self.ring, [], self.elements

    def _ask(self, operation: str, *arguments: Any, elements: Sequence[Any] | None = None) -> Reply:
        return self.ring.macaulay2.ask(operation, self.ring, [self, *arguments], elements)

    # ------------------------------------------------------------------------------- a value

    @property
    def generators(self) -> list[Any]:
        """The generators as ``sympy.Poly`` in the ring's symbols."""
        return list(self._once("generators", lambda: self._polys(self.elements)))

    def _polys(self, elements: Iterable[Any]) -> list[Any]:
        return [self.ring.poly_of(element) for element in elements]

    def __repr__(self) -> str:
        shown = ", ".join(shown_element(e) for e in self.elements[:_SHOWN])
        more = len(self.elements) - _SHOWN
        rest = f", ... ({more} more)" if more > 0 else ""
        return f"Ideal({shown}{rest}) in {self.ring!r}"

    def _repr_latex_(self) -> str:
        shown = [shown_element(e, sympy.latex) for e in self.elements[:_SHOWN]] or ["0"]
        if len(self.elements) > _SHOWN:
            shown.append(r"\ldots")
        inside = ", ".join(shown)
        return rf"$\left\langle {inside} \right\rangle \subset {self.ring.latex()}$"

    def __iter__(self) -> Iterator[Any]:
        return iter(self.generators)

    def __len__(self) -> int:
        return len(self.elements)

    def __hash__(self) -> int:
        # equal ideals may have different generators
        return hash((Ideal, self.ring))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ideal):
            return NotImplemented
        if self.ring != other.ring:
            return False
        if self is other or self.elements == other.elements:
            return True
        return bool(self._ask("equal", other).data)

    def __le__(self, other: Ideal) -> bool:
        """Whether every polynomial of this ideal lies in the other."""
        return bool(self._ask("subset", self._same_ring(other)).data)

    def __ge__(self, other: Ideal) -> bool:
        return other <= self

    def __contains__(self, polynomial: Any) -> bool:
        return not self._remainder(self.ring.element(polynomial))

    # ------------------------------------------------------------------------ Groebner bases

    def groebner_basis(self) -> list[Any]:
        """The reduced Groebner basis for the ring's order, by descending leading monomials.

        Over a field its members are monic. Over ZZ it is M2's strong basis.
        """
        return list(self._once("groebner polys", lambda: self._polys(self._groebner())))

    def groebner_elements(self) -> list[Any]:
        """The same basis as sympy's sparse ``PolyElement``: quick with hundreds of symbols."""
        return list(self._groebner())

    def _groebner(self) -> list[Any]:
        return self._once("groebner", self._compute_groebner)

    def _compute_groebner(self) -> list[Any]:
        found = [e for e in self._ask("groebner").elements if e]
        if self.ring.is_field:
            found = [e.monic() for e in found]
        order = self.ring.order
        return sorted(found, key=lambda e: order(e.leading_expv()), reverse=True)

    def _remainder(self, element: Any) -> Any:
        if not element or self.is_zero:
            return element
        return self._ask("reduce", elements=[element]).elements[0]

    def reduce(self, polynomial: Any) -> Any:
        """The normal form of a polynomial for the ideal's Groebner basis, as a Poly."""
        return self.ring.poly_of(self._remainder(self.ring.element(polynomial)))

    def membership(self, polynomial: Any) -> Membership:
        """Whether a polynomial lies in the ideal, with cofactors that prove it.

        The identity f = sum(cofactor * generator) + remainder is checked here, in exact arithmetic.

        Raises:
            VerificationError: M2's cofactors do not give the polynomial.
        """
        f = self.ring.element(polynomial)
        if self.is_zero:
            zero = self.ring.poly_ring.zero
            cofactors, remainder = [zero] * len(self.elements), f
        else:
            *cofactors, remainder = self._ask("divide", elements=[f]).elements
        total = remainder
        for cofactor, generator in zip(cofactors, self.elements, strict=True):
            total = total + cofactor * generator
        if total != f:
            raise VerificationError("cofactors times generators, plus remainder, is not f")
        return Membership(
            not remainder, tuple(self._polys(cofactors)), self.ring.poly_of(remainder)
        )
