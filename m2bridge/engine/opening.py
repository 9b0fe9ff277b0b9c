"""From what a user says (``engine="docker"``, ``memory="4G"``) to a session."""

from __future__ import annotations

import os
import re

from m2bridge.engine.channel import Engine, Limits, checked_timeout
from m2bridge.engine.discovery import find_m2
from m2bridge.engine.local import LocalEngine
from m2bridge.engine.session import Session

__all__ = ["ENGINES", "memory_bytes", "open_engine", "open_session"]

ENGINES = ("local", "docker")

_MEMORY = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?", re.IGNORECASE)
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_SMALLEST_MEMORY = 128 * 2**20  # M2 alone needs about this much to start


def memory_bytes(memory: str | int | None) -> int | None:
    """A memory limit in bytes, from ``"4G"``, ``"512M"`` or a number of bytes.

    Raises:
        ValueError, TypeError: it is not of this form, or too small for M2 to start.
    """
    if memory is None:
        return None
    if isinstance(memory, bool) or not isinstance(memory, int | str):
        raise TypeError(f"a memory limit is a number of bytes or a text like '4G', not {memory!r}")
    if isinstance(memory, str):
        match = _MEMORY.fullmatch(memory.strip())
        if match is None:
            raise ValueError(f"a memory limit is a text like '4G' or '512M', not {memory!r}")
        size = int(float(match[1]) * _UNITS[match[2].lower()])
    else:
        size = memory
    if size < _SMALLEST_MEMORY:
        raise ValueError(
            f"a memory limit of {memory!r} is too small: Macaulay2 needs at least "
            f"{_SMALLEST_MEMORY // 2**20}M to start"
        )
    return size


def open_engine(
    engine: str | Engine | None = None, path: str | os.PathLike[str] | None = None
) -> Engine:
    """The engine of this name; ``path`` is an M2 executable for the local one.

    Raises:
        ValueError: no engine has this name.
        TypeError: it is neither a name nor an engine.
        M2NotFoundError, DockerError: it cannot be used here.
    """
    if engine is not None and not isinstance(engine, str):
        if not (callable(getattr(engine, "start", None)) and hasattr(engine, "description")):
            raise TypeError(
                f"an engine is {' or '.join(map(repr, ENGINES))}, or an engine object such as"
                f" ReplayEngine(...), not {engine!r}"
            )
        return engine
    name = "local" if engine is None else engine
    if name == "local":
        return LocalEngine(find_m2(path))
    if path is not None and name in ENGINES:
        raise ValueError(f"a path to M2 goes with the local engine, not with {name!r}")
    if name == "docker":
        from m2bridge.engine.docker import DockerEngine

        return DockerEngine()
    raise ValueError(f"unknown engine {name!r}; there are {', '.join(ENGINES)}")


def open_session(
    engine: str | Engine | None = None,
    *,
    path: str | os.PathLike[str] | None = None,
    memory: str | int | None = None,
    timeout: float | None = None,
    session_timeout: float | None = None,
) -> Session:
    """A session on this engine; arguments are checked before any M2 is looked for.

    Args:
        engine: ``"local"`` (the default), ``"docker"``, or an engine object.
        path: the M2 executable of the local engine.
        memory: what M2 may take: ``"4G"``, ``"512M"``, or a number of bytes.
        timeout: seconds for each call.
        session_timeout: seconds for all calls together.

    Raises:
        ValueError, TypeError: bad arguments.
        M2NotFoundError, DockerError: the engine cannot be used here.
    """
    limits = Limits(memory=memory_bytes(memory))
    checked_timeout(timeout)
    checked_timeout(session_timeout)
    return Session(
        open_engine(engine, path),
        limits=limits,
        timeout=timeout,
        session_timeout=session_timeout,
    )
