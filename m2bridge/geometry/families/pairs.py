"""Families for t >= 2, in the reduced coordinates T_{i;pq;r}."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, combinations_with_replacement, permutations, product
from math import comb, factorial

from flint import fmpz_mat

from m2bridge.geometry.determinants import Sparse, add, determinant, multiply, scale
from m2bridge.geometry.families.base import Family, Sizes, constant_degree, when
from m2bridge.geometry.weights.linear import primitive
from m2bridge.geometry.weights.space import encode

__all__ = ["PAIR_FAMILIES"]


def _T(i: int, p: int, q: int, r: int) -> Sparse:
    """The coordinate T_{i;pq;r}, p and q in any order."""
    return {(encode(((i,), (min(p, q), max(p, q)), (r,))),): 1}


def _pairs(d: int) -> list[tuple[int, int]]:
    return list(combinations_with_replacement(range(d), 2))


def _line(i: int, r: int, p: int, q: int) -> tuple[Sparse, Sparse, Sparse]:
    """Coefficients of the binary quadric T_ir(x e_p + y e_q)."""
    return _T(i, p, p, r), _T(i, p, q, r), _T(i, q, q, r)


# Chow-type cubics: the 3 x 3 minors of the symmetric matrix of the quadric T(e_1, c).


def _symmetric_entry(p: int, q: int, r: int) -> Sparse:
    return scale(_T(0, p, q, r), 2 if p == q else 1)


def _chow_cubics(s: Sizes) -> Iterator[Sparse]:
    triples = list(combinations(range(s.d), 3))
    for rows, columns in combinations_with_replacement(triples, 2):
        for slices in combinations_with_replacement(range(s.d), 3):
            # The coefficient of c_r c_s c_t: one slice for each row, in every order.
            terms = []
            for order in set(permutations(slices)):
                matrix = [
                    [_symmetric_entry(p, q, r) for q in columns]
                    for p, r in zip(rows, order, strict=True)
                ]
                terms.append(determinant(matrix))
            f = add(*terms)
            if f:
                yield f


# Low-rank minors: the flattening Z* -> U (x) S^2 W has rank <= a.


def _low_rank(s: Sizes) -> Iterator[Sparse]:
    rows = [(i, p, q) for i in range(s.d_out) for p, q in _pairs(s.d)]
    for chosen in combinations(rows, s.a + 1):
        for columns in combinations(range(s.d), s.a + 1):
            yield determinant([[_T(i, p, q, r) for r in columns] for i, p, q in chosen])


def _output_rank(s: Sizes) -> Iterator[Sparse]:
    columns = [(p, q, r) for p, q in _pairs(s.d) for r in range(s.d)]
    for outputs in combinations(range(s.d_out), s.d + 1):
        for chosen in combinations(columns, s.d + 1):
            yield determinant([[_T(i, p, q, r) for p, q, r in chosen] for i in outputs])


# Context syzygies: F = Phi(v) A, so that linear relations of the maximal minors of Phi(v) (which
# are polynomials in v) are relations of those of F.


def _phi(p: int, q: int, c: int) -> Sparse:
    """Entry of Phi(v): the coefficient of w_p w_q in v(w) w_c."""
    if p == q:
        return {(p,): 1} if c == p else {}
    if c == p:
        return {(q,): 1}
    return {(p,): 1} if c == q else {}


def _context_syzygies(s: Sizes) -> Iterator[Sparse]:
    by_weight: dict[tuple[int, ...], list[tuple[tuple[int, int], ...]]] = defaultdict(list)
    for rows in combinations(_pairs(s.d), s.d):
        weight = tuple(sum(pair.count(c) for pair in rows) for c in range(s.d))
        by_weight[weight].append(rows)
    for rowsets in by_weight.values():
        minors = [
            determinant([[_phi(p, q, c) for c in range(s.d)] for p, q in rows]) for rows in rowsets
        ]
        for vector in _relations(minors):
            terms = [
                scale(determinant([[_T(0, p, q, r) for r in range(s.d)] for p, q in rows]), c)
                for rows, c in zip(rowsets, vector, strict=True)
                if c
            ]
            yield add(*terms)


def _relations(polynomials: Sequence[Sparse]) -> list[list[int]]:
    """A basis of the linear relations among polynomials."""
    keys = sorted({key for f in polynomials for key in f})
    matrix = fmpz_mat(max(len(keys), 1), len(polynomials))
    for j, f in enumerate(polynomials):
        for i, key in enumerate(keys):
            matrix[i, j] = f.get(key, 0)
    kernel, nullity = matrix.nullspace()
    return [primitive([int(kernel[i, j]) for i in range(len(polynomials))]) for j in range(nullity)]


# Veronese-type: for r rows K and r columns L, the determinants D_alpha(K, L) with rows T_{f(p) p}
# are v_K^alpha det A_KL, so the vector (D_alpha)_alpha lies on a cone over a Veronese variety.


def _exponents(r: int) -> list[tuple[int, ...]]:
    return [tuple(c.count(i) for i in range(r)) for c in combinations_with_replacement(range(r), r)]


def _acyclic_map(alpha: tuple[int, ...]) -> list[int]:
    """f with |f^-1(m)| = alpha_m and no cycles but fixed points: then D_alpha = v^alpha det."""
    spare = [m for m, e in enumerate(alpha) for _ in range(max(0, e - 1))]
    return [p if e else spare.pop(0) for p, e in enumerate(alpha)]


def _veronese_minors(s: Sizes, r: int) -> Iterator[Sparse]:
    alphas = _exponents(r)
    units = [tuple(int(i == j) for i in range(r)) for j in range(r)]
    lower = [
        tuple(c.count(i) for i in range(r)) for c in combinations_with_replacement(range(r), r - 1)
    ]
    for K in combinations(range(s.d), r):
        D: dict[tuple[tuple[int, ...], tuple[int, ...]], Sparse] = {}
        for L, alpha in product(combinations(range(s.d), r), alphas):
            f = _acyclic_map(alpha)
            D[L, alpha] = determinant([[_T(0, K[f[p]], K[p], x) for x in L] for p in range(r)])
        columns = [(L, gamma) for L in combinations(range(s.d), r) for gamma in lower]
        for b, c in combinations(units, 2):
            for (L, x), (M, y) in combinations(columns, 2):
                left = multiply(D[L, _sum(b, x)], D[M, _sum(c, y)])
                f2 = add(left, scale(multiply(D[M, _sum(b, y)], D[L, _sum(c, x)]), -1))
                if f2:
                    yield f2


def _sum(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(x + y for x, y in zip(a, b, strict=True))


def _veronese_quartics(s: Sizes) -> Iterator[Sparse]:
    return _veronese_minors(s, 2)


def _veronese_sextics(s: Sizes) -> Iterator[Sparse]:
    return _veronese_minors(s, 3)


# Resultants: two entries of a row (or column) of T share a linear factor.


def _resultant(f: Sequence[Sparse], g: Sequence[Sparse]) -> Sparse:
    """The Sylvester resultant of two binary quadrics given by their three coefficients."""
    zero: Sparse = {}
    return determinant([[*f, zero], [zero, *f], [*g, zero], [zero, *g]])


def _resultant_quartics(s: Sizes) -> Iterator[Sparse]:
    for p, q in combinations(range(s.d), 2):
        for r, x in combinations(range(s.d), 2):
            yield _resultant(_line(0, r, p, q), _line(0, x, p, q))


def _output_resultants(s: Sizes) -> Iterator[Sparse]:
    for p, q in combinations(range(s.d), 2):
        for i, j in combinations(range(s.d_out), 2):
            for r in range(s.d):
                yield _resultant(_line(i, r, p, q), _line(j, r, p, q))


def _output_cubics(s: Sizes) -> Iterator[Sparse]:
    """Three entries of a column have a common factor, so on a line they span two dimensions."""
    for p, q in combinations(range(s.d), 2):
        for outputs in combinations(range(s.d_out), 3):
            for r in range(s.d):
                yield determinant([list(_line(i, r, p, q)) for i in outputs])


def _output_minors(s: Sizes) -> Iterator[Sparse]:
    """The coefficients, in w, of the 2 x 2 minors of the matrix T(w) of rank one."""
    for i, j in combinations(range(s.d_out), 2):
        for r, x in combinations(range(s.d), 2):
            for w in combinations_with_replacement(range(s.d), 4):
                terms = []
                for first in {tuple(sorted((w[a], w[b]))) for a, b in combinations(range(4), 2)}:
                    rest = list(w)
                    rest.remove(first[0])
                    rest.remove(first[1])
                    terms.append(multiply(_T(i, first[0], first[1], r), _T(j, rest[0], rest[1], x)))
                    terms.append(
                        scale(
                            multiply(_T(i, first[0], first[1], x), _T(j, rest[0], rest[1], r)), -1
                        )
                    )
                f = add(*terms)
                if f:
                    yield f


def _pair_count(s: Sizes) -> int:
    return s.d * (s.d + 1) // 2


def _veronese_size(r: int) -> Callable[[Sizes], int]:
    def size(s: Sizes) -> int:
        columns = comb(s.d, r) * comb(2 * r - 2, r - 1)
        return comb(s.d, r) * comb(r, 2) * comb(columns, 2) * factorial(r)

    return size


PAIR_FAMILIES: tuple[Family, ...] = (
    Family(
        "low-rank minors",
        "(a+1)-minors of the flattening with columns r: its rank is at most a",
        True,
        when(lambda s: s.t > 1 and s.a < s.d, lambda s: s.a + 1),
        lambda s: comb(s.d_out * _pair_count(s), s.a + 1) * comb(s.d, s.a + 1),
        _low_rank,
    ),
    Family(
        "cross-column cubics",
        "3 x 3 minors of the symmetric matrix of a pencil of slices: a product of two linear forms "
        "has rank at most 2 (Chow type)",
        True,
        when(lambda s: s.t > 1 and s.d >= 3, constant_degree(3)),
        lambda s: comb(comb(s.d, 3) + 1, 2) * comb(s.d + 2, 3),
        _chow_cubics,
    ),
    Family(
        "context syzygies",
        "linear relations of the maximal minors of Phi(v), applied to the maximal minors of the "
        "flattening Phi(v) A",
        True,
        when(lambda s: s.t > 1 and s.d >= 3, lambda s: s.d),
        lambda s: comb(_pair_count(s), s.d) * factorial(s.d) // 4,
        _context_syzygies,
    ),
    Family(
        "Veronese-type quartics",
        "2 x 2 minors of the catalecticant blocks of D_alpha = v^alpha det A_KL, |K| = |L| = 2",
        True,
        when(lambda s: s.t > 1 and s.d >= 2 and s.a >= 2, constant_degree(4)),
        _veronese_size(2),
        _veronese_quartics,
    ),
    Family(
        "Veronese-type sextics",
        "2 x 2 minors of the catalecticant blocks of D_alpha = v^alpha det A_KL, |K| = |L| = 3",
        True,
        when(lambda s: s.t > 1 and s.d >= 3 and s.a >= 3, constant_degree(6)),
        _veronese_size(3),
        _veronese_sextics,
    ),
    Family(
        "resultant quartics",
        "Sylvester resultants of two slices restricted to a line: they share the factor v",
        True,
        when(lambda s: s.t > 1 and s.d >= 2, constant_degree(4)),
        lambda s: comb(s.d, 2) ** 2,
        _resultant_quartics,
    ),
    Family(
        "rank-one quadrics",
        "coefficients of the 2 x 2 minors of the matrix of quadrics T(w), which has rank one",
        False,
        when(lambda s: s.t > 1 and s.d_out >= 2 and s.d >= 2, constant_degree(2)),
        lambda s: comb(s.d_out, 2) * comb(s.d, 2) * comb(s.d + 3, 4),
        _output_minors,
    ),
    Family(
        "cross-output cubics",
        "3 x 3 determinants of three outputs on a line: they share the factor a(z)",
        False,
        when(lambda s: s.t > 1 and s.d_out >= 3 and s.d >= 2, constant_degree(3)),
        lambda s: comb(s.d, 2) * comb(s.d_out, 3) * s.d,
        _output_cubics,
    ),
    Family(
        "output resultants",
        "Sylvester resultants of two outputs restricted to a line: they share the factor a(z)",
        False,
        when(lambda s: s.t > 1 and s.d_out >= 2 and s.d >= 2, constant_degree(4)),
        lambda s: comb(s.d, 2) * comb(s.d_out, 2) * s.d,
        _output_resultants,
    ),
    Family(
        "output-rank minors",
        "(d+1)-minors of the flattening with rows i: its rank is at most d",
        False,
        when(lambda s: s.t > 1 and s.d_out > s.d >= 2, lambda s: s.d + 1),
        lambda s: comb(s.d_out, s.d + 1) * comb(s.d * _pair_count(s), s.d + 1),
        _output_rank,
    ),
)
