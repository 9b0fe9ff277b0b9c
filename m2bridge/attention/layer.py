"""One layer of lightning self-attention: coefficient coordinates and the parametrization."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import sympy

from m2bridge.attention.coordinates import (
    Coordinate,
    FullCoordinate,
    SparseIntegerMatrix,
    cubic_coordinates,
    full_coordinates,
    full_from_reduced,
    last_factors,
    reduced_coordinates,
)
from m2bridge.attention.expansion import Parametrization
from m2bridge.attention.network import Network
from m2bridge.attention.scalars import positive_int
from m2bridge.attention.weights import NetworkWeights, Weights
from m2bridge.display import facts_html

__all__ = ["Layer"]


class Layer(Network):
    """phi(X) = V X X^T A X with A = K^T Q: one layer, one head (arXiv 2408.17221, section 2).

    Args:
        d: rows of X; columns of Q, K and V.
        d_out: rows of V.
        a: rows of Q and K. a > d is allowed: A then has rank at most d, see `alpha` and `notes`.
        t: the number of tokens (columns of X).

    Raises:
        TypeError: for a size that is no integer (bool and float are refused).
        ValueError: for a size below 1.
    """

    def __init__(self, d: int, d_out: int, a: int, t: int = 2) -> None:
        sizes = {"d": d, "d_out": d_out, "a": a, "t": t}
        checked = {name: positive_int(name, value) for name, value in sizes.items()}
        Network.__init__(self, (checked["d"], checked["d_out"]), (checked["a"],), checked["t"])

    def __repr__(self) -> str:
        return f"{type(self).__name__}(d={self.d}, d_out={self.d_out}, a={self.a}, t={self.t})"

    @property
    def _shapes(self) -> list[str]:
        return [
            rf"X \in \mathbb{{R}}^{{{self.d} \times {self.t}}}",
            rf"Q, K \in \mathbb{{R}}^{{{self.a} \times {self.d}}}",
            rf"V \in \mathbb{{R}}^{{{self.d_out} \times {self.d}}}",
        ]

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [
            ("function", "V X Xᵀ A X with A = Kᵀ Q"),
            ("X", f"{self.d} × {self.t}, tokens are columns"),
            ("Q, K", f"{self.a} × {self.d}"),
            ("V", f"{self.d_out} × {self.d}"),
            ("parameters", self.parameters),
            ("coefficients", self.ambient_dimension),
        ]
        return facts_html(repr(self), rows + [("remark", note) for note in self.notes])

    @property
    def d(self) -> int:
        """The input width."""
        return self.dims[0]

    @property
    def d_out(self) -> int:
        """The output width."""
        return self.dims[1]

    @property
    def a(self) -> int:
        """The attention dimension: rows of Q and K."""
        return self.ranks[0]

    @property
    def alpha(self) -> int:
        """The largest rank of A = K^T Q: min(a, d)."""
        return min(self.a, self.d)

    # Weights

    def weights(self, Q: object, K: object, V: object) -> Weights:
        """Check the weights: Q and K are a x d, V is d_out x d.

        Integers and rationals (Python, sympy, numpy, flint) stay exact; a floating-point entry
        makes its matrix numerical.

        Raises:
            TypeError: for entries that are no numbers.
            ValueError: for a wrong shape, NaN or an infinity.
        """
        return self._head_weights(0, 0, Q, K, V)

    def evaluate(
        self,
        X: Any,
        weights: Any = None,
        *,
        Q: object = None,
        K: object = None,
        V: object = None,
    ) -> Any:
        """Compute phi(X), d_out x t; as `Network.evaluate`, with the weights given by name too.

        Raises:
            TypeError: when neither ``weights`` nor all of Q, K, V are given, or both.
            ValueError: for wrong shapes, NaN or infinities.
        """
        return super().evaluate(X, self._one_head(weights, Q, K, V))

    def _one_head(self, weights: Any, Q: object, K: object, V: object) -> NetworkWeights:
        named = [value is not None for value in (Q, K, V)]
        if weights is None and all(named):
            return NetworkWeights(((self.weights(Q, K, V),),))
        if weights is None or any(named):
            raise TypeError("give either weights or all of Q=, K= and V=")
        if isinstance(weights, NetworkWeights):
            return weights
        return self.network_weights([weights])

    # Coordinates

    @cached_property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """The coordinates of the space of functions.

        For t >= 2 the reduced T_{i;pq;r}: i-major, then (p, q) with p <= q, then r. For t = 1 the
        coefficients of the cubics (V x)_i (x^T A x): i-major, then p <= q <= r.
        """
        make = cubic_coordinates if self.t == 1 else reduced_coordinates
        return make(self.d, self.d_out)

    @property
    def ambient_dimension(self) -> int:
        """The number of coordinates."""
        d = self.d
        per_output = d * (d + 1) * (d + 2) // 6 if self.t == 1 else d * d * (d + 1) // 2
        return self.d_out * per_output

    @cached_property
    def symbols(self) -> tuple[sympy.Symbol, ...]:
        """The coordinates as plain sympy symbols."""
        return tuple(sympy.Symbol(c.name) for c in self.coordinates)

    def image(self, V: Any, A: Any) -> list[Any]:
        """The coordinates of the function with these V (d_out x d) and A (d x d).

        Works in any commutative ring: only ``+`` and ``*`` of the entries are used. For t >= 2,
        T_{i;pq;r} = V_ip A_qr + V_iq A_pr for p < q and V_ip A_pr for p = q.

        Args:
            V, A: nested sequences, or anything indexed by ``[row][column]``.
        """
        if self.t == 1:
            return [self._cubic(V, A, c) for c in self.coordinates]
        values = []
        for c in self.coordinates:
            (p, q), row = c.pair, V[c.output]
            value = row[p] * A[q][c.column]
            values.append(value if p == q else value + row[q] * A[p][c.column])
        return values

    def _cubic(self, V: Any, A: Any, coordinate: Coordinate) -> Any:
        """The coefficient of x_p x_q x_r in (V x)_i (x^T A x)."""
        row = V[coordinate.output]
        terms = []
        for (p, q), first in last_factors((*coordinate.pair, coordinate.column)):
            terms.append(row[first] * A[p][q])
            if p != q:
                terms.append(row[first] * A[q][p])
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total

    def coefficients(
        self,
        weights: Weights | None = None,
        *,
        Q: object = None,
        K: object = None,
        V: object = None,
    ) -> list[Any]:
        """The coordinates of the function that these weights compute, exact for exact weights.

        Raises:
            TypeError: when neither ``weights`` nor all of Q, K, V are given, or both.
            ValueError: for wrong shapes, NaN or infinities.
        """
        head = self._one_head(weights, Q, K, V).layers[0][0]
        head = self.weights(head.Q, head.K, head.V)
        values = self.image(head.V.tolist(), head.A.tolist())
        return [sympy.expand(x) if isinstance(x, sympy.Expr) else x for x in values]

    @cached_property
    def full_coordinates(self) -> tuple[FullCoordinate, ...]:
        """Every coefficient of phi(X) that is not identically zero: by output (i, j), monomial."""
        return full_coordinates(self.d, self.d_out, self.t)

    @cached_property
    def full_from_reduced(self) -> SparseIntegerMatrix:
        """The exact 0/1 matrix L with full = L * reduced (t = 1: the identity)."""
        return full_from_reduced(self.d, self.d_out, self.t)

    @cached_property
    def full_relations(self) -> SparseIntegerMatrix:
        """A basis of the linear relations among the full coordinates.

        Each reduced coordinate equals some full coordinate; the first such one represents it, and
        every other full coordinate gives one relation: itself minus its expression in those.
        """
        rows = self.full_from_reduced.entries
        first: dict[int, int] = {}
        for k, row in enumerate(rows):
            if len(row) == 1 and row[0][0] not in first:
                first[row[0][0]] = k
        chosen = set(first.values())
        relations = []
        for k, row in enumerate(rows):
            if k in chosen:
                continue
            terms = {k: 1}
            for column, entry in row:
                terms[first[column]] = terms.get(first[column], 0) - entry
            relations.append(tuple(sorted(terms.items())))
        return SparseIntegerMatrix(len(rows), tuple(relations))

    # Parametrization

    def parametrization(self) -> Parametrization:
        """Each (reduced) coordinate as an integer polynomial in the entries of Q, K and V."""
        Q, K, V = self._symbolic_weights()
        A = K.T * Q
        values = self.image(V.tolist(), A.tolist())
        return self._as_polynomials([c.name for c in self.coordinates], values)

    def full_parametrization(self) -> Parametrization:
        """The full coordinates as polynomials in the weights, read off phi(X) itself.

        The network is run on a matrix of variables and its coefficients are collected, so this
        does not rest on the reduced coordinates.

        Raises:
            SizeLimitError: for layers whose outputs could have more than 200000 coefficients.
        """
        return self.expand()[1]

    def _symbolic_weights(self) -> tuple[sympy.Matrix, sympy.Matrix, sympy.Matrix]:
        symbols: Sequence[sympy.Symbol] = self.weight_symbols
        cut = np.cumsum([0, *(rows * columns for rows, columns in self.head_shapes(0))])
        Q, K, V = (
            sympy.Matrix(rows, columns, symbols[cut[i] : cut[i + 1]])
            for i, (rows, columns) in enumerate(self.head_shapes(0))
        )
        return Q, K, V

    def _as_polynomials(self, names: Sequence[str], values: Sequence[Any]) -> Parametrization:
        symbols = self.weight_symbols
        polynomials = tuple(sympy.Poly(x, *symbols, domain=sympy.ZZ) for x in values)
        return Parametrization(symbols, tuple(names), polynomials)
