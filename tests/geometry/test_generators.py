"""Polynomials as text and as lists for scripts, against sympy's own reading of them."""

import sympy

from m2bridge.attention import Layer
from m2bridge.geometry.generators import script_lists, texts
from m2bridge.geometry.implicit import implicit_ideal


def test_texts_are_sympy_syntax_of_the_same_polynomials() -> None:
    layer = Layer(2, 2, 2)
    generators = implicit_ideal(layer, certify=False, max_degree=4).generators
    names = {str(symbol): symbol for symbol in layer.symbols}
    for text, polynomial in zip(texts(generators, layer.symbols), generators, strict=True):
        assert sympy.Poly(sympy.parse_expr(text, names), *layer.symbols) == polynomial


def test_texts_of_corner_cases() -> None:
    x, y = sympy.symbols("x y")
    polynomials = [sympy.Poly(f, x, y) for f in (0, -1, 7, -x, x**2 - 3 * x * y**2 + 1)]
    assert texts(polynomials, (x, y)) == ["0", "-1", "7", "-x", "1 + x**2 - 3*x*y**2"]


def test_script_lists_clear_denominators() -> None:
    x, y = sympy.symbols("x y")
    assert script_lists([sympy.Poly(x / 2 - y**2 / 3, x, y)], (x, y)) == [
        [[3, [[0, 1]]], [-2, [[1, 2]]]]
    ]
