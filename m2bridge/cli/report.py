"""The command ``report``: one layer as a page to read and share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from m2bridge.cli.options import chosen_layer, engine_options, layer_options
from m2bridge.cli.running import (
    checked_folder,
    failures_told,
    open_session_for,
    reporter,
    write_file,
)

__all__ = ["report"]


@click.command()
@layer_options
@click.option("--max-degree", type=int, help="Last degree to search for equations.")
@click.option(
    "--time-limit", type=float, metavar="SECONDS", help="Limit for the search for equations."
)
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

    with failures_told():
        layer = chosen_layer(options)
        folder, scripts = checked_folder(out), checked_folder(save_scripts)
        assert folder is not None
        with open_session_for(options) as session, reporter() as progress:
            found = layer.analyze(session=session, progress=progress, **options)
            progress("pictures", 0, None)
            drawn, missing = pictures(found, "pdf")
            beside = []
            for picture in drawn:
                file = Path(f"{picture.name}.{picture.kind}")
                (folder / file).write_bytes(picture.content)
                beside.append((file.name, picture.caption))
            write_file(folder / "report.html", html_report(found))
            write_file(folder / "report.tex", latex_report(found, beside))
            write_file(folder / "report.json", json_text(analysis_document(found)) + "\n")
        found.provenance.save(folder / "scripts")
        if scripts is not None:
            found.provenance.save(scripts)
        for reason in missing:
            click.echo(f"m2bridge: {reason}", err=True)
        click.echo(f"wrote {folder / 'report.html'} and {folder / 'report.tex'}")
