"""Smith normal forms: M2 diagonalizes, the chain of divisions is made and checked here.

M2's ``smithNormalForm`` gives a diagonal matrix whose entries may come in any order.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from m2bridge.errors import VerificationError

if TYPE_CHECKING:
    from m2bridge.algebra.matrix import Matrix

__all__ = ["SmithForm", "smith_form"]

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


def smith_form(matrix: Matrix) -> SmithForm:
    """The Smith form of a matrix over ZZ or over K[x]; see ``Matrix.smith_form``."""
    from m2bridge.algebra.matrix import Matrix, matrices_of

    ring = matrix.ring
    if not (ring.domain.is_ZZ and not ring.ngens) and not (ring.is_field and ring.ngens == 1):
        raise ValueError(
            "a Smith form needs integers, m2.ring([], domain=ZZ), or one variable over a field"
        )
    if all(matrix.shape):
        found = matrices_of(ring, matrix._ask("smith"))
    else:
        found = [matrix, _identity(matrix, matrix.shape[0]), _identity(matrix, matrix.shape[1])]
    work = _Work(*map(_lists, found))
    work.make_chain(ring.poly_ring)
    work.normalize(ring.poly_ring.domain)
    d, p, q = (
        Matrix(ring, *m.shape, [e for row in rows for e in row])
        for m, rows in zip(found, (work.d, work.p, work.q), strict=True)
    )
    _check(matrix, d, p, q)
    return SmithForm(d, p, q)


def _identity(matrix: Matrix, size: int) -> Matrix:
    from m2bridge.algebra.matrix import Matrix

    r = matrix.ring.poly_ring
    return Matrix(
        matrix.ring,
        size,
        size,
        [r.one if i == j else r.zero for i in range(size) for j in range(size)],
    )


def _lists(matrix: Matrix) -> _Rows:
    rows, columns = matrix.shape
    return [list(matrix.elements[i * columns : (i + 1) * columns]) for i in range(rows)]


class _Work:
    """D, P, Q under row and column operations that keep D = P A Q."""

    def __init__(self, d: _Rows, p: _Rows, q: _Rows) -> None:
        self.d, self.p, self.q = d, p, q

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
            unit = 1 / lead if domain.is_Field else domain(-1 if lead < 0 else 1)
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
    for name, side in (("P", p), ("Q", q)):
        if side.shape[0] and not _is_unit(side):
            raise VerificationError(f"{name} of the Smith form is not invertible")


def _is_unit(side: Matrix) -> bool:
    from sympy.polys.matrices import DomainMatrix

    ring = side.ring.poly_ring
    size = side.shape[0]
    if ring.ngens:
        domain = ring.to_domain()
        rows = [[side.elements[i * size + j] for j in range(size)] for i in range(size)]
        determinant = DomainMatrix(rows, (size, size), domain).charpoly()[-1]
        return bool(determinant) and determinant.is_ground
    numbers = [
        [side.elements[i * size + j].get((), ring.domain.zero) for j in range(size)]
        for i in range(size)
    ]
    return abs(int(DomainMatrix(numbers, (size, size), ring.domain).det())) == 1
