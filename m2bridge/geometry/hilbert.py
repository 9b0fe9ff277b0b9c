"""The Hilbert function of the image of one layer, by representation theory; dimension and degree.

All formulas: docs/theory, "Coordinate ring and Hilbert function" (theorem 7) and corollary 3,
derived for this project; the dimension is also in arXiv 2408.17221. The Hilbert function is proved
for d <= 3 and for d_out = a = 1, when t >= 2; nothing is claimed elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, prod
from typing import TYPE_CHECKING

from m2bridge.geometry.weights.partitions import Partition, partitions, schur_dimension, strip

if TYPE_CHECKING:
    from m2bridge.attention.layer import Layer

__all__ = [
    "HilbertSeries",
    "generator_degree_bound",
    "hilbert_function",
    "hilbert_series",
    "image_degree",
    "image_dimension",
]


@dataclass(frozen=True)
class HilbertSeries:
    """The Hilbert series numerator / (1 - z)^dimension, in lowest terms.

    Attributes:
        numerator: coefficients of 1, z, z^2, ...
        dimension: the order of the pole, the dimension of the affine cone.
    """

    numerator: tuple[int, ...]
    dimension: int

    @property
    def degree(self) -> int:
        """The degree of the variety: the numerator at 1."""
        return sum(self.numerator)

    def coefficient(self, D: int) -> int:
        """The value of the Hilbert function at D."""
        if self.dimension == 0:
            return self.numerator[D] if len(self.numerator) > D else 0
        n = self.dimension - 1
        return sum(c * comb(D - i + n, n) for i, c in enumerate(self.numerator) if i <= D)


def image_dimension(layer: Layer) -> int:
    """Dimension of the affine cone of functions (theorem 1 for t >= 2, section 4 for t = 1)."""
    d, rank = layer.d, _rank(layer)
    if layer.t == 1:
        return d * layer.d_out + rank * d - rank * (rank - 1) // 2 - 1
    return 2 * rank * d - rank * rank + d * layer.d_out - 1


def image_degree(layer: Layer) -> int:
    """Degree of the closure of the image (corollary 3 for t >= 2, section 4 for t = 1)."""
    d, rank = layer.d, _rank(layer)
    n1 = d * layer.d_out - 1
    n2 = image_dimension(layer) - d * layer.d_out
    if layer.t == 1:
        top = prod(comb(d + i, d - rank - i) for i in range(d - rank))
        bottom = prod(comb(2 * i + 1, i) for i in range(d - rank))
        sheets = 3 if (layer.d_out, rank) == (1, 2) and d >= 2 else 1
    else:
        top = prod(comb(d + i, rank) for i in range(d - rank))
        bottom = prod(comb(rank + i, rank) for i in range(d - rank))
        sheets = 2 if (layer.d_out, rank) == (1, 1) and d >= 2 else 1
    return comb(n1 + n2, n1) * top // bottom // sheets


def _rank(layer: Layer) -> int:
    """The generic rank of A (t >= 2) or of its symmetric part (t = 1)."""
    return layer.alpha if layer.t >= 2 else min(2 * layer.alpha, layer.d)


def hilbert_function(layer: Layer, D: int) -> int | None:
    """dim of the degree-D part of the coordinate ring of the image, where that is a theorem.

    Returns:
        The value, or None where no theorem is known (t = 1 with d >= 2; d >= 4).

    Raises:
        ValueError: D is negative.
    """
    if D < 0:
        raise ValueError(f"a degree is at least 0, got {D}")
    d, d_out = layer.d, layer.d_out
    if d == 1:
        return comb(D + d_out - 1, D)
    if layer.t == 1:
        return None
    if D == 0:
        return 1
    if (d_out, layer.alpha) == (1, 1):
        w = comb(D + d - 1, D)
        return w * comb(w + 1, 2)
    if d > 3:
        return None
    return _polynomial_value(layer, D) - _correction(layer, D)


def _polynomial_value(layer: Layer, D: int) -> int:
    """Theorem 7 (iii), for D >= 1."""
    d, d_out, a = layer.d, layer.d_out, layer.alpha
    w = comb(D + d - 1, D)
    value = comb(d * d_out + D - 1, D) * sum(schur_dimension(mu, d) ** 2 for mu in partitions(D, a))
    value -= comb(D + d_out - 1, D) * w * (w * (w - 1) // 2)
    for k in range(1, d - 1):
        for j in range(min(k + 1, a)):
            hooks = _hook(D, k - j), _hook(2 * D, k + 1), _hook(D, j)
            dims = (
                0 if hook is None else schur_dimension(hook, n)
                for hook, n in zip(hooks, (d_out, d, d), strict=True)
            )
            value -= prod(dims)
    return value


def _hook(size: int, leg: int) -> Partition | None:
    """The hook (size - leg, 1^leg), or None when there is none."""
    return strip((size - leg,) + (1,) * leg) if size > leg else None


def _correction(layer: Layer, D: int) -> int:
    """Theorem 7 (iv): where the function and the polynomial differ, for d <= 3."""
    if layer.d != 3:
        return 0
    shapes: dict[int, tuple[Partition, Partition, Partition]] = {
        2: ((1, 1), (2, 1, 1), (1, 1)),
        3: ((2, 1), (3, 2, 1), (2, 1)),
    }
    if D not in shapes or min(layer.d_out, layer.alpha) < 2:
        return 0
    return prod(
        schur_dimension(shape, n)
        for shape, n in zip(shapes[D], (layer.d_out, layer.d, layer.d), strict=True)
    )


def hilbert_series(layer: Layer) -> HilbertSeries | None:
    """The Hilbert series of the image, where theorem 7 gives it; None elsewhere.

    From D = 4 on the function is a polynomial of degree dimension - 1 (D = 1 for d = 2), so the
    numerator ends at degree dimension + 3.
    """
    if hilbert_function(layer, 1) is None:
        return None
    dimension = image_dimension(layer)
    length = dimension + 4
    values = [hilbert_function(layer, D) or 0 for D in range(length)]
    numerator = [
        sum((-1) ** i * comb(dimension, i) * values[n - i] for i in range(min(n, dimension) + 1))
        for n in range(length)
    ]
    while numerator and numerator[-1] == 0:
        numerator.pop()
    return HilbertSeries(tuple(numerator), dimension)


def generator_degree_bound(layer: Layer) -> tuple[int, str] | None:
    """A degree that no minimal generator of the ideal exceeds, with the reason, if one is proved.

    The bounds are Castelnuovo-Mumford regularities (docs/theory, sections 2 and 4). For d = 3 and
    a < 3 they carry over from a = 3, because the ideal only gains the (a+1)-minors of the
    flattening (theorem 7 (i)).
    """
    d, d_out = layer.d, layer.d_out
    if d == 1:
        return 1, "every linear map is a layer when d = 1, so the ideal is zero"
    if layer.t == 1:
        if d == 2:
            return 5, "the regularity of the ideal is at most 5 for d = 2, t = 1"
        return None
    if (d_out, layer.alpha) == (1, 1):
        return 3, (
            "the image is the Segre product of the symmetric matrices of rank <= 2 with P^(d-1), "
            "whose ideal is generated by quadrics and cubics"
        )
    if d == 2:
        return 5, "the regularity of the ideal is at most 5 for d = 2"
    if d == 3 and d_out <= 2:
        bound = "the regularity of the ideal is at most 6 for d = 3, d_out <= 2, a = 3"
        minors = " and a < 3 adds only the (a+1)-minors of the flattening"
        return 6, bound + (minors if layer.alpha < 3 else "")
    return None
