"""What every side of benchmarks/bridge.py measures, and how it reports: one JSON object a line.

Runs in each peer's own environment, so it uses nothing but the standard library.
"""

from __future__ import annotations

import json
import signal
import statistics
import sys
import time
from collections.abc import Callable, Sequence

TRIVIAL = "2+2"
GROEBNER = "R = QQ[x,y,z]; toString gens gb ideal(x^2-y*z, x*y-z^2, y^2-x*z)"
TERMS = (2_000, 20_000, 100_000)
GENERATORS = 500
# Twice as long may one measurement take; a row ends after one that takes longer than this.
LONGEST_SECONDS = 30.0


def exponents(i: int) -> tuple[int, ...]:
    """Different monomials in six variables."""
    return (i % 11, i // 11 % 11, i // 121 % 11, i // 1331 % 11, i // 14641, 1)


def coefficient(i: int) -> tuple[int, int]:
    """Numerator and denominator of a coefficient; none is zero."""
    return (-1) ** i * (i + 1), 7 if (i + 1) % 7 else 11


def m2_polynomial(terms: int) -> str:
    """M2 code of the same polynomial, in QQ[x_1..x_6]; it fits into one line."""
    return (
        f"sum({terms}, i -> (-1)^i*(i+1)/(if (i+1)%7 != 0 then 7 else 11)"
        "*x_1^(i%11)*x_2^(i//11%11)*x_3^(i//121%11)*x_4^(i//1331%11)*x_5^(i//14641)*x_6)"
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
        if time.perf_counter() - begun > LONGEST_SECONDS:
            break
    return statistics.median(taken)


def once(action: Callable[[], object]) -> float:
    """The time of one action."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def too_long(number: int, frame: object) -> None:
    raise TooLongError


class TooLongError(Exception):
    """A measurement has not ended in time."""


def measured(name: str, take: Callable[[], float]) -> bool:
    """Reports what ``take`` measures, or what went wrong; whether it went well and was quick."""
    start = time.perf_counter()
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(int(2 * LONGEST_SECONDS))
    try:
        tell(name, take())
    except TooLongError:
        tell(name, 2 * LONGEST_SECONDS, ended=False)
        return False
    except BaseException as error:  # a peer may fail in any way; the others go on
        tell(name, None, f"{type(error).__name__}: {error}"[:300])
        if isinstance(error, KeyboardInterrupt):
            raise
        return False
    finally:
        signal.alarm(0)
    return time.perf_counter() - start < LONGEST_SECONDS


def serve(
    start: Callable[[], object],
    evaluate: Callable[[str], object],
    conversions: Sequence[Sequence[tuple[str, Callable[[], float]]]] = (),
) -> None:
    """A peer's side of the benchmark: it is told by standard input when to do what.

    Args:
        start: starts Macaulay2 and waits for its first answer.
        evaluate: evaluates M2 code and returns what M2 says.
        conversions: rows of (name, measurement) from quick to slow; a row ends where it fails or
            takes too long.

    Lines on standard input: ``[code, times]`` asks for the seconds of so many evaluations,
    ``"conversions"`` for all of these.
    """
    if not measured("cold start", lambda: once(start)):
        return
    if "4" not in str(evaluate(TRIVIAL)):
        tell("round trip", None, "2+2 is not 4")
        return
    for line in sys.stdin:
        order = json.loads(line)
        if order == "conversions":
            for row in conversions:
                for name, take in row:
                    if not measured(name, take):
                        break
            tell("end", 0.0)
        else:
            print(json.dumps(times_of(lambda: evaluate(order[0]), order[1])), flush=True)  # noqa: B023


def times_of(action: Callable[[], object], times: int) -> list[float]:
    """The seconds that each of so many actions takes."""
    return [once(action) for _ in range(times)]
