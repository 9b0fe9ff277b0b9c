"""dimension, fibre, unroll, models, sweep and plot dimension on the command line."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from m2bridge.cli import main
from m2bridge.geometry.sweep import read_table

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def m2bridge(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command here, without the start of a process: status, output, messages."""

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(list(arguments))
        captured = capsys.readouterr()
        return int(ended.value.code or 0), captured.out, captured.err

    return run


def answer(run: Run, *arguments: str) -> dict[str, Any]:
    status, out, messages = run(*arguments, "--json")
    assert status == 0, messages
    document: dict[str, Any] = json.loads(out)
    return document


# dimension


@pytest.mark.parametrize(
    ("arguments", "dimension", "published", "parameters"),
    [
        ("--layers 4,4,4,4;1,1,1 --t 3", 34, None, 72),
        ("--layers 4,4,4,4;2,2,2 --t 3", 49, None, 96),
        ("--layers 4,4,4,4;4,4,4 --t 3", 61, None, 144),
        ("--layers 10,10,10;2,2", 170, None, 280),
        ("--layers 3,3,3;1,2 --t 2", 18, 20, None),
        ("--layers 10,6,1;2,1 --t 2", 63, 75, None),
        ("--layers 3,4,2;2,3 --t 2 --attention softmax", 23, 27, None),
        ("--d 3 --d-out 3 --a 3 --heads 1", 17, None, 27),
        ("--d 3 --d-out 3 --a 3 --heads 2", 32, None, 54),
        ("--d 3 --d-out 3 --a 3 --heads 3", 45, None, 81),
        ("--d 3 --d-out 3 --a 3 --heads 4", 54, None, 108),
        ("--layers 3,3;3 --heads 4", 54, None, 108),
    ],
)
def test_dimension(
    arguments: str, dimension: int, published: int | None, parameters: int | None, m2bridge: Run
) -> None:
    document = answer(m2bridge, "dimension", *arguments.split())
    assert document["dimension"] == document["lower"] == document["upper"] == dimension
    assert document["certainty"] == {"dimension": "proved"}
    assert document["method"] == "rank"
    assert document["primes"]
    if published is not None:
        assert document["formula"] == published
        assert document["reason"]
    if parameters is not None:
        assert document["parameters"] == parameters
        assert document["excess"] == parameters - dimension


@pytest.mark.parametrize("t", [1, 2, 3])
def test_dimension_of_one_layer(t: int, m2bridge: Run) -> None:
    for d, d_out, a in [
        (1, 1, 1),
        (1, 2, 2),
        (2, 1, 1),
        (2, 2, 3),
        (3, 1, 2),
        (4, 2, 1),
        (5, 3, 3),
    ]:
        sizes = ["--d", d, "--d-out", d_out, "--a", a, "--t", t]
        alpha, b = min(a, d), min(2 * a, d)
        expected = d * d_out + (2 * alpha * d - alpha**2 if t > 1 else b * d - b * (b - 1) // 2) - 1
        assert answer(m2bridge, "dimension", *map(str, sizes))["dimension"] == expected


def test_dimension_by_other_methods(m2bridge: Run) -> None:
    network = ["--layers", "3,4,2;2,3", "--attention", "softmax"]
    jets = answer(m2bridge, "dimension", *network, "--method", "jets", "--seed", "4")
    assert (jets["dimension"], jets["method"], jets["seed"]) == (23, "jets", 4)
    formula = answer(m2bridge, "dimension", *network, "--method", "formula")
    assert (formula["dimension"], formula["refined"], formula["primes"]) == (23, 23, [])
    numerical = answer(m2bridge, "dimension", *network, "--method", "numerical")
    assert (numerical["dimension"], numerical["lower"]) == (23, None)
    assert numerical["certainty"] == {"dimension": "numerical"}
    assert numerical["gap"] > 1e3
    prime = answer(m2bridge, "dimension", "--layers", "2,2;1", "--prime", "65537")
    assert prime["primes"] == [65537]
    for wrong in (["--method", "guess"], ["--prime", "65535"], ["--seed", "-1"]):
        status, out, messages = m2bridge("dimension", "--layers", "2,2;1", *wrong)
        assert (status, out) == (2, "")
        assert wrong[0].removeprefix("--") in messages


def test_dimension_for_people(m2bridge: Run) -> None:
    status, out, _ = m2bridge("dimension", "--layers", "3,3,3;1,2")
    assert status == 0
    assert "18" in out
    assert "20" in out
    assert "proved" in out


# fibre


def test_fibre_over_a_general_function(m2bridge: Run) -> None:
    document = answer(m2bridge, "fibre", "--layers", "4,4,4;2,2", "--t", "3")
    assert (document["dimension"], document["reduced_points"]) == (26, 1)
    assert sum(factor["dimension"] for factor in document["factors"]) == 26
    assert document["m2"] is None
    assert document["provenance"] is None
    status, _, messages = m2bridge("fibre", "--weights", "w.json", "--prove")
    assert status == 2
    assert "--prove" in messages


@pytest.mark.m2
def test_fibre_proved_by_macaulay2(m2bridge: Run, tmp_path: Path) -> None:
    scripts = tmp_path / "scripts"
    document = answer(
        m2bridge,
        *("fibre", "--layers", "2,2,1;1,1", "--t", "1", "--prove", "--seed", "3"),
        *("--no-cache", "--save-scripts", str(scripts)),
    )
    assert document["reduced_points"] == document["m2"]["points"] == document["m2"]["length"] == 3
    assert document["m2"]["seed"] == 3
    assert [script["cached"] for script in document["provenance"]["scripts"]] == [False]
    assert (scripts / "01-reduced_fibre.m2").exists()
    status, out, messages = m2bridge("fibre", "--layers", "9,9,9;2,2", "--prove")
    assert (status, out) == (1, "")
    assert "more than the limit" in messages


# unroll, models, plot


def test_unroll(m2bridge: Run, tmp_path: Path) -> None:
    network = ["--layers", "4,3,2;2,1", "--t", "3"]
    document = answer(m2bridge, "unroll", *network)
    by_left = {formula["left"]: formula["right"] for formula in document["formulas"]}
    assert by_left["V~_2"] == "V_2 V_1"
    assert by_left["A~_2"] == "(V_1)^T K_2^T Q_2 (V_1)"
    assert by_left["phi(X)"] == "V~_2 X H_2"
    shapes = {node["label"]: node["shape"] for node in document["nodes"]}
    assert (shapes["V_2"], shapes["A~_2"], shapes["H_1"]) == ([2, 3], [4, 4], [3, 3])
    status, out, _ = m2bridge("unroll", *network, "--latex")
    assert status == 0
    assert out.strip() == document["latex"]
    assert out.count(r"\tilde") >= 3
    picture = tmp_path / "picture.png"
    assert m2bridge("unroll", *network, "--out", str(picture))[0] == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    status, _, messages = m2bridge("unroll", *network, "--heads", "2")
    assert status == 2
    assert "one head per layer" in messages


def test_models(m2bridge: Run) -> None:
    document = answer(m2bridge, "models")
    assert document["attention"] == "softmax"
    (base,) = [row for row in document["models"] if row["name"] == "BERT base"]
    # One head: Q, K, V of size 64 x 768; GL(64) is all that does nothing.
    assert base["head_parameters"] == 3 * 64 * 768
    assert base["head_dimension"] == 3 * 64 * 768 - 64**2
    assert base["gap"] == 12 * 12 * 64**2
    assert all("arXiv" in row["source"] or "Radford" in row["source"] for row in document["models"])
    lightning = answer(m2bridge, "models", "--attention", "lightning")
    (other,) = [row for row in lightning["models"] if row["name"] == "BERT base"]
    assert other["gap"] == base["gap"] + 12 * 12  # and the scaling of each head
    status, out, _ = m2bridge("models")
    assert status == 0
    assert "589,824" not in out.splitlines()[0]
    assert "BERT base [2]" in out
    assert m2bridge("models", "--attention", "hard")[0] == 2


def test_plot_dimension(m2bridge: Run, tmp_path: Path) -> None:
    picture = tmp_path / "dimension.svg"
    status, _, messages = m2bridge("plot", "dimension", "--widths", "1..3", "--out", str(picture))
    assert status == 0, messages
    assert "<svg" in picture.read_text()
    wrong = m2bridge("plot", "dimension", "--widths", "1..x", "--out", str(picture))
    assert wrong[0] == 2
    assert m2bridge("plot", "dimension", "--widths", "1", "--out", str(tmp_path / "p.gif"))[0] == 2


# sweep

GRID = ["--layers", "4,4,4", "--layers", "3,2,1", "--layers", "5,5,5;2,1", "--a", "1..3"]
GRID += ["--t", "1,2,3", "--attention", "lightning", "--attention", "softmax"]
CASES = (2 * 3 + 1) * 3 * 2


def plain(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in row.items() if key != "seconds"} for row in rows]


def test_sweep_in_all_formats(m2bridge: Run, tmp_path: Path) -> None:
    small = ["--layers", "2,2", "--layers", "2,0;1", "--a", "1,2", "--heads", "1,2"]
    printed = answer(m2bridge, "sweep", *small)
    assert printed["failed"] == 2
    assert len(printed["rows"]) == 6
    by_model = {(row["dims"], row["ranks"], row["heads"]): row for row in printed["rows"]}
    assert by_model["2,2", "1", 1]["dimension"] == 6
    assert by_model["2,0", "1", 1]["status"] == "failed"
    assert by_model["2,0", "1", 1]["error_type"] == "ValueError"
    for ending in ("csv", "json", "parquet"):
        file = tmp_path / f"table.{ending}"
        status, out, messages = m2bridge("sweep", *small, "--out", str(file))
        assert (status, out) == (0, "")
        assert f"6 computed, 0 from before, 2 failed; wrote {file}" in messages
        found = plain(read_table(file))
        if ending == "csv":
            text = [{k: "" if v is None else str(v) for k, v in r.items()} for r in printed["rows"]]
            names = set().union(*text)
            assert found == plain([{name: row.get(name, "") for name in names} for row in text])
        else:
            names = {name for row in printed["rows"] for name in row}
            expected = plain([{n: row.get(n) for n in names} for row in printed["rows"]])
            assert [{n: row.get(n) for n in expected[0]} for row in found] == expected
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".csv", ".json", ".parquet"]


def test_sweep_of_fibres(m2bridge: Run) -> None:
    found = answer(m2bridge, "sweep", "--layers", "2,2,1", "--a", "1,2", "--question", "fibre")
    assert [row["reduced_points"] for row in found["rows"]] == [3, 1]
    assert m2bridge("sweep", "--layers", "2,2", "--a", "1", "--question", "no")[0] == 2
    assert m2bridge("sweep", "--layers", "2,2", "--a", "1", "--out", "table.xlsx")[0] == 2
    assert m2bridge("sweep", "--layers", "2,2")[0] == 2


@pytest.mark.parametrize(
    ("ending", "jobs"),
    [
        ("csv", 1),
        pytest.param("json", 1, marks=pytest.mark.slow),
        pytest.param("parquet", 2, marks=pytest.mark.slow),
    ],
)
def test_an_interrupted_sweep_continues(
    ending: str, jobs: int, m2bridge: Run, tmp_path: Path
) -> None:
    out = tmp_path / f"table.{ending}"
    command = ["sweep", *GRID, "--jobs", str(jobs), "--out", str(out)]
    journal = out.with_name(out.name + ".journal")
    process = subprocess.Popen(
        [sys.executable, "-m", "m2bridge", *command],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        while process.poll() is None and _rows(journal) < 4:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)  # Ctrl-C reaches the whole group
        messages = process.communicate(timeout=60)[1]
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 130, messages
    assert "interrupted" in messages
    assert not out.exists()
    before = journal.read_text().splitlines()[1:]
    assert 4 <= len(before) < CASES
    status, _, messages = m2bridge(*command)
    assert status == 0
    assert f"{CASES - len(before)} computed, {len(before)} from before, 0 failed" in messages
    assert not journal.exists()
    whole = answer(m2bridge, "sweep", *GRID)["rows"]
    names = [name for name in whole[0] if name != "seconds"]
    if ending == "csv":
        with out.open(newline="") as file:
            found = [{name: row[name] for name in names} for row in csv.DictReader(file)]
        text = [{name: row[name] for name in names} for row in plain(whole)]
        assert found == [{k: "" if v is None else str(v) for k, v in row.items()} for row in text]
    else:
        assert [{name: row[name] for name in names} for row in read_table(out)] == plain(whole)
    # Rows from before the interruption were kept as they were, their times too.
    kept = {json.loads(line)["row"]["seconds"] for line in before}
    assert kept <= {float(row["seconds"]) for row in read_table(out)}


def _rows(journal: Path) -> int:
    try:
        return max(0, journal.read_text().count("\n") - 1)
    except FileNotFoundError:
        return 0
