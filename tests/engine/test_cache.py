"""The cache of answers: exact, safe, bounded, and never in the way."""

from __future__ import annotations

import multiprocessing
import os
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
    cache = AnswerCache(Path(folder), limit=60_000)
    for k in range(150):
        cache.put({"script": str(k % 10)}, b"%d " % (k % 10) * 1000)
        answer = cache.get({"script": str((k * 7 + mark) % 10)})
        if answer is not None:
            assert answer == b"%d " % ((k * 7 + mark) % 10) * 1000


def test_parallel_writers(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write_many, args=(str(tmp_path), k)) for k in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(120)
    assert [writer.exitcode for writer in writers] == [0] * 4
    assert all(
        AnswerCache(tmp_path).get({"script": str(k)}) == b"%d " % k * 1000 for k in range(10)
    )
