"""Do given equations generate the ideal, minimally? By the contravariant form.

I_D, the ideal in degree D, contains P = (coordinates) * I_{D-1}. The form that makes lowering
adjoint to raising is positive definite over QQ and invariant, so I_D = P + N with N the orthogonal
complement of P in I_D, a module whose highest-weight vectors are a small kernel. Equations of
degree D are a basis of I_D modulo P, that is, minimal generators and all of them, exactly when
there are dim N of them and their matrix of pairings with a basis of N is invertible. It suffices
that it is invertible modulo a prime.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import factorial, prod

from m2bridge.errors import VerificationError
from m2bridge.geometry.weights.expand import irreducible_basis, polynomial_of_codes
from m2bridge.geometry.weights.highest import HighestWeightSpace, highest_weight_space
from m2bridge.geometry.weights.ideal import (
    Block,
    WeightIdeal,
    product_pairings,
    product_sources,
)
from m2bridge.geometry.weights.linear import IntMatrix, exact_nullspace, to_flint
from m2bridge.geometry.weights.maps import IntegerPolynomial
from m2bridge.geometry.weights.space import monomials, norm

__all__ = ["check_generators", "complement"]

_PRIME = (1 << 61) - 1

Row = dict[int, int]


def check_generators(
    ideal: WeightIdeal,
    degree: int,
    equations: Sequence[IntegerPolynomial],
    *,
    independent: bool = False,
) -> None:
    """Prove that equations in I_D are a basis of it modulo (coordinates) * I_{D-1}.

    Args:
        ideal: the ideal, up to this degree or further.
        degree: D.
        equations: sorted coordinate positions -> coefficient; all of degree D and in the ideal.
        independent: they are known to be independent modulo that; only their number is compared.

    Raises:
        VerificationError: their number is wrong, or one follows from others and lower degrees.
    """
    if degree > ideal.max_degree:
        raise VerificationError(f"degree {degree} was not searched, but has generators")
    due = ideal.new_dimension(degree)
    if len(equations) != due:
        raise VerificationError(
            f"the ideal has {due} minimal generators of degree {degree}, not {len(equations)}"
        )
    if independent:
        return
    columns: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for j, g in enumerate(complement(ideal, degree)):
        for monomial, c in g.items():
            columns.setdefault(monomial, []).append((j, c * _square_norm(ideal, monomial)))
    echelon: dict[int, Row] = {}
    for number, f in enumerate(equations):
        row: Row = {}
        for monomial, c in f.items():
            for j, value in columns.get(monomial, ()):
                row[j] = row.get(j, 0) + c * value
        if not _extends(echelon, {j: x % _PRIME for j, x in row.items() if x % _PRIME}):
            raise VerificationError(
                f"number {number} of the generators of degree {degree} is no minimal generator: it "
                "follows from the ones before it and the equations of lower degree"
            )


def complement(ideal: WeightIdeal, degree: int) -> list[IntegerPolynomial]:
    """A basis of the orthogonal complement of (coordinates) * I_{D-1} in I_D."""
    previous = ideal.parts.get(degree - 1)
    below = {block.shape: block.ideal for block in previous.blocks} if previous else {}
    map_ = ideal.map
    index = map_.index_of_code
    out: list[IntegerPolynomial] = []
    for block in ideal.parts[degree].new_blocks:
        space = highest_weight_space(map_.degrees, block.shape)
        inside = HighestWeightSpace(
            space.degrees, space.shape, space.monomials, block.ideal, space.norms
        )
        pairings = product_pairings(inside, product_sources(map_.degrees, block.shape, below))
        for top in _tops(block, pairings):
            code_polynomial = polynomial_of_codes(monomials(map_.degrees, block.shape), top)
            basis = irreducible_basis(map_.degrees, map_.dims, block.shape, code_polynomial)
            out += [{tuple(index[code] for code in key): c for key, c in f.items()} for f in basis]
    return out


def _tops(block: Block, pairings: IntMatrix) -> Iterator[IntMatrix]:
    """The highest-weight vectors of I_D that are orthogonal to all products."""
    columns = block.ideal.astype(object)
    if not len(pairings):
        yield from columns.T
        return
    for combination in exact_nullspace(to_flint(pairings)):
        yield sum(c * column for c, column in zip(combination, columns.T, strict=True))


def _square_norm(ideal: WeightIdeal, monomial: tuple[int, ...]) -> int:
    """The square norm of a monomial, in coordinate positions; see ``weights.space.norm``."""
    labels = ideal.map.labels
    return prod(
        norm(labels[position]) ** count * factorial(count)
        for position, count in Counter(monomial).items()
    )


def _extends(echelon: dict[int, Row], row: Row) -> bool:
    """Reduce a row by the echelon form, modulo the prime, and add what is left of it."""
    while row:
        lead = min(row)
        pivot = echelon.get(lead)
        if pivot is None:
            inverse = pow(row[lead], -1, _PRIME)
            echelon[lead] = {j: c * inverse % _PRIME for j, c in row.items()}
            return True
        factor = row[lead]
        for j, c in pivot.items():
            value = (row.get(j, 0) - factor * c) % _PRIME
            if value:
                row[j] = value
            else:
                row.pop(j, None)
    return False
