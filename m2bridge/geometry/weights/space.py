"""The coordinate space S^{k_1} V_1 (x) S^{k_2} V_2 (x) ... with its torus and raising operators.

One layer with t >= 2 lives in U (x) S^2 W (x) Z, degrees (1, 2, 1); with t = 1 in U (x) S^3 W,
degrees (1, 3). A coordinate is one sorted index tuple per block. Inside the computation it is an
integer *code*, whose digits are the indices: the same coordinate has the same code in a small
space and in a large one, so highest-weight vectors can be shared between models. The order of the
codes is the order of the layer's coordinates.

A monomial of degree D is an increasing row of D codes. The raising operator of block b and index k
replaces k+1 by k in the weights V and A; on coefficients of forms in x it reads
E T_mu = (mu_k + 1) T_(mu - e_{k+1} + e_k), mu the exponent of x (derived in docs/theory).
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations_with_replacement, product
from math import factorial
from typing import Any

import numpy as np
import numpy.typing as npt

from m2bridge.errors import SizeLimitError

__all__ = [
    "BASE",
    "Codes",
    "Label",
    "Weight",
    "decode",
    "encode",
    "labels",
    "monomials",
    "norm",
    "numbered",
    "raised",
    "row_keys",
    "weight_of",
]

BASE = 16
"""Digits of a code; every block must have dimension at most BASE."""

Codes = npt.NDArray[np.int32]
Label = tuple[tuple[int, ...], ...]
Weight = tuple[tuple[int, ...], ...]


def encode(label: Label) -> int:
    """The integer code of a coordinate label."""
    code = 0
    for block in label:
        for index in block:
            code = code * BASE + index
    return code


def decode(code: int, degrees: tuple[int, ...]) -> Label:
    """The label with this code."""
    digits = []
    for _ in range(sum(degrees)):
        digits.append(code % BASE)
        code //= BASE
    digits.reverse()
    out = []
    start = 0
    for k in degrees:
        out.append(tuple(digits[start : start + k]))
        start += k
    return tuple(out)


@lru_cache(maxsize=256)
def labels(degrees: tuple[int, ...], dims: tuple[int, ...]) -> tuple[Label, ...]:
    """All coordinate labels, in the order of their codes.

    Raises:
        SizeLimitError: a block is larger than ``BASE``.
    """
    if max(dims) > BASE:
        raise SizeLimitError(f"the weights method handles dimensions up to {BASE}, not {max(dims)}")
    blocks = [
        list(combinations_with_replacement(range(n), k)) for k, n in zip(degrees, dims, strict=True)
    ]
    return tuple(product(*blocks))


def weight_of(label: Label, dims: tuple[int, ...]) -> Weight:
    """The torus weight of a coordinate: how often each index occurs in each block."""
    return tuple(
        tuple(block.count(i) for i in range(n)) for block, n in zip(label, dims, strict=True)
    )


def norm(label: Label) -> int:
    """The square norm of a coordinate in the form that makes lowering adjoint to raising."""
    value = 1
    for block in label:
        value *= factorial(len(block))
        for index in set(block):
            value //= factorial(block.count(index))
    return value


def raised(label: Label, block: int, k: int, step: int = -1) -> tuple[int, Label] | None:
    """Apply a raising (step -1: index k+1 becomes k) or lowering (step +1: k becomes k+1) operator.

    Returns:
        (coefficient, label), or None when the result is zero.
    """
    source, goal = (k + 1, k) if step < 0 else (k, k + 1)
    indices = label[block]
    if source not in indices:
        return None
    changed = list(indices)
    changed[changed.index(source)] = goal
    changed.sort()
    new = tuple(changed)
    return indices.count(goal) + 1, (*label[:block], new, *label[block + 1 :])


_Sparse = tuple[tuple[int, int], ...]


@lru_cache(maxsize=4096)
def _coordinates(
    degrees: tuple[int, ...], dims: tuple[int, ...]
) -> tuple[tuple[tuple[int, _Sparse], ...], ...]:
    """By first index: code and sparse flat weight (position, exponent) of the coordinates."""
    out: list[list[tuple[int, _Sparse]]] = [[] for _ in range(dims[0])]
    for label in labels(degrees, dims):
        flat = [e for row in weight_of(label, dims) for e in row]
        sparse = tuple((i, e) for i, e in enumerate(flat) if e)
        out[label[0][0]].append((encode(label), sparse))
    return tuple(tuple(part) for part in out)


def monomials(degrees: tuple[int, ...], weight: Weight) -> Codes:
    """All monomials of one weight: (n, D) increasing codes, the rows in lexicographic order."""
    dims = tuple(len(block) for block in weight)
    flat = tuple(e for block in weight for e in block)
    degree = sum(weight[0]) // degrees[0]
    if degree == 0:
        return np.zeros((1, 0), dtype=np.int32)
    return _flat_monomials(degrees, dims, flat, degree)


@lru_cache(maxsize=20_000)
def _flat_monomials(
    degrees: tuple[int, ...],
    dims: tuple[int, ...],
    weight: tuple[int, ...],
    degree: int,
) -> Codes:
    """The same for a flat weight. The first code of a row has the smallest first index of all."""
    first = next(i for i, e in enumerate(weight) if e)
    parts: list[Codes] = []
    for code, sparse in _coordinates(degrees, dims)[first]:
        if any(weight[i] < e for i, e in sparse):
            continue
        if degree == 1:
            # Of degree one, only this coordinate has the weight.
            return np.array([[code]], dtype=np.int32)
        remaining = list(weight)
        for i, e in sparse:
            remaining[i] -= e
        rest = _flat_monomials(degrees, dims, tuple(remaining), degree - 1)
        rest = rest[np.searchsorted(rest[:, 0], code) :]
        if not len(rest):
            continue
        part = np.empty((len(rest), degree), dtype=np.int32)
        part[:, 0] = code
        part[:, 1:] = rest
        parts.append(part)
    if not parts:
        return np.zeros((0, degree), dtype=np.int32)
    return np.concatenate(parts)


def row_keys(rows: Codes) -> npt.NDArray[Any]:
    """One comparable key per row (equal rows, equal keys), for look-ups and ``numpy.unique``."""
    rows = np.ascontiguousarray(rows.astype(">i4"))
    if rows.shape[1] == 0:
        return np.zeros(len(rows), dtype="V4")
    return rows.view(np.dtype((np.void, 4 * rows.shape[1]))).ravel()


def numbered(keys: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int64], int]:
    """Number equal keys equally, 0, 1, ...: (the number of each key, how many there are)."""
    order = np.argsort(keys)
    ordered = keys[order]
    new = np.ones(len(keys), dtype=np.int64)
    new[1:] = ordered[1:] != ordered[:-1]
    numbers = np.cumsum(new) - 1
    out = np.empty(len(keys), dtype=np.int64)
    out[order] = numbers
    return out, int(new.sum())
