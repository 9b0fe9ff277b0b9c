"""``Macaulay2``: a session, and the rings that live in it."""

from __future__ import annotations

import json
import threading
import weakref
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, NoReturn

from sympy.polys.domains import QQ

from m2bridge.algebra.ring import Ring
from m2bridge.algebra.wire import decode_polynomials, encode_polynomials
from m2bridge.engine import Answer, Engine, Session, open_session
from m2bridge.errors import WireError
from m2bridge.scripts_folder import SCRIPTS_FOLDER

__all__ = ["Macaulay2", "Remote", "Reply"]

_PACKAGE = "M2Algebra.m2"
_LOADING_SECONDS = 60.0


@dataclass
class _Era:
    """What one M2 process holds; another process holds nothing of it."""

    generation: int
    rings: dict[Any, int] = field(default_factory=dict)
    # filled by the garbage collector, from any thread; told to M2 with the next question
    released: deque[int] = field(default_factory=deque)


@dataclass
class _Holdings:
    """What everybody who asks one session shares: whose turn it is, and what its M2 holds."""

    lock: threading.RLock = field(default_factory=threading.RLock)
    era: _Era = field(default_factory=lambda: _Era(0))


_holdings: weakref.WeakKeyDictionary[Session, _Holdings] = weakref.WeakKeyDictionary()


class Remote:
    """An object's number in one M2 process. When nobody holds it, M2 may forget the object."""

    __slots__ = ("era", "number")

    def __init__(self, era: _Era, number: int) -> None:
        self.era = era
        self.number = number

    def __del__(self) -> None:
        self.era.released.append(self.number)


@dataclass(frozen=True)
class Reply:
    """An answer: JSON data, polynomials, and the process whose numbers the data may hold."""

    data: Any
    elements: list[Any]
    era: _Era

    def remote(self, number: int) -> Remote:
        """The handle of an object that M2 made for this answer."""
        return Remote(self.era, number)


class Macaulay2:
    """A Macaulay2 that speaks sympy. M2 starts at the first question.

    Args:
        engine: ``"local"`` (the default), ``"docker"``, or an engine object.
        path: the M2 executable, for the local engine.
        memory: a limit such as ``"4G"`` for M2; reaching it is ``M2MemoryError``.
        timeout: seconds that one question may take; passing it is ``M2TimeoutError``.
        session_timeout: seconds that all questions together may take.

    Raises:
        ValueError, TypeError: bad arguments.
        M2NotFoundError, DockerError: there is no such Macaulay2.

    Use it as a context manager, or call ``close``. Rings, ideals and matrices survive the end of
    the M2 process: whatever the next question needs is sent again.
    """

    def __init__(
        self,
        engine: str | Engine | None = None,
        *,
        path: Any = None,
        memory: str | int | None = None,
        timeout: float | None = None,
        session_timeout: float | None = None,
    ) -> None:
        session = open_session(
            engine, path=path, memory=memory, timeout=timeout, session_timeout=session_timeout
        )
        self._attach(session)

    @classmethod
    def on(cls, session: Session) -> Macaulay2:
        """A Macaulay2 that asks a session which is open already, such as that of a pool's job.

        Several may ask one session. ``close`` closes the session; a pool does that by itself.

        Raises:
            TypeError: it is no Session.
        """
        if not isinstance(session, Session):
            raise TypeError(f"a session of m2bridge is needed, not {session!r}")
        found = cls.__new__(cls)
        found._attach(session)
        return found

    def _attach(self, session: Session) -> None:
        self._session = session
        self._held = _holdings.setdefault(session, _Holdings())

    def __repr__(self) -> str:
        return repr(self._session).replace("Session", "Macaulay2", 1)

    @property
    def session(self) -> Session:
        """The session below: ``run_script``, ``call``, ``generation``, ``engine``."""
        return self._session

    @property
    def version(self) -> str:
        """M2's own version; starts it if need be."""
        return self._session.m2_version

    def eval(self, code: str, *, timeout: float | None = None) -> str:
        """Evaluates raw M2 code and gives the last value's text: ``eval("2+2") == "4"``.

        The text is empty after a semicolon. ``session.eval`` gives an ``Answer``, which has the
        ``text`` and what was printed, ``output``.

        Raises:
            TypeError: the code is no str.
            M2Error: M2 said no; its message, the place and the printed output are attributes.
            M2TimeoutError, M2MemoryError, M2CrashedError: the process is gone, with its state.
        """
        return self._session.eval(code, timeout=timeout).text

    def run_script(self, script: str, *, timeout: float | None = None) -> Answer:
        """Runs a script that ends with ``bridgeAnswer``; see ``Session.run_script``."""
        return self._session.run_script(script, timeout=timeout)

    def ring(self, symbols: Any, domain: Any = QQ, order: Any = "grevlex") -> Ring:
        """A polynomial ring.

        Args:
            symbols: names in one string (``"x y z"``), or a sequence of sympy Symbols, or none.
            domain: sympy's ``QQ``, ``ZZ``, ``GF(p)``, or ``QQ.algebraic_field(...)``.
            order: ``"grevlex"``, ``"lex"``, ``"grlex"``, ``("elimination", k)``,
                ``("weights", [...])`` or ``("block", [("grevlex", 2), ("lex", 1)])``.

        Raises:
            ValueError, TypeError: M2 has no such ring; said before M2 is asked.
        """
        return Ring(self, symbols, domain, order)

    def interrupt(self) -> bool:
        """Stops the question that another thread waits for; it raises M2InterruptedError there."""
        return self._session.interrupt()

    def close(self) -> None:
        """Ends M2. May be called again."""
        self._session.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a session of Macaulay2 is a process; it is not copied or pickled")

    def __enter__(self) -> Macaulay2:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # ------------------------------------------------------------------ questions of the algebra

    def ask(
        self,
        operation: str,
        ring: Ring,
        arguments: Sequence[Any] = (),
        elements: Sequence[Any] | None = None,
        *,
        answer_ring: Ring | None = None,
    ) -> Reply:
        """One operation of M2Algebra.m2.

        Args:
            operation: its name there.
            ring: the ring of the polynomials that are sent.
            arguments: nested lists of integers, and of rings, ideals, matrices and maps, which
                become their numbers.
            elements: ``PolyElement`` objects of ``ring.poly_ring``.
            answer_ring: the ring of the polynomials that come back, if it is another one.
        """
        with self._held.lock:
            self._ensure_era()
            integers = [self._integers(argument) for argument in arguments]
            return self._call(
                operation, self._ring_number(ring), integers, ring, elements, answer_ring
            )

    def _call(
        self,
        operation: str,
        ring_number: int,
        integers: list[Any],
        ring: Ring,
        elements: Sequence[Any] | None,
        answer_ring: Ring | None,
    ) -> Reply:
        released = [self._held.era.released.popleft() for _ in range(len(self._held.era.released))]
        text = _braces([ring_number, released, integers])
        segments = [operation.encode("ascii"), text.encode("ascii")]
        if elements is not None:
            segments += encode_polynomials(elements, ring.poly_ring)
        try:
            answer = self._session.call("algebra", segments)
        except BaseException:
            self._held.era.released.extend(released)  # in doubt: forgetting twice does no harm
            raise
        answer_of = (answer_ring or ring).poly_ring
        try:
            data = json.loads(answer.segments[0])
        except ValueError as error:
            raise WireError(f"Macaulay2 answered {operation} with no JSON: {error}") from error
        return Reply(data, decode_polynomials(answer.segments[1:], answer_of), self._held.era)

    def _ensure_era(self) -> None:
        """Starts M2 if it does not run, and gives a new process the operations of the algebra."""
        self._session.start()
        generation = self._session.generation
        if self._held.era.generation != generation:
            text = (SCRIPTS_FOLDER / _PACKAGE).read_text(encoding="utf-8")
            # the user's limit is for the user's questions
            limit = None if self._session.timeout is None else _LOADING_SECONDS
            self._session.run_script(text + "\nbridgeAnswer true\n", timeout=limit)
            self._held.era = _Era(generation)

    def _ring_number(self, ring: Ring) -> int:
        """The number of a ring of this shape; M2 knows no names, so equal shapes are one ring."""
        shape = ring.shape
        number = self._held.era.rings.get(shape)
        if number is None:
            number = int(self._call("ring", 0, list(shape), ring, None, None).data)
            self._held.era.rings[shape] = number
        return number

    def _integers(self, argument: Any) -> Any:
        """Arguments with objects replaced by their numbers; what M2 does not hold yet is sent."""
        if isinstance(argument, list | tuple):
            return [self._integers(part) for part in argument]
        if isinstance(argument, int):
            return argument
        if isinstance(argument, Ring):
            return self._ring_number(argument)
        remote = argument._remote
        if remote is None or remote.era is not self._held.era:
            operation, ring, arguments, elements = argument._sending()
            integers = [self._integers(part) for part in arguments]
            reply = self._call(operation, self._ring_number(ring), integers, ring, elements, None)
            argument._remote = remote = reply.remote(int(reply.data))
        return remote.number


def _braces(data: Any) -> str:
    """Nested lists of integers as M2 writes them; the lists are never deep."""
    if isinstance(data, list | tuple):
        return "{" + ",".join(map(_braces, data)) + "}"
    return str(int(data))
