"""Block-wise rank against FLINT's rank of the whole matrix."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from m2bridge.attention import Network
from m2bridge.geometry.depth import rank as rank_module
from m2bridge.geometry.depth.echelon import Echelon, matrix_rank
from m2bridge.geometry.depth.rank import DEFAULT_PRIMES, RowSource, jacobian_rank

PRIME = DEFAULT_PRIMES[0]


@pytest.mark.parametrize(
    ("rows", "inner", "columns"), [(9, 4, 7), (12, 12, 5), (6, 1, 6), (8, 3, 40)]
)
def test_blocks_give_the_rank_of_the_whole(rows: int, inner: int, columns: int) -> None:
    generator = np.random.default_rng(rows)
    left = generator.integers(0, 9, size=(rows, inner))
    matrix = left @ generator.integers(0, 9, size=(inner, columns))
    matrix[:, 0] = 0  # pivots need not be the first columns
    expected = matrix_rank(matrix, PRIME)
    assert expected == np.linalg.matrix_rank(matrix)
    for size in (1, 2, 5, rows):
        echelon = Echelon(PRIME)
        grown = [echelon.add(matrix[i : i + size]) for i in range(0, rows, size)]
        assert echelon.rank == sum(grown) == expected


def test_zero_and_empty_matrices() -> None:
    assert matrix_rank(np.zeros((0, 3), dtype=np.int64), PRIME) == 0
    assert matrix_rank(np.zeros((2, 3), dtype=np.int64), PRIME) == 0
    echelon = Echelon(PRIME)
    assert echelon.add(np.zeros((2, 3), dtype=np.int64)) == 0
    assert echelon.add(np.ones((1, 3), dtype=np.int64)) == 1


def test_an_executor_works_only_a_few_chunks_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    source = RowSource(Network((4, 4, 4), (2, 2), 2), PRIME, 0)
    monkeypatch.setattr(rank_module, "_CHUNK_ENTRIES", source.network.parameters)
    expected = [source.rows(i) for i in range(20)]
    with ThreadPoolExecutor(2) as pool:
        submitted: list[int] = []
        submit = pool.submit
        monkeypatch.setattr(pool, "submit", lambda f, i: (submitted.append(i), submit(f, i))[1])
        got = []
        for chunk in rank_module._in_order(source, 20, pool):
            got.append(chunk)
            assert len(submitted) - len(got) < 4
    assert submitted == list(range(20))
    assert all((a == b).all() for a, b in zip(got, expected, strict=True))


def test_large_jacobians_take_the_other_road(monkeypatch: pytest.MonkeyPatch) -> None:
    source = RowSource(Network((4, 4, 4), (2, 2), 2), PRIME, 0)
    expected = jacobian_rank(source, 40)
    assert expected == 38
    monkeypatch.setattr(rank_module, "_ONE_CALL", 0)
    monkeypatch.setattr(rank_module, "_CHUNK_ENTRIES", 7 * source.network.parameters)
    seen: list[tuple[str, int, int | None]] = []
    assert jacobian_rank(source, 40, progress=lambda *s: seen.append(s)) == expected
    assert [done for stage, done, _ in seen if stage == "rank"] == [7, 14, 21, 28, 35, 40]
