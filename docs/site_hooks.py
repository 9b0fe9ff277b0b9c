"""Build steps of the site: formulas as MathML, the command reference, notebooks as pages.

The built site asks no other machine for anything: formulas are rendered here, at build time.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from latex2mathml.converter import convert

from m2bridge.cli import COMMANDS, _cli

COMMANDS_MARK = "<!-- commands -->"
_FORMULA = re.compile(
    r'<(span|div) class="arithmatex">\s*(?:\\\((.*?)\\\)|\\\[(.*?)\\\])\s*</\1>', re.DOTALL
)


_PRIME = re.compile(r"<msup>(<mi>\w</mi>)<mi>(&#x02032;)</mi></msup>")


def mathml(latex: str, *, block: bool) -> str:
    """One formula as MathML, with a thin space after names of functions.

    A prime is raised by its own shape; as a superscript it would be raised twice.
    """
    formula: str = convert(latex, display="block" if block else "inline")
    formula = _PRIME.sub(r'<mrow>\1<mo lspace="0" rspace="0">\2</mo></mrow>', formula)
    return re.sub(r"(<mi>(?:dim|deg|ker)</mi>)(?!<mo)", r'\1<mspace width="0.17em"/>', formula)


def on_page_content(page_html: str, **_: Any) -> str:
    """Formulas that Markdown has marked become MathML."""

    def rendered(match: re.Match[str]) -> str:
        inline, block = match[2], match[3]
        if inline is not None:
            return mathml(html.unescape(inline), block=False)
        return f'<div class="formula">{mathml(html.unescape(block), block=True)}</div>'

    return _FORMULA.sub(rendered, page_html)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Puts the command reference where a page asks for it."""
    return markdown.replace(COMMANDS_MARK, commands_markdown())


def commands_markdown() -> str:
    """Every command with its own help, in the order of ``m2bridge --help``."""
    parts = []
    for path, command, context in _commands():
        parts.append(f"{'##' if len(path) == 1 else '###'} {' '.join(path)}\n")
        parts.append(f"```text\n{command.get_help(context).rstrip()}\n```\n")
    return "\n".join(parts)


def _commands() -> Iterator[tuple[tuple[str, ...], click.Command, click.Context]]:
    settings = {"terminal_width": 88, "max_content_width": 88}
    root = click.Context(_cli, info_name="m2bridge", **settings)
    for name in COMMANDS:
        command = _cli.get_command(root, name)
        assert command is not None, name
        context = click.Context(command, info_name=name, parent=root, **settings)
        yield (name,), command, context
        if isinstance(command, click.Group):
            for inner in command.list_commands(context):
                child = command.get_command(context, inner)
                assert child is not None, inner
                yield (name, inner), child, click.Context(child, info_name=inner, parent=context)


def on_files(files: Any, config: Any, **_: Any) -> Any:
    """Each notebook becomes a page of the same name beside it."""
    from mkdocs.structure.files import File

    for path in sorted(Path(config["docs_dir"]).glob("notebooks/*.ipynb")):
        content = notebook_markdown(json.loads(path.read_text(encoding="utf-8")), path.name)
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=content))
    return files


def notebook_markdown(notebook: dict[str, Any], name: str) -> str:
    """A notebook's text, code and outputs as Markdown."""
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
        elif source.strip():
            parts.append(f"```python\n{source}\n```")
            parts += [text for output in _joined(cell["outputs"]) for text in _output(output)]
    parts.append(f"[Download this notebook]({name}); [how to run it](../index.md#where-to-go-on).")
    return "\n\n".join(parts) + "\n"


def _joined(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a cell prints reaches the notebook in pieces; the page shows it as one."""
    joined: list[dict[str, Any]] = []
    for output in outputs:
        before = joined[-1] if joined else {}
        if output["output_type"] == "stream" and before.get("name") == output["name"]:
            joined[-1] = {**before, "text": [*before["text"], *output["text"]]}
        else:
            joined.append(output)
    return joined


def _output(output: dict[str, Any]) -> Iterator[str]:
    if output["output_type"] == "stream":
        yield f"```text\n{''.join(output['text']).rstrip()}\n```"
        return
    data = output.get("data", {})
    if "image/png" in data:
        image = "".join(data["image/png"]).replace("\n", "")
        yield f'<img alt="output of the cell above" src="data:image/png;base64,{image}">'
    elif "text/latex" in data:
        latex = "".join(data["text/latex"]).strip().strip("$").replace(r"\displaystyle", "")
        yield f"$$\n{latex.strip()}\n$$"
    elif "text/html" in data:
        yield "".join(data["text/html"])
    elif "text/plain" in data:
        yield f"```text\n{''.join(data['text/plain'])}\n```"
