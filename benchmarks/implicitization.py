"""Equations of one layer: the weights method against three ways in Macaulay2, one run, one machine.

    python benchmarks/implicitization.py [--limit SECONDS] [--m2 PATH] [--models "3,1,3 2,2,2"]
                                         [--goals]

Columns: our `weights` (to degree 4, no certificate, so that the work is comparable); graded
elimination, where M2 may use Hilbert functions; `kernel` as people write it; M2's package
MultigradedImplicitization to degree 4 (modulo a prime, its default), where this M2 has it.
Each of our cells is the median of three fresh processes with cold caches, timed after imports; M2
cells are timed inside a session that is up. M2 and we get the same model and must give the same
generators by degree; where both end, M2 checks that the ideals are equal. A cell that passes the
limit prints "> limit" and enters ratios as a lower bound.

--goals measures what the project promises: all models with d, d_out, a <= 3 to degree 4 (time and
memory), (4,1,4), (4,2,4), (4,4,4) to degree 3, and (3,2,3) to degree 5.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from m2bridge.attention.layer import Layer
from m2bridge.engine import Session, open_session
from m2bridge.errors import EngineError, M2BridgeError, M2TimeoutError
from m2bridge.geometry.elimination import eliminated_ideal, same_ideal
from m2bridge.geometry.implicit import implicit_ideal
from m2bridge.scripts import polynomials_from_answer, run_script

MODELS = [(2, 1, 2), (2, 2, 1), (2, 2, 2), (3, 1, 1), (2, 3, 2), (3, 1, 3), (3, 1, 2)]
DEGREE = 4


def cold(models: Sequence[tuple[int, ...]], degree: int, queue: multiprocessing.Queue[Any]) -> None:
    """Run the weights method in this fresh process and report time, peak memory and counts."""
    begun = time.perf_counter()
    counts = [
        implicit_ideal(Layer(*sizes), max_degree=degree, certify=False).generators_by_degree
        for sizes in models
    ]
    seconds = time.perf_counter() - begun
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    queue.put((seconds, megabytes, counts))


def measured(models: Sequence[tuple[int, ...]], degree: int) -> tuple[float, int, list[Any]]:
    """``cold`` in a process of its own: seconds, megabytes, generators by degree."""
    context = multiprocessing.get_context("spawn")
    queue: Any = context.Queue()
    process = context.Process(target=cold, args=(models, degree, queue))
    process.start()
    answer = queue.get()
    process.join()
    return answer  # type: ignore[no-any-return]


def graded(layer: Layer, session: Session, limit: float) -> Sequence[Any]:
    """Graded elimination."""
    return eliminated_ideal(layer, session, timeout=limit).generators


def ungraded(layer: Layer, session: Session, limit: float) -> Sequence[Any]:
    """The plain kernel."""
    sizes = {"d": layer.d, "d_out": layer.d_out, "a": layer.a, "t": layer.t}
    answer = run_script(session, "ungraded_kernel", timeout=limit, **sizes)
    return polynomials_from_answer(answer["generators"], layer.symbols)


def multigraded(layer: Layer, session: Session, limit: float) -> Sequence[Any]:
    """MultigradedImplicitization."""
    return implicit_ideal(
        layer, "multigraded", max_degree=DEGREE, session=session, time_limit=limit
    ).generators


PEERS: dict[str, Callable[[Layer, Session, float], Sequence[Any]]] = {
    "graded": graded,
    "ungraded": ungraded,
    "multigraded": multigraded,
}


def peer_cell(
    name: str, layer: Layer, session: Session, limit: float, ours: Sequence[Any]
) -> tuple[float | None, str]:
    """Time of a peer (None: it has no answer) and the cell's text."""
    session.start()
    begun = time.perf_counter()
    try:
        theirs = PEERS[name](layer, session, limit)
    except M2TimeoutError:
        return limit, f"> {limit:g} s"
    except EngineError:
        return None, "not in this M2"
    except M2BridgeError as error:
        return None, type(error).__name__
    seconds = time.perf_counter() - begun
    nonzero = [f for f in theirs if not f.is_zero]
    same = same_ideal(list(ours), nonzero, layer.symbols, session)
    return seconds, f"{seconds:.3g} s" + ("" if same else " DIFFERENT IDEAL")


def compare(models: Sequence[tuple[int, ...]], session: Session, limit: float) -> None:
    """The table of all methods."""
    print(f"{'d,d_out,a':12}{'generators':30}{'weights':>10}", end="")
    print("".join(f"{name:>18}{'ratio':>9}" for name in PEERS))
    for sizes in models:
        runs = sorted((measured([sizes], DEGREE) for _ in range(3)), key=lambda run: run[0])
        seconds, _, (counts,) = runs[1]
        layer = Layer(*sizes)
        ours = implicit_ideal(layer, max_degree=DEGREE, certify=False).generators
        row = f"{','.join(map(str, sizes)):12}{counts!s:30}{seconds:>8.3f} s"
        for name in PEERS:
            theirs, text = peer_cell(name, layer, session, limit, ours)
            bound = ">" if text.startswith(">") else ""
            ratio = "" if theirs is None else f"{bound}{theirs / seconds:.0f}x"
            row += f"{text:>18}{ratio:>9}"
        print(row, flush=True)


def goals() -> None:
    """What the project promises about the weights method alone."""
    small = list(product((1, 2, 3), repeat=3))
    for text, models, degree in [
        ("all 27 models with d, d_out, a <= 3, to degree 4", small, 4),
        ("(4,1,4) to degree 3", [(4, 1, 4)], 3),
        ("(4,2,4) to degree 3", [(4, 2, 4)], 3),
        ("(4,4,4) to degree 3", [(4, 4, 4)], 3),
        ("(3,2,3) to degree 5", [(3, 2, 3)], 5),
    ]:
        seconds, megabytes, counts = measured(models, degree)
        shown = counts[0] if len(counts) == 1 else ""
        print(f"{text:50}{seconds:>9.2f} s{megabytes:>7} MB  {shown}", flush=True)


def main() -> None:
    """Read the options and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for a cell of M2")
    parser.add_argument("--m2", default=None, help="path of an M2 executable")
    parser.add_argument("--models", default=None, help='such as "3,1,3 2,2,2"')
    parser.add_argument("--goals", action="store_true", help="measure the promises only")
    arguments = parser.parse_args()
    if arguments.goals:
        goals()
        return
    models = MODELS
    if arguments.models:
        models = [tuple(map(int, m.split(","))) for m in arguments.models.split()]
    session = open_session(path=arguments.m2)
    try:
        print(f"Macaulay2 {session.m2_version}, limit {arguments.limit:g} s for each cell")
        compare(models, session, arguments.limit)
    finally:
        session.close()


if __name__ == "__main__":
    main()
