"""Macaulay2's word on the equations of a component."""

from __future__ import annotations

from typing import Any

from m2bridge.geometry.strata.closures import Component

__all__ = ["confirmed_component"]


def confirmed_component(component: Component, session: Any) -> Component:
    raise NotImplementedError
