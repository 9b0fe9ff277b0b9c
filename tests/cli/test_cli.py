"""The command line as its users meet it: in a process of its own."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from m2bridge.cli import COMMANDS


def m2bridge(
    *arguments: str, stdin: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "m2bridge", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, **environment},
        check=False,
    )


def test_help_names_every_command_and_each_has_help() -> None:
    text = m2bridge("--help").stdout
    for name in COMMANDS:
        assert name in text


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of(name: str) -> None:
    done = m2bridge(name, "--help")
    assert done.returncode == 0
    assert "Usage: m2bridge" in done.stdout


def test_version_is_quick_and_right() -> None:
    done = m2bridge("--version")
    assert done.stdout.startswith("m2bridge, version ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["analyze", "--d", "0", "--d-out", "1", "--a", "1"], "d must be a positive integer"),
        (["analyze", "--d", "2", "--d-out", "1"], "missing --a"),
        (["analyze", "--d", "x", "--d-out", "1", "--a", "1"], "not a valid integer"),
        (["analyze", "--d", "2.5", "--d-out", "1", "--a", "1"], "not a valid integer"),
        (["analyze", "--d", "2", "--d-out", "1", "--a", "1", "--t", "-1"], "t must be"),
        (["analyze", "--d", "2", "--d-out", "1", "--a", "1", "--engine", "abacus"], "abacus"),
        (["analyze", "--d", "2", "--d-out", "1", "--a", "1", "--memory", "big"], "memory"),
        (["analyze", "--d", "2", "--d-out", "1", "--a", "1", "--timeout", "0"], "time limit"),
        (["dimension", "--layers", "4,4"], "not of the form"),
        (["dimension", "--layers", "4,4;2", "--d", "3"], "--layers goes without"),
        (["dimension", "--layers", "4,4,4;2"], "one attention dimension per layer"),
        (["dimension", "--layers", "4,4;2", "--attention", "hard"], "attention must be"),
        (["dimension", "--layers", "4,4"], "quotes are needed"),
        (["analyze", "--layers", "4,4,4;2,2"], "for deep networks there are dimension"),
        (["nonsense"], "No such command"),
        (["analyse"], "Did you mean 'analyze'?"),
        (["singular_locus"], "Did you mean 'singular-locus'?"),
    ],
)
def test_bad_arguments(arguments: list[str], words: str) -> None:
    done = m2bridge(*arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stdout == ""


def test_no_macaulay2(tmp_path: Path) -> None:
    done = m2bridge(
        "analyze", "--d", "2", "--d-out", "1", "--a", "1", M2BRIDGE_M2=str(tmp_path / "nothing")
    )
    assert done.returncode == 3
    assert "install-m2" in done.stderr


def test_an_old_macaulay2_is_refused(tmp_path: Path) -> None:
    old = tmp_path / "M2"
    old.write_text("#!/bin/sh\necho 1.15\n")
    old.chmod(0o755)
    done = m2bridge("analyze", "--d", "2", "--d-out", "1", "--a", "1", "--m2", str(old))
    assert done.returncode == 3
    assert "1.15" in done.stderr
    assert "1.21" in done.stderr


def test_something_that_is_not_macaulay2(tmp_path: Path) -> None:
    other = tmp_path / "M2"
    other.write_text("#!/bin/sh\necho hello\n")
    other.chmod(0o755)
    done = m2bridge("ideal", "--d", "2", "--d-out", "1", "--a", "1", "--m2", str(other))
    assert done.returncode == 3
    assert "does not look like Macaulay2" in done.stderr


def test_a_crashing_macaulay2(tmp_path: Path) -> None:
    broken = tmp_path / "M2"
    broken.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo 1.26.06 && exit\necho oh no >&2\nexit 9\n'
    )
    broken.chmod(0o755)
    done = m2bridge("analyze", "--d", "2", "--d-out", "1", "--a", "1", "--m2", str(broken))
    assert done.returncode == 1
    assert "status 9" in done.stderr
    assert "oh no" in done.stderr


def test_unwritable_output(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("here first")
    done = m2bridge("analyze", "--d", "2", "--d-out", "1", "--a", "1", "--out", str(file / "out"))
    assert done.returncode == 1
    assert "cannot be written" in done.stderr
    assert file.read_text() == "here first"


def test_dimension_as_json() -> None:
    done = m2bridge("dimension", "--layers", "4,4,4,4;2,2,2", "--t", "3", "--json")
    document = json.loads(done.stdout)
    assert (document["dimension"], document["parameters"]) == (49, 96)
    assert document["certainty"] == {"dimension": "proved"}
    assert document["lower"] == document["upper"] == 49


def test_strata_as_json() -> None:
    document = json.loads(
        m2bridge("strata", "--d", "2", "--d-out", "1", "--a", "2", "--json").stdout
    )
    rows = {(s["rank_v"], s["rank_a"], s["rank_va"]): s for s in document["strata"]}
    assert rows[1, 1, 1]["dimension"] == 3
    assert rows[1, 1, 1]["tangent_dimension"] == 6
    assert rows[1, 1, 1]["boundary"] is True
    assert rows[1, 1, 1]["fibre_points"] == 1
    assert rows[1, 1, 1]["fibre_reduced"] is False
    assert rows[1, 1, 2]["fibre_points"] == 2
    assert rows[1, 2, 2]["singular"] is False


def test_recognize_and_identify(tmp_path: Path) -> None:
    weights = {"Q": [[1, 0], [0, "1/2"]], "K": [[1, 2], [3, 4]], "V": [[1, -1]]}
    file = tmp_path / "weights.json"
    file.write_text(json.dumps(weights))
    placed = json.loads(m2bridge("identify", str(file), "--json").stdout)
    assert (placed["rank_v"], placed["rank_a"], placed["rank_va"]) == (1, 2, 2)
    assert placed["model"] == {"kind": "lightning", "d": 2, "d_out": 1, "a": 2, "t": 2}
    # A = K^T Q = [[1, 3/2], [2, 2]] and V = (1, -1): T_pq,r = V_p A_qr + V_q A_pr
    yes = '[1, "3/2", 1, "1/2", -2, -2]'
    document = json.loads(
        m2bridge(
            "recognize", "-", "--d", "2", "--d-out", "1", "--a", "2", "--json", stdin=yes
        ).stdout
    )
    assert document["representable"] is True
    no = "[1, 0, 0, 0, 1, 0]"  # u (x) (w_0^2 + w_1^2) (x) q: only with complex weights
    refused = json.loads(
        m2bridge(
            "recognize", "-", "--d", "2", "--d-out", "1", "--a", "2", "--json", stdin=no
        ).stdout
    )
    assert refused["representable"] is False
    assert refused["over_complex"] is True
    done = m2bridge("recognize", "-", "--d", "2", "--d-out", "1", "--a", "2", stdin="[1, 2]")
    assert done.returncode == 2
    assert "6" in done.stderr


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("away.npz", "away.npz cannot be read: No such file or directory"),
        ("other.npy", "weights are read from an .npz file or JSON with Q, K and V"),
        ("empty.npz", "cannot be read as a .npz file"),
        ("bytes.json", "is not JSON: it is no text"),
        ("two.npz", "has no V; it must hold Q, K and V"),
        ("turned.npz", "Q is 64 x 8 and V is 4 x 64, but Q, K (a x d) and V (d_out x d)"),
        ("uneven.npz", "K must be a 2 x 3 matrix, got 2 x 2"),
    ],
)
def test_weights_that_cannot_be_used(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / "other.npy").write_bytes(b"\x93NUMPY")
    (tmp_path / "bytes.json").write_bytes(b"\x93NUMPY")
    (tmp_path / "empty.npz").touch()
    one = np.ones
    np.savez(tmp_path / "two.npz", Q=one((2, 2)), K=one((2, 2)))
    np.savez(tmp_path / "turned.npz", Q=one((64, 8)), K=one((64, 8)), V=one((4, 64)))
    np.savez(tmp_path / "uneven.npz", Q=one((2, 3)), K=one((2, 2)), V=one((1, 3)))
    done = m2bridge("identify", str(tmp_path / name))
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stdout == ""


@pytest.mark.m2
def test_analyze_writes_everything(tmp_path: Path) -> None:
    out = tmp_path / "out"
    sizes = ["--d", "2", "--d-out", "1", "--a", "2", "--t", "2"]
    done = m2bridge(
        "analyze", *sizes, "--json", "--out", str(out), "--save-scripts", str(tmp_path / "s")
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document == json.loads((out / "report.json").read_text())
    assert document["model"] == {"kind": "lightning", "d": 2, "d_out": 1, "a": 2, "t": 2}
    numbers = {
        "parameters": 10,
        "ambient_dimension": 6,
        "dimension": 5,
        "codimension": 1,
        "degree": 4,
        "expected_dimension": 5,
        "generators_by_degree": {"4": 1},
    }
    assert {key: document[key] for key in numbers} == numbers
    assert len(document["coordinates"]) == 6
    (component,) = document["singular_locus"]["components"]
    assert (component["dimension"], component["degree"]) == (4, 3)
    assert component["strata"] == [[1, 1, 2], [1, 1, 1]]
    assert document["boundary"]["dimension"] == 3
    assert document["provenance"]["scripts"]
    assert "Lightning" in (out / "report.txt").read_text()
    assert sorted(p.name for p in (tmp_path / "s").iterdir()) == sorted(
        p.name for p in (out / "scripts").iterdir()
    )


@pytest.mark.m2
def test_a_time_limit_has_its_own_status() -> None:
    sizes = ["--d", "3", "--d-out", "2", "--a", "2", "--t", "2"]
    done = m2bridge("ideal", *sizes, "--method", "elimination", "--timeout", "2")
    assert done.returncode == 5, done.stderr
    assert "within the limit of 2 s" in done.stderr


@pytest.mark.m2
def test_a_memory_limit_has_its_own_status(tmp_path: Path) -> None:
    program = tmp_path / "eater.m2"
    program.write_text("L = {}; while true do L = {L, new MutableList from 0..1000000}\n")
    done = m2bridge("run", str(program), "--memory", "512M", "--timeout", "200")
    assert done.returncode == 6, done.stderr
    assert "512 MiB" in done.stderr


@pytest.mark.m2
def test_doctor() -> None:
    document = json.loads(m2bridge("doctor", "--json").stdout)
    assert document["ok"] is True
    found = {finding["name"]: finding for finding in document["findings"]}
    assert found["matplotlib"]["ok"] is (find_spec("matplotlib") is not None)
    assert found["matplotlib"]["needed"] is False
    assert document["m2"]["version"].startswith("1.")
    assert document["packages"]["MinimalPrimes"] is True
