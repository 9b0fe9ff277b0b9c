"""Families for t = 1: the cubics (V x)_i s(x), s the quadratic form of A."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, combinations_with_replacement
from math import comb

from m2bridge.geometry.determinants import Sparse, add, determinant, scale
from m2bridge.geometry.families.base import Family, Sizes, constant_degree, when
from m2bridge.geometry.weights.space import encode

__all__ = ["SINGLE_FAMILIES"]


def _C(p: int, q: int, r: int) -> Sparse:
    """The coefficient of x_p x_q x_r in the first output."""
    return {(encode(((0,), tuple(sorted((p, q, r))))),): 1}


def _cubic_low_rank(s: Sizes) -> Iterator[Sparse]:
    """N_kl, the coefficient at x_k x_k x_l of the symmetric tensor, is diag(V) S plus rank one."""
    n = 2 * s.a + 2
    for rows in combinations(range(s.d), n):
        for columns in combinations(range(s.d), n):
            yield determinant(
                [[scale(_C(k, k, x), 3 if k == x else 1) for x in columns] for k in rows]
            )


def _lie_matrix(d: int) -> list[list[Sparse]]:
    """Rows: monomials x_mu; columns: a basis of sl_d acting on the cubic."""
    triples = list(combinations_with_replacement(range(d), 3))

    def action(u: int, v: int, mu: tuple[int, ...]) -> Sparse:
        # The coefficient of x_mu in x_u d/dx_v f: that of f at mu - e_u + e_v, times its exponent.
        if u not in mu:
            return {}
        nu = list(mu)
        nu.remove(u)
        nu.append(v)
        return scale(_C(*nu), nu.count(v))

    roots = [(u, v) for u in range(d) for v in range(d) if u != v]
    rows = []
    for mu in triples:
        last = scale(action(d - 1, d - 1, mu), -1)
        cartan = [add(action(u, u, mu), last) for u in range(d - 1)]
        rows.append(cartan + [action(u, v, mu) for u, v in roots])
    return rows


def _lie_minors(s: Sizes) -> Iterator[Sparse]:
    """sl_d moves a cubic l q with a stabilizer O(d-1), of positive dimension for d >= 3."""
    matrix = _lie_matrix(s.d)
    for rows in combinations(matrix, s.d * s.d - 1):
        f = determinant(rows)
        if f:
            yield f


def _cubic_output_cubics(s: Sizes) -> Iterator[Sparse]:
    """Three outputs are multiples of one quadric s: on a line they span two dimensions times s."""
    for p, q in combinations(range(s.d), 2):
        monomials = [(p, p, p), (p, p, q), (p, q, q), (q, q, q)]
        for outputs in combinations(range(s.d_out), 3):
            for chosen in combinations(monomials, 3):
                yield determinant([[{(encode(((i,), mu)),): 1} for mu in chosen] for i in outputs])


def _cubic_output_quartics(s: Sizes) -> Iterator[Sparse]:
    """Two outputs v_i s, v_j s have a linear syzygy: x f_i, y f_i, x f_j, y f_j are dependent."""
    for p, q in combinations(range(s.d), 2):
        monomials = [(p, p, p), (p, p, q), (p, q, q), (q, q, q)]
        for i, j in combinations(range(s.d_out), 2):
            rows: list[list[Sparse]] = []
            for output in (i, j):
                f: list[Sparse] = [{(encode(((output,), mu)),): 1} for mu in monomials]
                rows += [[*f, {}], [{}, *f]]
            for dropped in range(5):
                minor = determinant([row[:dropped] + row[dropped + 1 :] for row in rows])
                if minor:
                    yield minor


SINGLE_FAMILIES: tuple[Family, ...] = (
    Family(
        "single-token low-rank minors",
        "(2a+2)-minors of the matrix of tensor entries (k, k, l): its rank is at most 2a+1",
        True,
        when(lambda s: s.t == 1 and 2 * s.a + 2 <= s.d, lambda s: 2 * s.a + 2),
        lambda s: comb(s.d, 2 * s.a + 2) ** 2,
        _cubic_low_rank,
    ),
    Family(
        "Lie-flattening minors",
        "maximal minors of the action of sl_d on the cubic: a linear form times a quadric has a "
        "stabilizer of positive dimension",
        True,
        when(lambda s: s.t == 1 and s.d >= 3, lambda s: s.d * s.d - 1),
        lambda s: comb(comb(s.d + 2, 3), s.d * s.d - 1) * 2 ** (s.d * s.d - 9),
        _lie_minors,
    ),
    Family(
        "single-token output cubics",
        "3 x 3 minors of three outputs on a line: they share the quadric s",
        False,
        when(lambda s: s.t == 1 and s.d_out >= 3 and s.d >= 2, constant_degree(3)),
        lambda s: comb(s.d, 2) * comb(s.d_out, 3) * 4,
        _cubic_output_cubics,
    ),
    Family(
        "single-token output quartics",
        "4 x 4 minors of the syzygy matrix of two outputs on a line: they share the quadric s",
        False,
        when(lambda s: s.t == 1 and s.d_out >= 2 and s.d >= 2, constant_degree(4)),
        lambda s: comb(s.d, 2) * comb(s.d_out, 2) * 5,
        _cubic_output_quartics,
    ),
)
