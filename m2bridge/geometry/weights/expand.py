"""From a highest-weight vector to a basis of the irreducible module that it generates.

Weight spaces at dominant weights come from the simple lowering operators; all others are
permutations of these. Each weight space gets the basis in reduced row echelon form, so the result
depends on the module and the highest-weight vector alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from math import prod

from flint import fmpz_mat

from m2bridge.errors import VerificationError
from m2bridge.geometry.weights.highest import Shape
from m2bridge.geometry.weights.linear import IntMatrix, primitive
from m2bridge.geometry.weights.maps import IntegerPolynomial
from m2bridge.geometry.weights.partitions import pad, schur_dimension
from m2bridge.geometry.weights.space import Codes, Weight, decode, encode, labels, raised

__all__ = [
    "CodePolynomial",
    "derive",
    "irreducible_basis",
    "permuted",
    "polynomial_of_codes",
    "reduced",
    "step_table",
]

CodePolynomial = dict[tuple[int, ...], int]
"""Increasing tuple of coordinate codes -> coefficient."""


def polynomial_of_codes(rows: Codes, vector: IntMatrix) -> CodePolynomial:
    """A coefficient vector over monomials as a sparse polynomial."""
    return {tuple(int(x) for x in row): int(c) for row, c in zip(rows, vector, strict=True) if c}


@lru_cache(maxsize=512)
def step_table(
    degrees: tuple[int, ...], dims: tuple[int, ...], block: int, k: int, step: int
) -> dict[int, tuple[int, int]]:
    """Coordinate code -> (coefficient, code) under a simple operator; see ``space.raised``."""
    out = {}
    for label in labels(degrees, dims):
        image = raised(label, block, k, step)
        if image is not None:
            out[encode(label)] = image[0], encode(image[1])
    return out


def derive(polynomial: CodePolynomial, table: dict[int, tuple[int, int]]) -> CodePolynomial:
    """Apply a simple operator, given by its table on coordinates, as a derivation."""
    out: CodePolynomial = {}
    for monomial, c in polynomial.items():
        for position, code in enumerate(monomial):
            hit = table.get(code)
            if hit is None:
                continue
            key = tuple(sorted((*monomial[:position], hit[1], *monomial[position + 1 :])))
            out[key] = out.get(key, 0) + c * hit[0]
    return {key: c for key, c in out.items() if c}


def reduced(polynomials: list[CodePolynomial]) -> list[CodePolynomial]:
    """The primitive integer basis in reduced row echelon form of the space they span."""
    keys = sorted({key for f in polynomials for key in f})
    if not keys:
        return []
    column = {key: i for i, key in enumerate(keys)}
    matrix = fmpz_mat(len(polynomials), len(keys))
    for i, f in enumerate(polynomials):
        for key, c in f.items():
            matrix[i, column[key]] = c
    echelon, _, rank = matrix.rref()
    out = []
    for i in range(rank):
        row = primitive([int(echelon[i, j]) for j in range(len(keys))])
        out.append({keys[j]: c for j, c in enumerate(row) if c})
    return out


def permuted(
    polynomial: CodePolynomial, degrees: tuple[int, ...], orders: list[list[int]]
) -> CodePolynomial:
    """Rename index j of block b to orders[b][j], and make the first coefficient positive."""
    new_code: dict[int, int] = {}
    out: CodePolynomial = {}
    for monomial, c in polynomial.items():
        key = []
        for code in monomial:
            if code not in new_code:
                label = decode(code, degrees)
                new_code[code] = encode(
                    tuple(
                        tuple(sorted(order[i] for i in block))
                        for block, order in zip(label, orders, strict=True)
                    )
                )
            key.append(new_code[code])
        out[tuple(sorted(key))] = c
    return out if out[min(out)] > 0 else {key: -c for key, c in out.items()}


class _Module:
    """One irreducible module, its dominant weight spaces computed once."""

    def __init__(
        self, degrees: tuple[int, ...], dims: tuple[int, ...], shape: Shape, top: CodePolynomial
    ) -> None:
        self.degrees = degrees
        self.dims = dims
        self.highest: Weight = tuple(pad(p, n) for p, n in zip(shape, dims, strict=True))
        self._spaces: dict[Weight, list[CodePolynomial]] = {self.highest: reduced([top])}

    def _below_highest(self, weight: Weight) -> bool:
        """Whether a dominant weight occurs: dominance order, block by block."""
        for row, top in zip(weight, self.highest, strict=True):
            gap = 0
            for x, y in zip(row, top, strict=True):
                gap += y - x
                if gap < 0:
                    return False
        return True

    def dominant(self, weight: Weight) -> list[CodePolynomial]:
        """A basis of the weight space of a dominant weight."""
        known = self._spaces.get(weight)
        if known is not None:
            return known
        images: list[CodePolynomial] = []
        for block, row in enumerate(weight):
            for k in range(len(row) - 1):
                if row[k + 1] == 0:
                    continue
                higher = (*row[:k], row[k] + 1, row[k + 1] - 1, *row[k + 2 :])
                table = step_table(self.degrees, self.dims, block, k, 1)
                source = (*weight[:block], higher, *weight[block + 1 :])
                images.extend(derive(f, table) for f in self.space(source))
        self._spaces[weight] = space = reduced([f for f in images if f])
        return space

    def space(self, weight: Weight) -> list[CodePolynomial]:
        """A basis of any weight space."""
        orders = [
            sorted(range(len(row)), key=lambda i, row=row: (-row[i], i))  # type: ignore[misc]
            for row in weight
        ]
        sorted_weight = tuple(
            tuple(row[i] for i in order) for row, order in zip(weight, orders, strict=True)
        )
        if not self._below_highest(sorted_weight):
            return []
        basis = self.dominant(sorted_weight)
        if sorted_weight == weight:
            return basis
        return [permuted(f, self.degrees, orders) for f in basis]

    def weights(self) -> Iterator[Weight]:
        """All weights of the module, the highest first, lexicographically decreasing."""
        blocks = [
            list(_compositions(sum(row), len(row), row[0] if row else 0)) for row in self.highest
        ]
        for weight in product(*blocks):
            if self._below_highest(tuple(tuple(sorted(row, reverse=True)) for row in weight)):
                yield weight


def _compositions(total: int, parts: int, largest: int) -> Iterator[tuple[int, ...]]:
    """All tuples of ``parts`` integers in 0..largest with this sum, lexicographic from above."""
    if parts == 0:
        if total == 0:
            yield ()
        return
    for first in range(min(total, largest), -1, -1):
        if total - first > largest * (parts - 1):
            return
        for rest in _compositions(total - first, parts - 1, largest):
            yield (first, *rest)


def _check_highest(degrees: tuple[int, ...], dims: tuple[int, ...], top: CodePolynomial) -> None:
    """Every simple raising operator must kill ``top``."""
    for block, n in enumerate(dims):
        for k in range(n - 1):
            if derive(top, step_table(degrees, dims, block, k, -1)):
                raise VerificationError(
                    f"not a highest-weight vector: raising index {k + 1} of block {block} "
                    "does not give zero"
                )


def irreducible_basis(
    degrees: tuple[int, ...], dims: tuple[int, ...], shape: Shape, top: CodePolynomial
) -> list[IntegerPolynomial]:
    """A basis of the module generated by a highest-weight vector.

    Args:
        degrees: symmetric powers of the blocks.
        dims: dimensions of the blocks.
        shape: the highest weight.
        top: the highest-weight vector, in codes.

    Returns:
        Primitive integer polynomials in codes, ordered by weight, highest first.

    Raises:
        VerificationError: ``top`` is no highest-weight vector, or the number of polynomials is not
            Weyl's dimension.
    """
    _check_highest(degrees, dims, top)
    module = _Module(degrees, dims, shape, top)
    out: list[IntegerPolynomial] = []
    for weight in module.weights():
        out.extend(module.space(weight))
    expected = prod(schur_dimension(p, n) for p, n in zip(shape, dims, strict=True))
    if len(out) != expected:
        raise VerificationError(
            f"the module of weight {shape} has dimension {expected}, but {len(out)} vectors arose"
        )
    return out
