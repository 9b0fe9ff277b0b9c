"""Answers about given weights or a given function, as text for people."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from m2bridge.geometry.fibre import Fibre
from m2bridge.geometry.generic_fibre import GenericFibre
from m2bridge.geometry.identify import BatchIdentification, Identification
from m2bridge.geometry.recognize import Recognition
from m2bridge.report.terminal import facts, model_line

__all__ = ["batch", "batch_body", "fibre", "generic_fibre", "identification", "recognition"]

_VERDICT = {1: "yes", 0: "no", -1: "not settled"}


def _truth(value: bool | None) -> str:
    return {True: "yes", False: "no", None: "not settled"}[value]


def identification(found: Identification) -> RenderableType:
    """Where weights sit."""
    stratum = found.stratum
    rows: list[tuple[str, Any]] = [
        ("rank V, rank A, rank [V^T|A]", (found.rank_v, found.rank_a, found.rank_va)),
        ("stratum", f"{stratum.type}, dimension {stratum.dimension}"),
        ("tangent dimension", stratum.tangent_dimension),
        ("singular", _truth(found.singular)),
        ("boundary", _truth(found.boundary)),
        ("fibre", stratum.fibre),
        ("verdict", found.reason),
        ("certainty", found.certainty),
    ]
    if found.layer.t == 1:
        rows.insert(1, ("rank and signature of sym(A)", (found.rank_s, found.signature)))
    if found.tolerance is not None:
        rows.append(("tolerance", f"{found.tolerance:.3g}"))
    for spectrum in found.spectra:
        values = ", ".join(f"{value:.4g}" for value in spectrum.values)
        if math.isfinite(spectrum.gap):
            values += f" (gap {spectrum.gap:.3g})"
        rows.append((f"singular values of {spectrum.name}", f"{values}, rank {spectrum.rank}"))
    for distance in found.distances:
        text = f"{distance.value:.4g} ({distance.kind}): {distance.condition}"
        rows.append((f"distance to {distance.to}", text))
    return Group(model_line(found.layer), facts(rows))


def batch_body(found: BatchIdentification) -> dict[str, Any]:
    """Where many weights sit, as data: lists with one entry for each."""
    body: dict[str, Any] = {"count": len(found)}
    for name in ("rank_v", "rank_a", "rank_va", "rank_s"):
        value = getattr(found, name)
        body[name] = None if value is None else np.asarray(value).tolist()
    for name in ("singular", "boundary"):
        flags = np.asarray(getattr(found, name)).tolist()
        body[name] = [None if flag < 0 else bool(flag) for flag in flags]
    for name in ("singular_distance", "boundary_distance"):
        value = getattr(found, name)
        body[name] = (
            None
            if value is None
            else [float(x) if np.isfinite(x) else None for x in np.asarray(value)]
        )
    return {**body, "tolerance": found.tolerance, "certainty": {"ranks": found.certainty}}


def batch(found: BatchIdentification) -> RenderableType:
    """How many of the weights are of which type."""
    types = np.stack([found.rank_v, found.rank_a, found.rank_va, found.singular, found.boundary], 1)
    kinds, counts = np.unique(types, axis=0, return_counts=True)
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("rank V, rank A, rank [V^T|A]", "weights", "singular", "boundary"):
        table.add_column(name)
    for kind, count in sorted(zip(kinds.tolist(), counts.tolist(), strict=True), reverse=True):
        flags = (_VERDICT[kind[3]], _VERDICT[kind[4]])
        table.add_row(str(tuple(kind[:3])), str(count), *flags)
    return Group(model_line(found.layer), table, facts([("certainty", found.certainty)]))


def recognition(found: Recognition) -> RenderableType:
    """Whether a point is a function of the layer."""
    rows: list[tuple[str, Any]] = [
        ("a function of the layer?", _truth(found.representable)),
        ("reason", found.reason),
        ("with complex weights?", _truth(found.over_complex)),
    ]
    if found.failed is not None:
        rows.append(("what fails", found.failed.statement))
        if found.failed.relation is not None:
            rows.append(("equation", f"{found.failed.relation} = 0"))
        rows.append(("value there", found.failed.value))
    if found.weights is not None:
        rows.append(("field", found.field))
        rows += [(name, getattr(found.weights, name).tolist()) for name in ("Q", "K", "V")]
    rows.append(("certainty", found.certainty))
    return Group(model_line(found.layer), facts(rows))


def fibre(found: Fibre) -> RenderableType:
    """All weights with the same function."""
    points = "infinitely many" if found.points is None else found.points
    rows: list[tuple[str, Any]] = [
        ("points (V, A) up to scaling", points),
        ("real ones", "infinitely many" if found.real_points is None else found.real_points),
        ("reduced", _truth(found.reduced)),
        ("dimension in (Q, K, V)", found.dimension),
        ("swap of linear forms", _truth(found.swap)),
        ("certainty", found.certainty),
    ]
    rows += [(f"symmetry: {s.name}", f"{s.group}: {s.action}") for s in found.symmetries]
    rows += [(f"component {k + 1}", c.description) for k, c in enumerate(found.components)]
    return Group(model_line(found.layer), facts(rows))


def generic_fibre(found: GenericFibre) -> RenderableType:
    """Weights with the same function as general ones."""
    rows: list[tuple[str, Any]] = [
        ("dimension", "not settled" if found.dimension is None else found.dimension),
        (
            "points up to scalings",
            "not known" if found.reduced_points is None else found.reduced_points,
        ),
        ("components", "not known" if found.components is None else found.components),
    ]
    rows += [
        (f"symmetry: {f.kind}", f"{f.group}, dimension {f.dimension}: {f.action}")
        for f in found.factors
    ]
    rows += [("remark", found.reason), ("certainty", found.certainty)]
    if found.m2 is not None:
        rows.append(("Macaulay2", found.m2["statement"]))
    return Group(Text(), model_line(found.network), facts(rows))
