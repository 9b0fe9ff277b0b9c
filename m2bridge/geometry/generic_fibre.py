"""Which weights compute the same function: the generic fibre of a network's parametrization.

Over the complex numbers. The continuous symmetries are named one by one; whatever the fibre has
beyond them is reported as unused weights. The finite part, how many components the fibre has, is
a theorem (docs: theory page, "Generic fibre"; for one layer also arXiv 2408.17221); for small
networks Macaulay2 confirms it at random rational weights.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from math import comb
from typing import Any

from m2bridge.attention import Network
from m2bridge.display import brief, facts_html, sections_html, settled, table_html
from m2bridge.engine import Session
from m2bridge.geometry.depth.confirm import check_confirmable, confirmed_points
from m2bridge.geometry.depth.points import finite_part, symmetric_layers
from m2bridge.geometry.depth.rank import Progress
from m2bridge.geometry.depth.result import DimensionResult
from m2bridge.geometry.dimension import dimension

__all__ = ["GenericFibre", "SymmetryFactor", "generic_fibre"]


@dataclass(frozen=True)
class SymmetryFactor:
    """One group that acts on the weights and leaves the function alone.

    Attributes:
        kind: ``"query-key"``, ``"scaling"``, ``"layer-to-layer"``, ``"head permutation"`` or
            ``"unused"``.
        group: its name, e.g. ``"GL(4)"``; for ``"unused"`` an affine space, no group.
        layers: the 1-based layers whose weights it moves.
        dimension: of a generic orbit.
        action: what it does, in formulas.
    """

    kind: str
    group: str
    layers: tuple[int, ...]
    dimension: int
    action: str


@dataclass(frozen=True)
class GenericFibre:
    """The set of all weights with the same function as generic ones.

    Attributes:
        network: the network that was asked about.
        factors: the symmetries, whose dimensions add up to `dimension` when that is known.
        dimension: parameters minus the dimension of the functions; None while that is undecided.
        reduced_points: how many reduced data (up to scalings) give the same function: 1, 2 or 3;
            None where this is not known.
        components: irreducible components of the fibre over the complex numbers; None where this
            is not known.
        certainty: of `reduced_points` and `components`: ``"proved"`` by theorem for generic
            weights, ``"conjectural"`` where the numbers are not known.
        reason: in words.
        functions: the dimension result behind it.
        m2: what Macaulay2 found at random rational weights, over QQ; its ``statement`` says what
            that proves. None when it was not asked.
    """

    network: Network
    factors: tuple[SymmetryFactor, ...]
    dimension: int | None
    reduced_points: int | None
    components: int | None
    certainty: str
    reason: str
    functions: DimensionResult
    m2: dict[str, Any] | None = None

    __repr__ = brief

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [
            ("dimension", settled(self.dimension, self.functions.reason)),
            ("reduced data up to scaling", settled(self.reduced_points, self.reason)),
            ("irreducible components", settled(self.components, self.reason)),
            ("certainty of these two", self.certainty),
            ("why", self.reason),
            ("certainty of the dimension", self.functions.certainty),
        ]
        if self.m2 is not None:
            rows.append(("Macaulay2", self.m2.get("statement", "asked")))
        factors = [
            (f.kind, f.group, ", ".join(map(str, f.layers)), f.dimension, f.action)
            for f in self.factors
        ]
        header = ("symmetry", "group", "layers", "dimension", "action")
        title = f"Weights with the same function as generic ones of {self.network}"
        return sections_html(facts_html(title, rows), table_html(header, factors))


def generic_fibre(
    network: Network,
    *,
    method: str = "auto",
    seed: int = 0,
    prime: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    session: Session | None = None,
    timeout: float | None = None,
) -> GenericFibre:
    """Describe the generic fibre of weights -> function.

    Args:
        network: any `Network`.
        method, seed, prime, executor, progress: as for `dimension`, which is asked first.
        session: an M2 session, to find the reduced data at random rational weights; for small
            lightning networks with one head.
        timeout: for each M2 job, in seconds.

    Raises:
        TypeError, ValueError: as `dimension`; for a session with a network of another kind.
        SizeLimitError: for a session with a network that is too large for M2.
        VerificationError: M2 finds another number of points than the theorem.
        M2Error, M2TimeoutError, M2MemoryError: from M2.
    """
    if session is not None:
        check_confirmable(network)
    functions = dimension(
        network, method=method, seed=seed, prime=prime, executor=executor, progress=progress
    )
    settled = functions.value if functions.certainty == "proved" else None
    total = None if settled is None else network.parameters - settled
    factors = _factors(network)
    if total is not None:
        rest = total - sum(factor.dimension for factor in factors)
        if rest:
            factors += (_rest(network, rest),)
    finite, answer = finite_part(network), None
    if session is not None and finite.points is not None:
        if progress is not None:
            progress("Macaulay2", 0, None)
        answer = confirmed_points(network, finite.points, session, seed=seed, timeout=timeout)
    return GenericFibre(
        network,
        factors,
        total,
        finite.points,
        finite.components,
        finite.certainty,
        finite.reason,
        functions,
        answer,
    )


def _reach(network: Network) -> tuple[int, ...]:
    """How many directions can reach each layer's input."""
    spans = [network.dims[0]]
    for d in network.dims[1:-1]:
        spans.append(d if network.skip else min(d, network.heads * spans[-1]))
    return tuple(spans)


def _factors(network: Network) -> tuple[SymmetryFactor, ...]:
    factors: list[SymmetryFactor] = []
    blind, reach = symmetric_layers(network), _reach(network)
    ignored = network.attention == "softmax" and network.t == 1
    for i, a in enumerate(network.ranks, start=1):
        of_heads = "" if network.heads == 1 else " in each head"
        if not ignored:
            factors.append(_query_key(network, i, a, reach[i - 1], blind[i - 1], of_heads))
        if network.attention == "lightning":
            group = "C*" if network.heads == 1 else f"(C*)^{network.heads}"
            action = "V -> c V, Q -> Q / c" + of_heads
            factors.append(SymmetryFactor("scaling", group, (i,), network.heads, action))
    if not network.skip:
        factors += [_layer_to_layer(network, i) for i in range(1, network.depth)]
    if network.heads > 1:
        for i in range(1, network.depth + 1):
            group, action = f"S_{network.heads}", "exchange the heads"
            factors.append(SymmetryFactor("head permutation", group, (i,), 0, action))
    return tuple(factors)


def _query_key(
    network: Network, i: int, a: int, reach: int, blind: bool, of_heads: str
) -> SymmetryFactor:
    if blind:
        orbit = comb(2 * a, 2) - comb(max(0, 2 * a - reach), 2)
        group, action = f"O({2 * a})", "[K; Q] -> g [K; Q], g orthogonal for K^T Q + Q^T K"
    else:
        orbit = a * a - max(0, a - reach) ** 2
        group, action = f"GL({a})", "Q -> g Q, K -> g^-T K"
    if network.heads > 1:
        group = f"{group}^{network.heads}"
    return SymmetryFactor("query-key", group, (i,), orbit * network.heads, action + of_heads)


def _layer_to_layer(network: Network, i: int) -> SymmetryFactor:
    d, heads = network.dims[i], network.heads
    written = min(d, heads * network.dims[i - 1])
    read = min(d, heads * (network.dims[i + 1] + 2 * network.ranks[i]))
    orbit = d * d - (d - written) * (d - read)
    action = f"V_{i} -> g V_{i}; Q, K, V of layer {i + 1} -> times g^-1"
    return SymmetryFactor("layer-to-layer", f"GL({d})", (i, i + 1), orbit, action)


def _rest(network: Network, dimension: int) -> SymmetryFactor:
    layers = tuple(range(1, network.depth + 1))
    text = "weights that act on unreached directions, or whose effect no later layer reads"
    if network.heads > 1:
        text += ", and linear mixing of heads"
    return SymmetryFactor("unused", f"A^{dimension}", layers, dimension, text)
