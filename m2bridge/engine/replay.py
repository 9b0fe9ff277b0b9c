"""Recorded jobs: answers of a real Macaulay2, kept in a JSON file and given again without one.

    Macaulay2(RecordingEngine("local", "jobs.json"))    # once, with M2
    Macaulay2(ReplayEngine("jobs.json"))                # ever after, without

A job is an operation with its data segments. What was not recorded is an error, never a guess.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import tempfile
import threading
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from m2bridge.engine.channel import Channel, Engine, Exit, Limits
from m2bridge.engine.frames import PROTOCOL_VERSION, Frame, FrameReader, encode_frame
from m2bridge.engine.opening import open_engine
from m2bridge.errors import EngineError

__all__ = ["RecordingEngine", "ReplayEngine"]

_FORMAT = 1


@dataclass
class _Job:
    """One recorded job: what was asked, and each different answer in the order of asking."""

    request: tuple[bytes, ...]
    answers: list[tuple[str, tuple[bytes, ...]]] = field(default_factory=list)

    @property
    def always_the_same(self) -> bool:
        return all(answer == self.answers[0] for answer in self.answers)


def _key(request: Sequence[bytes]) -> str:
    digest = hashlib.sha256()
    for segment in request:
        digest.update(len(segment).to_bytes(8, "big"))
        digest.update(segment)
    return digest.hexdigest()


class ReplayEngine:
    """Answers from a recording; needs no Macaulay2.

    A job that gave different answers in one process (because it depends on what was defined
    before) gives them in the recorded order.

    Args:
        path: a file that ``RecordingEngine`` wrote.

    Raises:
        EngineError: the file is missing, damaged, or of another format or protocol.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._hello, self._jobs = _load(self.path)

    @property
    def description(self) -> str:
        """For provenance: that nothing was computed here, and from which recording it came."""
        return f"replay: {self.path.name}"

    def __len__(self) -> int:
        return len(self._jobs)

    def __repr__(self) -> str:
        return f"ReplayEngine({str(self.path)!r}) with {len(self)} different jobs"

    def start(self, limits: Limits) -> Channel:
        """A channel that answers from the recording."""
        return _ReplayChannel(self._hello, self._jobs, self.path)


class _ReplayChannel:
    """Takes request frames and makes answer frames; see ``channel.Channel``."""

    folder: str | None = None

    def __init__(self, hello: tuple[bytes, ...], jobs: dict[str, _Job], path: Path) -> None:
        self._jobs = jobs
        self._path = path
        self._asked: defaultdict[str, int] = defaultdict(int)
        self._answer = encode_frame("H", 0, hello)

    def send(self, data: bytes, deadline: float | None) -> None:
        frame = _decoded(data)
        if frame.segments[0] == b"echo":
            self._answer = encode_frame("R", frame.job, [b"", *frame.segments[1:]])
            return
        key = _key(frame.segments)
        job = self._jobs.get(key)
        if job is None:
            raise EngineError(
                f"the recording {self._path} has no answer for this job: {_shown(frame.segments)}."
                " Record it with RecordingEngine, or use an engine that has a Macaulay2"
            )
        place = self._asked[key]
        if place >= len(job.answers):
            if not job.always_the_same:
                raise EngineError(
                    f"the recording {self._path} has {len(job.answers)} answers for this job, which"
                    f" differ, and it was asked once more: {_shown(frame.segments)}"
                )
            place = 0
        self._asked[key] += 1
        letter, segments = job.answers[place]
        self._answer = encode_frame(letter, frame.job, segments)

    def receive(self, deadline: float | None) -> bytes:
        return self._answer

    def has_come(self) -> bool:
        return True

    def interrupt(self) -> None:
        """Nothing runs that could be interrupted."""

    def end(self, grace_seconds: float = 0.0) -> Exit:
        return Exit(0, False, "")

    def abandon(self) -> None:
        """Nothing is held that a fork could spoil."""


class RecordingEngine:
    """Another engine, with everything written down that its Macaulay2 answers.

    The file is written when a session ends and by ``save``; jobs of an older file of that name
    are kept unless they are asked again.

    Args:
        engine: what really runs M2: ``"local"``, ``"docker"``, or an engine object.
        path: the file, for ``ReplayEngine``.

    Raises:
        ValueError, TypeError: there is no such engine.
        M2NotFoundError, DockerError: it cannot be used here.
        EngineError: there is such a file, and it is no recording; or its folder is missing.
    """

    def __init__(self, engine: str | Engine, path: str | os.PathLike[str]) -> None:
        self.engine = open_engine(engine)
        self.path = Path(path)
        if not self.path.parent.is_dir():
            raise EngineError(f"there is no folder {self.path.parent} to write a recording into")
        self._lock = threading.Lock()
        self._hello: tuple[bytes, ...] = ()
        self._jobs: dict[str, _Job] = {}
        if self.path.exists():
            self._hello, self._jobs = _load(self.path)
        self._fresh: set[str] = set()

    def __repr__(self) -> str:
        return f"RecordingEngine({self.engine!r}, {str(self.path)!r})"

    @property
    def description(self) -> str:
        """That of the engine that is recorded."""
        return self.engine.description

    def start(self, limits: Limits) -> Channel:
        """Starts an M2 whose answers are written down."""
        return _RecordingChannel(self.engine.start(limits), self)

    def add(self, request: tuple[bytes, ...], answer: Frame, occurrence: int) -> None:
        """Writes down one answer: the so-manieth that this request got in its process."""
        key = _key(request)
        entry = (answer.letter, answer.segments)
        with self._lock:
            if key not in self._fresh:
                self._fresh.add(key)
                self._jobs[key] = _Job(request)
            answers = self._jobs[key].answers
            if occurrence >= len(answers):
                answers.append(entry)
            else:
                answers[occurrence] = entry

    def greet(self, hello: tuple[bytes, ...]) -> None:
        """Writes down what M2 said of itself."""
        self._hello = hello

    def save(self) -> None:
        """Writes the file, at once or not at all.

        Raises:
            EngineError: it cannot be written.
        """
        with self._lock:
            jobs = [
                {
                    "request": [_as_json(segment) for segment in job.request],
                    "answers": [
                        {"letter": letter, "segments": [_as_json(segment) for segment in segments]}
                        for letter, segments in _shortest(job)
                    ],
                }
                for _, job in sorted(self._jobs.items())
            ]
            document = {
                "format": _FORMAT,
                "hello": [_as_json(segment) for segment in self._hello],
                "jobs": jobs,
            }
            text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
            try:
                _write_at_once(self.path, text.encode("utf-8"))
            except OSError as error:
                raise EngineError(f"the recording cannot be written: {error}") from error


class _RecordingChannel:
    """Passes everything through, and reads along."""

    folder: str | None = None  # so that scripts travel inside of frames, where they are seen

    def __init__(self, inner: Channel, record: RecordingEngine) -> None:
        self._inner = inner
        self._record = record
        self._reader = FrameReader(inner.receive)
        self._requests: dict[int, tuple[bytes, ...]] = {}
        self._asked: defaultdict[tuple[bytes, ...], int] = defaultdict(int)

    def send(self, data: bytes, deadline: float | None) -> None:
        frame = _decoded(data)
        self._requests = {frame.job: frame.segments}
        self._inner.send(data, deadline)

    def receive(self, deadline: float | None) -> bytes:
        frame = self._reader.next(deadline)
        self._note(frame)
        return encode_frame(frame.letter, frame.job, frame.segments)

    def has_come(self) -> bool:
        return self._reader.begun or self._inner.has_come()

    def _note(self, frame: Frame) -> None:
        if frame.letter == "H":
            self._record.greet(frame.segments)
        request = self._requests.get(frame.job)
        if request is not None and request[0] != b"echo" and frame.letter in "RX":
            self._record.add(request, frame, self._asked[request])
            self._asked[request] += 1

    def interrupt(self) -> None:
        self._inner.interrupt()

    def end(self, grace_seconds: float = 0.0) -> Exit:
        how = self._inner.end(grace_seconds)  # even if the file cannot be written
        self._record.save()
        return how

    def abandon(self) -> None:
        self._inner.abandon()


def _decoded(data: bytes) -> Frame:
    """The frame that these bytes are."""
    return FrameReader(lambda deadline: data).next(None)


def _shown(request: Sequence[bytes]) -> str:
    text = " ".join(segment.decode("utf-8", "replace") for segment in request)
    return repr(text if len(text) <= 200 else text[:200] + "...")


def _shortest(job: _Job) -> list[tuple[str, tuple[bytes, ...]]]:
    return job.answers[:1] if job.always_the_same else job.answers


def _as_json(segment: bytes) -> str | dict[str, str]:
    try:
        return segment.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(segment).decode("ascii")}


def _from_json(value: Any) -> bytes:
    return value.encode("utf-8") if isinstance(value, str) else base64.b64decode(value["base64"])


def _segments(values: Any) -> tuple[bytes, ...]:
    return tuple(_from_json(value) for value in values)


def _load(path: Path) -> tuple[tuple[bytes, ...], dict[str, _Job]]:
    """The hello and the jobs of a recording. Raises EngineError."""
    try:
        document = json.loads(path.read_text("utf-8"))
        if not isinstance(document, dict) or "format" not in document:
            raise ValueError("it is another kind of JSON document")
        if document["format"] != _FORMAT:
            raise EngineError(f"{path} is a recording of another format; record it anew")
        hello = _segments(document["hello"])
        jobs = {}
        for job in document["jobs"]:
            request = _segments(job["request"])
            answers = [(a["letter"], _segments(a["segments"])) for a in job["answers"]]
            if not answers or any(letter not in ("R", "X") for letter, _ in answers):
                raise ValueError("a job without answers")
            jobs[_key(request)] = _Job(request, answers)
    except OSError as error:
        raise EngineError(f"the recording {path} cannot be read: {error.strerror}") from error
    except (ValueError, TypeError, KeyError) as error:
        raise EngineError(f"{path} cannot be read as a recording: {error}") from error
    if not hello or hello[0].decode("utf-8", "replace") != PROTOCOL_VERSION:
        raise EngineError(f"{path} was recorded with another protocol; record it anew")
    return hello, jobs


def _write_at_once(path: Path, data: bytes) -> None:
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".m2bridge-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
