"""The page in a real browser, Chromium: what is shown, what fits, what is asked from elsewhere."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from m2bridge.attention.layer import Layer
from m2bridge.geometry.analysis import Analysis, analyze
from m2bridge.report.html import html_report

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.m2,
    pytest.mark.skipif(CHROMIUM is None, reason="the page in a browser: no Chromium here"),
]

FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-sync", "--disable-background-networking", "--disable-component-update"),
    "--host-resolver-rules=MAP * ~NOTFOUND",  # no name leads anywhere
    "--allow-file-access-from-files",  # the page below measures the report in its frame
    *("--enable-logging=stderr", "--virtual-time-budget=8000", "--dump-dom"),
]

MEASURE = """<!DOCTYPE html><body>
<iframe style="width:{width}px;height:900px;border:0" src="report.html"></iframe>
<pre id="found"></pre><script>
onload = () => {{
  const frame = document.querySelector("iframe"), page = frame.contentDocument;
  const seen = e => e.getBoundingClientRect().width > 3 && e.getBoundingClientRect().height > 5;
  for (const e of page.querySelectorAll("details")) e.open = true;
  document.getElementById("found").textContent = JSON.stringify({{
    width: page.documentElement.scrollWidth,
    pictures: [...page.images].map(e => e.complete && e.naturalWidth > 100 && seen(e)),
    formulas: [...page.querySelectorAll("math")].map(seen),
    links: [...page.querySelectorAll("a")].every(seen),
    ink: frame.contentWindow.getComputedStyle(page.body).color,
    paper: frame.contentWindow.getComputedStyle(page.body).backgroundColor,
  }});
}};
</script>"""


def measured(report: str, folder: Path, width: int, *flags: str) -> dict[str, Any]:
    """What Chromium says about a page in a window of this width; complaints are errors."""
    (folder / "report.html").write_text(report, encoding="utf-8")
    (folder / "measure.html").write_text(MEASURE.format(width=width), encoding="utf-8")
    profile = f"--user-data-dir={folder / 'profile'}"
    shown = subprocess.run(
        [str(CHROMIUM), *FLAGS, *flags, profile, (folder / "measure.html").as_uri()],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
        check=True,
    )
    assert "CONSOLE" not in shown.stderr, shown.stderr
    found = re.search(r'<pre id="found">(.+?)</pre>', shown.stdout, re.DOTALL)
    assert found is not None
    body: dict[str, Any] = json.loads(html.unescape(found[1]))
    return body


@pytest.fixture(scope="module", params=[(2, 1, 2, 2), (3, 1, 1, 1), (2, 2, 2, 2)], ids=str)
def analysis(session: Any, request: pytest.FixtureRequest) -> Analysis:
    return analyze(Layer(*request.param), session)


@pytest.mark.parametrize("width", [1200, 390])
def test_everything_is_shown_and_fits(analysis: Analysis, tmp_path: Path, width: int) -> None:
    found = measured(html_report(analysis), tmp_path, width)
    assert found["width"] <= width
    assert found["pictures"]
    assert all(found["pictures"])
    assert len(found["formulas"]) > 20
    assert all(found["formulas"])
    assert found["links"]


def test_faults_would_be_seen(analysis: Analysis, tmp_path: Path) -> None:
    """The measurement itself: on a page with these faults it reports them."""
    bad = '<div style="width:700px">x</div><img src="data:image/png;base64,AA">'
    found = measured(f"<!DOCTYPE html><body>{bad}<math></math>", tmp_path, 390)
    assert found["width"] >= 700
    assert found["pictures"] == [False]
    assert found["formulas"] == [False]
    stranger = '<img src="https://example.org/x.png"></body>'
    with pytest.raises(AssertionError, match="Content Security Policy"):
        measured(html_report(analysis).replace("</body>", stranger), tmp_path, 390)


def brightness(colour: str) -> float:
    return sum(map(float, re.findall(r"\d+", colour)[:3])) / 3


def test_dark_and_light_are_readable(analysis: Analysis, tmp_path: Path) -> None:
    page = html_report(analysis)
    light = measured(page, tmp_path, 600)
    dark = measured(
        page, tmp_path, 600, "--force-dark-mode", "--blink-settings=preferredColorScheme=0"
    )
    assert brightness(light["paper"]) - brightness(light["ink"]) > 150
    assert brightness(dark["ink"]) - brightness(dark["paper"]) > 150
