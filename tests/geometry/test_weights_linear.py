"""Exact kernels of sparse matrices."""

from __future__ import annotations

import random

import numpy as np
import pytest
import sympy
from flint import fmpz_mat

from m2bridge.errors import VerificationError
from m2bridge.geometry.weights.elimination import sparse_kernel
from m2bridge.geometry.weights.linear import (
    _PRIMES,
    SparseMatrix,
    as_integers,
    primitive,
    sparse_nullspace,
    to_flint,
)


def sparse(entries: list[list[int]]) -> SparseMatrix:
    triples = [(i, j, x) for i, row in enumerate(entries) for j, x in enumerate(row) if x]
    rows, columns, values = (np.array([t[k] for t in triples], dtype=np.int64) for k in range(3))
    return SparseMatrix((len(entries), len(entries[0])), rows, columns, values)


@pytest.mark.parametrize("seed", range(12))
def test_random_sparse_kernels_agree_with_flint(seed: int) -> None:
    rng = random.Random(seed)
    height, n = rng.randint(1, 60), rng.randint(2, 40)
    entries = [
        [rng.randint(-5, 5) if rng.random() < 0.15 else 0 for _ in range(n)] for _ in range(height)
    ]
    nullity = n - fmpz_mat(entries).rank()
    basis = sparse_nullspace(sparse(entries), nullity) if any(map(any, entries)) else None
    if basis is None:
        return
    assert basis.shape == (n, nullity)
    if nullity:
        assert not (np.array(entries, dtype=object) @ basis.astype(object)).any()
        assert int(to_flint(basis).rank()) == nullity


def test_rows_that_grow_are_finished_by_the_dense_part() -> None:
    """Dense rows exceed the length that the sparse part keeps."""
    rng = random.Random(1)
    entries = [[rng.randint(1, 9) for _ in range(40)] for _ in range(33)]
    basis = sparse_nullspace(sparse(entries), 7)
    assert not (np.array(entries, dtype=object) @ basis.astype(object)).any()


def test_large_answers_need_more_than_one_prime() -> None:
    a, b = 3**25, 2**40 + 15
    basis = sparse_nullspace(sparse([[a, b]]), 1)
    assert basis.dtype == object
    assert [abs(int(x)) for x in basis[:, 0]] == [b, a]


def test_a_wrong_nullity_is_noticed() -> None:
    with pytest.raises(VerificationError, match="dimension"):
        sparse_nullspace(sparse([[1, 0, 0], [0, 1, 0]]), 2)


def test_kernel_modulo_a_prime() -> None:
    p = 101
    triples = [(0, 0, 1), (0, 1, 1), (1, 1, 1), (1, 2, 2), (1, 2, -1)]
    (vector,) = sparse_kernel(triples, (2, 3), 1, p)
    assert (vector[0] + vector[1]) % p == 0
    assert (vector[1] + vector[2]) % p == 0
    assert any(vector)


def test_the_primes_are_primes() -> None:
    assert all(sympy.isprime(p) and p < 2**63 for p in _PRIMES)
    assert len(set(_PRIMES)) == len(_PRIMES)


def test_primitive_vectors_and_integer_arrays() -> None:
    assert primitive([0, -4, 6]) == [0, 2, -3]
    assert primitive([0, 0]) == [0, 0]
    assert as_integers([[1, 2]], (1, 2)).dtype == np.int64
    assert as_integers([[1, 2**70]], (1, 2)).dtype == object
