"""The common parts of controllers of linear systems: reading the state, and u = -Kx."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesrl.capabilities import HasMeanSystem
from bayesrl.checks import Floats, array
from bayesrl.models.riccati import gains, lq_solution, split


def state_of(owner: str, belief: HasMeanSystem, observation: Any) -> Floats:
    """The state, (n,), or (replicates, n) in lockstep; a number is a vector of one."""
    *replicates, _, n = belief.theta.shape
    x = array(owner, "observation", observation)
    return array(owner, "observation", x[None] if x.ndim == 0 else x, (*replicates, n))


def action_of(gain: Floats, x: Floats) -> Floats:
    """u = -Kx."""
    return np.asarray(-np.matmul(gain, x[..., None])[..., 0])


def gains_of_means(theta: Floats, belief: HasMeanSystem) -> Floats:
    """The gains of mean systems, (k, m, n), of parameters (k, n + m, n); `NotConverged` if one cannot be stabilised."""
    A, B = split(theta)
    found = gains(A, B, belief.Q, belief.R)
    for i in np.flatnonzero(~found.stable):
        lq_solution(A[i], B[i], belief.Q, belief.R)  # which says what is wrong
    return found.gain
