"""sympy and Macaulay2: rings, ideals, matrices and maps with sympy objects in and out."""

from m2bridge.algebra.factoring import Factorization
from m2bridge.algebra.ideal import Ideal, Membership
from m2bridge.algebra.macaulay2 import Macaulay2
from m2bridge.algebra.maps import RingMap
from m2bridge.algebra.matrix import Matrix, Resolution, SmithForm
from m2bridge.algebra.orders import MonomialOrder
from m2bridge.algebra.ring import Ring

__all__ = [
    "Factorization",
    "Ideal",
    "Macaulay2",
    "Matrix",
    "Membership",
    "MonomialOrder",
    "Resolution",
    "Ring",
    "RingMap",
    "SmithForm",
]
