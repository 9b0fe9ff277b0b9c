"""Where softmax scores coincide, so that formal exponentials must coincide too."""

from __future__ import annotations

from m2bridge.attention import Network

__all__ = ["narrow_layers"]


def narrow_layers(network: Network) -> tuple[bool, ...]:
    """For each layer, whether its input has rank one in the features.

    Then X = v y^T and the scores are a multiple of y y^T: s_mn = s_nm. These equalities are the
    only linear relations over Q between scores; elsewhere there are none.
    """
    narrow, span = [], network.dims[0]
    for i in range(network.depth):
        narrow.append(span == 1)
        if not network.skip:
            span = min(network.dims[i + 1], network.heads * span)
    return tuple(narrow)
