"""The cache of answers: exact, safe, bounded, and never in the way."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from m2bridge.engine.cache import AnswerCache, default_cache, script_inputs

INPUTS = script_inputs("bridgeAnswer(2+2)", "1.26.06")


@pytest.fixture
def cache(tmp_path: Path) -> AnswerCache:
    return AnswerCache(tmp_path / "cache")


def entry_of(cache: AnswerCache) -> Path:
    (path,) = cache.folder.rglob("*.answer")
    return path


def test_what_is_put_is_got(cache: AnswerCache) -> None:
    assert cache.get(INPUTS) is None
    for answer in (b"4", b"", bytes(range(256)) * 100):
        cache.put(INPUTS, answer)
        assert cache.get(INPUTS) == answer
        assert AnswerCache(cache.folder).get(dict(reversed(INPUTS.items()))) == answer


def test_every_input_counts(cache: AnswerCache) -> None:
    cache.put(INPUTS, b"4")
    for name in INPUTS:
        assert cache.get({**INPUTS, name: INPUTS[name] + " "}) is None
    assert cache.get({**INPUTS, "more": ""}) is None
    assert cache.get({}) is None


@pytest.mark.parametrize(
    "name", ["script", "m2_version", "m2bridge_version", "protocol", "package"]
)
def test_what_an_answer_depends_on(name: str) -> None:
    assert INPUTS[name]


def test_any_damage_is_a_miss_and_is_mended(cache: AnswerCache) -> None:
    cache.put(INPUTS, b"the answer is 4")
    path = entry_of(cache)
    whole = path.read_bytes()
    for place in [0, 63, 64, 65, 70, len(whole) // 2, len(whole) - 1]:
        damaged = bytearray(whole)
        damaged[place] ^= 1
        for data in (bytes(damaged), whole[:place], whole + b"x"):
            path.write_bytes(data)
            assert cache.get(INPUTS) is None
            assert not path.exists()
            path.write_bytes(whole)
            assert cache.get(INPUTS) == b"the answer is 4"


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.mkdir()
    (path / "inside").write_text("x")


IMPOSTORS: list[Callable[[Path], object]] = [
    Path.mkdir,
    _folder,
    _fifo,  # opened for reading, it would wait for ever
    lambda path: path.symlink_to("/dev/zero"),  # would never end
    lambda path: path.symlink_to(path),
    lambda path: (path.touch(), os.truncate(path, 1 << 40)),  # would not fit into memory
]


@pytest.mark.parametrize("make", IMPOSTORS)
@pytest.mark.timeout(20)
def test_what_is_no_file_of_ours_is_a_miss_and_is_mended(
    cache: AnswerCache, make: Callable[[Path], object]
) -> None:
    ways: list[Callable[[dict[str, str]], object]] = [cache.get, lambda inputs: cache.clear()]
    for heal in ways:
        cache.put(INPUTS, b"4")
        path = entry_of(cache)
        path.unlink()
        make(path)
        assert heal(INPUTS) in (None, 1)
        assert not os.path.lexists(path)
    cache.put(INPUTS, b"4")
    assert cache.get(INPUTS) == b"4"


def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    if os.geteuid() or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("only a user who may mount can have a disk of 64 kB")
    try:
        cache = AnswerCache(disk)
        for k in range(30):
            cache.put({"script": str(k)}, b"%d " % k * 4000)
        answers = [cache.get({"script": str(k)}) for k in range(30)]
        assert {len(answer) for answer in answers if answer} <= {8000, 12000}
        assert any(answers)
        assert not all(answers)
        assert not list(disk.rglob(".unfinished*"))
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_home_that_there_is_not(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("M2BRIDGE_CACHE", "~nobody-has-this-name/answers")
    with pytest.raises(ValueError, match="M2BRIDGE_CACHE names no folder"):
        default_cache()
    monkeypatch.delenv("M2BRIDGE_CACHE")
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: Path("~/.cache/m2bridge"))
    monkeypatch.chdir(tmp_path)
    default_cache().put(INPUTS, b"4")
    assert list(tmp_path.iterdir()) == []  # no folder of the name ~


def test_only_what_has_a_name_of_ours_is_removed(cache: AnswerCache) -> None:
    cache.put(INPUTS, b"4")
    elsewhere = cache.folder.parent / "elsewhere"
    elsewhere.mkdir()
    kept = [elsewhere / entry_of(cache).name, entry_of(cache).with_name("mine.answer")]
    for path in kept:
        path.write_text("mine")
    (cache.folder / "ab").symlink_to(elsewhere)
    assert cache.info().entries == 1
    assert cache.clear() == 1
    assert all(path.read_text() == "mine" for path in kept)


def test_another_s_entry_under_this_name_is_a_miss(cache: AnswerCache) -> None:
    other = {**INPUTS, "script": "bridgeAnswer(2+3)"}
    cache.put(other, b"5")
    data = entry_of(cache).read_bytes()
    cache.clear()
    cache.put(INPUTS, b"4")
    entry_of(cache).write_bytes(data)  # whole, checksum and all, but for another question
    assert cache.get(INPUTS) is None


def test_it_is_bounded_and_forgets_what_was_not_used(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path, limit=50_000)
    inputs = [{"script": str(k)} for k in range(100)]
    for k, question in enumerate(inputs):
        cache.put(question, b"x" * 2000)
        for path, _, _ in list(cache._entries()):  # clocks are coarse: make the order plain
            if path == cache._path(b'{"script": "%d"}' % k):
                os.utime(path, (k, k))
        if k == 10:
            assert cache.get(inputs[0]) is not None  # used now, so younger than all others
        assert cache.info().bytes <= 50_000 + 2500
    assert cache.get(inputs[0]) is not None
    assert cache.get(inputs[1]) is None
    assert cache.get(inputs[99]) is not None


def test_an_answer_above_the_limit_is_not_kept(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path, limit=1000)
    cache.put(INPUTS, b"x" * 1000)
    assert cache.get(INPUTS) is None
    with pytest.raises(ValueError, match="positive"):
        AnswerCache(tmp_path, limit=0)


def test_info_and_clear(cache: AnswerCache) -> None:
    assert (cache.info().entries, cache.info().bytes) == (0, 0)
    cache.put({"a": "1"}, b"x")
    cache.put({"a": "2"}, b"y")
    stranger = cache.folder / "my-notes.txt"
    stranger.write_text("mine")
    assert cache.info().entries == 2
    assert cache.info().bytes == sum(p.stat().st_size for p in cache.folder.rglob("*.answer"))
    assert cache.clear() == 2
    assert cache.info().entries == 0
    assert list(cache.folder.iterdir()) == [stranger]


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = AnswerCache(tmp_path / "file")
    cache.put(INPUTS, b"4")
    assert cache.get(INPUTS) is None
    assert cache.info().entries == 0
    assert cache.clear() == 0


def test_a_full_disk(cache: AnswerCache, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    cache.put({"first": "1"}, b"1")
    monkeypatch.setattr(os, "fdopen", full)
    cache.put(INPUTS, b"4")
    monkeypatch.undo()
    assert cache.get(INPUTS) is None
    assert cache.get({"first": "1"}) == b"1"
    assert [p.name for p in cache.folder.rglob(".unfinished*")] == []


def test_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("M2BRIDGE_CACHE", "off")
    cache = default_cache()
    cache.put(INPUTS, b"4")
    assert (cache.get(INPUTS), cache.info().enabled) == (None, False)
    monkeypatch.setenv("M2BRIDGE_CACHE", str(tmp_path / "there"))
    cache = default_cache()
    cache.put(INPUTS, b"4")
    assert cache.info().folder == tmp_path / "there"
    assert cache.get(INPUTS) == b"4"


def _write_many(folder: str, mark: int) -> None:
    """Few questions that all share, many that push each other out; no answer may be another's."""
    cache = AnswerCache(Path(folder), limit=_LIMIT)
    for k in range(300):
        question = k % 10 if k % 2 else 100 * mark + k
        cache.put({"script": str(question)}, b"%d " % question * 1000)
        for wanted in ((k * 7 + mark) % 10, 100 * mark + k - 50):
            answer = cache.get({"script": str(wanted)})
            assert answer in (None, b"%d " % wanted * 1000)
        if k == 150 and mark == 0:
            shutil.rmtree(folder, ignore_errors=True)  # while it is in use


_LIMIT = 300_000


def test_parallel_writers(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    folder = tmp_path / "shared"
    writers = [context.Process(target=_write_many, args=(str(folder), k)) for k in range(4)]
    for writer in writers:
        writer.start()
    seen = 0
    while any(writer.is_alive() for writer in writers):
        seen = max(seen, AnswerCache(folder).info().bytes)
    assert [writer.exitcode for writer in writers] == [0] * 4
    # each of four may have written its share since it looked, and one entry more
    assert 0 < seen <= _LIMIT + 4 * (_LIMIT // 64 + 6000)
    assert not list(folder.rglob(".unfinished*"))
    assert AnswerCache(folder).info().entries > 10
