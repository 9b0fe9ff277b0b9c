"""The command ``report``: one layer as a page to read and share."""

from __future__ import annotations

from typing import Any

import click

from m2bridge.cli.options import (
    chosen_layer,
    engine_options,
    layer_options,
    time_limit_option,
)
from m2bridge.cli.running import open_session_for, reporter
from m2bridge.cli.writing import checked_folder, write_folder

__all__ = ["report"]


@click.command()
@layer_options
@click.option("--max-degree", type=int, help="Last degree to search for equations.")
@time_limit_option
@engine_options
@click.option("--out", metavar="DIR", required=True, help="The folder to write to.")
def report(out: str, save_scripts: str | None, **options: Any) -> None:
    """Everything about one layer as one HTML page, and as LaTeX.

    report.html holds pictures, equations, certificates and programs, and needs no network and no
    other file. report.tex compiles with pdflatex; its pictures lie beside it.

    \b
    m2bridge report --d 2 --d-out 1 --a 2 --out report
    """
    from m2bridge.report.document import analysis_document, json_text
    from m2bridge.report.facts import pictures
    from m2bridge.report.html import html_report
    from m2bridge.report.latex import latex_report

    layer = chosen_layer(options)
    folder, scripts = checked_folder(out), checked_folder(save_scripts)
    assert folder is not None
    with open_session_for(options) as session, reporter() as progress:
        found = layer.analyze(session=session, progress=progress, **options)
        progress("pictures", 0, None)
        drawn, missing = pictures(found, "pdf")
        files: dict[str, str | bytes] = {f"{p.name}.{p.kind}": p.content for p in drawn}
        beside = [(f"{p.name}.{p.kind}", p.caption) for p in drawn]
        progress("pages", 0, None)
        files["report.html"] = html_report(found)
        files["report.tex"] = latex_report(found, beside)
        files["report.json"] = json_text(analysis_document(found)) + "\n"
        write_folder(folder, files, found.provenance)
    if scripts is not None:
        write_folder(scripts, {}, found.provenance, programs=".")
    for reason in missing:
        click.echo(f"m2bridge: {reason}", err=True)
    click.echo(f"wrote {folder / 'report.html'} and {folder / 'report.tex'}")
