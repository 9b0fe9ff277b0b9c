"""m2bridge beside the other ways from Python to Macaulay2: one run, one machine, one M2.

    python benchmarks/bridge.py [--quick] [--work DIR] [--only NAME]

Each peer is installed by pip into a virtual environment of its own under the work folder (by
default in the user's cache), and measured by a script of benchmarks/peers. A peer that cannot be
installed or does not run is listed with the reason. Times are medians; ratios compare with ours.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import venv
from pathlib import Path

import platformdirs
import sympy
from rich.console import Console
from rich.table import Table

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
PEER_SECONDS = 3600
INSTALL_SECONDS = 1800

Times = dict[str, tuple[float | None, str]]


def ours(m2_path: Path, quick: bool) -> Times:
    """m2bridge's own times."""
    times: Times = {}
    m2 = Macaulay2(path=m2_path)
    times["cold start"] = once(lambda: m2.eval("1")), ""
    times["echo of a frame"] = median_of(lambda: m2.session.call("echo", [b"x"]), 3000), ""
    assert m2.eval(TRIVIAL) == "4"
    times["round trip"] = median_of(lambda: m2.eval(TRIVIAL), 3000), ""
    times["Groebner basis"] = median_of(lambda: m2.eval(GROEBNER), 300), ""
    symbols = sympy.symbols("x:6")
    ring = m2.ring(symbols)
    for count in TERMS[: 2 if quick else 3]:
        poly = polynomial(symbols, count)

        def send(poly: sympy.Poly = poly) -> object:
            return m2.ask("held", ring, [ring.ideal(poly)])

        times[f"Python -> M2, {count} terms"] = median_of(send, 3), ""
        there = ring.ideal(poly)
        back = m2.ask("generators", ring, [there]).elements
        assert ring.poly_of(back[0]) == poly

        def fetch(there: object = there) -> object:
            return [ring.poly_of(f) for f in m2.ask("generators", ring, [there]).elements]

        times[f"M2 -> Python, {count} terms"] = median_of(fetch, 3), ""
    many = ring.ideal([polynomial(symbols, 20, k) for k in range(GENERATORS)])
    m2.ask("generators", ring, [many])
    times[f"M2 -> Python, {GENERATORS} generators"] = (
        median_of(
            lambda: [ring.poly_of(f) for f in m2.ask("generators", ring, [many]).elements], 3
        ),
        "",
    )
    m2.close()
    return times


def polynomial(symbols: tuple[sympy.Symbol, ...], terms: int, shift: int = 0) -> sympy.Poly:
    data = {exponents(i + 20 * shift): sympy.Rational(*coefficient(i)) for i in range(terms)}
    return sympy.Poly.from_dict(data, *symbols, domain="QQ")


def sympified(m2_path: Path, quick: bool) -> Times:
    """sympy.sympify on the text that M2 prints: what one does without a bridge."""
    times: Times = {}
    with Macaulay2(path=m2_path) as m2:
        m2.eval("R = QQ[x_1..x_6]")
        for count in TERMS[: 1 if quick else 2]:
            m2.eval(f"f = {m2_polynomial(count)}")

            def fetch() -> object:
                return sympy.Poly(sympy.sympify(m2.eval("toString f").replace("^", "**")))

            times[f"M2 -> Python, {count} terms"] = once(fetch), ""
    return times


def peer(name: str, m2_path: Path, work: Path) -> Times:
    """A peer's times, from its own environment."""
    home = work / name
    python = home / "bin" / "python"
    try:
        if not (home / "installed").exists():
            venv.create(home, with_pip=True, clear=True)
            pip = [str(python), "-m", "pip", "install", "--quiet", *REQUIREMENTS[name]]
            subprocess.run(
                pip, check=True, timeout=INSTALL_SECONDS, stderr=subprocess.PIPE, text=True
            )
            (home / "installed").touch()
        done = subprocess.run(
            [str(python), str(PEERS / f"{name}.py")],
            capture_output=True,
            text=True,
            timeout=PEER_SECONDS,
            check=False,
            cwd=work,
            env={
                **os.environ,
                "PATH": f"{m2_path.parent}{os.pathsep}{os.environ.get('PATH', '')}",
                "M2_BIN": str(m2_path),
                "M2BRIDGE_BENCHMARK_M2": str(m2_path),
                "M2BRIDGE_BENCHMARK_KERNEL": KERNEL_MODULE,
            },
        )
    except subprocess.SubprocessError as error:
        said = getattr(error, "stderr", "") or ""
        return {"": (None, f"{type(error).__name__}: {str(said).strip()[-300:] or error}")}
    times: Times = {}
    for line in done.stdout.splitlines():
        if line.startswith('{"name"'):
            entry = json.loads(line)
            times[entry["name"]] = entry["seconds"], entry["note"]
    if not times or done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        times[""] = None, f"status {done.returncode}: {last[-300:]}"
    return times


def shown(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def report(console: Console, found: dict[str, Times], m2: Installation) -> None:
    """The table, the ratios, and the reasons of what is missing."""
    title = (
        f"Macaulay2 {m2.version}, Python {platform.python_version()}, {os.cpu_count()} processors"
    )
    table = Table("", *found, title=title)
    rows = list(dict.fromkeys(name for times in found.values() for name in times if name))
    for row in rows:
        mine = found["m2bridge"].get(row, (None, ""))[0]
        cells = []
        for who, times in found.items():
            seconds = times.get(row, (None, ""))[0]
            ratio = f"  ({seconds / mine:.1f}x)" if seconds and mine and who != "m2bridge" else ""
            cells.append(shown(seconds) + ratio)
        table.add_row(row, *cells)
    console.print(table)
    for who, times in found.items():
        for row, (seconds, note) in times.items():
            if seconds is None:
                console.print(f"{who}: {row or 'does not run'}: {note}", markup=False)
    per_term = [
        found["m2bridge"][f"M2 -> Python, {n} terms"][0] / n * 1e6  # type: ignore[operator]
        for n in TERMS
        if f"M2 -> Python, {n} terms" in found["m2bridge"]
    ]
    console.print("M2 -> Python, µs a term:", ", ".join(f"{value:.2f}" for value in per_term))
    console.print("load of this machine meanwhile:", ", ".join(f"{x:.1f}" for x in os.getloadavg()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="no polynomial of 100,000 terms")
    parser.add_argument("--work", type=Path, help="where the peers' environments are made")
    parser.add_argument("--only", choices=[*REQUIREMENTS, "sympify", "none"], help="one peer only")
    options = parser.parse_args()
    work = options.work or platformdirs.user_cache_path("m2bridge") / "benchmarks"
    work.mkdir(parents=True, exist_ok=True)
    m2 = find_m2()
    console = Console(width=160)
    found: dict[str, Times] = {"m2bridge": ours(m2.path, options.quick)}
    if options.only in (None, "sympify"):
        found["sympify"] = sympified(m2.path, options.quick)
    for name in REQUIREMENTS:
        if options.only in (None, name):
            console.print(f"[dim]installing and measuring {name} ...[/dim]")
            found[name] = peer(name, m2.path, work)
    report(console, found, m2)


if __name__ == "__main__":
    main()
