"""Batched matrix arithmetic in the three rings that derivatives are taken in.

A value is an array whose last two axes are a matrix and whose axis before them numbers inputs. For
truncated power series a further axis, the first, numbers the powers of eps. Weights have no batch
axis and broadcast. The modular rings use 64-bit integers only: with p < 2^31 a product of two
residues stays below 2^62.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

__all__ = ["Array", "Floats", "FormalModular", "Modular", "Ring", "Series", "transpose"]

Array = np.ndarray[Any, np.dtype[Any]]

_HALF = 16


def transpose(a: Array) -> Array:
    """Transpose each matrix."""
    return np.swapaxes(a, -1, -2)


class Ring(Protocol):
    """What the network derivative needs of a ring."""

    def matmul(self, a: Array, b: Array) -> Array:
        """Product of matrices, batched."""

    def times(self, a: Array, b: Array) -> Array:
        """Product entry by entry, with broadcasting."""

    def add(self, a: Array, b: Array) -> Array:
        """Sum."""

    def subtract(self, a: Array, b: Array) -> Array:
        """Difference."""

    def column_sums(self, a: Array) -> Array:
        """Sum of each column, as a matrix with one row."""

    def softmax(self, scores: Array, symmetric: bool) -> Array:
        """Softmax down each column of t x t matrices of scores, which may be known symmetric."""


class Modular:
    """Integers modulo a prime below 2^31. It has no exponential: lightning attention only."""

    def __init__(self, prime: int) -> None:
        self.prime = prime

    def matmul(self, a: Array, b: Array) -> Array:
        """Product of matrices.

        One factor is split into 16-bit halves: sums of up to 2^16 terms then stay below 2^63.
        """
        high, low = a >> _HALF, a & ((1 << _HALF) - 1)
        top = np.matmul(high, b) % self.prime
        return np.asarray(((top << _HALF) + np.matmul(low, b)) % self.prime)

    def times(self, a: Array, b: Array) -> Array:
        """Product entry by entry."""
        return np.asarray(a * b % self.prime)

    def add(self, a: Array, b: Array) -> Array:
        """Sum."""
        return np.asarray((a + b) % self.prime)

    def subtract(self, a: Array, b: Array) -> Array:
        """Difference."""
        return np.asarray((a - b) % self.prime)

    def column_sums(self, a: Array) -> Array:
        """Sum of each column."""
        return np.asarray(a.sum(axis=-2, keepdims=True) % self.prime)

    def invert(self, a: Array) -> Array:
        """Inverse of each entry, by Fermat's little theorem; 0 goes to 0."""
        result, base, exponent = np.ones_like(a), a % self.prime, self.prime - 2
        while exponent:
            if exponent & 1:
                result = self.times(result, base)
            base = self.times(base, base)
            exponent >>= 1
        return result

    def softmax(self, scores: Array, symmetric: bool) -> Array:
        """Refuse: see `FormalModular` and `Series`.

        Raises:
            TypeError: always.
        """
        raise TypeError("residues have no exponential; use FormalModular or Series")


class FormalModular(Modular):
    """Residues with formal exponentials: exp of every score is an independent random value.

    Legitimate for the generic rank when the scores are linearly independent over Q modulo
    constants, by the theorem of Ax: their exponentials then are algebraically independent over
    the field of the scores. (Docs: theory page, "Softmax attention".)
    """

    def __init__(self, prime: int, generator: np.random.Generator) -> None:
        super().__init__(prime)
        self._generator = generator

    def softmax(self, scores: Array, symmetric: bool) -> Array:
        """A matrix with random entries of which each column sums to 1.

        With ``symmetric``, where s_mn = s_nm, equal scores get equal exponentials.
        """
        while True:
            exponentials = self._draw(scores.shape, symmetric)
            sums = self.column_sums(exponentials)
            if sums.all():  # a column that sums to 0 modulo the prime has no softmax
                return self.times(exponentials, self.invert(sums))

    def _draw(self, shape: tuple[int, ...], symmetric: bool) -> Array:
        drawn = np.asarray(self._generator.integers(1, self.prime, size=shape, dtype=np.int64))
        if symmetric:
            return np.asarray(np.triu(drawn) + transpose(np.triu(drawn, 1)))
        return drawn


class Series:
    """Power series in eps over the integers modulo a prime, cut off after eps^order.

    An array may have fewer than ``order + 1`` terms; the missing ones are zero.
    """

    def __init__(self, prime: int, order: int) -> None:
        if order >= prime:
            raise ValueError(f"series to order {order} need a prime above it, got {prime}")
        self.order = order
        self.prime = prime
        self._base = Modular(prime)

    def _convolve(self, a: Array, b: Array, product: Any) -> Array:
        if a.ndim == 2:
            a = a[None, None]
        length = min(len(a) + len(b) - 1, self.order + 1)
        total: list[Any] = [None] * length
        for i, left in enumerate(a):
            if not left.any():
                continue
            for j, right in enumerate(b[: length - i]):
                term = product(left, right)
                total[i + j] = term if total[i + j] is None else total[i + j] + term
        zero = np.zeros_like(product(a[0], b[0]))
        return np.stack([zero if x is None else x % self.prime for x in total])

    def matmul(self, a: Array, b: Array) -> Array:
        """Product of matrices."""
        return self._convolve(a, b, self._base.matmul)

    def times(self, a: Array, b: Array) -> Array:
        """Product entry by entry."""
        return self._convolve(a, b, self._base.times)

    def _padded(self, a: Array, length: int) -> Array:
        if len(a) >= length:
            return a
        return np.concatenate([a, np.zeros((length - len(a), *a.shape[1:]), dtype=a.dtype)])

    def add(self, a: Array, b: Array) -> Array:
        """Sum."""
        length = max(len(a), len(b))
        return np.asarray((self._padded(a, length) + self._padded(b, length)) % self.prime)

    def subtract(self, a: Array, b: Array) -> Array:
        """Difference."""
        length = max(len(a), len(b))
        return np.asarray((self._padded(a, length) - self._padded(b, length)) % self.prime)

    def column_sums(self, a: Array) -> Array:
        """Sum of each column."""
        return np.asarray(a.sum(axis=-2, keepdims=True) % self.prime)

    def exp(self, a: Array) -> Array:
        """Exponential of series without constant term, from k E_k = sum_j j a_j E_{k-j}."""
        a = self._padded(a, self.order + 1)
        terms = [np.ones_like(a[0])]
        for k in range(1, self.order + 1):
            total = np.zeros_like(a[0])
            for j in range(1, k + 1):
                total = (total + j * a[j] % self.prime * terms[k - j]) % self.prime
            terms.append(total * pow(k, -1, self.prime) % self.prime)
        return np.stack(terms)

    def invert(self, a: Array) -> Array:
        """Inverse of series with invertible constant term."""
        first = self._base.invert(a[0])
        terms = [first]
        for k in range(1, self.order + 1):
            total = np.zeros_like(a[0])
            for j in range(1, min(k, len(a) - 1) + 1):
                total = (total + a[j] * terms[k - j]) % self.prime
            terms.append((self.prime - total) * first % self.prime)
        return np.stack(terms)

    def softmax(self, scores: Array, symmetric: bool) -> Array:
        """Softmax down each column, as a series; the scores vanish at eps = 0."""
        exponentials = self.exp(scores)
        return self.times(exponentials, self.invert(self.column_sums(exponentials)))


class Floats:
    """Double precision, for the numerical rank that is shown beside the exact one."""

    def matmul(self, a: Array, b: Array) -> Array:
        """Product of matrices."""
        return np.asarray(np.matmul(a, b))

    def times(self, a: Array, b: Array) -> Array:
        """Product entry by entry."""
        return np.asarray(a * b)

    def add(self, a: Array, b: Array) -> Array:
        """Sum."""
        return np.asarray(a + b)

    def subtract(self, a: Array, b: Array) -> Array:
        """Difference."""
        return np.asarray(a - b)

    def column_sums(self, a: Array) -> Array:
        """Sum of each column."""
        return np.asarray(a.sum(axis=-2, keepdims=True))

    def softmax(self, scores: Array, symmetric: bool) -> Array:
        """Softmax down each column."""
        shifted = np.exp(scores - scores.max(axis=-2, keepdims=True))
        return np.asarray(shifted / shifted.sum(axis=-2, keepdims=True))
