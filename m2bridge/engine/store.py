"""The managed copy of Macaulay2: where it lies on disk, and how one copy takes another's place.

The folder ``<data>/macaulay2`` holds

    lock                      taken by an installer for as long as it works
    current                   one line: the name of the folder in use
    macaulay2-10.8.11-5f0c..  a complete copy, never changed once ``current`` names it
    m2bridge-work-...         an installer's private folder

A new copy is built in a folder of its own and tried there; replacing the one line of ``current``
is the only step that others see, and the file system does it at once or not at all. Whatever an
installer that was killed left behind is not named by ``current``, and the next one removes it.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs

from m2bridge.errors import EngineError

__all__ = ["Store", "data_folder", "managed_m2"]

_CURRENT = "current"
_COPY = re.compile(r"macaulay2-[\w.]+-[0-9a-f]{16}")
_WORK_PREFIX = "m2bridge-work-"
_EXECUTABLE = Path("sage_wheels", "bin", "M2")
_LOCK_POLL_SECONDS = 0.2


def data_folder() -> Path:
    """m2bridge's own folder in the user's data; the environment's M2BRIDGE_DATA overrides it."""
    chosen = os.environ.get("M2BRIDGE_DATA")
    folder = Path(chosen).expanduser() if chosen else platformdirs.user_data_path("m2bridge")
    return folder.absolute()


def managed_m2(target: Path | None = None) -> Path | None:
    """The executable of the managed Macaulay2, or None when none is installed.

    Cheap: it reads one line and looks whether the file is there; nothing is run.

    Args:
        target: the folder that was given to ``install_m2``; by default the user's own.
    """
    return Store(target).executable()


class Store:
    """The folder of managed copies. Making the object touches nothing on disk."""

    def __init__(self, target: Path | None = None) -> None:
        self.root = (data_folder() / "macaulay2") if target is None else Path(target).absolute()

    def executable(self) -> Path | None:
        """The M2 of the copy in use, if there is one."""
        folder = self.current()
        if folder is None:
            return None
        executable = folder / _EXECUTABLE
        return executable if os.access(executable, os.X_OK) else None

    def current(self) -> Path | None:
        """The folder of the copy in use, whether or not it is whole."""
        try:
            name = (self.root / _CURRENT).read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError):
            return None
        return self.root / name if _COPY.fullmatch(name) else None

    @staticmethod
    def executable_in(folder: Path) -> Path:
        """Where a copy in that folder has its M2."""
        return folder / _EXECUTABLE

    @contextmanager
    def locked(self, seconds: float, waiting: Callable[[], None]) -> Iterator[None]:
        """Keeps other installers out; the system frees the lock even when we are killed.

        Args:
            seconds: how long to wait for another installer.
            waiting: called repeatedly while another installer holds the lock.

        Raises:
            EngineError: another installer did not finish in that time.
            OSError: the folder cannot be made or written.
        """
        import fcntl  # not on Windows, where no wheel exists and nobody gets here

        self.root.mkdir(parents=True, exist_ok=True)
        deadline = time.monotonic() + seconds
        with (self.root / "lock").open("a") as lock:
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() >= deadline:
                        raise EngineError(
                            f"another installation of Macaulay2 into {self.root} did not finish"
                            f" within {seconds:.0f} s; wait for it or end it, then try again"
                        ) from None
                waiting()
                time.sleep(_LOCK_POLL_SECONDS)
            yield

    def clean(self) -> None:
        """Removes what ended installers left. Only while the lock is held.

        Nothing but folders with our own names is touched: a user may have named any folder.
        """
        current = self.current()
        for entry in self.root.iterdir():
            ours = entry.name.startswith(_WORK_PREFIX) or _COPY.fullmatch(entry.name)
            if not ours or entry == current:
                continue
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink(missing_ok=True)

    @contextmanager
    def work(self) -> Iterator[Path]:
        """A private folder on the same disk, gone afterwards."""
        with tempfile.TemporaryDirectory(
            prefix=_WORK_PREFIX, dir=self.root, ignore_cleanup_errors=True
        ) as folder:
            yield Path(folder)

    def new_copy(self, version: str) -> Path:
        """A fresh, empty folder for a copy of that wheel version."""
        folder = self.root / f"macaulay2-{version}-{secrets.token_hex(8)}"
        folder.mkdir()
        return folder

    def activate(self, folder: Path) -> None:
        """Makes that copy the one in use: the one visible step of an installation."""
        descriptor, name = tempfile.mkstemp(prefix=_WORK_PREFIX, dir=self.root)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(folder.name + "\n")
                file.flush()
                os.fchmod(file.fileno(), 0o644)  # other users may read a shared copy
                os.fsync(file.fileno())
            Path(name).replace(self.root / _CURRENT)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
