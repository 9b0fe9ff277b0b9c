"""M2's decomposition of a fibre over QQ, compared with what unique factorisation says."""

from __future__ import annotations

from typing import Any

import flint
import sympy

from m2bridge.engine import Session
from m2bridge.errors import VerificationError
from m2bridge.geometry.fibre.result import Fibre
from m2bridge.scripts import run_script

__all__ = ["confirmed", "factorisation_primes"]


def confirmed(fibre: Fibre, session: Session, timeout: float | None = None) -> dict[str, Any]:
    """Let M2 compute the fibre of (V, A) -> function, up to scaling, over QQ.

    Args:
        fibre: of a function that is not zero.
        session: an M2 session.
        timeout: for M2, in seconds.

    Returns:
        ``length``, ``points``, ``real_points`` and, per component over QQ, ``degrees`` and
        ``lengths``, all computed by M2 and equal to what ``fibre`` says. Real points are those
        with real V and A (t = 1: sym(A)); for t = 1 and a < d not all of them have real weights.

    Raises:
        ValueError: for the zero function, whose fibre is not finite.
        VerificationError: when M2 finds another fibre.
        M2Error, M2TimeoutError, M2MemoryError: from M2.
    """
    if fibre.is_zero:
        raise ValueError("the fibre of the zero function is not finite")
    layer = fibre.layer
    common = sympy.ilcm(*(x.q for x in fibre.coefficients), 1)
    answer = run_script(
        session,
        "fibre",
        timeout=timeout,
        d=layer.d,
        d_out=layer.d_out,
        a=layer.a,
        t=layer.t,
        point=[int(x * common) for x in fibre.coefficients],
        form=[(31 * k * k + 17 * k + 7) % 101 + 1 for k in range(layer.d_out * layer.d)],
    )
    if not answer["complete"] or answer["dimension"] != 0:
        raise VerificationError(f"M2 does not see a finite fibre up to scaling: {answer}")
    found = {
        "length": answer["length"],
        "points": answer["points"],
        "real_points": _real_roots(answer["separating"], answer["points"]),
        "degrees": [degree for degree, _ in answer["components"]],
        "lengths": [length for _, length in answer["components"]],
    }
    for name in ("length", "points"):
        if found[name] != getattr(fibre, name):
            raise VerificationError(
                f"M2 finds {name} {found[name]}, unique factorisation {getattr(fibre, name)}"
            )
    expected = _real_pairs(fibre)
    if found["real_points"] != expected:
        raise VerificationError(
            f"M2 finds {found['real_points']} real points, unique factorisation {expected}"
        )
    return found


def _real_pairs(fibre: Fibre) -> int:
    """Points with real V and A, or sym(A), whether or not A has real Q and K."""
    if fibre.layer.t == 1:
        return sum(1 for c in fibre.components if c.preimage is not None and c.preimage.signature)
    return fibre.real_points or 0


def _real_roots(coefficients: list[str], points: int) -> int:
    polynomial = flint.fmpq_poly([_rational(text) for text in coefficients])
    roots = sympy.Poly(
        [sympy.Rational(int(c.p), int(c.q)) for c in reversed(list(polynomial))], sympy.Symbol("x")
    )
    if not roots.is_sqf or roots.degree() != points:
        raise VerificationError("the linear form chosen does not separate the points of the fibre")
    return int(roots.count_roots())


def _rational(text: str) -> flint.fmpq:
    numerator, _, denominator = str(text).partition("/")
    return flint.fmpq(int(numerator), int(denominator or 1))


def factorisation_primes(
    fibre: Fibre, index: int, session: Session, timeout: float | None = None
) -> dict[str, Any]:
    """The minimal primes over QQ of {(Q, K)} over one rational component of a fibre.

    Args:
        fibre: the fibre.
        index: the position of the component.
        session: an M2 session.
        timeout: for M2, in seconds.

    Returns:
        ``dimensions``, in decreasing order, and ``radical``. The primes over QQ may be fewer than
        the components over the complex numbers, each of which has one of these dimensions.

    Raises:
        ValueError: for a component that is not rational.
        VerificationError: when a dimension differs from the one that `fibre` states.
    """
    component = fibre.components[index]
    if component.preimage is None or component.preimage.field != "QQ":
        raise ValueError("M2 decomposes (Q, K) over a rational (V, A) only")
    A = component.preimage.A
    both = A + A.T if fibre.layer.t == 1 else 2 * A
    common = sympy.ilcm(*(x.q for x in both), 1)
    # A rational factor on A only rescales Q.
    answer = run_script(
        session,
        "factorisations",
        timeout=timeout,
        d=fibre.layer.d,
        a=fibre.layer.a,
        t=fibre.layer.t,
        matrix=[[int(x * common) for x in row] for row in both.tolist()],
    )
    expected = {x - 1 for x in component.dimensions}
    if set(answer["dimensions"]) != expected or len(answer["dimensions"]) > len(
        component.dimensions
    ):
        raise VerificationError(
            f"M2 finds components of dimensions {answer['dimensions']}, expected "
            f"{[x - 1 for x in component.dimensions]}"
        )
    return {"dimensions": answer["dimensions"], "radical": answer["radical"]}
