"""The public models: what a network is (attention/) with the questions one asks (geometry/).

Every method here is one call of a geometry function; nothing is computed in this file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

from m2bridge.attention.layer import Layer
from m2bridge.attention.network import Network
from m2bridge.engine import Session, open_session
from m2bridge.geometry.analysis import DEFAULT_SECONDS, Analysis, analyze
from m2bridge.geometry.boundary import Boundary, boundary
from m2bridge.geometry.depth.result import DimensionResult
from m2bridge.geometry.dimension import dimension
from m2bridge.geometry.fibre import Fibre, fibre
from m2bridge.geometry.generic_fibre import GenericFibre, generic_fibre
from m2bridge.geometry.identify import Identification, identify, identify_batch
from m2bridge.geometry.identify.result import BatchIdentification
from m2bridge.geometry.implicit import ImplicitIdeal, implicit_ideal
from m2bridge.geometry.invariants import InvariantReport, invariants
from m2bridge.geometry.recognize import Recognition, recognize
from m2bridge.geometry.singular import SingularLocus, singular_locus
from m2bridge.geometry.strata.listing import strata
from m2bridge.geometry.strata.stratum import Stratum
from m2bridge.geometry.tangent import TangentSpace, tangent_space
from m2bridge.provenance import watched

__all__ = ["AttentionNetwork", "LightningAttention", "session_for"]

Progress = Callable[[str, int, int | None], None]


@contextmanager
def session_for(session: Any = None, **options: Any) -> Iterator[Session]:
    """The session to use: the given one (also a ``Macaulay2``), or a new one, closed at the end.

    Args:
        session: a ``Session`` or ``Macaulay2``; None opens one.
        options: for ``open_session``: engine, path, memory, timeout.

    Raises:
        TypeError: options beside a session that is open already, or no session at all.
    """
    given = {name: value for name, value in options.items() if value is not None}
    if session is None:
        opened = open_session(**given)
        try:
            yield opened
        finally:
            opened.close()
        return
    if given:
        raise TypeError(f"{', '.join(given)}: these go with a new session; one was given already")
    yield _session(session)


def _session(session: Any) -> Session:
    """The session inside a ``Macaulay2``, or the session itself."""
    inner = getattr(session, "session", session)
    if not isinstance(inner, Session):
        raise TypeError(f"session must be a Macaulay2 or a Session, not {session!r}")
    return inner


def _inner(session: Any) -> Session | None:
    return None if session is None else _session(session)


class AttentionNetwork(Network):
    """A network of self-attention layers, and what can be asked about it.

    Sizes and conventions are those of ``Network``:

        net = AttentionNetwork(dims=(4, 4, 4, 4), ranks=(2, 2, 2), t=3)
        net.dimension().value
    """

    def dimension(self, **options: Any) -> DimensionResult:
        """Dimension of the affine cone of functions; see ``geometry.dimension.dimension``."""
        return dimension(self, **options)

    def generic_fibre(self, *, session: Any = None, **options: Any) -> GenericFibre:
        """Weights with the same function as general ones; see ``geometry.generic_fibre``.

        A ``session`` lets Macaulay2 find them at random rational weights, for small networks.
        """
        return generic_fibre(self, session=_inner(session), **options)


class LightningAttention(Layer, AttentionNetwork):
    """One lightning self-attention layer phi(X) = V X X^T A X, A = K^T Q, and its geometry.

        model = LightningAttention(d=2, d_out=1, a=2, t=2)
        report = model.analyze()
        report.dimension, report.degree, report.ideal.generators

    Methods that ask Macaulay2 take ``session=`` (a ``Macaulay2``), or ``engine=``, ``path=``,
    ``memory=``, ``timeout=`` for one of their own.
    """

    def analyze(
        self,
        *,
        session: Any = None,
        engine: Any = None,
        path: Any = None,
        memory: str | int | None = None,
        timeout: float | None = None,
        max_degree: int | None = None,
        time_limit: float | None = DEFAULT_SECONDS,
        progress: Progress | None = None,
    ) -> Analysis:
        """Everything about this layer, exact; see ``geometry.analysis.analyze``.

        Raises:
            M2NotFoundError: no Macaulay2 is there.
            M2TimeoutError, M2MemoryError, M2CrashedError: M2 reached a limit, or ended.
        """
        options = {"engine": engine, "path": path, "memory": memory, "timeout": timeout}
        with session_for(session, **options) as open_one:
            return analyze(
                self, open_one, max_degree=max_degree, time_limit=time_limit, progress=progress
            )

    def implicit_ideal(
        self,
        method: str = "auto",
        *,
        max_degree: int | None = None,
        certify: bool = True,
        session: Any = None,
        engine: Any = None,
        path: Any = None,
        memory: str | int | None = None,
        timeout: float | None = None,
        **options: Any,
    ) -> ImplicitIdeal:
        """The equations of all functions of this layer; see ``geometry.implicit``.

        Macaulay2 certifies them and runs the methods "elimination" and "multigraded"; with
        ``certify=False`` the other methods do without it.
        """
        opening = {"engine": engine, "path": path, "memory": memory, "timeout": timeout}
        alone = session is None and not certify and method in ("auto", "weights")
        with (
            nullcontext() if alone else session_for(session, **opening) as used,
            watched(used) as watch,
        ):
            found = implicit_ideal(
                self, method, max_degree=max_degree, certify=certify, session=used, **options
            )
            return replace(found, provenance=watch.provenance())

    def strata(self, **options: Any) -> tuple[Stratum, ...]:
        """The functions of this layer by rank type of the weights; see ``geometry.strata``."""
        return strata(self, **options)

    def singular_locus(
        self, *, session: Any = None, equations: bool = True, **options: Any
    ) -> SingularLocus:
        """Where the closure of the functions is singular; see ``geometry.singular``.

        A ``session`` lets Macaulay2 confirm the components; without one the strata alone answer.
        """
        inner = _inner(session)
        with watched(inner) as watch:
            found = singular_locus(self, inner, equations=equations, **options)
            return replace(found, provenance=watch.provenance())

    def boundary(self, *, session: Any = None, equations: bool = True, **options: Any) -> Boundary:
        """Where the functions of real weights end; see ``geometry.boundary``."""
        inner = _inner(session)
        with watched(inner) as watch:
            found = boundary(self, inner, equations=equations, **options)
            return replace(found, provenance=watch.provenance())

    def fibre(self, point: object = None, *, session: Any = None, **weights: Any) -> Fibre:
        """All weights with the same function; see ``geometry.fibre.fibre``."""
        return fibre(self, point, session=_inner(session), **weights)

    def identify(
        self, Q: object, K: object, V: object, *, tolerance: float | None = None
    ) -> Identification:
        """Where these weights sit; see ``geometry.identify.identify``."""
        return identify(self, Q, K, V, tolerance=tolerance)

    def identify_batch(self, Q: Any, K: Any, V: Any, **options: Any) -> BatchIdentification:
        """The same for many weights at once (leading axis); see ``geometry.identify``."""
        return identify_batch(self, Q, K, V, **options)

    def recognize(self, function: object, **options: Any) -> Recognition:
        """Is this a function of this layer, by which weights; see ``geometry.recognize``."""
        return recognize(self, function, **options)

    def tangent_space(self, point: Any, **options: Any) -> TangentSpace:
        """The tangent space of the closure at a point on it; see ``geometry.tangent``."""
        return tangent_space(self, point, **options)

    def invariants(self, **options: Any) -> InvariantReport:
        """The published families of equations, and what they generate."""
        return invariants(self, **options)
