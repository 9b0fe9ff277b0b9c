"""The examples of a Markdown page: what is run, and what the page says that it prints.

```python blocks of a page run in order in one namespace; a ```text block that follows one says what
it prints. A block of prompts (>>>) is a doctest and holds its own outputs. ```console blocks hold
commands after "$ " with their output. In an expected output a line "..." stands for any lines.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PURE = "<!-- examples: pure -->"
"""The mark of a page whose examples need no Macaulay2."""

_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```\s*$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Example:
    """A Python block or one command, and the output that the page shows (None: it shows none)."""

    language: str
    code: str
    expected: str | None
    line: int


def pages() -> list[Path]:
    """All pages of the documentation, and the README."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def examples(text: str) -> Iterator[Example]:
    """The examples of a page, in order."""
    blocks = [(m[1], m[2], text.count("\n", 0, m.start()) + 1) for m in _FENCE.finditer(text)]
    for number, (language, code, line) in enumerate(blocks):
        if language == "python":
            following = blocks[number + 1] if number + 1 < len(blocks) else ("", "", 0)
            yield Example("python", code, following[1] if following[0] == "text" else None, line)
        elif language == "console":
            for command, output in _commands(code):
                yield Example("console", command, output, line)


def _commands(block: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def run(example: Example, namespace: dict[str, Any], name: str) -> str:
    """What an example prints; an exception, or a command's failure, goes through."""
    if example.language == "python" and ">>>" in example.code:
        _doctest(example, namespace, name)
        return ""
    if example.language == "python":
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(example.code, f"{name}:{example.line}", "exec"), namespace)
        return printed.getvalue()
    program, *arguments = shlex.split(example.code)
    assert program == "m2bridge", f"{name}:{example.line}: only m2bridge is run, not {program}"
    done = subprocess.run(
        [sys.executable, "-m", "m2bridge", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, f"{example.code}: exit status {done.returncode}\n{done.stderr}"
    return done.stdout


def _doctest(example: Example, namespace: dict[str, Any], name: str) -> None:
    parsed = doctest.DocTestParser().get_doctest(example.code, {}, name, name, example.line)
    parsed.globs = namespace
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    told = io.StringIO()
    runner.run(parsed, out=told.write, clear_globs=False)
    assert not runner.summarize(verbose=False).failed, told.getvalue()


def agree(expected: str, printed: str) -> bool:
    """Is this what the page shows? Trailing spaces are left aside; "..." stands for any lines."""
    wanted, got = _lines(expected), _lines(printed)
    escaped = [re.sub(r"([*?[])", r"[\1]", line) for line in wanted]
    pattern = "\n".join("*" if line == "..." else line for line in escaped)
    return fnmatchcase("\n".join(got), pattern)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip("\n").splitlines()]
