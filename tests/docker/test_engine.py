"""A session whose Macaulay2 is in a container: it answers, it is shut in, it leaves nothing."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from m2bridge.engine import Limits, Session, open_session
from m2bridge.engine.attached import PipePair
from m2bridge.engine.containers import ContainerClient
from m2bridge.engine.docker import DEFAULT_IMAGE, DockerEngine
from m2bridge.errors import (
    DockerError,
    M2CrashedError,
    M2Error,
    M2MemoryError,
    M2TimeoutError,
)
from tests.docker.conftest import ROOT, Names

pytestmark = pytest.mark.docker

ENDLESS = "while true do 1"
GREEDY = 'L = {}; while true do L = append(L, concatenate(10^7 : "x"))'


def text(session: Session, code: str) -> str:
    return session.eval(code).segments[0].decode()


def shell(session: Session, command: str) -> str:
    """What a program run by M2 inside the container prints, its complaints included."""
    return text(session, f'get "!({command}) 2>&1; true"')


def eventually(condition: Callable[[], bool], seconds: float = 15) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


# ------------------------------------------------------------------ it answers


def test_values_errors_output_scripts(session: Session) -> None:
    answer = session.eval('print "seen"; 2^100')
    assert answer.segments == (str(2**100).encode(),)
    assert answer.output == "seen\n"
    with pytest.raises(M2Error, match="wrong") as caught:
        session.eval('1;\nerror "wrong"')
    assert caught.value.location is not None
    assert caught.value.location.line == 2
    script = "R = QQ[x, y]; bridgeAnswer {x^2 - 1/3*y}"
    assert b'"-1/3"' in session.run_script(script).segments[0]
    assert session.generation == 1  # one container served all


def test_large_data_both_ways(session: Session) -> None:
    """More than any buffer on the way holds."""
    data = os.urandom(3_000_000)
    assert session.call("echo", [data, b"", data]).segments == (data, b"", data)


class NoPipes(PipePair):
    """As on another system than Linux."""

    @staticmethod
    def possible() -> bool:
        return False


class DeafPipes(PipePair):
    """The word that the container finds is another one."""

    def __init__(self) -> None:
        super().__init__()
        self.word = "0" * 16


class PipesElsewhere(PipePair):
    """The engine is on another machine, which has no such folder."""

    def __init__(self) -> None:
        super().__init__()
        shutil.rmtree(self.folder)


@pytest.mark.parametrize("pipes", [NoPipes, DeafPipes, PipesElsewhere])
def test_where_named_pipes_lead_nowhere_the_streams_serve(
    m2_image: str,
    client: ContainerClient,
    ours: Names,
    monkeypatch: pytest.MonkeyPatch,
    pipes: type[PipePair],
) -> None:
    monkeypatch.setattr("m2bridge.engine.docker.PipePair", pipes)
    engine = DockerEngine(m2_image, client)
    channel = engine.start(Limits())
    assert not channel.by_pipes
    channel.end()
    session = Session(engine, limits=Limits(memory=400 * 2**20), timeout=60)
    try:
        data = os.urandom(500_000)
        assert session.call("echo", [data]).segments == (data,)
        assert session.eval('print "seen"; 2^100').output == "seen\n"
        with pytest.raises(M2TimeoutError):
            session.eval(ENDLESS, timeout=0.5)
        with pytest.raises(M2MemoryError):
            session.eval(GREEDY)
    finally:
        session.close()
    assert ours() == set()


def test_named_pipes_are_used_and_leave_nothing(
    engine: DockerEngine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    channel = engine.start(Limits())
    try:
        assert channel.by_pipes
        assert list(tmp_path.iterdir()) == []
    finally:
        channel.end()


def test_much_printing_does_not_block(session: Session) -> None:
    """What a program of M2's prints goes to another stream than the frames."""
    session.eval('run "head -c 2000000 /dev/zero | tr \\\\\\\\0 x"')
    assert text(session, "1+1") == "2"


def test_the_version_is_the_pinned_one(session: Session, engine: DockerEngine) -> None:
    assert session.m2_version == DEFAULT_IMAGE.partition(":")[2]
    assert engine.image in engine.description


def test_open_session_by_name(m2_image: str) -> None:
    session = open_session("docker", memory="300M", timeout=60)
    try:
        assert text(session, "6*7") == "42"
    finally:
        session.close()


# ---------------------------------------------------------------- it is shut in


def test_not_root_and_no_capabilities(session: Session) -> None:
    assert shell(session, "id -u").strip() == "65534"
    status = dict(
        line.split(":", 1) for line in shell(session, "cat /proc/self/status").splitlines()
    )
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(status[name], 16) == 0
    assert status["NoNewPrivs"].strip() == "1"


def test_no_network(session: Session) -> None:
    interfaces = shell(session, "ls /sys/class/net").split()
    assert interfaces == ["lo"]


def test_nothing_but_tmp_can_be_written(session: Session) -> None:
    for folder in ("/", "/opt/macaulay2", "/usr", "/etc", "/var/tmp", "/root", "/home"):
        assert "touch: cannot touch" in shell(session, f"touch {folder}/x")
    assert shell(session, "touch /tmp/x && echo written").strip() == "written"
    mounts = shell(session, "cat /proc/mounts").splitlines()
    root = next(line.split() for line in mounts if line.split()[1] == "/")
    assert root[3].split(",")[0] == "ro"


def test_nothing_of_the_host_can_be_seen(session: Session) -> None:
    """What is no file system of the kernel's own is the image, or one of the engine's few files."""
    virtual = {"proc", "tmpfs", "devpts", "sysfs", "cgroup", "cgroup2", "mqueue"}
    mounts = [line.split() for line in shell(session, "cat /proc/mounts").splitlines()]
    real = {
        place: options.split(",") for _, place, kind, options, *_ in mounts if kind not in virtual
    }
    etc = {f"/etc/{name}" for name in ("hosts", "hostname", "resolv.conf")}
    init = {"/sbin/docker-init", "/usr/sbin/docker-init"}
    assert set(real) <= {"/", "/bridge", *etc, *init}
    assert all("ro" in options for options in real.values())
    assert shell(session, "ls -A /bridge 2>/dev/null") == ""


def test_processes_are_limited(session: Session) -> None:
    """A fork bomb of 300 is stopped; the session lives on."""
    script = "for i in $(seq 300); do sleep 2 & done; wait"
    assert "ork" in shell(session, script)  # "Cannot fork" or "fork: Resource ..."
    assert text(session, "1+1") == "2"


# -------------------------------------------------------- it ends, and is told why


def test_memory(session: Session, ours: Names) -> None:
    with pytest.raises(M2MemoryError, match="400 MiB"):
        session.eval(GREEDY)
    assert ours() == set()
    assert text(session, "1+1") == "2"
    assert session.generation == 2


def test_timeout(session: Session, ours: Names) -> None:
    session.start()
    begun = time.monotonic()
    with pytest.raises(M2TimeoutError, match="limit of 1 s"):
        session.eval(ENDLESS, timeout=1)
    assert time.monotonic() - begun < 10
    assert ours() == set()
    assert text(session, "1+1") == "2"


def test_interrupt(session: Session) -> None:
    session.start()
    timer = threading.Timer(1.0, session.interrupt)
    timer.start()
    with pytest.raises((M2Error, M2CrashedError)):
        session.eval(ENDLESS, timeout=30)
    timer.join()
    assert text(session, "1+1") == "2"


def test_crash_is_neither_memory_nor_timeout(session: Session) -> None:
    with pytest.raises(M2CrashedError, match="status 3"):
        session.eval("exit 3")
    with pytest.raises(M2CrashedError, match="signal 9"):
        session.eval('run "kill -9 $PPID"; run "sleep 5"')


def test_close_leaves_nothing(session: Session, ours: Names) -> None:
    session.start()
    assert len(ours()) == 1
    session.close()
    session.close()
    assert ours() == set()


def test_a_forgotten_channel_is_removed(engine: DockerEngine, ours: Names) -> None:
    channel = engine.start(Limits(memory=400 * 2**20))
    assert ours() == {channel.name}
    del channel
    gc.collect()
    assert ours() == set()


@pytest.mark.parametrize("way", ["collected", "abandoned"])
def test_a_fork_does_not_touch_the_parents_container(
    engine: DockerEngine, ours: Names, way: str
) -> None:
    channel = engine.start(Limits(memory=400 * 2**20))
    try:
        child = os.fork()
        if child == 0:
            try:
                if way == "abandoned":
                    channel.abandon()
                del channel
                gc.collect()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        assert ours() == {channel.name}
        assert channel.receive(time.monotonic() + 10).startswith(b"M2B")
        assert channel.end(0).status == -9  # it ran until now
    finally:
        channel.end()
    assert ours() == set()


_VICTIM = """
import sys
from m2bridge.engine import open_session
session = open_session("docker", memory="300M")
session.start()
print("up", flush=True)
session.eval(sys.argv[1])
session.close() if sys.argv[2] == "close" else sys.stdin.read()
"""


def start_python(code: str, then: str = "wait") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _VICTIM, code, then],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("code", [ENDLESS, "1"], ids=["busy", "idle"])
def test_a_killed_python_leaves_no_container(
    m2_image: str, ours: Names, code: str, number: signal.Signals
) -> None:
    with start_python(code) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        assert len(ours()) == 1
        time.sleep(0.3)
        process.send_signal(number)
        process.wait(30)
    assert eventually(lambda: ours() == set())


def test_killed_before_the_container_is_up(m2_image: str, ours: Names) -> None:
    for pause in (0.3, 0.45, 0.6):
        with start_python("1") as process:
            time.sleep(pause)
            process.kill()
    time.sleep(6)  # the guard's last look
    assert ours() == set()


def test_orphans_of_the_dead_are_removed_and_of_the_living_are_not(
    ours: Names, engine: DockerEngine, client: ContainerClient
) -> None:
    with start_python("1", "close") as dead:
        dead.communicate()
    label = f"--label=m2bridge.owner={_owner_of(dead.pid)}"
    entry = ["--network=none", "--detach", "--entrypoint=sleep"]
    client.ask("run", *entry, label, "--name=m2bridge-test-orphan", engine.image, "600")
    living = engine.start(Limits(memory=400 * 2**20))  # the first start of an engine cleans
    try:
        assert ours() == {living.name}
    finally:
        living.end()


def _owner_of(pid: int) -> str:
    """The mark of a process of that number which started at another time than any now."""
    from m2bridge.engine.containers import _owner

    return f"{_owner(os.getpid()).partition('/')[0]}/{pid}.1"


# ------------------------------------------------------------- what is in the way


def test_no_such_image(client: ContainerClient) -> None:
    with pytest.raises(DockerError, match=r"no image m2bridge-m2:none.*--target m2.*docker-build"):
        DockerEngine("m2bridge-m2:none", client).start(Limits())


def test_wrong_images(m2_image: str, client: ContainerClient, tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text(f"FROM {m2_image}\nLABEL m2bridge.m2-version=1.0\n")
    client.ask("build", "--tag", "m2bridge-test:old", str(tmp_path))
    try:
        with pytest.raises(DockerError, match=r"holds Macaulay2 1\.0.*--target m2"):
            DockerEngine("m2bridge-test:old", client).start(Limits())
        (tmp_path / "Dockerfile").write_text("FROM scratch\nCOPY Dockerfile /\n")
        client.ask("build", "--tag", "m2bridge-test:foreign", str(tmp_path))
        with pytest.raises(DockerError, match="not one of m2bridge's"):
            DockerEngine("m2bridge-test:foreign", client).start(Limits())
    finally:
        client.ask("image", "rm", "--force", "m2bridge-test:old", "m2bridge-test:foreign")


def test_no_daemon(m2_image: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
    with pytest.raises(DockerError, match="does not answer"):
        DockerEngine(m2_image).start(Limits())


def test_the_engine_refuses(engine: DockerEngine, ours: Names) -> None:
    """Less memory than the engine allows: it is its own words that are told."""
    with pytest.raises(DockerError, match="emory"):
        engine.start(Limits(memory=1000))
    assert ours() == set()
