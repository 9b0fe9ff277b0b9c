"""Results in notebooks: every public result shows itself, escaped, with its certainty."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import sympy

from m2bridge.attention.expansion import Parametrization
from m2bridge.display import Html, counts, facts_html, listed, polynomials_html, settled, table_html
from m2bridge.engine import Session, find_m2
from m2bridge.engine.doctor import Diagnosis, Finding
from m2bridge.engine.install import InstallReport
from m2bridge.errors import M2NotFoundError
from m2bridge.geometry.sweep import sweep
from m2bridge.geometry.sweep.cases import Case
from m2bridge.geometry.theorems import verify_theorems
from m2bridge.geometry.unroll import unroll
from m2bridge.models import AttentionNetwork, LightningAttention
from m2bridge.provenance import Provenance
from m2bridge.scripts import RanScript

LAYER = LightningAttention(d=2, d_out=1, a=2, t=2)
CUBIC = LightningAttention(d=2, d_out=1, a=1, t=1)
DEEP = AttentionNetwork(dims=(2, 2, 2), ranks=(1, 1), t=2)
WEIGHTS: dict[str, Any] = {"Q": [[1, 0], [0, 1]], "K": [[1, 3], [2, 1]], "V": [[2, 1]]}
FLOATS = {name: np.array(matrix, dtype=float) for name, matrix in WEIGHTS.items()}
BATCH = {name: np.stack([x, 0 * x, x]) for name, x in FLOATS.items()}

# Results that claim something, and words that their first lines must have.
CLAIMS: dict[str, tuple[Callable[[], Any], tuple[str, ...]]] = {
    "dimension": (DEEP.dimension, ("proved", "dimension 8")),
    "dimension of softmax": (
        lambda: AttentionNetwork((2, 2), (1,), 2, attention="softmax").dimension(
            method="numerical"
        ),
        ("numerical", "singular value gap"),
    ),
    "generic fibre": (DEEP.generic_fibre, ("proved", "irreducible components 2", "GL(2)")),
    "ideal": (
        lambda: LAYER.implicit_ideal(certify=False),
        ("proved", "degree 4", "5 of 6", "all equations? not settled: ", "not certified"),
    ),
    "long ideal": (
        lambda: LightningAttention(3, 2, 2).implicit_ideal(certify=False, max_degree=2),
        ("45 of degree 2", "[11;4;11]", "and 44 more"),
    ),
    "no equations": (
        lambda: LightningAttention(1, 1, 1).implicit_ideal(certify=False, max_degree=2),
        ("minimal generators none",),
    ),
    "strata": (LAYER.strata, ("type dimension tangent", "(1, 1, 2) 4 6 yes no", "proved")),
    "wide strata": (lambda: LightningAttention(64, 64, 8).strata(), ("more rows", "proved")),
    "singular strata": (lambda: LAYER.singular_locus().strata, ("(1, 1, 1) 3 6 yes yes",)),
    "stratum": (
        lambda: LAYER.strata()[1],
        ("(1, 1, 1)", "dimension 3 proved", "singular yes proved"),
    ),
    "stratum, one token": (lambda: CUBIC.strata()[1], ("proved", "A 1 0; 0 0")),
    "singular locus": (LAYER.singular_locus, ("proved", "dimension 4", "degree 3", "(1, 1, 2)")),
    "no singular locus": (
        LightningAttention(1, 1, 1).singular_locus,
        ("proved", "dimension empty"),
    ),
    "component": (
        lambda: LAYER.singular_locus().components[0],
        ("proved", "3 of degree 2", "T_0_00_0*T_0_01_1 - T_0_00_1*T_0_01_0"),
    ),
    "component without equations": (
        lambda: LAYER.singular_locus(equations=False).components[0],
        ("equations not computed", "prime ideal? not settled: no equations"),
    ),
    "boundary": (LAYER.boundary, ("proved", "dimension 3", "at least zero", "beyond")),
    "boundary, one token": (CUBIC.boundary, ("proved", "signature")),
    "tangent space": (
        lambda: LAYER.tangent_space(LAYER.strata()[1].point()),
        ("proved", "dimension 6", "multiplicity not settled: needs Macaulay2"),
    ),
    "identification": (lambda: LAYER.identify(**WEIGHTS), ("proved", "singular point? no")),
    "numerical identification": (
        lambda: LAYER.identify(**FLOATS),
        ("numerical", "relative tolerance", "distance to"),
    ),
    "identification, one token": (
        lambda: CUBIC.identify([[1, 0]], [[1, 2]], [[2, 1]]),
        ("proved", "rank, signature of sym A 2, (1, 1)"),
    ),
    "batch": (
        lambda: LAYER.identify_batch(**BATCH),
        ("numerical", "zero functions 1", "(1, 2, 2) 2"),
    ),
    "batch, one token": (
        lambda: CUBIC.identify_batch([[[1, 0]]], [[[1, 2]]], [[[2, 1]]]),
        ("proved", "sym A", "(1, 1, 2) 1"),
    ),
    "function": (
        lambda: LAYER.recognize(LAYER.coefficients(**WEIGHTS)),
        ("proved", "real weights? yes", "field QQ"),
    ),
    "no function": (
        lambda: LAYER.recognize([1, 2, 3, 4, 5, 7]),
        ("proved", "real weights? no", "what fails equation"),
    ),
    "fibre": (lambda: LAYER.fibre(**WEIGHTS), ("proved", "dimension in (Q, K, V) 5", "GL(2)")),
    "fibre of zero": (lambda: LAYER.fibre([0] * 6), ("proved", "infinitely many")),
    "invariants": (LAYER.invariants, ("proved", "the whole ideal? yes", "[4;44;22]")),
    "theorems": (
        lambda: verify_theorems(2, 1, 2),
        ("proved", "holds for 4 of 4 models", "witness"),
    ),
    "unrolled": (lambda: unroll(DEEP), ("proved", "V~_2 V_2 V_1")),
    "sweep": (
        lambda: sweep([Case((2, 2), (1,)), Case((2, 0), (1,))]),
        ("certainty", "models 2", "failed 1", "proved"),
    ),
}

HOSTILE = '<b title="&">'
RAN = RanScript("<b>", "1+1", "2", 0.25)

# Facts about sizes, machines and runs; nothing to be certain of.
OTHERS: dict[str, tuple[Callable[[], Any], tuple[str, ...]]] = {
    "layer": (lambda: LAYER, ("parameters 10", "coefficients 6", "Q, K 2 × 2")),
    "wide layer": (lambda: LightningAttention(2, 1, 5), ("rank at most 2",)),
    "network": (
        lambda: AttentionNetwork((3, 3, 3), (1, 2), 2, heads=2, skip=True),
        ("parameters 72", "3 → 3 → 3", "skip connections yes"),
    ),
    "parametrization": (LAYER.parametrization, ("T_0_11_1", "K_0_1*Q_0_1*V_0_1")),
    "provenance": (
        lambda: Provenance("1.26", HOSTILE, "0.1", (RAN,), 2.5, 7),
        ("Macaulay2 1.26", "seed 7", "no"),
    ),
    "no Macaulay2 asked": (lambda: Provenance(None, None, "0.1", (), 0.0), ("not asked",)),
    "installation": (
        lambda: InstallReport(Path("/x") / HOSTILE, "1.26", None, 5_000_000, True, None, 3.0),
        ("5 MB", "none fetched", HOSTILE),
    ),
    "diagnosis": (
        lambda: Diagnosis((Finding("Macaulay2", False, HOSTILE, "m2bridge install-m2"),), None),
        ("something needed is missing", HOSTILE, "m2bridge install-m2"),
    ),
}


def shown(found: Any) -> str:
    """What a reader sees of an object's HTML, which must be well-formed and self-contained."""
    html = found._repr_html_()
    assert "http" not in html
    assert not re.search(r"<(?:script|style|link|img|iframe)\b", html)
    assert "None" not in html
    tree = ElementTree.fromstring(html)
    assert tree.tag in ("table", "div")
    return " ".join(
        " ".join(
            tree.itertext(),
        ).split()
    )


@pytest.mark.parametrize("name", CLAIMS)
def test_results_show_what_they_claim_and_how_certain_it_is(name: str) -> None:
    make, words = CLAIMS[name]
    text = shown(make())
    assert "certainty" in text
    for word in words:
        assert word in text, text


@pytest.mark.parametrize("name", OTHERS)
def test_sizes_machines_and_runs_show_themselves(name: str) -> None:
    make, words = OTHERS[name]
    text = shown(make())
    for word in words:
        assert word in text, text


@pytest.mark.m2
def test_an_analysis_shows_all_its_sections(session: Session) -> None:
    analysis = LAYER.analyze(session=session)
    text = shown(analysis)
    for word in ("Certainty all equations proved", "Strata", "Boundary", "graded elimination"):
        assert word in text
    refused = replace(analysis, ideal=None, notes=(HOSTILE,))
    text = shown(refused)
    assert "not settled: refused by size" in text
    assert "all equations" not in text.split("Strata")[0]
    assert HOSTILE in text


@pytest.mark.m2
def test_macaulay2_fills_in_what_was_open(session: Session) -> None:
    text = shown(LAYER.tangent_space(LAYER.strata()[1].point(), session=session))
    assert "multiplicity not settled" not in text


def test_an_open_dimension_is_told_with_its_reason() -> None:
    found = replace(DEEP.dimension(), value=None, lower=7, certainty="modular", reason="a gap <b>")
    assert "dimension not settled: a gap <b> certainty modular" in shown(found)
    assert "[7, 8]" in found._repr_latex_()
    assert "modular" in found._repr_latex_()
    assert r"\le 8" in replace(found, lower=None)._repr_latex_()


def test_undecided_verdicts_are_told_with_their_reason() -> None:
    found = replace(LAYER.identify(**FLOATS), singular=None, boundary=None, reason="<b> is open")
    text = shown(found)
    assert "singular point? not settled: <b> is open" in text
    assert "on the boundary? not settled: <b> is open" in text
    batch = replace(LAYER.identify_batch(**BATCH), singular=np.array([1, -1, 0], dtype=np.int8))
    assert "1 of 3 (1 not; 1 not settled: the tolerance does not decide)" in shown(batch)


FORMULAS = {
    "layer": (lambda: LAYER, r"V X X^{T} A X"),
    "heads, skip": (
        lambda: AttentionNetwork((3, 3, 3), (1, 2), 2, heads=2, skip=True),
        r"\sum_{h=1}^{2} V_{i,h} X_{i-1} X_{i-1}^{T} A_{i,h} X_{i-1} + X_{i-1}",
    ),
    "softmax": (
        lambda: AttentionNetwork((3, 3), (2,), 2, attention="softmax"),
        r"V X \operatorname{softmax}\left(X^{T} A X\right)",
    ),
    "parametrization": (LAYER.parametrization, "T_{0 00 0} = K_{0 0} Q_{0 0} V_{0 0}"),
    "dimension": (DEEP.dimension, r"\dim = 8"),
    "ideal": (lambda: LAYER.implicit_ideal(certify=False), "T_{0 00 0}^{2} T_{0 11 1}^{2}"),
    "no equations": (
        lambda: LightningAttention(1, 1, 1).implicit_ideal(certify=False, max_degree=2),
        "(0)",
    ),
    "component": (lambda: LAYER.singular_locus().components[0], r"\deg = 3"),
    "recognition": (lambda: LAYER.recognize(LAYER.coefficients(**WEIGHTS)), "V = "),
    "unrolled": (lambda: unroll(DEEP), r"\begin{align*}"),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_formulas(name: str) -> None:
    make, words = FORMULAS[name]
    latex = make()._repr_latex_()
    assert words in latex
    assert latex.count("{") == latex.count("}")
    assert latex.startswith(("$", r"\begin{align*}"))


def test_no_weights_no_formula() -> None:
    assert LAYER.recognize([1, 2, 3, 4, 5, 7])._repr_latex_() is None


def test_everything_is_escaped_but_html() -> None:
    table = table_html([HOSTILE], [[HOSTILE], [Html("<em>x</em>")]], HOSTILE)
    assert HOSTILE not in table
    assert "<em>x</em>" in table
    facts = facts_html(HOSTILE, [(HOSTILE, HOSTILE), ("a", None), ("b", True), ("c", False)])
    text = " ".join(ElementTree.fromstring(facts).itertext())
    assert text == f"{HOSTILE} {HOSTILE} {HOSTILE} a not settled b yes c no"
    x = sympy.Symbol(HOSTILE)
    assert HOSTILE not in polynomials_html([sympy.Poly(x)])
    named = Parametrization((x,), (HOSTILE,), (sympy.Poly(x),))
    assert HOSTILE not in named._repr_html_()
    assert HOSTILE in shown(named)


def test_long_tables_and_polynomials_are_cut_off_and_say_so() -> None:
    table = table_html(["n"], [[n] for n in range(100)])
    assert table.count("<tr>") == 1 + 60 + 1
    assert "and 40 more rows" in table
    x = sympy.Symbol("x")
    long = sympy.Poly(sum(x**k for k in range(100)), x)
    assert "(100 terms)" in polynomials_html([long])
    assert polynomials_html([sympy.Poly(x)] * 9).endswith("and 3 more")


def test_words() -> None:
    assert settled(0, "why") == 0
    assert settled(None, "why") == "not settled: why"
    assert settled(None, "") is None
    assert counts(None) == "not computed"
    assert counts({3: 2, 2: 1, 4: 0}) == "1 of degree 2, 2 of degree 3"


def test_thousands_of_strata_are_named_by_their_number() -> None:
    """Wide layers have types beyond what anyone reads, and a notebook keeps what it shows."""
    wide = LightningAttention(64, 64, 8)
    locus = wide.singular_locus(equations=False)
    assert len(locus.types) > 300
    text = shown(locus)
    assert f"and {len(locus.types) - 24} more" in text
    assert len(text) < 20_000
    assert len(shown(wide.boundary(equations=False))) < 20_000


def test_a_list_in_a_sentence_is_cut_off_and_says_so() -> None:
    assert listed([1, 2, 3]) == "1, 2, 3"
    assert listed([]) == "none"
    assert listed(range(30), most=2) == "0, 1 and 28 more"


def test_long_titles_may_break_and_short_values_may_not() -> None:
    long, short = table_html(["x"], [[(1, 2, 2)]], "t" * 61), facts_html("t", [])
    assert "nowrap" not in long.split("</caption>")[0]
    assert "nowrap" in short.split("</caption>")[0]
    assert long.split("<tbody>")[1].count("nowrap") == 1


def test_strata_are_a_tuple_with_a_short_name() -> None:
    wide = LightningAttention(64, 64, 8).strata()
    assert isinstance(wide, tuple)
    assert repr(wide).endswith(f" and {len(wide) - 6} more>")
    assert repr(LAYER.strata()).startswith("<4 strata: (0, 0, 0), (1, 1, 1)")


def test_wide_layers_with_one_token_are_answered_by_shape() -> None:
    """For a >= d nothing lies beyond the real functions; no signature need be looked at."""
    found = LightningAttention(20, 20, 20, 1).boundary(equations=False)
    assert (found.dimension, found.complement_dimension) == (-1, -1)
    for stratum in LightningAttention(4, 4, 4, 1).strata(certify=False):
        assert all(form.in_image and not form.boundary for form in stratum.real_forms)


def test_an_error_of_ours_fits_on_a_screen() -> None:
    def cell() -> None:
        find_m2("/nowhere/M2")

    with pytest.raises(M2NotFoundError) as caught:
        cell()
    lines = "\n".join(caught.value._render_traceback_()).splitlines()
    assert len(lines) < 10
    assert 'find_m2("/nowhere/M2")' in lines[-3]
    assert "discovery.py" in lines[-2]
    assert lines[-1].startswith("M2NotFoundError: '/nowhere/M2'")
