"""A user's script under our limits."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

import pytest

from m2bridge.engine import LocalEngine, RecordingEngine, ReplayEngine, find_m2
from m2bridge.engine.running import run_file
from m2bridge.errors import M2CrashedError, M2Error, M2MemoryError, M2TimeoutError


def test_no_such_script(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"none\.m2 cannot be read"):
        run_file(tmp_path / "none.m2")
    with pytest.raises(ValueError, match="time limit"):
        run_file(tmp_path / "none.m2", timeout=-1)
    with pytest.raises(ValueError, match="memory limit"):
        run_file(tmp_path / "none.m2", memory="much")


@pytest.mark.timeout(20)
def test_what_could_be_read_only_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.m2")
    for path in (tmp_path / "pipe.m2", Path("/dev/zero")):
        with pytest.raises(ValueError, match="a pipe or a device"):
            run_file(path)
    with pytest.raises(ValueError, match="cannot be read: Is a directory"):
        run_file(tmp_path)


def write(folder: Path, text: str, name: str = "script.m2") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


needs_m2 = pytest.mark.m2


@needs_m2
def test_what_it_prints_and_how_it_ends(tmp_path: Path, temporary: Path) -> None:
    write(tmp_path, "helper = 20\n", "helper.m2")
    text = 'load "helper.m2"\nneedsPackage "M2Bridge"\nprint(helper + 22)\nbridgeAnswer {1/3}\n'
    text += 'print "π"\nstderr << "aside" << endl\nread stdio\nexit 3\n'
    ran = run_file(write(tmp_path, text), timeout=60, memory="2G")
    assert (ran.status, ran.output, ran.messages) == (3, '42\n["1/3"]\nπ\n', "aside\n")
    assert ran.digest == hashlib.sha256(text.encode()).hexdigest()
    assert ran.m2_version
    assert ran.engine.startswith("local: ")
    assert 0 < ran.seconds < 60
    assert list(temporary.iterdir()) == []


@needs_m2
def test_an_error_has_its_place(tmp_path: Path) -> None:
    with pytest.raises(M2Error, match="division by zero") as caught:
        run_file(write(tmp_path, 'print "first"\nf = x ->\n  1/x\nf 0\nprint "never"\n'))
    assert caught.value.location is not None
    assert caught.value.location.file.endswith("script.m2")
    assert caught.value.location.line == 3
    assert caught.value.output == "first\n"
    with pytest.raises(M2Error, match="no method") as caught:  # M2 sees it in a file of its own
        run_file(write(tmp_path, '\n1 + "a"\n'))
    assert caught.value.location is not None
    assert caught.value.location.file.endswith("script.m2")
    assert caught.value.location.line == 2


@needs_m2
def test_a_status_of_the_script_s_own_is_no_error_of_m2_s(tmp_path: Path) -> None:
    ran = run_file(write(tmp_path, 'stderr << "a.m2:1:2:(3): error: said" << endl; exit 7'))
    assert ran.status == 7
    assert "error: said" in ran.messages


@needs_m2
def test_a_reader_that_left(tmp_path: Path, temporary: Path) -> None:
    def gone(piece: bytes) -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        run_file(write(tmp_path, "while true do print 1"), on_output=gone, timeout=30)
    assert list(temporary.iterdir()) == []


@needs_m2
def test_output_as_it_comes(tmp_path: Path) -> None:
    pieces: list[tuple[float, bytes]] = []
    path = write(tmp_path, 'print "a" << flush; sleep 1; print "b"\n'.replace(" << flush", ""))
    ran = run_file(path, on_output=lambda piece: pieces.append((time.monotonic(), piece)))
    assert b"".join(piece for _, piece in pieces) == b"a\nb\n"
    assert ran.output == ""


@needs_m2
@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("while true do 1", M2TimeoutError),
        ('while true do print "y"', M2TimeoutError),
        ("L = {}; while true do L = {L, toList(1..10^5)}", M2MemoryError),
        ('run("kill -9 " | toString processID())', M2CrashedError),
    ],
)
def test_limits(tmp_path: Path, temporary: Path, text: str, error: type[Exception]) -> None:
    limits = {"timeout": 4.0 if error is M2TimeoutError else 100.0, "memory": "600M"}
    with pytest.raises(error):
        run_file(write(tmp_path, text), **limits)  # type: ignore[arg-type]
    assert list(temporary.iterdir()) == []


@needs_m2
def test_engines_that_only_have_sessions(tmp_path: Path) -> None:
    path = write(tmp_path, 'print "inside"\nx = 1/3\n')
    record = tmp_path / "record.json"
    real = run_file(path, RecordingEngine(LocalEngine(find_m2()), record), timeout=60)
    assert (real.status, real.output) == (0, "inside\n")
    again = run_file(path, ReplayEngine(record))
    assert (again.output, again.m2_version) == (real.output, real.m2_version)
    assert again.engine == "replay: record.json"
