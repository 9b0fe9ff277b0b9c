"""A stand-in for Macaulay2: starts in 30 ms, speaks frames, and misbehaves as it is told.

It takes M2's command line, finds the two descriptors in it, and obeys the code of "eval" jobs:
"sum A B", "hang", "deaf" (hang and ignore interrupts), "frail" (hang and die of an interrupt),
"die N", "half" (die in the midst of a frame), "garbage", "other" (answer another job), "flood"
(print for ever), "child" (leave a process in a session of its own that holds all descriptors),
"grow N" (take N MiB), "refused" (say that memory is out, and die), "pid", "fail TEXT".
"""

from __future__ import annotations

import os
import re
import signal
import struct
import subprocess
import sys
import time

HEADER = struct.Struct(">3scIQ")


class InterruptedByPythonError(Exception):
    pass


def on_interrupt(number: int, frame: object) -> None:
    raise InterruptedByPythonError


def read(descriptor: int, size: int) -> bytes:
    data = b""
    while len(data) < size:
        chunk = os.read(descriptor, size - len(data))
        if not chunk:
            sys.exit(0)
        data += chunk
    return data


def read_frame(descriptor: int) -> tuple[bytes, int, list[bytes]]:
    _, letter, count, job = HEADER.unpack(read(descriptor, HEADER.size))
    sizes = struct.unpack(f">{count}Q", read(descriptor, 8 * count))
    return letter, job, [read(descriptor, size) for size in sizes]


def frame_bytes(letter: bytes, job: int, segments: list[bytes]) -> bytes:
    head = HEADER.pack(b"M2B", letter, len(segments), job)
    return b"".join([head, *(len(s).to_bytes(8, "big") for s in segments), *segments])


def write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def obey(words: list[str], output: int, job: int) -> bytes:  # noqa: C901 - a list of tricks
    match words:
        case ["sum", a, b]:
            return str(int(a) + int(b)).encode()
        case ["pid"]:
            return str(os.getpid()).encode()
        case ["hang"]:
            time.sleep(3600)
        case ["deaf"]:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            time.sleep(3600)
        case ["frail"]:
            signal.signal(signal.SIGINT, lambda number, frame: os._exit(2))
            time.sleep(3600)
        case ["die", status]:
            os._exit(int(status))
        case ["half"]:
            write(output, frame_bytes(b"R", job, [b"", b"x" * 100])[:-50])
            os._exit(0)
        case ["garbage"]:
            write(output, b"i1 : o1 = this is not a frame\n")
            time.sleep(3600)
        case ["other"]:
            write(output, frame_bytes(b"R", job + 1, [b"", b"wrong"]))
            time.sleep(3600)
        case ["flood"]:
            while True:
                os.write(1, b"y\n" * 5000)
        case ["child"]:
            code = "import time; time.sleep(3600)"
            child = subprocess.Popen(
                [sys.executable, "-c", code], start_new_session=True, close_fds=False
            )
            return str(child.pid).encode()
        case ["grow", size]:
            kept = []
            for _ in range(int(size)):
                kept.append(os.urandom(1024) * 1024)
            time.sleep(3600)
        case ["refused"]:
            os.write(2, b"terminate called after throwing an instance of 'std::bad_alloc'\n")
            os.kill(os.getpid(), signal.SIGABRT)
        case ["fail", *text]:
            raise ValueError(" ".join(text))
    raise ValueError("unknown code")


def main(arguments: list[str]) -> None:
    if arguments == ["--version"]:
        sys.stdout.write(os.environ.get("FAKE_M2_VERSION", "1.26.06") + "\n")
        return
    match = re.search(r"bridgeServe\((\d+), (\d+), \d+\)", arguments[-1])
    assert match is not None
    inputs, output = int(match[1]), int(match[2])
    if os.environ.get("FAKE_M2_MUTE"):
        os.write(2, b"M2 is thinking about itself\n")
        time.sleep(3600)
    if os.environ.get("FAKE_M2_SLOW"):
        time.sleep(1)
    protocol = os.environ.get("FAKE_M2_PROTOCOL", "3").encode()
    version = os.environ.get("FAKE_M2_VERSION", "1.26.06").encode()
    os.set_inheritable(output, True)
    signal.signal(signal.SIGINT, on_interrupt)
    write(output, frame_bytes(b"H", 0, [protocol, version, b"0.1.0", b"true"]))
    while True:
        letter, job, segments = read_frame(inputs)
        if letter == b"Q":
            return
        if segments[0] == b"echo":
            write(output, frame_bytes(b"R", job, [b"", *segments[1:]]))
            continue
        try:
            answer = frame_bytes(b"R", job, [b"", obey(segments[1].decode().split(), output, job)])
        except InterruptedByPythonError:
            text = b"\x02currentString:1:1:(3):[5]: error: interrupted\n"
            answer = frame_bytes(b"X", job, [text])
        except ValueError as error:
            text = f"\x02currentString:1:0:(3):[5]: error: {error}\n".encode()
            answer = frame_bytes(b"X", job, [text])
        write(output, answer)


if __name__ == "__main__":
    main(sys.argv[1:])
