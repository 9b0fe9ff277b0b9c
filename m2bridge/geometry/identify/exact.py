"""Rank types of exact weights: integers, rationals, and algebraic numbers given as sympy."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import flint
import sympy
from sympy.polys.matrices import DomainMatrix

from m2bridge.geometry.recognize.quadratic import diagonalise, rational, signature

__all__ = ["FormData", "form_data", "joint", "rank", "symmetric_part"]

Rows = list[list[Any]]
FormData = tuple[tuple[int, int], int, tuple[int, int]]
"""(signature of S, dim of ker V and rad S in common, signature of S on ker V)."""


def _is_rational(rows: Sequence[Sequence[Any]]) -> bool:
    return all(isinstance(x, (int, Fraction, sympy.Rational)) for row in rows for x in row)


def _algebraic(rows: Sequence[Sequence[Any]]) -> DomainMatrix:
    """A matrix over a number field.

    Raises:
        TypeError: for entries with free symbols.
    """
    matrix = sympy.Matrix([[sympy.sympify(x) for x in row] for row in rows])
    if matrix.free_symbols:
        names = ", ".join(sorted(map(str, matrix.free_symbols)))
        raise TypeError(f"weights must be numbers to be identified, they contain {names}")
    return DomainMatrix.from_Matrix(matrix, extension=True).to_field()


def rank(rows: Sequence[Sequence[Any]]) -> int:
    """The exact rank."""
    if _is_rational(rows):
        return int(flint.fmpq_mat([[rational(x) for x in row] for row in rows]).rank())
    return int(_algebraic(rows).rank())


def joint(V: Rows, A: Rows) -> Rows:
    """[V^T | A]: d rows."""
    return [[*(row[p] for row in V), *A[p]] for p in range(len(A))]


def symmetric_part(A: Rows) -> Rows:
    """A + A^T: twice the symmetric part, which has the same signs and ranks."""
    return [[A[p][q] + A[q][p] for q in range(len(A))] for p in range(len(A))]


def form_data(V: Rows, S: Rows) -> FormData:
    """Signatures of S and of its restriction to ker V, and dim(ker V meet rad S)."""
    d = len(S)
    common = d - rank([*V, *S])
    if _is_rational(V) and _is_rational(S):
        exact = [[rational(x) for x in row] for row in S]
        kernel = _rational_kernel([[rational(x) for x in row] for row in V])
        restricted = _restrict(exact, kernel) if kernel else []
        return signature(diagonalise(exact)), common, signature(diagonalise(restricted))
    matrix = _algebraic(S)
    null = _algebraic(V).nullspace()
    inside = (0, 0)
    if null.shape[0]:
        field = matrix.domain.unify(null.domain)
        N, M = null.convert_to(field), matrix.convert_to(field)
        inside = _algebraic_signature(N * M * N.transpose())
    return _algebraic_signature(matrix), common, inside


def _rational_kernel(rows: list[list[flint.fmpq]]) -> list[list[flint.fmpq]]:
    """A basis of the kernel, read off the reduced row echelon form."""
    d = len(rows[0])
    reduced, count = flint.fmpq_mat(rows).rref()
    pivots = [next(j for j in range(d) if reduced[i, j] != 0) for i in range(int(count))]
    basis = []
    for free in (j for j in range(d) if j not in pivots):
        vector = [flint.fmpq(0)] * d
        vector[free] = flint.fmpq(1)
        for i, p in enumerate(pivots):
            vector[p] = -reduced[i, free]
        basis.append(vector)
    return basis


def _restrict(S: list[list[flint.fmpq]], basis: list[list[flint.fmpq]]) -> list[list[flint.fmpq]]:
    N = flint.fmpq_mat(basis)
    product = N * flint.fmpq_mat(S) * N.transpose()
    n = len(basis)
    return [[product[i, j] for j in range(n)] for i in range(n)]


def _algebraic_signature(matrix: DomainMatrix) -> tuple[int, int]:
    """Descartes' rule, exact for the characteristic polynomial: all its roots are real."""
    coefficients = [matrix.domain.to_sympy(c) for c in matrix.charpoly()]
    signs = [_sign(c) for c in coefficients]
    negated = [s * (-1) ** k for k, s in enumerate(signs)]
    return _sign_changes(signs), _sign_changes(negated)


def _sign(x: sympy.Expr) -> int:
    if x == 0:
        return 0
    return 1 if sympy.sign(x) == 1 or x.is_positive else -1


def _sign_changes(signs: list[int]) -> int:
    nonzero = [s for s in signs if s]
    return sum(1 for a, b in pairwise(nonzero) if a != b)
