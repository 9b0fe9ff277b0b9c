"""From a library call to an exit status: errors, sessions, renderings."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

import click

from m2bridge.cli.progress import Reporter
from m2bridge.errors import (
    DockerError,
    M2BridgeError,
    M2Error,
    M2MemoryError,
    M2NotFoundError,
    M2TimeoutError,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

    from m2bridge.engine import Session
    from m2bridge.provenance import Provenance

__all__ = [
    "Interrupted",
    "failures_told",
    "open_session_for",
    "printed",
    "published",
    "rendered",
    "reporter",
    "without_macaulay2",
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


class Interrupted(BaseException):
    """A Ctrl-C, under a name that click does not know."""


@contextlib.contextmanager
def failures_told() -> Iterator[None]:
    """Turns exceptions into one message on standard error and the exit status of the contract.

    Around a whole run, arguments and --help included. What was printed is flushed here: left to
    Python's end, a full disk would be told in Python's words and with another status.
    """
    try:
        try:
            yield
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except click.ClickException as error:
        with contextlib.suppress(OSError):
            error.show()
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, Interrupted, click.Abort):
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a second Ctrl-C ends us at once
        _end("interrupted", 130)
    except BrokenPipeError:
        # The reader of our output (a pager, head) has left; there is nobody to tell.
        _abandon(sys.stdout)
        sys.exit(1)
    except Exception as error:
        for kind, status in _STATUS:
            if isinstance(error, kind):
                if isinstance(error, OSError):
                    _abandon(sys.stdout)
                _end(_words(error), status)
        raise
    finally:
        try:
            if sys.stderr is not None:
                sys.stderr.flush()
        except OSError:  # nobody can be told
            _abandon(sys.stderr)


def _words(error: Exception) -> str:
    """The message of an error; those of the system without their number."""
    if isinstance(error, OSError) and error.strerror:
        where = "writing the answer" if error.filename is None else error.filename
        return f"{where}: {error.strerror}"
    return str(error)


def _end(message: str, status: int) -> NoReturn:
    with contextlib.suppress(OSError):
        click.echo(f"m2bridge: {message}", err=True)
    sys.exit(status)


def _abandon(stream: TextIO) -> None:
    """What is still unwritten would fail once more when Python ends, with a status of its own."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


@contextlib.contextmanager
def reporter() -> Iterator[Reporter]:
    """Progress on standard error while the block runs."""
    with Reporter() as report:
        yield report


@contextlib.contextmanager
def open_session_for(options: dict[str, Any]) -> Iterator[Session]:
    """The session that the engine options describe; takes them out of ``options``."""
    from m2bridge.models import session_for
    from m2bridge.scripts import without_cache

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


def printed(readable: RenderableType, *, soft_wrap: bool = False) -> None:
    """Prints something readable on standard output, with colours if that is a terminal.

    ``soft_wrap`` leaves long lines to the terminal.
    """
    click.echo(_for_here(readable, soft_wrap=soft_wrap), nl=False, color=True)


def _for_here(readable: RenderableType, *, soft_wrap: bool = False) -> str:
    """As wide and as coloured as standard output wants it."""
    from rich.console import Console

    console = Console()
    with console.capture() as text:
        console.print(readable, soft_wrap=soft_wrap)
    return text.get()


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
    from m2bridge.cli.writing import write_folder
    from m2bridge.report.document import json_text

    with reporter() as report:
        report("writing the answer", 0, None)
        text = json_text(document()) + "\n" if as_json or out is not None else ""
        if scripts is not None and provenance is not None:
            write_folder(scripts, {}, provenance, programs=".")
        if out is not None:
            write_folder(out, {"report.txt": _plain(readable()), "report.json": text}, provenance)
        answer = text if as_json else _for_here(readable())
    click.echo(answer, nl=False, color=True)


def _plain(readable: RenderableType) -> str:
    """Something readable as a text file."""
    from rich.console import Console

    text = io.StringIO()
    Console(width=100, file=text, color_system=None).print(readable)
    return text.getvalue()


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
