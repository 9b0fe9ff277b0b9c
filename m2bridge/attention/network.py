"""Attention networks of any depth: shapes, weights, evaluation, coefficients."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy

from m2bridge.attention.coordinates import FullCoordinate
from m2bridge.attention.expansion import Parametrization, expand_network, head_symbols
from m2bridge.attention.forward import evaluate
from m2bridge.attention.scalars import Matrix, as_matrix, positive_int, positive_ints
from m2bridge.attention.weights import NetworkWeights, Weights
from m2bridge.display import facts_html, latex_lines

__all__ = ["ATTENTION_KINDS", "Network"]

ATTENTION_KINDS = ("lightning", "softmax")


@dataclass(frozen=True)
class Network:
    """A network of self-attention layers.

    One layer with input X (d x t, tokens are columns) computes the sum over its heads of
    V X S(X^T A X) with A = K^T Q, where S is the identity (lightning) or softmax of each column;
    with ``skip`` the layer's input is added.

    Args:
        dims: widths d_0, ..., d_l; layer i maps d_{i-1} x t to d_i x t.
        ranks: attention dimensions a_1, ..., a_l of each head: Q_i and K_i are a_i x d_{i-1}.
            a_i > d_{i-1} is allowed, A_i then has rank at most d_{i-1}; see `notes`.
        t: the number of tokens.
        attention: ``"lightning"`` or ``"softmax"``.
        heads: heads in every layer.
        skip: add the layer's input to its output; needs equal widths.

    Raises:
        TypeError: for sizes that are no integers, or a ``skip`` that is no truth value.
        ValueError: for sizes below 1, lengths that do not match, an unknown kind of attention, or
            skip connections between different widths.
    """

    dims: tuple[int, ...]
    ranks: tuple[int, ...]
    t: int
    attention: str = "lightning"
    heads: int = 1
    skip: bool = False

    def __post_init__(self) -> None:
        for name in ("dims", "ranks"):
            object.__setattr__(self, name, positive_ints(name, getattr(self, name)))
        for name in ("t", "heads"):
            object.__setattr__(self, name, positive_int(name, getattr(self, name)))
        if len(self.dims) < 2:
            raise ValueError(f"dims needs at least two widths d_0, d_1, got {self.dims}")
        if len(self.ranks) != len(self.dims) - 1:
            raise ValueError(
                f"ranks needs one attention dimension per layer: {len(self.dims) - 1} for dims "
                f"{self.dims}, got {len(self.ranks)}"
            )
        if self.attention not in ATTENTION_KINDS:
            known = " or ".join(repr(kind) for kind in ATTENTION_KINDS)
            raise ValueError(f"attention must be {known}, got {self.attention!r}")
        if not isinstance(self.skip, bool):
            raise TypeError(f"skip must be True or False, got {self.skip!r}")
        if self.skip and len(set(self.dims)) > 1:
            raise ValueError(f"skip connections need equal widths, got dims {self.dims}")

    # Sizes

    @property
    def depth(self) -> int:
        """The number of layers."""
        return len(self.ranks)

    def head_shapes(self, layer: int) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int]]:
        """Shapes of Q, K and V of a head in 0-based layer ``layer``."""
        d, d_out, a = self.dims[layer], self.dims[layer + 1], self.ranks[layer]
        return (a, d), (a, d), (d_out, d)

    @property
    def parameters(self) -> int:
        """The number of weights: all entries of all Q, K and V."""
        per_layer = (
            2 * a * d + d_out * d
            for a, d, d_out in zip(self.ranks, self.dims, self.dims[1:], strict=False)
        )
        return self.heads * sum(per_layer)

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on legal but surprising sizes, as sentences."""
        return tuple(
            f"layer {i + 1}: a = {a} exceeds its input width {d}, so A = K^T Q has rank at most {d}"
            for i, (a, d) in enumerate(zip(self.ranks, self.dims, strict=False))
            if a > d
        )

    # In notebooks

    @property
    def _formula(self) -> str:
        """One layer with its heads, as LaTeX without dollar signs."""
        several, single = self.depth > 1, self.heads == 1
        before, after = ("X_{i-1}", "X_i") if several else ("X", r"\varphi(X)")
        at = ",".join((["i"] if several else []) + ([] if single else ["h"]))
        V, A, Q, K = (f"{name}_{{{at}}}" if at else name for name in "VAQK")
        scores = f"{before}^{{T}} {A} {before}"
        if self.attention == "softmax":
            scores = rf"\operatorname{{softmax}}\left({scores}\right)"
        total = "" if single else rf"\sum_{{h=1}}^{{{self.heads}}} "
        skip = f" + {before}" if self.skip else ""
        where = rf"\quad {A} = {K}^{{T}} {Q}"
        return f"{after} = {total}{V} {before} {scores}{skip},{where}"

    @property
    def _shapes(self) -> list[str]:
        """The sizes, as LaTeX."""
        return [
            rf"\text{{widths }} {', '.join(map(str, self.dims))}",
            rf"\text{{attention dimensions }} {', '.join(map(str, self.ranks))}",
            f"t = {self.t}",
        ]

    def _repr_latex_(self) -> str:
        return latex_lines([self._formula, r",\quad ".join(self._shapes)])

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [
            ("attention", self.attention),
            ("widths", " → ".join(map(str, self.dims))),
            ("attention dimensions", ", ".join(map(str, self.ranks))),
            ("tokens", self.t),
            ("heads in each layer", self.heads),
            ("skip connections", self.skip),
            ("parameters", f"{self.parameters:,}"),
        ]
        return facts_html(repr(self), rows + [("remark", note) for note in self.notes])

    # Weights

    def network_weights(self, layers: Sequence[Any]) -> NetworkWeights:
        """Check the weights of the whole network.

        Args:
            layers: for each layer its heads, each head a (Q, K, V); where there is only one head,
                the layer may be that (Q, K, V) itself.

        Raises:
            TypeError: for entries that are no numbers.
            ValueError: for a wrong number of layers or heads, wrong shapes, NaN or infinities.
        """
        if len(layers) != self.depth:
            raise ValueError(f"expected weights for {self.depth} layers, got {len(layers)}")
        return NetworkWeights(
            tuple(self._layer_weights(i, layer) for i, layer in enumerate(layers))
        )

    def _layer_weights(self, index: int, layer: Any) -> tuple[Weights, ...]:
        heads = layer
        if isinstance(layer, Weights) or (self.heads == 1 and len(layer) == 3):
            heads = [layer]
        if len(heads) != self.heads:
            raise ValueError(
                f"layer {index + 1}: expected {self.heads} heads (Q, K, V), got {len(heads)}"
            )
        checked = []
        for h, head in enumerate(heads):
            if not isinstance(head, Weights) and len(head) != 3:
                raise ValueError(f"layer {index + 1}, head {h}: expected (Q, K, V)")
            Q, K, V = (head.Q, head.K, head.V) if isinstance(head, Weights) else head
            checked.append(self._head_weights(index, h, Q, K, V))
        return tuple(checked)

    def _head_weights(self, layer: int, head: int, Q: object, K: object, V: object) -> Weights:
        single = self.depth == 1 and self.heads == 1
        where = "" if single else f" of layer {layer + 1}, head {head}"
        __tracebackhide__ = True
        shapes = self.head_shapes(layer)
        return Weights(
            as_matrix("Q" + where, Q, shapes[0]),
            as_matrix("K" + where, K, shapes[1]),
            as_matrix("V" + where, V, shapes[2]),
        )

    def weights_from_vector(self, vector: Sequence[Any] | Matrix) -> NetworkWeights:
        """Cut a vector of `parameters` entries into weights; inverse of ``to_vector``.

        Raises:
            TypeError: for entries that are no numbers.
            ValueError: for a wrong length, NaN or infinities.
        """
        flat = as_matrix("the vector of weights", [list(vector)], (1, self.parameters))[0]
        position = 0
        layers = []
        for layer in range(self.depth):
            heads = []
            for _ in range(self.heads):
                matrices = []
                for rows, columns in self.head_shapes(layer):
                    matrices.append(flat[position : position + rows * columns])
                    matrices[-1] = matrices[-1].reshape(rows, columns)
                    position += rows * columns
                heads.append(Weights(*matrices))
            layers.append(tuple(heads))
        return NetworkWeights(tuple(layers))

    def random_weights(self, seed: int = 0, bound: int = 9) -> NetworkWeights:
        """Random integer weights between ``-bound`` and ``bound``, the same for the same seed."""
        generator = random.Random(seed)
        entries = [generator.randint(-bound, bound) for _ in range(self.parameters)]
        return self.weights_from_vector(entries)

    # The function

    def evaluate(self, X: Any, weights: Any) -> Any:
        """Compute phi(X).

        Args:
            X: the d_0 x t input: numpy array, sympy matrix (symbols allowed) or nested sequences.
            weights: `NetworkWeights`, or what `network_weights` takes.

        Returns:
            The d_l x t output. A sympy matrix for a sympy ``X``; otherwise a numpy array: exact
            (dtype ``object``) for exact input and weights, else ``float64``. Softmax of a plain
            array is ``float64``; with a sympy ``X`` it is written with exact exponentials.

        Raises:
            TypeError, ValueError: for entries that are no finite numbers, or a wrong shape.
        """
        if not isinstance(weights, NetworkWeights):
            weights = self.network_weights(weights)
        else:
            weights = self.network_weights(weights.layers)
        return evaluate(self, X, weights)

    # Coefficients

    @cached_property
    def weight_symbols(self) -> tuple[sympy.Symbol, ...]:
        """A symbol for each weight, in the order of ``to_vector``."""
        return head_symbols(self)

    def expand(self, limit: int = 200_000) -> tuple[tuple[FullCoordinate, ...], Parametrization]:
        """Read all coefficients of X off phi(X), lightning only; see `expansion.expand_network`."""
        return expand_network(self, limit)
