"""``install-m2``: a Macaulay2 of our own, from a pinned wheel, without its Python dependencies.

pip fetches the wheel, because pip knows the user's index, proxy and certificates; the hash is
checked by pip and by us; the files are unpacked beside the copy in use, tried, and only then put
in its place (see ``store``).
"""

from __future__ import annotations

import hashlib
import logging
import platform
import shutil
import signal
import subprocess
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from m2bridge.display import facts_html
from m2bridge.engine.commands import complaint, run_command
from m2bridge.engine.fetch import ALTERNATIVES, fetch
from m2bridge.engine.pins import PINNED, WheelPin, unsupported_platform
from m2bridge.engine.store import Store, managed_m2
from m2bridge.errors import EngineError, M2NotFoundError

__all__ = ["InstallReport", "install_m2", "managed_m2"]

_log = logging.getLogger("m2bridge.engine.install")

Progress = Callable[[str, int, int | None], None]

_TRIAL_SECONDS = 120.0
_POLL_SECONDS = 0.25

# The twisted cubic: codimension 2, degree 3, three quadrics as its Groebner basis; and the two
# components of a*b = 0. A broken engine does not get all four.
_TRIAL_CODE = (
    'R = QQ[a..d]; I = minors(2, matrix{{a,b,c},{b,c,d}}); print concatenate between("/",'
    "apply({codim I, degree I, numgens source gens gb I, #decompose ideal(a*b)}, toString)); exit 0"
)
_TRIAL_ANSWER = "2/3/3/2"


@dataclass(frozen=True)
class InstallReport:
    """What ``install_m2`` did.

    Attributes:
        executable: the M2 to run.
        version: of Macaulay2.
        wheel: file name of the wheel, or None when nothing was fetched.
        size: bytes on disk of the unpacked copy; 0 when nothing was unpacked.
        changed: False when the pinned copy was there already, and works.
        replaced: the version of the wheel whose copy was in use before and is gone now.
        seconds: the time that it took.
    """

    executable: Path
    version: str
    wheel: str | None
    size: int
    changed: bool
    replaced: str | None
    seconds: float

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [
            ("executable", self.executable),
            ("version", self.version),
            ("installed now?", self.changed),
            ("wheel", "none fetched" if self.wheel is None else self.wheel),
            ("size", f"{self.size / 1e6:.0f} MB"),
            ("replaced", "nothing" if self.replaced is None else self.replaced),
            ("seconds", f"{self.seconds:.1f}"),
        ]
        return facts_html("Macaulay2", rows)

    def __str__(self) -> str:
        if not self.changed:
            return f"Macaulay2 {self.version} is there already and works: {self.executable}"
        instead = f", instead of that of wheel {self.replaced}" if self.replaced else ""
        return (
            f"Macaulay2 {self.version} installed{instead} ({self.wheel},"
            f" {self.size / 1e6:.0f} MB unpacked, {self.seconds:.0f} s): {self.executable}"
        )


def install_m2(
    target: Path | None = None,
    *,
    wheel: Path | None = None,
    force: bool = False,
    progress: Progress | None = None,
    pin: WheelPin = PINNED,
    lock_seconds: float = 1800.0,
) -> InstallReport:
    """Installs the pinned Macaulay2, or finds that it is there and works.

    An older copy stays in use until the new one has been tried. Whatever goes wrong, and whenever
    the process is killed, the copy in use before stays in use.

    Args:
        target: folder that holds the managed copy; by default in the user's data folder.
        wheel: a wheel that was fetched by other means; its hash must be one of the pinned ones.
        force: install anew although the pinned copy is there and works.
        progress: called with (stage, done, total): "wait" for another installer, "download"
            (bytes), "unpack" (files), "try".
        pin: which wheel.
        lock_seconds: how long to wait for another installer.

    Raises:
        ValueError: ``wheel`` is not a file.
        M2NotFoundError: no wheel for this platform, or it could not be fetched, has a wrong
            hash, or its M2 does not run here.
        EngineError: the folder is not writable, the disk is full, another installer hangs.
    """
    started = time.monotonic()
    if wheel is not None and not Path(wheel).is_file():
        raise ValueError(f"{wheel} is not a file; it should be a downloaded .whl file")
    if reason := unsupported_platform(pin):
        raise M2NotFoundError(
            f"{pin.distribution} {pin.version} has no Macaulay2 for {reason}. {ALTERNATIVES}"
        )
    tell = progress or _silent
    store = Store(target)
    with (
        _disk_errors(store.root),
        store.locked(lock_seconds, lambda: tell("wait", 0, None)),
    ):
        store.clean()
        present = store.executable()
        before = _wheel_version(store.current()) if present else None
        if present and not force and before == pin.version and _runs(present, pin, store, tell):
            seconds = time.monotonic() - started
            return InstallReport(present, pin.m2_version, None, 0, False, None, seconds)
        name, size, executable = _replace(store, pin, wheel, tell)
        store.clean()
    report = InstallReport(
        executable, pin.m2_version, name, size, True, before, time.monotonic() - started
    )
    _log.info("%s", report)
    return report


def _silent(stage: str, done: int, total: int | None) -> None:
    """The progress callback when none was given."""


def _replace(
    store: Store, pin: WheelPin, wheel: Path | None, tell: Progress
) -> tuple[str, int, Path]:
    """Fetches, unpacks, tries and activates; returns the wheel's name, the size, the M2."""
    with store.work() as work:
        file = fetch(work, pin, tell) if wheel is None else Path(wheel)
        _check_hash(file, pin)
        folder = store.new_copy(pin.version)
        try:
            size = _unpack(file, folder, tell)
            executable = store.executable_in(folder)
            _try(executable, pin, store, tell)
            store.activate(folder)
        except BaseException:
            if store.current() != folder:
                shutil.rmtree(folder, ignore_errors=True)
            raise
        return file.name, size, executable


def _wheel_version(folder: Path | None) -> str | None:
    """The version in a copy's name, macaulay2-VERSION-RANDOM."""
    return folder.name.split("-")[1] if folder else None


@contextmanager
def _disk_errors(root: Path) -> Iterator[None]:
    """Says where the trouble is when the file system refuses something."""
    try:
        yield
    except OSError as error:
        try:
            free = f" ({shutil.disk_usage(root).free / 1e6:.0f} MB free)"
        except OSError:
            free = ""
        raise EngineError(
            f"cannot install Macaulay2 into {root}{free}: {error}. About 500 MB are needed while"
            " installing; the environment variable M2BRIDGE_DATA names another folder."
        ) from error


# --------------------------------------------------------------- unpacking


def _check_hash(file: Path, pin: WheelPin) -> None:
    with file.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if digest not in pin.sha256.values():
        raise M2NotFoundError(
            f"{file.name} is not a pinned wheel: its sha256 is {digest}, and those of"
            f" {pin.distribution} {pin.version} are\n"
            + "\n".join(f"  {known}  {name}" for name, known in pin.sha256.items())
        )


def _unpack(wheel: Path, folder: Path, tell: Progress) -> int:
    """Unpacks what M2 needs, with the files' modes; returns the bytes written."""
    size = 0
    try:
        with zipfile.ZipFile(wheel) as archive:
            members = [member for member in archive.infolist() if _needed(member.filename)]
            for done, member in enumerate(members):
                if done % 64 == 0:
                    tell("unpack", done, len(members))
                path = Path(archive.extract(member, folder))
                if not member.is_dir():
                    path.chmod(0o755 if (member.external_attr >> 16) & 0o111 else 0o644)
                    size += member.file_size
            tell("unpack", len(members), len(members))
    except zipfile.BadZipFile as error:
        raise M2NotFoundError(f"{wheel.name} cannot be unpacked: {error}") from error
    _write_launcher(Store.executable_in(folder))
    return size


def _needed(name: str) -> bool:
    """M2 with its files, the libraries beside it, the licence notes; not the Python interface."""
    parts = PurePosixPath(name).parts
    # The hash has vouched for the file; this only keeps a mistake in a pin from going astray.
    if not parts or PurePosixPath(name).is_absolute() or ".." in parts:
        raise M2NotFoundError(f"the wheel has a file with the improper name {name!r}")
    return parts[0] != "sage" and parts[-1] != "RECORD"


def _write_launcher(executable: Path) -> None:
    """Puts our own launcher in place of the wheel's, which fails in a folder with a space.

    The libraries are found relative to the binary (its run path), so the launcher only has to
    start it by the name that M2 derives its folders from.
    """
    if executable.with_name("M2-binary").exists():
        launcher = '#!/bin/sh\nexec "$(dirname -- "$0")/M2-binary" "$@"\n'
        executable.write_text(launcher, "utf-8")
        executable.chmod(0o755)


# ------------------------------------------------------------------ trying


def _runs(executable: Path, pin: WheelPin, store: Store, tell: Progress) -> bool:
    try:
        _try(executable, pin, store, tell)
    except M2NotFoundError as error:
        _log.warning("the Macaulay2 in use does not work and will be replaced: %s", error)
        return False
    return True


def _try(executable: Path, pin: WheelPin, store: Store, tell: Progress) -> None:
    """Runs the M2: it must name its version and get a small ideal right."""
    tell("try", 0, 2)
    version = _ask(executable, ["--version"], store).strip()
    if version != pin.m2_version:
        raise M2NotFoundError(
            f"{executable} says that it is version {version[:80]!r}, not {pin.m2_version}"
        )
    tell("try", 1, 2)
    options = ["-q", "--silent", "--no-readline", "--no-debug", "--no-tty"]
    answer = _ask(executable, [*options, "-e", _TRIAL_CODE], store).strip()
    if answer != _TRIAL_ANSWER:
        raise M2NotFoundError(
            f"{executable} computes wrongly: {answer[:200]!r} instead of {_TRIAL_ANSWER!r}."
            f" {ALTERNATIVES}"
        )
    tell("try", 2, 2)


def _ask(executable: Path, arguments: Sequence[str], store: Store) -> str:
    # In the store: what a killed installer leaves there, the next one cleans away.
    with store.work() as folder:
        try:
            status, output = run_command(
                [str(executable), *arguments], folder, _TRIAL_SECONDS, None, {"HOME": str(folder)}
            )
        except OSError as error:
            raise M2NotFoundError(f"{executable} cannot be run: {error}") from error
        except subprocess.TimeoutExpired as error:
            raise M2NotFoundError(
                f"{executable} did not answer within {_TRIAL_SECONDS:.0f} s"
            ) from error
    if status == -signal.SIGILL:
        raise M2NotFoundError(
            f"{executable} needs instructions that this processor ({platform.machine()}) does not"
            f" have. {ALTERNATIVES}"
        )
    if status != 0:
        raise M2NotFoundError(
            f"{executable} failed with status {status}:\n{complaint(output)}\n{ALTERNATIVES}"
        )
    return output
