"""Monomial orders: sympy's, ours and M2's are the same."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from sympy import Symbol
from sympy.polys.domains import QQ
from sympy.polys.orderings import build_product_order, grevlex, grlex, lex

from m2bridge.algebra import Macaulay2
from m2bridge.algebra.orders import MonomialOrder, monomial_order

GRID = list(product(range(3), repeat=4))
ORDERS: list[Any] = [
    "lex",
    "grlex",
    "grevlex",
    ("elimination", 0),
    ("elimination", 1),
    ("elimination", 2),
    ("weights", [3, 1, 2, 1]),
    ("weights", [0, 0, 1, 0]),
    ("block", [("grevlex", 2), ("lex", 2)]),
    ("block", [("lex", 1), ("grlex", 3)]),
    ("block", [("grevlex", 2), ("grevlex", 2)]),
    ("block", [("grlex", 2), ("grlex", 2)]),
]


@pytest.mark.parametrize("known", [lex, grlex, grevlex])
def test_as_sympy_orders(known: Any) -> None:
    ours = monomial_order(known, 4)
    assert ours.sympy_order is known
    assert sorted(GRID, key=ours) == sorted(GRID, key=known)


def test_blocks_as_sympys_product_order() -> None:
    gens = tuple(map(Symbol, "abcd"))
    theirs = build_product_order((("grevlex", *gens[:2]), ("lex", *gens[2:])), gens)
    ours = monomial_order(("block", [("grevlex", 2), ("lex", 2)]), 4)
    assert sorted(GRID, key=ours) == sorted(GRID, key=theirs)


def test_elimination_order_puts_the_first_variables_above_everything() -> None:
    order = monomial_order(("elimination", 2), 4)
    with_first = [m for m in GRID if m[0] or m[1]]
    without = [m for m in GRID if not (m[0] or m[1])]
    assert min(map(order, with_first)) > max(map(order, without))


@pytest.mark.m2
@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_macaulay2_has_the_same_order(m2: Macaulay2, order: Any) -> None:
    """M2 sends terms in its own order."""
    ring = m2.ring("a b c d", order=order)
    element = ring.poly_ring.from_dict({m: QQ(1) for m in GRID})
    (back,) = m2.ask("generators", ring, [ring.ideal(element)]).elements
    assert list(back) == sorted(GRID, key=ring.order, reverse=True)


@pytest.mark.parametrize(
    "order",
    [
        "degrevlex",
        None,
        ("elimination", 5),
        ("elimination", -1),
        ("weights", [1]),
        ("weights", [1, 1, 1, -1]),
        ("weights", [1, 1, 1, 2**31]),
        ("block", [("lex", 3)]),
        ("block", [("lex", 5)]),
        ("block", [("grevlex", -1), ("lex", 5)]),
        ("block", [("revlex", 4)]),
        MonomialOrder("lex", (("lex", 3),)),
    ],
    ids=str,
)
def test_bad_orders(order: Any) -> None:
    with pytest.raises(ValueError):
        monomial_order(order, 4)


@pytest.mark.parametrize(
    "order",
    [
        *(("elimination", True), ("weights", [1, 1, 1, 0.5]), ("weights", None)),
        *(("block", None), ("block", [4]), ("block", ["lex"]), ("block", [("lex", 2, 2)])),
    ],
    ids=str,
)
def test_orders_of_wrong_types(order: Any) -> None:
    with pytest.raises(TypeError):
        monomial_order(order, 4)
