"""Degrees of closures of strata as projective varieties, by exact localisation and closed formulas.

The closure of type (v, r, j) is the image of the bundle P(U (x) R) x P(C (x) Z) over the flags
R, C < E < K^d with dim R = v, dim C = r, dim E = j, under the sum of the two hyperplane classes
h1 + h2; the map is one to one over the stratum, except two to one over (1, 1, 2). Pushing powers
of h1, h2 forward gives Segre classes of R^(d_out) and C^d, and Bott's formula turns their integral
into a sum over the coordinate flags. (Derived in docs/theory.)
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import comb, factorial, prod

from m2bridge.geometry.strata.forms import generic_type

__all__ = [
    "closure_degree",
    "determinantal_degree",
    "layer_degree",
    "localised_degree",
    "segre_degree",
    "symmetric_closure_degree",
    "symmetric_determinantal_degree",
    "symmetric_layer_degree",
]

LARGEST_D = 10
"""Beyond this width the number of coordinate flags makes the sum slow."""


def determinantal_degree(d: int, rank: int) -> int:
    """Degree of the d x d matrices of rank at most `rank` (classical)."""
    value = Fraction(1)
    for i in range(d - rank):
        value *= Fraction(comb(d + i, rank), comb(rank + i, rank))
    return int(value)


def symmetric_determinantal_degree(d: int, rank: int) -> int:
    """Degree of the symmetric d x d matrices of rank at most `rank` (Harris and Tu)."""
    value = Fraction(1)
    for i in range(d - rank):
        value *= Fraction(comb(d + i, d - rank - i), comb(2 * i + 1, i))
    return int(value)


def segre_degree(factors: Sequence[tuple[int, int]]) -> int:
    """Degree of a Segre product of projective varieties given by (dimension, degree)."""
    total = sum(dimension for dimension, _ in factors)
    multinomial = factorial(total) // prod(factorial(dimension) for dimension, _ in factors)
    return multinomial * prod(degree for _, degree in factors)


def layer_degree(d: int, d_out: int, a: int) -> int:
    """Degree of the closure of all functions of a layer, t >= 2 (theory page, corollary 3)."""
    rank = min(a, d)
    source = [(d * d_out - 1, 1), (2 * rank * d - rank**2 - 1, determinantal_degree(d, rank))]
    return segre_degree(source) // (2 if d_out == 1 and rank == 1 and d >= 2 else 1)


def symmetric_layer_degree(d: int, d_out: int, rank: int) -> int:
    """Degree of {V S: rank of the quadratic form S at most `rank`}, t = 1 (theory page, part 4)."""
    forms = rank * d - rank * (rank - 1) // 2 - 1
    source = [(d * d_out - 1, 1), (forms, symmetric_determinantal_degree(d, rank))]
    return segre_degree(source) // (3 if d_out == 1 and rank == 2 and d >= 2 else 1)


def _segre_classes(roots: Sequence[int], copies: int, top: int) -> list[int]:
    """The Segre classes s_0..s_top of `copies` copies of a bundle with these Chern roots."""
    classes = [1] + [0] * top
    for root in roots:
        for _ in range(copies):
            # Multiply the series by 1 / (1 + root).
            for k in range(1, top + 1):
                classes[k] -= root * classes[k - 1]
    return classes


def _grassmannian_sums(space: tuple[int, ...], size: int, copies: int, top: int) -> list[Fraction]:
    """Bott sums over the coordinate subspaces of `space` of the Segre classes s_0..s_top."""
    sums = [Fraction(0)] * (top + 1)
    for chosen in combinations(space, size):
        rest = [x for x in space if x not in chosen]
        euler = prod(y - x for x in chosen for y in rest)
        for k, value in enumerate(_segre_classes(chosen, copies, top)):
            sums[k] += Fraction(value, euler)
    return sums


def closure_degree(d: int, d_out: int, kind: tuple[int, int, int]) -> int | None:
    """Degree of the closure of a rank type, t >= 2.

    By a product formula for types (1, 1, *) and for those of all V with all A of one rank, else
    by localisation; None for d > 10 without a product formula.
    """
    v, r, joint = kind
    n = d - 1
    if kind == (1, 1, 1):
        return segre_degree([(d_out - 1, 1), (n, 2**n), (n, 1)])
    if kind == (1, 1, 2):
        return segre_degree([(d_out - 1, 1), (2 * n, comb(2 * n, n) // 2), (n, 1)])
    if v == min(d, d_out) and joint == min(d, v + r):
        return layer_degree(d, d_out, r)
    return None if d > LARGEST_D else localised_degree(d, d_out, kind)


@lru_cache(maxsize=1024)
def localised_degree(d: int, d_out: int, kind: tuple[int, int, int]) -> int:
    """The degree of the closure of a rank type, t >= 2, as a sum over coordinate flags."""
    v, r, joint = kind
    base = joint * (d - joint) + v * (joint - v) + r * (joint - r)
    total = base + v * d_out + r * d - 2
    weights = tuple(range(1, d + 1))
    degree = Fraction(0)
    for space in combinations(weights, joint):
        rest = [x for x in weights if x not in space]
        euler = prod(y - x for x in space for y in rest)
        first = _grassmannian_sums(space, v, d_out, base)
        second = _grassmannian_sums(space, r, d, base)
        part = sum(
            comb(total, v * d_out - 1 + k) * first[k] * second[base - k] for k in range(base + 1)
        )
        degree += Fraction(part) / euler
    return int(degree / (2 if kind == (1, 1, 2) else 1))


def _pencil_integral(d: int) -> int:
    """The Segre class s_{2(d-2)}(S^3 E), E the tautological plane, over the planes of K^d."""
    top = 2 * (d - 2)
    total = Fraction(0)
    for x, y in combinations(range(1, d + 1), 2):
        rest = [z for z in range(1, d + 1) if z not in (x, y)]
        euler = prod((z - x) * (z - y) for z in rest)
        roots = (3 * x, 2 * x + y, x + 2 * y, 3 * y)
        total += Fraction(_segre_classes(roots, 1, top)[top], euler)
    return int(total)


def symmetric_closure_degree(d: int, d_out: int, kind: tuple[int, int, int, int]) -> int | None:
    """Degree of the closure of a type, t = 1, where a closed formula is known; else None.

    Known: all V with the forms of one rank; and the products of three linear forms, of which two
    or three may be equal, or all lie in a pencil.
    """
    v, r, j, rho = kind
    n = d - 1
    if (v, r) == (1, 1):
        return segre_degree([(d_out - 1, 1), (n, 3**n)])
    if (v, r) == (1, 2) and j == d - 3:
        cubes = factorial(3 * n) // factorial(n) ** 3 // 6
        return segre_degree([(d_out - 1, 1), (3 * n, cubes)])
    if (v, r) == (1, 2) and rho == 1:
        return segre_degree([(d_out - 1, 1), (2 * d - 1, _pencil_integral(d))])
    if (v, r) == (1, 2):
        return segre_degree([(d_out - 1, 1), (2 * n, comb(2 * n, n) * 2**n)])
    if kind == generic_type(d, d_out, r):
        return symmetric_layer_degree(d, d_out, r)
    return None
