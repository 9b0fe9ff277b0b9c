"""When an interrupt reaches Macaulay2: never before a job has begun, nor after it is done."""

import queue
import threading
import time

import pytest

from m2bridge.engine.channel import Exit
from m2bridge.engine.conversation import Conversation
from m2bridge.engine.frames import Frame, FrameReader, encode_frame
from m2bridge.errors import EngineError


class Scripted:
    """A channel whose other side is the test."""

    folder = None

    def __init__(self) -> None:
        self.requests: queue.Queue[Frame] = queue.Queue()
        self.answers: queue.Queue[bytes] = queue.Queue()
        self.signals = 0
        self.taken = threading.Event()  # whether what is sent is taken
        self.taken.set()
        self.hidden = False  # whether an answer is there that nobody has read

    def send(self, data: bytes, deadline: float | None) -> None:
        assert self.taken.wait(10)
        frame = FrameReader(lambda deadline: data).next(None)
        self.requests.put(frame)
        if frame.segments[0] == b"echo":
            self.answer(frame, frame.segments[1])

    def answer(self, frame: Frame, data: bytes) -> None:
        self.answers.put(encode_frame("R", frame.job, [b"", data]))

    def receive(self, deadline: float | None) -> bytes:
        assert deadline is not None
        try:
            return self.answers.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise TimeoutError from None

    def has_come(self) -> bool:
        return self.hidden or not self.answers.empty()

    def interrupt(self) -> None:
        self.signals += 1

    def end(self, grace_seconds: float = 0.0) -> Exit:
        return Exit(0, False, "")

    def abandon(self) -> None:
        pass


class Asking:
    """A job that another thread waits for."""

    def __init__(self, channel: Scripted) -> None:
        self.channel = channel
        self.talk = Conversation(channel)
        self.answer: Frame | None = None
        self.thread = threading.Thread(target=self.ask, daemon=True)
        self.thread.start()

    def ask(self) -> None:
        self.answer = self.talk.ask(b"eval", [b"2+2"], time.monotonic() + 10)

    def ends_with(self, data: bytes) -> None:
        self.thread.join(10)
        assert self.answer is not None
        assert self.answer.segments[1] == data


@pytest.fixture
def channel() -> Scripted:
    return Scripted()


@pytest.mark.parametrize(
    "hello",
    [
        b"M2B2H" + bytes(10) + b"\1" + bytes(5) + b"\1" + b"2",  # protocol 2, byte for byte
        encode_frame("H", 0, [b"0", b"1.26.06", b"0.1.0", b"true"]),
        b"i1 : -- some other program's first words",
    ],
)
def test_another_protocol_is_named_as_such(channel: Scripted, hello: bytes) -> None:
    channel.answers.put(hello)
    with pytest.raises(EngineError, match=r"another protocol.*remove any other M2Bridge\.m2"):
        Conversation(channel).hello(time.monotonic() + 10, lambda: False)


def test_a_job_that_is_done_at_once_is_not_signalled(channel: Scripted) -> None:
    asking = Asking(channel)
    frame = channel.requests.get(timeout=10)
    stopper = threading.Thread(target=asking.talk.interrupt)
    stopper.start()
    channel.answer(frame, b"4")
    stopper.join(10)
    asking.ends_with(b"4")
    assert channel.signals == 0


def test_a_job_that_goes_on_is_signalled_once(channel: Scripted) -> None:
    asking = Asking(channel)
    frame = channel.requests.get(timeout=10)
    begun = time.monotonic()
    assert asking.talk.interrupt()
    assert asking.talk.interrupt()
    assert time.monotonic() - begun > 0.01  # M2 may have been asleep
    assert channel.signals == 1
    channel.answer(frame, b"stopped")
    asking.ends_with(b"stopped")
    assert asking.talk.interrupted


def test_an_answer_that_nobody_has_read_yet_is_an_answer(channel: Scripted) -> None:
    asking = Asking(channel)
    frame = channel.requests.get(timeout=10)
    channel.hidden = True
    assert asking.talk.interrupt()
    assert channel.signals == 0
    channel.answer(frame, b"4")
    asking.ends_with(b"4")


def test_a_part_of_an_answer_means_that_m2_is_writing(channel: Scripted) -> None:
    asking = Asking(channel)
    frame = channel.requests.get(timeout=10)
    whole = encode_frame("R", frame.job, [b"", b"4"])
    channel.answers.put(whole[:20])
    while not channel.answers.empty():
        time.sleep(0.001)
    time.sleep(0.05)
    assert asking.talk.interrupt()
    assert channel.signals == 0
    channel.answers.put(whole[20:])
    asking.ends_with(b"4")


def test_what_is_interrupted_while_it_is_sent_is_signalled_later(channel: Scripted) -> None:
    channel.taken.clear()
    asking = Asking(channel)
    while not asking.talk.interrupt():
        time.sleep(0.001)
    time.sleep(0.05)
    assert channel.signals == 0
    channel.taken.set()
    frame = channel.requests.get(timeout=10)
    deadline = time.monotonic() + 10
    while channel.signals == 0 and time.monotonic() < deadline:
        time.sleep(0.001)
    assert channel.signals == 1
    channel.answer(frame, b"stopped")
    asking.ends_with(b"stopped")
