"""What rings, ideals, matrices and maps have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, Self, TypeVar

__all__ = ["SessionValue"]

_T = TypeVar("_T")


class SessionValue:
    """An immutable value whose questions go to one session; answers are kept with the value.

    A copy is the value itself. Another process has no such session, so nothing is pickled.
    """

    _kept: dict[Any, Any]

    def _once(self, key: Any, compute: Callable[[], _T]) -> _T:
        if key not in self._kept:
            self._kept[key] = compute()
        return self._kept[key]  # type: ignore[no-any-return]

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        name = type(self).__name__
        raise TypeError(
            f"this {name} asks a session of Macaulay2, which another process does not have; "
            "pickle its sympy objects (symbols, generators, rows, images), and make it again there"
        )
