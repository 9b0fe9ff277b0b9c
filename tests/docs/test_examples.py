"""Every example of every page runs, and prints what the page shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import PURE, Example, agree, examples, pages, run


def _with_examples() -> list[Any]:
    found = []
    for path in pages():
        text = path.read_text(encoding="utf-8")
        if list(examples(text)):
            marks = [] if PURE in text else [pytest.mark.m2]
            found.append(pytest.param(path, id=path.stem, marks=marks))
    return found


@pytest.mark.parametrize("page", _with_examples())
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for example in examples(page.read_text(encoding="utf-8")):
        printed = run(example, namespace, page.name)
        if example.expected is not None:
            assert agree(example.expected, printed), (
                f"{page.name}:{example.line} prints\n{printed}\nnot\n{example.expected}"
            )


def test_the_pages_have_examples() -> None:
    """Else a change of the fences would leave all of them out, and every test would pass."""
    assert {"README", "index", "one-layer", "depth", "extend", "limits"} <= {
        case.id for case in _with_examples()
    }


def test_blocks_are_found_in_order() -> None:
    text = (
        "```python\nprint(1)\n```\n\nwords\n\n```text\n1\n```\n"
        "```console\n$ m2bridge a\nout\n$ m2bridge b\n```\n```python\npass\n```\n"
    )
    assert list(examples(text)) == [
        Example("python", "print(1)\n", "1\n", 1),
        Example("console", "m2bridge a", "out\n", 10),
        Example("console", "m2bridge b", "", 10),
        Example("python", "pass\n", None, 15),
    ]


@pytest.mark.parametrize(
    ("expected", "printed", "same"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\nb\n", "a\nc\n", False),
        ("a\n...\nd\n", "a\nb\nc\nd\n", True),
        ("a\n...\n", "b\nc\n", False),
        ("x*y [1]\n", "x*y [1]\n", True),
        ("x*y\n", "xzy\n", False),
        ("a\n", "a\nb\n", False),
    ],
)
def test_comparison(expected: str, printed: str, same: bool) -> None:
    assert agree(expected, printed) is same


def test_a_wrong_example_fails(tmp_path: Path) -> None:
    namespace: dict[str, Any] = {}
    with pytest.raises(ZeroDivisionError):
        run(Example("python", "1 / 0", None, 1), namespace, "page")
    run(Example("python", ">>> x = 2\n>>> x\n2\n", None, 1), namespace, "page")
    with pytest.raises(AssertionError, match=r"(?s)Expected:.*3.*Got:.*2"):
        run(Example("python", ">>> x\n3\n", None, 1), namespace, "page")
    with pytest.raises(AssertionError, match="exit status 2"):
        run(Example("console", "m2bridge analyze --d 0", "", 1), namespace, "page")
