"""Unrolling a deep network into its reduced data, as formulas, as values and as a picture.

With V~_i = V_i .. V_1 and A~_i = (V_{i-1} .. V_1)^T A_i (V_{i-1} .. V_1), layer i computes
X_i = V~_i X H_i, where H_0 = 1 and H_i = H_{i-1} H_{i-1}^T (X^T A~_i X) H_{i-1}; for softmax
attention X_i = V~_i X P_i, where P_i = P_{i-1} softmax(P_{i-1}^T X^T A~_i X P_{i-1}). The function
depends on V~_l and the A~_i alone (docs: theory page, "Reduced form of a deep network"; for
lightning attention also arXiv 2408.17221).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from m2bridge.attention import Network, NetworkWeights
from m2bridge.attention.scalars import Matrix, as_matrix, is_exact
from m2bridge.display import brief, facts_html, sections_html, table_html

__all__ = [
    "Edge",
    "Formula",
    "Node",
    "ReducedData",
    "Unrolled",
    "evaluate_reduced",
    "reduced_data",
    "unroll",
]


@dataclass(frozen=True)
class Formula:
    """One line of the unrolling: ``left = right``, in plain text and in LaTeX."""

    left: str
    right: str
    latex: str

    def __str__(self) -> str:
        return f"{self.left} = {self.right}"


@dataclass(frozen=True)
class Node:
    """A box of the picture.

    Attributes:
        key: its identity for edges.
        kind: ``"input"``, ``"weight"`` (V_i or A_i), ``"reduced"`` (V~_l or A~_i), ``"tokens"``
            (H_i or P_i, t x t) or ``"output"``.
        label, latex: what to write in it.
        shape: of the matrix.
        column, row: where to draw it: layer from left to right, kind from top to bottom.
    """

    key: str
    kind: str
    label: str
    latex: str
    shape: tuple[int, int]
    column: int
    row: int


@dataclass(frozen=True)
class Edge:
    """An arrow of the picture: ``start`` enters ``end``."""

    start: str
    end: str


@dataclass(frozen=True)
class Unrolled:
    """A network's reduced form.

    Attributes:
        network: one head per layer, no skip connections.
        formulas: definitions of the reduced data, the recursion in the tokens, and the output.
        nodes, edges: the same as a picture.
    """

    network: Network
    formulas: tuple[Formula, ...]
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    __repr__ = brief

    @property
    def latex(self) -> str:
        """All formulas as one ``align*`` environment."""
        lines = " \\\\\n".join(formula.latex for formula in self.formulas)
        return f"\\begin{{align*}}\n{lines}\n\\end{{align*}}"

    def _repr_latex_(self) -> str:
        return self.latex

    def _repr_html_(self) -> str:
        lines = [(formula.left, formula.right) for formula in self.formulas]
        reduced = [
            (node.label, " × ".join(map(str, node.shape)))
            for node in self.nodes
            if node.kind == "reduced"
        ]
        return sections_html(
            facts_html(f"Reduced form of {self.network}", lines),
            facts_html("", [("certainty", "proved: an identity of functions")]),
            table_html(("reduced datum", "shape"), reduced),
        )

    def __str__(self) -> str:
        return "\n".join(str(formula) for formula in self.formulas)


@dataclass(frozen=True, eq=False)
class ReducedData:
    """The reduced data of given weights: V~_l, d_l x d_0, and A~_1..A~_l, all d_0 x d_0."""

    V: Matrix
    A: tuple[Matrix, ...]


def unroll(network: Network) -> Unrolled:
    """Write a network in reduced form.

    Raises:
        ValueError: for several heads or skip connections, which have no such form.
    """
    _check(network)
    softmax = network.attention == "softmax"
    tokens = "P" if softmax else "H"
    formulas = [_value_formula(network.depth)]
    formulas += [_attention_formula(i) for i in range(1, network.depth + 1)]
    formulas.append(Formula(f"{tokens}_0", "1", f"{tokens}_0 &= 1"))
    step = _softmax_step if softmax else _lightning_step
    formulas += [step(i) for i in range(1, network.depth + 1)]
    last = network.depth
    formulas.append(
        Formula(
            "phi(X)",
            f"V~_{last} X {tokens}_{last}",
            f"\\varphi(X) &= \\tilde V_{{{last}}}\\, X\\, {tokens}_{{{last}}}",
        )
    )
    nodes, edges = _picture(network, tokens)
    return Unrolled(network, tuple(formulas), tuple(nodes), tuple(edges))


def reduced_data(network: Network, weights: Any) -> ReducedData:
    """Compute V~_l and A~_1..A~_l; exact for exact weights.

    Args:
        network: one head per layer, no skip connections.
        weights: as for ``network.evaluate``.

    Raises:
        ValueError, TypeError: for weights that do not fit, or another kind of network.
    """
    _check(network)
    layers = weights.layers if isinstance(weights, NetworkWeights) else weights
    checked = network.network_weights(layers)
    product: Matrix = np.eye(network.dims[0], dtype=object).astype(int).astype(object)
    attention = []
    for (head,) in checked.layers:
        attention.append(np.asarray(product.T @ head.A @ product))
        product = np.asarray(head.V @ product)
    return ReducedData(product, tuple(attention))


def evaluate_reduced(network: Network, data: ReducedData, X: object) -> Matrix:
    """Compute phi(X) from the reduced data, by the recursion in the t x t matrices.

    Exact for exact lightning networks, ``float64`` for softmax.

    Raises:
        ValueError, TypeError: for a bad input, or another kind of network.
    """
    _check(network)
    value = as_matrix("X", X, (network.dims[0], network.t))
    softmax = network.attention == "softmax"
    numerical = softmax or not all(is_exact(m) for m in (value, data.V, *data.A))
    kind: Any = np.float64 if numerical else object
    value, tokens = value.astype(kind), np.eye(network.t, dtype=int).astype(kind)
    for A in data.A:
        scores = tokens.T @ value.T @ A.astype(kind) @ value @ tokens
        if softmax:
            shifted = np.exp(scores - scores.max(axis=0, keepdims=True))
            tokens = tokens @ (shifted / shifted.sum(axis=0, keepdims=True))
        else:
            tokens = tokens @ scores
    return np.asarray(data.V.astype(kind) @ value @ tokens)


def _check(network: Network) -> None:
    if network.heads > 1 or network.skip:
        raise ValueError(
            "only networks with one head per layer and no skip connections have a reduced form"
        )


def _value_formula(depth: int) -> Formula:
    text = " ".join(f"V_{i}" for i in range(depth, 0, -1))
    latex = " ".join(f"V_{{{i}}}" for i in range(depth, 0, -1))
    return Formula(f"V~_{depth}", text, f"\\tilde V_{{{depth}}} &= {latex}")


def _attention_formula(i: int) -> Formula:
    attention, latex = f"K_{i}^T Q_{i}", f"K_{{{i}}}^{{\\top}} Q_{{{i}}}"
    if i > 1:
        before = " ".join(f"V_{k}" for k in range(i - 1, 0, -1))
        before_latex = " ".join(f"V_{{{k}}}" for k in range(i - 1, 0, -1))
        attention = f"({before})^T {attention} ({before})"
        latex = f"({before_latex})^{{\\top}} {latex}\\, ({before_latex})"
    return Formula(f"A~_{i}", attention, f"\\tilde A_{{{i}}} &= {latex}")


def _lightning_step(i: int) -> Formula:
    h, k = f"H_{i - 1}", f"H_{{{i - 1}}}"
    return Formula(
        f"H_{i}",
        f"{h} {h}^T (X^T A~_{i} X) {h}",
        f"H_{{{i}}} &= {k} {k}^{{\\top}} (X^{{\\top}} \\tilde A_{{{i}}} X) {k}",
    )


def _softmax_step(i: int) -> Formula:
    p, k = f"P_{i - 1}", f"P_{{{i - 1}}}"
    return Formula(
        f"P_{i}",
        f"{p} softmax({p}^T X^T A~_{i} X {p})",
        f"P_{{{i}}} &= {k}\\, \\operatorname{{softmax}}"
        f"({k}^{{\\top}} X^{{\\top}} \\tilde A_{{{i}}} X {k})",
    )


def _picture(network: Network, tokens: str) -> tuple[list[Node], list[Edge]]:
    """Rows: 0 the V_i, 1 the A_i, 2 the A~_i, 3 the token matrices, 4 input and output."""
    d, t, depth = network.dims, network.t, network.depth
    nodes = [Node("X", "input", "X", "X", (d[0], t), 0, 4)]
    edges = []
    for i in range(1, depth + 1):
        square = (d[0], d[0])
        nodes += [
            Node(f"V{i}", "weight", f"V_{i}", f"V_{{{i}}}", (d[i], d[i - 1]), i, 0),
            Node(f"A{i}", "weight", f"A_{i}", f"A_{{{i}}}", (d[i - 1], d[i - 1]), i, 1),
            Node(f"rA{i}", "reduced", f"A~_{i}", f"\\tilde A_{{{i}}}", square, i, 2),
            Node(f"{tokens}{i}", "tokens", f"{tokens}_{i}", f"{tokens}_{{{i}}}", (t, t), i, 3),
        ]
        edges += [Edge(f"V{k}", f"rA{i}") for k in range(1, i)]
        edges += [
            Edge(f"A{i}", f"rA{i}"),
            Edge(f"rA{i}", f"{tokens}{i}"),
            Edge("X", f"{tokens}{i}"),
        ]
        if i > 1:
            edges.append(Edge(f"{tokens}{i - 1}", f"{tokens}{i}"))
    end = depth + 1
    value = Node("rV", "reduced", f"V~_{depth}", f"\\tilde V_{{{depth}}}", (d[-1], d[0]), end, 2)
    output = Node("Y", "output", "phi(X)", "\\varphi(X)", (d[-1], t), end, 4)
    edges += [Edge(f"V{i}", "rV") for i in range(1, depth + 1)]
    edges += [Edge("rV", "Y"), Edge("X", "Y"), Edge(f"{tokens}{depth}", "Y")]
    return [*nodes, value, output], edges
