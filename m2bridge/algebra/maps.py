"""Maps between polynomial rings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sympy

from m2bridge.algebra.convert import shown_element
from m2bridge.algebra.ideal import Ideal
from m2bridge.algebra.ideal_ops import ideals_of
from m2bridge.algebra.ring import Ring
from m2bridge.algebra.values import SessionValue
from m2bridge.algebra.wire import element_of_terms

if TYPE_CHECKING:
    from m2bridge.algebra.macaulay2 import Remote

__all__ = ["RingMap"]


class RingMap(SessionValue):
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
        return self._once("kernel", lambda: self.preimage(Ideal(self.target, [])))

    def preimage(self, ideal: Ideal) -> Ideal:
        """The ideal of the polynomials that go into an ideal of the target."""
        self._check(ideal, self.target)
        return self._once(("preimage", ideal.elements), lambda: self._preimage(ideal))

    def _preimage(self, ideal: Ideal) -> Ideal:
        # M2 has no kernels over ZZ, and wrong ones where the target has no variables
        if not self.source.is_field or not self.target.ngens:
            return self._by_elimination(ideal)
        reply = self.target.macaulay2.ask(
            "preimage", self.target, [self.source, ideal], self.elements, answer_ring=self.source
        )
        return ideals_of(self.source, reply)[0]

    def _by_elimination(self, ideal: Ideal) -> Ideal:
        """The elements without target variables of the graph's ideal: J and all y_i - f_i.

        Adams and Loustaunau, An Introduction to Groebner Bases, theorem 2.4.2.
        """
        (k, n), domain = (self.target.ngens, self.source.ngens), self.source.domain
        names = [sympy.Dummy() for _ in range(k + n)]
        graph = Ring(self.source.macaulay2, names, domain)
        gens = graph.poly_ring.gens

        def inside(element: Any) -> Any:
            terms = ((m + (0,) * n, c) for m, c in element.items())
            return element_of_terms(graph.poly_ring, terms)

        generators = [gens[k + i] - inside(f) for i, f in enumerate(self.elements)]
        generators += map(inside, ideal.elements)
        found = Ideal(graph, generators).eliminate(names[:k])
        ring = self.source.poly_ring
        back = [element_of_terms(ring, ((m[k:], c) for m, c in e.items())) for e in found.elements]
        return Ideal(self.source, back).trim()

    def image(self, ideal: Ideal) -> Ideal:
        """The ideal of the target that the images of an ideal's generators generate."""
        self._check(ideal, self.source)
        return Ideal(self.target, self._apply(ideal.elements))

    def _check(self, ideal: Ideal, ring: Ring) -> None:
        if ideal.ring != ring:
            raise ValueError(f"this ideal lives in {ideal.ring!r}, not in {ring!r}")

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
