"""A stand-in for Macaulay2 and a place for its folders, for tests of what is around it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from m2bridge.engine import Session, open_session

Open = Callable[..., Session]


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where this test's private folders are made."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    return folder


@pytest.fixture
def fake(tmp_path: Path) -> Path:
    """An executable that behaves like M2, or as badly as it is told."""
    executable = tmp_path / "M2"
    program = Path(__file__).with_name("fake_m2.py")
    executable.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "{program}" "$@"\n')
    executable.chmod(0o755)
    return executable


@pytest.fixture
def begin(fake: Path, temporary: Path) -> Iterator[Open]:
    """Opens sessions on the stand-in; in the end nothing of theirs may be left on disk."""
    opened: list[Session] = []

    def begin_session(**options: object) -> Session:
        opened.append(open_session(path=fake, **{"timeout": 20, **options}))  # type: ignore[arg-type]
        return opened[-1]

    yield begin_session
    for session in opened:
        session.close()
    assert list(temporary.iterdir()) == []
