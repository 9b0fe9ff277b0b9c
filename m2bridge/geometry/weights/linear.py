"""Exact kernels of integer matrices: found modulo a prime, lifted, and proved over the integers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from math import gcd, isqrt
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpz_mat

from m2bridge.errors import VerificationError
from m2bridge.geometry.weights.elimination import sparse_kernel

__all__ = [
    "IntMatrix",
    "SparseMatrix",
    "as_integers",
    "exact_nullspace",
    "primitive",
    "rational",
    "sparse_nullspace",
    "to_flint",
]

IntMatrix = npt.NDArray[Any]
"""A numpy array of exact integers: int64 when everything fits, otherwise Python integers."""

_PRIMES = (4611686018427387847, 4611686018427387817, 4611686018427387787, 4611686018427387761)
_SMALL = 1 << 40


class SparseMatrix:
    """An integer matrix as (row, column, value) triples; repeated positions add up."""

    def __init__(
        self,
        shape: tuple[int, int],
        rows: npt.NDArray[np.int64],
        columns: npt.NDArray[np.int64],
        values: npt.NDArray[np.int64],
    ) -> None:
        self.shape = shape
        self.rows = rows
        self.columns = columns
        self.values = values

    def triples(self) -> Iterator[tuple[int, int, int]]:
        """The entries as (row, column, value)."""
        return zip(self.rows.tolist(), self.columns.tolist(), self.values.tolist(), strict=True)

    def annihilates(self, vectors: IntMatrix) -> bool:
        """Whether the matrix times each column of ``vectors`` is exactly zero."""
        for column in vectors.T:
            out = np.zeros(self.shape[0], dtype=vectors.dtype)
            np.add.at(out, self.rows, self.values.astype(vectors.dtype) * column[self.columns])
            if out.any():
                return False
        return True


def primitive(vector: Sequence[int]) -> list[int]:
    """Divide by the content and make the first non-zero entry positive."""
    content = reduce(gcd, (int(x) for x in vector), 0)
    if not content:
        return [0] * len(vector)
    if next(int(x) for x in vector if x) < 0:
        content = -content
    return [int(x) // content for x in vector]


def rational(residue: int, modulus: int) -> tuple[int, int] | None:
    """The fraction n/m with n = m * residue mod ``modulus`` and |n|, m <= sqrt(modulus / 2)."""
    bound = isqrt(modulus // 2)
    r0, r1, s0, s1 = modulus, residue % modulus, 0, 1
    while r1 > bound:
        q = r0 // r1
        r0, r1, s0, s1 = r1, r0 - q * r1, s1, s0 - q * s1
    if abs(s1) > bound or gcd(r1, s1) != 1:
        return None
    return (r1, s1) if s1 > 0 else (-r1, -s1)


def as_integers(rows: Sequence[Sequence[int]], shape: tuple[int, int]) -> IntMatrix:
    """An array of the given shape; int64 only if sums of products stay far from overflow."""
    largest = max((abs(x) for row in rows for x in row), default=0)
    dtype = np.int64 if largest < _SMALL else object
    out: IntMatrix = np.zeros(shape, dtype=dtype)
    for i, row in enumerate(rows):
        out[i, :] = row
    return out


def _lift(vector: Sequence[int], modulus: int) -> list[int] | None:
    """A primitive integer vector that is proportional to the residues, or None."""
    denominator = 1
    fractions: list[tuple[int, int]] = []
    for x in vector:
        if not x:
            fractions.append((0, 1))
            continue
        found = rational(x, modulus)
        if found is None:
            return None
        fractions.append(found)
        denominator = denominator * found[1] // gcd(denominator, found[1])
    return primitive([n * (denominator // m) for n, m in fractions])


def sparse_nullspace(matrix: SparseMatrix, nullity: int) -> IntMatrix:
    """A basis of the rational kernel, as the columns of an integer array.

    Args:
        matrix: the integer matrix.
        nullity: the dimension of its kernel over QQ, known from elsewhere.

    The kernel modulo a prime is lifted by rational reconstruction; that the lifted vectors lie in
    the kernel and are independent is checked exactly.

    Raises:
        VerificationError: no kernel of that dimension exists.
    """
    n = matrix.shape[1]
    residues: list[list[int]] = []
    modulus = 1
    for p in _PRIMES:
        new = sparse_kernel(matrix.triples(), matrix.shape, nullity, p)
        if len(new) != nullity:
            continue
        if modulus == 1:
            residues, modulus = new, p
        else:
            residues = [
                _chinese(old, fresh, modulus, p) for old, fresh in zip(residues, new, strict=True)
            ]
            modulus *= p
        lifted = [v for v in (_lift(v, modulus) for v in residues) if v is not None]
        if len(lifted) == nullity:
            basis = as_integers(lifted, (nullity, n)).T
            if matrix.annihilates(basis) and int(to_flint(basis).rank()) == nullity:
                return basis
    return _dense_nullspace(matrix, nullity)


def _chinese(a: Sequence[int], b: Sequence[int], m: int, p: int) -> list[int]:
    """The residues modulo m p that are a modulo m and b modulo p."""
    inverse = pow(m, -1, p)
    return [x + m * ((y - x) * inverse % p) for x, y in zip(a, b, strict=True)]


def _dense_nullspace(matrix: SparseMatrix, nullity: int) -> IntMatrix:
    """The slow way: flint's exact nullspace of the dense matrix."""
    dense = np.zeros(matrix.shape, dtype=np.int64)
    np.add.at(dense, (matrix.rows, matrix.columns), matrix.values)
    basis = exact_nullspace(fmpz_mat(*matrix.shape, dense.ravel().tolist()))
    if len(basis) != nullity:
        raise VerificationError(
            f"expected a kernel of dimension {nullity}, found dimension {len(basis)}"
        )
    return as_integers(basis, (nullity, matrix.shape[1])).T


def to_flint(array: IntMatrix) -> fmpz_mat:
    """A two-dimensional integer array as a flint matrix."""
    return fmpz_mat(array.shape[0], array.shape[1], [int(x) for x in array.ravel()])


def exact_nullspace(matrix: fmpz_mat) -> list[list[int]]:
    """A basis of the kernel over QQ, as primitive integer vectors, shortened by LLL."""
    columns, nullity = matrix.nullspace()
    if not nullity:
        return []
    n = matrix.ncols()
    rows = [primitive([int(columns[i, j]) for i in range(n)]) for j in range(nullity)]
    short = fmpz_mat(nullity, n, [x for row in rows for x in row]).lll()
    return [primitive([int(short[i, j]) for j in range(n)]) for i in range(nullity)]
