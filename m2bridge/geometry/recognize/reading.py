"""Reading a function: coefficients, a matrix of polynomials, or a callable, always exactly."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import flint
import numpy as np
import sympy

from m2bridge.attention.layer import Layer
from m2bridge.geometry.recognize.numbers import (
    Full,
    exact_number,
    full_named,
    full_numbers,
    named,
    numbers,
)
from m2bridge.geometry.recognize.result import Failure

__all__ = ["Reading", "read"]

#: Random exact inputs at which a callable is compared with what its coefficients say.
CHECKS = 12


@dataclass(frozen=True)
class Reading:
    """Coordinates read off an input, or the reason why it is not a map of the layer's form."""

    values: tuple[flint.fmpq, ...] = ()
    failure: Failure | None = None
    certainty: str = "proved"
    remark: str = ""


def read(
    layer: Layer, function: object, inputs: sympy.MatrixBase | None, rationalize: bool
) -> Reading:
    """Turn whatever describes a function into the layer's coordinates.

    Raises:
        TypeError: for floats (unless ``rationalize``) and for things that describe no function.
        ValueError: for a wrong length, shape or unknown coordinate names.
    """
    if isinstance(function, (sympy.MatrixBase, sympy.MatrixExpr)):
        matrix = _explicit(function)
        vector = inputs is None and (matrix.cols == 1 or matrix.rows == 1)
        if vector and not matrix.free_symbols and not matrix.atoms(sympy.MatrixSymbol):
            return _read_sequence(layer, list(matrix), rationalize)
        return _read_matrix(layer, matrix, inputs, rationalize)
    if isinstance(function, Mapping):
        if any(str(name).startswith("F_") for name in function):
            return _reduce(layer, full_named(layer, function, rationalize))
        return Reading(named(layer, function, rationalize))
    if isinstance(function, np.ndarray):
        if function.ndim != 1:
            raise ValueError(
                f"coefficients must be a vector of length {layer.ambient_dimension}, got an "
                f"array of shape {function.shape}"
            )
        return _read_sequence(layer, list(function), rationalize)
    if isinstance(function, Sequence) and not isinstance(function, (str, bytes)):
        return _read_sequence(layer, function, rationalize)
    if callable(function):
        return _read_callable(layer, function, rationalize)
    raise TypeError(
        "expected coefficients (a sequence or a mapping from coordinate names), a sympy matrix of "
        f"polynomials, or a callable; got {type(function).__name__}"
    )


def _read_sequence(layer: Layer, values: Sequence[Any], rationalize: bool) -> Reading:
    """Reduced coordinates; a list as long as the full ones is taken as those."""
    __tracebackhide__ = True  # notebooks: the caller's line is what matters
    if len(values) > layer.ambient_dimension and len(values) == len(layer.full_coordinates):
        return _reduce(layer, full_numbers(layer, values, rationalize))
    return Reading(numbers(layer, values, rationalize))


# Matrices of polynomials


def _explicit(matrix: Any) -> sympy.ImmutableMatrix:
    if isinstance(matrix, sympy.MatrixExpr):
        try:
            matrix = matrix.as_explicit()
        except ValueError as error:
            raise ValueError(f"the matrix expression has no explicit entries: {error}") from None
    return sympy.ImmutableMatrix(matrix)


def _input_entries(layer: Layer, matrix: Any, inputs: sympy.MatrixBase | None) -> list[Any]:
    """The d t entries of X, row by row."""
    if inputs is not None:
        if tuple(inputs.shape) != (layer.d, layer.t):
            raise ValueError(
                f"inputs must be the {layer.d} x {layer.t} matrix X, got {inputs.shape}"
            )
        return list(_explicit(inputs))
    found = matrix.atoms(sympy.MatrixSymbol)
    if len(found) == 1 and not matrix.free_symbols - found:
        symbol = found.pop()
        if tuple(symbol.shape) == (layer.d, layer.t):
            return list(symbol.as_explicit())
        raise ValueError(
            f"{symbol} is {symbol.shape[0]} x {symbol.shape[1]}; X is {layer.d} x {layer.t}"
        )
    raise ValueError(
        "which symbols are the entries of X? Pass inputs=X, the "
        f"{layer.d} x {layer.t} matrix of symbols in which the function is written"
    )


def _read_matrix(
    layer: Layer, matrix: Any, inputs: sympy.MatrixBase | None, rationalize: bool
) -> Reading:
    if matrix.shape != (layer.d_out, layer.t):
        raise ValueError(
            f"phi(X) is {layer.d_out} x {layer.t}, got a {matrix.rows} x {matrix.cols} matrix"
        )
    entries = _input_entries(layer, matrix, inputs)
    symbols = sympy.symbols(f"x:{len(entries)}", cls=sympy.Dummy)
    renaming = dict(zip(entries, symbols, strict=True))
    if len(renaming) != len(symbols):
        raise ValueError("the entries of inputs must be different symbols")
    found: Full = {}
    for i in range(layer.d_out):
        for j in range(layer.t):
            entry = sympy.sympify(matrix[i, j]).xreplace(renaming)
            failure = _collect(layer, (i, j), entry, symbols, found, rationalize)
            if failure is not None:
                return Reading(failure=failure)
    return _reduce(layer, found)


def _collect(
    layer: Layer,
    output: tuple[int, int],
    entry: Any,
    symbols: Sequence[sympy.Symbol],
    found: Full,
    rationalize: bool,
) -> Failure | None:
    """Store the coefficients of one output entry by monomial of X."""
    where = f"output ({output[0]}, {output[1]})"
    foreign = entry.free_symbols - set(symbols)
    if foreign:
        names = ", ".join(sorted(map(str, foreign)))
        raise ValueError(f"{where} contains {names}, which is no entry of X")
    try:
        polynomial = sympy.Poly(entry, *symbols)
    except sympy.PolynomialError:
        return Failure("form", f"not of the form: {where} is no polynomial in the entries of X")
    for exponents, coefficient in polynomial.terms():
        if coefficient == 0:
            continue
        monomial = tuple(
            (k // layer.t, k % layer.t) for k, e in enumerate(exponents) for _ in range(e)
        )
        text = "*".join(f"X[{p},{n}]" for p, n in monomial) or "1"
        if sum(exponents) != 3:
            return Failure(
                "form",
                f"not of the form: phi is cubic, but {where} has the term {text} of degree "
                f"{sum(exponents)}",
                value=sympy.sympify(coefficient),
            )
        found[output, monomial] = exact_number(
            coefficient, f"the coefficient of {text} in {where}", rationalize
        )
    return None


def _reduce(layer: Layer, found: Full) -> Reading:
    """Read the reduced coordinates, then compare all full coefficients with what they imply."""
    values: list[flint.fmpq] = []
    for c in layer.coordinates:
        # t >= 2: the coordinate's own monomial, in output (i, 0), has its pair in token 1.
        monomial = tuple(sorted(c.monomial))
        values.append(found.get(((c.output, 0), monomial), flint.fmpq(0)))
    implied = layer.full_from_reduced.apply(values)
    expected = {
        (c.output, c.monomial): value
        for c, value in zip(layer.full_coordinates, implied, strict=True)
    }
    for key in sorted(set(found) | set(expected)):
        got = found.get(key, flint.fmpq(0))
        want = flint.fmpq(expected.get(key, 0))
        if got != want:
            return Reading(failure=_wrong_coefficient(key, got, want))
    return Reading(tuple(values))


def _wrong_coefficient(key: Any, got: flint.fmpq, want: flint.fmpq) -> Failure:
    (i, j), monomial = key
    text = "*".join(f"X[{p},{n}]" for p, n in monomial)
    return Failure(
        "form",
        f"not of the form V X X^T A X: coefficient of {text} in output ({i}, {j}) is {got}, the "
        f"other coefficients force {want}",
        value=sympy.Rational(int((got - want).p), int((got - want).q)),
    )


# Callables


def _read_callable(layer: Layer, function: Callable[[Any], Any], rationalize: bool) -> Reading:
    """First on symbols, which proves everything; else on exact numbers."""
    X = sympy.Matrix(layer.d, layer.t, lambda p, n: sympy.Dummy(f"X_{p}_{n}", real=True))
    try:
        value = sympy.ImmutableMatrix(function(X))
        polynomial = value.shape == (layer.d_out, layer.t) and all(
            entry.is_polynomial(*X) and not entry.has(sympy.Float) for entry in value
        )
    except Exception:  # the callable is foreign code: any failure means "not on symbols"
        polynomial = False
    if polynomial:
        return _read_matrix(layer, value, X, rationalize)
    return _read_values(layer, function, rationalize)


def _read_values(layer: Layer, function: Callable[[Any], Any], rationalize: bool) -> Reading:
    """Interpolate the coordinates from exact values, then try them at random inputs."""

    def call(columns: Mapping[int, Sequence[int]]) -> list[list[flint.fmpq]]:
        X = np.zeros((layer.d, layer.t), dtype=object)
        for n, column in columns.items():
            for p, entry in enumerate(column):
                X[p, n] = Fraction(entry)
        return _evaluate(layer, function, X, rationalize)

    values = _interpolate_cubic(layer, call) if layer.t == 1 else _interpolate(layer, call)
    generator = random.Random(0)
    for _ in range(CHECKS):
        columns = {n: [generator.randint(-50, 50) for _ in range(layer.d)] for n in range(layer.t)}
        got, want = call(columns), _value_at(layer, values, columns)
        if got != want:
            X = [[columns[n][p] for n in range(layer.t)] for p in range(layer.d)]
            return Reading(
                failure=Failure(
                    "form",
                    "not of the form V X X^T A X: the values at the unit vectors and their sums "
                    f"determine another value at X = {X}",
                )
            )
    remark = (
        f"known by its values only: they agree at {CHECKS} random exact inputs besides those that "
        "determine the coefficients"
    )
    return Reading(tuple(values), certainty="conjectural", remark=remark)


def _evaluate(
    layer: Layer, function: Callable[[Any], Any], X: Any, rationalize: bool
) -> list[list[flint.fmpq]]:
    value = function(X)
    rows = value.tolist() if hasattr(value, "tolist") else [list(row) for row in value]
    if len(rows) != layer.d_out or any(len(row) != layer.t for row in rows):
        raise ValueError(f"the callable must return a {layer.d_out} x {layer.t} matrix")
    return [
        [
            exact_number(x, f"the callable's output ({i}, {j})", rationalize)
            for j, x in enumerate(row)
        ]
        for i, row in enumerate(rows)
    ]


def _unit(d: int, *rows: int) -> list[int]:
    vector = [0] * d
    for p in rows:
        vector[p] += 1
    return vector


def _interpolate(layer: Layer, call: Callable[..., list[list[flint.fmpq]]]) -> list[flint.fmpq]:
    """T_i(x, y) = V x x^T A y is the value in token 0 at (y, x) minus that at (y, 0)."""
    d = layer.d
    forms: dict[tuple[int, int, int], list[flint.fmpq]] = {}
    for r in range(d):
        alone = call({0: _unit(d, r)})
        for p, q in combinations_with_replacement(range(d), 2):
            rows = (p,) if p == q else (p, q)
            both = call({0: _unit(d, r), 1: _unit(d, *rows)})
            forms[p, q, r] = [both[i][0] - alone[i][0] for i in range(layer.d_out)]
    values = []
    for c in layer.coordinates:
        (p, q), r, i = c.pair, c.column, c.output
        value = forms[p, q, r][i]
        values.append(value if p == q else value - forms[p, p, r][i] - forms[q, q, r][i])
    return values


def _interpolate_cubic(
    layer: Layer, call: Callable[..., list[list[flint.fmpq]]]
) -> list[flint.fmpq]:
    """Coefficients of cubics by inclusion and exclusion over the vectors e_p, e_p + e_q, ..."""
    d = layer.d

    def at(*terms: tuple[int, int]) -> list[flint.fmpq]:
        vector = [0] * d
        for p, factor in terms:
            vector[p] += factor
        return [row[0] for row in call({0: vector})]

    values = []
    for c in layer.coordinates:
        p, q, r = *c.pair, c.column
        if p == q == r:
            values.append(at((p, 1))[c.output])
        elif p == q or q == r:
            twice, once = (p, r) if p == q else (q, p)
            plus = at((twice, 1), (once, 1))[c.output]
            minus = at((twice, -1), (once, 1))[c.output]
            values.append((plus + minus) / 2 - at((once, 1))[c.output])
        else:
            total = at((p, 1), (q, 1), (r, 1))[c.output]
            for x, y in ((p, q), (p, r), (q, r)):
                total -= at((x, 1), (y, 1))[c.output]
            for x in (p, q, r):
                total += at((x, 1))[c.output]
            values.append(total)
    return values


def _value_at(
    layer: Layer, values: Sequence[flint.fmpq], columns: Mapping[int, Sequence[int]]
) -> list[list[flint.fmpq]]:
    result = [[flint.fmpq(0)] * layer.t for _ in range(layer.d_out)]
    for c, value in zip(layer.coordinates, values, strict=True):
        if value == 0:
            continue
        p, q = c.pair
        for j in range(layer.t):
            x = columns[j][c.column]
            if layer.t == 1:
                factor = columns[0][p] * columns[0][q]
            else:
                # Every token n contributes X_pn X_qn, n = j included.
                factor = sum(columns[n][p] * columns[n][q] for n in range(layer.t))
            result[c.output][j] += value * factor * x
    return result
