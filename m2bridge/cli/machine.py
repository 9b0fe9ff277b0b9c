"""Commands about this machine: run, install-m2, doctor, cache."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import m2bridge.report as show
from m2bridge.cli.options import json_option
from m2bridge.cli.running import printed, reporter
from m2bridge.errors import M2NotFoundError
from m2bridge.version import m2bridge_version

if TYPE_CHECKING:
    from rich.text import Text

    from m2bridge.engine import Installation
    from m2bridge.engine.doctor import Diagnosis

__all__ = ["cache", "doctor", "install_m2", "run"]


@click.command()
@click.option("--m2", metavar="PATH", help="Look at this Macaulay2 instead of the one found.")
@json_option
def doctor(m2: str | None, as_json: bool) -> None:
    """What is here, what is missing, and the command that mends it.

    Exit status 3 when no Macaulay2 can be used.
    """
    from m2bridge.engine.doctor import examine

    with reporter() as report:
        report("trying what is here", 0, None)
        found = examine(m2)
    if as_json:
        click.echo(show.document.json_text(found.to_dict()))
    else:
        printed(_findings(found), soft_wrap=True)
    if not found.ok:
        sys.exit(3)


@click.command("install-m2")
@click.option("--wheel", metavar="FILE", help="A wheel that was downloaded before.")
@click.option("--if-missing", is_flag=True, help="Only if no usable Macaulay2 is found.")
@json_option
def install_m2(wheel: str | None, if_missing: bool, as_json: bool) -> None:
    """Install the pinned Macaulay2 into your data folder (no root needed).

    An older copy is replaced only after the new one has been tried.
    """
    from m2bridge.engine.install import install_m2 as install

    there = _usable() if if_missing else None
    if there is not None:
        found = {"path": str(there.path), "version": there.version, "origin": there.origin}
        text = f"Macaulay2 {there.version} is there: {there.path} (from {there.origin})"
        click.echo(show.document.json_text(found) if as_json else text)
        return
    with reporter() as report:
        done = install(wheel=None if wheel is None else Path(wheel), progress=report)
    if as_json:
        click.echo(show.document.json_text(_report(done)))
    else:
        click.echo(str(done))


@click.command()
@click.argument("file")
@click.option("--engine", metavar="local|docker", help="Where Macaulay2 runs.  [default: local]")
@click.option("--m2", metavar="PATH", help="This Macaulay2 instead of the one that is found.")
@click.option("--timeout", type=float, metavar="SECONDS", help="Limit, from M2's start to the end.")
@click.option("--memory", metavar="SIZE", help="Memory limit for Macaulay2, e.g. 4G.")
@json_option
def run(file: str, as_json: bool, **options: Any) -> None:
    """Run a Macaulay2 program as M2 --script does, with limits.

    What it prints is printed, and nothing that it starts outlives it. M2 holds printed lines back
    until there are 4 KiB of them or the program flushes them; what is held back when a limit or
    Ctrl-C ends it is lost. With --json: the output, and where it comes from.

    \b
    m2bridge run program.m2 --timeout 60 --memory 4G
    """
    from m2bridge.engine.running import run_file

    direct = None if as_json else _pass_on
    done = run_file(file, on_output=direct, **options)
    if as_json:
        document = {
            **vars(done),
            "path": str(done.path),
            "m2bridge_version": m2bridge_version(),
        }
        click.echo(show.document.json_text(document))
    elif done.messages:
        click.echo(done.messages, err=True, nl=False)
    if done.status:
        click.echo(f"m2bridge: {file} ended with status {done.status}", err=True)
        sys.exit(1)


def _pass_on(output: bytes) -> None:
    sys.stdout.buffer.write(output)
    sys.stdout.buffer.flush()


@click.group()
def cache() -> None:
    """The answers of Macaulay2 programs that are kept on disk.

    M2BRIDGE_CACHE names another folder, or says "off".
    """


@cache.command()
@json_option
def info(as_json: bool) -> None:
    """Where the cache is, and how much is in it."""
    from m2bridge.engine.cache import default_cache

    found = default_cache().info()
    if as_json:
        click.echo(show.document.json_text({**vars(found), "folder": str(found.folder)}))
        return
    state = "used" if found.enabled else "off"
    unit, divisor = ("KiB", 2**10) if found.bytes < 2**20 else ("MiB", 2**20)
    size = f"{found.bytes / divisor:.1f} {unit} (at most {found.limit / 2**20:.0f} MiB)"
    click.echo(f"{found.folder} ({state}): {found.entries} answers, {size}")


@cache.command()
def clear() -> None:
    """Remove all answers."""
    from m2bridge.engine.cache import default_cache

    click.echo(f"removed {default_cache().clear()} answers")


def _findings(found: Diagnosis) -> Text:
    """A table whose words stay whole: a path that is cut cannot be copied."""
    from rich.console import Console
    from rich.text import Text

    margin = " " * (10 + max(len(entry.name) for entry in found.findings))
    width = max(Console().width - len(margin), 30)
    told = Text()
    for entry in found.findings:
        mark = "ok" if entry.ok else ("MISSING" if entry.needed else "absent")
        told.append(f"{mark:<8}", "green" if entry.ok else ("red" if entry.needed else "dim"))
        told.append(f"{entry.name:<{len(margin) - 8}}")
        words = [(entry.text, "")]
        if entry.remedy and not entry.ok:
            words.append((f"to mend it: {entry.remedy}", "dim"))
        lines = [
            (line, style)
            for text, style in words
            for line in textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
        ]
        for i, (line, style) in enumerate(lines):
            told.append(f"{margin if i else ''}{line}\n", style)
    told.rstrip()
    return told


def _usable() -> Installation | None:
    from m2bridge.engine import find_m2

    try:
        return find_m2()
    except M2NotFoundError:
        return None


def _report(done: Any) -> dict[str, Any]:
    return {name: str(v) if isinstance(v, Path) else v for name, v in vars(done).items()}
