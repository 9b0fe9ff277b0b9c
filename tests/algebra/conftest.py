"""One warm Macaulay2 for all tests of the algebra."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from m2bridge.algebra import Macaulay2


@pytest.fixture(scope="session")
def m2() -> Iterator[Macaulay2]:
    with Macaulay2(memory="4G", timeout=120) as opened:
        yield opened
