"""The keeper: a small process that stands between Python and Macaulay2 and outlives neither.

Run as a program (never imported by the library):

    python keeper.py CONTROL_FD MEMORY_BYTES FOLDER COMMAND...

It starts COMMAND in a process group of its own, and then waits for one of:
- a command on the control socket: ``I`` interrupts the group, ``K`` kills it;
- the end of the control socket: Python is gone, however it went; the group is killed;
- the group's resident memory above MEMORY_BYTES (0: no limit): the group is killed;
- the end of COMMAND itself.
Whatever happened, the rest of the group is killed, FOLDER is removed, and one line
``STATUS REASON`` is sent back. So M2 can neither be orphaned nor be left as a zombie.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys

_MEMORY_POLL_MS = 50
_PR_SET_PDEATHSIG = 1


def _die_with_parent() -> None:
    """Linux: should the keeper itself be killed, its child is killed too."""
    if sys.platform != "linux":
        return
    import ctypes

    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _spawn(command: list[str], control: socket.socket) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        control.close()
        os.setsid()
        _die_with_parent()
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"cannot run {command[0]}: {error.strerror}\n".encode())
    finally:
        os._exit(127)


def _resident_bytes(group: int) -> int:
    """Resident memory of all processes of the group (they share the session of its leader)."""
    total = 0
    page = os.sysconf("SC_PAGE_SIZE")
    for entry in os.listdir("/proc"):  # noqa: PTH208 - pathlib is slow to import here
        if not entry.isdigit():
            continue
        try:
            if os.getpgid(int(entry)) != group:
                continue
            with open(f"/proc/{entry}/statm", "rb") as statm:  # noqa: PTH123
                total += int(statm.read().split()[1]) * page
        except (OSError, IndexError, ValueError):
            continue
    return total


def _kill(group: int, number: int) -> None:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        pass


def _watch(group: int, control: socket.socket, memory: int) -> str:
    """Waits until the group has to end; the reason why."""
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.set_wakeup_fd(wake_write)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    poll = select.poll()
    poll.register(control, select.POLLIN)
    poll.register(wake_read, select.POLLIN)
    watch_memory = memory > 0 and os.path.isdir("/proc/self")  # noqa: PTH112
    while True:
        done = os.waitid(os.P_PID, group, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if done is not None:
            return "ended"
        for descriptor, _ in poll.poll(_MEMORY_POLL_MS if watch_memory else None):
            if descriptor == wake_read:
                os.read(wake_read, 64)
                continue
            try:
                wish = control.recv(1)
            except OSError:
                wish = b""
            if wish == b"I":
                _kill(group, signal.SIGINT)
            else:
                return "killed" if wish else "abandoned"
        if watch_memory and _resident_bytes(group) > memory:
            return "memory"


def main(arguments: list[str]) -> int:
    """Keeps one command; see the module's text."""
    control = socket.socket(fileno=int(arguments[0]))
    memory, folder, command = int(arguments[1]), arguments[2], arguments[3:]
    # The terminal's Ctrl-C is Python's affair; it decides whether M2 is interrupted.
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    group = _spawn(command, control)
    # M2's ends of the channel must be M2's alone, or its death would not be seen as end of file.
    os.closerange(3, control.fileno())
    os.closerange(control.fileno() + 1, 256)
    reason = _watch(group, control, memory)
    _kill(group, signal.SIGKILL)
    _, status = os.waitpid(group, 0)
    if folder:
        import shutil

        shutil.rmtree(folder, ignore_errors=True)
    try:
        control.sendall(f"{os.waitstatus_to_exitcode(status)} {reason}\n".encode())
    except OSError:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
