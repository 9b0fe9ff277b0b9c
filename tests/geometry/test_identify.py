"""Where weights sit: exact and numerical verdicts, distances, batches, and bad input."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
import sympy

from m2bridge.attention import Layer
from m2bridge.geometry.identify import identify, identify_batch
from m2bridge.geometry.strata import strata

E = np.eye(4, dtype=int)


def weights_with(layer, V, A):
    """Q and K with K^T Q = A, by letting K be the identity (needs a >= d)."""
    return A, np.eye(layer.d, dtype=int), V


def rank_one(u, v):
    return np.outer(u, v)


# Acceptance: where is (d, d_out, a) singular, where on the boundary


@pytest.mark.parametrize(
    ("shape", "ranks", "singular", "boundary"),
    [
        ((2, 1, 2), (1, 1, 1), True, True),
        ((2, 1, 2), (1, 1, 2), True, False),
        ((2, 1, 2), (1, 2, 2), False, False),
        ((2, 2, 2), (1, 1, 2), True, False),
        ((2, 2, 2), (2, 1, 2), False, False),
        ((2, 2, 1), (1, 1, 2), True, False),
        ((2, 1, 1), (1, 1, 1), False, True),
        ((2, 1, 1), (1, 1, 2), False, False),
        ((3, 1, 1), (1, 1, 1), True, True),
        ((3, 1, 1), (1, 1, 2), False, False),
        ((3, 1, 2), (1, 1, 2), True, False),
        ((3, 2, 2), (2, 1, 2), True, False),
        ((3, 1, 3), (1, 2, 2), False, False),
        ((1, 1, 1), (1, 1, 1), False, False),
        ((1, 3, 2), (1, 1, 1), False, False),
    ],
)
def test_verdicts_on_representatives(shape, ranks, singular, boundary):
    layer = Layer(*shape)
    (stratum,) = (s for s in strata(layer, certify=False) if s.type == ranks)
    V, A = (np.array(m) for m in stratum.representative)
    # A = K^T Q with the columns of A that are not zero.
    used = [k for k in range(layer.d) if A[:, k].any()]
    K, Q = (np.zeros((layer.a, layer.d), dtype=int) for _ in range(2))
    for row, k in enumerate(used):
        K[row], Q[row, k] = A[:, k], 1
    for kind in (int, float):
        found = identify(layer, Q.astype(kind), K.astype(kind), V.astype(kind))
        assert (found.rank_v, found.rank_a, found.rank_va) == ranks
        assert (found.singular, found.boundary) == (singular, boundary)
        assert found.stratum.type == ranks
        assert found.exact is (kind is int)
        assert found.certainty == ("proved" if kind is int else "numerical")


@pytest.mark.parametrize("t", [1, 2])
def test_zero_function(t):
    layer = Layer(3, 2, 2, t)
    full = [[1, 2, 3], [0, 1, 1]]
    for Q, K, V in ((full, full, [[0] * 3] * 2), ([[0] * 3] * 2, full, full)):
        found = identify(layer, Q, K, V)
        assert found.zero
        assert found.singular
        assert found.stratum.is_origin
        assert "zero function" in found.reason


def test_antisymmetric_attention_is_zero_for_one_token_only():
    Q, K = [[0, 1], [-1, 0]], [[1, 0], [0, 1]]
    assert identify(Layer(2, 1, 2, 1), Q, K, [[1, 2]]).zero
    assert not identify(Layer(2, 1, 2, 2), Q, K, [[1, 2]]).zero


def test_algebraic_numbers_are_exact():
    layer = Layer(2, 1, 2)
    root = sympy.sqrt(2)
    # The second row of A is root times the first: floating point could not tell.
    found = identify(layer, [[1, root], [0, 0]], [[1, root], [0, 1]], [[root, 2]])
    assert found.exact
    assert (found.rank_v, found.rank_a, found.rank_va) == (1, 1, 1)
    close = sympy.Rational(14142135623730950488, 10**19)
    found = identify(layer, [[1, root], [0, 0]], [[1, close], [0, 1]], [[root, 2]])
    assert (found.rank_a, found.rank_va) == (1, 2)
    assert identify(layer, [[1, 0], [0, 1]], [[1, 0], [0, 1]], [[Fraction(1, 3), 0]]).exact


def test_single_token_data():
    layer = Layer(3, 1, 2, 1)
    # S = x0^2 - x1^2 + 0 x2^2, V = x0: ker V = (x1, x2), S there is -x1^2.
    found = identify(layer, [[1, 0, 0], [0, 1, 0]], [[1, 0, 0], [0, -1, 0]], [[1, 0, 0]])
    assert (found.rank_s, found.signature, found.kernel_radical, found.rank_restricted) == (
        2,
        (1, 1),
        1,
        1,
    )
    algebraic = identify(
        layer,
        [[sympy.sqrt(3), 0, 0], [0, 1, 0]],
        [[1, 0, 0], [0, -sympy.sqrt(5), 0]],
        [[1, 0, 0]],
    )
    assert algebraic.exact
    assert (algebraic.signature, algebraic.kernel_radical) == ((1, 1), 1)


@pytest.mark.parametrize(
    ("factors", "singular"),
    [
        (([1, 0, 0], [0, 1, 0], [0, 0, 1]), False),
        (([1, 0, 0], [0, 1, 0], [1, 1, 0]), False),
        (([1, 0, 0], [1, 0, 0], [0, 0, 1]), True),
        (([1, 0, 0], [0, 0, 1], [1, 0, 0]), True),
        (([0, 1, 1], [1, 0, 0], [1, 0, 0]), True),
        (([1, 2, 3], [1, 2, 3], [2, 4, 6]), True),
    ],
)
def test_single_token_cubics_are_singular_where_a_factor_repeats(factors, singular):
    layer = Layer(3, 1, 1, 1)
    v, q, k = factors
    assert identify(layer, [q], [k], [v]).singular is singular
    assert identify(layer, *(np.array([x], dtype=float) for x in (q, k, v))).singular is singular


# Floats


def test_numerical_evidence():
    layer = Layer(3, 2, 2)
    rng = np.random.default_rng(0)
    Q, K, V = rng.normal(size=(2, 3)), rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
    found = identify(layer, Q, K, V)
    assert found.certainty == "numerical"
    assert (found.singular, found.boundary) == (False, False)
    by_name = {s.name: s for s in found.spectra}
    assert by_name["V"].values == pytest.approx(np.linalg.svd(V)[1])
    assert by_name["A"].rank == 2
    assert by_name["A"].gap > 1e10
    assert found.tolerance < 1e-12


def test_an_unclear_rank_is_not_decided():
    layer = Layer(2, 1, 2)
    Q = np.array([[1.0, 0.0], [0.0, 1e-13]])
    found = identify(layer, Q, np.eye(2), [[1.0, 1.0]])
    assert found.singular is None
    assert "not decided" in found.reason
    assert identify(layer, Q, np.eye(2), [[1.0, 1.0]], tolerance=1e-10).singular is True
    assert identify(layer, 0 * Q, np.eye(2), [[1.0, 1.0]]).zero


def test_the_precision_of_the_input_counts():
    layer = Layer(3, 1, 3)
    rng = np.random.default_rng(1)
    Q = rng.normal(size=(3, 3))
    Q[2] = Q[0] + Q[1]
    K = np.eye(3)
    single = identify(layer, Q.astype(np.float32), K.astype(np.float32), np.ones((1, 3)))
    assert single.rank_a == 2  # rounded to single precision, the rows are not quite dependent
    assert single.tolerance > 1e-7


@pytest.mark.parametrize("t", [1, 2])
@pytest.mark.parametrize(
    "shape",
    [(2, 1, 1), (2, 1, 2), (2, 2, 1), (3, 1, 1), (3, 1, 2), (3, 2, 2), (4, 2, 2), (3, 3, 3)],
)
def test_nearest_weights_are_where_they_are_said_to_be(shape, t):
    layer = Layer(*shape, t=t)
    rng = np.random.default_rng(7)
    for _ in range(8):
        Q, K = rng.normal(size=(2, layer.a, layer.d))
        V = rng.normal(size=(layer.d_out, layer.d))
        A = K.T @ Q
        found = identify(layer, Q, K, V)
        assert [x.to for x in found.distances].count("zero") == 1
        for x in found.distances:
            near = x.nearest
            far = np.hypot(np.linalg.norm(near.V - V), np.linalg.norm(near.A - A))
            assert far == pytest.approx(x.value, abs=1e-9)
            assert x.lower <= x.value + 1e-12
            assert (x.kind == "minimum") is (x.lower == x.value)
            there = identify(layer, near.Q, near.K, near.V, tolerance=1e-11)
            verdict = {"zero": there.zero, "singular": there.singular, "boundary": there.boundary}
            assert verdict[x.to] is True, x
        if t == 2:
            assert all(x.kind == "minimum" for x in found.distances)


def test_distances_are_shortest():
    """No random special weights lie nearer than the distance that is called exact."""
    layer = Layer(3, 1, 2)
    rng = np.random.default_rng(3)
    Q, K, V = rng.normal(size=(2, 3)), rng.normal(size=(2, 3)), rng.normal(size=(1, 3))
    A = K.T @ Q
    found = identify(layer, Q, K, V)
    (joint,) = (x for x in found.distances if x.to == "boundary")
    (rank,) = (x for x in found.distances if x.to == "singular")
    assert joint.value >= rank.value
    for _ in range(300):
        start = rng.normal(size=3)
        for scale in (0.1, 0.5, 1.0):
            x = joint.nearest.V[0] / np.linalg.norm(joint.nearest.V) + 0.3 * scale * start
            x /= np.linalg.norm(x)
            # Best V = c x^T and A = x q^T for this x.
            far = np.hypot(
                np.linalg.norm(V - (V @ x)[:, None] * x), np.linalg.norm(A - np.outer(x, x @ A))
            )
            assert far >= joint.value - 1e-12


# Batches


@pytest.mark.parametrize("t", [1, 2])
@pytest.mark.parametrize("shape", [(2, 1, 2), (3, 1, 1), (3, 2, 2)])
def test_batches_agree_with_single_calls(shape, t):
    layer = Layer(*shape, t=t)
    rng = np.random.default_rng(5)
    Q, K = rng.integers(-1, 2, (2, 60, layer.a, layer.d))
    V = rng.integers(-1, 2, (60, layer.d_out, layer.d))
    exact = identify_batch(layer, Q, K, V)
    floats = identify_batch(layer, Q.astype(float), K.astype(float), V.astype(float))
    assert len(exact) == 60
    assert (exact.exact, exact.certainty) == (True, "proved")
    assert (floats.exact, floats.certainty) == (False, "numerical")
    for k in range(60):
        one = identify(layer, Q[k], K[k], V[k])
        for many in (exact, floats):
            assert (many.rank_v[k], many.rank_a[k], many.rank_va[k]) == (
                one.rank_v,
                one.rank_a,
                one.rank_va,
            )
            assert (many.singular[k], many.boundary[k], many.zero[k]) == (
                one.singular,
                one.boundary,
                one.zero,
            )
            if t == 1:
                assert many.rank_s[k] == one.rank_s
        if t == 2:
            near = identify(layer, *(m[k].astype(float) for m in (Q, K, V))).distances
            for name in ("singular", "boundary"):
                expected = min(x.value for x in near if x.to in (name, "zero"))
                assert getattr(floats, f"{name}_distance")[k] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("t", [1, 2])
def test_ten_thousand_weights_in_seconds(t):
    import time

    layer = Layer(8, 4, 3, t)
    rng = np.random.default_rng(0)
    Q, K = rng.normal(size=(2, 10_000, 3, 8))
    start = time.monotonic()
    found = identify_batch(layer, Q, K, rng.normal(size=(10_000, 4, 8)))
    assert time.monotonic() - start < 20  # about one second on an idle machine
    assert (found.rank_a == 3).all()
    assert (found.singular == 0).all()


def test_empty_batch():
    layer = Layer(2, 1, 1)
    found = identify_batch(layer, np.zeros((0, 1, 2)), np.zeros((0, 1, 2)), np.zeros((0, 1, 2)))
    assert len(found) == 0


# Bad input


@pytest.mark.parametrize(
    ("Q", "error", "text"),
    [
        ([[1, 2, 3]], ValueError, "2 x 2"),
        ([[1, 2], [3, float("nan")]], ValueError, "finite"),
        ([[1, 2], [3, "x"]], TypeError, "number"),
        ([[1, 2], [3, sympy.Symbol("x")]], TypeError, "must be numbers"),
    ],
)
def test_bad_weights(Q, error, text):
    with pytest.raises(error, match=text):
        identify(Layer(2, 1, 2), Q, [[1, 0], [0, 1]], [[1, 1]])


def test_bad_tolerance_and_batches():
    layer = Layer(2, 1, 2)
    with pytest.raises(ValueError, match="tolerance"):
        identify(layer, np.eye(2), np.eye(2), [[1, 1]], tolerance=-1)
    square = np.zeros((3, 2, 2))
    with pytest.raises(ValueError, match=r"\(N, 1, 2\)"):
        identify_batch(layer, square, square, square)
    with pytest.raises(ValueError, match="differ in N"):
        identify_batch(layer, square, square[:2], np.zeros((3, 1, 2)))
    with pytest.raises(TypeError, match="integers or floats"):
        identify_batch(layer, square.astype(object), square, np.zeros((3, 1, 2)))
    with pytest.raises(ValueError, match="NaN"):
        identify_batch(layer, square + np.nan, square, np.zeros((3, 1, 2)))


def test_as_dict_is_plain_data():
    for kind in (int, float):
        for t in (1, 2):
            one = np.eye(2, dtype=kind)
            document = identify(Layer(2, 1, 2, t), one, one, one[:1]).as_dict()
            assert json.loads(json.dumps(document)) == document
            assert document["rank_v"] == 1
