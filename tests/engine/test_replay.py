"""Recordings: what M2 answered once is given again without it, and nothing else is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from m2bridge.engine import (
    LocalEngine,
    Pool,
    RecordingEngine,
    ReplayEngine,
    Session,
    find_m2,
    open_session,
)
from m2bridge.errors import EngineError, M2Error


@pytest.fixture
def recording(fake: Path, temporary: Path, tmp_path: Path) -> Path:
    """A few jobs of the stand-in."""
    path = tmp_path / "jobs.json"
    with open_session(RecordingEngine(LocalEngine(find_m2(fake)), path), timeout=20) as session:
        assert session.eval("sum 1 2").segments == (b"3",)
        assert session.eval("sum 1 2").segments == (b"3",)
        with pytest.raises(M2Error, match="so be it"):
            session.eval("fail so be it")
    assert list(temporary.iterdir()) == []
    return path


def test_what_was_recorded_is_given_again(recording: Path) -> None:
    engine = ReplayEngine(recording)
    assert len(engine) == 2
    assert engine.description == "replay: jobs.json"
    with Session(engine) as session:
        assert session.m2_version == "1.26.06"
        for _ in range(5):
            assert session.eval("sum 1 2").segments == (b"3",)
        with pytest.raises(M2Error, match="so be it") as caught:
            session.eval("fail so be it")
        assert str(caught.value.location) == "currentString:1:0"
        assert session.call("echo", [b"x"]).segments == (b"x",)
        assert (session.generation, session.state_lost) == (1, False)


def test_an_unknown_job_is_refused_and_the_session_goes_on(recording: Path) -> None:
    with Session(ReplayEngine(recording)) as session:
        for code in ("sum 1 3", "sum 1 2 ", ""):
            with pytest.raises(EngineError, match=r"no answer for this job.*RecordingEngine"):
                session.eval(code)
        assert session.eval("sum 1 2").segments == (b"3",)
        assert not session.state_lost


def test_answers_that_depend_on_the_state_come_in_their_order(
    fake: Path, temporary: Path, tmp_path: Path
) -> None:
    path = tmp_path / "pids.json"
    engine = RecordingEngine(LocalEngine(find_m2(fake)), path)
    with Session(engine) as session:
        first = session.eval("pid").segments
    with Session(engine) as session:
        second = session.eval("pid").segments  # another process: the first question there
    assert first != second
    document = json.loads(path.read_text())
    document["jobs"][0]["answers"] = [
        {"letter": "R", "segments": ["", "one"]},
        {"letter": "R", "segments": ["", "two"]},
    ]
    path.write_text(json.dumps(document))
    for _ in range(2):
        with Session(ReplayEngine(path)) as session:
            assert [session.eval("pid").segments[0] for _ in "12"] == [b"one", b"two"]
            with pytest.raises(EngineError, match="differ"):
                session.eval("pid")


def test_a_pool_of_replays(recording: Path) -> None:
    with Pool(2, ReplayEngine(recording)) as pool:
        answers = [pool.submit_eval("sum 1 2") for _ in range(10)]
        assert {future.result().segments for future in answers} == {(b"3",)}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "not json",
        '{"format": 2, "hello": [], "jobs": []}',
        '{"format": 1, "hello": ["2"], "jobs": [{"request": ["a"], "answers": []}]}',
        '{"format": 1, "hello": ["1", "1.26", "", ""], "jobs": []}',
    ],
)
def test_a_damaged_recording(tmp_path: Path, text: str) -> None:
    path = tmp_path / "damaged.json"
    path.write_text(text)
    with pytest.raises(EngineError, match=r"damaged\.json"):
        ReplayEngine(path)


def test_no_recording(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"none\.json cannot be read: No such file"):
        ReplayEngine(tmp_path / "none.json")


def test_engines_by_name(fake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("M2BRIDGE_M2", str(fake))
    path = tmp_path / "jobs.json"
    with Session(RecordingEngine("local", path)) as session:
        assert session.eval("sum 1 2").text == "3"
    engine = ReplayEngine(path)
    assert repr(engine).endswith("jobs.json') with 1 different jobs")
    with Session(engine) as session:
        assert session.eval("sum 1 2").text == "3"
    with pytest.raises(ValueError, match="unknown engine 'cloud'"):
        RecordingEngine("cloud", path)
    with pytest.raises(TypeError, match="an engine is"):
        RecordingEngine(Session(engine), path)  # type: ignore[arg-type]


def test_a_recording_that_cannot_be_written(fake: Path, temporary: Path, tmp_path: Path) -> None:
    """Said before any work is done, if possible; in any case M2 ends."""
    engine = LocalEngine(find_m2(fake))
    folder = tmp_path / "there"
    with pytest.raises(EngineError, match="there is no folder"):
        RecordingEngine(engine, folder / "jobs.json")
    folder.mkdir()
    session = Session(RecordingEngine(engine, folder / "jobs.json"))
    assert session.eval("sum 1 2").text == "3"
    folder.rmdir()
    with pytest.raises(EngineError, match="cannot be written"):
        session.close()
    assert list(temporary.iterdir()) == []


@pytest.mark.m2
def test_recorded_from_m2(tmp_path: Path) -> None:
    path = tmp_path / "m2.json"
    script = "R = QQ[x]\nbridgeAnswer {x^2 - 1/3, 7}\n"

    def ask(session: Session) -> list[object]:
        bytes_with_all = session.eval("ascii toList(0..255)").segments
        with pytest.raises(M2Error, match="division by zero") as caught:
            session.run_script("a = 1\nb = a/0\n")
        assert caught.value.location is not None
        return [session.run_script(script), bytes_with_all, caught.value.location.line]

    with Session(RecordingEngine(LocalEngine(find_m2()), path)) as session:
        real = ask(session)
    with Session(ReplayEngine(path)) as session:
        assert ask(session) == real
    assert real[1] == (bytes(range(256)),)
    assert real[2] == 2
