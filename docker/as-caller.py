#!/usr/bin/env -S python3 -I
"""Runs a command so that what it writes to the output folder belongs to who called compose.

    as-caller COMMAND ARGUMENT...

Compose cannot tell a container who called it, and the engine makes a missing ``out`` folder for
root. So the container starts as root, with no power but to change owners and users and to send
signals, and becomes the owner of the output folder for good before the command starts. A folder
that is root's is first given to the caller, who is the owner of compose.yaml's folder (mounted
read-only at /caller).

If that is root too, the command still does not run as root: it runs as nobody, and what it wrote
is given to root when it ends. If the container was started as another user (``--user``), there is
nothing to do.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

CALLER, OUT = Path("/caller"), Path("/out")
NOBODY = 65534


def become(user: int, group: int) -> None:
    """Gives up root for good: with the user go all capabilities."""
    os.setgroups([])
    os.setgid(group)
    os.setuid(user)
    os.umask(0o022)


def hand_over(before: int, user: int, group: int) -> None:
    """Gives what `before` owns of the output folder, and the folder, to another user.

    Without the power to enter other people's folders, root has to be the owner of a folder while
    it looks inside: so from the top down when taking, and from the bottom up when giving away.
    """
    taking = user == 0
    if taking:
        os.chown(OUT, user, group)
    for folder, folders, files in os.walk(OUT, topdown=taking):
        for name in (*folders, *files):
            path = Path(folder, name)
            if path.lstat().st_uid == before:
                os.chown(path, user, group, follow_symlinks=False)
    os.chown(OUT, user, group)


def run_as_nobody(command: list[str]) -> int:
    """Runs the command as nobody, to whom root's results are lent; returns its status."""
    hand_over(0, NOBODY, NOBODY)
    try:
        with subprocess.Popen(command, preexec_fn=lambda: become(NOBODY, NOBODY)) as process:
            # The terminal's Ctrl-C reaches the command by itself; a stop of the container does not.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, lambda *_: process.terminate())
            status = process.wait()
    finally:
        hand_over(NOBODY, 0, 0)
    return 128 - status if status < 0 else status


def main() -> None:
    command = sys.argv[1:]
    if os.getuid() == 0:
        caller = CALLER.stat()
        if caller.st_uid == 0 and OUT.stat().st_uid in (0, NOBODY):
            sys.exit(run_as_nobody(command))
        if OUT.stat().st_uid == 0:
            os.chown(OUT, caller.st_uid, caller.st_gid)
        owner = OUT.stat()
        become(owner.st_uid, owner.st_gid)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
