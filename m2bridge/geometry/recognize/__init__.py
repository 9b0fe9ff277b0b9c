"""Is this a function of the layer, and by which weights? Exact, by gcds and not by solving."""

from __future__ import annotations

import flint
import sympy

from m2bridge.attention.layer import Layer
from m2bridge.attention.weights import Weights
from m2bridge.geometry.recognize.cubic import preimages_of_cubics
from m2bridge.geometry.recognize.forms import Point
from m2bridge.geometry.recognize.quadratic import to_sympy
from m2bridge.geometry.recognize.reading import Reading, read
from m2bridge.geometry.recognize.result import Failure, Preimage, Recognition
from m2bridge.geometry.recognize.tensor import preimages_of_tensor

__all__ = ["Failure", "Preimage", "Recognition", "recognize"]


def recognize(
    layer: Layer,
    function: object,
    *,
    inputs: sympy.MatrixBase | None = None,
    rationalize: bool = False,
) -> Recognition:
    """Decide whether a function is phi(X) = V X X^T A X for real weights, and find them.

    Args:
        layer: the layer.
        function: its coefficients, in the order of ``layer.coordinates`` or as a mapping from
            their names (full coordinates likewise); or phi as a d_out x t sympy matrix of
            polynomials in the entries of X; or a callable taking X (d x t): it is tried on a sympy
            matrix of symbols, which proves the answer, else on exact numbers (numpy arrays of
            ``Fraction``).
        inputs: the matrix X of symbols in which a sympy matrix is written; not needed when X is a
            ``MatrixSymbol``.
        rationalize: take floats as the binary fractions that they are, instead of refusing them.

    Returns:
        Yes with weights, over QQ when possible; or no with the equation or inequality that fails.

    Raises:
        TypeError: for floats and for things that describe no function.
        ValueError: for a wrong length or shape, or irrational coefficients.

    The mathematics (unique factorisation of T(w) = v(w) a(w), and of the cubic for t = 1) is
    derived in the docs, theory page, sections "One layer".
    """
    reading = read(layer, function, inputs, rationalize)
    if reading.failure is not None:
        return Recognition(
            layer,
            (),
            representable=False,
            reason=reading.failure.statement,
            over_complex=False,
            failed=reading.failure,
        )
    return _recognize_point(layer, reading)


def _recognize_point(layer: Layer, reading: Reading) -> Recognition:
    point = Point(layer, reading.values)
    coefficients = tuple(to_sympy(x) for x in reading.values)
    if point.pivot() is None:
        return _zero_function(layer, coefficients, reading)
    if layer.t == 1:
        preimages, failure = preimages_of_cubics(point)
    else:
        preimages, failure = preimages_of_tensor(point)
    real = sorted((p for p in preimages if p.real), key=_simplicity)
    rank_v = rank_a = None
    if preimages:
        rank_v = _rank_of_v(point)
        rank_a = None if layer.t == 1 else preimages[0].rank
    if not real:
        assert failure is not None
        return Recognition(
            layer,
            coefficients,
            representable=False,
            reason=failure.statement,
            preimages=tuple(preimages),
            over_complex=bool(preimages),
            failed=failure,
            rank_v=rank_v,
            rank_a=rank_a,
        )
    chosen = real[0]
    return Recognition(
        layer,
        coefficients,
        representable=True,
        reason=_success(preimages, chosen, layer) + (f"; {reading.remark}" * bool(reading.remark)),
        weights=_weights(layer, chosen),
        field=chosen.field,
        preimages=tuple(preimages),
        over_complex=True,
        rank_v=rank_v,
        rank_a=rank_a,
        certainty=reading.certainty,
    )


def _zero_function(
    layer: Layer, coefficients: tuple[sympy.Rational, ...], reading: Reading
) -> Recognition:
    symmetric = "sym(A)" if layer.t == 1 else "A"
    zero = layer.weights(
        [[0] * layer.d] * layer.a, [[0] * layer.d] * layer.a, [[0] * layer.d] * layer.d_out
    )
    return Recognition(
        layer,
        coefficients,
        representable=True,
        reason=f"the zero function: V = 0 or {symmetric} = 0, the other one arbitrary",
        weights=zero,
        field="QQ",
        over_complex=True,
        rank_v=None,
        rank_a=None,
        certainty=reading.certainty,
    )


def _simplicity(preimage: Preimage) -> tuple[int, int]:
    return (0 if preimage.field == "QQ" else 1, len(preimage.field))


def _rank_of_v(point: Point) -> int:
    """V and T have the same row dependencies: T_i = v_i (x) a."""
    rows: dict[int, list[flint.fmpq]] = {}
    for c, value in zip(point.layer.coordinates, point.values, strict=True):
        rows.setdefault(c.output, []).append(value)
    return int(flint.fmpq_mat(list(rows.values())).rank())


def _success(preimages: list[Preimage], chosen: Preimage, layer: Layer) -> str:
    pair = "(V, sym A)" if layer.t == 1 else "(V, A)"
    count = len(preimages)
    real = sum(1 for p in preimages if p.real)
    text = f"weights over {chosen.field}; {count} preimage{'s' * (count > 1)} {pair} up to scaling"
    if real < count:
        text += f", {real} of them real"
    if chosen.smallest_field is None:
        text += "; whether a smaller field suffices was not decided"
    return text


def _weights(layer: Layer, preimage: Preimage) -> Weights:
    return layer.weights(preimage.Q, preimage.K, preimage.V)
