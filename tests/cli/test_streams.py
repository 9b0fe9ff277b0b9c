"""Pipes that close, disks that are full, Ctrl-C: one line at most, the right status, no debris."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMANDS = [
    ("--help",),
    ("--version",),
    ("strata", "--help"),
    ("models",),
    ("models", "--json"),
    ("strata", "--d", "6", "--d-out", "6", "--a", "6", "--json"),
    ("unroll", "--layers", "4,4,4;2,2"),
]
PROGRAM = [sys.executable, "-m", "m2bridge"]
FULL = Path("/dev/full")


def started(*arguments: str, **streams: object) -> subprocess.Popen[bytes]:
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    # Where tests run in the background the shell ignores Ctrl-C, and children inherit that.
    return subprocess.Popen(  # type: ignore[call-overload, no-any-return]
        [*PROGRAM, *arguments],
        # with buffers, as most have it: what is left in them is written when Python ends
        env={name: os.environ[name] for name in os.environ if name != "PYTHONUNBUFFERED"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        **streams,
    )


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_reader_that_leaves_is_no_failure_to_talk_about(arguments: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with started(*arguments, stdout=writing) as process:
        os.close(writing)
        _, messages = process.communicate(timeout=60)
    assert messages == b""
    assert process.returncode == 1


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_full_disk_is_told_in_one_line(arguments: tuple[str, ...]) -> None:
    with FULL.open("wb") as full, started(*arguments, stdout=full) as process:
        _, messages = process.communicate(timeout=60)
    assert messages == b"m2bridge: writing the answer: No space left on device\n"
    assert process.returncode == 1


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")
@pytest.mark.parametrize(
    ("arguments", "status"), [(("models",), 0), (("strata", "--d", "0"), 2), (("nonsense",), 2)]
)
def test_messages_that_cannot_be_told_do_not_change_the_status(
    arguments: tuple[str, ...], status: int
) -> None:
    with FULL.open("wb") as full, started(*arguments, stderr=full) as process:
        process.communicate(timeout=60)
    assert process.returncode == status


def interrupted(arguments: list[str], seconds: float) -> tuple[int, str]:
    """Status and messages of a run that gets a Ctrl-C after a while."""
    with started(*arguments) as process:
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        _, messages = process.communicate(timeout=60)
    return process.returncode, messages.decode()


# Python's own start, before any of our lines, ends by the signal itself.
@pytest.mark.parametrize("seconds", [0.15, 0.3, 0.6, 1.0, 1.5, 2.5])
def test_an_interrupted_run_leaves_nothing(tmp_path: Path, seconds: float) -> None:
    out = tmp_path / "new" / "folder"
    sizes = ["--d", "24", "--d-out", "24", "--a", "24", "--t", "1"]
    status, messages = interrupted(["strata", *sizes, "--json", "--out", str(out)], seconds)
    if status == 0:  # it was quicker
        assert sorted(file.name for file in out.iterdir()) == ["report.json", "report.txt"]
        return
    lines = [line for line in messages.splitlines() if " s)" not in line]
    # A shell calls both 130. Python chooses the second if the signal met an import in C.
    assert status in (130, -signal.SIGINT)
    assert lines == ["m2bridge: interrupted"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.m2
def test_an_interrupted_report_leaves_nothing(tmp_path: Path) -> None:
    sizes = ["--d", "3", "--d-out", "2", "--a", "3"]
    out, scripts = tmp_path / "out", tmp_path / "scripts"
    names = ["--out", str(out), "--save-scripts", str(scripts)]
    status, messages = interrupted(["report", *sizes, *names], 4)
    assert status in (130, -signal.SIGINT)
    assert messages.splitlines()[-1] == "m2bridge: interrupted"
    assert list(tmp_path.iterdir()) == []


def test_strata_write_their_folder(tmp_path: Path) -> None:
    for _ in range(2):  # a new folder, then one that is there
        done = subprocess.run(
            [*PROGRAM, "strata", "--d", "2", "--d-out", "1", "--a", "2", "--out", str(tmp_path)],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        assert sorted(file.name for file in tmp_path.iterdir()) == ["report.json", "report.txt"]
        assert "(1, 1, 1)" in done.stdout
        assert "(1, 1, 1)" in (tmp_path / "report.txt").read_text("utf-8")


def test_thousands_of_strata_are_cut_off_on_paper_and_say_so() -> None:
    from m2bridge.models import LightningAttention
    from m2bridge.report import terminal
    from m2bridge.report.document import strata_document

    layer = LightningAttention(16, 16, 16, 1)
    strata = layer.strata()
    table = terminal._strata_table(layer, strata)
    assert table.row_count == 1_001
    assert len(strata_document(layer, strata)["strata"]) == len(strata) > 1_000
