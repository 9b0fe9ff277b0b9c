"""M2's printed errors, taken apart. The texts are what M2 1.21 and 1.26 print."""

from __future__ import annotations

import pickle

import pytest

from m2bridge.engine.messages import error_from_output, error_from_text, printed_text
from m2bridge.errors import M2Error, M2InterruptedError, SourceLocation

ECHO = "\ni1 : bridgeStep()\n"


@pytest.mark.parametrize("text", ["", "one\ntwo\n", "\x02 and \x03", "i1 : \x03\n\x02"])
def test_output_is_what_stands_between_the_marks(text: str) -> None:
    assert printed_text(f"{ECHO}\x02{text}\x03\n") == text


def test_a_division_by_zero() -> None:
    text = (
        f"{ECHO}\x02said\ncurrentString:3:1:(3):[9]: error: division by zero\n"
        "M2Bridge.m2:200:10:(2):[7]: --back trace--\n"
        "currentString:1:10:(3):[5]: --back trace--\n"
    )
    error = error_from_text(text, "1/0")
    assert (error.message, error.output, error.script) == ("division by zero", "said", "1/0")
    assert error.location == SourceLocation("currentString", 3, 1)
    assert str(error) == "currentString:3:1: division by zero"


def test_an_error_inside_a_package_is_placed_at_the_user_s_line() -> None:
    text = (
        f"{ECHO}\x02/usr/share/Macaulay2/Core/robust.m2:102:26:(1):[11]: error: no method for"
        " binary operator + applied to objects:\n--            1 (of class ZZ)\n"
        '--      +     "a" (of class String)\n'
        "job7.m2:12:4:(3):[8]: --back trace--\n"
        "M2Bridge.m2:200:10:(2):[7]: --back trace--\n"
        "currentString:1:10:(3):[5]: --back trace--\n"
    )
    error = error_from_text(text, "")
    assert error.location == SourceLocation("job7.m2", 12, 4)
    assert error.message.startswith("no method for binary operator +")
    assert error.message.endswith('"a" (of class String)')


def test_the_line_of_our_own_call_is_never_the_user_s() -> None:
    text = (
        f"{ECHO}\x02M2Bridge.m2:190:5:(2):[7]: error: unknown operation: x\n"
        "currentString:1:10:(3):[5]: --back trace--\n"
    )
    error = error_from_text(text, "")
    assert error.location == SourceLocation("M2Bridge.m2", 190, 5)


def test_marks_in_an_error_s_own_words_end_nothing() -> None:
    text = (
        f"{ECHO}\x02\x03said\x02\ncurrentString:1:5:(3):[9]: error: a \x02 b \x03 c\n"
        "currentString:1:10:(3):[5]: --back trace--\n"
    )
    error = error_from_text(text, "")
    assert (error.message, error.output) == ("a \x02 b \x03 c", "\x03said\x02")
    assert error_from_output("x.m2:1:5:(3): error: a \x02 b\n", "", "x.m2").message == "a \x02 b"


def test_an_error_without_words() -> None:
    error = error_from_text(f"{ECHO}\x02something went wrong", "code")
    assert (error.message, error.location) == ("something went wrong", None)
    assert error_from_text("", "code").message


@pytest.mark.parametrize(
    "error",
    [
        M2Error("m", location=SourceLocation("f", 1, 2), script="s", output="o"),
        M2InterruptedError("m", script="s", state_kept=False),
    ],
)
def test_errors_travel_between_processes(error: M2Error) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert vars(copy) == vars(error)
    assert str(copy) == str(error)
