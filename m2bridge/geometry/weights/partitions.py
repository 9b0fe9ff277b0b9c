"""Partitions, Schur dimensions and the multiplicities of irreducibles in a polynomial ring.

A partition is a tuple of weakly decreasing positive integers; trailing zeros are never kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from math import factorial

__all__ = [
    "Partition",
    "kostka",
    "multiplicities",
    "pad",
    "partitions",
    "schur_dimension",
    "strip",
    "weight_space_sizes",
]

Partition = tuple[int, ...]


def strip(weight: tuple[int, ...]) -> Partition:
    """Drop the trailing zeros of a dominant weight."""
    end = len(weight)
    while end and weight[end - 1] == 0:
        end -= 1
    return weight[:end]


def pad(partition: Partition, length: int) -> tuple[int, ...]:
    """Fill a partition up with zeros to ``length`` entries."""
    return partition + (0,) * (length - len(partition))


def partitions(n: int, rows: int, largest: int | None = None) -> Iterator[Partition]:
    """All partitions of ``n`` with at most ``rows`` rows, lexicographically decreasing."""
    if n == 0:
        yield ()
        return
    if rows == 0:
        return
    for first in range(n if largest is None else min(n, largest), 0, -1):
        if first * rows < n:
            return
        for rest in partitions(n - first, rows - 1, first):
            yield (first, *rest)


@lru_cache(maxsize=4096)
def schur_dimension(partition: Partition, n: int) -> int:
    """Dimension of the irreducible GL_n module S_partition(K^n): Weyl's product formula.

    It is 0 when the partition has more than ``n`` rows.
    """
    if len(partition) > n:
        return 0
    row = pad(partition, n)
    top = bottom = 1
    for i in range(n):
        for j in range(i + 1, n):
            top *= row[i] - row[j] + j - i
            bottom *= j - i
    return top // bottom


def _times_power_sum(alternant: dict[tuple[int, ...], int], r: int) -> dict[tuple[int, ...], int]:
    """Multiply an alternating polynomial by p_r = sum x_i^r.

    The polynomial is given by its coefficients at strictly decreasing exponents; adding r to one
    exponent and sorting again is the Murnaghan-Nakayama rule.
    """
    out: dict[tuple[int, ...], int] = {}
    for exponents, c in alternant.items():
        for i, e in enumerate(exponents):
            moved = e + r
            j = i
            while j and exponents[j - 1] < moved:
                j -= 1
            if j and exponents[j - 1] == moved:
                continue
            key = (*exponents[:j], moved, *exponents[j:i], *exponents[i + 1 :])
            out[key] = out.get(key, 0) + (-c if (i - j) % 2 else c)
    return out


def _times_complete(
    alternant: dict[tuple[int, ...], int], k: int, r: int
) -> dict[tuple[int, ...], int]:
    """Multiply by h_k(x_1^r, ..., x_n^r), written in power sums: k h_k = sum p_j h_{k-j}."""
    steps = [alternant]
    for m in range(1, k + 1):
        total: dict[tuple[int, ...], int] = {}
        for j in range(1, m + 1):
            for key, c in _times_power_sum(steps[m - j], j * r).items():
                total[key] = total.get(key, 0) + c
        steps.append({key: c // m for key, c in total.items() if c})
    return steps[k]


@lru_cache(maxsize=8192)
def _block_character(k: int, cycle_type: Partition, rows: int) -> dict[Partition, int]:
    """Schur coefficients of prod_i h_k[p_{rho_i}] in ``rows`` variables."""
    alternant = {tuple(range(rows - 1, -1, -1)): 1}
    for r in cycle_type:
        alternant = _times_complete(alternant, k, r)
    return {
        strip(tuple(e - (rows - 1 - i) for i, e in enumerate(key))): c
        for key, c in alternant.items()
        if c
    }


def _centralizer(cycle_type: Partition) -> int:
    """Order of the centralizer of a permutation of this cycle type."""
    z = 1
    for r in set(cycle_type):
        m = cycle_type.count(r)
        z *= r**m * factorial(m)
    return z


@lru_cache(maxsize=256)
def multiplicities(
    degrees: tuple[int, ...], degree: int, rows: tuple[int, ...]
) -> dict[tuple[Partition, ...], int]:
    """Irreducibles of Sym^degree(S^{k_1} V_1 (x) S^{k_2} V_2 (x) ...) with multiplicities.

    Args:
        degrees: the k_b.
        degree: the degree of the polynomials.
        rows: dim V_b; irreducibles with more rows than that do not occur.

    Returns:
        Tuples of partitions -> positive multiplicity, lexicographically decreasing.

    The character of Sym^D is the sum over cycle types rho of the products of h_{k_b}[p_rho],
    divided by the order of the centralizer.
    """
    total: dict[tuple[Partition, ...], Fraction] = {}
    for cycle_type in partitions(degree, degree):
        weight = Fraction(1, _centralizer(cycle_type))
        product: dict[tuple[Partition, ...], int] = {(): 1}
        for k, n in zip(degrees, rows, strict=True):
            block = _block_character(k, cycle_type, n)
            product = {(*key, p): c * e for key, c in product.items() for p, e in block.items()}
        for key, c in product.items():
            total[key] = total.get(key, Fraction(0)) + c * weight
    return {key: int(total[key]) for key in sorted(total, reverse=True) if total[key]}


def _without_strips(shape: Partition, size: int) -> Iterator[Partition]:
    """What remains of a shape when a horizontal strip of this size is taken away."""

    def rows(i: int, left: int) -> Iterator[tuple[int, ...]]:
        if i == len(shape):
            if left == 0:
                yield ()
            return
        below = shape[i + 1] if i + 1 < len(shape) else 0
        for taken in range(min(shape[i] - below, left) + 1):
            for rest in rows(i + 1, left - taken):
                yield (shape[i] - taken, *rest)

    for remaining in rows(0, size):
        yield strip(remaining)


@lru_cache(maxsize=65536)
def kostka(shape: Partition, content: Partition) -> int:
    """The dimension of the weight space ``content`` of S_shape: semistandard tableaux."""
    if not content:
        return int(not shape)
    return sum(kostka(rest, content[:-1]) for rest in _without_strips(shape, content[-1]))


@lru_cache(maxsize=256)
def weight_space_sizes(
    degrees: tuple[int, ...], degree: int, rows: tuple[int, ...]
) -> dict[tuple[Partition, ...], int]:
    """How many monomials each highest weight of the polynomial ring has, without listing them.

    Args, keys: as :func:`multiplicities`.
    """
    present = multiplicities(degrees, degree, rows)
    sizes: dict[tuple[Partition, ...], int] = dict(present)
    for block, (k, n) in enumerate(zip(degrees, rows, strict=True)):
        contents = list(partitions(k * degree, n))
        spread: dict[tuple[Partition, ...], int] = {}
        for shape, count in sizes.items():
            for content in contents:
                times = kostka(shape[block], content)
                if times:
                    key = (*shape[:block], content, *shape[block + 1 :])
                    spread[key] = spread.get(key, 0) + times * count
        sizes = spread
    return {shape: sizes[shape] for shape in present}
