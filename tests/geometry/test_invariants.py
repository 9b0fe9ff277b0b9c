"""The families of arXiv 2604.15632: counts, modules, and what they generate."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from m2bridge.attention.layer import Layer
from m2bridge.geometry.determinants import add, determinant, multiply, scale
from m2bridge.geometry.families import FAMILIES, Sizes
from m2bridge.geometry.implicit import implicit_ideal
from m2bridge.geometry.invariants import InvariantReport, invariants
from m2bridge.geometry.weights.space import decode


def described(report: InvariantReport) -> dict[str, list[str]]:
    return {f.name: [str(m) for m in f.irreducibles] for f in report.families}


def test_the_families_give_the_whole_ideal_of_3_1_3() -> None:
    report = invariants(Layer(3, 1, 3, 2))
    assert report.linear_relations == 10
    assert report.generated_by_degree == {3: 20, 4: 90}
    assert report.missing == {}
    assert report.whole is True
    modules = described(report)
    assert modules["cross-column cubics"] == ["[3;222;3]"]
    assert modules["context syzygies"] == ["[3;33;111]"]
    assert modules["resultant quartics"] == ["[4;44;22]"]
    assert "[4;44;22]" in modules["Veronese-type quartics"]
    assert report.certainty == "proved"


def test_published_families_of_3_1_2_include_the_minors() -> None:
    report = invariants(Layer(3, 1, 2), published_only=True)
    assert described(report)["low-rank minors"] == ["[3;411;111]", "[3;33;111]"]
    assert report.generated_by_degree == {3: 30, 4: 90}
    assert report.whole is True


@pytest.mark.parametrize("sizes", [(2, 1, 2), (2, 2, 1), (2, 2, 2), (2, 3, 2), (2, 3, 2, 1)])
def test_mirror_images_complete_the_families_for_d_2(sizes: tuple[int, ...]) -> None:
    report = invariants(Layer(*sizes))
    assert report.whole is True
    assert report.generated_by_degree == report.ideal.generators_by_degree


def test_what_is_missing_is_named() -> None:
    published = invariants(Layer(2, 2, 2), published_only=True)
    assert published.whole is False
    assert [str(m) for m in published.missing[2]] == ["[11;4;11]"]
    assert [str(m) for m in published.missing[4]] == ["[22;44;4]"]
    one_token = invariants(Layer(3, 1, 1, 1))
    assert one_token.whole is False
    assert [str(m) for m in one_token.missing[4]] == ["[4;732]"]


def test_one_token_families() -> None:
    report = invariants(Layer(4, 1, 1, 1))
    families = {f.name: f for f in report.families}
    assert families["single-token low-rank minors"].built == 1
    assert families["single-token low-rank minors"].dimension == 210
    assert families["Lie-flattening minors"].skipped
    plane = {f.name: f for f in invariants(Layer(3, 1, 1, 1)).families}
    lie = plane["Lie-flattening minors"]
    assert (lie.degree, lie.built, [str(m) for m in lie.irreducibles]) == (8, 45, ["[8;10.9.5]"])


def test_polynomials_of_a_family_are_a_basis_of_its_module() -> None:
    report = invariants(Layer(3, 1, 3), published_only=True)
    for family in report.families:
        if family.degree == 3:
            assert len(family.polynomials) == family.dimension == 10
            assert all(f.total_degree() == 3 for f in family.polynomials)


@pytest.mark.parametrize("sizes", [(3, 1, 2, 2), (2, 2, 1, 2), (2, 3, 2, 2), (3, 2, 1, 1)])
def test_every_built_polynomial_vanishes_on_random_functions(
    sizes: tuple[int, int, int, int],
) -> None:
    """The polynomials themselves, not only the modules, at exact points of the layer."""
    layer = Layer(*sizes)
    degrees = (1, 3) if layer.t == 1 else (1, 2, 1)
    rng = random.Random(5)
    place = {}
    for n, c in enumerate(layer.coordinates):
        label = (
            ((c.output,), (*c.pair, c.column))
            if layer.t == 1
            else ((c.output,), c.pair, (c.column,))
        )
        place[label] = n
    weights = [
        [[Fraction(rng.randint(-9, 9)) for _ in range(layer.d)] for _ in range(rows)]
        for rows in (layer.a, layer.a, layer.d_out)
    ]
    values = layer.coefficients(Q=weights[0], K=weights[1], V=weights[2])
    sizes_ = Sizes(layer.d, layer.d_out, layer.alpha, layer.t)
    built = 0
    for family in FAMILIES:
        if family.degree(sizes_) is None or family.size(sizes_) > 3000:
            continue
        for f in family.build(sizes_):
            total = 0
            for monomial, c in f.items():
                term = Fraction(c)
                for code in monomial:
                    term *= Fraction(str(values[place[decode(code, degrees)]]))
                total += term
            assert total == 0, family.name
            built += 1
    assert built


def test_an_ideal_of_another_layer_is_refused() -> None:
    with pytest.raises(ValueError, match="same layer"):
        invariants(Layer(2, 1, 2), ideal=implicit_ideal(Layer(2, 1, 1)))


def test_determinants_of_sparse_polynomials() -> None:
    x, y = {(0,): 1}, {(1,): 1}
    assert multiply(add(x, y), add(x, scale(y, -1))) == {(0, 0): 1, (1, 1): -1}
    assert determinant([[x, y], [y, x]]) == {(0, 0): 1, (1, 1): -1}
    assert determinant([[x, y], [x, y]]) == {}
    assert determinant([]) == {(): 1}
    vandermonde = [[{(): i**j} for j in range(4)] for i in range(1, 5)]
    assert determinant(vandermonde) == {(): 12}
