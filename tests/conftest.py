"""Fixtures that all tests may use. Tests marked m2 need a Macaulay2: without one they are skipped,
with the reason; where CI=true they fail, so that a machine without M2 cannot pass for tested."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from functools import lru_cache

import pytest

from m2bridge.engine import Installation, Session, find_m2, open_session
from m2bridge.errors import M2NotFoundError

# A shell starts background jobs with Ctrl-C ignored, and every process would inherit that; tests of
# interrupts need Python's own handler, here and in the processes that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)


@lru_cache(maxsize=1)
def _installation() -> Installation | str:
    """The Macaulay2 of these tests, or why there is none."""
    try:
        return find_m2()
    except M2NotFoundError as error:
        return str(error)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("m2") is None:
        return
    found = _installation()
    if isinstance(found, str):
        if os.environ.get("CI", "").lower() in ("1", "true", "yes"):
            pytest.fail(f"this run must have a Macaulay2, and has none: {found}", pytrace=False)
        pytest.skip(f"no Macaulay2: {found}")


@pytest.fixture(scope="session")
def installation() -> Installation:
    """The Macaulay2 of these tests."""
    found = _installation()
    assert isinstance(found, Installation), found
    return found


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    """A warm M2 for a module's tests; what one defines the next may see."""
    with open_session(memory="4G", timeout=120) as opened:
        yield opened


@pytest.fixture
def fresh_session() -> Iterator[Session]:
    """A session of the test's own, not started yet."""
    with open_session(memory="4G", timeout=120) as opened:
        yield opened


@pytest.fixture(autouse=True)
def _no_answers_of_yesterday(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test must run Macaulay2, not find an answer on disk."""
    monkeypatch.setenv("M2BRIDGE_CACHE", "off")
