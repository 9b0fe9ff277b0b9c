"""The keeper: a small process that stands between Python and Macaulay2 and outlives neither.

Run as a program (never imported by the library):

    python keeper.py PARENT CONTROL OUTPUT MEMORY FOLDER WORKING CLOSE COMMAND...

PARENT is Python's process number; CONTROL a socket to it; OUTPUT a pipe of which the keeper reads
what COMMAND prints (its end is given by CLOSE, with M2's ends of the channel: numbers joined by
commas, closed here once COMMAND runs); MEMORY a limit in bytes, 0 for none; FOLDER the name of a
private folder, which Python makes when the keeper is there to remove it, and says so by ``G``.

Then it starts COMMAND in WORKING and in a process group of its own, and waits for one of:
- a command on the control socket: ``I`` interrupts the group, ``K`` kills it;
- the end of the control socket, or of Python: it is gone, however it went;
- the resident memory of COMMAND and its children above MEMORY;
- the end of COMMAND itself.
Whatever happened, every process that COMMAND left is killed, FOLDER is removed, and one line
``STATUS REASON`` with the end of the printed text after it is sent back. So M2 can neither be
orphaned nor be left as a zombie, and what it prints can fill no disk.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import socket
import sys
import time

_MEMORY_POLL_MS = 50
_PARENT_POLL_MS = 1000
_TRANSCRIPT_BYTES = 32000
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
# Beside the resident memory that is watched, what a process may reserve is limited by the kernel:
# a fast allocator can outrun the watch. Stacks of threads and unused heap are reserved, too.
_RESERVE_FACTOR = 2
_RESERVE_BYTES = 1 << 30


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _limit_memory(memory: int) -> None:
    if not memory or sys.platform != "linux":
        return
    most = memory * _RESERVE_FACTOR + _RESERVE_BYTES
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY or hard > most:
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def _spawn(command: list[str], working: str, memory: int, close: list[int]) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        for descriptor in close:  # of these none is M2's
            os.close(descriptor)
        os.chdir(working)
        os.setsid()
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # should the keeper itself be killed
        _limit_memory(memory)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"cannot run {command[0]} in {working}: {error.strerror}\n".encode())
    finally:
        os._exit(127)


def _children(pid: int) -> list[int]:
    """The children of a process and theirs; from the kernel's own lists, which is fast."""
    found: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - pathlib is slow to import
            with open(f"/proc/{pid}/task/{task}/children", "rb") as file:  # noqa: PTH123
                found += map(int, file.read().split())
    except (OSError, ValueError):
        pass
    return found + [deeper for child in found for deeper in _children(child)]


def _resident_bytes(leader: int) -> int:
    """Resident memory of M2 and of all that it started."""
    total = 0
    for pid in [leader, *_children(leader)]:
        try:
            with open(f"/proc/{pid}/statm", "rb") as statm:  # noqa: PTH123
                total += int(statm.read().split()[1])
        except (OSError, IndexError, ValueError):
            continue
    return total * os.sysconf("SC_PAGE_SIZE")


def _kill(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _kill_all(group: int) -> None:
    """Ends the group and whatever left it.

    On Linux orphans become the keeper's children (it is their "subreaper"), so that even a
    process that made a session of its own is found.
    """
    _kill(group, signal.SIGKILL)
    deadline = time.monotonic() + 5.0
    while time.monotonic() < deadline:
        for pid in _children(os.getpid()):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.001)
        except ChildProcessError:
            break


class _Keeper:
    """What is watched, and what was printed so far."""

    def __init__(self, parent: int, control: socket.socket, output: int, memory: int) -> None:
        self.parent = parent
        self.control = control
        self.output = output
        self.status = 0  # of COMMAND, once it has ended
        self.memory = memory if os.path.isdir("/proc/self/task") else 0  # noqa: PTH112
        self.transcript = b""
        self.poll = select.poll()
        self.poll.register(control, select.POLLIN)
        self.poll.register(output, select.POLLIN)
        wake_read, wake_write = os.pipe()
        for end in (wake_read, wake_write):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(wake_write)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        self.poll.register(wake_read, select.POLLIN)
        self.wake = wake_read

    def watch(self, group: int) -> str:
        """Waits until the group has to end; the reason why."""
        pause = _MEMORY_POLL_MS if self.memory else _PARENT_POLL_MS
        while True:
            if self.ended(group):
                return "ended"
            for descriptor, _ in self.poll.poll(pause):
                if descriptor == self.wake:
                    os.read(self.wake, 64)
                elif descriptor == self.output:
                    self.take_output()
                elif (reason := self.obey(group)) is not None:
                    return reason
            if os.getppid() != self.parent:
                return "abandoned"
            if self.memory and _resident_bytes(group) > self.memory:
                return "memory"

    def ended(self, leader: int) -> bool:
        """Whether the leader has ended; orphans of its that have are laid to rest."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return True
            if pid == leader:
                self.status = os.waitstatus_to_exitcode(status)
                return True
            if pid == 0:
                return False

    def obey(self, group: int) -> str | None:
        try:
            wish = self.control.recv(1)
        except OSError:
            wish = b""
        if wish == b"I":
            _kill(group, signal.SIGINT)
            return None
        return "killed" if wish else "abandoned"

    def take_output(self) -> bool:
        try:
            chunk = os.read(self.output, 1 << 16)
        except BlockingIOError:
            return False
        if not chunk:  # M2 closed its output; there is nothing more to wait for
            with contextlib.suppress(KeyError):
                self.poll.unregister(self.output)
            return False
        self.transcript = (self.transcript + chunk)[-_TRANSCRIPT_BYTES:]
        return True


def main(arguments: list[str]) -> int:
    """Keeps one command; see the module's text."""
    parent, descriptor, output, memory = map(int, arguments[:4])
    folder, working, close, command = arguments[4], arguments[5], arguments[6], arguments[7:]
    control = socket.socket(fileno=descriptor)
    # The terminal's Ctrl-C is Python's affair; it decides whether M2 is interrupted.
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    os.set_blocking(output, False)
    if not _told_to_go(control):
        _remove(folder)
        return 0
    group = _spawn(command, working, memory, [descriptor, output])
    # M2's ends of the channel must be M2's alone, or its death would not be seen as end of file.
    quiet = os.open(os.devnull, os.O_RDWR)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    for end in filter(None, close.split(",")):
        os.close(int(end))
    keeper = _Keeper(parent, control, output, memory)
    reason = keeper.watch(group)
    if reason != "ended":
        _kill(group, signal.SIGKILL)
        _, status = os.waitpid(group, 0)
        keeper.status = os.waitstatus_to_exitcode(status)
    _kill_all(group)
    while keeper.take_output():
        pass
    _remove(folder)
    try:
        control.sendall(f"{keeper.status} {reason}\n".encode() + keeper.transcript)
        control.shutdown(socket.SHUT_WR)
    except OSError:
        pass
    return 0


def _told_to_go(control: socket.socket) -> bool:
    """Waits for Python's word that the folder is there; False when Python is gone instead."""
    try:
        return control.recv(1) == b"G"
    except OSError:
        return False


def _remove(folder: str) -> None:
    if os.path.lexists(folder):
        import shutil

        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
