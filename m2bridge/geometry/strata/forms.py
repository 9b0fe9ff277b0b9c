"""Rank types of pairs (V, S), S a quadratic form, and their real forms: integers only.

With t = 1 a layer computes (V x)_i S(x), S(x) = x^T A x. Pairs (V, S) under GL(U) x GL(W) have the
type (rank V, rank S, j, rho) with j = dim(ker V with rad S in common) and rho = rank of S on ker V;
over the reals the ranks of S and of S on ker V become signatures, up to a common sign
(docs: theory page, part 4; Witt's theorem).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import comb

__all__ = [
    "FormType",
    "RealForm",
    "canonical",
    "form_types",
    "generic_type",
    "is_special",
    "normal_products",
    "orbit_dimension",
    "order_key",
    "preimage_types",
    "real_forms",
    "source_tangent",
    "tangent_dimension",
]

FormType = tuple[int, int, int, int]
Product = tuple[dict[int, int], dict[int, int]]
"""A product of two linear forms, each {index: coefficient}."""


def form_types(d: int, d_out: int, rank: int) -> Iterator[FormType]:
    """All types of pairs with V != 0 and 1 <= rank S <= rank."""
    for v in range(1, min(d, d_out) + 1):
        for r in range(1, rank + 1):
            for j in range(max(0, d - v - r), min(d - r, d - v) + 1):
                m = d - v - j
                for rho in range(max(0, 2 * m - r), m + 1):
                    yield v, r, j, rho


def is_special(kind: FormType) -> bool:
    """Rank V = 1 and rank S <= 2: the function is u times a product of three linear forms."""
    return kind[0] == 1 and kind[1] <= 2


def preimage_types(d: int, kind: FormType) -> tuple[FormType, ...]:
    """The types of pairs with the same functions: two for u * l^2 m with l, m independent."""
    twins = ((1, 2, d - 2, 0), (1, 1, d - 2, 1))
    return twins if d >= 2 and kind in twins else (kind,)


def canonical(d: int, kind: FormType) -> FormType:
    """The type that stands for all pairs with the same functions (the one of largest rank S)."""
    return preimage_types(d, kind)[0]


def orbit_dimension(d: int, d_out: int, kind: FormType) -> int:
    """Dimension of the functions of this type, in the affine cone."""
    v, r, j, rho = kind
    if v == 0:
        return 0
    m = d - v - j
    forms = r * d - r * (r - 1) // 2
    kernels = j * (d - r - j) + m * (r - m) - comb(m - rho + 1, 2) + m * (d - r - j)
    return forms + kernels + v * d_out - 1


def order_key(d: int, kind: FormType) -> tuple[int, int, int, int]:
    """Closures of orbits of pairs are given by the componentwise order of these numbers."""
    v, r, j, rho = kind
    return v, r, d - j, 2 * v + rho


def generic_type(d: int, d_out: int, r: int) -> FormType:
    """The type of a generic V and a generic form of rank r."""
    v = min(d, d_out)
    j = max(0, d - v - r)
    return v, r, j, d - v - j


def source_tangent(d: int, rank: int, r: int) -> int:
    """The tangent dimension of {rank S <= rank} at a form of rank r."""
    if rank == d or r < rank:
        return d * (d + 1) // 2
    return rank * d - rank * (rank - 1) // 2


def tangent_dimension(d: int, d_out: int, rank: int, kind: FormType) -> int:
    """The tangent dimension of the closure of all functions (theory page, part 4).

    Args:
        d, d_out: widths.
        rank: the largest rank of S, min(2 a, d).
        kind: the type, canonical; (0, 0, d, 0) is the zero function.
    """
    v, r, j, _ = kind
    if d == 1:
        return d_out
    if v == 0:
        return d_out * comb(d + 2, 3)
    if not is_special(kind):
        return d * d_out + source_tangent(d, rank, r) - 1
    big = rank >= 3
    if r == 1:
        return d_out * comb(d + 2, 3)
    line = d_out + 3 * d - 3
    if j == d - 3:
        return line + 3 * ((d_out - 1) * (d - 1) + big * comb(d - 1, 2))
    if kind[3] == 1:
        return line + 3 * (d_out - 1) * (d - 1) + big * (2 * comb(d - 1, 2) + comb(d, 3))
    squares = 2 * (d - 1) + comb(d, 2)
    return d_out + d_out * squares + big * (comb(d - 1, 2) + comb(d, 3))


@dataclass(frozen=True, slots=True)
class RealForm:
    """One real shape of a complex type.

    Attributes:
        signature: of the real form S, up to a common sign with `restricted`.
        restricted: the signature of S on ker V.
        in_image: is it a function of real weights, that is signature <= (a, a)?
        boundary: does it lie on the boundary of the real image (False when not in the image)?
        fibre_points: number of real (V, S) up to scaling with the same function.
    """

    signature: tuple[int, int]
    restricted: tuple[int, int]
    in_image: bool
    boundary: bool
    fibre_points: int


def _signatures(d: int, kind: FormType) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    v, r, j, rho = kind
    isotropic = d - v - j - rho
    for p in range(r, (r + 1) // 2 - 1, -1):
        q = r - p
        for p_in in range(rho, -1, -1):
            q_in = rho - p_in
            if isotropic > min(p - p_in, q - q_in):
                continue
            if p == q and p_in < q_in:
                continue  # the common change of sign
            yield (p, q), (p_in, q_in)


@lru_cache(maxsize=64)  # each answer about a stratum asks anew
def real_forms(d: int, a: int, kind: FormType) -> tuple[RealForm, ...]:
    """The real shapes of a (canonical) type, most balanced signature last.

    The boundary is: some real preimage has min(p, q) < min(a, d - a), when a < d.
    """
    v, r, _, rho = kind
    if v == 0:
        return (RealForm((0, 0), (0, 0), True, a < d, 0),)
    square = d >= 2 and kind == (1, 2, d - 2, 0)
    forms = []
    for signature, restricted in _signatures(d, kind):
        in_image = max(signature) <= a
        smallest = 0 if square else min(signature)
        edge = in_image and a < d and smallest < min(a, d - a)
        points = 1
        if d >= 2 and v == 1 and r == 2 and signature == (1, 1):
            points = 3 if rho else 2
        forms.append(RealForm(signature, restricted, in_image, edge, points))
    return tuple(forms)


def _block(coordinates: range, signature: tuple[int, int]) -> tuple[list[Product], list[Product]]:
    """A form of this signature: hyperbolic products, and the squares that are left over."""
    p, q = signature
    places = list(coordinates)
    pairs = min(p, q)
    hyperbolic: list[Product] = [({places[2 * k]: 1}, {places[2 * k + 1]: 1}) for k in range(pairs)]
    sign = 1 if p > q else -1
    squares: list[Product] = [({k: 1}, {k: sign}) for k in places[2 * pairs :]]
    return hyperbolic, squares


def normal_products(d: int, kind: FormType, form: RealForm) -> list[Product]:
    """The normal form of S as a sum of max(p, q) products, V being the first unit rows.

    The first coordinates are those of V: e of them pair with isotropic vectors of ker V, f of
    them carry what is left of S. Then come, inside ker V: e isotropic ones, rho, and j zeros.
    """
    v, r, j, rho = kind
    e = d - v - j - rho
    f = r - rho - 2 * e
    (p, q), (p_in, q_in) = form.signature, form.restricted
    products: list[Product] = [({k: 1}, {v + k: 1}) for k in range(e)]
    outside, left = _block(range(e, e + f), (p - p_in - e, q - q_in - e))
    inside, more = _block(range(v + e, v + e + rho), (p_in, q_in))
    products += outside + inside
    positive = [x for x in left + more if next(iter(x[1].values())) > 0]
    negative = [x for x in left + more if next(iter(x[1].values())) < 0]
    while positive and negative:
        # x^2 - y^2 = (x + y)(x - y): one product, so that A gets rank max(p, q) only.
        x, y = next(iter(positive.pop()[0])), next(iter(negative.pop()[0]))
        products.append(({x: 1, y: 1}, {x: 1, y: -1}))
    return products + positive + negative
