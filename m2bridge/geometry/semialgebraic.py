"""Inequalities for the functions of real weights, and exact points on either side of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import sympy
from sympy.polys.rings import PolyElement, PolyRing

from m2bridge.attention import Layer
from m2bridge.display import brief
from m2bridge.errors import VerificationError

__all__ = ["Inequality", "SidePoint", "inequalities", "points_on_both_sides"]

_CHECKED_COORDINATES = 100
_LISTED_COORDINATES = 20_000


@dataclass(frozen=True)
class Inequality:
    """polynomial >= 0.

    Attributes:
        polynomial: in the layer's symbols.
        text: what it says.
    """

    polynomial: sympy.Poly
    text: str

    __repr__ = brief

    def holds(self, point: list[sympy.Rational]) -> bool:
        """Does it hold at an exact point?"""
        return bool(self.polynomial.eval(tuple(point)) >= 0)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"polynomial": str(self.polynomial.as_expr()), "relation": ">= 0", "text": self.text}


@dataclass(frozen=True)
class SidePoint:
    """An exact real point of the Zariski closure, with weights that give it.

    Attributes:
        side: "inside", "boundary" or "beyond".
        coordinates: integers, in the order of the layer's coordinates; None for models of more
            than 20000 coordinates.
        V, A: weights; complex, or with A of too large rank, for a point beyond.
        text: why it lies on this side.
    """

    side: str
    coordinates: tuple[int, ...] | None
    V: sympy.ImmutableMatrix
    A: sympy.ImmutableMatrix
    text: str

    __repr__ = brief

    def to_dict(self) -> dict[str, Any]:
        """Plain data; entries of V and A are text, since they may be complex."""
        return {
            "side": self.side,
            "coordinates": None if self.coordinates is None else list(self.coordinates),
            "V": [[str(x) for x in row] for row in self.V.tolist()],
            "A": [[str(x) for x in row] for row in self.A.tolist()],
            "text": self.text,
        }


def inequalities(layer: Layer) -> tuple[tuple[Inequality, ...] | None, bool | None]:
    """Inequalities that single out real weights among the real points of the closure.

    Returns:
        The inequalities, none when real weights miss nothing, None when only the rule on
        signatures is known (t = 1, 2 <= a < d); and whether their number is minimal. One
        inequality is minimal whenever something is missed.
    """
    if (layer.d == 1) or (layer.t == 1 and layer.a >= layer.d):
        return (), True
    if layer.t == 1:
        return (None, None) if layer.a >= 2 else ((_cubic_inequality(layer),), True)
    return (_quadratic_inequality(layer),), True


def _quadratic_inequality(layer: Layer) -> Inequality:
    """The sum of the discriminants of all entries T_ir on all coordinate planes.

    Entries of functions of real weights are products of two real linear forms, with discriminant
    (V_ip A_qr - V_iq A_pr)^2. Beyond, T_ir = u_i q_r Q with Q definite of rank 2: no
    discriminant is positive, and some principal 2-minor of Q is not zero.
    """
    place = {(c.output, c.pair, c.column): k for k, c in enumerate(layer.coordinates)}
    size = layer.ambient_dimension
    terms: dict[tuple[int, ...], int] = {}
    for i, r in product(range(layer.d_out), range(layer.d)):
        for p, q in combinations(range(layer.d), 2):
            mixed = place[i, (p, q), r]
            _add(terms, size, (mixed, mixed), 1)
            _add(terms, size, (place[i, (p, p), r], place[i, (q, q), r]), -4)
    return Inequality(
        sympy.Poly.from_dict(terms, *layer.symbols, domain=sympy.QQ),
        "the discriminants of all T_ir on all coordinate planes, summed",
    )


def _add(terms: dict[tuple[int, ...], int], size: int, places: tuple[int, ...], value: int) -> None:
    exponents = [0] * size
    for k in places:
        exponents[k] += 1
    key = tuple(exponents)
    terms[key] = terms.get(key, 0) + value


def _cubic_inequality(layer: Layer) -> Inequality:
    """a = 1, t = 1: the sum of the discriminants of all outputs on enough planes.

    Functions of real weights are products v_i l m of real linear forms, so on every plane the
    discriminant of the binary cubic is not negative. Beyond, T_i = v_i Q with Q definite of
    rank 2, so none is positive; one of the planes below has Q definite on it and some v_i not
    zero: if e_p, e_q has the former and all v_i vanish there but v_ik != 0, then v_ik is not zero
    on e_p, e_q + c e_k, and Q is definite there for c = 1 or c = -1 (its Gram determinant is
    a quadratic polynomial in c, not negative, not zero at c = 0).
    """
    ring = PolyRing(layer.symbols, sympy.QQ)
    total = ring.zero
    for i in range(layer.d_out):
        for y, z in _planes(layer.d):
            total += _discriminant(_restricted(layer, ring, i, y, z))
    polynomial = sympy.Poly.from_dict(dict(total), *layer.symbols, domain=sympy.QQ)
    return Inequality(polynomial, "the discriminants of all outputs on certain planes, summed")


def _planes(d: int) -> Iterator[tuple[dict[int, int], dict[int, int]]]:
    for p, q in combinations(range(d), 2):
        yield {p: 1}, {q: 1}
    for p, q in product(range(d), repeat=2):
        for k in range(d):
            if len({p, q, k}) == 3:
                yield {p: 1}, {q: 1, k: 1}
                yield {p: 1}, {q: 1, k: -1}


def _restricted(
    layer: Layer, ring: PolyRing, output: int, y: dict[int, int], z: dict[int, int]
) -> tuple[PolyElement, ...]:
    """The coefficients of T_output(s y + t z) as a binary cubic in s, t."""
    parts = [ring.zero] * 4
    for c, variable in zip(layer.coordinates, ring.gens, strict=True):
        if c.output != output:
            continue
        series = [1]
        for k in (*c.pair, c.column):
            pair = y.get(k, 0), z.get(k, 0)
            longer = [0] * (len(series) + 1)
            for n, x in enumerate(series):
                longer[n] += x * pair[0]
                longer[n + 1] += x * pair[1]
            series = longer
        for n, x in enumerate(series):
            if x:
                parts[n] = parts[n] + x * variable
    return tuple(parts)


def _discriminant(cubic: tuple[PolyElement, ...]) -> PolyElement:
    a, b, c, d = cubic
    return b**2 * c**2 - 4 * a * c**3 - 4 * b**3 * d - 27 * a**2 * d**2 + 18 * a * b * c * d


def points_on_both_sides(layer: Layer) -> tuple[SidePoint, ...]:
    """Exact points inside, on the boundary and beyond it, where these exist, checked.

    Raises:
        VerificationError: a point beyond is not real, or an inequality contradicts a side.
    """
    points = _cubic_points(layer) if layer.t == 1 else _points(layer)
    given = None
    if layer.ambient_dimension <= _CHECKED_COORDINATES:
        given, _ = inequalities(layer)
    for point in points:
        if given is None or point.coordinates is None:
            continue
        at = [sympy.Integer(x) for x in point.coordinates]
        if all(entry.holds(at) for entry in given) != (point.side != "beyond"):
            raise VerificationError(f"{layer}: an inequality contradicts the point {point.text}")
    return tuple(points)


def _side(layer: Layer, side: str, V: Any, A: Any, text: str) -> SidePoint:
    if layer.ambient_dimension > _LISTED_COORDINATES:
        return SidePoint(side, None, sympy.ImmutableMatrix(V), sympy.ImmutableMatrix(A), text)
    values = [sympy.expand(x) for x in layer.image(V.tolist(), A.tolist())]
    if not all(value.is_Integer for value in values):
        raise VerificationError(f"{layer}: the point {text} is not an integer point")
    coordinates = tuple(int(value) for value in values)
    return SidePoint(side, coordinates, sympy.ImmutableMatrix(V), sympy.ImmutableMatrix(A), text)


def _points(layer: Layer) -> list[SidePoint]:
    d, d_out = layer.d, layer.d_out
    V, A = sympy.zeros(d_out, d), sympy.zeros(d, d)
    V[0, 0] = A[0, 0] = 1
    if d == 1:
        return [_side(layer, "inside", V, A, "x^2: for d = 1 everything is inside")]
    edge = _side(layer, "boundary", V, A, "u (x) x_0^2 (x) q: one real linear form, twice")
    V[0, 1], A[1, 0] = 1, -1
    inside = _side(layer, "inside", V, A, "u (x) (x_0^2 - x_1^2) (x) q: two real linear forms")
    V[0, 1], A[1, 0] = sympy.I, -sympy.I
    beyond = _side(
        layer, "beyond", V, A, "u (x) (x_0^2 + x_1^2) (x) q: definite, its weights are not real"
    )
    return [inside, edge, beyond]


def _cubic_points(layer: Layer) -> list[SidePoint]:
    """x_0 S with S of signature (a, min(a, d - a)), (a, that - 1) and (a + 1, that - 1)."""
    a, d = layer.a, layer.d
    V = sympy.zeros(layer.d_out, d)
    V[0, 0] = 1
    if a >= d:
        form = sympy.eye(d)
        return [_side(layer, "inside", V, form, "S = sum of squares: for a >= d all is inside")]
    other = min(a, d - a)
    points = []
    for side, p, q in (
        ("inside", a, other),
        ("boundary", a, other - 1),
        ("beyond", a + 1, other - 1),
    ):
        S = sympy.diag(*([1] * p + [-1] * q + [0] * (d - p - q)))
        points.append(_side(layer, side, V, _low_rank(S, p, q), f"x_0 S, signature {(p, q)}"))
    return points


def _low_rank(S: Any, p: int, q: int) -> Any:
    """A matrix of rank max(p, q) with the quadratic form of the diagonal matrix S."""
    A = S.copy()
    for k in range(min(p, q)):
        # x^2 - y^2 = (x + y)(x - y)
        A[k, p + k], A[p + k, k] = -1, 1
    return A
