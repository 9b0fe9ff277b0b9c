"""Monomials on the wire: exponent vectors to bytes, and the engine's texts to exponent vectors.

Both directions are array programs: their time is linear in what crosses, and small per term.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from m2bridge.errors import WireError

__all__ = ["LARGEST_DEGREE", "exponent_segments", "monomials_from_text"]

LARGEST_DEGREE = 2**31 - 1  # M2 counts exponents, and the degrees of monomials, in 32 bits
_CELLS = 1 << 22  # how much of a dense table of exponents is in memory at once

Exponents = tuple[int, ...]
_Array = npt.NDArray[np.int64]


def exponent_segments(monomials: Sequence[Exponents], size: int) -> list[bytes]:
    """Sparse exponents: pairs per term, their variables, their exponents, the width's name.

    Raises:
        ValueError: a degree is larger than M2's 32 bits hold.
    """
    counts, variables, exponents = [], [], []
    step = max(1, _CELLS // max(1, size))
    for start in range(0, len(monomials), step):
        table = _table(monomials[start : start + step], size)
        rows, columns = np.nonzero(table)
        counts.append(np.bincount(rows, minlength=len(table)).astype(np.int64))
        variables.append(columns.astype(np.int64))
        exponents.append(table[rows, columns])
    return _widths(_joined(counts), _joined(variables), _joined(exponents))


def _table(monomials: Sequence[Exponents], size: int) -> _Array:
    try:
        table = np.array(monomials, dtype=np.int64).reshape(len(monomials), size)
    except OverflowError:
        table = np.full((1, 1), LARGEST_DEGREE + 1)
    degrees = table.astype(np.float64).sum(axis=1)
    if table.size and (degrees.max() > LARGEST_DEGREE or table.min() < 0):
        raise ValueError(f"degrees of monomials lie between 0 and {LARGEST_DEGREE} in Macaulay2")
    return table


def _joined(parts: list[_Array]) -> _Array:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def _widths(counts: _Array, variables: _Array, exponents: _Array) -> list[bytes]:
    arrays = (counts, variables, exponents)
    if all(a.size == 0 or a.max() <= 255 for a in arrays):
        return [*(a.astype(np.uint8).tobytes() for a in arrays), b"bytes"]
    return [*(",".join(map(str, a.tolist())).encode("ascii") for a in arrays), b"text"]


def monomials_from_text(text: bytes, count: int, size: int) -> list[Exponents]:
    """The exponent vectors of ``count`` monomials in ``size`` variables.

    The engine writes ``x[59]12A3za2``: letters a to z and A to Z for the first 52 variables,
    ``x[number]`` for the others, then the exponent unless it is 1. Where the engine's own text is
    not to be had, M2Bridge.m2 writes ``59:12 28:3`` instead.

    Raises:
        WireError: the text says something else.
    """
    if count == 0:
        return []
    if b":" in text or text == b"":
        return _plain_monomials(text, count, size)
    data = np.frombuffer(text, dtype=np.uint8)
    commas = data == ord(",")
    if int(commas.sum()) + 1 != count:
        raise WireError(f"{int(commas.sum()) + 1} monomials came where {count} were due")
    letters = ((data >= ord("a")) & (data <= ord("z"))) | ((data >= ord("A")) & (data <= ord("Z")))
    places = np.flatnonzero(letters)
    variables = _letter_numbers(data[places])
    exponents = np.ones(len(places), dtype=np.int64)
    _read_numbers(data, letters, variables, exponents)
    if len(places) and (variables.max() >= size or variables.min() < 0):
        raise WireError(f"a monomial in {size} variables names variable {int(variables.max())}")
    return _dense(np.cumsum(commas)[places], variables, exponents, count, size)


def _letter_numbers(codes: npt.NDArray[np.uint8]) -> _Array:
    wide = codes.astype(np.int64)
    return np.where(wide >= ord("a"), wide - ord("a"), wide - ord("A") + 26)


def _read_numbers(
    data: npt.NDArray[np.uint8],
    letters: npt.NDArray[np.bool_],
    variables: _Array,
    exponents: _Array,
) -> None:
    """Enters the numbers of the text: in brackets they name a variable, else they are exponents."""
    is_digit = (data >= ord("0")) & (data <= ord("9"))
    at = np.flatnonzero(is_digit)
    if len(at) == 0:
        return
    first = np.ones(len(at), dtype=np.bool_)
    first[1:] = np.diff(at) != 1
    starts = np.flatnonzero(first)
    lengths = np.diff(np.append(starts, len(at)))
    if lengths.max() > 10:
        raise WireError("a monomial came with an exponent beyond 32 bits")
    from_right = np.repeat(starts + lengths, lengths) - 1 - np.arange(len(at))
    digits = data[at].astype(np.int64) - ord("0")
    values = np.add.reduceat(digits * 10**from_right, starts)
    begin = at[starts]
    before = np.where(begin > 0, data[np.maximum(begin - 1, 0)], ord(","))
    owner = np.cumsum(letters)[begin] - 1
    named = before == ord("[")
    variables[owner[named]] = values[named]
    # what follows a comma is the monomial 1
    powers = (before != ord("[")) & (before != ord(","))
    exponents[owner[powers]] = values[powers]


def _dense(
    terms: _Array, variables: _Array, exponents: _Array, count: int, size: int
) -> list[Exponents]:
    if size == 0:
        return [()] * count
    found: list[Exponents] = []
    step = max(1, _CELLS // size)
    for start in range(0, count, step):
        stop = min(count, start + step)
        low, high = np.searchsorted(terms, [start, stop])
        table = np.zeros((stop - start, size), dtype=np.int64)
        table[terms[low:high] - start, variables[low:high]] = exponents[low:high]
        found.extend(map(tuple, table.tolist()))
    return found


def _plain_monomials(text: bytes, count: int, size: int) -> list[Exponents]:
    texts = text.decode("ascii").split(",")
    if len(texts) != count:
        raise WireError(f"{len(texts)} monomials came where {count} were due")
    found = []
    for one in texts:
        exponents = [0] * size
        for pair in one.split():
            variable, _, exponent = pair.partition(":")
            exponents[int(variable)] = int(exponent)
        found.append(tuple(exponents))
    return found
