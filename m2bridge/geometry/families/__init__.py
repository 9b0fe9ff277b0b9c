"""Families of invariants of one layer, each built from its mathematical description.

The published ones are those of Y. Alexandr, H. Duan, G. Montufar, "Algebraic Invariants of
Lightning Self-Attention" (arXiv 2604.15632), stated there for one output; here they are built for
the first output and spread over all outputs by the group. The others are their mirror images for
several outputs, derived in docs/theory. Write T(u, z) = sum u_i z_r T_ir for a quadric of the
layer: it is the product of the linear forms v(u) and a(z).

A family function gives polynomials in coordinate codes; it needs no parametrization, so that
testing the polynomials on the parametrization is a real test.
"""

from __future__ import annotations

from m2bridge.geometry.families.base import Family, Sizes
from m2bridge.geometry.families.pairs import PAIR_FAMILIES
from m2bridge.geometry.families.single import SINGLE_FAMILIES

__all__ = ["FAMILIES", "Family", "Sizes"]

FAMILIES: tuple[Family, ...] = PAIR_FAMILIES + SINGLE_FAMILIES
