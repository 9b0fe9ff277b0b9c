"""Dimension of deep attention networks: exact ranks against backpropagation in floating point.

    python benchmarks/dimension.py [--large] [--seed N]

The peer is the usual method, written here anew: evaluate the network on random inputs in double
precision, backpropagate every output, and call the numerical rank of what comes out the dimension.
It gets weights of a usual initialisation (normal, divided by the square root of the width), all
outputs of as many inputs as make the Jacobian square, and numpy's default tolerance. Where it then
is wrong there are two reasons, too few inputs and rounding; a further column has its value with
four times as many inputs, for up to 400 parameters, which leaves the second. Beyond 3,000
parameters it is left out: its singular values alone take most of an hour there. Ours is
``m2bridge.geometry.dimension``. Both see the same networks in one run; each runs in a fresh
process, so that peak memory is its own.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from typing import Any

import numpy as np

from m2bridge.attention import Network
from m2bridge.geometry.depth.echelon import to_flint
from m2bridge.geometry.depth.formulas import refined
from m2bridge.geometry.depth.rank import DEFAULT_PRIMES, SLACK, RowSource
from m2bridge.geometry.dimension import dimension

SMALL = [
    Network((4, 4, 4, 4), (1, 1, 1), 3),
    Network((4, 4, 4, 4), (2, 2, 2), 3),
    Network((4, 4, 4, 4), (4, 4, 4), 3),
    Network((10, 10, 10), (2, 2), 2),
    Network((3, 3, 3), (1, 2), 2),
    Network((10, 6, 1), (2, 1), 2),
    Network((6, 6, 6, 6, 6, 6), (3, 3, 3, 3, 3), 4),
    Network((16, 16, 16), (12, 12), 2),
    Network((20, 20, 20, 20), (10, 10, 10), 2),
]
LARGE = [
    Network((28, 28, 28), (35, 35), 2),
    Network((36, 36, 36, 36), (29, 29, 29), 2),
]

PEER_LIMIT = 3_000
GENEROUS_LIMIT = 400


class Clock:
    """Wall and CPU seconds since it was made; on a shared machine the second is the fairer one."""

    def __init__(self) -> None:
        self._start = (time.perf_counter(), time.process_time())

    def read(self) -> dict[str, float]:
        """The two times as ``wall`` and ``cpu``."""
        wall, cpu = self._start
        return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


def float_gradient(network: Network, weights: list[Any], X: Any) -> Any:
    """Backpropagate every output entry of one input: (outputs, parameters), double precision."""
    trace, value = [], X
    for Q, K, V in weights:
        scores = value.T @ K.T @ Q @ value
        trace.append((value, scores))
        value = V @ value @ scores
    rows = []
    for i, j in np.ndindex(*value.shape):
        adjoint = np.zeros(value.shape)
        adjoint[i, j] = 1.0
        parts: list[Any] = []
        for (Q, K, V), (inner, scores) in zip(reversed(weights), reversed(trace), strict=True):
            mixed_bar = V.T @ adjoint
            scores_bar = inner.T @ mixed_bar
            keys, queries = K @ inner, Q @ inner
            Q_bar = keys @ scores_bar @ inner.T
            K_bar = queries @ scores_bar.T @ inner.T
            V_bar = adjoint @ (inner @ scores).T
            adjoint = mixed_bar @ scores.T + K.T @ queries @ scores_bar.T + Q.T @ keys @ scores_bar
            parts = [Q_bar.ravel(), K_bar.ravel(), V_bar.ravel(), *parts]
        rows.append(np.concatenate(parts))
    return np.array(rows)


def peer(network: Network, seed: int, generosity: int = 1) -> dict[str, Any]:
    """The floating-point method: rank with numpy's default tolerance.

    Its Jacobian has ``generosity`` times as many rows as columns.
    """
    generator = np.random.default_rng(seed)
    weights = [
        tuple(generator.standard_normal(s) / np.sqrt(s[1]) for s in network.head_shapes(i))
        for i in range(network.depth)
    ]
    inputs = -(-generosity * network.parameters // (network.dims[-1] * network.t))
    start = Clock()
    shape = (network.dims[0], network.t)
    jacobian = np.concatenate(
        [float_gradient(network, weights, generator.standard_normal(shape)) for _ in range(inputs)]
    )
    rank = int(np.linalg.matrix_rank(jacobian))
    return {"value": rank, **start.read()}


def generous_peer(network: Network, seed: int) -> dict[str, Any]:
    """The floating-point method with four times as many inputs."""
    return peer(network, seed, 4)


def ours(network: Network, seed: int) -> dict[str, Any]:
    """The exact method, with its certificate."""
    start = Clock()
    result = dimension(network, method="rank", seed=seed, limit=50_000)
    return {"value": result.value, "certainty": result.certainty, **start.read()}


def parts(network: Network, seed: int) -> dict[str, Any]:
    """CPU seconds of the Jacobian, its conversion, and FLINT's own dense rank of it."""
    value = refined(network)[0]
    assert value is not None
    source, rows = RowSource(network, DEFAULT_PRIMES[0], seed), value + SLACK
    start = time.process_time()
    chunks = -(-rows // source.chunk)
    jacobian = np.concatenate([source.rows(i) for i in range(chunks)])[:rows]
    derived = time.process_time()
    matrix = to_flint(jacobian, source.prime)
    converted = time.process_time()
    rank = matrix.rank()
    ranked = time.process_time()
    return {
        "value": rank,
        "shape": jacobian.shape,
        "jacobian": derived - start,
        "conversion": converted - derived,
        "rank": ranked - converted,
    }


def _child(task: Any, network: Network, seed: int, pipe: Any) -> None:
    result = task(network, seed)
    result["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    pipe.send(result)


def in_own_process(task: Any, network: Network, seed: int) -> dict[str, Any]:
    """Run a task in a fresh process and add its peak memory in MiB."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(task, network, seed, sender))
    process.start()
    sender.close()
    result: dict[str, Any] = receiver.recv()
    process.join()
    return result


def cells(result: dict[str, Any]) -> str:
    """Value, times and memory of one method."""
    return f"{result['value']:6} {result['wall']:8.2f} {result['cpu']:8.2f} {result['memory']:5.0f}"


def label(network: Network) -> str:
    """A short name of a lightning network."""
    dims = ",".join(map(str, network.dims))
    return f"dims {dims} a {','.join(map(str, network.ranks))} t {network.t}"


def main() -> None:
    """Print two tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--large", action="store_true", help="up to 10,000 parameters (minutes)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    networks = SMALL + (LARGE if options.large else [])
    columns = f"{'value':>6} {'wall s':>8} {'CPU s':>8} {'MiB':>5}"
    print(f"{'':44} {'':>6} {'':>6} | {'floating point':30} | {'4x in':5} | {'exact':30} |")
    print(f"{'network':44} {'par':>6} {'truth':>6} | {columns} | value | {columns} | certainty")
    for network in networks:
        mine = in_own_process(ours, network, options.seed)
        theirs, generous = "left out".ljust(30), ""
        if network.parameters <= PEER_LIMIT:
            theirs = cells(in_own_process(peer, network, options.seed))
        if network.parameters <= GENEROUS_LIMIT:
            generous = in_own_process(generous_peer, network, options.seed)["value"]
        print(
            f"{label(network):44} {network.parameters:6} {refined(network)[0]:6} | {theirs} |"
            f" {generous:>5} | {cells(mine)} | {mine['certainty']}",
            flush=True,
        )
    print()
    print(
        f"{'network':44} {'matrix':>13} {'Jacobian':>9} {'convert':>9} {'FLINT rank':>10}  (CPU s)"
    )
    for network in networks:
        if network.parameters < 500:
            continue
        cost = in_own_process(parts, network, options.seed)
        shape = "x".join(map(str, cost["shape"]))
        print(f"{label(network):44} {shape:>13} {cost['jacobian']:9.2f} {cost['conversion']:9.2f}"
              f" {cost['rank']:10.2f}")  # fmt: skip


if __name__ == "__main__":
    main()
