"""M2 programs from the templates in ``m2scripts/``: rendered, run, recorded.

Only integers, booleans, nested lists of these, and names made by this library go into a template;
whatever a user typed does not. A rendered script runs in a session and, unchanged, under plain
``M2 --script``: beside it must lie ``M2Bridge.m2``, which ``save_scripts`` puts there.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import jinja2
import sympy

from m2bridge.display import brief
from m2bridge.engine import Session
from m2bridge.engine.cache import AnswerCache, default_cache, script_inputs
from m2bridge.errors import EngineError, WireError
from m2bridge.scripts_folder import SCRIPTS_FOLDER

__all__ = [
    "Journal",
    "RanScript",
    "polynomials_from_answer",
    "recording",
    "render",
    "run_script",
    "save_scripts",
    "without_cache",
]

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_PACKAGE = "M2Bridge.m2"


@dataclass(frozen=True)
class RanScript:
    """One job: the template, the M2 program, M2's answer (JSON text) and the time it took.

    ``cached`` says that the answer was found on disk: the same program, M2 and package gave it.
    """

    template: str
    text: str
    answer: str
    seconds: float
    cached: bool = False

    __repr__ = brief

    @property
    def digest(self) -> str:
        """SHA-256 of the program's text."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass
class Journal:
    """All jobs of one question, in the order in which they ran."""

    scripts: list[RanScript] = field(default_factory=list)


_journal: ContextVar[Journal | None] = ContextVar("m2bridge_journal", default=None)
_uncached: ContextVar[bool] = ContextVar("m2bridge_uncached", default=False)


@contextmanager
def recording() -> Iterator[Journal]:
    """Collects the scripts that are run inside the block; an outer block gets them too."""
    outer, journal = _journal.get(), Journal()
    token = _journal.set(journal)
    try:
        yield journal
    finally:
        _journal.reset(token)
        if outer is not None:
            outer.scripts.extend(journal.scripts)


@contextmanager
def without_cache() -> Iterator[None]:
    """Inside the block every script is run; the disk is neither asked nor written."""
    token = _uncached.set(True)
    try:
        yield
    finally:
        _uncached.reset(token)


def _m2_literal(value: Any) -> str:
    """A parameter as M2 text.

    Raises:
        TypeError: it is not an integer, a boolean, a generated name, or a list of these.
    """
    if isinstance(value, jinja2.Undefined):
        return str(value)  # raises: the template needs a parameter that was not given
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str) and _NAME.fullmatch(value):
        return value
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        # One item a line: M2's parser is slow on very long lines.
        return "{" + ",\n".join(map(_m2_literal, value)) + "}"
    raise TypeError(f"{value!r} must not go into an M2 script; only integers and our own names may")


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(SCRIPTS_FOLDER),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # M2 is not HTML; parameters are checked instead
        finalize=_m2_literal,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render(template: str, **parameters: Any) -> str:
    """The M2 program of a template.

    Args:
        template: the name without ``.m2.j2``.
        parameters: integers, booleans, generated names, nested lists of these.

    Raises:
        TypeError: a parameter of any other kind.
        jinja2.UndefinedError: a parameter that the template needs is missing.
    """
    for value in parameters.values():
        _m2_literal(value)
    return _environment().get_template(f"{template}.m2.j2").render(**parameters)


def run_script(
    session: Session, template: str, *, timeout: float | None = None, **parameters: Any
) -> Any:
    """Renders a template, runs it in the session, and returns its answer as Python data.

    An answer that the same program has given before, on the same M2, is taken from the cache on
    disk (``without_cache`` and the environment's M2BRIDGE_CACHE=off turn that off).

    Raises:
        M2Error, M2TimeoutError, M2MemoryError, M2CrashedError: as ``Session.call``.
        WireError: the answer is not JSON.
    """
    text = render(template, **parameters)
    begun = time.perf_counter()
    cache = AnswerCache(enabled=False) if _uncached.get() else default_cache()
    inputs = script_inputs(text, session.m2_version) if cache.enabled else {}
    known = cache.get(inputs)
    raw = known or session.run_script(text, timeout=timeout).segments[0]
    try:
        answer = raw.decode("utf-8")
        data = json.loads(answer)
    except ValueError as error:
        raise WireError(f"the answer of script {template!r} is not JSON: {error}") from error
    if known is None:
        cache.put(inputs, raw)
    seconds = time.perf_counter() - begun
    journal = _journal.get()
    if journal is not None:
        journal.scripts.append(RanScript(template, text, answer, seconds, known is not None))
    return data


def save_scripts(scripts: Sequence[RanScript], folder: Path) -> list[Path]:
    """Writes the programs, and beside them what plain ``M2 --script`` needs to run them.

    Programs that an earlier run left in the folder are removed.

    Raises:
        EngineError: the folder cannot be written.
    """
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for earlier in folder.glob("[0-9][0-9]-*.m2"):
            earlier.unlink()  # of another run: one folder tells of one run
        shutil.copyfile(SCRIPTS_FOLDER / _PACKAGE, folder / _PACKAGE)
        for number, script in enumerate(scripts, start=1):
            path = folder / f"{number:02d}-{script.template}.m2"
            path.write_text(script.text, encoding="utf-8")
            written.append(path)
    except OSError as error:
        raise EngineError(f"scripts cannot be written to {folder}: {error}") from error
    return written


# Polynomials in answers ---------------------------------------------------------


def polynomials_from_answer(
    answers: Sequence[Mapping[str, Any]], symbols: Sequence[sympy.Symbol]
) -> tuple[sympy.Poly, ...]:
    """The polynomials of a JSON answer: primitive over ZZ, leading coefficient positive."""
    return tuple(_polynomial(answer, symbols) for answer in answers)


def _polynomial(answer: Mapping[str, Any], symbols: Sequence[sympy.Symbol]) -> sympy.Poly:
    pairs = zip(answer["exponents"], answer["coefficients"], strict=True)
    terms = {tuple(exponents): _rational(text) for exponents, text in pairs}
    polynomial = sympy.Poly.from_dict(terms, *symbols, domain=sympy.QQ)
    if polynomial.is_zero:
        return polynomial
    primitive = polynomial.clear_denoms(convert=True)[1].primitive()[1]
    return -primitive if primitive.LC() < 0 else primitive


def _rational(text: str) -> sympy.Rational:
    numerator, _, denominator = text.partition("/")
    return sympy.Rational(int(numerator), int(denominator or 1))
