"""One layer, end to end, against numbers that the theory states and sympy's resultant."""

import pytest
import sympy

from m2bridge.attention import Layer
from m2bridge.errors import SizeLimitError, VerificationError
from m2bridge.geometry import analysis as module
from m2bridge.geometry.analysis import Analysis, analyze
from m2bridge.geometry.elimination import (
    EliminatedIdeal,
    closure_by_elimination,
    eliminated_ideal,
    jacobian_singular_locus,
    same_ideal,
)

pytestmark = pytest.mark.m2

# (d, d_out, a): dimension, degree, generators by degree, singular dimension, boundary dimension
MODELS = {
    (2, 1, 1): (4, 3, {2: 3}, 0, 3),
    (2, 1, 2): (5, 4, {4: 1}, 4, 3),
    (2, 2, 1): (6, 20, {2: 15, 4: 5}, 5, 4),
    (2, 2, 2): (7, 20, {2: 5, 4: 10}, 5, 4),
    (3, 1, 1): (7, 45, {2: 45, 3: 10}, 5, 5),
}


def _numbers(found: Analysis) -> tuple[object, ...]:
    assert found.ideal is not None
    return (
        found.dimension,
        found.degree,
        found.ideal.generators_by_degree,
        found.singular_locus.dimension,
        found.boundary.dimension,
    )


@pytest.mark.parametrize("sizes", MODELS)
def test_a_layer(session, sizes: tuple[int, int, int]) -> None:
    found = analyze(Layer(*sizes), session)
    assert _numbers(found) == MODELS[sizes]
    assert found.ideal is not None
    assert found.ideal.complete is True
    assert set(found.certainty.values()) == {"proved"}
    assert "ideal" in [check.question for check in found.cross_checks]
    assert found.provenance.scripts
    assert found.provenance.m2_version == session.m2_version


def test_one_output_two_inputs_is_a_resultant(session) -> None:
    layer = Layer(2, 1, 2)
    found = analyze(layer, session)
    assert found.ideal is not None
    w = sympy.Symbol("w")
    first, second = (
        sum(
            s * w ** sum(c.pair)
            for c, s in zip(layer.coordinates, layer.symbols, strict=True)
            if c.column == r
        )
        for r in range(2)
    )
    resultant = sympy.Poly(sympy.resultant(first, second, w), *layer.symbols)
    (generator,) = found.ideal.generators
    assert sympy.rem(resultant, generator).is_zero
    assert generator.total_degree() == resultant.total_degree() == 4
    # The singular locus: both quadrics proportional, the 2 x 2 minors of a 3 x 2 matrix.
    matrix = sympy.Matrix(3, 2, list(layer.symbols))
    minors = [
        sympy.Poly(matrix.extract([i, j], [0, 1]).det(), *layer.symbols)
        for i, j in ((0, 1), (0, 2), (1, 2))
    ]
    (component,) = found.singular_locus.components
    assert (component.dimension, component.degree) == (4, 3)
    assert same_ideal(list(component.generators), minors, layer.symbols, session)


def test_the_number_of_tokens_does_not_matter_from_two_on(session) -> None:
    two, three, four = (analyze(Layer(2, 1, 2, t), session) for t in (2, 3, 4))
    assert _numbers(two) == _numbers(three) == _numbers(four)
    assert two.ideal is not None
    for other in (three, four):
        assert other.ideal is not None
        assert list(other.ideal.generators) == list(two.ideal.generators)


def test_one_token_is_another_model(session) -> None:
    found = analyze(Layer(3, 1, 1, 1), session)
    assert (found.dimension, found.degree) == (7, 15)
    assert found.ideal is not None
    assert found.ideal.generators_by_degree == {4: 35}


def test_a_above_d_is_said(session) -> None:
    found = analyze(Layer(2, 1, 5), session)
    assert any("rank at most 2" in note for note in found.notes)
    assert found.dimension == 5


def test_width_one_is_linear_and_smooth(session) -> None:
    found = analyze(Layer(1, 3, 2), session)
    assert _numbers(found) == (3, 1, {}, -1, -1)


def test_elimination_and_weights_are_compared(session, monkeypatch) -> None:
    """A wrong ideal from either side must stop the analysis."""
    layer = Layer(2, 1, 1)
    right = eliminated_ideal(layer, session)
    wrong = EliminatedIdeal(right.generators[:-1], right.dimension, right.degree)
    monkeypatch.setattr(module, "eliminated_ideal", lambda *a, **k: wrong)
    with pytest.raises(VerificationError, match="another ideal"):
        analyze(layer, session)
    monkeypatch.setattr(
        module, "eliminated_ideal", lambda *a, **k: EliminatedIdeal(right.generators, 5, 3)
    )
    with pytest.raises(VerificationError, match="elimination gives dimension 5"):
        analyze(layer, session)


def test_too_many_minors_are_refused(session) -> None:
    layer = Layer(2, 2, 1)
    found = eliminated_ideal(layer, session)
    with pytest.raises(SizeLimitError, match="35814240 minors"):
        jacobian_singular_locus(found.generators, layer.symbols, 6, session)


def test_closures_by_elimination(session) -> None:
    """(1, 1, 1): u (x) v^2 (x) q is a Segre-Veronese variety; (1, 1, 2): symmetric rank <= 2."""
    layer = Layer(2, 1, 2)
    assert closure_by_elimination(layer, (1, 1, 1), session).generators_by_degree == {2: 6}
    whole = closure_by_elimination(layer, (1, 2, 2), session)
    assert list(whole.generators) == list(eliminated_ideal(layer, session).generators)
    with pytest.raises(ValueError, match="positive ranks"):
        closure_by_elimination(layer, (0, 0, 0), session)


def test_notebook_display(session) -> None:
    text = analyze(Layer(2, 1, 2), session)._repr_latex_()
    assert text.startswith("$")
    assert text.endswith("$")
    assert r"\dim = 5" in text
