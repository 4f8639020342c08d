"""What the greedy planners of this family share: the mean model's values, kept warm, and a stated rule for ties."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator

from bayesrl.checks import Floats, integer
from bayesrl.models.solve import solve

TIES = ("first", "random")

SLACK = 1e-9
"""Action values closer than this, relative to their size, are ties: solvers are accurate to about as much."""


def state_in(owner: str, belief: Any, observation: Any) -> int:
    """The observed state, one of the belief's."""
    return integer(owner, "observation", observation, 0, belief.n_states - 1)


def mean_model_q(belief: Any, warm: Floats | None, bonus: Floats | None = None) -> tuple[Floats, Floats]:
    """(q[s, a], values[s]) of the mean model, solved from the values of the step before."""
    solution = solve(belief.mean_mdp(), initial=warm, bonus=bonus)
    return solution.q, solution.values


def best_action(q: Floats, ties: str, rng: Generator) -> int:
    """The greedy action; among ties the first, or one at random."""
    best = np.flatnonzero(q >= q.max() - SLACK * (1.0 + np.abs(q).max()))
    return int(best[0] if ties == "first" or len(best) == 1 else best[int(rng.random() * len(best))])
