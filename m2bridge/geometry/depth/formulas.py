"""Dimension formulas for every architecture, and why they differ from the published one.

``published`` is the formula of arXiv 2408.17221 (Henry, Marchetti, Kohn); the others are derived
in the docs (theory page). All count the dimension of the affine cone of functions.
"""

from __future__ import annotations

from math import comb

from m2bridge.attention import Network
from m2bridge.geometry.depth.multihead import layer_bound
from m2bridge.geometry.depth.sizes import satisfies_s, sizes

__all__ = ["Refined", "explain_difference", "published", "refined"]

Refined = tuple[int | None, bool, str]
"""(value or None, whether equality is a theorem, source)."""


def published(network: Network) -> int | None:
    """The formula of arXiv 2408.17221: sum of al(2d - al) + d d', minus sum of d_i^2, minus l.

    al_i = min(a_i, d_{i-1}); the squares are those of the inner widths. For softmax attention the
    paper's conjecture, without the ``- l``. None for several heads or skip connections, for which
    that paper states no formula.
    """
    if network.heads > 1 or network.skip:
        return None
    total = 0
    for a, d, d_out in zip(network.ranks, network.dims, network.dims[1:], strict=False):
        al = min(a, d)
        total += al * (2 * d - al) + d * d_out
    total -= sum(d * d for d in network.dims[1:-1])
    return total - network.depth if network.attention == "lightning" else total


def refined(network: Network) -> Refined:
    """The formula of the theory page that covers this architecture.

    Returns:
        The value, whether it is a theorem that the dimension equals it (otherwise it is a proved
        upper bound whose equality was only observed), and where it comes from. The value is None
        when no formula covers the architecture.
    """
    if network.attention == "softmax":
        return _refined_softmax(network)
    if network.skip:
        total = sum(_layer(network, i) for i in range(network.depth))
        single = network.depth == 1 and network.heads == 1
        return total, single, 'sum of the layers\' dimensions (theory page, "Skip connections")'
    if network.heads > 1:
        if network.depth > 1:
            return None, False, "no formula covers several layers with several heads"
        return _layer(network, 0), False, 'theory page, "Multi-head"'
    return _lightning(network), True, 'theory page, "Deep lightning networks", Theorem 9'


def _layer(network: Network, i: int) -> int:
    d, d_out = network.dims[i], network.dims[i + 1]
    return layer_bound(d, d_out, network.ranks[i], network.t, network.heads)


def _lightning(network: Network) -> int:
    """Theorem 9: reduced data minus l scalings."""
    s = sizes(network)
    total = sum(s.seen[i] * (s.seen[i - 1] - s.seen[i]) for i in range(1, network.depth))
    for i, (al, w) in enumerate(zip(s.alpha, s.joint, strict=True), start=1):
        x = s.seen[i - 1]
        total += al * (2 * x - al) if i <= s.lost_after else w * x - w * (w - 1) // 2
    return total + network.dims[-1] * s.seen[-1] - network.depth


def _refined_softmax(network: Network) -> Refined:
    if network.t == 1:
        # Softmax of a single score is 1: the network is a product of matrices.
        if network.skip:
            return network.dims[0] ** 2, True, "one token: the function is linear"
        rho = min(network.dims)
        value = rho * (network.dims[0] + network.dims[-1] - rho)
        return value, True, 'one token: a product of matrices (theory page, "Softmax attention")'
    if network.skip or (network.heads > 1 and network.depth == 1):
        # Query-key symmetry is all that is taken off, so this is an upper bound in any case.
        total = network.parameters - network.heads * sum(
            a * a - max(0, a - d) ** 2 for a, d in zip(network.ranks, network.dims, strict=False)
        )
        where = 'parameters minus query-key symmetry (theory page, "Skip connections")'
        return total, network.depth == network.heads == 1, where
    if network.heads > 1:
        return None, False, "no formula covers several softmax layers with several heads"
    s = sizes(network)
    total = sum(s.seen[i] * (s.seen[i - 1] - s.seen[i]) for i in range(1, network.depth))
    total += sum(al * (2 * x - al) for al, x in zip(s.alpha, s.seen, strict=True))
    total += network.dims[-1] * s.seen[-1]
    return total, True, 'theory page, "Softmax attention", Theorem 10'


def explain_difference(network: Network) -> str:
    """Say in words why the published formula is right or wrong for this network.

    Source: derived in the docs (theory page, "Deep lightning networks": failure modes).
    """
    formula = published(network)
    if formula is None:
        return _explain_no_formula(network)
    value = refined(network)[0]
    causes = _causes(network)
    if formula == value:
        if satisfies_s(network) or not causes:
            return "the published formula holds for this network"
        text = "; ".join(causes)
        return f"the published formula gives the right number by coincidence of effects: {text}"
    return f"the published formula gives {formula}, the dimension is {value}: " + "; ".join(causes)


def _causes(network: Network) -> list[str]:
    s, dims = sizes(network), network.dims
    causes = []
    if network.t == 1:
        seen = "sym A_i" if network.attention == "lightning" else "the product of the V_i"
        causes.append(f"with one token only {seen} can be seen")
    for i in range(1, network.depth):
        if dims[i] > s.reach[i - 1]:
            causes.append(
                f"layer {i} widens to {dims[i]} although only {s.reach[i - 1]} directions are "
                f"reachable: weights of layer {i + 1} that act on the others are unused"
            )
        if s.seen[i] < s.reach[i]:
            causes.append(
                f"after layer {i} only {s.seen[i]} of {s.reach[i]} directions are seen by the "
                "later layers, whose ranks are too small for the rest"
            )
    if network.attention == "lightning" and network.t >= 2:
        blind = [i + 1 for i in range(s.lost_after, network.depth) if s.alpha[i] >= 2]
        if blind:
            causes.append(
                f"layer {s.lost_after} has rank 1, so its output has rank 1 in the tokens, and of "
                f"the attention matrices of layers {blind} only the symmetric part is seen"
            )
    return causes


def _explain_no_formula(network: Network) -> str:
    parts = []
    if network.skip:
        parts.append(
            "skip connections break the layer-to-layer GL(d) symmetry: only symmetries inside a "
            "layer are left"
        )
    if network.heads > 1 and network.attention == "lightning":
        parts.append(_explain_heads(network))
    elif network.heads > 1 and network.t >= 2:
        parts.append("softmax heads cannot be mixed: in one layer their dimensions add up")
    return "; ".join(["the paper states no formula for this kind of network", *parts])


def _explain_heads(network: Network) -> str:
    """How the heads of the first layer add up."""
    d, d_out, a, h = network.dims[0], network.dims[1], network.ranks[0], network.heads
    one = layer_bound(d, d_out, a, network.t, 1)
    bound = layer_bound(d, d_out, a, network.t, h)
    ambient = d_out * (comb(d + 2, 3) if network.t == 1 else d * comb(d + 1, 2))
    if bound == h * one:
        return f"{h} heads of dimension {one} add up without loss to {bound} in one layer"
    if bound == ambient:
        return f"{h} heads of dimension {one} fill the whole space of {ambient} coefficients"
    return (
        f"{h} heads of dimension {one} reach {bound}, not {h * one}, in one layer: heads can be "
        "mixed linearly without changing their sum (a secant defect)"
    )
