"""Pages that are made from the program, and the build's own steps."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from m2bridge.cli import COMMANDS
from m2bridge.geometry.theorems import verify_theorems
from m2bridge.version import m2bridge_version
from tests.docs.pages import ROOT, examples

DOCS = ROOT / "docs"


def _module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_of_statements_is_what_is_computed() -> None:
    """The rows for d <= 2 on the page, against a fresh computation of these."""
    make = _module("make_theorems")
    fresh = make.page(verify_theorems(2), 2).split("## All rows")[1].strip().splitlines()[2:]
    page = (DOCS / "theorems.md").read_text(encoding="utf-8").split("## All rows")[1]
    assert len(fresh) == 8 * 5
    for row in fresh:
        assert row in page.splitlines()


def test_the_version_to_cite_is_this_one() -> None:
    for name in ("CITATION.cff", "docs/cite.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        found = re.search(r"^\s*version\s*[:=]\s*\{?([\d.]+)", text, re.MULTILINE)
        assert found is not None, name
        assert found[1] == m2bridge_version(), name


def test_the_new_model_is_short() -> None:
    text = (DOCS / "extend.md").read_text(encoding="utf-8")
    code = [x for x in examples(text) if x.language == "python"]
    assert sum(len(x.code.splitlines()) for x in code) < 80


def test_citations_of_the_theory_page_resolve() -> None:
    """Docstrings cite theorems by number and sections by number or title."""
    theory = (DOCS / "theory.md").read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.*)$", theory, re.MULTILINE)
    numbers = {m[1] for h in headings if (m := re.match(r"(?:Theorem|Corollary) (\d+)", h))}
    assert numbers == {str(n) for n in range(1, 11)}
    sections = {m[1] for h in headings if (m := re.match(r"(\d+)\. ", h))}
    for path in sorted((ROOT / "m2bridge").rglob("*.py")):
        text = " ".join(path.read_text(encoding="utf-8").split())
        for found in re.finditer(r"theory[^.;)]{0,60}?(?:theorem|corollary) (\d+)", text, re.I):
            assert found[1] in numbers, (path.name, found[0])
        for found in re.finditer(r"theory(?: page)?,(?: its)? (?:part|sections?) (\d+)", text):
            assert found[1] in sections, (path.name, found[0])
        for found in re.finditer(r'theory(?: page)?,(?: sections)? "([^"]+)"', text):
            assert any(found[1].rstrip(".") in h for h in headings), (path.name, found[0])


def test_every_command_is_in_the_reference() -> None:
    pytest.importorskip("latex2mathml", reason="needs the extra `docs`")
    made = _module("site_hooks").commands_markdown()
    for name in COMMANDS:
        assert re.search(rf"^## {name}$", made, re.MULTILINE)
    assert "### plot slice" in made
    assert "Usage: m2bridge analyze [OPTIONS]" in made
    assert _module("site_hooks").COMMANDS_MARK in (DOCS / "cli.md").read_text(encoding="utf-8")


def test_formulas_become_mathml() -> None:
    pytest.importorskip("latex2mathml", reason="needs the extra `docs`")
    page = _module("site_hooks").on_page_content(
        '<p><span class="arithmatex">\\(a &lt; b\\)</span></p>'
        '<div class="arithmatex">\\[\nx^2\n\\]</div>'
    )
    assert page.count("<math") == 2
    assert "arithmatex" not in page
    assert "&lt;" in page or "&#x0003C;" in page


@pytest.mark.parametrize("path", sorted((DOCS / "notebooks").glob("*.ipynb")), ids=lambda p: p.stem)
def test_notebooks_hold_outputs_and_no_failure(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    outputs = [out for cell in cells if cell["cell_type"] == "code" for out in cell["outputs"]]
    assert outputs
    assert all(out["output_type"] != "error" for out in outputs)


@pytest.mark.m2
@pytest.mark.parametrize("path", sorted((DOCS / "notebooks").glob("*.ipynb")), ids=lambda p: p.stem)
def test_notebooks_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each cell runs anew and prints what the notebook shows."""
    monkeypatch.chdir(tmp_path)
    nbformat = pytest.importorskip("nbformat", reason="needs the extra `docs`")
    nbclient = pytest.importorskip("nbclient", reason="needs the extra `docs`")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    notebook = nbformat.read(path, as_version=4)
    shown = [_printed(cell) for cell in notebook.cells]
    nbclient.NotebookClient(notebook, timeout=240).execute()
    assert [_printed(cell) for cell in notebook.cells] == shown


def _printed(cell: object) -> str:
    outputs = getattr(cell, "outputs", [])
    return "".join(out["text"] for out in outputs if out["output_type"] == "stream")


def test_a_prime_is_raised_once() -> None:
    pytest.importorskip("latex2mathml", reason="needs the extra `docs`")
    formula = _module("site_hooks").mathml(r"d' + x'_i + y^2", block=False)
    assert '<mrow><mi>d</mi><mo lspace="0" rspace="0">&#x02032;</mo></mrow>' in formula
    assert "<msup><mi>y</mi><mn>2</mn></msup>" in formula


def test_what_a_cell_prints_is_one_block() -> None:
    pytest.importorskip("latex2mathml", reason="needs the extra `docs`")
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": ["a\n"]},
        {"output_type": "stream", "name": "stdout", "text": ["b\n"]},
        {"output_type": "execute_result", "data": {"text/plain": ["c"]}},
    ]
    cells = [{"cell_type": "code", "source": ["f()"], "outputs": outputs}]
    page = _module("site_hooks").notebook_markdown({"cells": cells}, "n.ipynb")
    assert "```text\na\nb\n```" in page
    assert "```text\nc\n```" in page
    assert "[Download this notebook](n.ipynb)" in page


def test_what_differs_is_marked() -> None:
    """Stars that are escaped would be shown as stars."""
    page = (DOCS / "theorems.md").read_text(encoding="utf-8")
    exceptions, rows = page.split("## All rows")
    assert "\\*" not in page
    assert rows.count("| **no** |") == exceptions.split("## Exceptions")[1].count("\n| ") - 1
