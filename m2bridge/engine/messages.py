"""What Macaulay2 prints, taken apart: the user's output, and M2's error with its place.

This is the only text of M2's that is read as text. It never carries an answer: a wrong guess here
can cost a line number in an error message, nothing more.
"""

from __future__ import annotations

import re

from m2bridge.errors import M2Error, SourceLocation

__all__ = ["error_from_output", "error_from_text", "printed_text"]

# The marks that bridgeStep prints around what the evaluated code prints.
_BEGIN, _END = "\x02", "\x03"
_LINE = re.compile(
    r"^(?P<file>[^\n]*?):(?P<line>\d+):(?P<column>\d+):\((?P<depth>\d+)\):(?:\[\d+\])?:?\s"
    r"(?P<rest>.*)$",
    re.MULTILINE,
)
_ERROR = "error: "
_BACKTRACE = re.compile(r"--\s?back ?trace")
# Where code that was given as text, or as one of our job files, is seen by M2.
_USER_FILE = re.compile(r"currentString$|job\d+\.m2$")
_JOB_FILE = re.compile(r"^.*/(?=job\d+\.m2$)")  # where that is, is of no interest


def printed_text(text: str) -> str:
    """What the code printed: between the marks of ``bridgeStep``, without capture's echo."""
    begin = text.find(_BEGIN)
    end = text.rfind(_END)
    return text[begin + 1 : end if end > begin else len(text)]


def error_from_text(text: str, code: str) -> M2Error:
    """The exception for what ``capture`` returned on failure."""
    # No end was marked: the code did not come to its end. The last line of the trace is our own
    # call of bridgeStep, never the user's code.
    return _error(text[text.find(_BEGIN) + 1 :], code, _USER_FILE, last=-1)


def error_from_output(output: str, code: str, file: str) -> M2Error:
    """The exception for what a file's code printed until it failed, M2's words at the end."""
    return _error(output, code, re.compile(rf"(^|/){re.escape(file)}$"), last=None)


def _error(body: str, code: str, users: re.Pattern[str], last: int | None) -> M2Error:
    lines = list(_LINE.finditer(body))
    first = next((line for line in lines if line["rest"].startswith(_ERROR)), None)
    if first is None:
        return M2Error(body.strip() or "Macaulay2 reported an error without words", script=code)
    trace = [line for line in lines if line.start() > first.start()]
    end = trace[0].start() if trace else len(body)
    message = first["rest"][len(_ERROR) :] + body[first.end() : end].rstrip()
    places = [first, *trace[:last]]
    place = next((p for p in places if users.search(p["file"])), first)
    return M2Error(
        message.strip(),
        location=SourceLocation(
            _JOB_FILE.sub("", place["file"]), int(place["line"]), int(place["column"])
        ),
        script=code,
        output=body[: first.start()].rstrip("\n"),
    )
