"""From ranks to the stratum and its verdicts; the strata know, this only asks."""

from __future__ import annotations

from dataclasses import dataclass

from m2bridge.attention.layer import Layer
from m2bridge.geometry.strata import RankStratum, Stratum, SymmetricStratum
from m2bridge.geometry.strata.forms import canonical

__all__ = ["Verdict", "origin", "rank_verdict", "symmetric_verdict"]


@dataclass(frozen=True)
class Verdict:
    """The stratum of a function and whether it is singular or on the boundary."""

    stratum: Stratum
    singular: bool
    boundary: bool


def origin(layer: Layer) -> Stratum:
    """The stratum of the zero function."""
    if layer.t == 1:
        return SymmetricStratum(0, 0, layer.d, 0, layer=layer)
    return RankStratum(0, 0, 0, layer=layer)


def _of_zero(layer: Layer) -> Verdict:
    stratum = origin(layer)
    return Verdict(stratum, stratum.singular, bool(stratum.boundary))


def rank_verdict(layer: Layer, kind: tuple[int, int, int]) -> Verdict:
    """The verdict for ranks (V, A, [V^T | A]), t >= 2.

    Raises:
        ValueError: for ranks that cannot occur together.
    """
    v, r, joint = kind
    if v == 0 or r == 0:
        return _of_zero(layer)
    if not (
        v <= min(layer.d, layer.d_out)
        and r <= layer.alpha
        and max(v, r) <= joint <= min(layer.d, v + r)
    ):
        raise ValueError(f"no weights of {layer!r} have ranks (V, A, [V^T|A]) = {kind}")
    stratum = RankStratum(*kind, layer=layer)
    return Verdict(stratum, stratum.singular, bool(stratum.boundary))


def symmetric_verdict(
    layer: Layer,
    rank_v: int,
    signature: tuple[int, int],
    kernel_radical: int,
    restricted: tuple[int, int],
) -> Verdict:
    """The verdict for t = 1, from V and the real form S = sym(A).

    Raises:
        ValueError: for a combination that cannot occur.
    """
    rank_s = sum(signature)
    if rank_v == 0 or rank_s == 0:
        return _of_zero(layer)
    given = (rank_v, rank_s, kernel_radical, sum(restricted))
    kind = canonical(layer.d, given)
    stratum = SymmetricStratum(*kind, layer=layer)
    forms = [form for form in stratum.real_forms if form.in_image]
    if kind == given:
        # Signatures are listed up to a common change of sign.
        wanted = {(signature, restricted), (signature[::-1], restricted[::-1])}
        forms = [form for form in forms if (form.signature, form.restricted) in wanted]
    if not forms:
        raise ValueError(
            f"no real weights of {layer!r} have V of rank {rank_v}, sym(A) of signature "
            f"{signature}, and {restricted} on ker V"
        )
    flags = {form.boundary for form in forms}
    assert len(flags) == 1, "one real form, one verdict"
    return Verdict(stratum, stratum.singular, flags.pop())
