"""Distances from weights to the closures of singular and boundary strata.

For t >= 2 the strata in question are {rank A <= k}, {rank V <= 1, rank A <= 1} and
{rank [V^T | A] <= 1}: truncated singular value decompositions give the nearest points (Eckart and
Young; truncating [V^T | A] multiplies A from the left by a projection, so its rank stays at most
a). For t = 1 the conditions are on S = sym(A): the distance in S is a lower bound, and for an
eigenvector e of S the matrix (1 - e e^T) A (1 - e e^T) drops its eigenvalue without raising
rank A, which gives an upper bound; for a >= d the lower bound is attained.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from m2bridge.attention.layer import Layer
from m2bridge.attention.weights import Weights
from m2bridge.geometry.identify.result import Distance
from m2bridge.geometry.identify.verdict import origin
from m2bridge.geometry.strata import RankStratum, SymmetricStratum, maximal
from m2bridge.geometry.strata.forms import FormType, canonical, generic_type

__all__ = ["distances", "special_types", "weights_of"]

Array = np.ndarray[Any, np.dtype[np.float64]]


def weights_of(layer: Layer, V: Array, A: Array) -> Weights:
    """Balanced Q and K with K^T Q = A, for A of rank at most a."""
    left, values, right = np.linalg.svd(A)
    k = min(layer.a, layer.d)
    root = np.sqrt(values[:k])
    K, Q = np.zeros((layer.a, layer.d)), np.zeros((layer.a, layer.d))
    K[:k] = (left[:, :k] * root).T
    Q[:k] = root[:, None] * right[:k]
    return layer.weights(Q, K, V)


def distances(layer: Layer, V: Array, A: Array) -> tuple[Distance, ...]:
    """The distance to each maximal singular stratum, each boundary stratum and zero."""
    found = [_to_zero(layer, V, A)]
    if layer.t == 1:
        found += _symmetric(layer, V, A)
    else:
        for to, kind in special_types(layer):
            found.append(_rank_distance(layer, V, A, to, kind))
    return tuple(sorted(found, key=lambda x: (x.value, x.to)))


def special_types(layer: Layer) -> list[tuple[str, tuple[int, int, int]]]:
    """The maximal singular and boundary types for t >= 2, the origin left out."""
    kinds: list[tuple[str, tuple[int, int, int]]] = []
    found = [s for s in _rank_strata_near(layer) if not s.is_origin]
    for to in ("singular", "boundary"):
        chosen = [s for s in found if getattr(s, to)]
        kinds += [(to, s.type) for s in maximal(chosen) if isinstance(s, RankStratum)]
    return kinds


def _rank_strata_near(layer: Layer) -> list[RankStratum]:
    """Candidates for maximal special strata: generic types of given ranks, and (1, 1, 1)."""
    d = layer.d
    types = {(1, 1, 1)}
    for v in {1, min(d, layer.d_out)}:
        for r in {1, max(1, layer.alpha - 1), layer.alpha}:
            types.add((v, r, min(d, v + r)))
    return [RankStratum(*kind, layer=layer) for kind in types]


def _condition(layer: Layer, kind: tuple[int, int, int]) -> str:
    v, r, joint = kind
    if joint == max(v, r) == 1:
        return "rank [V^T|A] <= 1"
    parts = []
    if v < min(layer.d, layer.d_out):
        parts.append(f"rank V <= {v}")
    if r < layer.alpha:
        parts.append(f"rank A <= {r}")
    return " and ".join(parts) or "all weights"


def _truncated(matrix: Array, rank: int) -> Array:
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    return np.asarray((left[:, :rank] * values[:rank]) @ right[:rank])


def _rank_distance(
    layer: Layer, V: Array, A: Array, to: str, kind: tuple[int, int, int]
) -> Distance:
    v, r, joint = kind
    if joint == 1:
        both = _truncated(np.hstack([V.T, A]), 1)
        V1, A1 = both[:, : layer.d_out].T, both[:, layer.d_out :]
    else:
        assert joint == min(layer.d, v + r), "special strata put no other condition on [V^T|A]"
        V1, A1 = _truncated(V, v), _truncated(A, r)
    value = _norm(V - V1, A - A1)
    nearest = weights_of(layer, V1, A1)
    return Distance(to, _condition(layer, kind), kind, value, "minimum", value, nearest)


def _norm(*differences: Array) -> float:
    return float(np.sqrt(sum(float((x * x).sum()) for x in differences)))


def _to_zero(layer: Layer, V: Array, A: Array) -> Distance:
    """V = 0 or A = 0; for t = 1 also sym(A) = 0, which is never farther than A = 0."""
    kind = origin(layer).type
    norm_v, norm_a = _norm(V), _norm(A)
    if layer.t == 1 and layer.a >= layer.d:
        S = (A + A.T) / 2
        size = _norm(S)
        if size <= norm_v:
            nearest = weights_of(layer, V, A - S)
            return Distance("zero", "sym A = 0", kind, size, "minimum", size, nearest)
    if norm_v <= norm_a:
        nearest, condition = weights_of(layer, 0 * V, A), "V = 0"
    else:
        nearest, condition = weights_of(layer, V, 0 * A), "A = 0"
    value = min(norm_v, norm_a)
    lower = value
    if layer.t == 1 and layer.a < layer.d:
        lower = min(norm_v, _norm((A + A.T) / 2))
    kind_of = "minimum" if lower == value else "upper bound"
    return Distance("zero", condition, kind, value, kind_of, lower, nearest)


# t = 1


def _symmetric(layer: Layer, V: Array, A: Array) -> Iterator[Distance]:
    values, vectors = np.linalg.eigh((A + A.T) / 2)
    order = np.argsort(-np.abs(values))
    for kind in _singular_form_types(layer):
        v, r = kind[0], kind[1]
        if kind == generic_type(layer.d, v, r):
            V1 = _truncated(V, v)
            yield _drop(layer, V, A, vectors[:, order[r:]], _form_condition(layer, v, r), kind, V1)
        else:
            assert kind == (1, 2, layer.d - 2, 0), "the only special stratum with a condition more"
            yield _repeated_factor(layer, V, A, vectors[:, order[1:]])
    if layer.a < layer.d:
        yield _to_boundary(layer, V, A, values, vectors)


def _singular_form_types(layer: Layer) -> list[FormType]:
    """The maximal singular types, out of the candidates that the ranks alone allow."""
    d, b = layer.d, min(2 * layer.a, layer.d)
    kinds = {
        generic_type(d, v, r)
        for v in {1, min(d, layer.d_out)}
        for r in {1, min(2, b), max(1, b - 1), b}
    }
    if d >= 2 and b >= 2:
        kinds.add((1, 2, d - 2, 0))
    found = [SymmetricStratum(*canonical(d, kind), layer=layer) for kind in kinds]
    singular = {s.type: s for s in found if s.singular}
    return [s.type for s in maximal(list(singular.values())) if isinstance(s, SymmetricStratum)]


def _form_condition(layer: Layer, v: int, r: int) -> str:
    parts = [f"rank V <= {v}"] if v < min(layer.d, layer.d_out) else []
    if r < min(2 * layer.a, layer.d):
        parts.append(f"rank sym A <= {r}")
    return " and ".join(parts) or "all weights"


def _drop(
    layer: Layer,
    V: Array,
    A: Array,
    dropped: Array,
    condition: str,
    kind: tuple[int, ...],
    V1: Array | None = None,
    to: str = "singular",
) -> Distance:
    """Drop the eigenvectors in the columns of ``dropped`` from sym(A)."""
    S = (A + A.T) / 2
    P = np.eye(layer.d) - dropped @ dropped.T
    S1 = P @ S @ P
    A1 = A - (S - S1) if layer.a >= layer.d else P @ A @ P
    V1 = V if V1 is None else V1
    lower = _norm(V - V1, S - S1)
    value = _norm(V - V1, A - A1)
    exact = layer.a >= layer.d or dropped.shape[1] == 0
    return Distance(
        to,
        condition,
        kind,
        value,
        "minimum" if exact else "upper bound",
        value if exact else lower,
        weights_of(layer, V1, A1),
    )


def _to_boundary(layer: Layer, V: Array, A: Array, values: Array, vectors: Array) -> Distance:
    """Fewer than min(a, d - a) positive, or as few negative, eigenvalues."""
    c = min(layer.a, layer.d - layer.a)
    options = []
    for sign in (1, -1):
        signed = sorted(range(layer.d), key=lambda k: sign * values[k])
        surplus = [k for k in signed if sign * values[k] > 0]
        # The smallest ones are dropped, until c - 1 are left.
        chosen = surplus[: max(0, len(surplus) - (c - 1))]
        options.append((float((values[chosen] ** 2).sum()), chosen))
    chosen = min(options, key=lambda option: option[0])[1]
    condition = f"sym A has fewer than {c} positive or fewer than {c} negative eigenvalues"
    left = int((np.abs(values) > 0).sum()) - len(chosen)
    kind = generic_type(layer.d, layer.d_out, left) if left > 0 else origin(layer).type
    return _drop(layer, V, A, vectors[:, chosen], condition, kind, to="boundary")


def _repeated_factor(layer: Layer, V: Array, A: Array, others: Array) -> Distance:
    """d_out = a = 1: sym(A) a square, or divisible by the linear form of V; upper bounds."""
    square = _drop(layer, V, A, others, "rank sym A <= 1", (1, 2, layer.d - 2, 0))
    if _norm(V) == 0:
        return square
    v = V[0] / np.linalg.norm(V)
    S = (A + A.T) / 2
    P = np.eye(layer.d) - np.outer(v, v)
    S1 = S - P @ S @ P
    m = 2 * S1 @ v - float(v @ S1 @ v) * v
    A1 = min((np.outer(v, m), np.outer(m, v)), key=lambda M: _norm(A - M))
    value = _norm(A - A1)
    if square.value <= value:
        return square
    return Distance(
        "singular",
        "the linear form of V divides sym A",
        (1, 2, layer.d - 2, 0),
        value,
        "upper bound",
        0.0,
        weights_of(layer, V, A1),
    )
