"""A sweep on a local Dask cluster, through its executor interface."""

from __future__ import annotations

from functools import partial

import pytest

from m2bridge.geometry.sweep import grid, sweep
from m2bridge.geometry.sweep.questions import dimension_row

distributed = pytest.importorskip("distributed", reason="needs the extra 'cluster'")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the cluster's own libraries
def test_same_rows_on_a_cluster() -> None:
    cases = grid(dims=[(2, 2), (2, 3, 1)], ranks=[1, 2, 0], t=[1, 2])
    question = partial(dimension_row, seed=3)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        found = sweep(cases, question, executor=client.get_executor())
    expected = sweep(cases, question)
    assert found.failed == expected.failed == 4
    for mine, theirs in zip(found.rows, expected.rows, strict=True):
        assert {**mine, "seconds": 0} == {**theirs, "seconds": 0}
