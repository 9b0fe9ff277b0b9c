"""macaulay2-mcp: its session class, driven directly."""

from __future__ import annotations

import asyncio

from common import serve
from macaulay2_mcp.kernel import M2Session

loop = asyncio.new_event_loop()


def evaluate(session: M2Session, code: str) -> object:
    return loop.run_until_complete(session.evaluate(code))


session = M2Session()
serve(lambda: evaluate(session, "1"), lambda code: evaluate(session, code))
loop.run_until_complete(session.close())
