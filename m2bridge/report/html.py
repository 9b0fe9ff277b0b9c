"""One layer as one HTML page that needs nothing else: no network, no scripts, no other files."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from m2bridge.geometry.analysis import Analysis
from m2bridge.report.document import analysis_document, json_text
from m2bridge.report.facts import facts, pictures
from m2bridge.report.polynomials import mathml_polynomial

__all__ = ["TEMPLATES", "html_report", "sentence", "words"]

TEMPLATES = Path(__file__).parent / "templates"
_TYPES = {"svg": "image/svg+xml", "png": "image/png"}

#: A JSON document longer than this is not put into the page.
_LONGEST_EMBEDDED = 4_000_000


def html_report(analysis: Analysis) -> str:
    """The page, as text.

    Pictures, the JSON document and the Macaulay2 programs are inside the page; equations are
    MathML. Without matplotlib the page says why it has no pictures.
    """
    layer = analysis.layer
    drawn, missing = pictures(analysis, "svg")
    document = json_text(analysis_document(analysis))
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            **facts(analysis, lambda f: Markup(mathml_polynomial(f, layer))),
            pictures=[(p, _data(_TYPES[p.kind], p.content)) for p in drawn],
            missing=missing,
            document=(
                _data("application/json", document.encode())
                if len(document) <= _LONGEST_EMBEDDED
                else None
            ),
            scripts=[
                (
                    f"{number:02d}-{script.template}.m2",
                    script,
                    _data("text/plain", script.text.encode()),
                )
                for number, script in enumerate(analysis.provenance.scripts, start=1)
            ],
            provenance=analysis.provenance,
        )
    )


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["words"] = words
    environment.filters["sentence"] = sentence
    return environment


def sentence(text: str) -> str:
    """Text that begins with a capital letter and ends with a full stop."""
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


_INDEXED = re.compile(r"\b([A-Za-z])_(?:\{([^{}]*)\}|([0-9a-z]{1,3})\b)")


def words(text: str) -> Markup:
    """Sentences of results, with the signs and indices that plain text writes otherwise."""
    for plain, sign in ((" (x) ", " ⊗ "), ("^T", "ᵀ"), (" >= ", " ≥ "), (" <= ", " ≤ ")):
        text = text.replace(plain, sign)
    indexed = _INDEXED.sub(r"\1<sub>\2\3</sub>", str(escape(text)))
    return Markup(indexed.replace("^2", "²"))


def _data(kind: str, content: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"
