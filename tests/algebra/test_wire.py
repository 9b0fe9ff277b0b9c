"""The bytes themselves, against what M2's engine was seen to write. No M2 here."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sympy import sqrt, symbols
from sympy.polys.domains import GF, QQ, ZZ
from sympy.polys.rings import PolyRing

from m2bridge.algebra.domains import coefficient_lines, description, numbers_from_text
from m2bridge.algebra.monomials import exponent_segments, monomials_from_text
from m2bridge.algebra.wire import decode_polynomials, encode_polynomials
from m2bridge.errors import WireError

x, y = symbols("x y")


def engine_text(exponents: tuple[int, ...]) -> str:
    """A monomial as the engine writes it, written here a second time and slowly."""
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    parts = []
    for i in reversed(range(len(exponents))):
        if exponents[i]:
            name = letters[i] if i < 52 else f"x[{i}]"
            parts.append(name + (str(exponents[i]) if exponents[i] > 1 else ""))
    return "".join(parts) or "1"


def test_what_the_engine_writes() -> None:
    exponents = [0] * 60
    exponents[59], exponents[26], exponents[25], exponents[0] = 12, 3, 1, 2
    assert engine_text(tuple(exponents)) == "x[59]12A3za2"
    assert monomials_from_text(b"x[59]12A3za2", 1, 60) == [tuple(exponents)]


_MONOMIALS = st.integers(0, 70).flatmap(
    lambda size: st.tuples(
        st.just(size),
        st.lists(
            st.lists(
                st.one_of(st.just(0), st.integers(0, 300), st.integers(0, 10**7)),
                min_size=size,
                max_size=size,
            ).map(tuple),
            max_size=6,
        ),
    )
)


@given(case=_MONOMIALS)
def test_monomials_are_read(case: tuple[int, list[tuple[int, ...]]]) -> None:
    size, monomials = case
    text = ",".join(map(engine_text, monomials)).encode()
    assert monomials_from_text(text, len(monomials), size) == monomials


@given(case=_MONOMIALS)
def test_monomials_of_the_slow_way_are_read(case: tuple[int, list[tuple[int, ...]]]) -> None:
    size, monomials = case
    texts = [" ".join(f"{i}:{e}" for i, e in enumerate(m) if e) for m in monomials]
    assert monomials_from_text(",".join(texts).encode(), len(monomials), size) == monomials


@given(case=_MONOMIALS)
def test_monomials_are_written(case: tuple[int, list[tuple[int, ...]]]) -> None:
    size, monomials = case
    counts, variables, exponents, width = exponent_segments(monomials, size)

    def numbers(segment: bytes) -> list[int]:
        return list(segment) if width == b"bytes" else [int(n) for n in segment.split(b",") if n]

    found, start = [], 0
    for count in numbers(counts):
        exponents_of = [0] * size
        for k in range(start, start + count):
            exponents_of[numbers(variables)[k]] = numbers(exponents)[k]
        start += count
        found.append(tuple(exponents_of))
    assert found == monomials
    assert start == len(numbers(variables)) == len(numbers(exponents))


@pytest.mark.parametrize(
    ("text", "count", "size"),
    [(b"a,b", 3, 2), (b"c", 1, 2), (b"x[2]", 1, 2), (b"a" + b"9" * 30, 1, 1)],
)
def test_wrong_monomials(text: bytes, count: int, size: int) -> None:
    with pytest.raises(WireError):
        monomials_from_text(text, count, size)


@pytest.mark.parametrize("exponent", [2**31, 2**70])
def test_degrees_beyond_32_bits_are_refused(exponent: int) -> None:
    with pytest.raises(ValueError, match="degrees"):
        exponent_segments([(exponent,)], 1)
    with pytest.raises(ValueError, match="degrees"):
        exponent_segments([(2**30, 2**30)], 2)


def read_as_macaulay2(lines: bytes) -> list[Any]:
    """What coefficientValues in M2Bridge.m2 makes of the lines."""
    found: list[Any] = []
    for line in lines.decode().split("\n"):
        if line.startswith("!"):
            sign, top, bottom = json.loads(line[1:].replace("{", "[").replace("}", "]"))
            value = [0, 0]
            for i, digits in enumerate((top, bottom)):
                for digit in digits:
                    assert 0 <= digit < 10**200
                    value[i] = value[i] * 10**200 + digit
            found.append(QQ(sign * value[0], value[1] if bottom else 1))
        elif line:
            found.extend(QQ(*map(int, text.split("/"))) for text in line.split(","))
    return found


@given(
    values=st.lists(
        st.tuples(
            st.one_of(st.integers(-50, 50), st.integers(-(10**900), 10**900)),
            st.one_of(st.just(1), st.integers(1, 10**900)),
        )
    )
)
def test_coefficients_are_written(values: list[tuple[int, int]]) -> None:
    rationals = [QQ(*pair) for pair in values]
    assert read_as_macaulay2(coefficient_lines(QQ, rationals)) == rationals


def test_lines_are_short() -> None:
    lines = coefficient_lines(ZZ, [ZZ(i) for i in range(10_000)]).split(b"\n")
    assert max(line.count(b",") for line in lines) < 2000
    assert read_as_macaulay2(b"\n".join(lines)) == list(range(10_000))


def test_long_numbers_leave_pythons_limit_alone() -> None:
    limit = sys.get_int_max_str_digits()
    number = 7**20_000
    assert read_as_macaulay2(coefficient_lines(ZZ, [ZZ(number), ZZ(3)])) == [number, 3]
    import flint

    text = str(flint.fmpz(number)).encode()
    assert numbers_from_text(ZZ, text + b",5,-" + text) == [number, 5, -number]
    assert numbers_from_text(QQ, b"1/" + text) == [QQ(1, number)]
    assert sys.get_int_max_str_digits() == limit


def test_modular_coefficients() -> None:
    field = GF(7)
    assert read_as_macaulay2(coefficient_lines(field, [field(5), field(-1)])) in ([5, 6], [-2, -1])
    assert numbers_from_text(field, b"-2,3") == [field(5), field(3)]


def test_the_root_is_one_more_variable() -> None:
    field = QQ.algebraic_field(sqrt(2))
    assert description(field) == (3, 0, [-2, 0, 1])
    ring = PolyRing((x, y), field, "grevlex")
    element = ring.from_dict({(1, 0): field.from_sympy(3 + sqrt(2) / 2)})
    counts, pairs, numbers, variables, exponents, width = encode_polynomials([element], ring)
    assert (counts, numbers, width) == (b"2", b"3,1/2", b"bytes")
    assert (list(pairs), list(variables), list(exponents)) == ([1, 2], [0, 0, 2], [1, 1, 1])
    assert decode_polynomials([b"2", b"1/2,3", b"ca,a"], ring) == [element]


def test_minimal_polynomials_are_scaled_to_integers() -> None:
    half = QQ.algebraic_field(sqrt(2) / 2)
    kind, _, coefficients = description(half)
    assert kind == 3
    assert [coefficients[0] * 2, coefficients[1]] == [-coefficients[2], 0]


def test_segments_that_do_not_fit() -> None:
    ring = PolyRing((x,), QQ, "lex")
    assert decode_polynomials([b"", b"", b""], ring) == []
    assert decode_polynomials([b"0,1,0", b"5", b"1"], ring) == [ring.zero, ring(5), ring.zero]
    for segments in ([b"2", b"1", b"1"], [b"1", b"1", b"a,1"], [b"x", b"1", b"1"]):
        with pytest.raises(WireError):
            decode_polynomials(segments, ring)


def test_no_polynomial_is_the_shared_zero() -> None:
    ring = PolyRing((x,), QQ, "lex")
    first, second = decode_polynomials([b"0,1", b"5", b"a"], ring)
    assert first is not second
    assert ring.zero == first == 0
