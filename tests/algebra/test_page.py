"""The examples of docs/m2-from-python.md are true."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "m2-from-python.md"


@pytest.mark.m2
def test_the_page() -> None:
    # the fences are no output
    text = PAGE.read_text(encoding="utf-8").replace("```python\n", "").replace("\n```\n", "\n")
    test = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    assert len(test.examples) > 40
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    complaints: list[str] = []
    runner.run(test, out=complaints.append)
    assert not complaints, "".join(complaints)
