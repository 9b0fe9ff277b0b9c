"""One layer as a LaTeX document."""

from __future__ import annotations

from collections.abc import Sequence

import jinja2

from m2bridge.geometry.analysis import Analysis
from m2bridge.report.facts import facts
from m2bridge.report.html import TEMPLATES, sentence
from m2bridge.report.polynomials import latex_polynomial

__all__ = ["escaped", "latex_report"]

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "§": r"\S{}",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "⊗": r"$\otimes$",
    "×": r"$\times$",
    "φ": r"$\varphi$",
    "–": r"\textendash{}",
    "…": r"\ldots{}",
    **{sign: f"\\{sign}" for sign in "&%$#_"},
}


def latex_report(analysis: Analysis, pictures: Sequence[tuple[str, str]] = ()) -> str:
    """The document, as text; it compiles with pdflatex, xelatex or lualatex.

    Args:
        analysis: the layer.
        pictures: (file name, caption) of pictures that will lie beside the document.
    """
    layer = analysis.layer
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        # braces and percent signs are LaTeX's own
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    environment.filters["tex"] = escaped
    environment.filters["sentence"] = sentence
    return environment.get_template("report.tex.j2").render(
        **facts(analysis, lambda f: latex_polynomial(f, layer)),
        pictures=list(pictures),
        provenance=analysis.provenance,
        scripts=[
            f"{number:02d}-{script.template}.m2"
            for number, script in enumerate(analysis.provenance.scripts, start=1)
        ],
    )


def escaped(text: object) -> str:
    """Text that LaTeX sets as it is; signs without a name in LaTeX become question marks."""
    plain = str(text).replace(" (x) ", " ⊗ ")
    typeset = "".join(_SPECIAL.get(c, c if c.isascii() else "?") for c in plain)
    return typeset.replace("--", "-{}-")  # no ligatures in options of commands
