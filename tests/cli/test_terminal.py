"""What a shell and a terminal see: completion, colours."""

import os
import pty
import re
import subprocess
import sys

import pytest
from click.testing import CliRunner

import m2bridge.engine.doctor as examination
from m2bridge.cli import COMMANDS
from m2bridge.cli.machine import doctor
from m2bridge.engine.doctor import Diagnosis, Finding
from tests.cli.test_cli import m2bridge

STRATA = ("strata", "--d", "2", "--d-out", "1", "--a", "2")
COLOUR = re.compile(r"\x1b\[[0-9;]*\b(?:3[0-7]|9[0-7]|38;[0-9;]+)m")


@pytest.mark.parametrize(
    ("shell", "words"),
    [("bash", "complete -o nosort"), ("zsh", "#compdef m2bridge"), ("fish", "complete --no-files")],
)
def test_the_documented_line_gives_the_shell_its_completion(shell: str, words: str) -> None:
    done = m2bridge(_M2BRIDGE_COMPLETE=f"{shell}_source")
    assert done.returncode == 0
    assert words in done.stdout


def completed(line: str, position: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "m2bridge"],
        capture_output=True,
        text=True,
        timeout=60,
        env={
            **os.environ,
            "_M2BRIDGE_COMPLETE": "bash_complete",
            "COMP_WORDS": line,
            "COMP_CWORD": str(position),
        },
        check=False,
    )


@pytest.mark.parametrize("beginning", ["", "s"])
def test_names_of_commands_are_completed_without_waiting_for_sympy(beginning: str) -> None:
    done = completed(f"m2bridge {beginning}", 1)
    expected = [f"plain,{name}" for name in COMMANDS if name.startswith(beginning)]
    assert done.stdout.split() == expected
    assert "m2bridge.cli" in done.stderr  # the list of imports is there
    assert "sympy" not in done.stderr


def test_options_of_the_program_are_completed() -> None:
    assert "plain,--version" in completed("m2bridge --", 1).stdout.split()


SLOW = re.compile(r"\|\s+(sympy|numpy|flint|rich|jinja2|multiprocessing)$", re.MULTILINE)


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in ("plot", "cache")])
def test_options_are_completed_without_waiting_for_sympy(command: str) -> None:
    done = completed(f"m2bridge {command} --", 2)
    assert "plain,--help" in done.stdout.split()
    assert len(done.stdout.split()) > 1
    assert not SLOW.search(done.stderr)
    assert "m2bridge.cli" in done.stderr


@pytest.mark.parametrize("arguments", [("--version",), ("plot", "strata", "--help")])
def test_versions_and_help_do_not_wait_for_sympy_either(arguments: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "m2bridge", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert not SLOW.search(done.stderr)
    assert "m2bridge.cli" in done.stderr


def test_the_package_itself_is_quick_to_import_and_has_its_names() -> None:
    program = "import sys, m2bridge; print('sympy' in sys.modules, m2bridge.__version__)"
    done = subprocess.run(
        [sys.executable, "-c", program + "; from m2bridge import LightningAttention"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.split()[0] == "False"
    assert done.stdout.split()[1][0].isdigit()


def on_a_terminal(**environment: str) -> str:
    """What a command's progress looks like on a terminal that knows colours."""
    main, side = pty.openpty()
    inherited = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    with subprocess.Popen(
        [sys.executable, "-c", _SPINNER],
        stdin=side,
        stdout=side,
        stderr=side,
        env={**inherited, "TERM": "xterm-256color", **environment},
    ) as process:
        os.close(side)
        written = b""
        while True:
            try:
                some = os.read(main, 4096)
            except OSError:  # the end, as Linux tells it
                break
            if not some:
                break
            written += some
        assert process.wait(60) == 0
    os.close(main)
    return written.decode()


# The spinner that every command shows after a second, without a second's work.
_SPINNER = """
import time
from rich.console import Console
from m2bridge.cli.progress import Reporter
with Reporter(Console(stderr=True)) as report:
    report("sweep", 1, 2)
    time.sleep(1.5)
"""


def test_colours_only_on_terminals_and_never_with_no_color() -> None:
    assert COLOUR.search(on_a_terminal())
    without = on_a_terminal(NO_COLOR="1")
    assert "sweep 1/2" in without
    assert not COLOUR.search(without)
    piped = m2bridge(*STRATA)
    assert piped.returncode == 0
    assert "\x1b" not in piped.stdout + piped.stderr


@pytest.mark.parametrize("columns", ["40", "80", "300"])
def test_the_doctor_leaves_paths_whole(monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    """What is cut cannot be copied from a terminal."""
    path = "/somewhere/" + "very-deep/" * 12 + "M2"
    finding = Finding("Macaulay2", False, f"1.26.06 at {path} (from PATH)", "apt-get this and that")
    monkeypatch.setattr(examination, "examine", lambda m2: Diagnosis((finding,), None))
    monkeypatch.setenv("COLUMNS", columns)
    done = CliRunner().invoke(doctor)
    assert done.exit_code == 3
    assert path in done.stdout
    assert " ".join(done.stdout.split()) == (
        f"MISSING Macaulay2 1.26.06 at {path} (from PATH) to mend it: apt-get this and that"
    )
    assert max(len(line) for line in done.stdout.splitlines() if path not in line) <= 60
