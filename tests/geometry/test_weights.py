"""The weights method against mathematics that is stated elsewhere and against brute force."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations_with_replacement, product
from math import comb, prod

import numpy as np
import pytest
from flint import nmod_mat

from m2bridge.attention.layer import Layer
from m2bridge.errors import SizeLimitError, VerificationError
from m2bridge.geometry.weights import (
    EquivariantMap,
    attention_map,
    ideal_up_to_degree,
    layer_map,
    multiplicities,
    partitions,
    schur_dimension,
    stratum_map,
)
from m2bridge.geometry.weights.expand import (
    derive,
    irreducible_basis,
    polynomial_of_codes,
    step_table,
)
from m2bridge.geometry.weights.highest import highest_weight_space
from m2bridge.geometry.weights.linear import exact_nullspace, rational, to_flint
from m2bridge.geometry.weights.partitions import kostka, weight_space_sizes
from m2bridge.geometry.weights.space import decode, encode, labels, monomials
from m2bridge.geometry.weights.span import module_spanned

P = 2_147_483_647


def brute_force_dimension(map_: EquivariantMap, degree: int) -> int:
    """dim I_degree from the rank of all monomials at many points, modulo a prime."""
    n = len(map_.labels)
    all_monomials = list(combinations_with_replacement(range(n), degree))
    rng = np.random.default_rng(7)
    points = rng.integers(-50, 51, (len(all_monomials) + 5, map_.parameters))
    values = map_.values(points)
    rows = [[prod(int(v[i]) for i in m) % P for m in all_monomials] for v in values]
    matrix = nmod_mat(len(rows), len(all_monomials), [x for row in rows for x in row], P)
    return len(all_monomials) - int(matrix.rank())


def test_schur_dimensions_of_well_known_modules() -> None:
    assert schur_dimension((), 4) == 1
    assert schur_dimension((5,), 3) == comb(7, 2)
    assert schur_dimension((1, 1, 1), 5) == comb(5, 3)
    assert schur_dimension((2, 1), 3) == 8
    assert schur_dimension((2, 2), 4) == 20
    assert schur_dimension((1, 1, 1), 2) == 0


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_schur_dimensions_satisfy_cauchys_formula(n: int) -> None:
    for degree in range(6):
        total = sum(schur_dimension(p, n) ** 2 for p in partitions(degree, n))
        assert total == comb(n * n + degree - 1, degree)


@pytest.mark.parametrize(
    ("degrees", "rows", "degree"),
    [((1, 2, 1), (2, 3, 3), 4), ((1, 2, 1), (3, 2, 2), 5), ((1, 3), (2, 3), 4), ((2,), (4,), 4)],
)
def test_multiplicities_add_up_to_the_polynomial_ring(
    degrees: tuple[int, ...], rows: tuple[int, ...], degree: int
) -> None:
    n = prod(comb(r + k - 1, k) for r, k in zip(rows, degrees, strict=True))
    total = sum(
        m * prod(schur_dimension(p, r) for p, r in zip(shape, rows, strict=True))
        for shape, m in multiplicities(degrees, degree, rows).items()
    )
    assert total == comb(n + degree - 1, degree)


def test_known_plethysms() -> None:
    assert multiplicities((2,), 3, (3,)) == {((6,),): 1, ((4, 2),): 1, ((2, 2, 2),): 1}
    assert multiplicities((3,), 2, (3,)) == {((6,),): 1, ((4, 2),): 1}
    cauchy = multiplicities((1, 1), 4, (3, 2))
    assert cauchy == {(p, p): 1 for p in partitions(4, 2)}


def test_codes_and_labels_are_inverse_and_in_the_layers_order() -> None:
    layer = Layer(3, 2, 2)
    found = labels((1, 2, 1), (2, 3, 3))
    assert [(i, pair, r) for (i,), pair, (r,) in found] == [
        (c.output, c.pair, c.column) for c in layer.coordinates
    ]
    codes = [encode(label) for label in found]
    assert codes == sorted(codes)
    assert [decode(code, (1, 2, 1)) for code in codes] == list(found)


@pytest.mark.parametrize("sizes", [(2, 3, 1, 2), (3, 2, 2, 2), (3, 2, 3, 5), (3, 2, 1, 1)])
def test_the_map_is_the_layers_parametrization(sizes: tuple[int, int, int, int]) -> None:
    d, d_out, a, _ = sizes
    layer = Layer(*sizes)
    map_ = layer_map(layer)
    rng = np.random.default_rng(1)
    V = rng.integers(-9, 10, (d_out, d))
    if a >= d:
        A = rng.integers(-9, 10, (d, d))
        parameters = np.concatenate([V.ravel(), A.ravel()])
    else:
        K, Q = rng.integers(-9, 10, (d, a)), rng.integers(-9, 10, (a, d))
        A = K @ Q
        parameters = np.concatenate([V.ravel(), K.ravel(), Q.ravel()])
    expected = [int(x) for x in layer.image(V.tolist(), A.tolist())]
    assert [int(x) for x in map_.values(parameters[None, :])[0]] == expected


def test_monomials_of_a_weight_are_all_of_them() -> None:
    weight = ((2, 1), (3, 2, 1), (1, 1, 1))
    found = {tuple(int(x) for x in row) for row in monomials((1, 2, 1), weight)}
    expected = set()
    for chosen in combinations_with_replacement(labels((1, 2, 1), (2, 3, 3)), 3):
        blocks = [[i for label in chosen for i in label[b]] for b in range(3)]
        if all(
            tuple(block.count(i) for i in range(len(w))) == w
            for block, w in zip(blocks, weight, strict=True)
        ):
            expected.add(tuple(sorted(encode(label) for label in chosen)))
    assert found == expected


@pytest.mark.parametrize(("degrees", "rows"), [((1, 2, 1), (2, 3, 3)), ((1, 3), (2, 3))])
def test_weight_space_sizes_count_monomials(
    degrees: tuple[int, ...], rows: tuple[int, ...]
) -> None:
    for shape, size in weight_space_sizes(degrees, 3, rows).items():
        assert size == len(monomials(degrees, shape))


def test_kostka_numbers() -> None:
    assert kostka((2, 1), (1, 1, 1)) == 2
    assert kostka((3, 2), (2, 2, 1)) == 2
    assert kostka((2, 2), (3, 1)) == 0
    assert kostka((4,), (1, 2, 1)) == 1


@pytest.mark.parametrize("degrees", [(1, 2, 1), (1, 3)])
def test_highest_weight_vectors_are_killed_by_every_raising_operator(
    degrees: tuple[int, ...],
) -> None:
    dims = (2, 3, 3)[: len(degrees)]
    for shape, multiplicity in multiplicities(degrees, 3, dims).items():
        space = highest_weight_space(degrees, shape)
        assert int(to_flint(space.vectors).rank()) == multiplicity
        for column in space.vectors.T:
            f = polynomial_of_codes(space.monomials, column)
            for block, n in enumerate(dims):
                for k in range(n - 1):
                    assert not derive(f, step_table(degrees, dims, block, k, -1))


@pytest.mark.parametrize("degrees", [(1, 2, 1), (1, 3)])
def test_lowering_is_adjoint_to_raising(degrees: tuple[int, ...]) -> None:
    from m2bridge.geometry.weights.space import norm

    dims = (2, 3, 2)[: len(degrees)]
    for block, n in enumerate(dims):
        for k in range(n - 1):
            up = step_table(degrees, dims, block, k, -1)
            down = step_table(degrees, dims, block, k, 1)
            for x, (c, y) in up.items():
                back, home = down[y]
                assert home == x
                assert c * norm(decode(y, degrees)) == back * norm(decode(x, degrees))


def test_the_map_is_equivariant_under_the_raising_operators() -> None:
    """Raising a coordinate and then substituting = substituting and then deriving in V and A."""
    d, d_out = 3, 2
    map_ = attention_map(d, d_out, d)
    components = [{p: c for c, p in terms} for terms in map_.components]
    position = map_.index_of_code

    def derived(terms: dict[tuple[int, ...], int], moves: dict[int, int]) -> dict:
        out: dict[tuple[int, ...], int] = {}
        for key, c in terms.items():
            for i, x in enumerate(key):
                if x in moves:
                    new = tuple(sorted((*key[:i], moves[x], *key[i + 1 :])))
                    out[new] = out.get(new, 0) + c
        return out

    start = d * d_out
    for block, k in [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1)]:
        moves: dict[int, int] = {}
        if block == 0:
            moves = {(k + 1) * d + p: k * d + p for p in range(d)}
        if block == 1:
            moves = {i * d + k + 1: i * d + k for i in range(d_out)}
            moves |= {start + (k + 1) * d + r: start + k * d + r for r in range(d)}
        if block == 2:
            moves = {start + q * d + k + 1: start + q * d + k for q in range(d)}
        table = step_table(map_.degrees, map_.dims, block, k, -1)
        for code, index in position.items():
            left = {}
            if code in table:
                c, image = table[code]
                left = {p: c * e for p, e in components[position[image]].items()}
            assert derived(components[index], moves) == left


@pytest.mark.parametrize(
    ("sizes", "degree"),
    [
        ((2, 1, 1, 2), 2),
        ((2, 1, 1, 2), 4),
        ((2, 1, 2, 2), 4),
        ((2, 1, 2, 2), 5),
        ((2, 2, 1, 2), 3),
        ((2, 2, 2, 2), 3),
        ((3, 1, 2, 2), 3),
        ((3, 1, 3, 2), 3),
        ((2, 2, 1, 1), 4),
        ((2, 3, 1, 1), 3),
        ((3, 1, 1, 1), 4),
    ],
)
def test_dimensions_agree_with_brute_force(sizes: tuple[int, int, int, int], degree: int) -> None:
    map_ = attention_map(*sizes)
    assert ideal_up_to_degree(map_, degree).dimension(degree) == brute_force_dimension(map_, degree)


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((2, 1, 1), {2: 3}),
        ((2, 1, 2), {4: 1}),
        ((2, 2, 1), {2: 15, 4: 5}),
        ((2, 2, 2), {2: 5, 4: 10}),
        ((2, 3, 1), {2: 36, 3: 4, 4: 30}),
        ((2, 3, 2), {2: 15, 3: 4, 4: 45}),
        ((3, 1, 1), {2: 45, 3: 10}),
        ((3, 1, 2), {3: 30, 4: 90}),
        ((3, 1, 3), {3: 20, 4: 90}),
        ((2, 3, 1, 1), {3: 4, 4: 30}),
        ((3, 1, 1, 1), {4: 35}),
        ((4, 1, 1, 1), {4: 1085}),
        ((4, 1, 4), {3: 400, 4: 2500}),
    ],
)
def test_minimal_generators(sizes: tuple[int, ...], expected: dict[int, int]) -> None:
    ideal = ideal_up_to_degree(attention_map(*sizes), 4)
    found = {D: ideal.new_dimension(D) for D in ideal.parts if ideal.new_dimension(D)}
    assert found == expected


@pytest.mark.parametrize(
    ("d", "d_out"), [(2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (3, 3), (4, 1), (4, 2)]
)
def test_cubics_of_the_full_rank_model(d: int, d_out: int) -> None:
    """docs/theory: I_2 and I_3 for a = d, uniformly in d and d_out, each module once."""
    quadrics = {((1, 1), (4,), (1, 1))}
    cubics = {
        ((3,), (3, 3), (1, 1, 1)),
        ((3,), (2, 2, 2), (3,)),
        ((2, 1), (6,), (2, 1)),
        ((2, 1), (5, 1), (2, 1)),
        ((2, 1), (5, 1), (1, 1, 1)),
        ((2, 1), (4, 2), (2, 1)),
        ((2, 1), (4, 2), (1, 1, 1)),
        ((1, 1, 1), (6,), (1, 1, 1)),
        ((1, 1, 1), (5, 1), (2, 1)),
        ((1, 1, 1), (4, 2), (2, 1)),
        ((1, 1, 1), (4, 2), (1, 1, 1)),
        ((1, 1, 1), (3, 3), (3,)),
    }
    ideal = ideal_up_to_degree(attention_map(d, d_out, d), 3)
    for D, expected in ((2, quadrics), (3, cubics)):
        fitting = {
            s for s in expected if all(len(p) <= n for p, n in zip(s, (d_out, d, d), strict=True))
        }
        blocks = ideal.parts[D].blocks
        assert {b.shape for b in blocks} == fitting
        assert all(b.ideal.shape[1] == 1 for b in blocks)


@pytest.mark.parametrize(("d", "d_out", "a"), [(2, 2, 1), (3, 1, 2), (3, 1, 1), (3, 2, 2)])
def test_lower_rank_adds_exactly_the_minors_of_the_flattening(d: int, d_out: int, a: int) -> None:
    """Theorem 7 (i): I_D^(a) is I_D^(d) plus every module with more than a rows in Z."""
    low = ideal_up_to_degree(attention_map(d, d_out, a), 4)
    full = ideal_up_to_degree(attention_map(d, d_out, d), 4)
    for D in range(1, 5):
        ring = multiplicities((1, 2, 1), D, (d_out, d, d))
        expected = {b.shape: b.ideal.shape[1] for b in full.parts[D].blocks}
        expected |= {s: m for s, m in ring.items() if len(s[2]) > a}
        assert {b.shape: b.ideal.shape[1] for b in low.parts[D].blocks} == expected


@pytest.mark.parametrize("d_out", [1, 2, 3, 4, 5])
def test_generators_for_d_2_follow_theorem_8(d_out: int) -> None:
    ideal = ideal_up_to_degree(attention_map(2, d_out, 2), 5)
    assert [ideal.new_dimension(D) for D in (2, 3, 4, 5)] == [
        5 * comb(d_out, 2),
        4 * comb(d_out, 3),
        comb(d_out + 3, 4) + 5 * d_out**2 * (d_out**2 - 1) // 12,
        0,
    ]


def test_one_token_numbers() -> None:
    assert ideal_up_to_degree(attention_map(3, 2, 1, 1), 5).new_dimension(4) == 308
    assert ideal_up_to_degree(attention_map(3, 2, 1, 1), 5).new_dimension(5) == 510
    two = ideal_up_to_degree(attention_map(3, 2, 2, 1), 5)
    assert [two.new_dimension(D) for D in (4, 5)] == [125, 0]
    three = ideal_up_to_degree(attention_map(3, 3, 1, 1), 4)
    assert [three.new_dimension(D) for D in (3, 4)] == [65, 1347]
    assert ideal_up_to_degree(attention_map(4, 2, 2, 1), 4).new_dimension(4) == 1375


@pytest.mark.slow
def test_reducible_plane_cubics_have_35_octics() -> None:
    ideal = ideal_up_to_degree(attention_map(3, 1, 2, 1), 9)
    assert {D: ideal.new_dimension(D) for D in ideal.parts} == {
        D: 35 if D == 8 else 0 for D in range(1, 10)
    }


@pytest.mark.slow
def test_quintics_of_3_2_3() -> None:
    """There are minimal generators of degree 5; the Hilbert function confirms dim I_5."""
    ideal = ideal_up_to_degree(attention_map(3, 2, 3), 5)
    assert {b.shape: b.new.shape[1] for b in ideal.parts[5].new_blocks} == {
        ((4, 1), (6, 3, 1), (4, 1)): 1,
        ((4, 1), (4, 3, 3), (4, 1)): 1,
        ((3, 2), (5, 3, 2), (3, 2)): 1,
    }
    assert ideal.new_dimension(5) == 4770


def test_the_smallest_stratum_is_a_segre_veronese_variety() -> None:
    """rank(V) = rank(A) = rank[V A] = 1: u (x) k^2 (x) q, whose coordinate ring is known."""
    d, d_out = 3, 2
    ideal = ideal_up_to_degree(stratum_map(d, d_out, 1, 1, 1), 3)
    n = len(ideal.map.labels)
    for D in (1, 2, 3):
        ring = comb(d_out + D - 1, D) * comb(d + 2 * D - 1, 2 * D) * comb(d + D - 1, D)
        assert comb(n + D - 1, D) - ideal.dimension(D) == ring
    assert ideal.new_dimension(3) == 0


def test_the_top_stratum_is_the_model() -> None:
    stratum = ideal_up_to_degree(stratum_map(3, 1, 1, 2, 3), 3)
    model = ideal_up_to_degree(attention_map(3, 1, 2), 3)
    assert [stratum.dimension(D) for D in (1, 2, 3)] == [model.dimension(D) for D in (1, 2, 3)]


def test_impossible_strata_are_refused() -> None:
    with pytest.raises(ValueError, match="ranks"):
        stratum_map(3, 1, 1, 1, 3)


def test_irreducible_basis_vanishes_and_is_independent() -> None:
    map_ = attention_map(3, 1, 2)
    ideal = ideal_up_to_degree(map_, 3)
    for block in ideal.parts[3].new_blocks:
        top = polynomial_of_codes(monomials(map_.degrees, block.shape), block.new[:, 0])
        basis = irreducible_basis(map_.degrees, map_.dims, block.shape, top)
        keys = sorted({key for f in basis for key in f})
        matrix = to_flint(np.array([[f.get(key, 0) for key in keys] for f in basis], dtype=object))
        assert int(matrix.rank()) == len(basis) == ideal.irreducible_dimension(block.shape)
        for f in basis:
            codes = {tuple(map_.index_of_code[c] for c in key): x for key, x in f.items()}
            assert map_.vanishes(codes)


def test_a_vector_that_is_not_highest_is_refused() -> None:
    map_ = attention_map(2, 1, 1)
    shape = ((2,), (3, 1), (1, 1))
    lower = {tuple(int(c) for c in monomials(map_.degrees, ((2,), (2, 2), (1, 1)))[0]): 1}
    with pytest.raises(VerificationError):
        irreducible_basis(map_.degrees, map_.dims, shape, lower)


def test_module_spanned_by_the_entries_of_a_two_by_two_minor() -> None:
    """One 2 x 2 minor of a generic matrix spans all of them: [11;11]."""
    minor = {
        tuple(sorted((encode(((0,), (0,))), encode(((1,), (1,)))))): 1,
        tuple(sorted((encode(((0,), (1,))), encode(((1,), (0,)))))): -1,
    }
    assert list(module_spanned((1, 1), (3, 3), [minor])) == [((1, 1), (1, 1))]
    square = {(encode(((2,), (1,))),) * 2: 1}
    assert list(module_spanned((1, 1), (3, 3), [square])) == [((2,), (2,))]
    mixed = {tuple(sorted((encode(((0,), (0,))), encode(((1,), (1,)))))): 1}
    assert list(module_spanned((1, 1), (3, 3), [mixed])) == [((2,), (2,)), ((1, 1), (1, 1))]


def test_an_executor_gives_the_same_answer() -> None:
    map_ = attention_map(2, 2, 2)
    with ThreadPoolExecutor(2) as pool:
        parallel = ideal_up_to_degree(map_, 4, executor=pool)
    serial = ideal_up_to_degree(map_, 4)
    for D in serial.parts:
        for one, other in zip(serial.parts[D].blocks, parallel.parts[D].blocks, strict=True):
            assert one.shape == other.shape
            assert (one.ideal == other.ideal).all()
            assert (one.new == other.new).all()


def test_progress_limits_and_interruption() -> None:
    seen: list[tuple[str, int, int | None]] = []
    ideal_up_to_degree(attention_map(2, 1, 1), 2, progress=lambda *x: seen.append(x))
    assert seen[-1][0] == "degree 2"
    assert seen[-1][1] == seen[-1][2]

    with pytest.raises(SizeLimitError, match="max_weight_space"):
        ideal_up_to_degree(attention_map(3, 1, 3), 4, max_weight_space=3)
    with pytest.raises(TimeoutError):
        ideal_up_to_degree(attention_map(3, 1, 3), 4, deadline=0.0)

    def interrupt(stage: str, done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), ThreadPoolExecutor(1) as pool:
        ideal_up_to_degree(attention_map(2, 1, 1), 2, progress=interrupt, executor=pool)


def test_a_map_with_the_wrong_number_of_components_is_refused() -> None:
    with pytest.raises(ValueError, match="components"):
        EquivariantMap((1, 2, 1), (1, 2, 2), 3, (), "empty")


def test_rational_reconstruction_and_nullspace() -> None:
    rng = random.Random(3)
    for _ in range(50):
        n, m = rng.randint(-999, 999), rng.randint(1, 999)
        found = rational(n * pow(m, -1, P) % P, P)
        assert found is not None
        assert found[0] * m == n * found[1]
    matrix = np.array([[1, 2, 3], [2, 4, 6]], dtype=object)
    kernel = exact_nullspace(to_flint(matrix))
    assert len(kernel) == 2
    assert all(not (matrix @ np.array(v, dtype=object)).any() for v in kernel)


def test_vanishes_is_exact() -> None:
    map_ = attention_map(2, 1, 1)
    ideal = ideal_up_to_degree(map_, 2)
    block = ideal.parts[2].new_blocks[0]
    rows = monomials(map_.degrees, block.shape)
    true = {
        tuple(map_.index_of_code[int(c)] for c in row): int(x)
        for row, x in zip(rows, block.new[:, 0], strict=True)
        if x
    }
    assert map_.vanishes(true)
    for key, change in product(true, (1, -1)):
        assert not map_.vanishes({**true, key: true[key] + change})
    assert not map_.vanishes({(): 1})
    assert map_.vanishes({})
