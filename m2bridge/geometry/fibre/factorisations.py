"""How many (Q, K) belong to one A, or to one quadratic form: dimensions of factorisation varieties.

t >= 2. {(K, Q) : K^T Q = A}, rank A = r, is a bundle over the homogeneous space of pairs with
P Q = 1_r (dimension 2 a r - r^2); its fibre is the variety of complexes k^n -> k^e -> k^n with
e = a - r, n = d - r, that is of pairs with product zero. Its irreducible components are the
closures of {ranks (i, e - i)} (De Concini and Strickland), or of full ranks (n, n) when e >= 2n.

t = 1. [Q; K] is a d-tuple of vectors in the 2a-dimensional quadratic space with form sum k_j q_j,
and its Gram matrix is S. A nondegenerate part of rank r gives a homogeneous space of the orthogonal
group, of dimension 2 a r - r (r + 1) / 2; the other n = d - r vectors span an isotropic subspace of
the complement, of dimension m = 2a - r. (Witt; derived in the docs, theory page.)
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Factorisations", "factorisations", "form_factorisations"]


@dataclass(frozen=True)
class Factorisations:
    """The variety of (Q, K) over one A (t >= 2) or one form S (t = 1).

    Attributes:
        component_dimensions: the dimensions of its irreducible components over the complex
            numbers, in decreasing order.
        real_dimension: the dimension of its real points; None when there are none.
        homogeneous: is it one orbit of the query-key symmetry?
        description: in words.
    """

    component_dimensions: tuple[int, ...]
    real_dimension: int | None
    homogeneous: bool
    description: str

    @property
    def dimension(self) -> int:
        """The largest dimension of a component."""
        return self.component_dimensions[0]


def factorisations(d: int, a: int, rank: int) -> Factorisations:
    """All (Q, K), each a x d, with K^T Q = A for one A of the given rank <= min(a, d)."""
    base = 2 * a * rank - rank * rank
    e, n = a - rank, d - rank
    if n == 0 or e == 0:
        if e == 0:
            text = f"one orbit of GL({a}), with trivial stabiliser"
        else:
            text = (
                f"one orbit of GL({a}): Q has full column rank {d}, and K is one of its left "
                "inverses times A"
            )
        return Factorisations((base,), base, True, text)
    if e >= 2 * n:
        dims = [2 * n * e - n * n]
    else:
        dims = [i * (n + e - i) + (e - i) * n for i in range(max(0, e - n), min(n, e) + 1)]
    count = len(dims)
    text = (
        f"pairs P Q = A with rank A = {rank} < {min(a, d)}: "
        f"{count} irreducible component{'s' * (count > 1)}; the rows of Q and K that A does not "
        f"determine form a variety of complexes of {n} x {e} and {e} x {n} matrices with product 0"
    )
    total = tuple(sorted((base + x for x in dims), reverse=True))
    return Factorisations(total, total[0], False, text)


def form_factorisations(
    d: int, a: int, signature: tuple[int, int] | None, rank: int
) -> Factorisations:
    """All (Q, K) with sym(K^T Q) = S for one form S of rank <= 2a.

    Args:
        d, a: sizes.
        signature: of S when it is real up to a scalar, else None.
        rank: the rank of S.
    """
    n, m = d - rank, 2 * a - rank
    base = 2 * a * rank - rank * (rank + 1) // 2
    largest = min(n, m // 2)
    # The isotropic subspaces of dimension m / 2 of a split form come in two families; O(2a)
    # itself (m = 0) has two components.
    two = m % 2 == 0 and n >= m // 2
    dimension = base + _isotropic(m, n, largest)
    real = None
    if signature is not None and max(signature) <= a:
        real_largest = min(n, a - max(signature))
        real = base + _isotropic(m, n, real_largest)
    homogeneous = n == 0 or m == 0
    text = (
        f"{d} vectors with given Gram matrix of rank {rank} in a quadratic space of dimension "
        f"{2 * a}: "
        + (
            f"one orbit of O({2 * a})"
            if homogeneous
            else f"a bundle over an orbit of O({2 * a}) whose fibre holds {n} vectors that span an "
            f"isotropic subspace of dimension at most {largest}"
        )
    )
    return Factorisations((dimension,) * (2 if two else 1), real, homogeneous, text)


def _isotropic(m: int, n: int, i: int) -> int:
    """Dimension of {n vectors spanning an isotropic subspace of dimension i} in an m-space."""
    return i * (m - i) - i * (i + 1) // 2 + i * n
