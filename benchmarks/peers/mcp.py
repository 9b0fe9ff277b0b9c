"""macaulay2-mcp: its session class, driven directly."""

from __future__ import annotations

import asyncio

from common import GROEBNER, TRIVIAL, measured, median_of, once
from macaulay2_mcp.kernel import M2Session

loop = asyncio.new_event_loop()


def evaluate(session: M2Session, code: str) -> object:
    return loop.run_until_complete(session.evaluate(code))


session = M2Session()
if measured("cold start", lambda: once(lambda: evaluate(session, "1"))):
    assert "4" in str(evaluate(session, TRIVIAL))
    measured("round trip", lambda: median_of(lambda: evaluate(session, TRIVIAL), 200))
    measured("Groebner basis", lambda: median_of(lambda: evaluate(session, GROEBNER), 100))
loop.run_until_complete(session.close())
