"""Ideals as files for other systems: Macaulay2, Singular, and MRDI (OSCAR and others).

The files are complete programs or documents: they define the ring over QQ, the ideal, and nothing
that depends on this package. Coefficients are integers, so nothing is rounded.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from m2bridge.geometry.weights.maps import IntegerPolynomial

if TYPE_CHECKING:
    from m2bridge.attention.layer import Layer
    from m2bridge.geometry.implicit_result import ImplicitIdeal

__all__ = [
    "FORMATS",
    "export_ideal",
    "polynomial_text",
    "save_ideal",
    "to_macaulay2",
    "to_mrdi",
    "to_singular",
]

_NAMESPACE = uuid.UUID("6b6a3f0e-2f65-5d0c-9c57-3c2d2d4f6c11")
_OSCAR = ["https://github.com/oscar-system/Oscar.jl", "1.4.0"]


def _title(ideal: ImplicitIdeal) -> list[str]:
    layer = ideal.layer
    counts = ", ".join(f"{n} of degree {k}" for k, n in ideal.generators_by_degree.items())
    return [
        f"Equations of lightning self-attention, d = {layer.d}, d_out = {layer.d_out}, "
        f"a = {layer.a}, t = {layer.t}",
        f"Minimal generators: {counts or 'none'}; complete: {ideal.complete}",
    ]


def _macaulay2_names(layer: Layer) -> list[str]:
    """T_(i,p,q,r): an underscore inside a name would mean something else in Macaulay2."""
    return [f"T_({c.output},{c.pair[0]},{c.pair[1]},{c.column})" for c in layer.coordinates]


def _term(c: int, monomial: tuple[int, ...], names: list[str]) -> str:
    factors = []
    for v in sorted(set(monomial)):
        e = monomial.count(v)
        factors.append(names[v] if e == 1 else f"{names[v]}^{e}")
    if abs(c) != 1 or not factors:
        factors.insert(0, str(abs(c)))
    return ("-" if c < 0 else "+") + "*".join(factors)


def polynomial_text(f: IntegerPolynomial, names: list[str]) -> str:
    """A polynomial with ``*`` and ``^``, as most systems read it."""
    terms = [_term(c, monomial, names) for monomial, c in f.items()]
    return "".join(terms).removeprefix("+") or "0"


def to_macaulay2(ideal: ImplicitIdeal) -> str:
    """A Macaulay2 program that defines the ring R and the ideal I."""
    names = _macaulay2_names(ideal.layer)
    lines = [f"-- {line}" for line in _title(ideal)]
    lines.append("R = QQ[" + ", ".join(names) + "];")
    polynomials = [polynomial_text(f, names) for f in ideal.sparse_generators()]
    lines.append("I = ideal(" + (",\n    ".join(polynomials) or "0_R") + ");")
    return "\n".join(lines) + "\n"


def to_singular(ideal: ImplicitIdeal) -> str:
    """A Singular program that defines the ring R and the ideal I."""
    names = [c.name for c in ideal.layer.coordinates]
    lines = [f"// {line}" for line in _title(ideal)]
    lines.append("ring R = 0, (" + ", ".join(names) + "), dp;")
    polynomials = [polynomial_text(f, names) for f in ideal.sparse_generators()]
    lines.append("ideal I = " + (",\n    ".join(polynomials) or "0") + ";")
    return "\n".join(lines) + "\n"


def to_mrdi(ideal: ImplicitIdeal) -> str:
    """An MRDI document (JSON, arXiv 2309.00465) with an MPolyIdeal over QQ, as OSCAR reads it."""
    names = [c.name for c in ideal.layer.coordinates]
    data = []
    for f in ideal.sparse_generators():
        terms = []
        for monomial, c in f.items():
            exponents = ["0"] * len(names)
            for v in set(monomial):
                exponents[v] = str(monomial.count(v))
            terms.append([exponents, str(c)])
        data.append(terms)
    ring = str(uuid.uuid5(_NAMESPACE, ",".join(names)))
    document = {
        "_ns": {"Oscar": _OSCAR},
        "_type": {"name": "MPolyIdeal", "params": ring},
        "data": data,
        "_refs": {
            ring: {
                "_type": {"name": "MPolyRing", "params": {"_type": "QQField"}},
                "data": {"symbols": names},
            }
        },
    }
    return json.dumps(document, separators=(",", ":")) + "\n"


FORMATS: dict[str, Callable[[ImplicitIdeal], str]] = {
    "m2": to_macaulay2,
    "sing": to_singular,
    "mrdi": to_mrdi,
}
"""Format name, which is also the suffix of a file -> writer."""


def export_ideal(ideal: ImplicitIdeal, format: str) -> str:
    """The ideal in another system's language.

    Args:
        ideal: the ideal.
        format: "m2", "sing" (Singular) or "mrdi".

    Raises:
        ValueError: the format is unknown.
    """
    if format not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, not {format!r}")
    return FORMATS[format](ideal)


def save_ideal(ideal: ImplicitIdeal, path: str | Path) -> Path:
    """Write the ideal to a file; its suffix (.m2, .sing, .mrdi) chooses the format.

    Raises:
        ValueError: the suffix belongs to no format.
        OSError: the file cannot be written.
    """
    path = Path(path)
    text = export_ideal(ideal, path.suffix.removeprefix("."))
    path.write_text(text, encoding="utf-8")
    return path
