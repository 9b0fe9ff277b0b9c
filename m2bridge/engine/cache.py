"""Answers kept on disk, found again by all that they depend on.

An entry is one file, named by the SHA-256 of its inputs, with the inputs and a checksum inside:
what does not match, for whatever reason, is removed and computed anew. Files appear whole or not
at all, so that any number of processes may write; a folder that cannot be read or written is the
same as no cache. The environment's M2BRIDGE_CACHE names another folder, or says ``off``.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import platformdirs

from m2bridge.engine.frames import PROTOCOL_VERSION
from m2bridge.scripts_folder import SCRIPTS_FOLDER
from m2bridge.version import m2bridge_version

__all__ = ["AnswerCache", "CacheInfo", "default_cache", "script_inputs"]

_log = logging.getLogger("m2bridge.engine")
_SUFFIX = ".answer"
_NAME = re.compile(r"[0-9a-f]{64}\.answer")
_SHELF = re.compile(r"[0-9a-f]{2}")
_UNFINISHED = ".unfinished-"
_LEFT_BEHIND_SECONDS = 3600.0
_DEFAULT_LIMIT = 1 << 30
# After a clean-up there is room for some time: it looks at every file. A writer looks again after
# so much that it wrote, and leaves as much free; others write meanwhile.
_KEPT_SHARE = 0.8
_LOOK_SHARE = 1 / 64


@dataclass(frozen=True)
class CacheInfo:
    """What is in a cache: where, whether it is used, how many entries and bytes, the limit."""

    folder: Path
    enabled: bool
    entries: int
    bytes: int
    limit: int


def script_inputs(script: str, m2_version: str) -> dict[str, str]:
    """All that the answer of a script depends on."""
    return {
        "script": script,
        "m2_version": m2_version,
        "m2bridge_version": m2bridge_version(),
        "protocol": PROTOCOL_VERSION,
        "package": _package_digest(),
    }


@lru_cache(maxsize=1)
def _package_digest() -> str:
    digest = hashlib.sha256()
    for file in sorted(SCRIPTS_FOLDER.glob("*.m2")):
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def default_cache() -> AnswerCache:
    """The user's cache, as the environment's M2BRIDGE_CACHE has it.

    Raises:
        ValueError: it names the home of a user that there is not.
    """
    chosen = os.environ.get("M2BRIDGE_CACHE", "").strip()
    if chosen.lower() in ("off", "0", "no", "false"):
        return AnswerCache(enabled=False)
    try:
        folder = Path(chosen).expanduser().absolute() if chosen else _user_folder()
    except RuntimeError as error:
        raise ValueError(f"M2BRIDGE_CACHE names no folder: {chosen!r}: {error}") from error
    if not folder.is_absolute():  # a user without a home
        return AnswerCache(enabled=False)
    # one object for a folder, so that it knows how much this process has written
    return _caches.setdefault(folder, AnswerCache(folder))


def _user_folder() -> Path:
    return platformdirs.user_cache_path("m2bridge") / "answers"


class AnswerCache:
    """A bounded store of answers. Making the object touches nothing on disk.

    Args:
        folder: where; by default the user's cache folder.
        limit: bytes; the entries that were not used for longest go first.
        enabled: False makes every ``get`` a miss and ``put`` do nothing.

    Raises:
        ValueError: the limit is not positive.
    """

    def __init__(
        self, folder: Path | None = None, *, limit: int = _DEFAULT_LIMIT, enabled: bool = True
    ) -> None:
        if limit <= 0:
            raise ValueError(f"a cache's limit is a positive number of bytes, not {limit}")
        self.folder = _user_folder() if folder is None else Path(folder)
        self.limit = limit
        self.enabled = enabled
        self._unlooked = limit  # bytes written since the folder was looked through: look at once

    def get(self, inputs: Mapping[str, str]) -> bytes | None:
        """The answer for exactly these inputs, or None."""
        if not self.enabled:
            return None
        canonical = _canonical(inputs)
        path = self._path(canonical)
        try:
            answer = _checked(_read(path, self.limit), canonical)
        except OSError:
            return None
        if answer is None:
            _log.warning("a damaged entry of the cache is thrown away: %s", path)
            _remove(path)
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # it was used now
        return answer

    def put(self, inputs: Mapping[str, str], answer: bytes) -> None:
        """Keeps an answer; one that could not be kept is no error."""
        if not self.enabled:
            return
        canonical = _canonical(inputs)
        data = _entry(canonical, answer)
        if len(data) > self.limit:
            return
        path = self._path(canonical)
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            _write_at_once(path, data)
        except OSError as error:
            _log.debug("the cache cannot be written: %s", error)
            return
        self._unlooked += len(data)
        if self._unlooked > self.limit * _LOOK_SHARE:
            self._unlooked = 0
            self._shrink()

    def info(self) -> CacheInfo:
        """What is in it now."""
        sizes = [size for _, size, _ in self._entries()]
        return CacheInfo(self.folder, self.enabled, len(sizes), sum(sizes), self.limit)

    def clear(self) -> int:
        """Removes all entries (and nothing else that may be in the folder); how many."""
        removed = 0
        for path, _, _ in list(self._entries()):
            removed += _remove(path)
        self._remove_unfinished(0.0)
        for shelf in self._shelves():
            with contextlib.suppress(OSError):
                shelf.rmdir()  # only when it is empty
        return removed

    def _path(self, canonical: bytes) -> Path:
        name = hashlib.sha256(canonical).hexdigest()
        return self.folder / name[:2] / (name + _SUFFIX)

    def _shelves(self) -> list[Path]:
        try:
            found = [p for p in self.folder.iterdir() if _SHELF.fullmatch(p.name)]
            return [p for p in found if p.is_dir() and not p.is_symlink()]
        except OSError:
            return []

    def _files(self) -> Iterator[tuple[Path, os.stat_result]]:
        for shelf in self._shelves():
            with contextlib.suppress(OSError):
                for path in shelf.iterdir():
                    with contextlib.suppress(OSError):  # another process may have removed it
                        yield path, path.lstat()

    def _entries(self) -> Iterator[tuple[Path, int, float]]:
        """Path, size and time of last use of each entry."""
        for path, status in self._files():
            if _NAME.fullmatch(path.name):
                yield path, status.st_size, status.st_mtime

    def _shrink(self) -> None:
        """Removes the entries that were not used for longest, if there are too many."""
        self._remove_unfinished(_LEFT_BEHIND_SECONDS)
        entries = sorted(self._entries(), key=lambda entry: entry[2])
        total = sum(size for _, size, _ in entries)
        if total <= self.limit * (1 - _LOOK_SHARE):
            return
        for path, size, _ in entries:
            if total <= self.limit * _KEPT_SHARE:
                break
            _remove(path)
            total -= size

    def _remove_unfinished(self, age: float) -> None:
        """Removes what writers that were killed have left."""
        before = time.time() - age
        for path, status in list(self._files()):
            if path.name.startswith(_UNFINISHED) and status.st_mtime <= before:
                with contextlib.suppress(OSError):
                    path.unlink()


_caches: dict[Path, AnswerCache] = {}


def _read(path: Path, most: int) -> bytes:
    """The bytes of an entry; what is no file of ours, or too large, has none.

    Raises:
        OSError: there is no entry, or it cannot be read now.
    """
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode) or status.st_size > most:
        return b""
    try:
        # should it be exchanged at this moment: follow no link, and wait for no pipe
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except PermissionError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        return file.read(most + 1)


def _remove(path: Path) -> bool:
    """Removes what stands at an entry's place, whatever it is; whether that was possible."""
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    except OSError:
        return False
    return True


def _canonical(inputs: Mapping[str, str]) -> bytes:
    return json.dumps(dict(inputs), sort_keys=True, ensure_ascii=True).encode("ascii")


def _entry(canonical: bytes, answer: bytes) -> bytes:
    """A file: checksum of the rest, length of the inputs, inputs, answer."""
    rest = b"%d\n%s%s" % (len(canonical), canonical, answer)
    return hashlib.sha256(rest).hexdigest().encode("ascii") + b"\n" + rest


def _checked(data: bytes, canonical: bytes) -> bytes | None:
    """The answer in a file, if it is whole and belongs to these inputs."""
    checksum, _, rest = data.partition(b"\n")
    if hashlib.sha256(rest).hexdigest().encode("ascii") != checksum:
        return None
    head = b"%d\n%s" % (len(canonical), canonical)
    return rest[len(head) :] if rest.startswith(head) else None


def _write_at_once(path: Path, data: bytes) -> None:
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=_UNFINISHED)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
