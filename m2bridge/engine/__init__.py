"""Engines: where a Macaulay2 is, how to start it, talk to it, limit it and end it.

Nothing here knows what a polynomial is. Only this package starts processes.
"""

from m2bridge.engine.channel import Channel, Engine, Exit, Limits
from m2bridge.engine.discovery import Installation, find_m2
from m2bridge.engine.install import InstallReport, install_m2
from m2bridge.engine.local import LocalEngine
from m2bridge.engine.opening import ENGINES, open_engine, open_session
from m2bridge.engine.pool import Pool
from m2bridge.engine.replay import RecordingEngine, ReplayEngine
from m2bridge.engine.session import Answer, Session

__all__ = [
    "ENGINES",
    "Answer",
    "Channel",
    "Engine",
    "Exit",
    "InstallReport",
    "Installation",
    "Limits",
    "LocalEngine",
    "Pool",
    "RecordingEngine",
    "ReplayEngine",
    "Session",
    "find_m2",
    "install_m2",
    "open_engine",
    "open_session",
]
