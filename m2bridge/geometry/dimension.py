"""The dimension of the set of functions that an attention network can compute.

Two bounds that do not know of each other: below, the exact rank of the Jacobian at random weights
modulo a prime; above, a theorem or the parameters minus the infinitesimal symmetries. Where they
meet, the dimension is proved for this network.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass

import sympy

from m2bridge.attention import Network
from m2bridge.attention.scalars import positive_int
from m2bridge.errors import SizeLimitError, VerificationError
from m2bridge.geometry.depth.bounds import UpperBound, upper_bound
from m2bridge.geometry.depth.formulas import explain_difference, published, refined
from m2bridge.geometry.depth.numerical import numerical_rank
from m2bridge.geometry.depth.rank import (
    DEFAULT_PRIMES,
    SLACK,
    Progress,
    RowSource,
    jacobian_rank,
    jet_order,
)
from m2bridge.geometry.depth.result import DimensionResult

__all__ = ["METHODS", "DimensionResult", "dimension"]

METHODS = ("auto", "formula", "rank", "jets", "numerical")

_ATTEMPTS = 3
_AUTO_LIMIT = 4_000
"""Up to this many parameters ``method="auto"`` takes the rank; that stays below half a minute."""
_SYMMETRY_LIMIT = 1_500
"""Up to this many parameters the symmetries are counted beside a theorem's upper bound."""
_OPEN_SYMMETRY_LIMIT = 5_000
"""The same where no formula gives an upper bound, so that the symmetries are all there is."""
_SMALLEST_PRIME = 1 << 16


def dimension(
    network: Network,
    *,
    method: str = "auto",
    seed: int = 0,
    prime: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    limit: int = 20_000,
) -> DimensionResult:
    """The dimension of the affine cone of functions of a network, with proof where possible.

    Args:
        network: any `Network`.
        method: ``"rank"``: exact rank against upper bounds. ``"jets"``: the same for softmax with
            Taylor coefficients at 0 in place of formal exponentials. ``"numerical"``: a
            floating-point rank. ``"formula"``: formulas only, at once. ``"auto"``: ``"rank"`` up to
            4000 parameters, ``"formula"`` above.
        seed: of the random weights, inputs and functionals.
        prime: the modulus, a prime between 2^16 and 2^31; None for primes just below 2^31.
        executor: any ``concurrent.futures.Executor``, for the rows of the Jacobian.
        progress: called as ``progress(stage, done, total)``.
        limit: refuse a rank for more parameters than this.

    Returns:
        The bounds, where they come from, and the value where they meet.

    Raises:
        TypeError, ValueError: for an unknown method or a bad seed or prime.
        SizeLimitError: when a rank is asked for with more parameters than ``limit``.
        VerificationError: when the rank exceeds a proved bound, which would be a mistake here.
    """
    _check_arguments(network, method, seed, prime)
    if method == "auto":
        method = "rank" if network.parameters <= _AUTO_LIMIT else "formula"
    if method != "formula" and network.parameters > limit:
        raise SizeLimitError(
            f"a rank with {network.parameters} parameters exceeds the limit of {limit}; raise it "
            'with limit=, or use method="formula"'
        )
    if method == "formula":
        return _by_formula(network)
    if method == "numerical":
        return _by_svd(network, seed)
    return _by_rank(network, method, seed, prime, executor, progress)


def _check_arguments(network: Network, method: str, seed: object, prime: int | None) -> None:
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ValueError(f"seed must be a nonnegative integer, got {seed!r}")
    if prime is not None:
        prime = positive_int("prime", prime)
        if not _SMALLEST_PRIME < prime < 1 << 31 or not sympy.isprime(prime):
            raise ValueError(f"prime must be a prime between 2^16 and 2^31, got {prime}")
    if method == "jets" and network.attention != "softmax":
        raise ValueError('method "jets" is for softmax attention; lightning is polynomial already')


def _by_formula(network: Network) -> DimensionResult:
    value, theorem, where = refined(network)
    bound = value if value is not None else network.parameters
    reason = explain_difference(network)
    if not theorem:
        missing = "the formula is a proved upper bound only" if value is not None else where
        reason = f'{missing}; use method="rank" for a lower bound. {reason}'
    return DimensionResult(
        network=network,
        value=value if theorem else None,
        lower=value if theorem else None,
        upper=bound,
        certainty="proved" if theorem else "conjectural",
        formula=published(network),
        refined=value,
        parameters=network.parameters,
        reason=reason,
        lower_source=where if theorem else "not computed",
        upper_source=where if value is not None else "the number of parameters",
        method="formula",
        notes=network.notes,
    )


def _by_svd(network: Network, seed: int) -> DimensionResult:
    source = RowSource(network, DEFAULT_PRIMES[0], seed)
    upper = upper_bound(network, source, symmetries=_count_symmetries(network))
    rows = upper.value + SLACK
    found = numerical_rank(network, rows, seed)
    return DimensionResult(
        network=network,
        value=found.rank,
        lower=None,
        upper=upper.value,
        certainty="numerical",
        formula=published(network),
        refined=refined(network)[0],
        parameters=network.parameters,
        reason=explain_difference(network),
        lower_source="a floating-point rank proves no bound",
        upper_source=upper.source,
        method="numerical",
        seed=seed,
        inputs=rows,
        symmetries=upper.symmetries,
        gap=found.gap,
        tolerance=found.tolerance,
        notes=network.notes,
    )


@dataclass(frozen=True)
class _Lower:
    """The best exact rank over a few attempts."""

    rank: int
    rows: int
    primes: tuple[int, ...]
    seed: int


def _by_rank(
    network: Network,
    method: str,
    seed: int,
    prime: int | None,
    executor: Executor | None,
    progress: Progress | None,
) -> DimensionResult:
    jets = jet_order(network) if method == "jets" else None
    value, _, _ = refined(network)
    first = RowSource(network, prime or DEFAULT_PRIMES[0], seed, jets)
    upper = upper_bound(network, first, symmetries=_count_symmetries(network))
    lower = _best_rank(first, upper, prime, executor, progress)
    settled = lower.rank == upper.value
    reason = explain_difference(network)
    if not settled:
        reason = f"{_open_question(lower, upper, jets)} {reason}"
    return DimensionResult(
        network=network,
        value=upper.value if settled else None,
        lower=lower.rank,
        upper=upper.value,
        certainty="proved" if settled else "modular",
        formula=published(network),
        refined=value,
        parameters=network.parameters,
        reason=reason,
        lower_source=_rank_text(network, jets),
        upper_source=upper.source,
        method="rank" if jets is None else "jets",
        primes=lower.primes,
        seed=lower.seed,
        inputs=lower.rows,
        symmetries=upper.symmetries,
        notes=network.notes,
    )


def _count_symmetries(network: Network) -> bool:
    """Symmetries give a bound without any formula; their exact rank has cubic cost."""
    limit = _OPEN_SYMMETRY_LIMIT if refined(network)[0] is None else _SYMMETRY_LIMIT
    return network.parameters <= limit


def _best_rank(
    first: RowSource,
    upper: UpperBound,
    prime: int | None,
    executor: Executor | None,
    progress: Progress | None,
) -> _Lower:
    """Rank at a random point; a point below the bound gets further chances elsewhere.

    Raises:
        VerificationError: when a rank exceeds the proved bound.
    """
    rows, best, primes = upper.value + SLACK, -1, []
    for attempt in range(_ATTEMPTS):
        modulus = prime or DEFAULT_PRIMES[attempt % len(DEFAULT_PRIMES)]
        source = RowSource(first.network, modulus, first.seed + attempt, first.jets)
        rank = jacobian_rank(source, rows, executor=executor, progress=progress)
        primes.append(modulus)
        best = max(best, rank)
        if rank > upper.value:
            raise VerificationError(
                f"the Jacobian has rank {rank} modulo {modulus}, above the proved bound "
                f"{upper.value} ({upper.source})"
            )
        if rank == upper.value:
            break
    return _Lower(best, rows, tuple(primes), first.seed + len(primes) - 1)


def _rank_text(network: Network, jets: int | None) -> str:
    if jets is not None:
        return f"exact rank of Taylor coefficients at 0 up to order {jets}, modulo a prime"
    if network.attention == "softmax":
        return "exact rank with formal exponentials, modulo a prime"
    return "exact rank of the Jacobian modulo a prime"


def _open_question(lower: _Lower, upper: UpperBound, jets: int | None) -> str:
    if jets is not None:
        guess = f"Taylor coefficients above order {jets} may see more."
    else:
        guess = f"most likely it is {lower.rank}, but no argument here excludes more."
    return (
        f"the rank is {lower.rank} at {len(lower.primes)} random points, below the upper bound "
        f"{upper.value} ({upper.source}): the value is between these bounds; {guess}"
    )
