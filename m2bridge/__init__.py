"""Macaulay2 as an exact engine for Python, and the exact geometry of lightning self-attention.

    from m2bridge import Macaulay2, LightningAttention, AttentionNetwork

Names are imported when they are first used, so that ``import m2bridge`` is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from m2bridge.algebra import Ideal, Macaulay2, Matrix, Ring
    from m2bridge.engine import Pool, RecordingEngine, ReplayEngine
    from m2bridge.errors import (
        DockerError,
        EngineError,
        M2BridgeError,
        M2CrashedError,
        M2Error,
        M2InterruptedError,
        M2MemoryError,
        M2NotFoundError,
        M2TimeoutError,
        SizeLimitError,
        VerificationError,
        WireError,
    )
    from m2bridge.models import AttentionNetwork, LightningAttention

    __version__: str

__all__ = [
    "AttentionNetwork",
    "DockerError",
    "EngineError",
    "Ideal",
    "LightningAttention",
    "M2BridgeError",
    "M2CrashedError",
    "M2Error",
    "M2InterruptedError",
    "M2MemoryError",
    "M2NotFoundError",
    "M2TimeoutError",
    "Macaulay2",
    "Matrix",
    "Pool",
    "RecordingEngine",
    "ReplayEngine",
    "Ring",
    "SizeLimitError",
    "VerificationError",
    "WireError",
    "__version__",
]

_HOMES = {
    "AttentionNetwork": "models",
    "LightningAttention": "models",
    "Macaulay2": "algebra",
    "Ring": "algebra",
    "Ideal": "algebra",
    "Matrix": "algebra",
    "Pool": "engine",
    "RecordingEngine": "engine",
    "ReplayEngine": "engine",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'm2bridge' has no attribute {name!r}")
    if name == "__version__":
        from m2bridge.version import m2bridge_version

        return m2bridge_version()
    home = importlib.import_module(f"m2bridge.{_HOMES.get(name, 'errors')}")
    return getattr(home, name)


def __dir__() -> list[str]:
    return sorted(__all__)
