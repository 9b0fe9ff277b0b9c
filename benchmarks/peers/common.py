"""What every side of benchmarks/bridge.py measures, and how it reports: one JSON object a line.

Runs in each peer's own environment, so it uses nothing but the standard library.
"""

from __future__ import annotations

import json
import math
import signal
import statistics
import sys
import time
from collections.abc import Callable, Sequence

TRIVIAL = "2+2"
GROEBNER = "R = QQ[x,y,z]; toString gens gb ideal(x^2-y*z, x*y-z^2, y^2-x*z)"
TERMS = (2_000, 20_000, 100_000)
GENERATORS = 500
# A measurement is given up after so long. Repeats stop after half of it.
# Peers swallow exceptions at some moments, so they are told again each second.
LONGEST_SECONDS = 100.0


def exponents(i: int) -> tuple[int, ...]:
    """Different monomials in six variables."""
    return (i % 11, i // 11 % 11, i // 121 % 11, i // 1331 % 11, i // 14641, 1)


def coefficient(i: int) -> tuple[int, int]:
    """Numerator and denominator of a coefficient; none is zero."""
    return (-1) ** i * (i + 1), 7 if (i + 1) % 7 else 11


def m2_polynomial(terms: int) -> str:
    """M2 code of the same polynomial, in QQ[x_1..x_6]; it fits into one line.

    It is a sum of sums: M2 takes quadratic time for a long one.
    """
    term = (
        "(-1)^i*(i+1)/(if (i+1)%7 != 0 then 7 else 11)"
        "*x_1^(i%11)*x_2^(i//11%11)*x_3^(i//121%11)*x_4^(i//1331%11)*x_5^(i//14641)*x_6"
    )
    width = math.isqrt(terms)
    return (
        f"sum({-(-terms // width)}, j ->"
        f" sum({width}, k -> (i := {width}*j+k; if i >= {terms} then 0 else {term})))"
    )


def tell(name: str, seconds: float | None, note: str = "", *, ended: bool = True) -> None:
    """Reports one measurement (a lower bound if it has not ended), or why there is none."""
    entry = {"name": name, "seconds": seconds, "note": note, "ended": ended}
    sys.stdout.write(json.dumps(entry) + "\n")
    sys.stdout.flush()


def median_of(action: Callable[[], object], times: int) -> float:
    """The median time of an action, after one that does not count."""
    action()
    taken = []
    begun = time.perf_counter()
    for _ in range(times):
        start = time.perf_counter()
        action()
        taken.append(time.perf_counter() - start)
        if time.perf_counter() - begun > LONGEST_SECONDS / 2:
            break
    return statistics.median(taken)


def once(action: Callable[[], object]) -> float:
    """The time of one action."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


class TooLongError(Exception):
    """What is measured has not ended in time."""


def too_long(number: int, frame: object) -> None:
    raise TooLongError


def not_ready(number: int, frame: object) -> None:
    raise TimeoutError(f"it was not prepared within {LONGEST_SECONDS:.0f} s")


def limit(too_late: Callable[[int, object], None] | None) -> None:
    """From now on there are so many seconds until this is called; or there is no limit."""
    if too_late is not None:
        signal.signal(signal.SIGALRM, too_late)
    seconds = LONGEST_SECONDS if too_late is not None else 0.0
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)


def timed(action: Callable[[], object]) -> float:
    """The time of one action, within ``measured``, where all before it is preparation."""
    limit(too_long)
    return once(action)


def measured(name: str, take: Callable[[], float]) -> bool:
    """Reports what ``take`` measures, or what went wrong; whether it went well."""
    limit(not_ready)
    try:
        try:
            seconds = take()
        finally:
            limit(None)  # what is told must not be cut off
        tell(name, seconds)
    except TooLongError:
        tell(name, LONGEST_SECONDS, ended=False)
        return False
    except BaseException as error:  # a peer may fail in any way; the others go on
        tell(name, None, f"{type(error).__name__}: {error}"[:300])
        if isinstance(error, KeyboardInterrupt):
            raise
        return False
    return True


def serve(
    start: Callable[[], object],
    evaluate: Callable[[str], object],
    conversions: Sequence[Sequence[tuple[str, Callable[[], float]]]] = (),
    restart: Callable[[], object] = lambda: None,
) -> None:
    """A peer's side of the benchmark: it is told by standard input when to do what.

    Args:
        start: starts Macaulay2 and waits for its first answer.
        evaluate: evaluates M2 code and returns what M2 says.
        conversions: rows of (name, measurement) from quick to slow; a row ends where one fails or
            does not end in time, but never with its first, for the goals are about the second.
        restart: what makes it usable again after that.

    Lines on standard input: ``[code, times]`` asks for the seconds of so many evaluations,
    ``"conversions"`` for all of these.
    """
    if not measured("cold start", lambda: timed(start)):
        return
    if "4" not in str(evaluate(TRIVIAL)):
        tell("round trip", None, "2+2 is not 4")
        return
    for line in sys.stdin:
        order = json.loads(line)
        if order == "conversions":
            for row in conversions:
                for place, (name, take) in enumerate(row):
                    if not measured(name, take):
                        restart()
                        if place > 0:
                            break
            tell("end", 0.0)
        else:
            print(json.dumps(times_of(lambda: evaluate(order[0]), order[1])), flush=True)  # noqa: B023


def times_of(action: Callable[[], object], times: int) -> list[float]:
    """The seconds that each of so many actions takes."""
    return [once(action) for _ in range(times)]
