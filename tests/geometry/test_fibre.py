"""Fibres: brute force over F_3, dimensions against Jacobians, symmetries, and bad input."""

from __future__ import annotations

import json
from collections import Counter
from itertools import product

import flint
import pytest
import sympy

from m2bridge.attention import Layer
from m2bridge.geometry.fibre import (
    differential_kernel,
    factorisations,
    fibre,
    form_factorisations,
    parameter_kernel,
    symmetries,
)
from m2bridge.geometry.identify import identify
from m2bridge.geometry.recognize import recognize

P = 3


def matrices(rows, columns):
    for entries in product(range(P), repeat=rows * columns):
        yield tuple(entries[i * columns : (i + 1) * columns] for i in range(rows))


def rank_mod(rows):
    return flint.nmod_mat(len(rows), len(rows[0]), [x for row in rows for x in row], P).rank()


# Brute force over F_3


@pytest.mark.parametrize(
    "shape",
    [
        (1, 1, 1),
        (1, 2, 1),
        (2, 1, 1),
        (2, 1, 2),
        (2, 2, 1),
        (2, 2, 2),
        pytest.param((3, 1, 1), marks=pytest.mark.slow),
        pytest.param((3, 1, 2), marks=pytest.mark.slow),
    ],
)
def test_fibre_sizes_by_enumeration(shape):
    """All (V, A) over F_3 with rank A <= a: 1, 2 or 1 preimages up to scaling, by rank type."""
    layer = Layer(*shape)
    sizes = Counter()
    types = {}
    values = [v for v in matrices(layer.d_out, layer.d) if any(map(any, v))]
    for A in matrices(layer.d, layer.d):
        if not 1 <= rank_mod(A) <= layer.a:
            continue
        for V in values:
            point = tuple(x % P for x in layer.image(V, A))
            assert any(point)
            sizes[point] += 1
            joint = [[*(row[p] for row in V), *A[p]] for p in range(layer.d)]
            types.setdefault(point, set()).add((rank_mod(V), rank_mod(A), rank_mod(joint)))
    found = {}
    for point, size in sizes.items():
        (kind,) = types[point]  # a fibre lies in one orbit
        assert size % (P - 1) == 0
        found.setdefault(kind, set()).add(size // (P - 1))
    for kind, counts in found.items():
        assert counts == {2 if kind == (1, 1, 2) else 1}


@pytest.mark.parametrize(("d", "d_out"), [(1, 1), (1, 2), (2, 1), (2, 2)])
def test_single_token_fibre_sizes_by_enumeration(d, d_out):
    """All (V, S) over F_3, d <= 2: for rank V = 1 one for each linear factor of the cubic."""
    layer = Layer(d, d_out, d, 1)
    sizes, ranks = Counter(), {}
    for entries in product(range(P), repeat=d * (d + 1) // 2):
        supply = iter(entries)
        S = [[next(supply) if q >= p else 0 for q in range(d)] for p in range(d)]
        for V in matrices(d_out, d):
            point = tuple(x % P for x in layer.image(V, S))
            if any(point):
                sizes[point] += 1
                ranks.setdefault(point, set()).add(rank_mod(V))
    for point, size in sizes.items():
        (rank,) = ranks[point]
        expected = 1 if rank > 1 else linear_factors(layer, point)
        assert size == expected * (P - 1)


def linear_factors(layer, point):
    """How many linear forms, up to scaling, divide all the cubics over F_3."""
    names = [f"x{k}" for k in range(layer.d)]
    context = flint.nmod_mpoly_ctx.get(names, modulus=P, ordering=flint.Ordering.lex)
    x = context.gens()
    cubics = [context.constant(0) for _ in range(layer.d_out)]
    for c, value in zip(layer.coordinates, point, strict=True):
        (p, q), r = c.pair, c.column
        cubics[c.output] += value * x[p] * x[q] * x[r]
    found = 0
    for coefficients in product(range(P), repeat=layer.d):
        leading = next((k for k in coefficients if k), 0)
        if leading == 1:
            line = sum((k * y for k, y in zip(coefficients, x, strict=True)), context.constant(0))
            found += all(divmod(cubic, line)[1] == 0 for cubic in cubics)
    return found


def count_polynomial(d, a, rank):
    """#{(Q, K) over F_q : K^T Q = A} as a polynomial in q, by counting step by step.

    Pairs P Q = 1_r: choose Q injective, then P on a complement; complexes with e = a - r and
    n = d - r: choose an e x n matrix of rank i, then any n x e matrix that kills its image.
    """
    q = sympy.Symbol("q")
    e, n = a - rank, d - rank

    def of_rank(rows, columns, i):
        value = sympy.Integer(1)
        for k in range(i):
            value *= (q**rows - q**k) * (q**columns - q**k) / (q**i - q**k)
        return value

    injective = sympy.prod(q**a - q**k for k in range(rank))
    complexes = sum(of_rank(e, n, i) * q ** (n * (e - i)) for i in range(min(e, n) + 1))
    return sympy.Poly(sympy.cancel(injective * q ** (rank * e) * complexes), q)


@pytest.mark.parametrize(("d", "a"), [(2, 1), (1, 2), (2, 2), (1, 3), (3, 1)])
def test_factorisations_by_counting_points(d, a):
    """The count is a polynomial in q; degree and leading coefficient tell top components."""
    counts = Counter()
    for Q in matrices(a, d):
        for K in matrices(a, d):
            A = tuple(
                tuple(sum(K[k][p] * Q[k][q] for k in range(a)) % P for q in range(d))
                for p in range(d)
            )
            counts[A] += 1
    by_rank = {}
    for A, count in counts.items():
        by_rank.setdefault(rank_mod(A), set()).add(count)
    for rank, found in by_rank.items():
        assert found == {count_polynomial(d, a, rank).eval(P)}  # the same for all A of one rank


@pytest.mark.parametrize(("d", "a"), [(2, 2), (3, 2), (3, 3), (4, 3), (2, 5), (5, 5), (6, 4)])
def test_top_components_are_those_that_the_count_shows(d, a):
    for rank in range(min(d, a) + 1):
        polynomial, answer = count_polynomial(d, a, rank), factorisations(d, a, rank)
        assert polynomial.degree() == answer.dimension
        top = sum(1 for x in answer.component_dimensions if x == answer.dimension)
        assert polynomial.LC() == top


# Dimensions against Jacobians


SHAPES = [(1, 2, 2), (2, 1, 1), (2, 1, 2), (2, 2, 1), (3, 1, 1), (3, 1, 2), (3, 2, 2), (2, 1, 3)]


@pytest.mark.parametrize("t", [1, 2])
@pytest.mark.parametrize("shape", SHAPES)
def test_everything_agrees_on_random_weights(shape, t):
    """identify, recognize and fibre on 25 random exact weights per model (400 in all)."""
    layer = Layer(*shape, t=t)
    smallest = {}
    for seed in range(25):
        w = layer.random_weights(seed, 1 + seed % 3).layers[0][0]
        answer, where = fibre(layer, w), identify(layer, w.Q, w.K, w.V)
        known = recognize(layer, layer.coefficients(w))
        assert answer.is_zero == where.zero == known.is_zero
        assert answer.points == where.stratum.fibre_points
        assert answer.reduced == where.stratum.fibre_reduced
        if where.zero:
            continue
        assert known.representable
        assert known.rank_v == where.rank_v
        assert answer.real_points in where.stratum.real_fibre_points
        assert answer.given is not None
        mine = answer.components[answer.given]
        assert mine.real
        if t == 2:
            assert known.rank_a == where.rank_a == mine.preimage.rank
            assert answer.swap is (where.stratum.type == (1, 1, 2))
        else:
            assert mine.preimage.rank == where.rank_s
            assert set(mine.preimage.signature) == set(where.signature)
        for component in answer.components:
            if component.differential_kernel is not None:
                assert component.reduced is (component.differential_kernel == 0)
        kernel = parameter_kernel(layer, *(sympy.Matrix(m) for m in (w.Q, w.K, w.V)))
        assert kernel >= min(mine.dimensions)
        key = (mine.reduced, mine.dimensions, where.rank_a, where.stratum.type)
        smallest[key] = min(kernel, smallest.get(key, kernel))
    generic = max(smallest, key=lambda key: (key[3], key[2]))
    assert smallest[generic] in generic[1]  # at generic weights the tangent space is no larger


@pytest.mark.slow
@pytest.mark.parametrize("t", [1, 2])
@pytest.mark.parametrize("shape", SHAPES)
def test_two_hundred_random_weights_per_model(shape, t):
    layer = Layer(*shape, t=t)
    for seed in range(220):
        w = layer.random_weights(1000 + seed, 1 + seed % 5).layers[0][0]
        answer, where = fibre(layer, w), identify(layer, w.Q, w.K, w.V)
        assert answer.points == where.stratum.fibre_points
        assert answer.reduced == where.stratum.fibre_reduced
        assert where.zero or answer.given is not None


@pytest.mark.parametrize(("d", "a"), [(2, 1), (2, 2), (3, 2), (2, 3), (3, 4), (4, 2)])
def test_factorisations_at_random_points(d, a):
    """The differential of (Q, K) -> K^T Q at pairs with given ranks of Q and K."""
    for rank in range(min(a, d) + 1):
        answer = factorisations(d, a, rank)
        found = []
        e = a - rank
        for i in range(min(e, d - rank) + 1):
            j = min(e - i, d - rank)
            # Q = (1_r, 0; 0, 1_i), K = (1_r, 0; 0 ... 1_j) use disjoint rows beyond the first r.
            Q = [[int(k == r and k < rank + i) for r in range(d)] for k in range(a)]
            K = [[0] * d for _ in range(a)]
            for k in range(rank):
                K[k][k] = 1
            for k in range(j):
                K[rank + i + k][rank + k] = 1
            found.append((i, j, _kernel_of_product(d, a, Q, K)))
        maximal = [
            size
            for i, j, size in found
            if not any((i <= k and j <= m) and (i, j) != (k, m) for k, m, _ in found)
        ]
        assert tuple(sorted(maximal, reverse=True)) == answer.component_dimensions


def _kernel_of_product(d, a, Q, K):
    rows = []
    for k in range(a):
        for p in range(d):
            # dQ = unit (k, p): K^T dQ; then dK = unit (k, p): dK^T Q.
            rows.append([K[k][x] * (y == p) for x in range(d) for y in range(d)])
            rows.append([(x == p) * Q[k][y] for x in range(d) for y in range(d)])
    return 2 * a * d - flint.fmpz_mat([[int(x) for x in row] for row in rows]).rank()


@pytest.mark.parametrize(("d", "a"), [(2, 1), (2, 2), (3, 2), (4, 2), (3, 1)])
def test_generic_single_token_dimension(d, a):
    """2ad - dim of the quadratic forms of rank <= 2a."""
    b = min(2 * a, d)
    forms = b * d - b * (b - 1) // 2
    answer = form_factorisations(d, a, (min(a, b - b // 2), b // 2), b)
    assert answer.dimension == 2 * a * d - forms
    assert answer.real_dimension == answer.dimension


def test_real_points_of_a_factorisation_can_be_fewer():
    # S = x0^2 + x1^2 with a = 2: the complement of its image is negative definite.
    answer = form_factorisations(4, 2, (2, 0), 2)
    assert answer.real_dimension < answer.dimension
    assert form_factorisations(4, 2, (3, 0), 3).real_dimension is None


# Symmetries


@pytest.mark.parametrize("t", [1, 2])
@pytest.mark.parametrize("a", [1, 2, 3])
def test_generators_leave_the_function_alone_and_are_independent(a, t):
    layer = Layer(3, 2, a, t)
    w = layer.random_weights(4).layers[0][0]
    Q, K, V = (sympy.Matrix(m) for m in (w.Q, w.K, w.V))
    moved = []
    for symmetry in symmetries(layer):
        assert len(symmetry.lie_algebra) == symmetry.dimension
        for generator in symmetry.lie_algebra:
            dQ, dK, dV = generator.apply(Q, K, V)
            dA = dK.T * Q + K.T * dQ
            change = [
                x + y
                for x, y in zip(
                    layer.image(dV.tolist(), (K.T * Q).tolist()),
                    layer.image(V.tolist(), dA.tolist()),
                    strict=True,
                )
            ]
            assert not any(change)
            moved.append([*dQ, *dK, *dV])
    orbit = sympy.Matrix(moved).rank()
    assert orbit == fibre(layer, w).dimension  # generic weights: the fibre is one orbit, finitely
    names = [s.name for s in symmetries(layer)]
    assert names == ["scaling", "query-key"]


# Descriptions


def test_swap():
    layer = Layer(2, 1, 1)
    answer = fibre(layer, Q=[[1, 1]], K=[[0, 1]], V=[[1, 0]])
    assert answer.swap
    assert (answer.points, answer.real_points, answer.length, answer.dimension) == (2, 2, 2, 2)
    values = {tuple(c.preimage.V) for c in answer.components}
    assert values == {(1, 0), (0, 1)}


def test_complex_fibre_of_a_point_that_real_weights_miss():
    layer = Layer(2, 1, 2)
    w0, w1 = 1, 1
    point = [w0, 0, 0, 0, w1, 0]  # T_0 = w0^2 + w1^2, T_1 = 0
    answer = fibre(layer, point)
    assert (answer.points, answer.real_points, answer.real_dimension) == (2, 0, None)
    assert answer.reduced


def test_not_reduced():
    answer = fibre(Layer(3, 1, 1), Q=[[1, 1, 0]], K=[[1, 2, 3]], V=[[1, 2, 3]])
    assert (answer.points, answer.length, answer.reduced) == (1, 3, False)
    (component,) = answer.components
    assert component.differential_kernel == 2


def test_zero_function():
    answer = fibre(Layer(2, 1, 1), [0] * 6)
    assert answer.points is None
    assert answer.reduced is None
    assert [c.dimension for c in answer.components] == [4, 2 + 2]
    assert answer.dimension == 4


def test_differential_kernel_needs_rational_matrices():
    layer = Layer(2, 1, 2)
    assert differential_kernel(layer, sympy.Matrix([[1, sympy.sqrt(2)]]), sympy.eye(2)) is None
    assert differential_kernel(layer, sympy.Matrix([[1, 0]]), sympy.eye(2)) == 0


def test_bad_input():
    layer = Layer(2, 1, 2)
    with pytest.raises(ValueError, match="not in the closure"):
        fibre(layer, [1, 0, 0, 0, 0, 1])
    with pytest.raises(ValueError, match="6 coordinates"):
        fibre(layer, [1, 2])
    with pytest.raises(TypeError, match="floating-point"):
        fibre(layer, Q=[[1.0, 0], [0, 1]], K=[[1, 0], [0, 1]], V=[[1, 1]])
    with pytest.raises(TypeError, match="either a point or"):
        fibre(layer)
    with pytest.raises(TypeError, match="either a point or"):
        fibre(layer, Q=[[1, 0], [0, 1]])
    with pytest.raises(TypeError, match="either a point or"):
        fibre(layer, [0] * 6, V=[[1, 1]])


def test_as_dict_is_plain_data():
    for t in (1, 2):
        layer = Layer(2, 1, 1, t)
        document = fibre(layer, Q=[[1, 1]], K=[[0, 1]], V=[[1, 0]]).as_dict()
        assert json.loads(json.dumps(document)) == document
        assert document["points"] == (3 if t == 1 else 2)
