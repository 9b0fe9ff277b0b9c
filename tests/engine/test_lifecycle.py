"""The life of a process: every way to end it, and that nothing is left. With a stand-in for M2."""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import pickle
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from m2bridge.engine import Session, open_session
from m2bridge.engine.channel import Channel
from m2bridge.engine.frames import FrameReader
from m2bridge.errors import (
    EngineError,
    M2CrashedError,
    M2Error,
    M2InterruptedError,
    M2MemoryError,
    M2NotFoundError,
    M2TimeoutError,
)

ROOT = Path(__file__).parents[2]
Open = Callable[..., Session]


def ask(session: Session, code: str, timeout: float | None = None) -> str:
    return session.eval(code, timeout=timeout).segments[0].decode()


def descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd"))  # noqa: PTH208


def descendants() -> set[int]:
    """All living processes below this one."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if entry.name.isdigit():
            parents[int(entry.name)] = int(fields[1])
    found, level = set[int](), {os.getpid()}
    while level := {pid for pid, parent in parents.items() if parent in level}:
        found |= level
    return found


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(pid: int, seconds: float = 10.0) -> bool:
    deadline = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not alive(pid)


# ------------------------------------------------------------------- starting


def test_nothing_starts_before_it_is_needed(begin: Open, temporary: Path) -> None:
    session = begin()
    assert (session.generation, list(temporary.iterdir())) == (0, [])
    assert ask(session, "sum 20 22") == "42"
    assert (session.generation, session.state_lost) == (1, False)


def test_what_a_session_shows_starts_nothing(begin: Open) -> None:
    session = begin()
    assert repr(session).startswith("<Session, not started, local: ")
    assert session.generation == 0
    session.start()
    assert repr(session).startswith("<Session, version 1.")
    session.close()
    assert repr(session).startswith("<Session, closed, ")


def test_another_protocol_is_refused(begin: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_M2_PROTOCOL", "1")
    with pytest.raises(EngineError, match="different versions"):
        begin().start()


def test_an_old_m2_is_refused(begin: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_M2_VERSION", "1.15")
    with pytest.raises(M2NotFoundError, match=r"1\.15.*1\.21"):
        begin().start()


def test_an_m2_that_never_says_hello(begin: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    from m2bridge.engine import Limits, LocalEngine, find_m2

    monkeypatch.setenv("FAKE_M2_MUTE", "1")
    engine = LocalEngine(find_m2(begin().engine.installation.path))  # type: ignore[attr-defined]
    session = Session(engine, limits=Limits(start_seconds=0.6))
    with pytest.raises(M2TimeoutError, match="thinking about itself"):
        session.start()


def test_the_start_has_the_time_of_a_call_but_not_too_little(
    begin: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_M2_MUTE", "1")
    monkeypatch.setattr("m2bridge.engine.session._LEAST_START_SECONDS", 0.8)
    for options, seconds in [
        ({"timeout": 0.1}, 0.8),
        ({"timeout": 1.2}, 1.2),
        ({"session_timeout": 0.5}, 0.5),
    ]:
        begun = time.monotonic()
        with pytest.raises(M2TimeoutError, match=f"did not come up within {seconds:g} s"):
            ask(begin(**options), "sum 1 1")
        assert seconds <= time.monotonic() - begun < seconds + 3
    monkeypatch.delenv("FAKE_M2_MUTE")
    assert ask(begin(timeout=5), "sum 1 1") == "2"


def test_an_executable_that_ends_at_once(tmp_path: Path, temporary: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo 1.26 && exit 0\necho no library >&2; exit 9\n'
    )
    broken.chmod(0o755)
    with pytest.raises(M2CrashedError, match=r"status 9.*no library"):
        open_session(path=broken).start()
    assert list(temporary.iterdir()) == []


def test_no_temporary_folder(begin: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    session = begin()
    monkeypatch.setattr("tempfile.tempdir", "/nowhere/at/all")
    with pytest.raises(EngineError, match=r"private folder.*TMPDIR"):
        session.start()


def test_a_full_disk(begin: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object) -> int:
        raise OSError(28, "No space left on device")

    session = begin()
    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(EngineError, match="No space left"):
        session.start()
    monkeypatch.undo()


def test_python_started_with_closed_streams(fake: Path, tmp_path: Path) -> None:
    code = f"""
        from m2bridge.engine import open_session
        with open_session(path={str(fake)!r}, timeout=20) as session:
            answer = session.eval("sum 1 2").segments[0]
        open({str(tmp_path / "answer")!r}, "wb").write(answer)
    """
    command = f"exec {sys.executable} -c '{textwrap.dedent(code)}' <&- >&- 2>&-".replace("'/", '"/')
    command = command.replace("M2'", 'M2"').replace("answer'", 'answer"')
    subprocess.run(["sh", "-c", command], cwd=ROOT, check=True, timeout=60)
    assert (tmp_path / "answer").read_bytes() == b"3"


# --------------------------------------------------------------------- ending


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("die 3", "status 3"),
        ("half", "status 0"),
        ("garbage", "where a frame should begin"),
        ("other", "job 2 where the answer of job 1 was due"),
    ],
)
def test_a_process_that_leaves_the_protocol(begin: Open, code: str, message: str) -> None:
    session = begin()
    with pytest.raises(M2CrashedError, match=message):
        ask(session, code)
    assert session.state_lost
    assert ask(session, "sum 1 1") == "2"
    assert session.generation == 2


def test_an_error_leaves_the_process_alone(begin: Open) -> None:
    session = begin()
    before = ask(session, "pid")
    with pytest.raises(M2Error, match="no such luck") as caught:
        ask(session, "fail no such luck")
    assert str(caught.value.location) == "currentString:1:0"
    assert ask(session, "pid") == before


def test_the_time_limit_of_a_call(begin: Open, caplog: pytest.LogCaptureFixture) -> None:
    session = begin(timeout=0.4)
    pid = int(ask(session, "pid", timeout=20))
    begun = time.monotonic()
    with caplog.at_level(logging.WARNING), pytest.raises(M2TimeoutError, match=r"limit of 0\.4 s"):
        ask(session, "hang")
    assert time.monotonic() - begun < 5
    assert gone(pid)
    assert "is lost" in caplog.text


def test_the_time_limit_of_a_session(begin: Open) -> None:
    session = begin(timeout=None, session_timeout=3)
    assert ask(session, "sum 1 1") == "2"
    with pytest.raises(M2TimeoutError, match="3 s"):
        ask(session, "hang")
    with pytest.raises(M2TimeoutError, match="used up"):
        ask(session, "sum 1 1")


@pytest.mark.parametrize("code", ["grow 900", "refused"])
def test_the_memory_limit(begin: Open, code: str) -> None:
    session = begin(memory="256M")
    pid = int(ask(session, "pid"))
    with pytest.raises(M2MemoryError, match="256 MiB"):
        ask(session, code)
    assert gone(pid)


def test_a_flood_of_output_fills_nothing(begin: Open, temporary: Path) -> None:
    session = begin()
    with pytest.raises(M2TimeoutError):
        ask(session, "flood", timeout=1)
    assert sum(f.stat().st_size for f in temporary.rglob("*") if f.is_file()) < 10**6


def test_a_process_that_left_the_group_ends_too(begin: Open) -> None:
    session = begin()
    child = int(ask(session, "child"))
    assert alive(child)
    session.close()
    assert gone(child)


def test_a_child_that_holds_the_channel_does_not_hide_a_crash(begin: Open) -> None:
    session = begin(timeout=None)
    child = int(ask(session, "child"))
    with pytest.raises(M2CrashedError, match="status 5"):
        ask(session, "die 5")
    assert gone(child)


def test_closing(begin: Open) -> None:
    session = begin()
    pid = int(ask(session, "pid"))
    session.close()
    session.close()
    assert gone(pid)
    with pytest.raises(EngineError, match="closed"):
        ask(session, "sum 1 1")


def test_garbage_collection_ends_m2(fake: Path, temporary: Path) -> None:
    session = open_session(path=fake)
    pid = int(ask(session, "pid"))
    del session
    gc.collect()
    assert gone(pid)
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("ending", ["pass", "os._exit(1)", "os.kill(os.getpid(), 9)", "1/0"])
def test_the_end_of_python(fake: Path, temporary: Path, ending: str) -> None:
    code = f"import os, m2bridge.engine as e; s = e.open_session(path={str(fake)!r}, timeout=20)\n"
    code += f"print(s.eval('pid').segments[0].decode(), flush=True)\n{ending}\n"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, timeout=60, check=False
    )
    assert gone(int(done.stdout))
    deadline = time.monotonic() + 10
    while list(temporary.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert list(temporary.iterdir()) == []


def test_the_end_of_python_while_a_daemon_thread_waits(fake: Path, temporary: Path) -> None:
    code = f"""
import threading, time, m2bridge.engine as e
from m2bridge.errors import M2CrashedError
s = e.open_session(path={str(fake)!r}, timeout=20)
s.start()
def wait():
    try:
        s.eval("hang")
    except M2CrashedError:
        pass
threading.Thread(target=wait, daemon=True).start()
time.sleep(0.3)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, timeout=60, check=True
    )
    assert done.stderr == b""
    assert left_in(temporary) == []


def left_in(folder: Path, seconds: float = 10.0) -> list[Path]:
    deadline = time.monotonic() + seconds
    while list(folder.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return list(folder.iterdir())


def test_python_killed_in_the_midst_of_a_start(fake: Path, temporary: Path) -> None:
    """The moment is that in which the private folder is there and M2 is not."""
    code = f"""
import os, pathlib, m2bridge.engine as e
s = e.open_session(path={str(fake)!r}, timeout=20)
pathlib.Path.write_bytes = lambda *arguments: os.kill(os.getpid(), 9)
s.start()
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL
    assert left_in(temporary) == []


def test_a_fork_in_the_midst_of_a_start_ends_nothing(fake: Path, temporary: Path) -> None:
    code = f"""
import os, pathlib, sys, m2bridge.engine as e
write = pathlib.Path.write_bytes
def forking(*arguments):
    write(*arguments)
    if os.fork() == 0:
        sys.exit(0)
    os.wait()
pathlib.Path.write_bytes = forking
with e.open_session(path={str(fake)!r}, timeout=20) as s:
    print(s.eval("sum 1 2").segments[0].decode())
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, timeout=60, check=True
    )
    assert done.stdout == b"3\n"
    assert left_in(temporary) == []


def test_no_descriptors_left(begin: Open) -> None:
    """However many are missing, it is our error, and nothing leaks."""
    session = begin()
    session.engine  # noqa: B018 - M2 was looked for
    before = descriptors()
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    for more in range(3, 12):
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (len(before) + more, limits[1]))
            with contextlib.suppress(EngineError, M2CrashedError):
                ask(session, "sum 1 1")
                session.close()
                session = begin()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    session.close()
    assert descriptors() == before


def test_m2_ends_with_python_though_a_fork_lives_on(fake: Path, temporary: Path) -> None:
    code = f"""
import os, time, m2bridge.engine as e
s = e.open_session(path={str(fake)!r}, timeout=20)
m2 = s.eval("pid").segments[0].decode()
child = os.fork()
if child == 0:
    os.closerange(0, 3)
    time.sleep(60)
    os._exit(0)
print(m2, child, flush=True)
os._exit(0)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, timeout=30, check=True
    )
    m2, child = map(int, done.stdout.split())
    try:
        assert gone(m2)
        assert alive(child)
    finally:
        os.kill(child, signal.SIGKILL)


def test_a_killed_keeper_takes_m2_with_it(begin: Open) -> None:
    session = begin()
    pid = int(ask(session, "pid"))
    keeper = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(keeper, signal.SIGKILL)
    assert gone(pid)
    with pytest.raises(M2CrashedError):
        ask(session, "sum 1 1")
    assert ask(session, "sum 1 1") == "2"


@pytest.mark.parametrize(
    "count", [15, pytest.param(1000, marks=[pytest.mark.slow, pytest.mark.timeout(3600)])]
)
def test_many_sessions_leak_nothing(fake: Path, temporary: Path, count: int) -> None:
    with open_session(path=fake) as session:  # what is made once is made now
        session.start()
    before, children = descriptors(), descendants()
    for _ in range(count):
        with open_session(path=fake, timeout=20) as session:
            assert ask(session, "sum 1 1") == "2"
    assert descriptors() == before
    assert descendants() == children
    assert list(temporary.iterdir()) == []


# --------------------------------------------------------------- interrupting


def interrupt_soon(action: Callable[[], object], seconds: float = 0.3) -> threading.Timer:
    timer = threading.Timer(seconds, action)
    timer.start()
    return timer


def ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_keeps_the_state(begin: Open) -> None:
    session = begin()
    before = ask(session, "pid")
    interrupt_soon(ctrl_c)
    with pytest.raises(KeyboardInterrupt):
        ask(session, "hang")
    assert (ask(session, "pid"), session.state_lost, session.generation) == (before, False, 1)


class CutShort:
    """A channel on which Ctrl-C comes at a chosen moment, once."""

    def __init__(self, channel: Channel, moment: str) -> None:
        self._channel = channel
        self._moment = moment

    def __getattr__(self, name: str) -> object:
        return getattr(self._channel, name)

    def _reach(self, moment: str) -> None:
        if moment == self._moment:
            self._moment = ""
            raise KeyboardInterrupt

    def send(self, data: bytes, deadline: float | None) -> None:
        self._reach("before sending")
        self._channel.send(data, deadline)
        self._reach("after sending")

    def receive(self, deadline: float | None) -> bytes:
        data = self._channel.receive(deadline)
        self._reach("after reading")
        return data


@pytest.mark.parametrize(
    ("code", "moment"),
    [
        ("hang", "before sending"),
        ("hang", "after sending"),
        ("sum 1 2", "after sending"),
        ("sum 1 2", "after reading"),
    ],
)
def test_ctrl_c_at_any_moment_of_a_small_call_keeps_the_state(
    begin: Open, code: str, moment: str
) -> None:
    """Also where Python does not know what has been sent or has come; nobody hears of the job."""
    session = begin()
    before = ask(session, "pid")
    talk = session._talk
    assert talk is not None
    talk.channel = CutShort(talk.channel, moment)  # type: ignore[assignment]
    talk._reader = FrameReader(talk.channel.receive)
    with pytest.raises(KeyboardInterrupt):
        ask(session, code)
    assert (ask(session, "sum 3 4"), ask(session, "pid")) == ("7", before)
    assert not session.state_lost


def test_ctrl_c_where_m2_does_not_listen(begin: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("m2bridge.engine.conversation.INTERRUPT_SECONDS", 0.3)
    session = begin()
    before = ask(session, "pid")
    interrupt_soon(ctrl_c)
    with pytest.raises(KeyboardInterrupt):
        ask(session, "deaf")
    assert session.state_lost
    assert ask(session, "pid") != before
    assert session.generation == 2


def test_ctrl_c_twice_waits_no_longer(begin: Open) -> None:
    session = begin()
    session.start()
    interrupt_soon(ctrl_c)
    interrupt_soon(ctrl_c, 1.0)
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        ask(session, "deaf")
    assert time.monotonic() - begun < 4
    assert session.state_lost


def test_interrupt_from_another_thread(begin: Open) -> None:
    session = begin(timeout=None)
    before = ask(session, "pid")
    timer = interrupt_soon(session.interrupt)
    with pytest.raises(M2InterruptedError) as caught:
        ask(session, "hang")
    assert caught.value.state_kept
    assert ask(session, "pid") == before
    timer.join()


def test_close_does_not_wait_for_a_call_in_another_thread(begin: Open) -> None:
    session = begin(timeout=None)
    ask(session, "pid")
    timer = interrupt_soon(session.close)
    with pytest.raises(M2InterruptedError):
        ask(session, "hang")
    timer.join()
    with pytest.raises(EngineError, match="closed"):
        ask(session, "pid")


@pytest.mark.parametrize("stop", [Session.interrupt, Session.close])
def test_a_start_can_be_stopped_from_another_thread(
    begin: Open, monkeypatch: pytest.MonkeyPatch, stop: Callable[[Session], object]
) -> None:
    monkeypatch.setenv("FAKE_M2_MUTE", "1")
    session = begin(timeout=None)
    timer = interrupt_soon(lambda: stop(session))
    begun = time.monotonic()
    with pytest.raises(M2InterruptedError, match="while it came up"):
        ask(session, "sum 1 1")
    assert time.monotonic() - begun < 5
    timer.join()
    monkeypatch.delenv("FAKE_M2_MUTE")
    if stop is Session.interrupt:
        assert ask(session, "sum 1 1") == "2"


def test_interrupt_where_m2_does_not_listen(begin: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("m2bridge.engine.conversation.INTERRUPT_SECONDS", 0.3)
    session = begin(timeout=None)
    session.start()
    interrupt_soon(session.interrupt)
    with pytest.raises(M2InterruptedError) as caught:
        ask(session, "deaf")
    assert not caught.value.state_kept
    assert ask(session, "sum 1 1") == "2"


def test_an_interrupt_that_m2_does_not_survive_is_no_crash(begin: Open) -> None:
    session = begin()
    assert ask(session, "sum 1 2") == "3"
    interrupt_soon(session.interrupt)
    with pytest.raises(M2InterruptedError) as caught:
        ask(session, "frail")
    assert caught.value.state_kept is False
    assert session.state_lost
    assert ask(session, "sum 2 2") == "4"


def test_interrupting_an_idle_session_does_nothing(begin: Open) -> None:
    session = begin()
    assert session.interrupt() is False
    before = ask(session, "pid")
    assert session.interrupt() is False
    assert ask(session, "pid") == before


# ---------------------------------------------------------- threads and forks


def test_threads_take_turns(begin: Open) -> None:
    session = begin()
    wrong: list[str] = []

    def work(start: int) -> None:
        for k in range(start, start + 100):
            if ask(session, f"sum {k} {k}") != str(2 * k):
                wrong.append(str(k))

    threads = [threading.Thread(target=work, args=(1000 * k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (wrong, session.generation) == ([], 1)


def test_a_fork_has_an_m2_of_its_own(begin: Open) -> None:
    session = begin()
    mine = ask(session, "pid")
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            theirs = ask(session, "pid")
            os.write(write, f"{theirs} {session.state_lost}".encode())
            session.close()
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    theirs, lost = os.read(read, 100).decode().split()
    os.close(read)
    assert theirs != mine
    assert lost == "True"
    assert ask(session, "pid") == mine


def test_a_session_cannot_be_pickled(begin: Open) -> None:
    with pytest.raises(TypeError, match="cannot be pickled; open another one"):
        pickle.dumps(begin())


def test_asyncio(begin: Open) -> None:
    """As the documentation has it: a thread waits, the loop goes on."""
    import asyncio

    session = begin()

    async def both() -> tuple[str, int]:
        ticks = 0
        job = asyncio.create_task(asyncio.to_thread(ask, session, "sum 40 2"))
        while not job.done():
            await asyncio.sleep(0.001)
            ticks += 1
        return await job, ticks

    answer, ticks = asyncio.run(both())
    assert answer == "42"
    assert ticks > 0


# --------------------------------------------------------------- bad arguments


@pytest.mark.parametrize("timeout", [0, -1, float("nan")])
def test_time_limits_that_are_none(begin: Open, timeout: float) -> None:
    with pytest.raises(ValueError, match="positive"):
        begin(timeout=timeout)


@pytest.mark.parametrize("timeout", [float("inf"), 1e300, 10**400])
def test_time_limits_that_are_never_reached(begin: Open, timeout: float) -> None:
    assert ask(begin(timeout=timeout), "sum 1 2") == "3"


@pytest.mark.parametrize("timeout", [True, "5"])
def test_time_limits_of_other_types(begin: Open, timeout: object) -> None:
    with pytest.raises(TypeError, match="number of seconds"):
        begin(timeout=timeout)


@pytest.mark.parametrize("memory", ["1M", "lots", -5, ""])
def test_memory_limits_that_are_none(begin: Open, memory: object) -> None:
    with pytest.raises(ValueError, match="memory limit"):
        begin(memory=memory)


def test_code_is_text(begin: Open) -> None:
    with pytest.raises(TypeError, match="str"):
        begin().eval(b"1+1")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="UTF-8"):
        begin().eval("\ud800")
