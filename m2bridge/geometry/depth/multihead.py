"""One layer of lightning attention with several heads: sum_h V_h X X^T A_h X.

As a map, its coefficients form a (d' x h matrix of linear forms) times (h x d matrix of linear
forms), so heads can be mixed. The formula takes the best of a few upper bounds; each is an explicit
kernel of the tangent map or a containment. (Docs: theory page, "Multi-head"; see also N. Henry,
"Generic Fibers and Functional Dimension of Multi-Head Attention".)
"""

from __future__ import annotations

from math import comb

__all__ = ["ambient_dimension", "coefficient_space", "head_dimension", "layer_bound"]


def coefficient_space(dims: tuple[int, ...], t: int, skip: bool = False) -> int:
    """An upper bound that holds for every lightning network: the space its outputs lie in.

    For t >= 2 column j of the output is linear in x_j and of degree (3^l - 1)/2 in the Gram matrix
    G = X X^T (by induction: sum_n Y_n Y_n^T = Y Y^T turns x_n x_n^T into G); for t = 1 it is a form
    of degree 3^l. With skip connections lower (for t = 1: lower odd) degrees occur too.
    """
    d, depth = dims[0], len(dims) - 1
    top = (3**depth - 1) // 2
    degrees = range(top + 1) if skip else (top,)
    if t == 1:
        return dims[-1] * sum(comb(d + 2 * k, 2 * k + 1) for k in degrees)
    gram = d * (d + 1) // 2
    return dims[-1] * d * sum(comb(gram + k - 1, k) for k in degrees)


def ambient_dimension(d: int, d_out: int, t: int) -> int:
    """The number of coefficients of one layer (reduced ones for t >= 2)."""
    return d_out * (comb(d + 2, 3) if t == 1 else d * comb(d + 1, 2))


def head_dimension(d: int, d_out: int, a: int, t: int) -> int:
    """The dimension of one head: one layer of lightning self-attention (arXiv 2408.17221)."""
    if t == 1:
        b = min(2 * a, d)
        return d * d_out + b * d - b * (b - 1) // 2 - 1
    al = min(a, d)
    return 2 * al * d - al * al + d * d_out - 1


def layer_bound(d: int, d_out: int, a: int, t: int, heads: int) -> int:
    """The dimension formula of one layer with ``heads`` heads.

    A proved upper bound for every layer; equality is proved for one head and was observed in all
    tested cases for more.
    """
    if heads == 1:
        return head_dimension(d, d_out, a, t)
    term = _one_token if t == 1 else _more_tokens
    ambient = ambient_dimension(d, d_out, t)
    best = 0
    for k in range(1, heads + 1):
        best = max(best, min(ambient, term(d, d_out, a, k)))
        if best == ambient:
            break
    return best


def _more_tokens(d: int, d_out: int, a: int, k: int) -> int:
    m, al = head_dimension(d, d_out, a, 2), min(a, d)
    if d_out >= 2:
        # GL_k mixes the heads; mixing must keep every A_h tangent to the matrices of rank al.
        return k * m - k * max(0, k - 1 - (d - al) ** 2)
    c = min(k, d)
    # All quadrics vanish on the common zeros of the k linear forms v_h: a space of codimension c.
    vanishing = c * (d - c) + d * (c * d - comb(c, 2))
    koszul = comb(k, 2) * max(0, 2 * al - d) if k <= d else 0
    return min(vanishing, k * m - koszul)


def _one_token(d: int, d_out: int, a: int, k: int) -> int:
    m, b = head_dimension(d, d_out, a, 1), min(2 * a, d)
    free = comb(d - b + 1, 2)
    mixing = k * max(0, k - 1 - free)
    if d_out >= 3:
        return k * m - mixing
    if d_out == 2:
        # The maximal minors of the 2 x k matrix of linear forms are syzygies.
        return k * m - max(0, mixing, k * (k - 1) + comb(k, 3) - k * free)
    if k >= d:
        return k * m
    vanishing = k * (d - k) + comb(d + 2, 3) - comb(d - k + 2, 3)
    koszul = 0
    if 2 * b >= d and k - 1 <= d - b:
        koszul = comb(k, 2) * (2 * b - d) + 2 * comb(k, 3)
    return min(vanishing, k * m - koszul)
