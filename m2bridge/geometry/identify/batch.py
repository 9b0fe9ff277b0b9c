"""Ten thousand weights at once: vectorised for floats, exact one by one for integers."""

from __future__ import annotations

from typing import Any

import flint
import numpy as np

from m2bridge.attention.layer import Layer
from m2bridge.geometry.identify.distances import special_types
from m2bridge.geometry.identify.exact import form_data
from m2bridge.geometry.identify.numerical import SAFETY, default_tolerance
from m2bridge.geometry.identify.result import BatchIdentification
from m2bridge.geometry.identify.verdict import Verdict, rank_verdict, symmetric_verdict

__all__ = ["identify_batch"]

Array = np.ndarray[Any, np.dtype[Any]]
Key = tuple[Any, ...]


def identify_batch(
    layer: Layer, Q: object, K: object, V: object, *, tolerance: float | None = None
) -> BatchIdentification:
    """Identify N weights at once.

    Args:
        layer: the layer.
        Q, K: arrays N x a x d; integers are treated exactly, floats numerically.
        V: array N x d_out x d.
        tolerance: as for `identify`.

    Raises:
        TypeError: for arrays that hold neither integers nor floats.
        ValueError: for wrong shapes, NaN or infinities.
    """
    if tolerance is not None and not 0 <= tolerance < 1:
        raise ValueError(f"tolerance must lie between 0 and 1, got {tolerance!r}")
    arrays = _checked(layer, Q, K, V)
    if all(np.issubdtype(x.dtype, np.integer) for x in arrays):
        return _exact_batch(layer, *arrays)
    bound = default_tolerance(layer, *arrays) if tolerance is None else tolerance
    return _numerical_batch(layer, *_as_floats(arrays), tolerance=bound)


def _checked(layer: Layer, Q: object, K: object, V: object) -> tuple[Array, Array, Array]:
    shapes = {
        "Q": (layer.a, layer.d),
        "K": (layer.a, layer.d),
        "V": (layer.d_out, layer.d),
    }
    arrays = []
    for (name, shape), value in zip(shapes.items(), (Q, K, V), strict=True):
        array = np.asarray(value)
        if array.ndim != 3 or array.shape[1:] != shape:
            raise ValueError(
                f"{name} must have the shape (N, {shape[0]}, {shape[1]}), got {array.shape}"
            )
        numeric = np.issubdtype(array.dtype, np.integer) or np.issubdtype(array.dtype, np.floating)
        if not numeric:
            raise TypeError(f"{name} must hold integers or floats, got dtype {array.dtype}")
        if not np.isfinite(array).all():
            raise ValueError(f"{name} contains NaN or infinities")
        arrays.append(array)
    if len({len(array) for array in arrays}) > 1:
        raise ValueError(f"Q, K and V differ in N: {[len(array) for array in arrays]}")
    return arrays[0], arrays[1], arrays[2]


def _as_floats(arrays: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
    Q, K, V = (array.astype(np.float64) for array in arrays)
    return Q, K, V


class _Verdicts:
    """One verdict for each rank type that occurs."""

    def __init__(self, layer: Layer) -> None:
        self.layer = layer
        self.known: dict[Key, Verdict | None] = {}

    def __call__(self, key: Key) -> Verdict | None:
        if key not in self.known:
            try:
                if self.layer.t == 1:
                    self.known[key] = symmetric_verdict(self.layer, *key)
                else:
                    self.known[key] = rank_verdict(self.layer, key)
            except ValueError:
                self.known[key] = None
        return self.known[key]


def _flags(verdicts: list[Verdict | None], name: str) -> Array:
    return np.array([-1 if v is None else int(getattr(v, name)) for v in verdicts], dtype=np.int8)


def _exact_batch(layer: Layer, Q: Array, K: Array, V: Array) -> BatchIdentification:
    ranks: list[tuple[int, int, int]] = []
    keys: list[Key] = []
    for q, k, v in zip(Q.tolist(), K.tolist(), V.tolist(), strict=True):
        left = flint.fmpz_mat(k).transpose()
        value, attention = flint.fmpz_mat(v), left * flint.fmpz_mat(q)
        both = [
            [*column, *row]
            for column, row in zip(zip(*v, strict=True), attention.tolist(), strict=True)
        ]
        kind = (int(value.rank()), int(attention.rank()), int(flint.fmpz_mat(both).rank()))
        ranks.append(kind)
        if layer.t == 1:
            S = (attention + attention.transpose()).tolist()
            form = form_data(v, [[int(x) for x in row] for row in S])
            keys.append((kind[0], *form))
        else:
            keys.append(kind)
    return _assembled(layer, np.array(ranks).reshape(-1, 3), keys, None)


def _assembled(
    layer: Layer,
    ranks: Array,
    keys: list[Key],
    stricter: list[Key] | None,
    **evidence: Any,
) -> BatchIdentification:
    """Verdicts for keys; where ``stricter`` keys disagree, the verdict is withheld."""
    ask = _Verdicts(layer)
    verdicts = [ask(key) for key in keys]
    singular, boundary = _flags(verdicts, "singular"), _flags(verdicts, "boundary")
    if stricter is not None:
        other = [ask(key) for key in stricter]
        singular = np.where(singular == _flags(other, "singular"), singular, -1).astype(np.int8)
        boundary = np.where(boundary == _flags(other, "boundary"), boundary, -1).astype(np.int8)
    rank_s = None
    if layer.t == 1:
        rank_s = np.array([sum(key[1]) for key in keys], dtype=int)
    zero = (ranks[:, 0] == 0) | ((ranks[:, 1] if rank_s is None else rank_s) == 0)
    return BatchIdentification(
        layer,
        rank_v=ranks[:, 0],
        rank_a=ranks[:, 1],
        rank_va=ranks[:, 2],
        zero=zero,
        singular=singular,
        boundary=boundary,
        exact=stricter is None,
        certainty="proved" if stricter is None else "numerical",
        rank_s=rank_s,
        **evidence,
    )


def _numerical_batch(
    layer: Layer, Q: Array, K: Array, V: Array, *, tolerance: float
) -> BatchIdentification:
    A = np.swapaxes(K, 1, 2) @ Q
    values = {
        "V": np.linalg.svd(V, compute_uv=False),
        "A": np.linalg.svd(A, compute_uv=False),
    }
    scale = np.linalg.norm(Q, 2, axis=(1, 2)) * np.linalg.norm(K, 2, axis=(1, 2))
    V1, A1 = _unit(V), _unit(A)
    both = np.concatenate([np.swapaxes(V1, 1, 2), A1], axis=2)
    values["[V^T|A]"] = np.linalg.svd(both, compute_uv=False)
    ranks, strict_ranks = (
        _ranks(values, scale, bound) for bound in (tolerance, min(0.5, tolerance * SAFETY))
    )
    if layer.t == 1:
        forms = _Forms(V, A, V1)
        values["sym A"] = np.abs(forms.eigenvalues)
        keys, strict_keys = (
            forms.keys(r[:, 0], scale, bound)
            for r, bound in (
                (ranks, tolerance),
                (strict_ranks, min(0.5, tolerance * SAFETY)),
            )
        )
        far: dict[str, Any] = {}
    else:
        keys, strict_keys = (list(map(tuple, r.tolist())) for r in (ranks, strict_ranks))
        far = _distances(layer, V, A, values)
    return _assembled(
        layer,
        ranks,
        keys,
        strict_keys,
        tolerance=tolerance,
        singular_values=values,
        **far,
    )


def _unit(matrices: Array) -> Array:
    norms = np.linalg.norm(matrices, axis=(1, 2), keepdims=True)
    return np.asarray(np.divide(matrices, norms, out=np.zeros_like(matrices), where=norms > 0))


def _ranks(values: dict[str, Array], scale: Array, bound: float) -> Array:
    v = (values["V"] > bound * values["V"][:, :1]).sum(axis=1)
    a = (values["A"] > bound * scale[:, None]).sum(axis=1)
    va = (values["[V^T|A]"] > bound).sum(axis=1)
    return np.stack([v, a, va], axis=1)


class _Forms:
    """Eigenvalues of sym(A), and of it restricted to the kernels of V."""

    def __init__(self, V: Array, A: Array, unit_v: Array) -> None:
        self.d = A.shape[1]
        self.S = (A + np.swapaxes(A, 1, 2)) / 2
        self.eigenvalues = np.linalg.eigvalsh(self.S)
        stacked = np.concatenate([unit_v, _unit(self.S)], axis=1)
        self.common = np.linalg.svd(stacked, compute_uv=False)
        self.right = np.linalg.svd(V, full_matrices=True)[2]

    def keys(self, rank_v: Array, scale: Array, bound: float) -> list[Key]:
        """(rank V, signature, ker V and rad S in common, restricted signature) of each."""
        absolute = (bound * scale)[:, None]
        positive = (self.eigenvalues > absolute).sum(axis=1)
        negative = (self.eigenvalues < -absolute).sum(axis=1)
        radical = self.d - (self.common > bound).sum(axis=1)
        inside = np.zeros((len(rank_v), 2), dtype=int)
        for v in np.unique(rank_v):
            chosen = rank_v == v
            N = self.right[chosen, v:]
            small = np.linalg.eigvalsh(N @ self.S[chosen] @ np.swapaxes(N, 1, 2))
            inside[chosen, 0] = (small > absolute[chosen]).sum(axis=1)
            inside[chosen, 1] = (small < -absolute[chosen]).sum(axis=1)
        columns = (rank_v, positive, negative, radical, inside[:, 0], inside[:, 1])
        return [
            (v, (p, n), j, (p_in, n_in))
            for v, p, n, j, p_in, n_in in zip(*(c.tolist() for c in columns), strict=True)
        ]


def _distances(layer: Layer, V: Array, A: Array, values: dict[str, Array]) -> dict[str, Array]:
    """Frobenius distances in (V, A) to all singular and all boundary weights, zero included."""
    zero = np.minimum(np.linalg.norm(V, axis=(1, 2)), np.linalg.norm(A, axis=(1, 2)))
    far = np.full(len(V), np.inf)
    found = {"singular": far, "boundary": far.copy()}
    if layer.d >= 2:
        found = {"singular": zero, "boundary": zero.copy()}
    raw = np.concatenate([np.swapaxes(V, 1, 2), A], axis=2)
    for to, (v, r, joint) in special_types(layer):
        if joint == 1:
            tail = _tail(np.linalg.svd(raw, compute_uv=False), 1)
        else:
            tail = np.hypot(_tail(values["V"], v), _tail(values["A"], r))
        found[to] = np.minimum(found[to], tail)
    return {f"{to}_distance": value for to, value in found.items()}


def _tail(values: Array, rank: int) -> Array:
    return np.asarray(np.sqrt((values[:, rank:] ** 2).sum(axis=1)))
