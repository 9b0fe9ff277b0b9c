"""Maps between polynomial rings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sympy

from m2bridge.algebra.convert import shown_element
from m2bridge.algebra.ideal import Ideal
from m2bridge.algebra.ideal_ops import ideals_of

if TYPE_CHECKING:
    from m2bridge.algebra.macaulay2 import Remote
    from m2bridge.algebra.ring import Ring

__all__ = ["RingMap"]


class RingMap:
    """The map of rings that sends the variables of ``source`` to polynomials of ``target``.

    It is the identity on the coefficients, which must be the same on both sides.

    Attributes:
        source, target: the rings.
        elements: the images of the source's variables, as ``PolyElement``.
    """

    def __init__(self, source: Ring, target: Ring, images: Sequence[Any]) -> None:
        if source.domain != target.domain:
            raise ValueError(f"a map from {source!r} to {target!r} changes the coefficients")
        if len(images) != source.ngens:
            raise ValueError(f"{len(images)} images for {source.ngens} variables")
        self.source = source
        self.target = target
        self.elements = tuple(images)
        self._remote: Remote | None = None
        self._kept: dict[Any, Any] = {}

    def _sending(self) -> tuple[str, Ring, list[Any], Sequence[Any]]:
        return "map", self.target, [self.source], self.elements

    @property
    def images(self) -> list[Any]:
        """The images of the source's variables, as ``sympy.Poly``."""
        return [self.target.poly_of(e) for e in self.elements]

    def __call__(self, polynomial: Any) -> Any:
        """The image of a polynomial, as a Poly of the target."""
        return self.target.poly_of(self._apply([self.source.element(polynomial)])[0])

    def _apply(self, elements: Sequence[Any]) -> list[Any]:
        reply = self.source.macaulay2.ask(
            "applymap", self.source, [self, self.target], elements, answer_ring=self.target
        )
        return reply.elements

    def kernel(self) -> Ideal:
        """The ideal of the polynomials that go to zero: the relations between the images.

        Homogeneous images make M2 work in the grading that they induce, which is much faster.
        """
        found: Ideal = self._once("kernel", lambda: self.preimage(Ideal(self.target, [])))
        return found

    def preimage(self, ideal: Ideal) -> Ideal:
        """The ideal of the polynomials that go into an ideal of the target."""
        self._check(ideal, self.target)
        reply = self.target.macaulay2.ask(
            "preimage", self.target, [self.source, ideal], self.elements, answer_ring=self.source
        )
        return ideals_of(self.source, reply)[0]

    def image(self, ideal: Ideal) -> Ideal:
        """The ideal of the target that the images of an ideal's generators generate."""
        self._check(ideal, self.source)
        return Ideal(self.target, self._apply(ideal.elements))

    def _check(self, ideal: Ideal, ring: Ring) -> None:
        if ideal.ring != ring:
            raise ValueError(f"this ideal lives in {ideal.ring!r}, not in {ring!r}")

    def _once(self, key: str, compute: Any) -> Any:
        if key not in self._kept:
            self._kept[key] = compute()
        return self._kept[key]

    def __repr__(self) -> str:
        pairs = zip(self.source.symbols, self.elements, strict=True)
        shown = ", ".join(f"{s} -> {shown_element(e)}" for s, e in pairs)
        return f"RingMap({shown}) from {self.source!r} to {self.target!r}"

    def _repr_latex_(self) -> str:
        pairs = zip(self.source.symbols, self.elements, strict=True)
        shown = r",\; ".join(
            f"{sympy.latex(s)} \\mapsto {shown_element(e, sympy.latex)}" for s, e in pairs
        )
        return f"${self.source.latex()} \\to {self.target.latex()},\\; {shown}$"
