"""Modified policy iteration (Puterman and Shin 1978; Puterman 1994, sections 6.5 and 6.6; survey §2.2).

Between two backups, which look at every action, the greedy policy is followed for a number of sweeps, which look at one
action in each state: the values of the policy need not be exact. This is the fastest method if the problem mixes fast,
since the span then falls by a large factor with every sweep. It is slow on grids and rings: see `policy_iteration`.

Paper to code: the whole of it is the kernel `relax`. Deviations: the number of sweeps is not fixed; they end when they
change a twentieth of what the backup changed. If rounding stops all progress, which happens on deterministic cycles at
discounts close to 1, the rest is done by policy iteration, the limit of infinitely many sweeps.
Cost: a sweep costs 1/A of a backup.
"""

from __future__ import annotations

import numpy as np

from bayesrl.checks import Floats
from bayesrl.kernels.bellman import Model, backup, enough, relax
from bayesrl.models.solvers._driver import Iterate
from bayesrl.models.solvers.policy_iteration import policy_iteration

SWEEPS = 10
"""Sweeps on one policy at most."""
LIMIT = 100_000
"""Policies at most."""
FAST = 30
"""Sweeps on one policy by which a fast mixing problem is done with it: its span falls by a tenth with each."""


def modified_policy_iteration(m: Model, v: Floats | None, target: float) -> Iterate:
    """Iterate from v until the residual is at most the target."""
    found = iterate(m, v, target, SWEEPS, True)
    if enough(m, found.values, found.low, found.high, target):
        return found
    last = policy_iteration(m, found.values, target)
    return last._replace(iterations=found.iterations + last.iterations)


def if_fast_mixing(m: Model, v: Floats | None, target: float) -> Iterate:
    """The same, but give up as soon as the problem turns out to mix slowly."""
    return iterate(m, v, target, FAST, False)


def iterate(m: Model, v: Floats | None, target: float, sweeps: int, patient: bool) -> Iterate:
    """Run the kernel, and measure where it gave up."""
    q = np.empty(m.r.shape)
    v = m.r.max(axis=1) if v is None else v
    n, low, high = relax(m, v, q, np.zeros(len(v), np.int64), target, LIMIT, sweeps, patient)
    if n < 0:
        low, high = backup(m, v, q)
    return Iterate(v, q, low, high, abs(n))
