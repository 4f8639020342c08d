"""Capabilities of a belief about continuous states.

States, actions and observations are vectors. A belief over a hidden state knows what was seen and ignores the
observation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.integer[Any]]


@runtime_checkable
class HasMeanSystem(Protocol):
    """A belief over linear systems x' = A x + B u + w with quadratic costs x'Qx + u'Ru."""

    @property
    def Q(self) -> Floats:
        """Costs of the state, (n, n)."""

    @property
    def R(self) -> Floats:
        """Costs of the action, (m, m)."""

    @property
    def theta(self) -> Floats:
        """The posterior mean of (A, B)', (n + m, n)."""
