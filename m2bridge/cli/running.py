"""From a library call to an exit status: errors, renderings, files."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click
from rich.console import Console, RenderableType

from m2bridge.cli.progress import Reporter
from m2bridge.engine import Session
from m2bridge.errors import (
    DockerError,
    EngineError,
    M2BridgeError,
    M2Error,
    M2MemoryError,
    M2NotFoundError,
    M2TimeoutError,
)
from m2bridge.models import session_for
from m2bridge.provenance import Provenance
from m2bridge.report.document import json_text
from m2bridge.scripts import without_cache

__all__ = [
    "checked_folder",
    "failures_told",
    "open_session_for",
    "published",
    "rendered",
    "reporter",
    "without_macaulay2",
    "write_file",
]

_STATUS: tuple[tuple[type[Exception], int], ...] = (
    (M2NotFoundError, 3),
    (DockerError, 3),
    (M2Error, 4),
    (M2TimeoutError, 5),
    (M2MemoryError, 6),
    (M2BridgeError, 1),
    (ValueError, 2),
    (TypeError, 2),
    (ImportError, 1),
    (OSError, 1),
)


@contextlib.contextmanager
def failures_told() -> Iterator[None]:
    """Turns exceptions into one message on standard error and the exit status of the contract."""
    try:
        yield
    except click.ClickException:
        raise
    except KeyboardInterrupt:
        click.echo("m2bridge: interrupted", err=True)
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output (a pager, head) has left; there is nobody to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        for kind, status in _STATUS:
            if isinstance(error, kind):
                click.echo(f"m2bridge: {error}", err=True)
                sys.exit(status)
        raise


@contextlib.contextmanager
def reporter() -> Iterator[Reporter]:
    """Progress on standard error while the block runs."""
    with Reporter(Console(stderr=True)) as report:
        yield report


@contextlib.contextmanager
def open_session_for(options: dict[str, Any]) -> Iterator[Session]:
    """The session that the engine options describe; takes them out of ``options``."""
    caching = without_cache() if options.pop("no_cache") else contextlib.nullcontext()
    with (
        caching,
        session_for(
            None,
            engine=options.pop("engine"),
            path=options.pop("m2"),
            timeout=options.pop("timeout"),
            memory=options.pop("memory"),
        ) as session,
    ):
        yield session


@contextlib.contextmanager
def without_macaulay2(options: dict[str, Any]) -> Iterator[None]:
    """No session: takes the engine options out of ``options`` and leaves them unused."""
    for name in ("engine", "m2", "timeout", "memory", "no_cache"):
        options.pop(name)
    yield None


def checked_folder(name: str | None) -> Path | None:
    """A folder that results go to, made and tried before any work starts.

    Raises:
        EngineError: it cannot be written.
    """
    if name is None:
        return None
    folder = Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise EngineError(f"the folder {name} cannot be written: {error.strerror}") from error
    return folder


def write_file(path: Path, text: str) -> None:
    """Writes a whole file or nothing: an old file stays until the new one is complete.

    Raises:
        EngineError: it cannot be written.
    """
    try:
        handle, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            umask = os.umask(0)
            os.umask(umask)
            Path(part).chmod(0o666 & ~umask)
            Path(part).replace(path)
        except BaseException:
            Path(part).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise EngineError(f"{path} cannot be written: {error.strerror}") from error


def rendered(
    document: Callable[[], Mapping[str, Any]],
    readable: Callable[[], RenderableType],
    *,
    as_json: bool,
    out: Path | None = None,
    scripts: Path | None = None,
    provenance: Provenance | None = None,
) -> None:
    """Prints the answer once, as JSON or readable, and writes the files that were asked for.

    Both forms are made only when they are needed: a document may hold thousands of polynomials.
    """
    if scripts is not None and provenance is not None:
        provenance.save(scripts)
    if out is not None:
        _write_report(document(), readable(), out, provenance)
    if as_json:
        click.echo(json_text(document()))
    else:
        Console().print(readable())


def published(
    found: Any,
    make: Callable[[Any], Mapping[str, Any]],
    show: Callable[[Any], RenderableType],
    as_json: bool,
    folders: tuple[Path | None, Path | None],
) -> None:
    """A result that carries its provenance; ``folders`` are those of --out and --save-scripts."""
    rendered(
        lambda: make(found),
        lambda: show(found),
        as_json=as_json,
        out=folders[0],
        scripts=folders[1],
        provenance=found.provenance,
    )


def _write_report(
    document: Mapping[str, Any],
    readable: RenderableType,
    out: Path,
    provenance: Provenance | None,
) -> None:
    text = io.StringIO()
    Console(width=100, file=text, color_system=None).print(readable)
    write_file(out / "report.txt", text.getvalue())
    if provenance is not None:
        provenance.save(out / "scripts")
    write_file(out / "report.json", json_text(document) + "\n")
