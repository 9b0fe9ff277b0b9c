"""Sessions on a real Macaulay2: exactness of what passes, and code that does its worst."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from m2bridge.engine import Session, find_m2, open_session
from m2bridge.errors import (
    M2CrashedError,
    M2Error,
    M2InterruptedError,
    M2MemoryError,
    M2TimeoutError,
)
from tests.engine.test_lifecycle import descendants, descriptors

pytestmark = pytest.mark.m2


@pytest.fixture(scope="module")
def small() -> Iterator[Session]:
    """A session with little memory, which its tests may destroy."""
    with open_session(memory="700M", timeout=60) as opened:
        yield opened


def value(session: Session, code: str, timeout: float | None = None) -> str:
    return session.eval(code, timeout=timeout).segments[0].decode()


# ------------------------------------------------------------ what passes, exactly


def test_the_value_s_text(session: Session) -> None:
    assert value(session, "2+2") == "4"
    assert value(session, "1/3") == "1/3"
    assert value(session, "2^1000") == str(2**1000)
    assert value(session, "null") == ""
    assert value(session, "x = 5;\nx+1") == "6"


def test_the_state_stays(session: Session) -> None:
    value(session, "myNumber = 17")
    assert value(session, "myNumber * 2") == "34"


@given(segments=st.lists(st.binary(max_size=300), max_size=20))
@settings(max_examples=200, deadline=None)
def test_segments_pass_unchanged(session: Session, segments: list[bytes]) -> None:
    assert list(session.call("echo", segments).segments) == segments


@pytest.mark.parametrize("size", [0, 1, 4095, 4096, 65535, 65536, 65537, 3_000_001])
def test_segments_of_any_size(session: Session, size: int) -> None:
    data = os.urandom(size)
    assert session.call("echo", [data, b"", data]).segments == (data, b"", data)


def test_many_segments(session: Session) -> None:
    segments = tuple(b"%d" % k for k in range(10_000))
    assert session.call("echo", segments).segments == segments


def test_what_is_remembered_of_frames_is_bounded(session: Session) -> None:
    for size in range(4_200):
        assert session.call("echo", [bytes(size)]).segments == (bytes(size),)
    kept = int(value(session, "debug M2Bridge; #shapes"))
    assert 4_000 < kept <= 4_096


def test_a_hundred_megabytes(session: Session) -> None:
    code = 's = "0123456789abcdef"; for i from 1 to 23 do s = s | s; s'
    assert session.eval(code).segments[0] == b"0123456789abcdef" * 2**23


def test_unicode_and_nul(session: Session) -> None:
    text = "Größe π ∈ ℝ 🙂"
    assert value(session, f'"{text}"') == text
    assert session.eval('"a\\000b\\377"').segments[0] == b"a\0b\xff"
    answer = session.eval('print "π"; "π"')
    assert (answer.text, answer.output) == ("π", "π\n")


def test_code_with_a_nul(session: Session) -> None:
    with pytest.raises(M2Error):
        value(session, "1 + \0 2")
    assert value(session, "1+2") == "3"


# --------------------------------------------------------- output, errors, warnings


def test_output_stands_beside_the_answer(session: Session) -> None:
    answer = session.eval('print "one"; << "two" << endl; stderr << "three" << endl; 4')
    assert (answer.segments[0], answer.output) == (b"4", "one\ntwo\nthree\n")


@pytest.mark.parametrize(
    "text",
    ["M2BR\\000\\000\\000\\00100000000", "\\002", "\\003", "i1 : o1 = 5", "\\ni2 : \\003x\\002"],
)
def test_output_that_looks_like_ours(session: Session, text: str) -> None:
    answer = session.eval(f'<< "{text}" << endl; 7')
    assert answer.segments == (b"7",)
    plain = text.encode().decode("unicode_escape")
    assert answer.output == plain + "\n"


def test_code_runs_in_the_usual_mode_of_m2_and_may_choose_another(session: Session) -> None:
    assert value(session, "topLevelMode") == "Standard"
    session.eval("topLevelMode = TeXmacs")
    assert value(session, "topLevelMode") == "TeXmacs"
    with pytest.raises(M2Error):
        session.eval('topLevelMode = Standard; error "no"')
    assert value(session, "topLevelMode") == "Standard"


def test_an_error_has_message_and_place(session: Session) -> None:
    with pytest.raises(M2Error) as caught:
        session.eval('print "before"\n\n1/0')
    assert caught.value.message == "division by zero"
    assert caught.value.location is not None
    assert (caught.value.location.file, caught.value.location.line) == ("currentString", 3)
    assert caught.value.output == "before"
    assert caught.value.script.endswith("1/0")


def test_an_error_deep_inside_tells_the_user_s_line(session: Session) -> None:
    value(session, 'deep = n -> if n == 0 then error "at the bottom" else 1 + deep(n-1)')
    with pytest.raises(M2Error, match="at the bottom") as caught:
        value(session, "deep 5")
    assert caught.value.location is not None
    assert caught.value.location.line == 1


def test_a_syntax_error(session: Session) -> None:
    with pytest.raises(M2Error, match=r'expected "\}"'):
        value(session, "L = {1,2")
    assert value(session, "3") == "3"


def test_an_error_that_looks_like_an_error(session: Session) -> None:
    with pytest.raises(M2Error) as caught:
        value(session, 'error "x.m2:7:1:(3): error: not this"')
    assert "not this" in caught.value.message
    assert caught.value.location is not None
    assert caught.value.location.file == "currentString"


def test_an_unknown_operation(session: Session) -> None:
    with pytest.raises(M2Error, match="unknown operation: nonsense"):
        session.call("nonsense")


def test_scripts(session: Session) -> None:
    answer = session.run_script('print "said"\nbridgeAnswer {1/3, "a"}\n')
    assert (answer.segments, answer.output) == ((b'["1/3","a"]',), "said\n")
    with pytest.raises(M2Error, match="division by zero") as caught:
        session.run_script("a = 1\nb = 1/0\nbridgeAnswer b\n")
    assert caught.value.location is not None
    assert caught.value.location.line == 2
    with pytest.raises(M2Error, match="never called bridgeAnswer"):
        session.run_script("a = 1\n")
    for text in ("π", "a\\b", '\\"'):
        script = f'bridgeAnswer "{text}"'
        by_frame = session.call("scripttext", [script.encode()]).segments
        assert session.run_script(script).segments == by_frame
    with pytest.raises(M2Error, match="never called bridgeAnswer"):
        session.call("scripttext", [b"a = 1"])  # the answer before is not given again


def test_scripts_are_found_whatever_code_did_to_the_path(fresh_session: Session) -> None:
    fresh_session.eval("path = {}")
    if value(fresh_session, 'try (changeDirectory "/"; true) else false') == "true":
        assert value(fresh_session, "currentDirectory()") == "/"
    assert fresh_session.run_script("bridgeAnswer 7").segments == (b"7",)
    with pytest.raises(M2Error) as caught:
        fresh_session.run_script("a = 1\n1/0\nbridgeAnswer 7")
    assert caught.value.location is not None
    assert caught.value.location.file == "job2.m2"
    assert caught.value.location.line == 2


def test_scripts_after_the_temporary_folder_was_cleaned(fresh_session: Session) -> None:
    fresh_session.eval('run "rm -rf \\"$HOME\\""')
    assert fresh_session.run_script("bridgeAnswer 7").segments == (b"7",)
    assert fresh_session.generation == 1


# --------------------------------------------------------------- code at its worst


@pytest.mark.parametrize("code", ["read stdio", 'read "? "', 'get "/dev/stdin"'])
def test_standard_input_is_empty(session: Session, code: str) -> None:
    assert value(session, code, timeout=20) == ""


@pytest.mark.parametrize("code", ["exit 3", "exit 0", "exit()"])
def test_exit(small: Session, code: str) -> None:
    with pytest.raises(M2CrashedError, match=r"status [03]"):
        value(small, code)
    assert small.state_lost
    assert value(small, "1+1") == "2"


def test_a_number_that_is_too_large(small: Session) -> None:
    """Its bits could be counted, but not be held by any machine's arithmetic."""
    with pytest.raises(M2CrashedError, match="a number of more than"):
        value(small, "2^(10^12)")
    assert value(small, "1+1") == "2"


def test_code_that_writes_where_answers_go(fresh_session: Session) -> None:
    """It may spoil its own session; what comes is never taken for an answer."""
    # M2 looks itself whether it is a pipe: its own files are open, too, and must not be touched
    code = """
        file = "/proc/self/fd/%d"
        name = try readlink file else null
        if name =!= null and match("^pipe:", name) then openOut file << "i1 : not a frame" << close
        1"""
    spoilt = 0
    for number in range(3, 40):
        try:
            assert value(fresh_session, code % number, timeout=5) == "1"
            assert value(fresh_session, "40+2", timeout=5) == "42"
        except (M2CrashedError, M2TimeoutError):
            spoilt += 1
            assert value(fresh_session, "40+2") == "42"
    assert spoilt > 0


def test_restart(small: Session) -> None:
    with pytest.raises(M2CrashedError):
        value(small, "restart()", timeout=30)
    assert value(small, "1+1") == "2"


def test_deep_recursion_is_an_error(session: Session) -> None:
    with pytest.raises(M2Error, match="recursion limit"):
        value(session, "g = x -> 1 + g(x+1); g 1")
    assert value(session, "1+1") == "2"


def test_recursion_beyond_all_limits(small: Session) -> None:
    """The stack, the memory or the time ends it, whichever M2 and the machine's limits reach."""
    with pytest.raises((M2CrashedError, M2MemoryError, M2TimeoutError)):
        value(small, "recursionLimit = 10^8; g = x -> 1 + g(x+1); g 1", timeout=15)
    assert value(small, "1+1") == "2"


@pytest.mark.parametrize(
    "code", ["f = x -> f(x+1); f 1", "while true do 1", 'while true do print "flood"']
)
def test_an_endless_loop_meets_the_time_limit(small: Session, code: str) -> None:
    """The first is no recursion: M2 makes a loop of a call at the end of a function."""
    with pytest.raises(M2TimeoutError):
        value(small, code, timeout=1)
    assert value(small, "1+1") == "2"


@pytest.mark.parametrize(
    "code",
    [
        "L = {}; while true do L = {L, toList(1..10^5)}",
        "x = toList(1..10^9)",
        "toString(10^(10^10))",
    ],
)
def test_endless_allocation(small: Session, code: str) -> None:
    begun = time.monotonic()
    with pytest.raises((M2MemoryError, M2Error)) as caught:
        value(small, code, timeout=50)
    assert time.monotonic() - begun < 50
    assert isinstance(caught.value, M2MemoryError) or "memory" in str(caught.value).lower()
    assert value(small, "1+1") == "2"


def test_a_fork_inside_m2_does_not_answer_twice(session: Session) -> None:
    before = session.generation
    value(session, "fork()", timeout=20)
    assert [value(session, f"{k}+0") for k in range(20)] == [str(k) for k in range(20)]
    assert session.generation == before


def test_programs_that_m2_runs_are_outside_of_frames(session: Session) -> None:
    assert value(session, 'run "echo loud; echo louder >&2; cat"') == "0"
    assert value(session, "1+1") == "2"


def test_a_program_that_m2_started_ends_with_it(fresh_session: Session) -> None:
    pid = int(value(fresh_session, "get \"!sh -c 'setsid sleep 600 >/dev/null 2>&1 & echo $!'\""))
    stat = Path(f"/proc/{pid}/stat")
    deadline = time.monotonic() + 10
    while "sleep" not in stat.read_text():  # the shell has forked, and not yet become it
        assert time.monotonic() < deadline
    fresh_session.close()
    deadline = time.monotonic() + 10
    while stat.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not stat.exists()


# ------------------------------------------------------------------- interrupting

ENDLESS = [
    "while true do 1",
    "R = ZZ/32003[y_0..y_8]; I = ideal random(R^1, R^{7:-4}); gens gb I; 1",
    "sleep 30",
]


@pytest.mark.parametrize("code", ENDLESS)
def test_ctrl_c(session: Session, code: str) -> None:
    value(session, "kept = 99")
    generation = session.generation
    threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        value(session, code)
    assert session.generation == generation
    assert value(session, "kept") == "99"


@pytest.mark.parametrize("code", ENDLESS)
def test_interrupt(session: Session, code: str) -> None:
    value(session, "kept = 100")
    threading.Timer(0.7, session.interrupt).start()
    with pytest.raises(M2InterruptedError) as caught:
        value(session, code)
    assert caught.value.state_kept
    assert value(session, "kept") == "100"


def test_an_interrupt_in_the_first_moment_keeps_the_state(session: Session) -> None:
    """M2 may still sleep then, or begin to read; a signal would end it there."""
    value(session, "kept = 101")
    for k in range(60):
        time.sleep(0.001 * (k % 3))

        def stop() -> None:
            while not session.interrupt():
                pass

        thread = threading.Thread(target=stop)
        thread.start()
        with pytest.raises(M2InterruptedError) as caught:
            value(session, "while true do 1")
        thread.join()
        assert caught.value.state_kept
    assert value(session, "kept") == "101"


def test_interrupts_at_any_moment_never_spoil_an_answer(fresh_session: Session) -> None:
    """Ctrl-C in a loop of small jobs: state kept or said to be lost, and no wrong answer."""
    value(fresh_session, "1")
    for k in range(15):
        threading.Timer(0.02 + 0.003 * k, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            deadline = time.monotonic() + 5
            n = 0
            while time.monotonic() < deadline:
                n += 1
                assert value(fresh_session, f"{n}*{n}") == str(n * n)
            pytest.fail("no interrupt came")
        except KeyboardInterrupt:
            pass
        assert value(fresh_session, "6*7") == "42"


def test_an_interrupt_of_a_large_request_spoils_nothing(fresh_session: Session) -> None:
    """It comes while the request is sent, read, or evaluated; the next one is read as it is."""
    value(fresh_session, "1")
    text = f'#"{"x" * 1_000_000}"'
    stopped = 0
    for k in range(12):
        timer = threading.Timer(0.003 * k, fresh_session.interrupt)
        timer.start()
        try:
            assert value(fresh_session, text) == "1000000"
        except M2InterruptedError:
            stopped += 1
        timer.join()
        assert value(fresh_session, "6*7") == "42"
    assert stopped


@pytest.mark.parametrize(
    "count", [3, pytest.param(1000, marks=[pytest.mark.slow, pytest.mark.timeout(7200)])]
)
def test_many_sessions_leave_nothing(temporary: Path, count: int) -> None:
    with open_session(timeout=60) as first:  # what is made once is made now
        first.start()
    before, children = descriptors(), descendants()
    for k in range(count):
        with open_session(timeout=60, memory="2G") as opened:
            assert value(opened, f"{k}+1") == str(k + 1)
    assert descriptors() == before
    assert descendants() == children
    assert list(temporary.iterdir()) == []


# ------------------------------------------------------------------ the user's machine


def test_the_user_s_init_file_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in (tmp_path / ".Macaulay2", tmp_path):
        folder.mkdir(exist_ok=True)
        (folder / "init.m2").write_text('print "init was here"\nexit 4\n')
    path = find_m2().path  # looked for before HOME changes: the managed copy lies under it
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with open_session(path=path, timeout=60) as session:
        answer = session.eval("1+1")
    assert (answer.segments, answer.output) == ((b"2",), "")


def test_a_home_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    home.chmod(0o555)
    path = find_m2().path
    monkeypatch.setenv("HOME", str(home))
    with open_session(path=path, timeout=60) as session:
        assert value(session, "1+1") == "2"
    home.chmod(0o755)
    assert list(home.iterdir()) == []
