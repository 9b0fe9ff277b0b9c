"""What the statements about a stratum rest on: exact computation, or a theorem."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from m2bridge.geometry.strata.stratum import Claim, Evidence, Stratum

__all__ = ["claims", "model_dimension"]


def model_dimension(stratum: Stratum) -> int:
    """The dimension of the closure of all functions of the stratum's layer."""
    layer = stratum.layer
    d = layer.d
    if layer.t == 1:
        rank = min(2 * layer.a, d)
        return d * layer.d_out + rank * d - rank * (rank - 1) // 2 - 1
    return 2 * layer.alpha * d - layer.alpha**2 + d * layer.d_out - 1


def claims(
    stratum: Stratum, theorems: Mapping[str, str], unproved: frozenset[str] = frozenset()
) -> dict[str, Claim]:
    """The claims about a stratum.

    Args:
        stratum: the stratum, with or without evidence.
        theorems: for each statement, the theorem that gives it when nothing was computed.
        unproved: statements whose formula is only checked on examples.
    """
    found = dict(_by_theorem(tuple(theorems.items()), unproved))
    evidence = stratum.evidence
    if evidence is None:
        return found
    found["dimension"] = Claim(
        "proved",
        "computed",
        f"the Lie algebra of the group has rank {evidence.orbit_rank} at the representative",
    )
    tangent = _tangent_claim(stratum, evidence)
    if tangent is not None:
        found["tangent_dimension"] = tangent
    singular = _singular_claim(stratum, evidence)
    if singular is not None:
        found["singular"] = singular
    if not stratum.is_origin:
        found["fibre"] = _fibre_claim(evidence, theorems["fibre"])
    return found


@lru_cache(maxsize=16)
def _by_theorem(
    theorems: tuple[tuple[str, str], ...], unproved: frozenset[str]
) -> dict[str, Claim]:
    """The claims when nothing was computed: the same for all of the strata of a large layer."""
    return {
        name: Claim("conjectural" if name in unproved else "proved", "theorem", text)
        for name, text in theorems
    }


def _named(evidence: Evidence) -> str:
    return ", ".join(f"{count} of degree {degree}" for degree, count in evidence.equations)


def _tangent_claim(stratum: Stratum, evidence: Evidence) -> Claim | None:
    if evidence.tangent_lower != stratum.tangent_dimension:
        return None
    full = stratum.tangent_dimension == stratum.layer.ambient_dimension
    if not full and evidence.tangent_upper != stratum.tangent_dimension:
        return None
    text = f"explicit tangent vectors have rank {evidence.tangent_lower}"
    if full:
        text += ", the number of coordinates"
    else:
        text += f", gradients of equations ({_named(evidence)}) have rank {evidence.gradient_rank}"
    return Claim("proved", "computed", text)


def _singular_claim(stratum: Stratum, evidence: Evidence) -> Claim | None:
    dimension = model_dimension(stratum)
    if stratum.singular:
        if evidence.tangent_lower <= dimension:
            return None
        text = f"tangent vectors of rank {evidence.tangent_lower} > dimension {dimension}"
        if stratum.fibre_points is not None:
            text += f"; {stratum.fibre}"
        return Claim("proved", "computed", text)
    codimension = stratum.layer.ambient_dimension - dimension
    if codimension == 0:
        return Claim("proved", "computed", "the closure is the whole linear space")
    if evidence.gradient_rank != codimension:
        return None
    return Claim(
        "proved",
        "computed",
        f"the gradients of equations ({_named(evidence)}) have rank {codimension}, the codimension",
    )


def _fibre_claim(evidence: Evidence, theorem: str) -> Claim:
    return Claim(
        "proved",
        "computed",
        f"{evidence.preimages} preimage(s) verified, the differential there has a kernel of "
        f"dimension {evidence.differential_kernel} modulo scaling; no others: {theorem}",
    )
