"""Links: those of the README, and the check of the built site that `make docs` makes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

GOOD = {
    "index.html": """<link rel="stylesheet" href="assets/site.css"><h1 id="top">m2bridge</h1>
        <a href="#top">up</a> <a href="sub/page.html#t%C3%A9">page</a> <a href="sub/">folder</a>
        <img src="data:image/png;base64,AA=="> <a href="https://example.org/nothing">away</a>
        <link rel="canonical" href="https://example.org/"> <a href="">here</a>""",
    "sub/page.html": """<a name="té"></a> <a href="../index.html#top">back</a>
        <a href="/index.html">root</a> <a href="data.ipynb" download>data</a>""",
    "sub/index.html": "<p>folder</p>",
    "sub/data.ipynb": "{}",
    "assets/site.css": "",
}


def check(site: Path, pages: dict[str, str]) -> subprocess.CompletedProcess[str]:
    for name, text in pages.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text, encoding="utf-8")
    return subprocess.run(
        [sys.executable, str(ROOT / "docs" / "check_site.py"), str(site)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_good_site_passes(tmp_path: Path) -> None:
    done = check(tmp_path, GOOD)
    assert (done.returncode, done.stderr) == (0, "links of the site: none dead\n")


@pytest.mark.parametrize(
    ("link", "fault"),
    [
        ('<a href="gone.html">', "gone.html: no such file"),
        ('<a href="sub/page.html#gone">', "sub/page.html#gone: no such anchor"),
        ('<a href="#gone">', "#gone: no such anchor"),
        ('<img src="gone.png">', "gone.png: no such file"),
        ('<a href="sub/gone.ipynb" download>', "sub/gone.ipynb: no such file"),
        ('<a href="/gone.html">', "/gone.html: no such file"),
        ('<a href="../README.md">', "../README.md: leads out of the site"),
        ('<link rel="stylesheet" href="assets/gone.css">', "assets/gone.css: no such file"),
        ('<script src="https://example.org/x.js">', "x.js: loaded from another machine"),
        ('<img src="//example.org/x.png">', "x.png: loaded from another machine"),
    ],
)
def test_a_dead_link_fails(tmp_path: Path, link: str, fault: str) -> None:
    done = check(tmp_path, {**GOOD, "index.html": GOOD["index.html"] + "\n" + link})
    assert done.returncode == 1
    assert "index.html:5: " in done.stderr
    assert fault in done.stderr
    assert "links of the site: 1 dead" in done.stderr


def test_no_site_fails(tmp_path: Path) -> None:
    assert check(tmp_path, {}).returncode == 1


def test_make_docs_checks_the_links() -> None:
    """The check is of use only where the site is built."""
    rule = re.search(r"^docs:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert rule is not None
    assert "mkdocs build --strict" in rule[1]
    assert "docs/check_site.py site" in rule[1]


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_into_the_repository(name: str) -> None:
    """Pages outside docs/ are not in the site; what they link to must be here all the same."""
    text = (ROOT / name).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'src="([^"]+)"', text)
    assert links or name == "CONTRIBUTING.md"
    for link in links:
        if not link.startswith("https://"):
            path, _, anchor = link.partition("#")
            assert (ROOT / path).exists(), link
            assert not anchor, f"{link}: link to pages, their anchors are not checked here"
