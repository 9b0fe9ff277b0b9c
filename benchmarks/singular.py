"""Singular loci from strata, against Macaulay2's Jacobian criterion and its FastMinors package.

For each model: the time of `singular_locus` (pure Python, certificates and equations of the
components included), and in one Macaulay2 session the times of
  minors: the ideal of all minors of the Jacobian matrix, its dimension, its minimal primes,
  FastMinors: `regularInCodimension(n, R)` for the n that is true, with its default choice of
    minors; it can only say yes, and says "null" when it does not know.
Both get the ideal for nothing. A cell that passes the time limit says so; its ratio is then a
lower bound.

    python benchmarks/singular.py [--seconds 60] [--models 2,1,1 2,1,2 ...]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

from m2bridge.attention import Layer
from m2bridge.engine import Session, open_session
from m2bridge.errors import M2BridgeError, M2TimeoutError, SizeLimitError
from m2bridge.geometry.elimination import count_minors, jacobian_singular_locus
from m2bridge.geometry.hilbert import image_dimension
from m2bridge.geometry.implicit import ImplicitIdeal, implicit_ideal
from m2bridge.geometry.singular import SingularLocus, singular_locus
from m2bridge.scripts import polynomials_to_lists, run_script

MODELS = ["2,1,1", "2,1,2", "2,2,1", "2,2,2", "3,1,1", "3,1,3", "3,1,2", "2,3,2"]


def timed(action: Callable[[], object]) -> tuple[float, object]:
    """Wall time, and the result or the error."""
    begun = time.perf_counter()
    try:
        result = action()
    except M2BridgeError as error:
        result = error
    return time.perf_counter() - begun, result


def shown(seconds: float, result: object, text: Callable[[object], str]) -> str:
    """One cell."""
    if isinstance(result, M2TimeoutError):
        return f"> {seconds:.0f} s"
    if isinstance(result, SizeLimitError):
        return "refused"
    if isinstance(result, M2BridgeError):
        return type(result).__name__
    return f"{seconds:.3f} s {text(result)}"


def by_minors(
    layer: Layer, ideal: ImplicitIdeal, session: Session, seconds: float, most: int
) -> tuple[float, object]:
    """The complete Jacobian criterion."""
    codimension = layer.ambient_dimension - image_dimension(layer)
    return timed(
        lambda: jacobian_singular_locus(
            list(ideal.generators),
            layer.symbols,
            codimension,
            session,
            max_minors=most,
            timeout=seconds,
        )
    )


def by_fast_minors(
    layer: Layer, ideal: ImplicitIdeal, regular: int, session: Session, seconds: float
) -> tuple[float, object]:
    """FastMinors, asked for what is true: regular in this codimension."""
    return timed(
        lambda: run_script(
            session,
            "fast_minors",
            timeout=seconds,
            variables=layer.ambient_dimension,
            polynomials=polynomials_to_lists(list(ideal.generators)),
            codimension=regular,
        )
    )


def ratio(ours: float, theirs: float, result: object) -> str:
    """How many times longer theirs took."""
    if isinstance(result, SizeLimitError):
        return ""
    sign = ">" if isinstance(result, M2BridgeError) else ""
    return f"{sign}{theirs / ours:.0f}x"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="time limit per cell")
    parser.add_argument("--max-minors", type=int, default=200_000, help="refuse more minors")
    parser.add_argument("--models", nargs="+", default=MODELS, help="d,d_out,a")
    options = parser.parse_args()
    print(
        f"{'d,d_out,a':10} {'strata':28} {'minors':>9} {'all minors':22} {'ratio':>8} "
        f"{'FastMinors':22} {'ratio':>8}"
    )
    with_m2 = open_session()
    with_m2.start()
    for name in options.models:
        layer = Layer(*map(int, name.split(",")))
        ours, locus = timed(lambda layer=layer: singular_locus(layer))
        if not isinstance(locus, SingularLocus):
            print(f"{name:10} {type(locus).__name__}")
            continue
        ideal = implicit_ideal(layer)
        codimension = layer.ambient_dimension - image_dimension(layer)
        count = count_minors(len(ideal.generators), layer.ambient_dimension, codimension)
        slow, complete = by_minors(layer, ideal, with_m2, options.seconds, options.max_minors)
        regular = image_dimension(layer) - locus.dimension - 1
        fast, guess = by_fast_minors(layer, ideal, regular, with_m2, options.seconds)
        parts = ", ".join(f"dim {c.dimension} deg {c.degree}" for c in locus.components)
        minors = shown(slow, complete, lambda r: f"dim {r.dimension}")
        quick = shown(fast, guess, lambda r: str(r["regular"]))
        print(
            f"{name:10} {f'{ours:.3f} s {parts}':28} {count:>9.2g} {minors:22} "
            f"{ratio(ours, slow, complete):>8} {quick:22} {ratio(ours, fast, guess):>8}",
            flush=True,
        )
    with_m2.close()


if __name__ == "__main__":
    main()
