"""Which weights compute the same function: the generic fibre of a network's parametrization.

Over the complex numbers. The continuous symmetries are named one by one; whatever the fibre has
beyond them is reported as unused weights. The finite part, how many components the fibre has, comes
from unique factorization of one token's output (docs: theory page, "One layer", Theorem 2, and
"Deep lightning networks"; for one layer also arXiv 2408.17221).
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from math import comb

from m2bridge.attention import Network
from m2bridge.geometry.depth.rank import Progress
from m2bridge.geometry.depth.result import DimensionResult
from m2bridge.geometry.depth.sizes import Sizes, sizes
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
        certainty: of `reduced_points` and `components`: ``"proved"`` for one layer,
            ``"conjectural"`` for deeper networks (read off the proof of the dimension theorem, not
            recomputed) and where the number is not known.
        reason: in words.
        functions: the dimension result behind it.
    """

    network: Network
    factors: tuple[SymmetryFactor, ...]
    dimension: int | None
    reduced_points: int | None
    components: int | None
    certainty: str
    reason: str
    functions: DimensionResult


def generic_fibre(
    network: Network,
    *,
    method: str = "auto",
    seed: int = 0,
    prime: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> GenericFibre:
    """Describe the generic fibre of weights -> function.

    Args:
        network: any `Network`.
        method, seed, prime, executor, progress: as for `dimension`, which is asked first.

    Raises:
        TypeError, ValueError: as `dimension`.
    """
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
    points, components, certainty, reason = _finite_part(network)
    return GenericFibre(network, factors, total, points, components, certainty, reason, functions)


def _reach(network: Network) -> tuple[int, ...]:
    """How many directions can reach each layer's input."""
    spans = [network.dims[0]]
    for d in network.dims[1:-1]:
        spans.append(d if network.skip else min(d, network.heads * spans[-1]))
    return tuple(spans)


def _one_head_lightning(network: Network) -> bool:
    return network.attention == "lightning" and network.heads == 1 and not network.skip


def _blind(network: Network, s: Sizes) -> tuple[int, ...]:
    """1-based layers of which only sym(A) is seen."""
    if network.attention == "softmax":
        return ()
    if network.t == 1:
        return tuple(range(1, network.depth + 1))
    if not _one_head_lightning(network):
        return ()
    return tuple(range(s.lost_after + 1, network.depth + 1))


def _factors(network: Network) -> tuple[SymmetryFactor, ...]:
    factors: list[SymmetryFactor] = []
    blind, reach = _blind(network, sizes(network)), _reach(network)
    ignored = network.attention == "softmax" and network.t == 1
    for i, a in enumerate(network.ranks, start=1):
        of_heads = "" if network.heads == 1 else " in each head"
        if not ignored:
            factors.append(_query_key(network, i, a, reach[i - 1], i in blind, of_heads))
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


def _finite_part(network: Network) -> tuple[int | None, int | None, str, str]:
    """Number of reduced data, number of components, certainty, reason."""
    if network.heads > 1:
        return None, None, "conjectural", "the finite part of multi-head fibres is not known here"
    if network.attention == "softmax":
        if network.skip:
            return None, None, "conjectural", "not known here for skip connections"
        certainty = "proved" if network.depth == 1 else "conjectural"
        return 1, 1, certainty, "the reduced data are determined by the function"
    if network.skip and network.depth > 1:
        return None, None, "conjectural", "not known here for skip connections"
    return _lightning_points(network)


def _lightning_points(network: Network) -> tuple[int, int, str, str]:
    s = sizes(network)
    last = network.depth
    # One output direction: phi is v(w) times the last attention form, and a form of low rank
    # contains further linear factors which v cannot be told from.
    points, reason = 1, "the reduced data are determined up to scalings"
    if s.reach[last] == 1 and s.seen[last - 1] >= 2:
        blind = s.lost_after < last
        if not blind and s.alpha[last - 1] == 1:
            points = 2
            reason = "the function is a product v(w) k(w) times q, and v and k may be exchanged"
        elif blind and s.joint[last - 1] == 2:
            points = 3
            reason = "the function contains three linear factors, any of which may be v"
    components = points
    for i in range(s.lost_after, last):
        if 2 * network.ranks[i] <= s.reach[i]:
            components *= 2
            reason += f"; K and Q of layer {i + 1} may be exchanged: O({2 * network.ranks[i]}) has "
            reason += "two components"
    return points, components, "proved" if last == 1 else "conjectural", reason
