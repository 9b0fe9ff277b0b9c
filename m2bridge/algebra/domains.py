"""Coefficients: which sympy domains Macaulay2 has, and their numbers as text, exactly.

ZZ, QQ, GF(p), and QQ extended by one algebraic number. Numbers of any length pass without touching
``sys.set_int_max_str_digits``: python-flint reads and writes the long ones.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Sequence
from math import lcm
from typing import Any

import flint
import numpy as np
import sympy
from sympy.polys.domains import QQ
from sympy.polys.polyerrors import CoercionFailed

__all__ = [
    "LARGEST_CHARACTERISTIC",
    "LARGEST_FACTORING_CHARACTERISTIC",
    "checked_domain",
    "coefficient_lines",
    "convert_number",
    "description",
    "number_from",
    "numbers_from_text",
]

LARGEST_CHARACTERISTIC = 2**31 - 1
LARGEST_FACTORING_CHARACTERISTIC = 2**29  # above, M2's factory library ends the process
_GAUSSIAN = sympy.QQ_I.as_AlgebraicField()
_LINE = 2000  # coefficients per line: M2's parser is slow on longer ones
_LONG = 400  # characters; M2's parser is quadratic in a number's length
_CHUNK = 200  # digits of a long number's pieces; longBase in M2Bridge.m2


def checked_domain(domain: Any) -> Any:
    """The domain, if Macaulay2 computes in it exactly.

    Raises:
        ValueError: it is no domain of M2's, or a characteristic that M2 does not take.
        TypeError: it is no sympy domain.
    """
    if not isinstance(domain, sympy.polys.domains.domain.Domain):
        raise TypeError(
            f"a domain is sympy's ZZ, QQ, GF(p) or QQ.algebraic_field(...), not {domain!r}"
        )
    if domain.is_ZZ or domain.is_QQ:
        return domain
    if domain.is_FiniteField:
        p = int(domain.characteristic())
        if not sympy.isprime(p):
            raise ValueError(f"GF({p}) is not a field of sympy's: {p} is not prime")
        if p > LARGEST_CHARACTERISTIC:
            raise ValueError(f"Macaulay2 computes modulo primes up to 2^31 - 1; {p} is larger")
        return domain
    if domain.is_AlgebraicField:
        return domain
    if domain.is_ZZ_I or domain.is_QQ_I:
        return _GAUSSIAN
    raise ValueError(
        f"Macaulay2 does not compute in {domain} exactly; take ZZ, QQ, GF(p) or "
        "QQ.algebraic_field(...)"
    )


def description(domain: Any) -> tuple[int, int, list[int]]:
    """Kind (0 ZZ, 1 QQ, 2 GF(p), 3 extended), characteristic, and the root's integer polynomial.

    The polynomial's coefficients come from the constant one upwards.
    """
    if domain.is_ZZ:
        return 0, 0, []
    if domain.is_QQ:
        return 1, 0, []
    if domain.is_FiniteField:
        return 2, int(domain.characteristic()), []
    rationals = [QQ.convert(c) for c in reversed(domain.mod.to_list())]
    scale = lcm(*(int(c.denominator) for c in rationals))
    return 3, 0, [int(c * scale) for c in rationals]


# ---------------------------------------------------------------------------- numbers of Python's


def number_from(domain: Any, value: Any) -> Any:
    """An element of the domain from a number: Python's, numpy's, flint's, gmpy's or sympy's.

    Raises:
        ValueError: it is not exact, or does not lie in the domain.
        TypeError: it is no number.
    """
    if isinstance(value, sympy.Basic):
        return _from_sympy(domain, value)
    if isinstance(value, bool | np.bool_):
        raise TypeError(f"{value!r} is a truth value, not a number")
    if isinstance(value, flint.nmod):
        return _residue(domain, int(value), value.modulus())
    top, bottom = getattr(value, "numerator", None), getattr(value, "denominator", None)
    if isinstance(value, flint.fmpq):
        top, bottom = value.p, value.q
    elif isinstance(value, flint.fmpz):
        top, bottom = value, 1
    if callable(top):  # gmpy's older spelling
        top, bottom = top(), bottom() if callable(bottom) else bottom
    if isinstance(value, float | complex | np.inexact) or (
        isinstance(value, numbers.Number)
        and not isinstance(value, numbers.Rational)
        and top is None
    ):
        raise ValueError(f"{value!r} is not exact; give an int, a Fraction or a sympy Rational")
    if top is None or bottom is None:
        raise TypeError(f"{type(value).__name__} is not a number or polynomial that can be sent")
    return _fraction(domain, int(top), int(bottom))


def _residue(domain: Any, value: int, modulus: int) -> Any:
    if not domain.is_FiniteField or domain.characteristic() != modulus:
        raise ValueError(f"{value} modulo {modulus} does not pass to {domain} exactly")
    return domain(value)


def _shown(top: int, bottom: int) -> str:
    text = f"{flint.fmpz(top)}/{flint.fmpz(bottom)}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def _fraction(domain: Any, top: int, bottom: int) -> Any:
    if domain.is_ZZ:
        if bottom != 1:
            raise ValueError(f"{_shown(top, bottom)} is not an integer; take domain=QQ")
        return domain(top)
    if domain.is_FiniteField:
        p = int(domain.characteristic())
        if bottom % p == 0:
            raise ValueError(f"{_shown(top, bottom)} has no value modulo {p}")
        return domain(top * pow(bottom, -1, p) % p)
    if domain.is_QQ:
        return domain(top, bottom)
    return domain.convert_from(QQ(top, bottom), QQ)


def _from_sympy(domain: Any, value: Any) -> Any:
    if value.is_Rational:
        return _fraction(domain, int(value.p), int(value.q))
    if value.is_Float:
        raise ValueError(f"{value} is not exact; give a sympy Rational")
    try:
        return _from_constant(domain, value)
    except RecursionError:
        raise ValueError("a constant is nested too deeply for sympy to compute with it") from None


def _from_constant(domain: Any, value: Any) -> Any:
    if value is sympy.nan or value.has(sympy.oo, -sympy.oo, sympy.zoo):
        raise ValueError(f"{value} is not a number that can be computed with")
    if domain.is_AlgebraicField:
        try:
            return domain.from_sympy(value)
        except (CoercionFailed, NotImplementedError) as error:
            raise ValueError(f"{value} does not lie in {domain}") from error
    raise ValueError(
        f"the coefficient {value} does not lie in {domain}; an algebraic number needs "
        "domain=QQ.algebraic_field(...)"
    )


def convert_number(domain: Any, value: Any, source: Any) -> Any:
    """An element of one sympy domain in another, exactly.

    Raises:
        ValueError: there is no exact and natural way, such as from GF(p) to QQ.
    """
    if source == domain:
        return value
    if source.is_FiniteField or not source.is_Exact or source.is_EX:
        raise ValueError(f"coefficients in {source} do not pass to {domain} exactly")
    if source.is_ZZ:
        return _fraction(domain, int(value), 1)
    if source.is_QQ:
        return _fraction(domain, int(value.numerator), int(value.denominator))
    if source.is_ZZ_I or source.is_QQ_I:  # sympy has no way from these to QQ
        value, source = _GAUSSIAN.from_sympy(source.to_sympy(value)), _GAUSSIAN
    if source.is_AlgebraicField and value.is_ground:
        rational = QQ.convert_from(value, source)
        return _fraction(domain, int(rational.numerator), int(rational.denominator))
    try:
        return domain.convert_from(value, source)
    except (CoercionFailed, NotImplementedError) as error:
        raise ValueError(f"coefficients in {source} do not pass to {domain} exactly") from error


# ---------------------------------------------------------------------------- numbers as text


def coefficient_lines(domain: Any, values: Sequence[Any]) -> bytes:
    """Numbers of ZZ, QQ or GF(p) as M2 literals: lines of at most 2000, long ones apart."""
    texts = _texts(map(int, values) if domain.is_FiniteField else values)
    if max(map(len, texts), default=0) <= _LONG:
        lines = [",".join(texts[i : i + _LINE]) for i in range(0, len(texts), _LINE)]
        return "\n".join(lines).encode("ascii")
    return "\n".join(_mixed_lines(texts)).encode("ascii")


def _texts(values: Iterable[Any]) -> list[str]:
    values = list(values)
    try:
        return list(map(str, values))
    except ValueError:  # Python's own integers refuse more than 4300 digits
        return [_long_text(v) for v in values]


def _long_text(value: Any) -> str:
    top, bottom = int(value.numerator), int(value.denominator)
    text = str(flint.fmpz(top))
    return text if bottom == 1 else f"{text}/{flint.fmpz(bottom)}"


def _mixed_lines(texts: Iterable[str]) -> Iterable[str]:
    short: list[str] = []
    for text in texts:
        if len(text) <= _LONG:
            short.append(text)
            if len(short) < _LINE:
                continue
        if short:
            yield ",".join(short)
            short = []
        if len(text) > _LONG:
            yield _long_line(text)
    if short:
        yield ",".join(short)


def _long_line(text: str) -> str:
    """One long number as its sign and the digits, to the base 10^200, of both of its parts."""
    sign = -1 if text[0] == "-" else 1
    top, _, bottom = text.lstrip("-").partition("/")
    return f"!{{{sign},{{{_digits(top)}}},{{{_digits(bottom)}}}}}"


def _digits(text: str) -> str:
    first = len(text) % _CHUNK
    pieces = [text[:first]] if first else []
    pieces += [text[i : i + _CHUNK] for i in range(first, len(text), _CHUNK)]
    # M2 would read nothing else into leading zeros, but need not be asked
    return ",".join(piece.lstrip("0") or "0" for piece in pieces)


def numbers_from_text(domain: Any, text: bytes) -> list[Any]:
    """The numbers of ZZ, QQ or GF(p) that M2 wrote, separated by commas."""
    if not text:
        return []
    tokens = text.decode("ascii").split(",")
    read = _reader(domain)
    return [read(token) for token in tokens]


def _reader(domain: Any) -> Callable[[str], Any]:
    if not domain.is_QQ:
        return lambda token: domain(_integer(token))

    def rational(token: str) -> Any:
        top, slash, bottom = token.partition("/")
        if not slash:
            return domain(_integer(top), 1)
        return domain(_integer(top), _integer(bottom))

    return rational


def _integer(token: str) -> int:
    # 640 digits are always within Python's limit, whatever the user has set it to
    return int(token) if len(token) <= 600 else int(flint.fmpz(token))
