"""Solutions of the exact solvers, and the form of their algorithms.

A solution has a proven bound on the distance of its values from the optimal ones: see `bound_of` in
`kernels/dynamic_programming/bellman.py`. `solve_by` (`solve.py`) runs an algorithm on a problem and bounds the error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesrl._shown import shown
from bayesrl.checks import Floats
from bayesrl.kernels.dynamic_programming.bellman import Model
from bayesrl.models.policy import TabularPolicy

Indices = NDArray[np.int64]


class Solution(NamedTuple):
    """The optimal values of a known MDP, up to a known error."""

    values: Floats
    """V(s), shape (S,)."""
    q: Floats
    """R(s, a) + gamma sum_s' P(s'|s, a) V(s') for these values, shape (S, A)."""
    policy: TabularPolicy
    """The first action of each state that may be optimal, given the error. It is an agent, and it can be used like an
    array of shape (S,)."""
    error_bound: float
    """max |values - V*| is at most this, rounding included."""
    iterations: int
    """Number of policies or sweeps, depending on the method."""
    method: str
    """The solver that was used."""

    def __repr__(self) -> str:
        return shown(self)


# Algorithms ----------------------------------------------------------------------------------------------------------


class Iterate(NamedTuple):
    """The last values of an algorithm."""

    values: Floats
    q: Floats
    """One backup of the values."""
    low: float
    high: float
    """The extremes of max_a q - values."""
    iterations: int


Algorithm = Callable[[Model, Floats | None, float], Iterate]
"""A function of a model, initial values or None (they may be overwritten), and the target of the residual."""
