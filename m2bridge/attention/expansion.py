"""Reading coefficients off phi(X): the network is run once on a matrix of variables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from math import comb
from typing import TYPE_CHECKING, Any

import sympy
from sympy.polys.rings import PolyElement, ring

from m2bridge.attention.coordinates import FullCoordinate, Monomial, monomial_name
from m2bridge.display import brief, latex_lines, polynomials_html, table_html
from m2bridge.errors import SizeLimitError

if TYPE_CHECKING:
    from m2bridge.attention.network import Network

__all__ = ["Parametrization", "expand_network", "head_symbols"]

_MOST_LINES = 20  # of formulas in a notebook


@dataclass(frozen=True)
class Parametrization:
    """A polynomial map: one integer polynomial in the parameters for each coordinate.

    Attributes:
        parameters: the weights as symbols, in the order of ``to_vector``.
        names: the coordinates' names.
        polynomials: sympy ``Poly`` over ZZ in exactly ``parameters``, one per coordinate.
    """

    parameters: tuple[sympy.Symbol, ...]
    names: tuple[str, ...]
    polynomials: tuple[sympy.Poly, ...]

    __repr__ = brief

    @property
    def symbols(self) -> tuple[sympy.Symbol, ...]:
        """The coordinates as plain symbols."""
        return tuple(sympy.Symbol(name) for name in self.names)

    def _repr_html_(self) -> str:
        title = f"{len(self.names)} coordinates as polynomials in {len(self.parameters)} weights"
        pairs = zip(self.names, self.polynomials, strict=True)
        return table_html(
            ("coordinate", "polynomial over the integers"),
            [(name, polynomials_html([polynomial])) for name, polynomial in pairs],
            title,
        )

    def _repr_latex_(self) -> str:
        shown = list(zip(self.symbols, self.polynomials, strict=True))[:_MOST_LINES]
        lines = [f"{sympy.latex(s)} = {sympy.latex(f.as_expr())}" for s, f in shown]
        more = len(self.names) - len(shown)
        return latex_lines(lines + ([rf"\text{{and {more} more}}"] if more else []))


def head_symbols(network: Network) -> tuple[sympy.Symbol, ...]:
    """Symbols for all weights, in the order of ``to_vector``.

    One layer with one head has Q_k_r, K_k_q, V_i_p; otherwise the layer and the head come first,
    as in Q1h0_k_r.
    """
    single = network.depth == 1 and network.heads == 1
    names = []
    for layer in range(network.depth):
        for head in range(network.heads):
            tag = "" if single else f"{layer}h{head}"
            for letter, (rows, columns) in zip("QKV", network.head_shapes(layer), strict=True):
                names += [f"{letter}{tag}_{i}_{j}" for i in range(rows) for j in range(columns)]
    return tuple(sympy.Symbol(name) for name in names)


def expand_network(
    network: Network, limit: int = 200_000
) -> tuple[tuple[FullCoordinate, ...], Parametrization]:
    """Expand a lightning network and collect the coefficient of each monomial of X.

    Args:
        network: any lightning network; skip connections and heads included.
        limit: the largest number of coefficients that may have to be held.

    Returns:
        The full coordinates that occur, ordered by output (i, j) and then monomial, and the map.

    Raises:
        ValueError: for softmax attention, which is not polynomial.
        SizeLimitError: when a network of this shape could have more coefficients than ``limit``.
    """
    if network.attention != "lightning":
        raise ValueError("only lightning attention is polynomial in its input")
    d, t = network.dims[0], network.t
    size = comb(d * t + 3**network.depth - 1, 3**network.depth) * network.dims[-1] * t
    if size > limit:
        raise SizeLimitError(
            f"the outputs are forms of degree {3**network.depth} in {d * t} variables with up to "
            f"{size} coefficients, over the limit of {limit}; raise it with limit="
        )
    symbols = head_symbols(network)
    weight_ring, *weights = ring(symbols, sympy.ZZ)
    input_ring, *inputs = ring([f"X_{p}_{n}" for p in range(d) for n in range(t)], weight_ring)
    value = [[inputs[p * t + n] for n in range(t)] for p in range(d)]
    supply = count()
    for layer in range(network.depth):
        update: list[list[Any]] | None = None
        for _ in range(network.heads):
            Q, K, V = (
                [[input_ring(weights[next(supply)]) for _ in range(columns)] for _ in range(rows)]
                for rows, columns in network.head_shapes(layer)
            )
            scores = _matmul(_transpose(_matmul(K, value)), _matmul(Q, value))
            term = _matmul(_matmul(V, value), scores)
            update = term if update is None else _add(update, term)
        assert update is not None
        value = _add(value, update) if network.skip else update
    found = list(_coefficients(value, d, t))
    coordinates = tuple(coordinate for coordinate, _ in found)
    names = tuple(coordinate.name for coordinate in coordinates)
    polynomials = tuple(sympy.Poly.from_dict(dict(c), *symbols, domain=sympy.ZZ) for _, c in found)
    return coordinates, Parametrization(symbols, names, polynomials)


def _coefficients(
    value: list[list[PolyElement]], d: int, t: int
) -> Iterator[tuple[FullCoordinate, PolyElement]]:
    for i, row in enumerate(value):
        for j, entry in enumerate(row):
            terms: dict[Monomial, PolyElement] = {}
            for exponents, coefficient in entry.terms():
                monomial = tuple((k // t, k % t) for k, e in enumerate(exponents) for _ in range(e))
                terms[monomial] = coefficient
            for monomial in sorted(terms):
                name = f"F_{i}_{j}__{monomial_name(d, t, monomial)}"
                yield FullCoordinate(name, (i, j), monomial), terms[monomial]


def _transpose(matrix: list[list[Any]]) -> list[list[Any]]:
    return [list(column) for column in zip(*matrix, strict=True)]


def _matmul(left: list[list[Any]], right: list[list[Any]]) -> list[list[Any]]:
    columns = _transpose(right)
    return [
        [sum((x * y for x, y in zip(row, column, strict=True)), 0 * row[0]) for column in columns]
        for row in left
    ]


def _add(left: list[list[Any]], right: list[list[Any]]) -> list[list[Any]]:
    return [[x + y for x, y in zip(a, b, strict=True)] for a, b in zip(left, right, strict=True)]
