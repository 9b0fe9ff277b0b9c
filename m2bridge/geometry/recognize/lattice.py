"""Integral indefinite quadratic forms, kept small by lattice reduction.

A form on w is carried as c z^T G z with z = M w, G a nondegenerate integer matrix. Splitting off a
hyperbolic plane goes on in the lattice x^perp / x, whose determinant is not larger than that of G,
and G is reduced (LLL with absolute values; D. Simon, "Solving quadratic equations using reduced
unimodular quadratic forms", Math. Comp. 2005): otherwise numbers would explode from plane to plane.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import flint

__all__ = ["LatticeForm", "lattice_form", "reduced", "split_plane"]

IntMatrix = list[list[int]]
Vector = list[flint.fmpq]


@dataclass(frozen=True)
class LatticeForm:
    """The quadratic form c (M w)^T G (M w).

    Attributes:
        gram: G, symmetric, integers, nondegenerate.
        maps: the rows of M, rational.
        factor: c, rational, not zero.
    """

    gram: IntMatrix
    maps: list[Vector]
    factor: flint.fmpq

    @property
    def rank(self) -> int:
        return len(self.gram)


def lattice_form(matrix: Sequence[Sequence[flint.fmpq]]) -> LatticeForm:
    """The form w^T S w of a symmetric rational matrix S, not zero, on its support."""
    transposed = flint.fmpq_mat([list(row) for row in matrix]).transpose()
    echelon, rank = transposed.rref()
    n = len(matrix)
    rows = [next(j for j in range(n) if echelon[i, j] != 0) for i in range(int(rank))]
    # Rows that are independent give a nonsingular principal submatrix of a symmetric matrix.
    block = flint.fmpq_mat([[matrix[p][q] for q in rows] for p in rows])
    maps = block.solve(flint.fmpq_mat([list(matrix[p]) for p in rows]))
    gram, factor = _integral([[block[i, j] for j in range(len(rows))] for i in range(len(rows))])
    return reduced(LatticeForm(gram, _rows(maps), factor))


def _rows(matrix: flint.fmpq_mat) -> list[Vector]:
    return [[matrix[i, j] for j in range(matrix.ncols())] for i in range(matrix.nrows())]


def _integral(rows: list[Vector]) -> tuple[IntMatrix, flint.fmpq]:
    """A primitive integer matrix and the factor that was taken out."""
    denominator, content = flint.fmpz(1), flint.fmpz(0)
    for row in rows:
        for x in row:
            denominator = denominator.lcm(x.q)
    for row in rows:
        for x in row:
            content = content.gcd((x * denominator).p)
    scale = flint.fmpq(denominator, content)
    return [[int((x * scale).p) for x in row] for row in rows], 1 / scale


def reduced(form: LatticeForm) -> LatticeForm:
    """Change the basis of the lattice so that G has small entries.

    An isotropic Gram-Schmidt vector ends the reduction early: it is found again by whoever looks
    for small zeros.
    """
    n = form.rank
    basis = [[int(i == j) for j in range(n)] for i in range(n)]
    gram = [list(row) for row in form.gram]
    k = 1
    while k < n:
        mu, norms = _gram_schmidt(gram)
        if norms is None:
            break
        for j in range(k - 1, -1, -1):
            step = round(mu[k][j])
            if step:
                _add(gram, basis, k, j, -step)
                mu, norms = _gram_schmidt(gram)
                assert norms is not None
        swapped = norms[k] + mu[k][k - 1] ** 2 * norms[k - 1]
        if abs(swapped) < Fraction(3, 4) * abs(norms[k - 1]):
            _swap(gram, basis, k, k - 1)
            k = max(k - 1, 1)
        else:
            k += 1
    # z = B^T z' for the new basis vectors in the rows of B, so z' = B^-T M w.
    change = flint.fmpq_mat([list(map(flint.fmpq, column)) for column in zip(*basis, strict=True)])
    maps = change.solve(flint.fmpq_mat(form.maps))
    return LatticeForm(gram, _rows(maps), form.factor)


def _gram_schmidt(gram: IntMatrix) -> tuple[list[list[Fraction]], list[Fraction] | None]:
    """Coefficients and norms; None for the norms as soon as one of them vanishes."""
    n = len(gram)
    mu = [[Fraction(0)] * n for _ in range(n)]
    r = [[Fraction(0)] * n for _ in range(n)]
    norms: list[Fraction] = []
    for i in range(n):
        for j in range(i + 1):
            r[i][j] = gram[i][j] - sum((mu[j][k] * r[i][k] for k in range(j)), Fraction(0))
            if j < i:
                mu[i][j] = r[i][j] / norms[j]
        if r[i][i] == 0 and i < n - 1:
            return mu, None
        norms.append(r[i][i])
    return mu, norms


def _add(gram: IntMatrix, basis: IntMatrix, k: int, j: int, factor: int) -> None:
    """Basis vector k plus factor times basis vector j."""
    n = len(gram)
    basis[k] = [x + factor * y for x, y in zip(basis[k], basis[j], strict=True)]
    gram[k] = [x + factor * y for x, y in zip(gram[k], gram[j], strict=True)]
    for i in range(n):
        gram[i][k] += factor * gram[i][j]


def _swap(gram: IntMatrix, basis: IntMatrix, k: int, j: int) -> None:
    basis[k], basis[j] = basis[j], basis[k]
    gram[k], gram[j] = gram[j], gram[k]
    for row in gram:
        row[k], row[j] = row[j], row[k]


def split_plane(form: LatticeForm, x: Vector) -> tuple[tuple[Vector, Vector], LatticeForm | None]:
    """Split off the hyperbolic plane around an isotropic x: f(w) g(w) + a form of rank r - 2.

    Args:
        form: the form.
        x: a rational zero of G, in the coordinates z.

    Returns:
        (f, g) and the rest; None for a rest of rank 0.
    """
    n = form.rank
    primitive = _primitive(x)
    dual = _times(form.gram, primitive)  # B(x, -)
    lattice = _kernel(dual)
    rest_basis = _modulo(lattice, primitive)
    k = next(i for i, value in enumerate(dual) if value)
    # y with B(x, y) = 1 and B(y, y) = 0.
    y = [flint.fmpq(0)] * n
    y[k] = flint.fmpq(1, dual[k])
    norm = flint.fmpq(form.gram[k][k]) * y[k] * y[k]
    y = [b - norm / 2 * a for a, b in zip(primitive, y, strict=True)]
    dual_y = [
        sum((flint.fmpq(g) * b for g, b in zip(row, y, strict=True)), flint.fmpq(0))
        for row in form.gram
    ]
    f = _combine(form.maps, [2 * form.factor * v for v in dual])
    g = _combine(form.maps, dual_y)
    if not rest_basis:
        return (f, g), None
    adjusted = []
    for vector in rest_basis:
        shift = sum((flint.fmpq(v) * b for v, b in zip(vector, dual_y, strict=True)), flint.fmpq(0))
        adjusted.append([v - shift * a for v, a in zip(vector, primitive, strict=True)])
    whole = flint.fmpq_mat([list(map(flint.fmpq, primitive)), y, *adjusted]).transpose()
    coordinates = whole.solve(flint.fmpq_mat(form.maps))
    gram = [[_pair(form.gram, v, w) for w in rest_basis] for v in rest_basis]
    integral, scale = _integral([[flint.fmpq(value) for value in row] for row in gram])
    rest = LatticeForm(integral, _rows(coordinates)[2:], form.factor * scale)
    return (f, g), reduced(rest)


def _primitive(x: Vector) -> list[int]:
    integers, _ = _integral([x])
    return integers[0]


def _times(gram: IntMatrix, x: Sequence[int]) -> list[int]:
    return [sum(a * b for a, b in zip(row, x, strict=True)) for row in gram]


def _pair(gram: IntMatrix, v: Sequence[int], w: Sequence[int]) -> int:
    return sum(a * b for a, b in zip(v, _times(gram, w), strict=True))


def _combine(maps: list[Vector], weights: Sequence[object]) -> Vector:
    total = [flint.fmpq(0)] * len(maps[0])
    for weight, row in zip(weights, maps, strict=True):
        total = [t + flint.fmpq(weight) * v for t, v in zip(total, row, strict=True)]
    return total


def _kernel(linear: list[int]) -> IntMatrix:
    """A reduced basis of the integer vectors on which an integer linear form vanishes.

    LLL on the rows (v, N linear(v)) with a large N leaves the kernel in front.
    """
    n = len(linear)
    weight = 10 ** (len(str(max(map(abs, linear)))) + n + 2)
    rows = [[int(i == j) for j in range(n)] + [weight * linear[i]] for i in range(n)]
    short = flint.fmpz_mat(rows).lll().tolist()
    return [[int(v) for v in row[:n]] for row in short if row[n] == 0]


def _modulo(lattice: IntMatrix, x: Sequence[int]) -> IntMatrix:
    """Lattice vectors that are, with the primitive lattice vector x, a basis of the lattice."""
    rank = len(lattice)
    columns = flint.fmpq_mat(
        [list(map(flint.fmpq, column)) for column in zip(*lattice, strict=True)]
    )
    # x = sum c_i lattice_i with coprime integers c: complete c to a unimodular matrix.
    square = columns.transpose() * columns
    right = columns.transpose() * flint.fmpq_mat([[flint.fmpq(v)] for v in x])
    solution = square.solve(right)
    c = [int(solution[i, 0].p) for i in range(rank)]
    # Euclid on c; the same steps, inverse transposed, on the basis.
    basis = [list(row) for row in lattice]
    while sum(1 for v in c if v) > 1:
        j = min((i for i, v in enumerate(c) if v), key=lambda i: abs(c[i]))
        for i in range(rank):
            if i != j and c[i]:
                # c_i e_i + c_j e_j = (c_i - q c_j) e_i + c_j (e_j + q e_i).
                q = c[i] // c[j]
                c[i] -= q * c[j]
                basis[j] = [a + q * b for a, b in zip(basis[j], basis[i], strict=True)]
    last = next(i for i, v in enumerate(c) if v)
    return [row for i, row in enumerate(basis) if i != last]
