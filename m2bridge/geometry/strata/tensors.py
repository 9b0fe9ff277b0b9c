"""Functions of a layer as sparse integer vectors of coordinates; the Lie algebra acting on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from m2bridge.attention import Layer
from m2bridge.geometry.strata.linear import Moving, Vector, combine

__all__ = ["LinearForm", "Tensors"]

LinearForm = tuple[Mapping[int, int], ...]
"""A linear form whose coefficients are polynomials in s: one {index: coefficient} per power."""


class Tensors:
    """The coordinates of a layer, addressed by output, monomial in x, and column.

    A coordinate is (i, sorted monomial, r) with a pair as monomial for t >= 2; for t = 1 the
    monomial is a triple and r is always 0.
    """

    def __init__(self, layer: Layer) -> None:
        self.layer = layer
        self.cubic = layer.t == 1
        self.labels: list[tuple[int, tuple[int, ...], int]] = []
        for c in layer.coordinates:
            if self.cubic:
                self.labels.append((c.output, (*c.pair, c.column), 0))
            else:
                self.labels.append((c.output, c.pair, c.column))
        self.position = {label: k for k, label in enumerate(self.labels)}

    def image(
        self, V: Mapping[tuple[int, int], int], A: Mapping[tuple[int, int], int]
    ) -> dict[int, int]:
        """The function of sparse weights V and A."""
        total: dict[int, int] = {}
        for (i, p), x in V.items():
            for (q, r), y in A.items():
                label = (i, tuple(sorted((p, q, r))), 0) if self.cubic else (i, _pair(p, q), r)
                k = self.position[label]
                total[k] = total.get(k, 0) + x * y
        return {k: value for k, value in total.items() if value}

    def product(self, output: int, forms: Sequence[LinearForm], column: int) -> Moving:
        """The moving function u_output (x) product of linear forms (x) z_column."""
        partial: list[dict[tuple[int, ...], int]] = [{(): 1}]
        for form in forms:
            length = len(partial) + len(form) - 1
            longer: list[dict[tuple[int, ...], int]] = [{} for _ in range(length)]
            for a, terms in enumerate(partial):
                for b, coefficients in enumerate(form):
                    for monomial, x in terms.items():
                        for k, y in coefficients.items():
                            key = (*monomial, k)
                            longer[a + b][key] = longer[a + b].get(key, 0) + x * y
            partial = longer
        return tuple(self._collect(output, terms, column) for terms in partial)

    def _collect(
        self, output: int, terms: Mapping[tuple[int, ...], int], column: int
    ) -> dict[int, int]:
        r = 0 if self.cubic else column
        return combine(
            (value, {self.position[output, tuple(sorted(monomial)), r]: 1})
            for monomial, value in terms.items()
        )

    def lie_algebra_orbit(self, point: Vector) -> Iterator[dict[int, int]]:
        """The images of a point under the matrix units of gl(U), gl(W) and (t >= 2) gl(Z)."""
        d, d_out = self.layer.d, self.layer.d_out
        terms = [(*self.labels[k], value) for k, value in point.items()]
        for new in range(d_out):
            for old in range(d_out):
                yield self._sum(((new, m, r), c) for i, m, r, c in terms if i == old)
        for new in range(d):
            for old in range(d):
                yield self._sum(
                    ((i, _replaced(m, old, new), r), c * m.count(old))
                    for i, m, r, c in terms
                    if old in m
                )
        if self.cubic:
            return
        for new in range(d):
            for old in range(d):
                yield self._sum(((i, m, new), c) for i, m, r, c in terms if r == old)

    def _sum(self, terms: Iterable[tuple[tuple[int, tuple[int, ...], int], int]]) -> dict[int, int]:
        return combine((value, {self.position[label]: 1}) for label, value in terms)


def _pair(p: int, q: int) -> tuple[int, int]:
    return (p, q) if p <= q else (q, p)


def _replaced(monomial: tuple[int, ...], old: int, new: int) -> tuple[int, ...]:
    """The monomial with one factor `old` replaced by `new`."""
    factors = list(monomial)
    factors[factors.index(old)] = new
    return tuple(sorted(factors))
