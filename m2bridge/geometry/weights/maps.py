"""Equivariant polynomial maps into S^{k_1} V_1 (x) S^{k_2} V_2 (x) ..., with integer coefficients.

Equivariant means: the Zariski closure of the image is stable under GL(V_1) x GL(V_2) x ...
The weights method needs nothing else, so closures of strata go through the same code as the models.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import Ordering, fmpz_mpoly_ctx

from m2bridge.geometry.weights.linear import IntMatrix
from m2bridge.geometry.weights.space import Codes, Label, encode, labels

if TYPE_CHECKING:
    from m2bridge.attention.layer import Layer

__all__ = [
    "EquivariantMap",
    "IntegerPolynomial",
    "attention_map",
    "bilinear_map",
    "layer_map",
    "stratum_map",
]

IntegerPolynomial = Mapping[tuple[int, ...], int]
"""Sorted tuple of variable numbers (with repetition) -> integer coefficient."""

_INT64_SAFE = 2.0**60


@dataclass(frozen=True)
class EquivariantMap:
    """A polynomial map into a tensor product of symmetric powers.

    Attributes:
        degrees: the symmetric powers (k_1, k_2, ...): (1, 2, 1) for t >= 2, (1, 3) for t = 1.
        dims: dimensions of the blocks: (d_out, d, d), or (d_out, d).
        parameters: the number of parameters.
        components: for each coordinate, in the order of ``labels(degrees, dims)``, its terms
            (coefficient, parameter numbers).
        name: how messages call it.
    """

    degrees: tuple[int, ...]
    dims: tuple[int, ...]
    parameters: int
    components: tuple[tuple[tuple[int, tuple[int, ...]], ...], ...]
    name: str = "map"

    def __post_init__(self) -> None:
        if len(self.components) != len(self.labels):
            raise ValueError(
                f"{self.name}: {len(self.labels)} coordinates need as many components, "
                f"not {len(self.components)}"
            )

    @property
    def labels(self) -> tuple[Label, ...]:
        """The coordinates, in order."""
        return labels(self.degrees, self.dims)

    @cached_property
    def index_of_code(self) -> dict[int, int]:
        """Coordinate code -> position among the coordinates."""
        return {encode(label): i for i, label in enumerate(self.labels)}

    def values(self, points: IntMatrix, wanted: Sequence[int] | None = None) -> IntMatrix:
        """Coordinates of the images of integer parameter points: (N, P) -> (N, coordinates).

        Args:
            points: the parameters.
            wanted: which coordinates; None is all, in order.
        """
        points = points.astype(object)
        positions = range(len(self.components)) if wanted is None else wanted
        out: IntMatrix = np.zeros((len(points), len(positions)), dtype=object)
        for i, position in enumerate(positions):
            for c, parameters in self.components[position]:
                value: Any = c
                for p in parameters:
                    value = value * points[:, p]
                out[:, i] += value
        return out

    def evaluate(self, rows: Codes, points: IntMatrix) -> IntMatrix:
        """Exact values of monomials (rows of codes) at images of parameter points: (N, rows)."""
        codes = sorted(set(rows.ravel().tolist()))
        values = self.values(points, [self.index_of_code[code] for code in codes])
        largest = max((abs(int(x)) for x in values.ravel()), default=0)
        if float(largest) ** rows.shape[1] < _INT64_SAFE:
            values = values.astype(np.int64)
        table = np.full(int(rows.max(initial=0)) + 1, -1, dtype=np.int64)
        table[codes] = np.arange(len(codes))
        out: IntMatrix = np.ones((len(points), len(rows)), dtype=values.dtype)
        for position in range(rows.shape[1]):
            out = out * values[:, table[rows[:, position]]]
        return out

    def vanishes(self, polynomial: IntegerPolynomial) -> bool:
        """Whether a polynomial in the coordinates vanishes identically on the image.

        Exact: the components are substituted and the result is expanded over the integers.

        Args:
            polynomial: sorted coordinate positions -> coefficient.
        """
        used = sorted({v for monomial in polynomial for v in monomial})
        if not used:
            return not any(polynomial.values())
        place = {v: i for i, v in enumerate(used)}
        source = fmpz_mpoly_ctx.get([f"y{i}" for i in range(len(used))], Ordering.degrevlex)
        target = fmpz_mpoly_ctx.get([f"w{i}" for i in range(self.parameters)], Ordering.degrevlex)
        data: dict[tuple[int, ...], int] = {}
        for monomial, c in polynomial.items():
            exponents = [0] * len(used)
            for v in monomial:
                exponents[place[v]] += 1
            key = tuple(exponents)
            data[key] = data.get(key, 0) + int(c)
        images = [target.from_dict(self._exponents(v)) for v in used]
        return bool(source.from_dict(data).compose(*images, ctx=target) == 0)

    def _exponents(self, coordinate: int) -> dict[tuple[int, ...], int]:
        """A component as exponent tuple -> coefficient."""
        out: dict[tuple[int, ...], int] = {}
        for c, parameters in self.components[coordinate]:
            exponents = [0] * self.parameters
            for p in parameters:
                exponents[p] += 1
            key = tuple(exponents)
            out[key] = out.get(key, 0) + c
        return out


Linear = tuple[tuple[int, tuple[int, ...]], ...]
"""A polynomial in the parameters, as terms (coefficient, parameter numbers)."""


def _product(a: Linear, b: Linear) -> list[tuple[int, tuple[int, ...]]]:
    return [(c * e, tuple(sorted(p + q))) for c, p in a for e, q in b]


def _collect(terms: Iterable[tuple[int, tuple[int, ...]]]) -> Linear:
    out: dict[tuple[int, ...], int] = {}
    for c, p in terms:
        out[p] = out.get(p, 0) + c
    return tuple((c, p) for p, c in sorted(out.items()) if c)


def bilinear_map(
    V: list[list[Linear]], A: list[list[Linear]], t: int, parameters: int, name: str
) -> EquivariantMap:
    """The coordinates of V X X^T A X, for V and A given as polynomials in some parameters.

    Args:
        V: d_out x d entries.
        A: d x d entries.
        t: number of tokens; only whether it is 1 matters.
        parameters: the number of parameters.
        name: how messages call the map.
    """
    d_out, d = len(V), len(V[0])
    if t == 1:
        degrees, dims = (1, 3), (d_out, d)
        components = tuple(_cubic(V, A, i, mu) for (i,), mu in labels(degrees, dims))
        return EquivariantMap(degrees, dims, parameters, components, name)
    reduced: list[Linear] = []
    for (i,), (p, q), (r,) in labels((1, 2, 1), (d_out, d, d)):
        terms = _product(V[i][p], A[q][r])
        if p < q:
            terms += _product(V[i][q], A[p][r])
        reduced.append(_collect(terms))
    return EquivariantMap((1, 2, 1), (d_out, d, d), parameters, tuple(reduced), name)


def _cubic(V: list[list[Linear]], A: list[list[Linear]], i: int, mu: tuple[int, ...]) -> Linear:
    """Coefficient of x^mu in (V x)_i (x^T A x)."""
    terms: list[tuple[int, tuple[int, ...]]] = []
    for arrangement in {
        (mu[a], mu[b], mu[3 - a - b]) for a in range(3) for b in range(3) if a != b
    }:
        terms += _product(V[i][arrangement[0]], A[arrangement[1]][arrangement[2]])
    return _collect(terms)


def _variables(rows: int, columns: int, start: int) -> list[list[Linear]]:
    return [[((1, (start + i * columns + j,)),) for j in range(columns)] for i in range(rows)]


def _matrix_product(a: list[list[Linear]], b: list[list[Linear]]) -> list[list[Linear]]:
    """Entries of a b."""
    return [
        [
            _collect(x for k in range(len(b)) for x in _product(row[k], b[k][j]))
            for j in range(len(b[0]))
        ]
        for row in a
    ]


@lru_cache(maxsize=128)
def attention_map(d: int, d_out: int, a: int, t: int = 2) -> EquivariantMap:
    """The parametrization of one lightning layer, V (d_out x d) and A = K^T Q (d x d).

    For a >= d the entries of A themselves are the parameters.
    """
    V = _variables(d_out, d, 0)
    start = d_out * d
    if a >= d:
        A = _variables(d, d, start)
        count = start + d * d
    else:
        A = _matrix_product(_variables(d, a, start), _variables(a, d, start + d * a))
        count = start + 2 * d * a
    return bilinear_map(V, A, t, count, f"layer (d={d}, d_out={d_out}, a={a}, t={t})")


def layer_map(layer: Layer) -> EquivariantMap:
    """The parametrization of a layer: see :func:`attention_map`."""
    return attention_map(layer.d, layer.d_out, layer.alpha, layer.t)


@lru_cache(maxsize=128)
def stratum_map(
    d: int, d_out: int, rank_v: int, rank_a: int, rank_va: int, t: int = 2
) -> EquivariantMap:
    """Parametrization of the closure of the stratum of given ranks (see docs/theory, theorem 1).

    V^T = L[:, :rank_v] P and A = L[:, rank_va - rank_a:] S with L of size d x rank_va.

    Raises:
        ValueError: no weights have these ranks.
    """
    if not (
        max(rank_v, rank_a) <= rank_va <= min(d, rank_v + rank_a)
        and 0 <= rank_v <= d_out
        and rank_a >= 0
    ):
        raise ValueError(
            f"no V ({d_out} x {d}) and A ({d} x {d}) have ranks "
            f"{(rank_v, rank_a, rank_va)} of V, A and [V^T A]"
        )
    L = _variables(d, rank_va, 0)
    start = d * rank_va
    P = _variables(rank_v, d_out, start)
    S = _variables(rank_a, d, start + rank_v * d_out)
    zero: Linear = ()
    V = [[zero] * d for _ in range(d_out)]
    A = [[zero] * d for _ in range(d)]
    if rank_v:
        V = _transpose(_matrix_product([row[:rank_v] for row in L], P))
    if rank_a:
        A = _matrix_product([row[rank_va - rank_a :] for row in L], S)
    count = start + rank_v * d_out + rank_a * d
    name = f"stratum {(rank_v, rank_a, rank_va)} of (d={d}, d_out={d_out}, t={t})"
    return bilinear_map(V, A, t, count, name)


def _transpose(matrix: list[list[Linear]]) -> list[list[Linear]]:
    return [list(column) for column in zip(*matrix, strict=True)]
