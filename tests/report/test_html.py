"""The pages about one layer: whole, without network, and saying what the analysis says."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path

import pytest
import sympy
from click.testing import CliRunner

from m2bridge.attention.layer import Layer
from m2bridge.cli import _cli
from m2bridge.geometry.analysis import Analysis, analyze
from m2bridge.report.document import analysis_document
from m2bridge.report.html import html_report, words
from m2bridge.report.latex import escaped, latex_report
from m2bridge.report.polynomials import MOST_TERMS, latex_polynomial, mathml_polynomial

VOID = {"meta", "link", "img", "br"}


class Page(HTMLParser):
    """What a page holds; an element that is closed in the wrong place is an error."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.references: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        given = dict(attrs)
        for name in ("src", "href"):
            if given.get(name) is not None:
                self.references.append((given[name] or "", given))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


@pytest.fixture(scope="module")
def analysis(session: object) -> Analysis:
    return analyze(Layer(2, 1, 2), session)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def page(analysis: Analysis) -> Page:
    return Page(html_report(analysis))


@pytest.mark.m2
def test_nothing_is_asked_from_elsewhere(analysis: Analysis, page: Page) -> None:
    text = html_report(analysis)
    assert page.references
    assert all(reference.startswith("data:") for reference, _ in page.references)
    assert "http" not in text.replace("http-equiv", "")
    assert "script" not in page.tags
    assert "default-src 'none'" in text
    assert 'name="viewport"' in text


@pytest.mark.m2
def test_the_page_says_what_the_analysis_says(analysis: Analysis, page: Page) -> None:
    assert page.tags.count("img") == 2  # strata and slice
    assert page.tags.count("math") > 20
    assert "1 of degree 4" in page.words
    assert "[4;44;22]" in page.words
    for stratum in analysis.strata:
        assert str(tuple(stratum.type)) in page.words
    assert "Jacobian criterion" in page.words
    assert "proved" in page.words


@pytest.mark.m2
def test_downloads_are_the_files(analysis: Analysis, page: Page) -> None:
    files = {
        str(given["download"]): base64.b64decode(reference.split(",", 1)[1]).decode()
        for reference, given in page.references
        if "download" in given
    }
    assert json.loads(files.pop("report.json")) == json.loads(
        json.dumps(analysis_document(analysis))
    )
    assert list(files.values()) == [script.text for script in analysis.provenance.scripts]
    assert all(name.endswith(".m2") for name in files)


@pytest.mark.m2
@pytest.mark.parametrize("sizes", [(1, 1, 1, 2), (2, 1, 1, 1), (2, 2, 1, 2)])
def test_other_layers(session: object, sizes: tuple[int, int, int, int]) -> None:
    """No equations, no singular points, one token, several outputs."""
    found = analyze(Layer(*sizes), session)  # type: ignore[arg-type]
    page = Page(html_report(found))
    assert ("There are none." in page.words) is (found.singular_locus.dimension < 0)
    latex = latex_report(found)
    assert latex.count(r"\begin{") == latex.count(r"\end{")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the command writes."""
    out = tmp_path_factory.mktemp("report")
    arguments = ["report", "--d", "2", "--d-out", "1", "--a", "2", "--out", str(out)]
    done = CliRunner().invoke(_cli, arguments)
    assert done.exit_code == 0, done.output
    return out


@pytest.mark.m2
def test_the_command_writes_its_files(folder: Path) -> None:
    for name in ("report.html", "report.tex", "report.json", "strata.pdf", "slice.png"):
        assert (folder / name).stat().st_size > 1000
    Page((folder / "report.html").read_text(encoding="utf-8"))
    assert json.loads((folder / "report.json").read_text(encoding="utf-8"))["degree"] == 4
    assert list((folder / "scripts").glob("*.m2"))


def test_the_command_wants_a_folder_and_a_model(tmp_path: Path) -> None:
    assert (
        CliRunner().invoke(_cli, ["report", "--d", "2", "--d-out", "1", "--a", "2"]).exit_code == 2
    )
    wrong = ["report", "--d", "0", "--d-out", "1", "--a", "2", "--out", str(tmp_path / "x")]
    assert CliRunner().invoke(_cli, wrong).exit_code == 2
    assert not (tmp_path / "x").exists()


@pytest.mark.m2
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex here")
def test_latex_compiles(folder: Path) -> None:
    compiled = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "report.tex"],
        cwd=folder,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
    )
    assert compiled.returncode == 0, compiled.stdout[-2000:]
    assert "undefined" not in compiled.stdout


def test_polynomials_are_written_exactly() -> None:
    layer = Layer(2, 1, 2)
    x, y, *_ = layer.symbols
    f = sympy.Poly(sympy.Rational(-3, 4) * x**2 * y - y + 1, *layer.symbols)
    assert (
        latex_polynomial(f, layer) == r"-\tfrac{3}{4}\,T_{0;00;0}^{2}\,T_{0;00;1} - T_{0;00;1} + 1"
    )
    shown = mathml_polynomial(f, layer)
    assert _value(shown) == ["-3/4 0;00;0^2 0;00;1", "-1 0;00;1", "1"]
    assert "0" in latex_polynomial(sympy.Poly(0, *layer.symbols), layer)


def _value(mathml: str) -> list[str]:
    """Reads our MathML back: one text per term, coefficient first."""
    from xml.etree import ElementTree

    out = []
    for term in ElementTree.fromstring(f"<a>{mathml}</a>").iter("mrow"):
        value, factors = Fraction(1), []
        for part in term:
            if part.tag == "mo":
                value = -value if part.text == "−" else value
            elif part.tag == "mn":
                value *= int(part.text or "")
            elif part.tag == "mfrac":
                value *= Fraction(int(part[0].text or ""), int(part[1].text or ""))
            else:
                power = "" if part.tag == "msub" else f"^{part[2].text}"
                factors.append(f"{part[1].text}{power}")
        out.append(" ".join([str(value), *factors]))
    return out


@pytest.mark.m2
def test_some_equations_are_not_called_all(session: object) -> None:
    """The equations found are proved; that they are all is not."""
    found = analyze(Layer(2, 2, 1), session, max_degree=2)  # type: ignore[arg-type]
    assert found.ideal is not None
    assert found.ideal.complete is not True
    page = Page(html_report(found))
    assert "all equations proved" not in page.words
    assert "the equations found" in page.words


def test_long_polynomials_are_cut_off_and_say_so() -> None:
    layer = Layer(3, 2, 2)
    f = sympy.Poly(sum(layer.symbols) * sum(layer.symbols[:3]), *layer.symbols)
    rest = len(f.terms()) - MOST_TERMS
    assert rest > 0
    assert f"{rest} more terms" in mathml_polynomial(f, layer)
    assert f"{rest} more terms" in latex_polynomial(f, layer)


def test_one_token_has_other_coordinates() -> None:
    layer = Layer(2, 1, 1, 1)
    assert latex_polynomial(sympy.Poly(layer.symbols[1], *layer.symbols), layer) == "T_{0;001}"


def test_text_is_safe_in_latex_and_readable_in_html() -> None:
    assert escaped("a_b & 50% {x} --d") == r"a\_b \& 50\% \{x\} -{}-d"
    assert escaped("\\input{x}") == r"\textbackslash{}input\{x\}"
    assert words("u (x) Q, rank <= 2") == "u ⊗ Q, rank ≤ 2"
    assert words("T_{i;pq;r}^2 - x_0^2, rank_v") == ("T<sub>i;pq;r</sub>² - x<sub>0</sub>², rank_v")
    assert words("<b> & K_1") == "&lt;b&gt; &amp; K<sub>1</sub>"
