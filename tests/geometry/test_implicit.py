"""implicit_ideal: acceptance numbers, certificates, verification."""

from __future__ import annotations

import dataclasses
import pickle
from itertools import product

import pytest
import sympy

from m2bridge.attention.layer import Layer
from m2bridge.errors import SizeLimitError, VerificationError
from m2bridge.geometry.generators import Generators, ModuleSource, sparse_from_poly, to_poly
from m2bridge.geometry.implicit import ImplicitIdeal, Irreducible, implicit_ideal


def substituted(layer: Layer, f: sympy.Poly) -> sympy.Expr:
    """f on the parametrization, by sympy alone."""
    parametrization = layer.parametrization()
    values = dict(
        zip(layer.symbols, (p.as_expr() for p in parametrization.polynomials), strict=True)
    )
    return sympy.expand(f.as_expr().subs(values, simultaneous=True))


@pytest.mark.parametrize(
    ("sizes", "expected", "complete"),
    [
        ((1, 3, 2), {}, True),
        ((2, 1, 1), {2: 3}, True),
        ((2, 1, 2), {4: 1}, True),
        ((2, 1, 5), {4: 1}, True),
        ((2, 2, 1), {2: 15, 4: 5}, True),
        ((2, 2, 2), {2: 5, 4: 10}, True),
        ((2, 3, 2), {2: 15, 3: 4, 4: 45}, True),
        ((2, 2, 2, 7), {2: 5, 4: 10}, True),
        ((3, 1, 1), {2: 45, 3: 10}, True),
        ((3, 1, 2), {3: 30, 4: 90}, True),
        ((3, 1, 3), {3: 20, 4: 90}, True),
        ((2, 1, 1, 1), {}, True),
        ((2, 2, 1, 1), {4: 5}, True),
        ((2, 3, 2, 1), {3: 4, 4: 30}, True),
        ((3, 1, 1, 1), {4: 35}, None),
    ],
)
def test_generators_by_degree(
    sizes: tuple[int, ...], expected: dict[int, int], complete: bool | None
) -> None:
    ideal = implicit_ideal(Layer(*sizes))
    assert ideal.generators_by_degree == expected
    assert len(ideal.generators) == sum(expected.values())
    assert ideal.complete is complete
    assert ideal.certainty == "proved"
    assert ideal.method == "weights"
    for D, modules in ideal.irreducibles.items():
        assert sum(m.multiplicity * m.dimension for m in modules) == expected[D]
        assert len(ideal.highest_weight_vectors[D]) == sum(m.multiplicity for m in modules)


def test_generators_vanish_by_another_route() -> None:
    for sizes in [(2, 1, 1), (2, 1, 2), (2, 2, 1), (2, 2, 1, 1)]:
        layer = Layer(*sizes)
        for f in implicit_ideal(layer).generators:
            assert substituted(layer, f) == 0


def test_generators_are_primitive_homogeneous_and_independent() -> None:
    ideal = implicit_ideal(Layer(3, 1, 2))
    monomials: dict[tuple[int, ...], int] = {}
    rows = []
    for f in ideal.generators:
        assert f.gens == ideal.layer.symbols
        assert f.is_homogeneous
        assert f.content() == 1
        rows.append({monomials.setdefault(m, len(monomials)): c for m, c in f.terms()})
    matrix = sympy.SparseMatrix(
        len(rows), len(monomials), {(i, j): c for i, row in enumerate(rows) for j, c in row.items()}
    )
    assert matrix.to_DM().rank() == len(rows)


def test_the_irreducibles_of_3_1_3() -> None:
    ideal = implicit_ideal(Layer(3, 1, 3))
    assert ideal.irreducibles == {
        3: (
            Irreducible(1, (3,), (3, 3), (1, 1, 1), 10),
            Irreducible(1, (3,), (2, 2, 2), (3,), 10),
        ),
        4: (Irreducible(1, (4,), (4, 4), (2, 2), 90),),
    }
    assert [str(m) for m in ideal.irreducibles[3]] == ["[3;33;111]", "[3;222;3]"]
    one_token = implicit_ideal(Layer(2, 2, 1, 1))
    assert one_token.irreducibles[4][0].column == ()
    assert str(one_token.irreducibles[4][0]) == "[22;84]"


def test_the_answer_is_deterministic() -> None:
    first = implicit_ideal(Layer(2, 2, 2), max_degree=4, certify=False)
    second = implicit_ideal(Layer(2, 2, 2), max_degree=4, certify=False)
    assert list(first.generators) == list(second.generators)


def test_the_quartic_of_2_1_2_is_the_resultant() -> None:
    ideal = implicit_ideal(Layer(2, 1, 2))
    x = sympy.Symbol("x")
    s = dict(zip((c.name for c in ideal.layer.coordinates), ideal.layer.symbols, strict=True))
    f, g = (s[f"T_0_00_{r}"] * x**2 + s[f"T_0_01_{r}"] * x + s[f"T_0_11_{r}"] for r in (0, 1))
    resultant = sympy.Poly(sympy.resultant(f, g, x), *ideal.layer.symbols)
    assert ideal.generators[0] in (resultant, -resultant)


def test_completeness_looks_ahead_and_says_no() -> None:
    short = implicit_ideal(Layer(2, 1, 2), max_degree=3)
    assert short.complete is False
    assert "degree 4" in short.certificate
    quick = implicit_ideal(Layer(3, 1, 3), max_degree=4)
    assert quick.complete is True
    assert quick.max_degree == 4
    undecided = implicit_ideal(Layer(3, 1, 3), max_degree=4, certify=False)
    assert undecided.complete is None
    assert "up to degree 4" in undecided.certificate
    large = implicit_ideal(Layer(3, 2, 3), max_degree=3)
    assert large.complete is None
    assert "max_degree=6" in large.certificate


def test_dimension_degree_and_hilbert_function() -> None:
    ideal = implicit_ideal(Layer(2, 2, 2))
    assert (ideal.dimension, ideal.degree) == (7, 20)
    assert [ideal.hilbert_function(D) for D in range(4)] == [1, 12, 78 - 5, 364 - 60]
    assert ideal.hilbert_function(50) is not None
    assert implicit_ideal(Layer(3, 1, 1, 1), max_degree=2).hilbert_function(9) is None
    with pytest.raises(ValueError, match="-2"):
        ideal.hilbert_function(-2)


def test_verify_accepts_the_truth() -> None:
    seen: list[tuple[str, int, int | None]] = []
    ideal = implicit_ideal(Layer(2, 3, 2))
    ideal.verify(progress=lambda *x: seen.append(x))
    assert seen[-1] == ("verify", 64, 64)


def test_verify_rejects_a_wrong_generator() -> None:
    ideal = implicit_ideal(Layer(2, 1, 1))
    x, y = ideal.layer.symbols[:2]
    wrong = sympy.Poly(x * y, *ideal.layer.symbols)
    changed = ideal.generators[0] + wrong
    for generators in (
        [wrong, *ideal.generators[1:]],
        [*ideal.generators[:2], changed],
    ):
        with pytest.raises(VerificationError, match="does not vanish"):
            ideal.with_generators(generators).verify()
        with pytest.raises(VerificationError, match="does not vanish"):
            dataclasses.replace(ideal, generators=tuple(generators)).verify()


def test_verify_rejects_a_missing_generator_and_nonsense() -> None:
    ideal = implicit_ideal(Layer(2, 1, 1))
    with pytest.raises(VerificationError, match="by degree"):
        ideal.with_generators(ideal.generators[:2]).verify()
    zero = sympy.Poly(0, *ideal.layer.symbols)
    with pytest.raises(VerificationError, match="zero"):
        ideal.with_generators([zero]).verify()
    mixed = ideal.generators[0] + sympy.Poly(ideal.layer.symbols[0] ** 3, *ideal.layer.symbols)
    with pytest.raises(VerificationError, match="homogeneous"):
        ideal.with_generators([mixed]).verify()
    with pytest.raises(ValueError, match="q"):
        ideal.with_generators([sympy.Poly(sympy.Symbol("q"))]).verify()


def test_verify_rejects_equations_that_hold_but_generate_less() -> None:
    ideal = implicit_ideal(Layer(2, 2, 2))
    quadric, quartic = ideal.generators[0], ideal.generators[-1]
    square = sympy.Poly(ideal.layer.symbols[3] ** 2, *ideal.layer.symbols)
    for position, wrong in (
        (1, 3 * quadric),
        (-1, square * quadric),
        (-1, 2 * ideal.generators[5]),
    ):
        generators = list(ideal.generators)
        generators[position] = wrong
        with pytest.raises(VerificationError, match="no minimal generator"):
            ideal.with_generators(generators).verify()
    shorter = dataclasses.replace(
        ideal, generators=tuple(ideal.generators[:-1]), generators_by_degree={2: 5, 4: 9}
    )
    for weights in (ideal.weights, None):
        with pytest.raises(VerificationError, match="10 minimal generators"):
            dataclasses.replace(shorter, weights=weights).verify()
    # Another basis is as good.
    other = [*ideal.generators[:-1], quartic + square * quadric]
    ideal.with_generators(other).verify()
    dataclasses.replace(ideal.with_generators(other), weights=None, max_degree=None).verify()


def test_generators_behave_like_a_tuple() -> None:
    generators = implicit_ideal(Layer(2, 2, 1)).generators
    assert isinstance(generators, Generators)
    assert len(generators) == 20
    assert generators[-1] == generators[19]
    assert generators[18:] == (generators[18], generators[19])
    assert generators == tuple(generators)
    assert generators != tuple(generators)[:-1]
    assert "15 of degree 2" in repr(generators)
    with pytest.raises(IndexError):
        generators[20]


def test_sparse_and_sympy_polynomials_convert_exactly() -> None:
    layer = Layer(2, 1, 1)
    a, b = layer.symbols[:2]
    poly = sympy.Poly(sympy.Rational(1, 2) * a**2 - sympy.Rational(2, 3) * b, *layer.symbols)
    sparse = sparse_from_poly(poly, layer.symbols)
    assert sparse == {(0, 0): 3, (1,): -4}
    assert to_poly(sparse, layer.symbols) == sympy.Poly(3 * a**2 - 4 * b, *layer.symbols)
    with pytest.raises(ValueError, match="rational"):
        sparse_from_poly(sympy.sqrt(2) * a, layer.symbols)
    with pytest.raises(TypeError):
        sparse_from_poly("a", layer.symbols)  # type: ignore[arg-type]


def test_large_answers_stay_small_until_looked_at() -> None:
    ideal = implicit_ideal(Layer(4, 4, 4), max_degree=3)
    assert ideal.generators_by_degree == {2: 1260, 3: 12000}
    assert len(ideal.generators) == 13260
    assert ideal.complete is None


def test_too_many_generators_for_macaulay2_are_counted_not_expanded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def expand(self: object) -> None:
        raise AssertionError("nobody needs the polynomials")

    monkeypatch.setattr(ModuleSource, "expand", expand)
    idle = object()  # a session that cannot be asked anything
    ideal = implicit_ideal(Layer(4, 2, 4), max_degree=3, session=idle)
    assert ideal.complete is None
    assert f"{len(ideal.generators)} generators in 80 variables" in ideal.certificate


def test_more_variables_than_sympy_can_nest_are_refused_only_when_looked_at() -> None:
    ideal = implicit_ideal(Layer(11, 2, 1), max_degree=2)
    assert ideal.layer.ambient_dimension == 1452
    assert len(ideal.generators) == ideal.generators_by_degree[2]
    with pytest.raises(SizeLimitError, match="sparse"):
        ideal.highest_weight_vectors[2][0]


def test_bad_arguments() -> None:
    layer = Layer(2, 1, 1)
    with pytest.raises(ValueError, match="method"):
        implicit_ideal(layer, method="groebner")
    with pytest.raises(ValueError, match="at least 1"):
        implicit_ideal(layer, max_degree=0)
    for bad in (2.5, True, "3"):
        with pytest.raises(TypeError, match="max_degree"):
            implicit_ideal(layer, max_degree=bad)  # type: ignore[arg-type]
    for bad_limit in (-1.0, float("nan")):
        with pytest.raises(ValueError, match="time_limit"):
            implicit_ideal(layer, time_limit=bad_limit)
    with pytest.raises(ValueError, match="session"):
        implicit_ideal(layer, method="elimination")
    with pytest.raises(SizeLimitError, match="max_weight_space"):
        implicit_ideal(Layer(3, 1, 3), max_degree=4, max_weight_space=2)


def test_a_time_limit_gives_what_was_finished() -> None:
    ideal = implicit_ideal(Layer(3, 3, 3), time_limit=0.0)
    assert ideal.complete is not True
    assert "time limit" in ideal.certificate


def test_the_answer_can_be_pickled() -> None:
    ideal = implicit_ideal(Layer(2, 2, 1))
    again = pickle.loads(pickle.dumps(ideal))
    assert isinstance(again, ImplicitIdeal)
    assert list(again.generators) == list(ideal.generators)
    again.verify()


@pytest.mark.slow
def test_all_small_models_up_to_degree_4() -> None:
    for d, d_out, a in product((1, 2, 3), repeat=3):
        ideal = implicit_ideal(Layer(d, d_out, a), max_degree=4, certify=False)
        assert ideal.max_degree == 4
        ideal.verify() if len(ideal.generators) < 400 else None
