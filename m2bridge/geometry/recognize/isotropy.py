"""Rational zeros of diagonal quadratic forms (Hasse-Minkowski, Legendre).

Whether a zero exists is decided by local symbols; it is then found by making all but two of the
terms small and solving the conic that is left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, count, islice, product
from math import gcd, isqrt

import flint
from sympy.ntheory.residue_ntheory import sqrt_mod

__all__ = ["Isotropy", "hilbert_symbol", "is_isotropic", "isotropic_vector", "squarefree_part"]

#: Integers up to this size are factored completely (well under a second).
FACTOR_BITS = 80
_TRIAL_LIMIT = 100_000
#: Conics tried for one diagonal form.
_MAX_CONICS = 300


@dataclass(frozen=True)
class Isotropy:
    """A rational zero of a form, or None; ``decided`` tells whether None is proved."""

    vector: list[flint.fmpq] | None
    decided: bool


def squarefree_part(value: flint.fmpq) -> tuple[int, flint.fmpq]:
    """Write a nonzero rational as m f^2 with an integer m, squarefree unless it is huge.

    For numbers beyond `FACTOR_BITS` only squares of small primes are taken out of m; the identity
    value = m f^2 holds all the same, and m = 1 is found for every square.
    """
    value = flint.fmpq(value)
    n = abs(int(value.p) * int(value.q))
    square = isqrt(n)
    if square * square != n:
        square = 1
        # Numerator and denominator are coprime, and easier to factor one by one.
        for prime, exponent in (*_factor(abs(int(value.p))), *_factor(int(value.q))):
            square *= prime ** (exponent // 2)
    sign = 1 if value > 0 else -1
    return sign * (n // square**2), flint.fmpq(square, value.q)


@lru_cache(maxsize=4096)
def _factor(n: int) -> tuple[tuple[int, int], ...]:
    limited = n.bit_length() > FACTOR_BITS
    z = flint.fmpz(n)
    factors = z.factor(trial_limit=_TRIAL_LIMIT) if limited else z.factor()
    return tuple((int(p), int(e)) for p, e in factors)


def _valuation(n: int, p: int) -> tuple[int, int]:
    exponent = 0
    while n % p == 0:
        n //= p
        exponent += 1
    return exponent, n


def hilbert_symbol(a: int, b: int, p: int) -> int:
    """The Hilbert symbol (a, b)_p of nonzero integers; p a prime, or 0 for the real numbers."""
    if p == 0:
        return -1 if a < 0 and b < 0 else 1
    alpha, u = _valuation(a, p)
    beta, v = _valuation(b, p)
    if p == 2:
        exponent = (u - 1) // 2 * ((v - 1) // 2)
        exponent += alpha * ((v * v - 1) // 8) + beta * ((u * u - 1) // 8)
        return -1 if exponent % 2 else 1
    sign = -1 if alpha * beta % 2 and p % 4 == 3 else 1
    if beta % 2:
        sign *= _legendre(u, p)
    if alpha % 2:
        sign *= _legendre(v, p)
    return sign


def _legendre(u: int, p: int) -> int:
    return 1 if pow(u % p, (p - 1) // 2, p) == 1 else -1


def _is_local_square(n: int, p: int) -> bool:
    if p == 0:
        return n > 0
    exponent, unit = _valuation(n, p)
    if exponent % 2:
        return False
    return unit % 8 == 1 if p == 2 else _legendre(unit, p) == 1


def _places(coefficients: list[int]) -> list[int]:
    primes = {2}
    for c in coefficients:
        primes.update(p for p, _ in _factor(abs(c)))
    return [0, *sorted(primes)]


def is_isotropic(coefficients: list[int]) -> bool | None:
    """Decide whether sum c_i x_i^2 = 0 has a nonzero rational solution (Hasse-Minkowski).

    Returns:
        None when a coefficient is too large to be factored.
    """
    signs = {c > 0 for c in coefficients}
    if len(coefficients) < 2 or len(signs) == 1:
        return False
    if len(coefficients) == 2:
        return _is_square(-coefficients[0] * coefficients[1])
    if len(coefficients) >= 5:
        return True  # indefinite in five variables or more: Meyer
    if any(abs(c).bit_length() > FACTOR_BITS for c in coefficients):
        return None
    if len(coefficients) == 3:
        a, b, c = coefficients
        return all(hilbert_symbol(-a * c, -b * c, p) == 1 for p in _places(coefficients))
    return not any(_anisotropic_quaternary(coefficients, p) for p in _places(coefficients))


def _anisotropic_quaternary(c: list[int], p: int) -> bool:
    if not _is_local_square(c[0] * c[1] * c[2] * c[3], p):
        return False
    hasse = 1
    for i, j in combinations(range(4), 2):
        hasse *= hilbert_symbol(c[i], c[j], p)
    return hasse == -hilbert_symbol(-1, -1, p)


def isotropic_vector(coefficients: list[flint.fmpq]) -> Isotropy:
    """Find a nonzero rational x with sum c_i x_i^2 = 0."""
    if len(coefficients) < 2:
        return Isotropy(None, True)
    if len(coefficients) > 5 and len({c > 0 for c in coefficients}) == 2:
        return _of_five(coefficients)
    parts = [squarefree_part(c) for c in coefficients]
    integers = [m for m, _ in parts]
    exists = is_isotropic(integers)
    if not exists:
        return Isotropy(None, exists is False)
    found = _search(integers)
    if found is None:
        return Isotropy(None, False)
    # c_i = m_i f_i^2, so x_i = z_i / f_i.
    vector = [z / f for z, (_, f) in zip(found, parts, strict=True)]
    total = sum((c * x * x for c, x in zip(coefficients, vector, strict=True)), flint.fmpq(0))
    if total != 0:
        return Isotropy(None, False)
    return Isotropy(vector, True)


def _of_five(coefficients: list[flint.fmpq]) -> Isotropy:
    """Five variables suffice if signs are mixed; the first ones have the smallest numbers."""
    chosen = list(range(5))
    if len({coefficients[i] > 0 for i in chosen}) == 1:
        sign = coefficients[0] > 0
        chosen[4] = next(i for i, c in enumerate(coefficients) if (c > 0) is not sign)
    found = isotropic_vector([coefficients[i] for i in chosen])
    if found.vector is None:
        return Isotropy(None, False)
    vector = [flint.fmpq(0)] * len(coefficients)
    for i, x in zip(chosen, found.vector, strict=True):
        vector[i] = x
    return Isotropy(vector, True)


def _is_square(n: int) -> bool:
    return n >= 0 and isqrt(n) ** 2 == n


def _search(c: list[int]) -> list[flint.fmpq] | None:
    """Try pairs, then conics <t, c_j, c_k> for small values t of the other terms."""
    n = len(c)
    for i, j in combinations(range(n), 2):
        if _is_square(-c[i] * c[j]):
            vector = [flint.fmpq(0)] * n
            vector[i], vector[j] = flint.fmpq(isqrt(-c[i] * c[j]), c[i]), flint.fmpq(1)
            return vector
    if n < 3:
        return None
    # Round robin over the pairs that stay: for some of them a common prime spoils most values t.
    attempts = [_conics(c, j, k) for j, k in combinations(range(n), 2)]
    rounds = islice(zip(*attempts, strict=False), _MAX_CONICS // len(attempts))
    return next((vector for step in rounds for vector in step if vector is not None), None)


def _conics(c: list[int], j: int, k: int) -> Iterator[list[flint.fmpq] | None]:
    """Zeros with x_j, x_k on the conic <t, c_j, c_k>, t a small value of the other terms."""
    head = [i for i in range(len(c)) if i not in (j, k)]
    for small in _small_vectors(len(head)):
        t = sum(c[i] * z * z for i, z in zip(head, small, strict=True))
        if t == 0:
            yield None  # a zero of fewer terms
            continue
        m, factor = squarefree_part(flint.fmpq(t))
        x = _conic(m, c[j], c[k]) if is_isotropic([m, c[j], c[k]]) else None
        if x is None:
            yield None
            continue
        vector = [flint.fmpq(0)] * len(c)
        for i, z in zip(head, small, strict=True):
            vector[i] = flint.fmpq(z) * x[0] / factor
        vector[j], vector[k] = flint.fmpq(x[1]), flint.fmpq(x[2])
        yield vector


def _small_vectors(n: int) -> Iterator[tuple[int, ...]]:
    """Nonnegative integer vectors by their largest entry; multiples of smaller ones left out."""
    if n == 1:
        while True:
            yield (1,)
    for size in count(1):
        for v in product(range(size + 1), repeat=n):
            if max(v) == size and gcd(*v) == 1:
                yield v


def _conic(a: int, b: int, c: int) -> tuple[int, int, int] | None:
    """A zero of a x^2 + b y^2 + c z^2; squarefree coefficients, a zero is known to exist."""
    # (c z)^2 = (-a c) x^2 + (-b c) y^2, made squarefree again.
    f, g = gcd(a, c), gcd(b, c)
    known = tuple({p for n in (a, b, c) for p, _ in _factor(abs(n))})
    found = _legendre_descent(-a * c // f**2, -b * c // g**2, known)
    if found is None:
        return None
    w, u, v = found  # w^2 = m u^2 + n v^2 with m f^2 = -a c, n g^2 = -b c
    x, y, z = c * u * g, c * v * f, w * f * g
    if (x, y, z) == (0, 0, 0) or a * x * x + b * y * y + c * z * z != 0:
        return None
    common = gcd(x, y, z)
    return x // common, y // common, z // common


def _legendre_descent(m: int, n: int, known: tuple[int, ...]) -> tuple[int, int, int] | None:
    """Solve w^2 = m u^2 + n v^2 for squarefree m, n by Lagrange's descent on max(|m|, |n|)."""
    if abs(m) > abs(n):
        found = _legendre_descent(n, m, known)
        return None if found is None else (found[0], found[2], found[1])
    if m == 1:
        return 1, 1, 0
    if n == 1:
        return 1, 0, 1
    if m + n == 0:
        return 0, 1, 1
    if abs(n) == 1:
        return None  # m = n = -1
    w = _square_root_mod(m, abs(n), known)
    if w is None:
        return None
    t, square = squarefree_part(flint.fmpq(w * w - m, n))
    found = _legendre_descent(m, t, known)
    if found is None:
        return None
    X, Y, Z = found
    # (w^2 - m)(X^2 - m Y^2) = n t square^2 * t Z^2, and the left side is again a norm.
    return w * X + m * Y, X + w * Y, t * int(square.p) * Z


def _square_root_mod(m: int, n: int, known: tuple[int, ...]) -> int | None:
    """The square root of m modulo a squarefree n, at most n / 2 in absolute value.

    ``known`` are primes that may divide n. None also when n is too large to be factored.
    """
    primes = [p for p in known if n % p == 0]
    rest = n
    for p in primes:
        rest //= p
    primes += [p for p, _ in _factor(rest)]
    root, modulus = 0, 1
    for p in primes:
        if p.bit_length() > FACTOR_BITS and not flint.fmpz(p).is_prime():
            return None
        local = sqrt_mod(m % p, p)
        if local is None:
            return None
        root += modulus * ((local - root) * pow(modulus, -1, p) % p)
        modulus *= p
    return min(root, modulus - root)
