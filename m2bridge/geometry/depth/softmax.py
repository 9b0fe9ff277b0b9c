"""Three independent ranks for one softmax network, against theorem and conjecture."""

from __future__ import annotations

from dataclasses import dataclass

from m2bridge.attention import Network
from m2bridge.geometry.depth.formulas import published, refined
from m2bridge.geometry.depth.numerical import NumericalRank, numerical_rank
from m2bridge.geometry.depth.rank import (
    DEFAULT_PRIMES,
    SLACK,
    Progress,
    RowSource,
    jacobian_rank,
    jet_order,
)

__all__ = ["SoftmaxComparison", "compare_softmax", "jet_ranks"]


@dataclass(frozen=True)
class SoftmaxComparison:
    """What three ways to find a softmax network's dimension say.

    Attributes:
        network: one head per layer, no skip connections.
        theorem: Theorem 10 of the theory page.
        conjecture: sum of al(2d - al) + d d' minus the inner squares (arXiv 2408.17221).
        formal: exact rank with formal exponentials.
        jets: exact rank of Taylor coefficients at 0, as (order, rank up to that order).
        numerical: floating-point rank with its gap.
        prime: modulus of both exact ranks.
        seed: of all random choices.
    """

    network: Network
    theorem: int
    conjecture: int
    formal: int
    jets: tuple[tuple[int, int], ...]
    numerical: NumericalRank
    prime: int
    seed: int

    @property
    def theorem_confirmed(self) -> bool:
        """Both exact ranks reach the theorem's value, and none exceeds it."""
        return self.formal == self.jets[-1][1] == self.theorem

    @property
    def conjecture_confirmed(self) -> bool:
        """The conjecture gives the exact rank; False is a refutation, since the theorem's value
        is an upper bound and the ranks are lower bounds."""
        return self.formal == self.conjecture


def compare_softmax(
    network: Network,
    *,
    seed: int = 0,
    prime: int | None = None,
    progress: Progress | None = None,
) -> SoftmaxComparison:
    """Compare formal exponentials, jets and singular values with theorem and conjecture.

    Args:
        network: a softmax network with one head per layer and no skip connections.
        seed, prime, progress: as for ``dimension``.

    Raises:
        ValueError: for any other network.
    """
    value, conjecture = refined(network)[0], published(network)
    if network.attention != "softmax" or value is None or conjecture is None:
        raise ValueError("comparison needs softmax attention, one head per layer, no skip")
    modulus = prime or DEFAULT_PRIMES[0]
    rows = value + SLACK
    formal = jacobian_rank(RowSource(network, modulus, seed), rows, progress=progress)
    return SoftmaxComparison(
        network=network,
        theorem=value,
        conjecture=conjecture,
        formal=formal,
        jets=jet_ranks(network, rows, seed=seed, prime=modulus, progress=progress),
        numerical=numerical_rank(network, rows, seed),
        prime=modulus,
        seed=seed,
    )


def jet_ranks(
    network: Network,
    rows: int,
    *,
    seed: int = 0,
    prime: int = DEFAULT_PRIMES[0],
    progress: Progress | None = None,
) -> tuple[tuple[int, int], ...]:
    """Rank of the Taylor coefficients up to each order at which new data can enter.

    These are the orders 1 and 2 * 3^(i-1) + 1 for i = 1..l (docs: theory page, proof of
    Theorem 10).
    """
    orders = [1, *(2 * 3**i + 1 for i in range(network.depth))]
    assert orders[-1] == jet_order(network)
    ranks = []
    for order in orders:
        source = RowSource(network, prime, seed, order)
        ranks.append((order, jacobian_rank(source, rows, progress=progress)))
    return tuple(ranks)
