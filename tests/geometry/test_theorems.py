"""The theorem table: where common statements hold, by computation."""

from __future__ import annotations

import pytest

from m2bridge.geometry.theorems import STATEMENTS, verify_theorems


@pytest.fixture(scope="module")
def table():
    return verify_theorems(3, 2, 3, gradient_coordinates=20)


def test_dimension_formula_holds_everywhere(table):
    assert table.counts()["dimension"] == (18, 18)


def test_where_rank_one_is_all_that_is_singular(table):
    """Not for d = 1, not for d_out = a = 1, not for 2 <= a < d with d_out >= 2."""
    wrong = {(r.d, r.d_out, r.a) for r in table.exceptions if r.statement == "singular"}
    expected = {
        (d, d_out, a)
        for d in (1, 2, 3)
        for d_out in (1, 2)
        for a in (1, 2, 3)
        if d == 1 or (d_out, a) == (1, 1) or (2 <= a < d and d_out >= 2)
    }
    assert wrong == expected


def test_other_exceptions(table):
    by_statement = {
        name: {(r.d, r.d_out, r.a) for r in table.exceptions if r.statement == name}
        for name in STATEMENTS
    }
    width_one = {(1, d_out, a) for d_out in (1, 2) for a in (1, 2, 3)}
    assert by_statement["fibre"] == by_statement["boundary"] == width_one
    assert by_statement["generic fibre"] == {(1, 1, 1)}


def test_exceptions_have_witnesses(table):
    for row in table.exceptions:
        assert "V = [[" in row.witness
    assert all(not row.witness for row in table.rows if row.agrees)
    row = next(r for r in table.exceptions if (r.d, r.d_out, r.a) == (3, 2, 2))
    assert "(2, 1, 3)" in row.witness
    assert "tangent dimension 14, dimension 13" in row.witness


def test_what_was_computed_is_called_so(table):
    for row in table.rows:
        if row.statement == "singular" and row.d * row.d * (row.d + 1) // 2 * row.d_out <= 20:
            assert row.warrant == "computed"
    document = table.to_dict()
    assert len(document["rows"]) == 5 * 18
    assert document["counts"]["dimension"] == [18, 18]


def test_bad_arguments():
    with pytest.raises(ValueError, match="max_d must be at least 1"):
        verify_theorems(0)
    with pytest.raises(TypeError, match="max_a must be an integer"):
        verify_theorems(2, 2, 2.0)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="max_d must be an integer"):
        verify_theorems(True)
