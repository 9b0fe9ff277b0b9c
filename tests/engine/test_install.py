"""The managed copy of Macaulay2: whatever goes wrong, what worked before still works."""

from __future__ import annotations

import errno
import importlib.util
import os
import signal
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

import pytest

from m2bridge.engine import fetch, install
from m2bridge.engine.install import install_m2, managed_m2
from m2bridge.engine.pins import PINNED
from m2bridge.engine.store import Store, data_folder
from m2bridge.errors import EngineError, M2NotFoundError
from tests.engine.fake_wheel import GOOD_M2, make_wheel, pin_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no wheel for Windows")


def entries(target: Path) -> list[str]:
    """What lies in the folder of managed copies, the random parts of names cut off."""
    return sorted(entry.name.rsplit("-", 1)[0] for entry in target.iterdir())


def answers(target: Path) -> str:
    """What the managed M2 says when it is run."""
    executable = managed_m2(target)
    assert executable is not None
    return subprocess.run([executable, "-e", ""], capture_output=True, text=True).stdout.strip()


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "a folder" / "managed"


@pytest.fixture
def installed(tmp_path: Path, target: Path) -> Path:
    """A target with a working copy of version 1.0."""
    wheel = make_wheel(tmp_path / "one")
    install_m2(target, wheel=wheel, pin=pin_of(wheel))
    return target


def assert_untouched(target: Path) -> None:
    """The copy of version 1.0 still works, and nothing else was left."""
    assert answers(target) == "2/3/3/2"
    assert entries(target) == ["current", "lock", "macaulay2-1.0"]


# ------------------------------------------------------------------ it works


def test_first_installation(tmp_path: Path, target: Path) -> None:
    wheel = make_wheel(tmp_path / "one")
    stages: list[str] = []
    assert managed_m2(target) is None
    report = install_m2(
        target,
        wheel=wheel,
        pin=pin_of(wheel),
        progress=lambda stage, done, total: stages.append(stage),
    )
    assert report.executable == managed_m2(target)
    assert (report.version, report.wheel, report.changed) == ("9.9", wheel.name, True)
    assert report.replaced is None
    assert str(report.executable) in str(report)
    copy = report.executable.parents[2]
    assert not (copy / "sage").exists()  # the Python interface is not needed
    assert report.size == sum(f.stat().st_size for f in copy.rglob("*") if f.is_file())
    assert [s for i, s in enumerate(stages) if s not in stages[:i]] == ["unpack", "try"]
    assert_untouched(target)


def test_a_working_copy_is_left_alone_unless_forced(tmp_path: Path, installed: Path) -> None:
    pin = pin_of(tmp_path / "one" / "m2bridge_fake-1.0-py3-none-any.whl")
    before = managed_m2(installed)
    report = install_m2(installed, pin=pin)  # no wheel: nothing may be fetched
    assert (report.changed, report.executable) == (False, before)
    report = install_m2(
        installed, pin=pin, wheel=tmp_path / "one" / next(iter(pin.sha256)), force=True
    )
    assert report.changed
    assert report.replaced == "1.0"
    assert managed_m2(installed) != before
    assert_untouched(installed)


def test_a_damaged_copy_is_replaced(tmp_path: Path, installed: Path) -> None:
    executable = managed_m2(installed)
    assert executable is not None
    executable.write_text("#!/bin/sh\nexit 1\n")
    wheel = tmp_path / "one" / "m2bridge_fake-1.0-py3-none-any.whl"
    assert install_m2(installed, wheel=wheel, pin=pin_of(wheel)).changed
    assert_untouched(installed)


def test_an_older_copy_is_replaced(tmp_path: Path, installed: Path) -> None:
    wheel = make_wheel(tmp_path / "two", "2.0")
    report = install_m2(installed, wheel=wheel, pin=pin_of(wheel, version="2.0"))
    assert report.replaced == "1.0"
    assert "1.0" in str(report)
    assert entries(installed) == ["current", "lock", "macaulay2-2.0"]


def test_the_data_folder_can_be_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("M2BRIDGE_DATA", str(tmp_path / "data"))
    assert data_folder() == tmp_path / "data"
    assert Store().root == tmp_path / "data" / "macaulay2"
    monkeypatch.setenv("M2BRIDGE_DATA", "")
    assert data_folder().is_absolute()
    assert data_folder().name == "m2bridge"


# ------------------------------------------------------- it fails harmlessly


def test_wrong_hash(tmp_path: Path, installed: Path) -> None:
    wheel = make_wheel(tmp_path / "two", "2.0")
    pin = pin_of(wheel, version="2.0")
    make_wheel(tmp_path / "two", "2.0", GOOD_M2 + "# tampered with\n")
    with pytest.raises(M2NotFoundError, match="not a pinned wheel"):
        install_m2(installed, wheel=wheel, pin=pin)
    assert_untouched(installed)


def test_wheel_that_does_not_unpack(tmp_path: Path, installed: Path) -> None:
    wheel = make_wheel(tmp_path / "two", "2.0")
    wheel.write_bytes(wheel.read_bytes()[:400])
    with pytest.raises(M2NotFoundError, match="cannot be unpacked"):
        install_m2(installed, wheel=wheel, pin=pin_of(wheel, version="2.0"))
    assert_untouched(installed)


@pytest.mark.parametrize("name", ["../outside", "/outside"])
def test_wheel_that_would_write_elsewhere(tmp_path: Path, installed: Path, name: str) -> None:
    wheel = make_wheel(tmp_path / "two", "2.0")
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr(name, "")
    with pytest.raises(M2NotFoundError, match="improper name"):
        install_m2(installed, wheel=wheel, pin=pin_of(wheel, version="2.0"))
    assert_untouched(installed)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("#!/bin/sh\necho 9.8\n", "says that it is version '9.8', not 9.9"),
        ("#!/bin/sh\n[ $1 = --version ] && echo 9.9 || echo 2/3/3/1\n", "computes wrongly"),
        ("#!/bin/sh\necho error: no library >&2\nexit 3\n", "(?s)status 3.*no library.*apt"),
        ("#!/bin/sh\nkill -ILL $$\n", "instructions that this processor"),
        ("#!/no/such/interpreter\n", "cannot be run"),
        ("#!/bin/sh\nsleep 30\n", "did not answer within"),
    ],
)
def test_m2_that_does_not_work(
    tmp_path: Path, installed: Path, monkeypatch: pytest.MonkeyPatch, script: str, message: str
) -> None:
    monkeypatch.setattr(install, "_TRIAL_SECONDS", 1.0)
    wheel = make_wheel(tmp_path / "two", "2.0", script)
    with pytest.raises(M2NotFoundError, match=message):
        install_m2(installed, wheel=wheel, pin=pin_of(wheel, version="2.0"))
    assert_untouched(installed)


def test_full_disk(tmp_path: Path, installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = make_wheel(tmp_path / "two", "2.0")

    def refuse(*_: object) -> str:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(zipfile.ZipFile, "extract", refuse)
    with pytest.raises(EngineError, match=r"(?s)No space left.*M2BRIDGE_DATA"):
        install_m2(installed, wheel=wheel, pin=pin_of(wheel, version="2.0"))
    assert_untouched(installed)


def test_failure_of_the_last_step(
    tmp_path: Path, installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = make_wheel(tmp_path / "two", "2.0")

    def refuse(*_: object) -> Path:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(EngineError, match=os.strerror(errno.EIO)):
        install_m2(installed, wheel=wheel, pin=pin_of(wheel, version="2.0"))
    assert_untouched(installed)


def test_unusable_folder(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path / "one")
    (tmp_path / "file").write_text("")
    with pytest.raises(EngineError, match="cannot install Macaulay2 into"):
        install_m2(tmp_path / "file" / "managed", wheel=wheel, pin=pin_of(wheel))


def test_wheel_that_is_not_there(target: Path) -> None:
    with pytest.raises(ValueError, match="is not a file"):
        install_m2(target, wheel=target / "none.whl")
    assert not target.exists()


def test_unsupported_platform(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    with pytest.raises(M2NotFoundError, match=r"(?s)riscv64.*apt install macaulay2.*Docker"):
        install_m2(target)
    assert not target.exists()


@pytest.mark.parametrize("text", ["", "../..", "macaulay2-1.0", "\udcff", "/etc"])
def test_damaged_pointer_is_as_good_as_none(installed: Path, text: str) -> None:
    (installed / "current").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert managed_m2(installed) is None


def test_foreign_files_are_left_alone(tmp_path: Path, target: Path) -> None:
    (target / "macaulay2-mine").mkdir(parents=True)
    (target / "work").mkdir()
    (target / "m2bridge-work-abc").mkdir()  # what a killed installer leaves
    (target / f"macaulay2-0.9-{'0' * 16}" / "sage_wheels").mkdir(parents=True)
    wheel = make_wheel(tmp_path / "one")
    install_m2(target, wheel=wheel, pin=pin_of(wheel))
    assert entries(target) == ["current", "lock", "macaulay2", "macaulay2-1.0", "work"]


# ------------------------------------------------------------ fetched by pip


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes wheels from, and nowhere else."""
    folder = tmp_path / "index"
    folder.mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def test_pip_fetches_with_the_users_settings(index: Path, target: Path) -> None:
    wheel = make_wheel(index)
    report = install_m2(target, pin=pin_of(wheel))
    assert report.wheel == wheel.name
    assert_untouched(target)


def test_pip_refuses_a_wrong_hash(index: Path, installed: Path) -> None:
    wheel = make_wheel(index, "2.0")
    pin = pin_of(wheel, version="2.0")
    make_wheel(index, "2.0", GOOD_M2 + "# tampered with\n")
    with pytest.raises(M2NotFoundError, match=r"(?si)could not fetch.*hash"):
        install_m2(installed, pin=pin)
    assert_untouched(installed)


def test_pip_finds_nothing(index: Path, tmp_path: Path, installed: Path) -> None:
    wheel = make_wheel(tmp_path / "elsewhere", "2.0")
    with pytest.raises(M2NotFoundError, match=r"(?s)could not fetch.*No matching.*--wheel"):
        install_m2(installed, pin=pin_of(wheel, version="2.0"))
    assert_untouched(installed)


def test_a_pip_in_the_current_folder_is_not_run(
    index: Path, target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pip.py").write_text("raise SystemExit('not this one')")
    monkeypatch.chdir(tmp_path)
    assert install_m2(target, pin=pin_of(make_wheel(index))).changed


def test_no_pip(index: Path, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(M2NotFoundError, match=r"(?s)has no pip.*ensurepip.*--wheel"):
        install_m2(target, pin=pin_of(make_wheel(index)))


def test_other_pythons_take_the_abi3_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch.sys, "version_info", (3, 11, 7))
    assert fetch._wheel_tags() == []
    monkeypatch.setattr(fetch.sys, "version_info", (3, 16, 0))
    assert "abi3" in fetch._wheel_tags()


# --------------------------------------------------- killed, and several at once

_INSTALL = """
import sys
from pathlib import Path
from m2bridge.engine.install import install_m2
from tests.engine.fake_wheel import pin_of
target, wheel, version = sys.argv[1:]
print("start", flush=True)
report = install_m2(Path(target), wheel=Path(wheel), pin=pin_of(Path(wheel), version=version),
                    progress=lambda stage, done, total: print(stage, flush=True))
print("changed" if report.changed else "same", flush=True)
"""


def start_installer(target: Path, wheel: Path, version: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _INSTALL, str(target), str(wheel), version],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("stage", ["unpack", "try"])
def test_killed_in_the_middle(tmp_path: Path, installed: Path, stage: str) -> None:
    slow = make_wheel(tmp_path / "two", "2.0", "#!/bin/sh\nexec sleep 3\n")
    with start_installer(installed, slow, "2.0") as process:
        assert process.stdout is not None
        while process.stdout.readline().strip() != stage:
            assert process.poll() is None
        process.send_signal(signal.SIGKILL)
    assert answers(installed) == "2/3/3/2"
    assert "macaulay2-2.0" in entries(installed)  # its leftovers
    wheel = make_wheel(tmp_path / "three", "3.0")
    assert install_m2(installed, wheel=wheel, pin=pin_of(wheel, version="3.0")).replaced == "1.0"
    assert entries(installed) == ["current", "lock", "macaulay2-3.0"]


def test_interrupted_by_the_user(tmp_path: Path, installed: Path) -> None:
    slow = make_wheel(tmp_path / "two", "2.0", "#!/bin/sh\nexec sleep 60\n")
    started = time.monotonic()

    def interrupt(stage: str, done: int, total: int | None) -> None:
        if stage == "try":
            threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()

    with pytest.raises(KeyboardInterrupt):
        install_m2(installed, wheel=slow, pin=pin_of(slow, version="2.0"), progress=interrupt)
    assert time.monotonic() - started < 20
    assert_untouched(installed)


def test_two_at_once(tmp_path: Path, target: Path) -> None:
    script = GOOD_M2.replace("case", "sleep 0.3; case")
    wheel = make_wheel(tmp_path / "one", "1.0", script)
    with (
        start_installer(target, wheel, "1.0") as first,
        start_installer(target, wheel, "1.0") as second,
    ):
        ends = [process.communicate(timeout=60)[0].split()[-1] for process in (first, second)]
    assert sorted(ends) == ["changed", "same"]
    assert_untouched(target)


def test_another_installer_hangs(tmp_path: Path, installed: Path) -> None:
    wheel = make_wheel(tmp_path / "two", "2.0")
    stages: set[str] = set()
    store = Store(installed)
    with (
        store.locked(0, lambda: None),
        pytest.raises(EngineError, match="another installation"),
    ):
        install_m2(
            installed,
            wheel=wheel,
            pin=pin_of(wheel, version="2.0"),
            lock_seconds=0.3,
            progress=lambda stage, done, total: stages.add(stage),
        )
    assert stages == {"wait"}
    assert_untouched(installed)


# ------------------------------------------------------------------ for real


@pytest.mark.m2
def test_the_pinned_wheel(tmp_path: Path) -> None:
    """Fetches 75 MB. The folder's name has a space, which the wheel's own launcher cannot bear."""
    pytest.importorskip("pip")
    target = tmp_path / "with a space"
    report = install_m2(target)
    assert report.changed
    assert report.version == PINNED.m2_version
    executable = managed_m2(target)
    assert executable == report.executable
    run = subprocess.run(
        [executable, "-q", "--silent", "-e", "print toString 2^70; exit 0"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.stdout.strip() == str(2**70)
    assert not install_m2(target).changed
