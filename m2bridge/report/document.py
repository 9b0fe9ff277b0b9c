"""Results as JSON documents: plain dictionaries with the keys of the JSON contract.

Exact numbers that JSON cannot hold are text; polynomials are text in sympy's syntax, in the names
listed under ``coordinates``. What was not settled is None beside a reason.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from m2bridge.attention.layer import Layer
from m2bridge.attention.network import Network
from m2bridge.geometry.analysis import Analysis
from m2bridge.geometry.boundary import Boundary
from m2bridge.geometry.depth.result import DimensionResult
from m2bridge.geometry.generators import texts
from m2bridge.geometry.generic_fibre import GenericFibre
from m2bridge.geometry.implicit import ImplicitIdeal, Irreducible
from m2bridge.geometry.invariants import InvariantReport
from m2bridge.geometry.published_models import ModelRow
from m2bridge.geometry.singular import SingularLocus
from m2bridge.geometry.strata.stratum import Stratum
from m2bridge.provenance import Provenance

__all__ = [
    "MOST_COORDINATES",
    "MOST_DETAILED",
    "analysis_document",
    "boundary_document",
    "coordinates_document",
    "dimension_document",
    "generic_fibre_document",
    "ideal_document",
    "invariants_document",
    "json_text",
    "model_document",
    "models_document",
    "singular_document",
    "strata_document",
    "with_model",
]

MOST_DETAILED = 20_000
"""Of more strata, ``real_forms`` is null, and ``real_forms_reason`` says why."""

MOST_COORDINATES = 100_000
"""Above, ``coordinates`` is null in documents, and ``coordinates_reason`` says why."""


def json_text(document: Mapping[str, Any]) -> str:
    """One JSON document; NaN and infinities are refused, they are not JSON."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)


def model_document(network: Network) -> dict[str, Any]:
    """The model itself."""
    if isinstance(network, Layer):
        sizes = {"d": network.d, "d_out": network.d_out, "a": network.a, "t": network.t}
        return {"kind": "lightning", **sizes}
    return {
        "kind": network.attention,
        "dims": list(network.dims),
        "ranks": list(network.ranks),
        "t": network.t,
        "heads": network.heads,
        "skip": network.skip,
    }


def coordinates_document(layer: Layer) -> list[dict[str, Any]] | None:
    """The names that equations use, and which coefficient each is; None for very many.

    Models with so many coordinates get no equations, and listing millions would take minutes.
    """
    if layer.ambient_dimension > MOST_COORDINATES:
        return None
    return [
        {"name": c.name, "output": c.output, "pair": list(c.pair), "column": c.column}
        for c in layer.coordinates
    ]


def _coordinates(layer: Layer) -> dict[str, Any]:
    listed = coordinates_document(layer)
    if listed is not None:
        return {"coordinates": listed}
    reason = f"{layer.ambient_dimension} coordinates are not listed (limit {MOST_COORDINATES})"
    return {"coordinates": None, "coordinates_reason": reason}


def with_model(
    network: Network, body: Mapping[str, Any], provenance: Provenance | None = None
) -> dict[str, Any]:
    """A document about a model: what it is, the body, where it comes from."""
    document = {"model": model_document(network), "notes": list(network.notes), **body}
    document["provenance"] = None if provenance is None else provenance.to_dict()
    return document


def _counts(counts: Mapping[int, int]) -> dict[str, int]:
    return {str(degree): counts[degree] for degree in sorted(counts) if counts[degree]}


def _irreducible(entry: Irreducible) -> dict[str, Any]:
    return {
        "multiplicity": entry.multiplicity,
        "output": list(entry.output),
        "pair": list(entry.pair),
        "column": list(entry.column),
        "dimension": entry.dimension,
    }


def _ideal_body(ideal: ImplicitIdeal) -> dict[str, Any]:
    return {
        "generators_by_degree": _counts(ideal.generators_by_degree),
        "ideal": texts(ideal.generators, ideal.layer.symbols),
        "method": ideal.method,
        "max_degree": ideal.max_degree,
        "complete": ideal.complete,
        "certificate": ideal.certificate,
        "irreducibles": {
            str(degree): [_irreducible(entry) for entry in entries]
            for degree, entries in sorted(ideal.irreducibles.items())
        },
        "highest_weight_vectors": {
            str(degree): texts(vectors, ideal.layer.symbols)
            for degree, vectors in sorted(ideal.highest_weight_vectors.items())
        },
    }


def ideal_document(ideal: ImplicitIdeal) -> dict[str, Any]:
    """What ``m2bridge ideal`` prints."""
    layer = ideal.layer
    body = {
        "ambient_dimension": layer.ambient_dimension,
        "dimension": ideal.dimension,
        "degree": ideal.degree,
        **_coordinates(layer),
        **_ideal_body(ideal),
        "certainty": {"ideal": ideal.certainty},
    }
    return with_model(layer, body, ideal.provenance)


def strata_document(layer: Layer, strata: tuple[Stratum, ...]) -> dict[str, Any]:
    """What ``m2bridge strata`` prints."""
    claims = [stratum.claims for stratum in strata]  # made anew at each look
    certainty = {name: _weakest(entry[name].certainty for entry in claims) for name in claims[0]}
    body: dict[str, Any] = {"strata": [_stratum(s, len(strata)) for s in strata]}
    if layer.t == 1 and len(strata) > MOST_DETAILED:
        body["real_forms_reason"] = f"not listed for more than {MOST_DETAILED} strata"
    body["certainty"] = certainty
    return with_model(layer, body)


def _stratum(stratum: Stratum, among: int) -> dict[str, Any]:
    entry = stratum.to_dict()
    if among > MOST_DETAILED and "real_forms" in entry:
        entry["real_forms"] = None
    return entry


_STRENGTH = ("proved", "modular", "numerical", "conjectural")


def _weakest(certainties: Any) -> str:
    """What a list of statements rests on, taken together."""
    return str(max(certainties, key=_STRENGTH.index))


def singular_document(found: SingularLocus) -> dict[str, Any]:
    """What ``m2bridge singular-locus`` prints."""
    body = {
        **_coordinates(found.layer),
        "singular_locus": found.to_dict(),
        "certainty": {"singular_locus": found.certainty},
    }
    return with_model(found.layer, body, found.provenance)


def boundary_document(found: Boundary) -> dict[str, Any]:
    """What ``m2bridge boundary`` prints."""
    body = {
        **_coordinates(found.layer),
        "boundary": found.to_dict(),
        "certainty": {"boundary": found.certainty},
    }
    return with_model(found.layer, body, found.provenance)


def analysis_document(analysis: Analysis) -> dict[str, Any]:
    """What ``m2bridge analyze`` prints."""
    layer, ideal = analysis.layer, analysis.ideal
    body: dict[str, Any] = {
        "parameters": layer.parameters,
        "ambient_dimension": layer.ambient_dimension,
        "dimension": analysis.dimension,
        "codimension": analysis.codimension,
        "degree": analysis.degree,
        "expected_dimension": analysis.expected_dimension,
        **_coordinates(layer),
    }
    if ideal is None:
        body |= {"generators_by_degree": None, "ideal": None, "complete": None}
    else:
        body |= _ideal_body(ideal)
    body |= {
        "strata": [stratum.to_dict() for stratum in analysis.strata],
        "singular_locus": analysis.singular_locus.to_dict(),
        "boundary": analysis.boundary.to_dict(),
        "certainty": dict(analysis.certainty),
        "cross_checks": [vars(check) for check in analysis.cross_checks],
        "notes": list(analysis.notes),
    }
    return with_model(layer, body, analysis.provenance)


def dimension_document(found: DimensionResult) -> dict[str, Any]:
    """What ``m2bridge dimension`` prints."""
    body = {
        "dimension": found.value,
        "lower": found.lower,
        "upper": found.upper,
        "formula": found.formula,
        "refined": found.refined,
        "parameters": found.parameters,
        "excess": found.excess,
        "method": found.method,
        "lower_source": found.lower_source,
        "upper_source": found.upper_source,
        "reason": found.reason,
        "primes": list(found.primes),
        "seed": found.seed,
        "inputs": found.inputs,
        "gap": found.gap,
        "tolerance": found.tolerance,
        "notes": list(found.notes),
        "certainty": {"dimension": found.certainty},
    }
    return with_model(found.network, body)


def models_document(attention: str, rows: Sequence[ModelRow]) -> dict[str, Any]:
    """What ``m2bridge models`` prints."""
    columns = (
        "head_parameters",
        "head_dimension",
        "layer_parameters",
        "layer_dimension",
        "parameters",
        "dimension",
        "gap",
    )
    return {
        "attention": attention,
        "models": [
            {**vars(row.size), **{name: getattr(row, name) for name in columns}} for row in rows
        ],
        "certainty": {"dimension": "proved"},
    }


def generic_fibre_document(
    found: GenericFibre, provenance: Provenance | None = None
) -> dict[str, Any]:
    """What ``m2bridge fibre`` prints about generic weights."""
    body = {
        "dimension": found.dimension,
        "reduced_points": found.reduced_points,
        "components": found.components,
        "factors": [
            {
                "kind": factor.kind,
                "group": factor.group,
                "layers": list(factor.layers),
                "dimension": factor.dimension,
                "action": factor.action,
            }
            for factor in found.factors
        ],
        "reason": found.reason,
        "m2": found.m2,
        "certainty": {"fibre": found.certainty, "dimension": found.functions.certainty},
    }
    return with_model(found.network, body, provenance)


def invariants_document(found: InvariantReport) -> dict[str, Any]:
    """What ``m2bridge invariants`` prints."""
    body = {
        "linear_relations": found.linear_relations,
        "linear_relations_total": found.linear_relations_total,
        "families": [
            {
                "name": family.name,
                "description": family.description,
                "published": family.published,
                "degree": family.degree,
                "built": family.built,
                "dimension": family.dimension,
                "irreducibles": [_irreducible(entry) for entry in family.irreducibles],
                "minimal": [_irreducible(entry) for entry in family.minimal],
                "skipped": family.skipped or None,
            }
            for family in found.families
        ],
        "generated_by_degree": _counts(found.generated_by_degree),
        "missing": {
            str(degree): [_irreducible(entry) for entry in entries]
            for degree, entries in sorted(found.missing.items())
        },
        "whole": found.whole,
        "certainty": {"invariants": found.certainty},
    }
    return with_model(found.layer, body, found.provenance)
