"""The finite part of generic fibres: how many reduced data, up to scalings, have one function.

Lightning attention (theorem and proof: theory page, "Generic fibre"). Let k be the first layer
after which one direction is left, r_k = 1, and r_(k-1) >= 2. What later layers add are powers of
the one linear form v that is left, so layer k decides: its function is v(w) times its attention
form. If that form is v'(w) q with a linear v' and is seen entirely, v and v' may be exchanged: two
points. If only its quadratic form is seen and has rank 2, the function contains a product of three
linear forms, any of which may be v: three points. In all other cases, also without such a k, the
reduced data are determined.
"""

from __future__ import annotations

from dataclasses import dataclass

from m2bridge.attention import Network
from m2bridge.geometry.depth.sizes import Sizes, sizes

__all__ = ["FinitePart", "finite_part", "has_reduced_form", "symmetric_layers"]


@dataclass(frozen=True)
class FinitePart:
    """Numbers over the complex numbers, None where they are not known; certainty and reason."""

    points: int | None
    components: int | None
    certainty: str
    reason: str


def has_reduced_form(network: Network) -> bool:
    """One head in every layer, and no input added back that a later layer reads."""
    return network.heads == 1 and (not network.skip or network.depth == 1)


def symmetric_layers(network: Network) -> tuple[bool, ...]:
    """For each layer: is only the symmetric part of its A~ seen?

    One token sees no more, and neither do layers behind one of rank 1, whose output has rank 1 in
    the tokens. For several heads or skip connections only the first reason is used.
    """
    if network.attention == "softmax":
        return (False,) * network.depth
    if network.t > 1 and not has_reduced_form(network):
        return (False,) * network.depth
    first = sizes(network).lost_after
    return tuple(i >= first for i in range(network.depth))


def finite_part(network: Network) -> FinitePart:
    """Count the reduced data and the components of a generic fibre.

    Source: theory page, "Generic fibre" for lightning, "Softmax attention", Theorem 10.
    """
    if network.heads > 1:
        return FinitePart(None, None, "conjectural", "not known here for several heads")
    if not has_reduced_form(network):
        return FinitePart(None, None, "conjectural", "not known here for skip connections")
    if network.attention == "softmax":
        return FinitePart(1, 1, "proved", "the reduced data are determined by the function")
    points, reason = _points(network, sizes(network))
    swaps = _query_key_swaps(network, sizes(network))
    for layer in swaps:
        reason += f"; K and Q of layer {layer} may be exchanged: "
        reason += f"O({2 * network.ranks[layer - 1]}) has two components"
    return FinitePart(points, points * 2 ** len(swaps), "proved", reason)


def _points(network: Network, s: Sizes) -> tuple[int, str]:
    determined = "the reduced data are determined up to scalings"
    k = next((i for i, r in enumerate(s.reach) if r == 1), None)
    if k is None or k == 0:
        return 1, determined
    where = "" if network.depth == 1 else f" of layer {k}"
    if symmetric_layers(network)[k - 1]:
        if s.joint[k - 1] == 2:
            return 3, f"the output{where} contains three linear factors, any of which may be v"
    elif s.alpha[k - 1] == 1:
        return 2, f"the output{where} is a product v(w) k(w) times q; v and k may be exchanged"
    return 1, determined


def _query_key_swaps(network: Network, s: Sizes) -> list[int]:
    """1-based layers where (K, Q) over a reduced datum has two components.

    Where sym(A) alone is seen, [K; Q] is determined up to O(2a); where it has rank 2a that group
    acts freely, else its subgroup SO(2a) acts transitively already.
    """
    blind = symmetric_layers(network)
    return [i + 1 for i in range(network.depth) if blind[i] and 2 * network.ranks[i] <= s.reach[i]]
