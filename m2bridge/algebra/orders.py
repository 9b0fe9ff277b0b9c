"""Monomial orders, said once for sympy (as a key) and for Macaulay2 (as blocks of integers).

An order is a list of blocks that are compared one after another: ``weights`` looks at all
variables, ``grevlex`` and ``lex`` at the next so many of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sympy.polys.orderings import grevlex, grlex, lex

__all__ = ["MonomialOrder", "monomial_order"]

_SYMPY_ORDERS = {"lex": lex, "grlex": grlex, "grevlex": grevlex}
_CODES = {"grevlex": 1, "lex": 2, "weights": 3}
_LARGEST_WEIGHT = 2**31 - 1

Block = tuple[str, int | tuple[int, ...]]


@dataclass(frozen=True)
class MonomialOrder:
    """A global monomial order on exponent vectors of a fixed length.

    Calling it gives a sort key, so that sympy accepts it wherever it accepts an order.

    Attributes:
        name: how the user named it.
        blocks: ``("grevlex", size)``, ``("lex", size)``, ``("weights", one integer per variable)``.
    """

    name: str
    blocks: tuple[Block, ...]

    def __call__(self, exponents: Sequence[int]) -> tuple[Any, ...]:
        key: list[Any] = []
        start = 0
        for kind, data in self.blocks:
            if isinstance(data, tuple):
                key.append(sum(w * e for w, e in zip(data, exponents, strict=True)))
                continue
            part = exponents[start : start + data]
            start += data
            if kind == "lex":
                key.append(tuple(part))
            else:
                key.append((sum(part), tuple(-e for e in reversed(part))))
        return tuple(key)

    def __str__(self) -> str:
        return self.name

    @property
    def sympy_order(self) -> Any:
        """What sympy's ``ring`` takes: its own object for its own orders, else this one."""
        return _SYMPY_ORDERS.get(self.name, self)

    @property
    def m2_blocks(self) -> list[list[Any]]:
        """The blocks as nested lists of integers, for ``makeRing`` in M2Algebra.m2.

        M2 reads weights from the first variable of the block that comes next.
        """
        found: list[list[Any]] = []
        start = 0
        for kind, data in self.blocks:
            if isinstance(data, tuple):
                found.append([_CODES[kind], list(data[start:])])
            else:
                found.append([_CODES[kind], data])
                start += data
        return found


def monomial_order(order: Any, size: int) -> MonomialOrder:
    """The order of this name on ``size`` variables.

    Args:
        order: ``"grevlex"``, ``"lex"``, ``"grlex"`` (or sympy's objects of these names),
            ``("elimination", k)`` (the first k variables are large),
            ``("weights", [w_1, ..., w_size])`` (ties are broken by grevlex),
            ``("block", [("grevlex", 2), ("lex", 1), ...])`` (a product order),
            or a ``MonomialOrder``.

    Raises:
        ValueError, TypeError: there is no such order on so many variables.
    """
    if isinstance(order, MonomialOrder):
        return _checked_size(order, size)
    for name, known in _SYMPY_ORDERS.items():
        if order == name or order is known:
            return MonomialOrder(name, _simple_blocks(name, 0, size, size))
    if isinstance(order, tuple | list) and len(order) == 2:
        kind, data = order
        if kind == "elimination":
            return _elimination(data, size)
        if kind == "weights":
            return _weighted(data, size)
        if kind == "block":
            return _product(data, size)
    raise ValueError(
        f"unknown monomial order {order!r}; there are 'grevlex', 'lex', 'grlex', "
        "('elimination', k), ('weights', [...]) and ('block', [('grevlex', 2), ('lex', 1)])"
    )


def _simple_blocks(name: str, start: int, count: int, size: int) -> tuple[Block, ...]:
    """One of sympy's three orders on ``count`` of ``size`` variables, from ``start`` on."""
    if count == 0:
        return ()
    if name == "grlex":
        ones = tuple(int(start <= i < start + count) for i in range(size))
        return ("weights", ones), ("lex", count)
    return ((name, count),)


def _elimination(count: Any, size: int) -> MonomialOrder:
    if isinstance(count, bool) or not isinstance(count, int):
        raise TypeError(f"the number of variables to eliminate is an int, not {count!r}")
    if not 0 <= count <= size:
        raise ValueError(f"cannot eliminate {count} of {size} variables")
    large = tuple(int(i < count) for i in range(size))
    blocks: tuple[Block, ...] = (("weights", large), ("grevlex", size)) if size else ()
    return MonomialOrder(f"elimination({count})", blocks)


def _weighted(weights: Any, size: int) -> MonomialOrder:
    given = tuple(weights) if hasattr(weights, "__iter__") else (None,)
    if any(isinstance(w, bool) or not isinstance(w, int) for w in given):
        raise TypeError(f"weights are ints, not {weights!r}")
    if len(given) != size:
        raise ValueError(f"{len(given)} weights for {size} variables")
    if any(not 0 <= w <= _LARGEST_WEIGHT for w in given):
        raise ValueError(f"weights lie between 0 and 2^31 - 1, not {weights!r}")
    blocks: tuple[Block, ...] = (("weights", given), ("grevlex", size)) if size else ()
    return MonomialOrder(f"weights{given}", blocks)


def _product(parts: Any, size: int) -> MonomialOrder:
    blocks: list[Block] = []
    start = 0
    pairs = list(parts) if hasattr(parts, "__iter__") else [parts]
    for part in pairs:
        if not isinstance(part, tuple | list) or len(part) != 2:
            raise TypeError(f"a block is a pair such as ('grevlex', 2), not {part!r}")
        name, count = part
        if name not in _SYMPY_ORDERS:
            raise ValueError(f"a block is 'grevlex', 'lex' or 'grlex', not {name!r}")
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise ValueError(f"a block's size is a natural number, not {count!r}")
        if start + count > size:
            raise ValueError(f"the blocks cover more than {size} variables")
        blocks.extend(_simple_blocks(name, start, count, size))
        start += count
    if start != size:
        raise ValueError(f"the blocks cover {start} of {size} variables")
    named = ", ".join(f"{name}:{count}" for name, count in pairs)
    return MonomialOrder(f"block({named})", tuple(blocks))


def _checked_size(order: MonomialOrder, size: int) -> MonomialOrder:
    covered = sum(data for _, data in order.blocks if isinstance(data, int))
    if covered != size:
        raise ValueError(f"this order is for {covered} variables, not for {size}")
    return order
