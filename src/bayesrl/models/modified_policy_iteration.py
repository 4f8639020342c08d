"""Modified policy iteration (Puterman and Shin 1978; Puterman 1994, sections 6.5 and 6.6; survey §2.2).

Between two backups, which look at every action, the greedy policy is followed for a number of sweeps, which look at one
action in each state: the values of the policy need not be exact. Unbeatable where the problem mixes fast, since the
span then falls by a large factor with every sweep; slow where it does not (grids, rings): see `policy_iteration`.

Paper to code: the whole of it is the kernel `relax`. Deviations: the number of sweeps is not fixed; they end when they
change a twentieth of what the backup changed. Cost: a sweep costs 1/A of a backup.
"""

from __future__ import annotations

import numpy as np

from bayesrl.checks import Floats
from bayesrl.kernels.bellman import Model, backup, relax
from bayesrl.models.driver import Iterate

PATIENCE = 30
"""Sweeps on one policy after which a problem counts as slowly mixing: its span falls by less than a tenth for each."""


def modified_policy_iteration(
    m: Model, v: Floats | None, target: float, limit: int = 10_000, patience: int = 10_000
) -> Iterate:
    """Iterate from v until the residual is at most the target, or give up where one policy outlasts the patience."""
    q = np.empty(m.r.shape)
    v = m.r.max(axis=1) if v is None else v
    n, low, high = relax(m, v, q, np.zeros(len(v), np.int64), target, limit, patience)
    if n < 0:
        low, high = backup(m, v, q)
    return Iterate(v, q, low, high, abs(n))
