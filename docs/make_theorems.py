"""Writes the page "Statements, model by model" from what the program computes.

python docs/make_theorems.py > docs/theorems.md
"""

from __future__ import annotations

from m2bridge.geometry.theorems import STATEMENTS, TheoremTable, verify_theorems

_MAX_D = 3
_EXCEPTIONS = "| $d, d', a$ | statement | said | found | warrant | witness |"
_ROWS = "| $d, d', a$ | statement | said | found | agrees | warrant |"

_HEAD = """# Statements, model by model

What is commonly said about one layer, beside what is true, for all $d, d', a \\le {max_d}$ and
$t \\ge 2$. This page is written by `docs/make_theorems.py`; the command
`m2bridge verify-theorems --max-d {max_d}` prints the same table. *computed* means that everything
was recomputed exactly at representatives of all strata; *theorem* that at least one part rests on
the [theory page](theory.md). Types are $(r_V, r_A, r_{{VA}})$.
"""


def page(table: TheoremTable, max_d: int) -> str:
    """The page for one table of results."""
    parts = [_HEAD.format(max_d=max_d), "| statement | holds for | in words |", "|---|---|---|"]
    for name, (holds, models) in table.counts().items():
        parts.append(f"| {name} | {holds} of {models} models | {_cell(STATEMENTS[name])} |")
    parts += [
        "",
        "## Exceptions",
        "",
        "| $d, d', a$ | statement | said | found | warrant | witness |",
    ]
    parts.append("|---|---|---|---|---|---|")
    for row in table.exceptions:
        cells = (f"{row.d}, {row.d_out}, {row.a}", row.statement, row.stated, row.found)
        cells += (row.warrant, row.witness)
        parts.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
    parts += ["", "## All rows", "", _ROWS]
    parts.append("|---|---|---|---|---|---|")
    for row in table.rows:
        cells = (f"{row.d}, {row.d_out}, {row.a}", row.statement, row.stated, row.found)
        line = [_cell(cell) for cell in cells]
        line += ["yes" if row.agrees else "**no**", row.warrant]
        parts.append("| " + " | ".join(line) + " |")
    return "\n".join(parts) + "\n"


def _cell(text: str) -> str:
    """Text that means nothing to Markdown inside a table."""
    for mark in ("\\", "|", "_", "[", "]", "*"):
        text = text.replace(mark, "\\" + mark)
    return text


if __name__ == "__main__":
    print(page(verify_theorems(_MAX_D), _MAX_D), end="")
