"""Rank types for t >= 2: numbers stated by hand, brute force, closures seen by their equations."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from itertools import product

import flint
import pytest

from m2bridge.attention import Layer
from m2bridge.errors import SizeLimitError
from m2bridge.geometry.strata import hasse_diagram, maximal, strata
from m2bridge.geometry.strata.degree import (
    closure_degree,
    determinantal_degree,
    layer_degree,
    localised_degree,
)
from m2bridge.geometry.strata.equations import EquationSearch, closure_map
from m2bridge.geometry.strata.ranks import rank_types


def by_type(*model: int):
    return {s.type: s for s in strata(Layer(*model))}


def test_the_worked_example():
    """(2, 1, 2): resultant of two binary quadrics, T_0 and T_1 with a common root."""
    found = by_type(2, 1, 2)
    numbers = {
        kind: (s.dimension, s.tangent_dimension, s.singular, s.boundary, s.fibre_points)
        for kind, s in found.items()
    }
    assert numbers == {
        (0, 0, 0): (0, 6, True, True, None),
        (1, 1, 1): (3, 6, True, True, 1),
        (1, 1, 2): (4, 6, True, False, 2),
        (1, 2, 2): (5, 5, False, False, 1),
    }
    assert found[1, 1, 1].fibre_reduced is False
    assert found[1, 1, 1].fibre_length == 2
    assert found[1, 1, 2].fibre_reduced is True


@pytest.mark.parametrize(
    ("model", "tangents", "dimension"),
    [
        ((2, 2, 2), {(1, 1, 1): 9, (1, 1, 2): 9}, 7),
        ((2, 2, 1), {(1, 1, 1): 7, (1, 1, 2): 7}, 6),
        ((3, 1, 1), {(1, 1, 1): 8}, 7),
        ((3, 1, 3), {(1, 1, 1): 18, (1, 1, 2): 15}, 11),
        ((3, 1, 2), {(1, 1, 1): 18, (1, 1, 2): 15}, 10),
    ],
)
def test_singular_strata_and_tangent_dimensions(model, tangents, dimension):
    found = by_type(*model)
    singular = {kind: s.tangent_dimension for kind, s in found.items() if s.singular}
    assert singular.pop((0, 0, 0)) == Layer(*model).ambient_dimension
    assert singular == tangents
    smooth = {s.tangent_dimension for s in found.values() if not s.singular}
    assert smooth == {dimension} == {max(s.dimension for s in found.values())}


@pytest.mark.parametrize("d_out", [1, 2, 3])
@pytest.mark.parametrize("a", [1, 2, 3])
def test_width_one_is_a_linear_space(d_out, a):
    found = strata(Layer(1, d_out, a))
    assert [s.type for s in found] == [(0, 0, 0), (1, 1, 1)]
    for s in found:
        assert (s.tangent_dimension, s.singular, s.boundary) == (d_out, False, False)
    assert found[1].dimension == d_out
    assert (found[1].fibre_points, found[1].fibre_reduced, found[1].fibre_length) == (1, True, 1)


def test_rank_one_attention_with_one_output():
    """Symmetric matrices of rank <= 2 times P^{d-1}: singular where the matrix has rank one."""
    assert [k for k, s in by_type(2, 1, 1).items() if s.singular] == [(0, 0, 0)]
    for d in (3, 4):
        singular = [k for k, s in by_type(d, 1, 1).items() if s.singular]
        assert singular == [(0, 0, 0), (1, 1, 1)]


def test_intermediate_rank_makes_more_singular_points():
    found = by_type(4, 3, 2)
    singular = {k for k, s in found.items() if s.singular}
    assert singular == {(0, 0, 0)} | {k for k in found if k[1] == 1}


def image_mod(p, d, d_out, V, A):
    return tuple(x % p for x in Layer(d, d_out, d).image(V, A))


def rank_mod(p, rows):
    return flint.nmod_mat([list(row) for row in rows], p).rank()


def matrices(p, rows, columns):
    for entries in product(range(p), repeat=rows * columns):
        yield [list(entries[i * columns : (i + 1) * columns]) for i in range(rows)]


@pytest.mark.parametrize("model", [(1, 2, 1), (2, 1, 1), (2, 1, 2), (2, 2, 1), (2, 2, 2)])
def test_fibres_by_brute_force_over_three_elements(model):
    """Fibres over F_3, up to scaling, have the sizes and constant types that are claimed."""
    d, d_out, a = model
    p = 3
    fibres = defaultdict(list)
    linear = [A for A in matrices(p, d, d) if 1 <= rank_mod(p, A) <= a]
    for V in matrices(p, d_out, d):
        rank_v = rank_mod(p, V)
        if not rank_v:
            continue
        columns = [list(column) for column in zip(*V, strict=True)]
        for A in linear:
            joint = [x + y for x, y in zip(columns, A, strict=True)]
            kind = (rank_v, rank_mod(p, A), rank_mod(p, joint))
            fibres[image_mod(p, d, d_out, V, A)].append(kind)
    found = by_type(*model)
    sizes = defaultdict(set)
    for kinds in fibres.values():
        assert len(set(kinds)) == 1
        sizes[kinds[0]].add(len(kinds) // (p - 1))
    assert {kind: {found[kind].fibre_points} for kind in sizes} == dict(sizes)
    assert set(sizes) == set(found) - {(0, 0, 0)}


@pytest.mark.parametrize("model", [(3, 2, 2), (4, 4, 4), (5, 3, 2), (5, 1, 4)])
def test_covers_are_those_of_the_rank_order(model):
    d, d_out, a = model
    kinds = [(0, 0, 0), *rank_types(d, d_out, a)]

    def below(x, y):
        return x != y and all(i <= j for i, j in zip(x, y, strict=True))

    expected = {
        y: {x for x in kinds if below(x, y) and not any(below(x, z) and below(z, y) for z in kinds)}
        for y in kinds
    }
    found = strata(Layer(*model), certify=False)
    assert {s.type: set(s.covers) for s in found} == expected
    pairs = {(found[low].type, found[high].type) for low, high in hasse_diagram(found)}
    assert pairs == {(x, y) for y, xs in expected.items() for x in xs}


@pytest.mark.parametrize(("model", "degree"), [((2, 2, 2), 4), ((3, 1, 3), 4), ((3, 2, 1), 3)])
def test_closures_are_seen_by_their_equations(model, degree):
    """A stratum lies in a closure exactly when the closure's equations vanish on it."""
    found = strata(Layer(*model), certify=False)
    for upper in found[1:]:
        search = EquationSearch(closure_map(upper))
        for _ in range(degree):
            search.advance()
        for lower in found:
            point = lower.point()
            vanish = all(
                sum(c * product_of(point, places) for places, c in f.items()) == 0
                for f in search.equations
            )
            if upper.dimension < found[-1].dimension or vanish:
                assert vanish == upper.closure_contains(lower), (upper.type, lower.type)


def product_of(point, places):
    value = 1
    for k in places:
        value *= point[k]
    return value


def test_representatives_have_their_type():
    for s in strata(Layer(4, 3, 3), certify=False):
        V, A = ([list(row) for row in m] for m in s.representative)
        joint = [list(c) + row for c, row in zip(zip(*V, strict=True), A, strict=True)]
        ranks = tuple(flint.fmpz_mat(m).rank() for m in (V, A, joint))
        assert ranks == s.type
        assert max(abs(x) for m in (V, A) for row in m for x in row) <= 1


def test_degrees_of_closures_two_ways():
    """Localisation against product formulas, which it does not use."""
    for d, d_out in product(range(1, 5), range(1, 4)):
        for a in range(1, d + 1):
            kind = (min(d, d_out), a, min(d, min(d, d_out) + a))
            assert localised_degree(d, d_out, kind) == layer_degree(d, d_out, a)
        for kind in [(1, 1, 1), (1, 1, 2)][: min(d, 2)]:
            assert localised_degree(d, d_out, kind) == closure_degree(d, d_out, kind)


def test_degrees_known_from_elsewhere():
    """Degrees of Macaulay2 for the certified ideals of small models."""
    known = {(2, 1, 1): 3, (2, 1, 2): 4, (2, 2, 1): 20, (2, 2, 2): 20, (2, 3, 1): 42}
    known |= {(2, 3, 2): 56, (3, 1, 1): 45, (3, 1, 2): 108, (3, 1, 3): 45, (3, 2, 1): 756}
    assert {model: layer_degree(*model) for model in known} == known
    assert (determinantal_degree(3, 2), determinantal_degree(3, 1)) == (3, 6)


def test_every_model_up_to_width_64_in_a_second():
    start = time.perf_counter()
    found = strata(Layer(64, 64, 64))
    counted = Counter((s.singular, s.boundary) for s in found)
    numbers = [(s.dimension, s.tangent_dimension) for s in found]
    assert time.perf_counter() - start < 3  # a second on an idle machine
    assert counted[True, True] == 2
    assert counted[True, False] == 1
    assert len(numbers) == 47777
    assert found[-1].dimension == 2 * 64 * 64 - 1
    assert {claim.warrant for claim in found[-1].claims.values()} == {"theorem"}


def test_maximal_and_size_limit():
    found = strata(Layer(4, 2, 2), certify=False)
    assert [s.type for s in maximal(found)] == [(2, 2, 4)]
    singular = [s for s in found if s.singular]
    assert [s.type for s in maximal(singular)] == [(2, 1, 3)]
    with pytest.raises(SizeLimitError, match="at most 3000"):
        hasse_diagram(strata(Layer(40, 40, 40)))


def test_json_entry():
    entry = by_type(2, 1, 2)[1, 1, 1].to_dict()
    fixed = {"rank_v": 1, "rank_a": 1, "rank_va": 1, "dimension": 3, "tangent_dimension": 6}
    fixed |= {"singular": True, "boundary": True, "fibre_points": 1, "fibre_reduced": False}
    assert {key: entry[key] for key in fixed} == fixed
    assert set(entry["certainty"].values()) == {"proved"}


def test_bad_arguments():
    with pytest.raises(TypeError, match="one layer"):
        strata("2,1,2")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="certified"):
        strata(Layer(2, 1, 2), certify=False, equations=[])
    pair, other = strata(Layer(2, 1, 2))[1], strata(Layer(2, 1, 2, t=1))[1]
    with pytest.raises(TypeError, match="t >= 2"):
        pair.closure_contains(other)
    with pytest.raises(ValueError, match="same d and d_out"):
        pair.closure_contains(strata(Layer(3, 1, 2))[1])
