"""The singular locus: acceptance numbers, certificates, equations, Macaulay2's own criterion."""

from __future__ import annotations

import pytest
import sympy

from m2bridge.attention import Layer
from m2bridge.engine import Session
from m2bridge.errors import SizeLimitError, VerificationError
from m2bridge.geometry.elimination import (
    closure_by_elimination,
    eliminated_ideal,
    jacobian_singular_locus,
    same_ideal,
)
from m2bridge.geometry.singular import singular_locus
from m2bridge.geometry.strata import EquationOptions, closure_of_type, stratum_of_type
from m2bridge.geometry.strata.confirm import _merged


def test_the_worked_example():
    """(2, 1, 2): the 2-minors of a 3 x 2 matrix, u v a with the quadric v a times q."""
    layer = Layer(2, 1, 2)
    locus = singular_locus(layer)
    (component,) = locus.components
    assert (locus.dimension, component.dimension, component.degree) == (4, 4, 3)
    assert component.strata == ((1, 1, 2), (1, 1, 1))
    assert component.generators_by_degree == {2: 3}
    assert component.complete is True
    T = dict(zip([(c.pair, c.column) for c in layer.coordinates], layer.symbols, strict=True))
    matrix = sympy.Matrix([[T[pair, r] for r in (0, 1)] for pair in ((0, 0), (0, 1), (1, 1))])
    minors = {
        sympy.Poly(matrix.extract(rows, [0, 1]).det(), *layer.symbols)
        for rows in ([0, 1], [0, 2], [1, 2])
    }
    ours = {sympy.Poly(f.as_expr(), *layer.symbols) for f in component.generators}
    assert ours == {f if f in ours else -f for f in minors}
    assert any("(1, 2, 2) smooth: the gradients" in line for line in locus.certificate)
    assert any(
        "(1, 1, 1) singular: tangent vectors of rank 6 > dimension 5" in line
        for line in locus.certificate
    )


@pytest.mark.parametrize(
    ("model", "components"),
    [
        ((2, 1, 1), [(0, 1, ((0, 0, 0),), {1: 6})]),
        ((2, 2, 2), [(5, 12, ((1, 1, 2), (1, 1, 1)), {2: 24})]),
        ((2, 2, 1), [(5, 12, ((1, 1, 2), (1, 1, 1)), {2: 24})]),
        ((3, 1, 1), [(5, 24, ((1, 1, 1),), {2: 81})]),
        ((3, 1, 3), [(7, 45, ((1, 1, 2), (1, 1, 1)), {2: 45, 3: 10})]),
        ((3, 1, 2), [(7, 45, ((1, 1, 2), (1, 1, 1)), {2: 45, 3: 10})]),
        ((1, 3, 2), []),
    ],
)
def test_components(model, components):
    locus = singular_locus(Layer(*model))
    found = [(c.dimension, c.degree, c.strata, c.generators_by_degree) for c in locus.components]
    assert found == components
    assert all(c.complete and c.prime and c.certainty == "proved" for c in locus.components)
    assert locus.dimension == max((c[0] for c in components), default=-1)


def test_single_token():
    locus = singular_locus(Layer(3, 1, 1, t=1))
    (component,) = locus.components
    assert (component.dimension, component.degree) == (5, 24)
    assert component.strata == ((1, 2, 1, 0), (1, 1, 2, 0))
    assert component.complete is None  # no bound on degrees is proved; Macaulay2 settles it
    assert singular_locus(Layer(2, 1, 1, t=1)).dimension == -1
    assert singular_locus(Layer(2, 1, 1, t=1)).to_dict()["components"] == []


def test_every_stratum_of_a_small_model_has_a_computed_certificate():
    for model in [(2, 2, 2), (3, 1, 2), (3, 2, 1)]:
        locus = singular_locus(Layer(*model))
        assert {s.claims["singular"].warrant for s in locus.strata} == {"computed"}
        assert len(locus.certificate) == len(locus.strata)


def test_any_size_without_equations():
    locus = singular_locus(Layer(64, 64, 5), equations=False)
    (component,) = locus.components
    assert component.strata[0] == (64, 4, 64)
    assert component.dimension == 2 * 4 * 64 - 16 + 64 * 64 - 1
    assert component.generators is None
    assert component.to_dict()["generators"] is None
    assert len(locus.certificate) == 1


def test_refusals():
    with pytest.raises(SizeLimitError, match="equations=False"):
        singular_locus(Layer(5, 5, 5))
    with pytest.raises(TypeError, match="one layer"):
        singular_locus((2, 1, 2))  # type: ignore[arg-type]
    few = EquationOptions(max_degree=1)
    (component,) = singular_locus(Layer(2, 1, 2), options=few).components
    assert (component.generators_by_degree, component.complete, component.prime) == ({}, None, None)
    assert "not settled" in component.certificate


def test_a_contradicting_macaulay2_is_an_error():
    (component,) = singular_locus(Layer(2, 1, 2)).components
    good = {"dimension": 4, "degree": 3, "prime": True}
    assert _merged(component, good).confirmed == good
    for wrong in ({"dimension": 5}, {"degree": 4}, {"prime": False}):
        with pytest.raises(VerificationError):
            _merged(component, good | wrong)


def test_missing_generators_are_seen_by_macaulay2():
    few = EquationOptions(max_degree=1)
    (component,) = singular_locus(Layer(2, 1, 2), options=few).components
    told = _merged(component, {"dimension": 6, "degree": 1, "prime": True})
    assert (told.complete, told.prime) == (None, None)
    assert "generators are missing" in told.certificate


def test_one_closure_by_its_type():
    component = closure_of_type(Layer(3, 1, 3), (1, 2, 2))
    assert (component.dimension, component.degree) == (9, 108)
    assert component.strata == ((1, 2, 2), (1, 1, 2), (1, 1, 1))
    point = component.stratum.point()
    assert all(f.eval(tuple(point)) == 0 for f in component.generators)
    outside = stratum_of_type(Layer(3, 1, 3), (1, 2, 3)).point()
    assert any(f.eval(tuple(outside)) != 0 for f in component.generators)


@pytest.mark.parametrize(
    ("model", "kind", "message"),
    [
        ((3, 1, 3, 2), (2, 1, 2), "rank V <= min"),
        ((3, 2, 1, 2), (1, 2, 2), "rank A <= min"),
        ((3, 2, 2, 2), (2, 1, 1), "max"),
        ((3, 2, 2, 2), (1, 1, 3), r"rank V \+ rank A"),
        ((3, 2, 2, 2), (1, 1), "a type here is"),
        ((3, 1, 1, 1), (1, 3, 0, 2), "rank S <= min"),
    ],
)
def test_types_that_cannot_occur(model, kind, message):
    with pytest.raises(ValueError, match=message):
        stratum_of_type(Layer(*model), kind)
    with pytest.raises(TypeError, match="consists of integers"):
        stratum_of_type(Layer(*model), (1.0, *kind[1:]))


@pytest.mark.m2
@pytest.mark.parametrize(
    "model", [(2, 1, 1, 2), (2, 1, 2, 2), (2, 2, 1, 2), (3, 1, 3, 2), (3, 1, 1, 1), (3, 1, 2, 1)]
)
def test_macaulay2_confirms_components(model, session: Session):
    locus = singular_locus(Layer(*model), session)
    for component in locus.components:
        assert component.confirmed["prime"] is True
        assert component.confirmed["dimension"] == component.dimension
        assert component.confirmed["degree"] == component.degree
        assert component.complete is True


@pytest.mark.m2
@pytest.mark.parametrize("model", [(2, 1, 1), (2, 1, 2)])
def test_the_complete_jacobian_criterion_agrees(model, session: Session):
    layer = Layer(*model)
    ideal = eliminated_ideal(layer, session)
    codimension = layer.ambient_dimension - ideal.dimension
    theirs = jacobian_singular_locus(ideal.generators, layer.symbols, codimension, session)
    ours = singular_locus(layer)
    assert theirs.dimension == ours.dimension
    assert len(theirs.components) == len(ours.components) == 1
    first, second = theirs.components[0], ours.components[0]
    assert (first.dimension, first.degree) == (second.dimension, second.degree)
    assert same_ideal(first.generators, list(second.generators), layer.symbols, session)


@pytest.mark.m2
@pytest.mark.parametrize(("model", "ranks"), [((2, 1, 2), (1, 1, 1)), ((2, 2, 2), (1, 1, 2))])
def test_elimination_gives_the_same_closures(model, ranks, session: Session):
    layer = Layer(*model)
    ours = closure_of_type(layer, ranks)
    theirs = closure_by_elimination(layer, ranks, session)
    assert (theirs.dimension, theirs.degree) == (ours.dimension, ours.degree)
    assert same_ideal(theirs.generators, list(ours.generators), layer.symbols, session)


@pytest.mark.m2
@pytest.mark.slow
def test_a_component_settled_as_a_smaller_layer(session: Session):
    """(3, 2, 2): singular along (3, 2, 1), whose Hilbert series is known."""
    (component,) = singular_locus(Layer(3, 2, 2), session).components
    assert component.generators_by_degree == {2: 198, 3: 40, 4: 225}
    assert (component.dimension, component.degree, component.complete) == (10, 756, True)
    assert "the layer with a = 1" in component.certificate


@pytest.mark.m2
def test_a_component_settled_as_a_product(session: Session):
    """t = 1, (3, 2, 1): u times three lines, 35 quartics for the lines settled by Macaulay2."""
    component = closure_of_type(Layer(3, 2, 1, t=1), (1, 2, 0, 2), session)
    assert component.generators_by_degree == {2: 45, 4: 175}
    assert (component.dimension, component.degree, component.complete) == (8, 105, True)
    assert "Segre product" in component.completeness
