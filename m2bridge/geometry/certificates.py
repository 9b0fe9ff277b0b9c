"""Completeness certificates by Macaulay2: the Hilbert series, or dimension, degree, unmixedness.

Let J be the ideal of the generators found and I the ideal of the layer, J inside I.

Hilbert series. H(S/I) <= H(S/J) <= H(S/J mod p) coefficient by coefficient, the last because ranks
only drop modulo p. If the series modulo one prime equals the one that theorem 7 gives for I, all
three are equal, so J = I over QQ.

Unmixedness. I is prime. If S/J has the dimension and the degree of S/I and J has no component of
smaller dimension, then I is the only component, with multiplicity one: J = I.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from m2bridge.errors import M2Error, M2MemoryError, M2TimeoutError
from m2bridge.geometry.completeness import Verdict
from m2bridge.geometry.generators import sparse_lists
from m2bridge.geometry.hilbert import (
    HilbertSeries,
    hilbert_function,
    hilbert_series,
    image_degree,
    image_dimension,
)
from m2bridge.geometry.weights.maps import IntegerPolynomial
from m2bridge.scripts import run_script

if TYPE_CHECKING:
    from m2bridge.attention.layer import Layer

__all__ = [
    "PRIMES",
    "SeriesMismatch",
    "betti_numbers",
    "hilbert_series_of",
    "macaulay2_verdict",
    "too_large",
]

PRIMES = (32003, 31991)
"""Characteristics for Hilbert series; a second one is tried when the first disagrees."""

MAX_SERIES_SIZE = 50_000
MAX_UNMIXED_SIZE = 5_000
"""Generators times variables beyond which Macaulay2 is not asked for a Hilbert series (a Groebner
basis modulo a prime), or for unmixedness (a free resolution over QQ): time and memory would run
away."""


def hilbert_series_of(
    polynomials: Sequence[IntegerPolynomial],
    variables: int,
    session: Any,
    *,
    prime: int = 0,
    timeout: float | None = None,
) -> HilbertSeries:
    """The Hilbert series of S/(polynomials), by Macaulay2.

    Args:
        polynomials: integer polynomials in variable numbers.
        variables: how many variables S has.
        session: a Macaulay2 session.
        prime: the characteristic; 0 is QQ.
        timeout: seconds.
    """
    answer = run_script(
        session,
        "hilbert_certificate",
        timeout=timeout,
        variables=variables,
        polynomials=sparse_lists(polynomials),
        prime=prime,
    )
    terms = {int(k): int(c) for k, c in answer["numerator"]}
    numerator = [terms.get(k, 0) for k in range(max(terms, default=0) + 1)]
    dimension = variables
    while dimension and sum(numerator) == 0:
        # Divide by 1 - z: partial sums.
        total = 0
        quotient = []
        for c in numerator:
            total += c
            quotient.append(total)
        while quotient and quotient[-1] == 0:
            quotient.pop()
        numerator = quotient
        dimension -= 1
    return HilbertSeries(tuple(numerator), dimension)


class SeriesMismatch(Exception):  # noqa: N818 - not an error: it says where to search on
    """The series are different; ``degree`` is the first degree in which they are."""

    def __init__(self, degree: int) -> None:
        self.degree = degree
        super().__init__(f"the Hilbert series differ from degree {degree} on")


def _first_difference(found: HilbertSeries, expected: HilbertSeries) -> int:
    D = 0
    while found.coefficient(D) == expected.coefficient(D):
        D += 1
    return D


def _by_series(
    expected: HilbertSeries,
    polynomials: Sequence[IntegerPolynomial],
    variables: int,
    session: Any,
    timeout: float | None,
) -> Verdict:
    """Compare with theorem 7 modulo a prime.

    Raises:
        SeriesMismatch: modulo all primes S/J is larger than S/I.
    """
    gap = 0
    for prime in PRIMES:
        found = hilbert_series_of(polynomials, variables, session, prime=prime, timeout=timeout)
        if found == expected:
            return Verdict(
                True,
                f"The Hilbert series of the generators modulo {prime}, computed by Macaulay2, "
                "equals the Hilbert series of the image (theory page, theorem 7), so they generate "
                "the whole ideal over QQ.",
            )
        gap = max(gap, _first_difference(found, expected))
    raise SeriesMismatch(gap)


def _by_unmixedness(
    layer: Layer,
    polynomials: Sequence[IntegerPolynomial],
    session: Any,
    timeout: float | None,
) -> Verdict:
    """Compare dimension and degree over QQ and check that the ideal is unmixed."""
    answer = run_script(
        session,
        "unmixed_certificate",
        timeout=timeout,
        variables=layer.ambient_dimension,
        polynomials=sparse_lists(polynomials),
    )
    dimension, degree = image_dimension(layer), image_degree(layer)
    if (answer["dimension"], answer["degree"]) != (dimension, degree):
        return Verdict(
            False,
            f"Not the whole ideal: the generators define a scheme of dimension "
            f"{answer['dimension']} and degree {answer['degree']} (Macaulay2, over QQ), but the "
            f"image has dimension {dimension} and degree {degree}.",
        )
    if not answer["unmixed"]:
        return Verdict(
            None,
            "The generators have the dimension and the degree of the image (Macaulay2, over QQ), "
            "but their ideal has components of smaller dimension; equations of higher degree "
            "exist or the check does not apply.",
        )
    return Verdict(
        True,
        f"Over QQ the generators define an unmixed scheme of dimension {dimension} and degree "
        f"{degree} (Macaulay2), which are those of the image, whose ideal is prime: so they "
        "generate the whole ideal.",
    )


def too_large(layer: Layer, count: int) -> Verdict | None:
    """Undecided, where so many generators are too many for Macaulay2; None where they are not.

    Args:
        layer: the layer.
        count: the number of generators; they need not be known.
    """
    has_series = hilbert_function(layer, 1) is not None
    limit = MAX_SERIES_SIZE if has_series else MAX_UNMIXED_SIZE
    if count * layer.ambient_dimension <= limit:
        return None
    return Verdict(
        None,
        f"Macaulay2 was not asked: {count} generators in {layer.ambient_dimension} variables "
        "would take too long.",
    )


def macaulay2_verdict(
    layer: Layer,
    polynomials: Sequence[IntegerPolynomial],
    session: Any,
    *,
    timeout: float | None = None,
) -> Verdict:
    """Let Macaulay2 decide whether the generators are all.

    Args:
        layer: the layer.
        polynomials: generators, in coordinate positions.
        session: a Macaulay2 session.
        timeout: seconds.

    Returns:
        A verdict; undecided when Macaulay2 did not end within its limits.

    Raises:
        SeriesMismatch: generators of higher degree are to be expected.
    """
    if not polynomials:
        if image_dimension(layer) == layer.ambient_dimension:
            return Verdict(True, "The image has the dimension of the whole space.")
        return Verdict(
            False, "Not the whole ideal: the image has smaller dimension than the whole space."
        )
    refused = too_large(layer, len(polynomials))
    if refused is not None:
        return refused
    expected = hilbert_series(layer)
    try:
        if expected is not None:
            return _by_series(expected, polynomials, layer.ambient_dimension, session, timeout)
        return _by_unmixedness(layer, polynomials, session, timeout)
    except (M2TimeoutError, M2MemoryError) as exc:
        return Verdict(None, f"Macaulay2's certificate did not end within its limits ({exc}).")
    except M2Error as exc:
        return Verdict(None, f"Macaulay2 could not compute the certificate ({exc.message}).")


def betti_numbers(
    polynomials: Sequence[IntegerPolynomial],
    variables: int,
    session: Any,
    *,
    prime: int = 0,
    timeout: float | None = None,
) -> dict[tuple[int, int], int]:
    """Graded Betti numbers of S/(polynomials), by Macaulay2.

    Args:
        polynomials: integer polynomials in variable numbers.
        variables: how many variables S has.
        session: a Macaulay2 session.
        prime: the characteristic; 0 is QQ. Modulo a prime the numbers are upper bounds.
        timeout: seconds.

    Returns:
        (homological degree, degree) -> rank.
    """
    answer = run_script(
        session,
        "betti",
        timeout=timeout,
        variables=variables,
        polynomials=sparse_lists(polynomials),
        prime=prime,
    )
    return {(int(i), int(k)): int(n) for i, k, n in sorted(answer)}
