"""Numerical ranks with their evidence: singular values, gaps, tolerances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from m2bridge.attention.layer import Layer
from m2bridge.geometry.identify.result import Spectrum
from m2bridge.geometry.identify.verdict import Verdict, rank_verdict, symmetric_verdict

__all__ = ["Numbers", "default_tolerance", "measure", "spectra_of", "verdict_at"]

#: A verdict must survive a tolerance larger by this factor, else it is not given.
SAFETY = 1e3

Array = np.ndarray[Any, np.dtype[Any]]


def default_tolerance(layer: Layer, *originals: object) -> float:
    """A few units in the last place of the least precise input, times the size."""
    eps = float(np.finfo(np.float64).eps)
    for value in originals:
        kind = getattr(value, "dtype", None)
        if kind is not None and np.issubdtype(kind, np.floating):
            eps = max(eps, float(np.finfo(kind).eps))
    return eps * 4 * max(layer.d, layer.a, layer.d_out)


@dataclass(frozen=True)
class Numbers:
    """Singular values and, for t = 1, eigenvalues of one set of weights.

    Each comes with the scale that its rounding errors are measured against: the tolerance is
    relative to it.
    """

    v: Array
    a: Array
    va: Array
    a_scale: float
    s: Array | None = None
    vs: Array | None = None
    s_kernel: tuple[Array, ...] = ()


def measure(layer: Layer, V: Array, A: Array, a_scale: float) -> Numbers:
    """All spectra of V (d_out x d) and A (d x d)."""
    v = np.linalg.svd(V, compute_uv=False)
    a = np.linalg.svd(A, compute_uv=False)
    va = np.linalg.svd(np.hstack([_unit(V).T, _unit(A)]), compute_uv=False)
    if layer.t != 1:
        return Numbers(v, a, va, a_scale)
    S = (A + A.T) / 2
    vs = np.linalg.svd(np.vstack([_unit(V), _unit(S)]), compute_uv=False)
    # S on the last k right singular vectors of V, for every possible dimension k of ker V.
    right = np.linalg.svd(V, full_matrices=True)[2]
    kernels = tuple(
        np.linalg.eigvalsh(right[layer.d - k :] @ S @ right[layer.d - k :].T)
        for k in range(layer.d + 1)
    )
    return Numbers(v, a, va, a_scale, np.linalg.eigvalsh(S), vs, kernels)


def _unit(matrix: Array) -> Array:
    norm = float(np.linalg.norm(matrix))
    return matrix / norm if norm > 0 else matrix


def _count(values: Array, bound: float) -> int:
    return int((np.abs(values) > bound).sum())


def _signature(values: Array, bound: float) -> tuple[int, int]:
    return int((values > bound).sum()), int((values < -bound).sum())


@dataclass(frozen=True)
class Measured:
    """The integers that one tolerance gives."""

    rank_v: int
    rank_a: int
    rank_va: int
    signature: tuple[int, int] | None = None
    kernel_radical: int | None = None
    restricted: tuple[int, int] | None = None
    verdict: Verdict | None = None


def verdict_at(layer: Layer, numbers: Numbers, tolerance: float) -> Measured:
    """Ranks at a relative tolerance; no verdict when they contradict each other."""
    v = _count(numbers.v, tolerance * float(numbers.v[0]))
    a = _count(numbers.a, tolerance * numbers.a_scale)
    va = _count(numbers.va, tolerance) if v or a else 0
    try:
        if numbers.s is None:
            return Measured(v, a, va, verdict=rank_verdict(layer, (v, a, va)))
    except ValueError:
        return Measured(v, a, va)
    assert numbers.vs is not None
    bound = tolerance * numbers.a_scale
    signature = _signature(numbers.s, bound)
    common = layer.d - _count(numbers.vs, tolerance)
    restricted = _signature(numbers.s_kernel[layer.d - v], bound)
    try:
        verdict = symmetric_verdict(layer, v, signature, common, restricted)
    except ValueError:
        verdict = None
    return Measured(v, a, va, signature, common, restricted, verdict)


def spectra_of(layer: Layer, numbers: Numbers, tolerance: float) -> tuple[Spectrum, ...]:
    """The evidence for one tolerance."""
    found = [
        _spectrum("V", numbers.v, tolerance * float(numbers.v[0])),
        _spectrum("A", numbers.a, tolerance * numbers.a_scale),
        _spectrum("[V^T|A]", numbers.va, tolerance),
    ]
    if numbers.s is not None and numbers.vs is not None:
        found += [
            _spectrum("sym A", numbers.s, tolerance * numbers.a_scale),
            _spectrum("[V; sym A]", numbers.vs, tolerance),
        ]
    return tuple(found)


def _spectrum(name: str, values: Array, bound: float) -> Spectrum:
    ordered = sorted((abs(float(x)) for x in values), reverse=True)
    rank = sum(1 for x in ordered if x > bound)
    both = 0 < rank < len(ordered) and ordered[rank] > 0
    gap = ordered[rank - 1] / ordered[rank] if both else float("inf")
    return Spectrum(name, tuple(ordered), bound, rank, gap)
