"""What a weight or an input may be, and how it becomes an entry of a matrix.

Integers and rationals, from Python, sympy, numpy or flint, stay exact (``int`` and ``Fraction``);
other exact sympy expressions stay sympy. One floating-point entry makes a whole matrix numerical:
mixing would suggest an exactness that is not there.
"""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import sympy

__all__ = ["as_matrix", "is_exact", "positive_int", "positive_ints"]

Matrix = np.ndarray[Any, np.dtype[Any]]


def positive_int(name: str, value: object) -> int:
    """Return ``value`` as a positive ``int``.

    Raises:
        TypeError: for anything but an integer (bool and float are refused).
        ValueError: for an integer below 1.
    """
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be a positive integer, got the truth value {value!r}")
    if isinstance(value, sympy.Integer):
        value = int(value)
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        kind = type(value).__name__
        raise TypeError(f"{name} must be a positive integer, got {value!r} ({kind})") from None
    if number < 1:
        raise ValueError(f"{name} must be a positive integer, got {number}")
    return int(number)


def positive_ints(name: str, values: object) -> tuple[int, ...]:
    """Return a sequence of positive integers as a tuple.

    Raises:
        TypeError: when ``values`` is no sequence, or an entry no integer.
        ValueError: for an entry below 1.
    """
    if isinstance(values, (str, bytes)) or not isinstance(values, (Sequence, np.ndarray)):
        raise TypeError(f"{name} must be a sequence of positive integers, got {values!r}")
    return tuple(positive_int(f"{name}[{i}]", value) for i, value in enumerate(values))


def is_exact(matrix: Matrix) -> bool:
    """Say whether a matrix made by `as_matrix` holds exact entries."""
    return matrix.dtype == object and not any(isinstance(x, float) for x in matrix.flat)


def as_matrix(name: str, value: object, shape: tuple[int, int]) -> Matrix:
    """Check one matrix and bring it into the form that the models calculate with.

    Args:
        name: how messages call it, e.g. ``"Q"``.
        value: nested sequences, a numpy array or a sympy matrix.
        shape: the expected (rows, columns).

    Returns:
        A read-only array of shape ``shape``: dtype ``object`` with ``int``, ``Fraction`` and exact
        sympy entries, or dtype ``float64`` when any entry is a floating-point number.

    Raises:
        TypeError: for an entry that is no real number or sympy expression.
        ValueError: for a wrong shape, NaN or an infinity.
    """
    __tracebackhide__ = True  # notebooks: the caller's line is what matters
    rows = _rows(name, value, shape)
    entries = [
        [_scalar(f"{name}[{i}][{j}]", x) for j, x in enumerate(r)] for i, r in enumerate(rows)
    ]
    flat = [x for row in entries for x in row]
    if any(isinstance(x, float) for x in flat) and not any(_is_symbolic(x) for x in flat):
        matrix: Matrix = np.array([[float(x) for x in row] for row in entries], dtype=np.float64)
    else:
        matrix = np.empty(shape, dtype=object)
        for i, row in enumerate(entries):
            for j, x in enumerate(row):
                matrix[i, j] = x
    matrix.setflags(write=False)
    return matrix


def _rows(name: str, value: object, shape: tuple[int, int]) -> list[list[Any]]:
    __tracebackhide__ = True  # notebooks: the caller's line is what matters
    expected = f"{name} must be a {shape[0]} x {shape[1]} matrix"
    if isinstance(value, sympy.MatrixBase):
        rows = [list(value.row(i)) for i in range(value.rows)]
    elif isinstance(value, np.ndarray):
        if value.ndim != 2:
            raise ValueError(f"{expected}, got an array of shape {value.shape}")
        rows = [list(row) for row in value]
    elif isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        rows = []
        for row in value:
            if isinstance(row, (str, bytes)) or not isinstance(row, (Sequence, np.ndarray)):
                raise ValueError(f"{expected} given as rows, got the row {row!r}")
            rows.append(list(row))
    else:
        raise TypeError(f"{expected}, got {type(value).__name__}")
    lengths = {len(row) for row in rows}
    if len(lengths) > 1:
        raise ValueError(f"{expected}, got rows of different lengths {sorted(lengths)}")
    got = (len(rows), lengths.pop() if lengths else 0)
    if got != shape:
        raise ValueError(f"{expected}, got {got[0]} x {got[1]}")
    return rows


def _is_symbolic(x: object) -> bool:
    return isinstance(x, sympy.Expr) and bool(x.free_symbols)


def _scalar(name: str, x: Any) -> Any:
    """One entry: ``int``, ``Fraction``, ``float`` or a sympy expression."""
    if isinstance(x, (bool, np.bool_)):
        raise TypeError(f"{name} is the truth value {x!r}; a number is needed")
    if isinstance(x, (int, np.integer)):
        return int(x)
    if isinstance(x, Fraction):
        return x.numerator if x.denominator == 1 else x
    if isinstance(x, (float, np.floating)):
        if not math.isfinite(x):
            raise ValueError(f"{name} is {float(x)!r}; weights and inputs must be finite numbers")
        return float(x)
    if isinstance(x, flint.fmpz):
        return int(x)
    if isinstance(x, flint.fmpq):
        return _scalar(name, Fraction(int(x.p), int(x.q)))
    if isinstance(x, sympy.Basic):
        return _sympy_scalar(name, x)
    if isinstance(x, numbers.Rational):
        return _scalar(name, Fraction(int(x.numerator), int(x.denominator)))
    raise TypeError(
        f"{name} is {x!r} ({type(x).__name__}); a real number or sympy expression is needed"
    )


def _sympy_scalar(name: str, x: sympy.Basic) -> Any:
    if isinstance(x, sympy.Rational):
        return int(x.p) if x.q == 1 else Fraction(int(x.p), int(x.q))
    if not isinstance(x, sympy.Expr):
        raise TypeError(f"{name} is {x!r}; a real number or sympy expression is needed")
    if x.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo):
        raise ValueError(f"{name} is {x}; weights and inputs must be finite numbers")
    if x.is_number and x.is_real is False:
        raise TypeError(f"{name} is {x}, which is not real; weights and inputs are real numbers")
    if x.is_number and x.has(sympy.Float):
        return float(x)
    return x
