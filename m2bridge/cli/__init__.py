"""The command line: arguments become one call, the answer becomes one rendering."""

from __future__ import annotations

import importlib
import logging
import sys
from difflib import get_close_matches
from typing import Any

import click
from click.shell_completion import CompletionItem

from m2bridge.cli.running import Interrupted, failures_told
from m2bridge.version import m2bridge_version

__all__ = ["COMMANDS", "main"]

# Command -> the module that defines it, and its line in --help. Modules are imported when their
# command is used, so that --help and --version do not wait for sympy.
COMMANDS = {
    "analyze": ("layer", "Everything about one layer."),
    "ideal": ("layer", "The equations of the closure of all functions."),
    "singular-locus": ("layer", "Where that closure is singular."),
    "boundary": ("layer", "Where the functions of real weights end."),
    "strata": ("layer", "The functions by rank type of the weights."),
    "invariants": ("layer", "The published families of equations."),
    "verify-theorems": ("layer", "Published statements beside what is computed."),
    "fibre": ("weights", "All weights with the same function."),
    "identify": ("weights", "Where do these weights sit."),
    "recognize": ("weights", "Is this a function of the layer."),
    "dimension": ("depth", "The dimension at any depth, with proof."),
    "unroll": ("depth", "A deep network as its reduced data."),
    "models": ("depth", "The attention of published models, by formula."),
    "sweep": ("depth", "One question for a grid of models."),
    "report": ("report", "One layer as a page to read and share."),
    "plot": ("plot", "Pictures: strata, slices, dimensions."),
    "run": ("machine", "Run an M2 program with limits."),
    "install-m2": ("machine", "Install the pinned Macaulay2."),
    "doctor": ("machine", "What is here, what is missing."),
    "cache": ("machine", "The cache of answers on disk."),
}


class _Commands(click.Group):
    """A group that imports a command's module only when the command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        loaded = importlib.import_module(f"m2bridge.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(loaded, cmd_name.replace("-", "_"))
        return command

    def main(self, *args: Any, **extra: Any) -> Any:
        """A whole run, from the arguments to the exit status that the process ends with."""
        extra["standalone_mode"] = False
        with failures_told():
            status = super().main(*args, **extra)
        sys.exit(status if isinstance(status, int) else 0)

    def invoke(self, ctx: click.Context) -> Any:
        """click answers Ctrl-C with an empty line; what is to be said is said in ``main``."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted from None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """click's own guess at what was meant knows only commands that are imported already."""
        name = args[0]
        close = [] if name in COMMANDS else get_close_matches(name, COMMANDS)
        if close and not ctx.resilient_parsing:
            raise click.UsageError(f"No such command {name!r}. Did you mean {close[0]!r}?", ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Names and lines from the table above: pressing Tab must not wait for sympy either."""
        names = [
            CompletionItem(name, help=text)
            for name, (_, text) in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(m2bridge_version(), prog_name="m2bridge")
def _cli() -> None:
    """The exact geometry of lightning self-attention, computed with Macaulay2.

    \b
    m2bridge analyze --d 2 --d-out 1 --a 2 --t 2
    m2bridge dimension --layers "4,4,4,4;2,2,2" --t 3
    m2bridge doctor

    \b
    Exit status: 0 done, 2 bad arguments, 3 no Macaulay2, 4 error in Macaulay2,
    5 time limit, 6 memory limit, 130 interrupted, 1 anything else.
    """


def main(arguments: list[str] | None = None) -> Any:
    """The console script ``m2bridge``; ends the process with its exit status."""
    # What the library logs for programmers would stand beside our own messages.
    logging.getLogger("m2bridge").addHandler(logging.NullHandler())
    return _cli(args=arguments, prog_name="m2bridge")
