"""Highest-weight vectors of the polynomial ring on S^{k_1} V_1 (x) S^{k_2} V_2 (x) ...

They depend on the weight alone, not on the model, and how many there are is known beforehand from
characters: that makes the kernel of the raising operators a proved one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from m2bridge.geometry.weights.linear import IntMatrix, SparseMatrix, sparse_nullspace
from m2bridge.geometry.weights.partitions import Partition, multiplicities
from m2bridge.geometry.weights.space import (
    BASE,
    Codes,
    decode,
    encode,
    monomials,
    norm,
    numbered,
    raised,
    row_keys,
)

__all__ = ["HighestWeightSpace", "highest_weight_space", "monomial_norms"]

Shape = tuple[Partition, ...]
"""The partitions of a dominant weight, one for each block, without zeros."""


@dataclass(frozen=True)
class HighestWeightSpace:
    """The highest-weight vectors of one weight.

    Attributes:
        degrees: the symmetric powers of the blocks.
        shape: the weight.
        monomials: (n, D) codes of all monomials of this weight.
        vectors: (n, m) integers; the columns are a basis.
        norms: (n,) square norms of the monomials in the contravariant form.
    """

    degrees: tuple[int, ...]
    shape: Shape
    monomials: Codes
    vectors: IntMatrix
    norms: IntMatrix


def _code_table(degrees: tuple[int, ...], shape: Shape, block: int, k: int) -> IntMatrix:
    """For every code: (coefficient, raised code), coefficient 0 where the operator kills it."""
    table = np.zeros((BASE ** sum(degrees), 2), dtype=np.int64)
    for code in sorted(set(monomials(degrees, shape).ravel().tolist())):
        image = raised(decode(code, degrees), block, k)
        if image is not None:
            table[code] = image[0], encode(image[1])
    return table


def _raising_matrix(degrees: tuple[int, ...], shape: Shape) -> SparseMatrix:
    """All simple raising operators on one weight space, stacked."""
    rows = monomials(degrees, shape)
    n, degree = rows.shape
    parts: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]] = []
    height = 0
    for block, partition in enumerate(shape):
        for k in range(len(partition) - 1):
            table = _code_table(degrees, shape, block, k)
            images: list[Codes] = []
            columns: list[npt.NDArray[np.int64]] = []
            values: list[npt.NDArray[np.int64]] = []
            for position in range(degree):
                coefficient = table[rows[:, position], 0]
                hit = np.nonzero(coefficient)[0]
                image = rows[hit].copy()
                image[:, position] = table[rows[hit, position], 1]
                images.append(np.sort(image, axis=1))
                columns.append(hit)
                values.append(coefficient[hit])
            index, different = numbered(row_keys(np.vstack(images)))
            parts.append((index + height, np.concatenate(columns), np.concatenate(values)))
            height += different
    if not parts:
        none = np.zeros(0, dtype=np.int64)
        return SparseMatrix((0, n), none, none, none)
    joined = [np.concatenate([part[i] for part in parts]) for i in range(3)]
    return SparseMatrix((height, n), joined[0], joined[1], joined[2])


def monomial_norms(degrees: tuple[int, ...], rows: Codes) -> IntMatrix:
    """Square norms of monomials: product over their variables of m! norm^m, m the exponent."""
    table = np.zeros(int(rows.max(initial=0)) + 1, dtype=np.int64)
    for code in set(rows.ravel().tolist()):
        table[code] = norm(decode(code, degrees))
    out: IntMatrix = table[rows].prod(axis=1)
    # Rows are sorted: the length of the current run of equal codes multiplies to the factorial.
    run = np.ones(len(rows), dtype=np.int64)
    for i in range(1, rows.shape[1]):
        run = np.where(rows[:, i] == rows[:, i - 1], run + 1, 1)
        out *= run
    return out


@lru_cache(maxsize=4096)
def highest_weight_space(degrees: tuple[int, ...], shape: Shape) -> HighestWeightSpace:
    """A basis of the highest-weight vectors of one weight, exact over QQ."""
    degree = sum(shape[0]) // degrees[0]
    rows = tuple(len(partition) for partition in shape)
    expected = multiplicities(degrees, degree, rows).get(shape, 0)
    matrix = _raising_matrix(degrees, shape)
    codes = monomials(degrees, shape)
    vectors = sparse_nullspace(matrix, expected)
    return HighestWeightSpace(degrees, shape, codes, vectors, monomial_norms(degrees, codes))
