"""The ideal of an equivariant map, degree by degree, at the level of highest-weight vectors.

In degree D and for each dominant weight:
  1. the highest-weight vectors of the polynomial ring (their number is known from characters);
  2. their values at integer points of the image; the exact kernel contains those of the ideal;
  3. those of (coordinates) * I_{D-1}: modulo lowering, that space is spanned by the products of one
     coordinate with a highest-weight vector of I_{D-1}; the contravariant form reads the
     multiplicity off as a rank;
  4. what 2 has beyond 3 is new, and is proved to vanish by exact substitution. If a candidate does
     not vanish, there were too few points and more are taken.
So the multiplicities of I_D and of the new generators are exact over QQ, without exception.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from itertools import pairwise
from math import prod
from random import Random

import numpy as np

from m2bridge.errors import SizeLimitError, VerificationError
from m2bridge.geometry.weights.highest import HighestWeightSpace, Shape, highest_weight_space
from m2bridge.geometry.weights.linear import (
    IntMatrix,
    as_integers,
    exact_nullspace,
    primitive,
    to_flint,
)
from m2bridge.geometry.weights.maps import EquivariantMap
from m2bridge.geometry.weights.partitions import (
    multiplicities,
    schur_dimension,
    strip,
    weight_space_sizes,
)
from m2bridge.geometry.weights.space import Codes, encode, labels, monomials, row_keys, weight_of

__all__ = [
    "Block",
    "Degree",
    "Progress",
    "WeightIdeal",
    "ideal_up_to_degree",
    "next_degree",
    "product_pairings",
    "product_sources",
]

logger = logging.getLogger("m2bridge.geometry.weights")

Progress = Callable[[str, int, int | None], None]
Vectors = Mapping[Shape, IntMatrix]

_EXTRA_POINTS = 6
_ROUNDS = 5
_BOX = 3
_CHUNK = 4


@dataclass(frozen=True)
class Block:
    """What one dominant weight contributes in one degree.

    Attributes:
        shape: the weight, one partition per block.
        ring: multiplicity of the irreducible in the polynomial ring.
        ideal: (n, k) integers; the columns are the highest-weight vectors of the ideal, in the
            monomials ``monomials(degrees, shape)``.
        new: (n, q) integers; those which the ideal of lower degree does not give.
    """

    shape: Shape
    ring: int
    ideal: IntMatrix
    new: IntMatrix


@dataclass(frozen=True)
class Degree:
    """The ideal in one degree: the blocks where it is not zero."""

    degree: int
    blocks: tuple[Block, ...]

    @property
    def new_blocks(self) -> tuple[Block, ...]:
        """The blocks with new generators."""
        return tuple(block for block in self.blocks if block.new.shape[1])


@dataclass(frozen=True)
class WeightIdeal:
    """The ideal of an equivariant map up to a degree, exact over QQ.

    Attributes:
        map: whose image is meant.
        parts: degree -> what the ideal is there, for 1 <= degree <= max_degree.
    """

    map: EquivariantMap
    parts: Mapping[int, Degree] = field(default_factory=dict)

    @property
    def max_degree(self) -> int:
        """The last degree that was computed."""
        return max(self.parts, default=0)

    def dimension(self, degree: int) -> int:
        """dim I_degree."""
        return sum(
            block.ideal.shape[1] * self.irreducible_dimension(block.shape)
            for block in self._part(degree).blocks
        )

    def new_dimension(self, degree: int) -> int:
        """The number of minimal generators of this degree."""
        return sum(
            block.new.shape[1] * self.irreducible_dimension(block.shape)
            for block in self._part(degree).new_blocks
        )

    def irreducible_dimension(self, shape: Shape) -> int:
        """Dimension of the irreducible module with this highest weight."""
        return prod(schur_dimension(p, n) for p, n in zip(shape, self.map.dims, strict=True))

    def _part(self, degree: int) -> Degree:
        if degree == 0:
            return Degree(0, ())
        if degree not in self.parts:
            raise ValueError(f"degree {degree} was not computed (up to {self.max_degree} was)")
        return self.parts[degree]


@dataclass(frozen=True)
class _Task:
    """One block's work, self-contained so that it can travel to another process."""

    map: EquivariantMap
    shape: Shape
    ring: int
    below: tuple[tuple[int, Shape, IntMatrix], ...]


def product_sources(
    degrees: tuple[int, ...], shape: Shape, below: Vectors
) -> tuple[tuple[int, Shape, IntMatrix], ...]:
    """All (coordinate code, weight, vectors) with weight in ``below`` and code * weight = shape."""
    return tuple((code, mu, below[mu]) for code, mu in _sources(degrees, shape, below))


def _sources(degrees: tuple[int, ...], shape: Shape, below: Vectors) -> Iterator[tuple[int, Shape]]:
    dims = tuple(len(p) for p in shape)
    for label in labels(degrees, dims):
        difference = []
        for block, part in zip(weight_of(label, dims), shape, strict=True):
            row = tuple(p - w for p, w in zip(part, block, strict=True))
            if min(row) < 0 or any(x < y for x, y in pairwise(row)):
                break
            difference.append(strip(row))
        else:
            source = tuple(difference)
            if source in below:
                yield encode(label), source


def product_pairings(
    space: HighestWeightSpace, below: tuple[tuple[int, Shape, IntMatrix], ...]
) -> IntMatrix:
    """Pairings of coordinate * (vectors of degree D - 1) with the highest-weight vectors.

    Args:
        space: the highest-weight vectors of degree D, m of them.
        below: (coordinate code, shape, highest-weight vectors of that shape).

    Returns:
        (N, m) integers, one row for each product.
    """
    if not below:
        return np.zeros((0, space.vectors.shape[1]), dtype=object)
    keys = row_keys(space.monomials)
    order = np.argsort(keys)
    weighted = space.vectors.astype(object) * space.norms.astype(object)[:, None]
    out: list[IntMatrix] = []
    for code, shape, vectors in below:
        rows = monomials(space.degrees, shape)
        product: Codes = np.sort(
            np.hstack([rows, np.full((len(rows), 1), code, dtype=np.int32)]), axis=1
        )
        index = order[np.searchsorted(keys[order], row_keys(product))]
        out.append(vectors.T.astype(object) @ weighted[index])
    return np.vstack(out)


def _candidates(space: HighestWeightSpace, map_: EquivariantMap, count: int) -> IntMatrix:
    """Highest-weight vectors that vanish at ``count`` integer points of the image: (n, k)."""
    n, m = space.vectors.shape
    rng = Random(count)
    entries = rng.choices(range(-_BOX, _BOX + 1), k=count * map_.parameters)
    points = np.array(entries).reshape(count, map_.parameters)
    values = map_.evaluate(space.monomials, points)
    kernel = exact_nullspace(to_flint(values) * to_flint(space.vectors))
    if not kernel:
        return np.zeros((n, 0), dtype=np.int64)
    combined = space.vectors.astype(object) @ as_integers(kernel, (len(kernel), m)).T.astype(object)
    short = to_flint(combined.T).lll()
    rows = [primitive([int(short[i, j]) for j in range(n)]) for i in range(len(kernel))]
    rows.sort(key=lambda row: (sum(1 for x in row if x), sum(map(abs, row)), row))
    return as_integers(rows, (len(rows), n)).T


def _extend(old: IntMatrix, pairings: IntMatrix, wanted: int) -> list[int]:
    """Which candidates extend the old ones to a space of dimension ``wanted``, chosen greedily."""
    chosen: list[int] = []
    current = old
    rank = to_flint(current).rank() if len(current) else 0
    for i, row in enumerate(pairings):
        if rank == wanted:
            break
        longer = np.vstack([current, row[None, :]])
        if to_flint(longer).rank() > rank:
            chosen.append(i)
            current = longer
            rank += 1
    return chosen


def as_polynomial(
    map_: EquivariantMap, rows: Codes, vector: IntMatrix
) -> dict[tuple[int, ...], int]:
    """A vector in monomials (rows of codes) as sorted coordinate positions -> coefficient."""
    index = map_.index_of_code
    return {
        tuple(index[int(code)] for code in row): int(c)
        for row, c in zip(rows, vector, strict=True)
        if c
    }


def _solve(task: _Task) -> Block:
    """The ideal in one weight; see the head of this module."""
    space = highest_weight_space(task.map.degrees, task.shape)
    if space.vectors.shape[1] != task.ring:
        raise VerificationError(
            f"{task.ring} highest-weight vectors of weight {task.shape} were due, "
            f"{space.vectors.shape[1]} found"
        )
    old = product_pairings(space, task.below)
    old_rank = int(to_flint(old).rank()) if len(old) else 0
    weighted = space.vectors.astype(object) * space.norms.astype(object)[:, None]
    nothing = np.zeros((len(space.monomials), 0), dtype=np.int64)
    count = task.ring + _EXTRA_POINTS
    for _ in range(_ROUNDS):
        found = _candidates(space, task.map, count)
        if found.shape[1] == old_rank:
            # Spanned by products of what was proved in lower degree.
            return Block(task.shape, task.ring, found, nothing)
        pairings = found.T.astype(object) @ weighted
        chosen = _extend(old, pairings, found.shape[1])
        new = found[:, chosen]
        if all(
            task.map.vanishes(as_polynomial(task.map, space.monomials, column)) for column in new.T
        ):
            return Block(task.shape, task.ring, found, new)
        count *= 4
    raise VerificationError(
        f"{task.map.name}: candidates of weight {task.shape} vanish at {count // 4} points "
        "of the image but not identically"
    )


def _tasks(map_: EquivariantMap, degree: int, below: Vectors, limit: int) -> list[_Task]:
    """All weights of a degree; refused at once when one of them is too large."""
    sizes = weight_space_sizes(map_.degrees, degree, map_.dims)
    shape = max(sizes, key=lambda s: sizes[s])
    if sizes[shape] > limit:
        raise SizeLimitError(
            f"{map_.name}, degree {degree}: the weight space {shape} has {sizes[shape]} monomials, "
            f"more than the limit of {limit}; raise it with max_weight_space"
        )
    out = []
    for shape, ring in multiplicities(map_.degrees, degree, map_.dims).items():
        sources = product_sources(map_.degrees, shape, below)
        out.append(_Task(map_, shape, ring, sources))
    return out


def _run(
    tasks: list[_Task], executor: Executor | None, report: Callable[[int], None]
) -> list[Block]:
    """Solve all tasks, here or by an executor; on any exception the rest is cancelled."""
    out: list[Block] = []
    if executor is None:
        for task in tasks:
            out.append(_solve(task))
            report(len(out))
        return out
    futures = [executor.submit(_solve, task) for task in tasks]
    try:
        for future in futures:
            out.append(future.result())
            report(len(out))
    except BaseException:
        for future in futures:
            future.cancel()
        raise
    return out


def next_degree(
    ideal: WeightIdeal,
    *,
    max_weight_space: int = 20_000,
    executor: Executor | None = None,
    progress: Progress | None = None,
    deadline: float | None = None,
) -> WeightIdeal:
    """The same ideal, one degree further.

    Raises:
        SizeLimitError: a weight space has more than ``max_weight_space`` monomials.
        TimeoutError: ``deadline`` (a value of ``time.monotonic``) passed.
        VerificationError: a computed vector does not hold (a bug or a map that is not equivariant).
    """
    degree = ideal.max_degree + 1
    previous = ideal.parts.get(degree - 1)
    below = {block.shape: block.ideal for block in previous.blocks} if previous else {}
    tasks = _tasks(ideal.map, degree, below, max_weight_space)
    stage = f"degree {degree}"

    def report(done: int) -> None:
        if progress is not None:
            progress(stage, done, len(tasks))
        if deadline is not None and time.monotonic() > deadline:
            raise TimeoutError(f"the time limit passed in {stage}, weight {done} of {len(tasks)}")

    blocks = _run(tasks, executor, report)
    part = Degree(degree, tuple(block for block in blocks if block.ideal.shape[1]))
    logger.debug("%s, %s: %d weights", ideal.map.name, stage, len(tasks))
    return WeightIdeal(ideal.map, {**ideal.parts, degree: part})


def ideal_up_to_degree(
    map_: EquivariantMap,
    max_degree: int,
    *,
    max_weight_space: int = 20_000,
    executor: Executor | None = None,
    progress: Progress | None = None,
    deadline: float | None = None,
) -> WeightIdeal:
    """The ideal of the image of an equivariant map up to a degree, exact over QQ.

    Args:
        map_: the map; its image must be stable under the product of the general linear groups.
        max_degree: the last degree.
        max_weight_space: refuse weight spaces with more monomials than that.
        executor: where the weights are solved; None is this process.
        progress: called with (stage, done, total).
        deadline: a value of ``time.monotonic`` after which to stop.

    Raises:
        SizeLimitError, TimeoutError, VerificationError: see :func:`next_degree`.
    """
    ideal = WeightIdeal(map_)
    for _ in range(max_degree):
        ideal = next_degree(
            ideal,
            max_weight_space=max_weight_space,
            executor=executor,
            progress=progress,
            deadline=deadline,
        )
    return ideal
