"""M2's count of the reduced data with one function, at random rational weights.

What this proves is about one point: over that function there are so many reduced data up to
scalings. It is independent of the theorem about generic weights, which it is compared with.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from math import comb
from typing import Any

import numpy as np

from m2bridge.attention import Network
from m2bridge.attention.scalars import Matrix
from m2bridge.engine import Session
from m2bridge.errors import SizeLimitError, VerificationError
from m2bridge.geometry.depth.points import has_reduced_form, symmetric_layers
from m2bridge.geometry.depth.sizes import sizes
from m2bridge.geometry.unroll import reduced_data
from m2bridge.scripts import run_script

__all__ = ["MAX_TERMS", "check_confirmable", "confirmed_points"]

MAX_TERMS = 10_000_000
"""M2 is not asked when the output, as a polynomial, has more terms than this."""

_ATTEMPTS = 3
_ENTRIES = (*range(-20, 0), *range(1, 21))


def check_confirmable(network: Network) -> None:
    """Refuse what M2 cannot be asked, before any work.

    Raises:
        ValueError: softmax attention, several heads, or skip connections in a deep network.
        SizeLimitError: the network is too large.
    """
    if network.attention != "lightning" or not has_reduced_form(network):
        raise ValueError(
            "Macaulay2 is asked for the fibre of lightning attention with one head and without "
            "skip connections only: other functions are not polynomials in reduced data"
        )
    terms = _terms(network)
    if terms > MAX_TERMS:
        raise SizeLimitError(
            f"the output has up to {terms} terms in input and reduced data, more than the limit of "
            f"{MAX_TERMS}; leave Macaulay2 out, the number of points is then the theorem's"
        )


def _terms(network: Network) -> int:
    """A bound for the terms of the output: monomials in X, times those in each A~_i and V~_l."""
    d, t, depth = network.dims[0], network.t, network.depth
    terms = comb(3**depth + d * t - 1, d * t - 1) * network.dims[-1] * d
    for i, symmetric in enumerate(symmetric_layers(network)):
        variables = d * (d + 1) // 2 if symmetric else d * d
        terms *= comb(3 ** (depth - 1 - i) + variables - 1, variables - 1)
    return terms


def confirmed_points(
    network: Network,
    expected: int,
    session: Session,
    *,
    seed: int = 0,
    timeout: float | None = None,
) -> dict[str, Any]:
    """Let M2 find, over QQ, all reduced data with the function of random integer weights.

    Random weights may happen to be special, which gives another number; then others are tried.

    Args:
        network: lightning, one head, no skip connections between layers.
        expected: the number of points over a generic function.
        session: an M2 session.
        seed: of the first random weights; later attempts take the following ones.
        timeout: for each M2 job, in seconds.

    Returns:
        ``points``, ``length`` (of the scheme), ``dimension`` (0), ``equations``, ``seed`` of the
        weights, ``tried`` (seed and number of points of each attempt) and ``statement``, what is
        proved.

    Raises:
        ValueError, SizeLimitError: as `check_confirmable`.
        VerificationError: M2 found another number at all of the points.
        M2Error, M2TimeoutError, M2MemoryError: from M2.
    """
    check_confirmable(network)
    tried: list[dict[str, int]] = []
    for attempt in range(_ATTEMPTS):
        answer = _ask(network, session, seed + attempt, timeout)
        if answer is None:
            continue
        if not answer["contains"]:
            raise VerificationError(f"M2's fibre does not contain the weights it is of: {answer}")
        tried.append({"seed": seed + attempt, "points": answer["points"]})
        if answer["dimension"] == 0 and answer["points"] == answer["length"] == expected:
            found = {key: answer[key] for key in ("points", "length", "dimension", "equations")}
            statement = _statement(network, found["points"], seed + attempt)
            return {**found, "seed": seed + attempt, "tried": tried, "statement": statement}
    raise VerificationError(
        f"{expected} reduced data up to scalings are expected over a generic function; M2 finds, "
        f"by random seed of the weights (-1: infinitely many): {tried}"
    )


def _statement(network: Network, points: int, seed: int) -> str:
    which = "V~ and all A~"
    if any(symmetric_layers(network)):
        which += " (their symmetric parts where only these are seen)"
    noun = "point, reduced" if points == 1 else "points, all reduced"
    return (
        f"at the integer weights of random seed {seed}, over QQ: the {which} with the same "
        f"function are {points} {noun}, up to scalings and over the complex numbers"
    )


def _random_data(network: Network, seed: int) -> tuple[Matrix, list[Matrix]]:
    """V~_l and the A~_i, or A~_i + A~_i^T, of random weights."""
    generator = random.Random(seed)
    weights = [generator.choice(_ENTRIES) for _ in range(network.parameters)]
    data = reduced_data(_plain(network), network.weights_from_vector(weights))
    blind = symmetric_layers(network)
    return data.V, [A + A.T if b else A for A, b in zip(data.A, blind, strict=True)]


def _plain(network: Network) -> Network:
    """The same without the added input of a single layer, which changes no fibre."""
    return Network(network.dims, network.ranks, network.t) if network.skip else network


def _ask(
    network: Network, session: Session, seed: int, timeout: float | None
) -> dict[str, Any] | None:
    """M2's answer; None where the function vanishes at all small inputs."""
    V, A = _random_data(network, seed)
    start = _start(V, A)
    if start is None:
        return None
    s, blind = sizes(network), symmetric_layers(network)
    answer: dict[str, Any] = run_script(
        session,
        "reduced_fibre",
        timeout=timeout,
        d=network.dims[0],
        d_out=network.dims[-1],
        t=network.t,
        V=V.tolist(),
        A=[matrix.tolist() for matrix in A],
        symmetric=list(blind),
        bounds=[s.joint[i] if b else s.alpha[i] for i, b in enumerate(blind)],
        spans=list(s.reach[1:-1]),
        start=start,
    )
    if not answer["starts"]:
        raise VerificationError(f"M2 says that the function vanishes at {start}")
    return answer


def _start(V: Matrix, A: Sequence[Matrix]) -> list[int] | None:
    """A small vector x with V~ x and all x^T A~_i x nonzero: the function does not vanish there."""
    candidates = itertools.islice(itertools.product((1, 0, -1, 2), repeat=V.shape[1]), 4096)
    for entries in sorted(candidates, key=lambda x: (sum(map(abs, x)), x)):
        x = np.array(entries, dtype=object)
        if (V @ x).any() and all(x @ matrix @ x for matrix in A):
            return list(entries)
    return None
