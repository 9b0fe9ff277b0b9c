"""Exported files say what the ideal says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import sympy

from m2bridge.attention.layer import Layer
from m2bridge.engine import open_session
from m2bridge.geometry.export import export_ideal, save_ideal
from m2bridge.geometry.implicit import ImplicitIdeal, implicit_ideal


@pytest.fixture(scope="module")
def ideal() -> ImplicitIdeal:
    return implicit_ideal(Layer(2, 2, 1))


def test_singular_text_parses_back(ideal: ImplicitIdeal) -> None:
    text = export_ideal(ideal, "sing")
    ring = re.search(r"ring R = 0, \((.*)\), dp;", text)
    assert ring is not None
    assert ring[1].split(", ") == [str(s) for s in ideal.layer.symbols]
    body = text[text.index("ideal I = ") + len("ideal I = ") :].rstrip().rstrip(";")
    names = {str(s): s for s in ideal.layer.symbols}
    parsed = [
        sympy.Poly(sympy.sympify(part.replace("^", "**"), locals=names), *ideal.layer.symbols)
        for part in body.split(",\n")
    ]
    assert parsed == list(ideal.generators)


def test_mrdi_document(ideal: ImplicitIdeal) -> None:
    document = json.loads(export_ideal(ideal, "mrdi"))
    assert document["_type"]["name"] == "MPolyIdeal"
    ring = document["_refs"][document["_type"]["params"]]
    assert ring["_type"] == {"name": "MPolyRing", "params": {"_type": "QQField"}}
    assert ring["data"]["symbols"] == [str(s) for s in ideal.layer.symbols]
    parsed = [
        sympy.Poly.from_dict(
            {tuple(map(int, e)): int(c) for e, c in terms}, *ideal.layer.symbols, domain=sympy.ZZ
        )
        for terms in document["data"]
    ]
    assert parsed == list(ideal.generators)


def test_the_zero_ideal_exports(tmp_path: Path) -> None:
    zero = implicit_ideal(Layer(1, 2, 1))
    assert "0_R" in export_ideal(zero, "m2")
    assert "ideal I = 0;" in export_ideal(zero, "sing")
    assert json.loads(export_ideal(zero, "mrdi"))["data"] == []
    assert save_ideal(zero, tmp_path / "zero.m2").read_text(encoding="utf-8").startswith("--")


def test_unknown_formats_are_refused(ideal: ImplicitIdeal, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="mrdi"):
        export_ideal(ideal, "pdf")
    with pytest.raises(ValueError, match="mrdi"):
        save_ideal(ideal, tmp_path / "ideal.txt")


@pytest.mark.m2
def test_macaulay2_reads_its_file(tmp_path: Path) -> None:
    ideal = implicit_ideal(Layer(2, 2, 2))
    path = save_ideal(ideal, tmp_path / "ideal.m2")
    session = open_session(timeout=60)
    try:
        session.eval(path.read_text(encoding="utf-8"))
        assert session.eval("toString {dim I, degree I, numgens I, numgens R}").segments[0] == (
            b"{7, 20, 15, 12}"
        )
    finally:
        session.close()
