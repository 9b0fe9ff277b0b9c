"""Smith normal forms: M2 diagonalizes, the chain of divisions is made and checked here.

M2's ``smithNormalForm`` gives a diagonal matrix whose entries may come in any order. Where M2 has
none, or a wrong one, Euclid's algorithm makes it here.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from m2bridge.algebra.domains import LARGEST_FACTORING_CHARACTERISTIC
from m2bridge.errors import VerificationError

if TYPE_CHECKING:
    from m2bridge.algebra.matrix import Matrix

__all__ = ["SmithForm", "check_unimodular", "smith_form"]

_log = logging.getLogger("m2bridge.algebra")

_Rows = list[list[Any]]


@dataclass(frozen=True)
class SmithForm:
    """D = P A Q.

    Attributes:
        diagonal: D, of A's shape; its diagonal entries divide each other in their order.
        left, right: P and Q, invertible over the ring.
    """

    diagonal: Matrix
    left: Matrix
    right: Matrix

    @property
    def invariants(self) -> list[Any]:
        """The diagonal entries, zeros included, as D has them."""
        return [self.diagonal[i, i] for i in range(min(self.diagonal.shape))]

    def __iter__(self) -> Any:
        """D, P, Q: M2's order."""
        return iter((self.diagonal, self.left, self.right))

    def _repr_latex_(self) -> str:
        """P A Q = D, with A left as a letter."""
        p, d, q = (m._repr_latex_().strip("$") for m in (self.left, self.diagonal, self.right))
        return f"${p} \\; A \\; {q} = {d}$"


def smith_form(matrix: Matrix) -> SmithForm:
    """The Smith form of a matrix over ZZ or over K[x]; see ``Matrix.smith_form``."""
    from m2bridge.algebra.matrix import identity

    ring = matrix.ring
    if not (ring.domain.is_ZZ and not ring.ngens) and not (ring.is_field and ring.ngens == 1):
        raise ValueError(
            "a Smith form needs integers, m2.ring([], domain=ZZ), or one variable over a field"
        )
    if all(matrix.shape) and _in_macaulay2(ring.domain):
        try:
            return _finished(matrix, matrices_asked(matrix))
        except VerificationError as error:
            # M2 1.21 adds columns in characteristic p
            _log.info("Macaulay2's Smith form was wrong (%s); it is made here", error)
    rows, columns = matrix.shape
    return _finished(matrix, [matrix, identity(ring, rows), identity(ring, columns)])


def _in_macaulay2(domain: Any) -> bool:
    """M2 has none over QQ extended by a root, and wants the factory library for some matrices."""
    if domain.is_FiniteField:
        return bool(domain.characteristic() <= LARGEST_FACTORING_CHARACTERISTIC)
    return not domain.is_AlgebraicField


def matrices_asked(matrix: Matrix) -> list[Matrix]:
    """M2's D, P, Q.

    Raises:
        VerificationError: their shapes are no Smith form's.
    """
    from m2bridge.algebra.matrix import matrices_of

    found = matrices_of(matrix.ring, matrix._ask("smith"))
    rows, columns = matrix.shape
    if [m.shape for m in found] != [(rows, columns), (rows, rows), (columns, columns)]:
        raise VerificationError("the matrices of the Smith form have other shapes")
    return found


def _finished(matrix: Matrix, found: list[Matrix]) -> SmithForm:
    """The checked Smith form from matrices D = P A Q, of which D need not be diagonal."""
    from m2bridge.algebra.matrix import Matrix

    ring = matrix.ring
    work = _Work(*map(_lists, found))
    work.diagonalize(ring.poly_ring)
    work.make_chain(ring.poly_ring)
    work.normalize(ring.poly_ring.domain)
    d, p, q = (
        Matrix(ring, *m.shape, [e for row in rows for e in row])
        for m, rows in zip(found, (work.d, work.p, work.q), strict=True)
    )
    _check(matrix, d, p, q)
    return SmithForm(d, p, q)


def _lists(matrix: Matrix) -> _Rows:
    rows, columns = matrix.shape
    return [list(matrix.elements[i * columns : (i + 1) * columns]) for i in range(rows)]


class _Work:
    """D, P, Q under row and column operations that keep D = P A Q."""

    def __init__(self, d: _Rows, p: _Rows, q: _Rows) -> None:
        self.d, self.p, self.q = d, p, q

    def diagonalize(self, poly_ring: Any) -> None:
        """Euclid's algorithm on rows and columns, with the smallest entry as pivot."""
        for k in range(min(len(self.d), len(self.d[0]) if self.d else 0)):
            while self._pivot(k) and not self._clear(k, poly_ring):
                pass

    def _pivot(self, k: int) -> bool:
        """Brings the smallest entry from k on to (k, k); false when all are zero."""
        places = range(k, len(self.d)), range(k, len(self.d[0]))
        nonzero = [
            (_size(self.d[i][j]), i, j) for i in places[0] for j in places[1] if self.d[i][j]
        ]
        if not nonzero:
            return False
        if self.d[k][k] and not any(i == k or j == k for _, i, j in nonzero if i != j):
            return False
        _, i, j = min(nonzero)
        for rows in (self.d, self.p):
            rows[i], rows[k] = rows[k], rows[i]
        for rows in (self.d, self.q):
            for row in rows:
                row[j], row[k] = row[k], row[j]
        return True

    def _clear(self, k: int, poly_ring: Any) -> bool:
        """Subtracts row and column k from the others; whether nothing is left beside (k, k)."""
        for i in range(k + 1, len(self.d)):
            factor = _quotient(self.d[i][k], self.d[k][k], poly_ring)
            for rows in (self.d, self.p) if factor else ():
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
        for j in range(k + 1, len(self.d[0])):
            factor = _quotient(self.d[k][j], self.d[k][k], poly_ring)
            for rows in (self.d, self.q) if factor else ():
                for row in rows:
                    row[j] = row[j] - factor * row[k]
        rest = [row[k] for row in self.d[k + 1 :]] + self.d[k][k + 1 :]
        return not any(rest)

    def make_chain(self, poly_ring: Any) -> None:
        """Exchanges neighbours (a, b) by (gcd, lcm) until each entry divides the next."""
        size = min(len(self.d), len(self.d[0]) if self.d else 0)
        for i in range(size):
            for j in range(i + 1, size):
                a, b = self.d[i][i], self.d[j][j]
                if not b or (a and not b.rem(a)):
                    continue
                if not a:
                    self._swap(i, j)
                else:
                    self._gcd_step(i, j, a, b, poly_ring)

    def normalize(self, domain: Any) -> None:
        """Makes the diagonal positive, or monic."""
        for i in range(min(len(self.d), len(self.d[0]) if self.d else 0)):
            lead = self.d[i][i].LC
            if not lead:
                continue
            unit = domain.one / lead if domain.is_Field else domain(-1 if lead < 0 else 1)
            for rows in (self.d, self.p):
                rows[i] = [e.mul_ground(unit) for e in rows[i]]

    def _swap(self, i: int, j: int) -> None:
        for rows in (self.d, self.p):
            rows[i], rows[j] = rows[j], rows[i]
        for rows in (self.d, self.q):
            for row in rows:
                row[i], row[j] = row[j], row[i]

    def _gcd_step(self, i: int, j: int, a: Any, b: Any, poly_ring: Any) -> None:
        """diag(a, b) to diag(g, -ab/g): with s a + t b = g, rows then columns."""
        s, t, g = _gcdex(a, b, poly_ring)
        u, v = a.exquo(g), b.exquo(g)
        # rows (1 t; -v 1 - v t) after adding the second column: every factor has determinant 1
        self._columns(i, j, 1, 1, 0)
        self._rows(i, j, s, t, -v, u)
        # now the block is (g, t b; 0, u b)
        self._columns(i, j, -t * v, 0, 1)

    def _columns(self, i: int, j: int, factor: Any, source: int, target: int) -> None:
        """Adds factor times one of the columns i, j to the other (0 is i, 1 is j)."""
        places = (i, j)
        for rows in (self.d, self.q):
            for row in rows:
                row[places[target]] = row[places[target]] + factor * row[places[source]]

    def _rows(self, i: int, j: int, s: Any, t: Any, x: Any, y: Any) -> None:
        for rows in (self.d, self.p):
            first, second = rows[i], rows[j]
            rows[i] = [s * a + t * b for a, b in zip(first, second, strict=True)]
            rows[j] = [x * a + y * b for a, b in zip(first, second, strict=True)]


def _gcdex(a: Any, b: Any, poly_ring: Any) -> tuple[Any, Any, Any]:
    """s a + t b = g, by Euclid's algorithm over ZZ or K[x]."""
    one, zero = poly_ring.one, poly_ring.zero
    (r0, s0, t0), (r1, s1, t1) = (a, one, zero), (b, zero, one)
    while r1:
        q = _quotient(r0, r1, poly_ring)
        r0, s0, t0, r1, s1, t1 = r1, s1, t1, r0 - q * r1, s0 - q * s1, t0 - q * t1
    return s0, t0, r0


def _quotient(a: Any, b: Any, poly_ring: Any) -> Any:
    if poly_ring.ngens:
        return a.quo(b)
    number = poly_ring.domain.quo(a.get((), poly_ring.domain.zero), b[()])
    return poly_ring.ground_new(number)


def _check(matrix: Matrix, d: Matrix, p: Matrix, q: Matrix) -> None:
    if p * matrix * q != d:
        raise VerificationError("the Smith form is not P A Q")
    columns = d.shape[1]
    if any(e and k // columns != k % columns for k, e in enumerate(d.elements)):
        raise VerificationError("the Smith form is not diagonal")
    diagonal = [d.elements[i * columns + i] for i in range(min(d.shape))]
    for a, b in pairwise(diagonal):
        if b and (not a or b.rem(a)):
            raise VerificationError("the entries of the Smith form do not divide each other")
    check_unimodular("P of the Smith form", p)
    check_unimodular("Q of the Smith form", q)


def check_unimodular(name: str, side: Matrix) -> None:
    """A square matrix over a domain is invertible just when its determinant is a unit.

    Raises:
        VerificationError: it is not.
    """
    ring = side.ring.poly_ring
    determinant = _determinant(_lists(side), ring)
    if ring.domain.is_Field:
        invertible = bool(determinant) and determinant.is_ground
    else:
        invertible = determinant in (1, -1)
    if not invertible:
        raise VerificationError(f"{name} is not invertible")


def _determinant(rows: _Rows, ring: Any) -> Any:
    """By Bareiss' elimination, whose divisions are exact in any domain (Math. Comp. 22, 1968)."""
    sign, last = ring.one, ring.one
    for k in range(len(rows) - 1):
        found = next((i for i in range(k, len(rows)) if rows[i][k]), None)
        if found is None:
            return ring.zero
        if found != k:
            rows[k], rows[found], sign = rows[found], rows[k], -sign
        for i in range(k + 1, len(rows)):
            for j in range(k + 1, len(rows)):
                e = rows[i][j] * rows[k][k] - rows[i][k] * rows[k][j]
                rows[i][j] = e.exquo(last) if e else e
        last = rows[k][k]
    return sign * rows[-1][-1] if rows else sign


def _size(entry: Any) -> int:
    """Euclid's size of a nonzero entry: the degree, or the number without its sign."""
    return int(entry.degree()) if entry.ring.ngens else abs(int(entry[()]))
