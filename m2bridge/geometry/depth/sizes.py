"""The integers that decide the dimension of a deep network, read off its shape.

Lightning and softmax networks depend on their weights only through the reduced data
V~_l = V_l..V_1 and A~_i = (V_{i-1}..V_1)^T A_i (V_{i-1}..V_1) (docs: theory page, "Reduced form of
a deep network"). Their dimension counts what of these the function can see.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from m2bridge.attention import Network

__all__ = ["Sizes", "satisfies_s", "sizes"]


@dataclass(frozen=True)
class Sizes:
    """Derived sizes of a network with l layers; index i is as in the theory page.

    Attributes:
        reach: r_0..r_l, r_i = min(d_0..d_i): the generic rank of V_i..V_1.
        alpha: al_1..al_l at index i-1, al_i = min(a_i, r_{i-1}): the generic rank of A~_i.
        joint: w_1..w_l at index i-1, w_i = min(2 al_i, r_{i-1}): the generic rank of sym A~_i.
        seen: x_0..x_{l-1}: dimension of the part of the row space of V_i..V_1 that later layers
            can see.
        lost_after: j0, the number of first layers whose A~_i is seen entirely; of the later ones
            only sym A~_i matters. It is the first i with al_i = 1, l if there is none, and 0 for
            t = 1.
    """

    reach: tuple[int, ...]
    alpha: tuple[int, ...]
    joint: tuple[int, ...]
    seen: tuple[int, ...]
    lost_after: int


def sizes(network: Network) -> Sizes:
    """Compute the derived sizes of a network with one head and no skip connections.

    Source: derived in the docs (theory page, "Reduced form of a deep network").
    """
    depth, dims = network.depth, network.dims
    reach = tuple(min(dims[: i + 1]) for i in range(depth + 1))
    alpha = tuple(min(a, reach[i]) for i, a in enumerate(network.ranks))
    joint = tuple(min(2 * al, reach[i]) for i, al in enumerate(alpha))
    seen = [dims[0]] * depth
    later = reach[depth]
    for i in range(depth - 1, 0, -1):
        later = seen[i] = min(reach[i], later + joint[i])
    if network.t == 1:
        lost_after = 0
    else:
        lost_after = next((i + 1 for i, al in enumerate(alpha) if al == 1), depth)
    return Sizes(reach, alpha, joint, tuple(seen), lost_after)


def satisfies_s(network: Network) -> bool:
    """Say whether condition (S) holds, which is sufficient for the published formula.

    (S): d_0 >= .. >= d_{l-1}; every narrowing d_i < d_{i-1} (0 < i < l) is seen entirely, that is,
    x_i = d_i; and, for lightning attention, t >= 2 with al_i = 1 for all i > j0, or all al_i = 1.
    Softmax needs t >= 2 instead of the last part. (Docs: theory page, "Deep lightning networks".)
    """
    s, dims = sizes(network), network.dims
    inner = dims[:-1]
    if any(later > earlier for earlier, later in pairwise(inner)):
        return False
    for i in range(1, network.depth):
        if dims[i] < dims[i - 1] and s.seen[i] != dims[i]:
            return False
    if network.attention == "softmax":
        return network.t >= 2
    if all(al == 1 for al in s.alpha):
        return True
    return network.t >= 2 and all(al == 1 for al in s.alpha[s.lost_after :])
