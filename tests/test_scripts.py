"""Templates: what may go into them, that they run under plain M2 too, and give the same answer."""

import json
import os
import subprocess
import sys
from pathlib import Path

import jinja2
import pytest
import sympy

from m2bridge.attention import Layer
from m2bridge.engine import find_m2
from m2bridge.errors import WireError
from m2bridge.geometry.generators import script_lists
from m2bridge.scripts import (
    polynomials_from_answer,
    recording,
    render,
    run_script,
    save_scripts,
)
from m2bridge.scripts_folder import SCRIPTS_FOLDER

SIZES = {"d": 2, "d_out": 1, "a": 2, "t": 2}


def test_only_numbers_and_own_names_go_in() -> None:
    assert "(2, 1, 2, 2)" in render("elimination", **SIZES)
    for bad in ('"; error "x', "a b", 1.5, None, sympy.Symbol("x"), {"a": 1}, "x\n"):
        with pytest.raises(TypeError, match="must not go into an M2 script"):
            render("elimination", **{**SIZES, "d": bad})
        with pytest.raises(TypeError):
            render(
                "invariants_of_ideal", variables=1, polynomials=[[bad]], other=[], primality=False
            )


def test_a_missing_parameter_is_an_error() -> None:
    with pytest.raises(jinja2.UndefinedError):
        render("elimination", d=2, d_out=1, a=2)


def test_polynomials_round_trip() -> None:
    x, y = sympy.symbols("x y")
    f = sympy.Poly(3 * x**2 * y - 7 * y + 2, x, y)
    lists = [[[2, []], [3, [[0, 2], [1, 1]]], [-7, [[1, 1]]]]]
    assert script_lists([f], (x, y)) == lists
    answer = {"coefficients": ["-3/2", "7/2", "-1"], "exponents": [[2, 1], [0, 1], [0, 0]]}
    assert polynomials_from_answer([answer], (x, y)) == (f,)


def test_every_template_starts_with_what_it_is() -> None:
    for template in SCRIPTS_FOLDER.glob("*.m2.j2"):
        assert template.read_text().startswith("--"), template.name


@pytest.mark.m2
def test_saved_scripts_run_under_plain_m2_and_agree(session, tmp_path: Path) -> None:
    layer = Layer(2, 1, 1)
    with recording() as journal:
        run_script(session, "parametrization", d=2, d_out=1, a=1, t=2)
        answer = run_script(session, "elimination", d=2, d_out=1, a=1, t=2)
        generators = polynomials_from_answer(answer["generators"], layer.symbols)
        lists = script_lists(generators, layer.symbols)
        run_script(session, "jacobian_singular", variables=6, polynomials=lists)
        run_script(session, "closure", d=2, d_out=1, v=1, r=1, j=1)
        run_script(
            session,
            "invariants_of_ideal",
            variables=6,
            polynomials=lists,
            other=lists[:2],
            primality=True,
        )
    files = save_scripts(journal.scripts, tmp_path / "scripts")
    assert len(files) == 5
    for script, file in zip(journal.scripts, files, strict=True):
        # From another folder: the script must find M2Bridge.m2 beside itself.
        done = subprocess.run(
            [str(find_m2().path), "--script", str(file)],
            cwd=tmp_path,
            env={**os.environ, "HOME": str(tmp_path)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout) == json.loads(script.answer), file.name


@pytest.mark.m2
def test_the_parametrization_of_m2_is_that_of_the_model(session) -> None:
    """The template and the Python model are two programs; their polynomials must be the same."""
    for d, d_out, a, t in [(2, 1, 1, 2), (2, 2, 1, 3), (3, 1, 2, 2), (2, 1, 1, 1), (3, 2, 1, 1)]:
        layer = Layer(d, d_out, a, t)
        answer = run_script(session, "parametrization", d=d, d_out=d_out, a=a, t=t)
        n, m = answer["coordinates"], answer["weights"]
        assert (n, m) == (layer.ambient_dimension, layer.parameters)
        # The template numbers V, K, Q; the model's weights are Q, K, V.
        size = a * d
        Q, K, V = (
            layer.weight_symbols[:size],
            layer.weight_symbols[size : 2 * size],
            layer.weight_symbols[2 * size :],
        )
        graph = polynomials_from_answer(answer["ideal"], (*layer.symbols, *V, *K, *Q))
        for symbol, polynomial, equation in zip(
            layer.symbols, layer.parametrization().polynomials, graph, strict=True
        ):
            difference = equation.as_expr() - (symbol - polynomial.as_expr())
            negated = equation.as_expr() + (symbol - polynomial.as_expr())
            assert 0 in (sympy.expand(difference), sympy.expand(negated))


@pytest.mark.m2
def test_elimination_finds_the_resultant(session) -> None:
    """(2, 1, 2): the two columns of T are binary quadrics with a common factor."""
    from m2bridge.geometry.elimination import eliminated_ideal

    layer = Layer(2, 1, 2)
    found = eliminated_ideal(layer, session)
    w = sympy.Symbol("w")
    quadrics = [
        sum(
            symbol * w ** sum(index == 1 for index in c.pair)
            for c, symbol in zip(layer.coordinates, layer.symbols, strict=True)
            if c.column == r
        )
        for r in range(2)
    ]
    resultant = sympy.Poly(sympy.resultant(*quadrics, w), *layer.symbols)
    assert (found.dimension, found.degree, len(found.generators)) == (5, 4, 1)
    assert found.generators[0] in (resultant, -resultant)


@pytest.mark.m2
def test_an_answer_that_is_not_json_is_refused(session, monkeypatch) -> None:
    from m2bridge.engine.session import Answer, Session

    monkeypatch.setattr(Session, "run_script", lambda self, *a, **k: Answer((b"{",)))
    with pytest.raises(WireError, match="not JSON"):
        run_script(session, "elimination", **SIZES)


def test_scripts_ship_with_the_package() -> None:
    assert (SCRIPTS_FOLDER / "M2Bridge.m2").is_file()
    assert sys.modules["m2bridge.scripts_folder"].SCRIPTS_FOLDER == SCRIPTS_FOLDER
