"""Results at the prompt, in brief, and in notebooks: small tables of escaped HTML, without scripts.

Classes give rows of plain values; what a value looks like is decided here. Nothing of m2bridge is
imported, so that every layer may use this, the engine included.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from fractions import Fraction
from html import escape
from math import prod
from typing import Any

__all__ = [
    "MOST_LISTED",
    "MOST_ROWS",
    "Html",
    "brief",
    "counts",
    "facts_html",
    "latex_lines",
    "listed",
    "polynomials_html",
    "sections_html",
    "settled",
    "size",
    "table_html",
]

MOST_ROWS = 60
"""Longer tables are cut off, and say so."""

MOST_LISTED = 24
"""Longer lists inside a sentence or a cell are cut off, and say so."""

_MOST_POLYNOMIALS = 6
_MOST_TERMS = 30
# Notebooks set everything to the right, sentences too.
_CELL = 'style="text-align: left; vertical-align: top"'
_SHORT = 24
_LONGEST_LINE = 60
_LONG_CAPTION = 'style="text-align: left; min-width: 30em"'
_NAME = 'style="text-align: left; vertical-align: top; white-space: nowrap"'


_LONGEST = 120
_MOST_ENTRIES = 16


def brief(result: Any) -> str:
    """The ``repr`` of a result that fits on a screen: what is long is named by its type and size.

    For the body of a dataclass: ``__repr__ = brief``.
    """
    shown = (f"{f.name}={_brief(getattr(result, f.name))}" for f in fields(result) if f.repr)
    return f"{type(result).__name__}({', '.join(shown)})"


def _brief(value: object) -> str:
    if isinstance(value, str):
        return repr(value if len(value) <= _LONGEST else value[: _LONGEST - 3] + "...")
    if isinstance(value, type) or not _small(value):
        return _by_size(value)
    text = repr(value.tolist() if hasattr(value, "tolist") else value)
    return text if len(text) <= _LONGEST else _by_size(value)


def _small(value: object) -> bool:
    """Is this quick to write, and likely to be short?"""
    if value is None or isinstance(value, bool | float | complex):
        return True
    if isinstance(value, int | Fraction) or getattr(value, "is_Rational", False) is True:
        return _few_digits(value)
    if isinstance(value, str):
        return len(value) <= _LONGEST
    if isinstance(value, Mapping):
        return len(value) <= _MOST_ENTRIES and all(map(_small, (*value, *value.values())))
    if isinstance(value, tuple | list | set | frozenset):
        return len(value) <= _MOST_ENTRIES and all(map(_small, value))
    if hasattr(value, "tolist") and hasattr(value, "shape"):
        return bool(prod(value.shape) <= _MOST_ENTRIES)
    if is_dataclass(value):
        return all(_small(getattr(value, f.name)) for f in fields(value) if f.repr)
    return type(value).__module__.startswith("m2bridge.")


def _few_digits(value: Any) -> bool:
    """For a rational number, sympy's too: of very many digits Python refuses to make a text."""
    return all(int(n).bit_length() <= 3 * _LONGEST for n in (value.numerator, value.denominator))


def _by_size(value: object) -> str:
    kind = type(value).__name__
    if isinstance(value, Mapping):
        return f"<{kind} of {len(value)}>"
    if isinstance(value, tuple | list) and value:
        kinds = {type(item).__name__ for item in value}
        return f"<{len(value)} {kinds.pop() if len(kinds) == 1 else 'objects'}>"
    if hasattr(value, "shape") and not isinstance(value, type):
        return f"<{kind} {' x '.join(str(n) for n in value.shape)}>"
    return f"<{kind}>"


class Html(str):
    """Text that is HTML already; everything else is escaped."""

    __slots__ = ()


def _shown(value: object) -> str:
    if isinstance(value, Html):
        return str(value)
    if value is None or isinstance(value, bool):
        return {True: "yes", False: "no", None: "not settled"}[value]
    return escape(str(value))


def listed(items: Sequence[object], otherwise: str = "none", most: int = MOST_LISTED) -> str:
    """``"a, b, c and 5 more"``: the first of many, and how many there are beside; never all."""
    text = ", ".join(str(item) for item in items[:most])
    left = len(items) - most
    return f"{text} and {left} more" if left > 0 else text or otherwise


def settled(value: object, reason: str) -> object:
    """The value itself, or "not settled" with the reason for None."""
    return value if value is not None else f"not settled: {reason}" if reason else None


def size(dimension: int) -> str:
    """A dimension, where -1 is that of nothing."""
    return "empty" if dimension < 0 else str(dimension)


def counts(by_degree: Mapping[int, int] | None) -> str:
    """Degree -> how many, in words; None where nothing was computed."""
    if by_degree is None:
        return "not computed"
    return ", ".join(f"{n} of degree {k}" for k, n in sorted(by_degree.items()) if n) or "none"


def facts_html(title: str, rows: Iterable[tuple[str, object]]) -> Html:
    """A table of names and values.

    Args:
        title: what it is about; no title for "".
        rows: name and value. True, False and None become "yes", "no" and "not settled".
    """
    body = "".join(
        f'<tr><th scope="row" {_NAME}>{escape(name)}</th><td {_CELL}>{_shown(value)}</td></tr>'
        for name, value in rows
    )
    return Html(f"<table>{_caption(title)}<tbody>{body}</tbody></table>")


def table_html(
    header: Sequence[str],
    rows: Sequence[Sequence[object]],
    title: str = "",
    total: int | None = None,
) -> Html:
    """A table with a header; long ones are cut off, and say so.

    Args:
        header: the names of the columns.
        rows: at least the first ``MOST_ROWS`` of them.
        title: what it is about; no title for "".
        total: how many rows there are, where ``rows`` are only the first.
    """
    head = "".join(f'<th scope="col" {_NAME}>{escape(name)}</th>' for name in header)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows[:MOST_ROWS])
    left = (len(rows) if total is None else total) - MOST_ROWS
    if left > 0:
        more = f"and {left} more rows"
        body += f'<tr><td colspan="{len(header)}" {_CELL}>{more}</td></tr>'
    columns = f"<thead><tr>{head}</tr></thead>"
    return Html(f"<table>{_caption(title)}{columns}<tbody>{body}</tbody></table>")


def _cell(value: object) -> str:
    text = _shown(value)
    style = _NAME if len(text) <= _SHORT else _CELL  # a type (1, 2, 2) is not broken
    return f"<td {style}>{text}</td>"


def _caption(title: str) -> str:
    # Without a style a caption is only as wide as its table.
    style = _NAME if len(title) <= _LONGEST_LINE else _LONG_CAPTION
    return f"<caption {style}><strong>{escape(title)}</strong></caption>" if title else ""


def sections_html(*parts: tuple[str, str] | str) -> Html:
    """HTML one after another; a part may be a pair of a heading and its HTML."""
    inner = "".join(
        part if isinstance(part, str) else f"<h4>{escape(part[0])}</h4>{part[1]}" for part in parts
    )
    return Html(f"<div>{inner}</div>")


def polynomials_html(polynomials: Sequence[Any], total: int | None = None) -> Html:
    """The first sympy polynomials of a list, long ones cut off, each on a line of its own.

    Args:
        polynomials: ``Poly``; only those that are shown are taken from the sequence.
        total: how many there are, where ``polynomials`` is only a selection.
    """
    shown = min(len(polynomials), _MOST_POLYNOMIALS)
    lines = [f"<code>{escape(_polynomial(polynomials[k]))}</code>" for k in range(shown)]
    left = (len(polynomials) if total is None else total) - shown
    if left > 0:
        lines.append(f"and {left} more")
    return Html("<br/>".join(lines) or "none")


def _polynomial(polynomial: Any) -> str:
    terms = polynomial.terms()
    if len(terms) <= _MOST_TERMS:
        return str(polynomial.as_expr())
    first = polynomial.from_dict(dict(terms[:_MOST_TERMS]), *polynomial.gens)
    return f"{first.as_expr()} + ... ({len(terms)} terms)"


def latex_lines(lines: Iterable[str]) -> str:
    """Formulas one below the other, as a notebook's LaTeX."""
    return r"$\displaystyle \begin{array}{l} " + r" \\ ".join(lines) + r" \end{array}$"
