"""What a family of invariants is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from m2bridge.geometry.determinants import Sparse

__all__ = ["Family", "Sizes", "constant_degree", "when"]


@dataclass(frozen=True)
class Sizes:
    """The numbers that a family depends on: d, d_out, a = min(a, d), t."""

    d: int
    d_out: int
    a: int
    t: int


@dataclass(frozen=True)
class Family:
    """One family.

    Attributes:
        name: short name.
        description: what the polynomials say.
        published: whether arXiv 2604.15632 has it.
        degree: the degree of its polynomials for given sizes, or None when it is empty.
        size: how many polynomials ``build`` would make, to refuse too many.
        build: the polynomials, in coordinate codes.
    """

    name: str
    description: str
    published: bool
    degree: Callable[[Sizes], int | None]
    size: Callable[[Sizes], int]
    build: Callable[[Sizes], Iterator[Sparse]]


def when(
    condition: Callable[[Sizes], bool], degree: Callable[[Sizes], int]
) -> Callable[[Sizes], int | None]:
    """A degree where a condition on the sizes holds; the family is empty elsewhere."""
    return lambda s: degree(s) if condition(s) else None


def constant_degree(k: int) -> Callable[[Sizes], int]:
    """The same degree for all sizes."""
    return lambda s: k
