"""m2bridge beside the other ways from Python to Macaulay2: one run, one machine, one M2.

    python benchmarks/bridge.py [--quick | --short] [--work DIR] [--only NAME] [--rounds N]

Each peer is installed by pip into a virtual environment of its own under the work folder (by
default in the user's cache), and runs as a script of benchmarks/peers. A peer that cannot be
installed or does not run is listed with the reason.

Short calls are measured in turns: a block of ours, a block of each peer's, and again, so that
whatever else the machine does meets all of them. Times are medians over all calls, and a ratio is
the median over the rounds of (peer's median : our median). Conversions follow one after the other;
after ">" stands what had not ended in that time.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import statistics
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import platformdirs
import sympy
from rich.console import Console
from rich.table import Table

try:
    import psutil
except ImportError:
    sys.exit("this benchmark needs the tools for development: make dev, or pip install '.[dev]'")

sys.path.insert(0, str(Path(__file__).parent / "peers"))
from common import (
    GENERATORS,
    GROEBNER,
    TERMS,
    TRIVIAL,
    coefficient,
    exponents,
    m2_polynomial,
    median_of,
    once,
    times_of,
)

from m2bridge import Macaulay2
from m2bridge.engine import Installation, find_m2

PEERS = Path(__file__).parent / "peers"
# Later versions of passagemath-macaulay2 need AVX-512.
REQUIREMENTS = {
    "sage_pexpect": ["passagemath-macaulay2==10.8.11"],
    "mcp": ["macaulay2-mcp==0.1.4"],
    "kernel": ["macaulay2-jupyter-kernel==0.8.2"],
}
KERNEL_MODULE = "m2_kernel"
INSTALL_SECONDS = 1800
# What is measured in turns: the code, and how many calls make a block.
SHORT = {"round trip": (TRIVIAL, 100), "Groebner basis": (GROEBNER, 20)}


class Time(NamedTuple):
    """One measurement: seconds (at least so many, if it had not ended), or why there are none."""

    seconds: float | None
    note: str = ""
    ended: bool = True


Times = dict[str, Time]


class Peer:
    """A peer's process, which measures what it is told to.

    Attributes:
        name: its name.
        times: what it has reported: seconds, or None and the reason.
    """

    def __init__(self, name: str, m2_path: Path, work: Path) -> None:
        self.name = name
        self.times: Times = {}
        self._process: subprocess.Popen[str] | None = None
        try:
            python = installed(name, work / name)
            self._log = (work / f"{name}.log").open("w+")
            self._process = subprocess.Popen(
                [str(python), str(PEERS / f"{name}.py")],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                text=True,
                cwd=work,
                env=environment(m2_path),
            )
            self._hear("cold start")
        except (OSError, subprocess.SubprocessError) as error:
            said = getattr(error, "stderr", "") or ""
            what = str(said).strip()[-300:] or error
            self.times[""] = Time(None, f"{type(error).__name__}: {what}")

    def block(self, code: str, times: int) -> list[float] | None:
        """The seconds of so many evaluations, or None if it does not answer."""
        if not self._tell([code, times]):
            return None
        for line in self._lines():
            if line.startswith("["):
                return list(map(float, json.loads(line)))
        self._failed()
        return None

    def conversions(self) -> None:
        """Measures the rest."""
        if self._tell("conversions"):
            self._hear("end")
            self.times.pop("end", None)

    def close(self) -> None:
        """Ends it, and whatever it has started: its Macaulay2 may still compute."""
        if self._process is None:
            return
        assert self._process.stdin is not None
        started = children_of(self._process.pid)
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            started += children_of(self._process.pid)
            self._process.kill()
            self._process.wait()
        for process in started:
            with contextlib.suppress(psutil.NoSuchProcess):  # psutil knows a number used again
                process.kill()
        psutil.wait_procs(started, timeout=10)
        self._log.close()

    def _tell(self, order: object) -> bool:
        if self._process is None or "" in self.times:
            return False
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
        except OSError:
            self._failed()
            return False
        return True

    def _lines(self) -> Iterator[str]:
        assert self._process is not None
        assert self._process.stdout is not None
        return iter(self._process.stdout.readline, "")

    def _hear(self, last: str) -> None:
        for line in self._lines():
            if line.startswith('{"name"'):
                entry = json.loads(line)
                self.times[entry["name"]] = Time(entry["seconds"], entry["note"], entry["ended"])
                print(f"  {self.name}: {line.strip()}", file=sys.stderr)
                if entry["name"] == last:
                    return
        self._failed()

    def _failed(self) -> None:
        assert self._process is not None
        status = self._process.wait()
        self._log.seek(0)
        last = (self._log.read().strip().splitlines() or ["no message"])[-1]
        self.times[""] = Time(None, f"status {status}: {last[-300:]}")


def children_of(process: int) -> list[psutil.Process]:
    """The processes under one, in whatever session they are."""
    try:
        return psutil.Process(process).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def installed(name: str, home: Path) -> Path:
    """The Python of a peer's environment, which is made if need be."""
    python = home / "bin" / "python"
    if not (home / "installed").exists():
        venv.create(home, with_pip=True, clear=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", *REQUIREMENTS[name]]
        subprocess.run(pip, check=True, timeout=INSTALL_SECONDS, stderr=subprocess.PIPE, text=True)
        (home / "installed").touch()
    return python


def environment(m2_path: Path) -> dict[str, str]:
    """What leads a peer to the same Macaulay2."""
    return {
        **os.environ,
        "PATH": f"{m2_path.parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "M2_BIN": str(m2_path),
        "M2BRIDGE_BENCHMARK_M2": str(m2_path),
        "M2BRIDGE_BENCHMARK_KERNEL": KERNEL_MODULE,
    }


def in_turns(m2: Macaulay2, mine: Times, peers: dict[str, Peer], rounds: int) -> dict[str, float]:
    """Measures short calls in turns. Returns the ratios, by "peer: name of the measurement"."""
    ratios = {}
    for name, (code, times) in SHORT.items():
        blocks: dict[str, list[list[float]]] = {who: [] for who in ("m2bridge", *peers)}
        for count in range(rounds + 1):
            for who in blocks:
                if who == "m2bridge":
                    block: list[float] | None = times_of(lambda: m2.eval(code), times)  # noqa: B023
                else:
                    block = peers[who].block(code, times)
                if count and block is not None:  # the first round does not count
                    blocks[who].append(block)
        ours = [statistics.median(block) for block in blocks["m2bridge"]]
        for who, measured in blocks.items():
            if len(measured) < rounds:
                continue
            seconds = statistics.median(second for block in measured for second in block)
            (mine if who == "m2bridge" else peers[who].times)[name] = Time(seconds)
            theirs = [statistics.median(block) for block in measured]
            ratios[f"{who}: {name}"] = statistics.median(
                b / a for a, b in zip(ours, theirs, strict=True)
            )
    return ratios


def our_conversions(m2: Macaulay2, quick: bool) -> Times:
    """m2bridge's own times for polynomials in both directions."""
    times: Times = {}
    times["echo of a frame"] = Time(median_of(lambda: m2.session.call("echo", [b"x"]), 3000))
    symbols = sympy.symbols("x:6")
    ring = m2.ring(symbols)
    for count in TERMS[: 2 if quick else 3]:
        poly = polynomial(symbols, count)

        def send(poly: sympy.Poly = poly) -> object:
            return m2.ask("held", ring, [ring.ideal(poly)])

        times[f"Python -> M2, {count} terms"] = Time(median_of(send, 3))
        there = ring.ideal(poly)
        back = m2.ask("generators", ring, [there]).elements
        assert ring.poly_of(back[0]) == poly

        def fetch(there: object = there) -> object:
            return [ring.poly_of(f) for f in m2.ask("generators", ring, [there]).elements]

        times[f"M2 -> Python, {count} terms"] = Time(median_of(fetch, 3))
    many = ring.ideal([polynomial(symbols, 20, k) for k in range(GENERATORS)])
    m2.ask("generators", ring, [many])
    times[f"M2 -> Python, {GENERATORS} generators"] = Time(
        median_of(lambda: [ring.poly_of(f) for f in m2.ask("generators", ring, [many]).elements], 3)
    )
    return times


def polynomial(symbols: tuple[sympy.Symbol, ...], terms: int, shift: int = 0) -> sympy.Poly:
    data = {exponents(i + 20 * shift): sympy.Rational(*coefficient(i)) for i in range(terms)}
    return sympy.Poly.from_dict(data, *symbols, domain="QQ")


def sympified(m2: Macaulay2, quick: bool) -> Times:
    """sympy.sympify on the text that M2 prints: what one does without a bridge."""
    times: Times = {}
    m2.eval("R = QQ[x_1..x_6]")
    for count in TERMS[: 1 if quick else 2]:
        m2.eval(f"f = {m2_polynomial(count)}")

        def fetch() -> object:
            return sympy.Poly(sympy.sympify(m2.eval("toString f").replace("^", "**")))

        row = f"M2 -> Python, {count} terms"
        try:
            times[row] = Time(once(fetch))
        except Exception as error:  # its own words may hold the whole polynomial
            times[row] = Time(None, f"{type(error).__name__}: {str(error)[:120]}")
    return times


def shown(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def report(
    console: Console, found: dict[str, Times], ratios: dict[str, float], m2: Installation
) -> None:
    """The table, the ratios, and the reasons of what is missing."""
    title = (
        f"Macaulay2 {m2.version}, Python {platform.python_version()}, {os.cpu_count()} processors"
    )
    table = Table("", *found, title=title)
    rows = list(dict.fromkeys(name for times in found.values() for name in times if name))
    for row in rows:
        mine = found["m2bridge"].get(row, Time(None)).seconds
        cells = []
        for who, times in found.items():
            time = times.get(row, Time(None))
            sign = "" if time.ended else "> "
            cell = sign + shown(time.seconds)
            if time.seconds and mine and who != "m2bridge":
                cell += f"  ({sign}{ratios.get(f'{who}: {row}', time.seconds / mine):.1f}x)"
            cells.append(cell)
        table.add_row(row, *cells)
    console.print(table)
    for who, times in found.items():
        for row, time in times.items():
            if time.seconds is None:
                console.print(f"{who}: {row or 'does not run'}: {time.note}", markup=False)
    for way in ("M2 -> Python", "Python -> M2"):
        per_term = [
            f"{seconds / n * 1e6:.2f}"
            for n in TERMS
            if (seconds := found["m2bridge"].get(f"{way}, {n} terms", Time(None)).seconds)
        ]
        if per_term:
            console.print(f"{way}, µs a term:", ", ".join(per_term))
    console.print("load of this machine meanwhile:", ", ".join(f"{x:.1f}" for x in os.getloadavg()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="no polynomial of 100,000 terms")
    parser.add_argument("--short", action="store_true", help="short calls only")
    parser.add_argument("--work", type=Path, help="where the peers' environments are made")
    parser.add_argument(
        "--only", choices=[*REQUIREMENTS, "sympify", "none"], help="one peer only, or none"
    )
    parser.add_argument("--rounds", type=int, default=20, help="of short calls (default 20)")
    options = parser.parse_args()
    work = options.work or platformdirs.user_cache_path("m2bridge") / "benchmarks"
    work.mkdir(parents=True, exist_ok=True)
    installation = find_m2()
    console = Console(width=160)
    found: dict[str, Times] = {"m2bridge": {}}
    peers: dict[str, Peer] = {}
    with Macaulay2(path=installation.path) as first:  # so that all find M2's files in memory
        first.eval("1")
    with Macaulay2(path=installation.path) as m2, contextlib.ExitStack() as stack:
        found["m2bridge"]["cold start"] = Time(once(lambda: m2.eval("1")))
        for name in REQUIREMENTS:
            if options.only in (None, name):
                console.print(f"[dim]starting {name}, after installing it if need be ...[/dim]")
                peers[name] = Peer(name, installation.path, work)
                stack.callback(peers[name].close)
        console.print("[dim]short calls, in turns ...[/dim]")
        ratios = in_turns(m2, found["m2bridge"], peers, options.rounds)
        for name in SHORT:
            times = {"m2bridge": found["m2bridge"], **{who: p.times for who, p in peers.items()}}
            cells = [
                f"{who} {shown(t[name].seconds)} ({ratios[f'{who}: {name}']:.2f}x)"
                for who, t in times.items()
                if name in t
            ]
            console.print(f"{name}: {', '.join(cells)}", highlight=False)
        if not options.short:
            console.print("[dim]conversions ...[/dim]")
            found["m2bridge"] |= our_conversions(m2, options.quick)
            if options.only in (None, "sympify"):
                found["sympify"] = sympified(m2, options.quick)
            for peer in peers.values():
                peer.conversions()
        found |= {name: peer.times for name, peer in peers.items()}
    report(console, found, ratios, installation)


if __name__ == "__main__":
    main()
