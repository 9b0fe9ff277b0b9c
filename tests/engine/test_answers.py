"""What a frame becomes: an answer, or the exception that is in it."""

import pytest

from m2bridge.engine.answers import Answer, opened
from m2bridge.engine.frames import Frame
from m2bridge.errors import M2Error, M2InterruptedError

PLACE = "currentString:1:5:(3):[7]: "


def failed(words: str) -> Frame:
    text = f"bridgeStep()\n\x02\n{PLACE}error: {words}\nM2Bridge.m2:1:2:(2):[6]: --back trace--\n"
    return Frame("X", 1, (text.encode(),))


def test_the_printed_text_is_taken_out_when_it_is_asked_for() -> None:
    answer = opened(Frame("R", 1, (b"bridgeStep()\n\x02said\n\x03\n", b"4")), "2+2", False)
    assert (answer.segments, answer.output) == ((b"4",), "said\n")
    assert repr(answer) == "Answer(segments=(b'4',), output='said\\n')"
    assert Answer((b"4",)).output == ""


def test_printed_bytes_that_are_no_text_are_no_reason_to_fail() -> None:
    assert opened(Frame("R", 1, (b"\x02\xff\x03", b"")), "", False).output == "\ufffd"


@pytest.mark.parametrize("words", ["interrupted", "syntax error at 'do'"])
def test_what_an_interrupt_makes_of_a_call(words: str) -> None:
    """An interrupt may meet M2 while it still parses; nobody else's mistake is meant then."""
    with pytest.raises(M2InterruptedError) as caught:
        opened(failed(words), "while true do 1", True)
    assert caught.value.state_kept


@pytest.mark.parametrize(
    ("words", "interrupted"),
    [("syntax error at 'do'", False), ("division by zero", True), ("interrupted", False)],
)
def test_other_errors_are_the_users(words: str, interrupted: bool) -> None:
    with pytest.raises(M2Error) as caught:
        opened(failed(words), "code", interrupted)
    assert caught.value.message == words
    assert not isinstance(caught.value, M2InterruptedError)
