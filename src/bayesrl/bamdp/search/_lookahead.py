"""What the searches share before they begin: the belief as counts, the rewards there can be, and what lies beyond."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesrl.capabilities import Enumerates, HasMeanMDP, lacking, offers, reasons
from bayesrl.checks import Floats
from bayesrl.errors import Incompatible
from bayesrl.kernels.tree import Counts, Ends
from bayesrl.models.mdp import Outcomes
from bayesrl.models.solve import solve

LEAVES = ("zero", "mean")
"""Nothing, or the value of the mean model at the root, solved for an infinite horizon."""


def can_be_searched(planner: str, belief: Any, leaf: str) -> None:
    """Raise an error if there is no mean model for the leaves."""
    if leaf == "mean" and not offers(belief, HasMeanMDP):
        raise Incompatible(f"{planner} with leaf='mean'", type(belief).__name__, ["mean_mdp"])


def counts_of(planner: str, belief: Any, depth: int = 0) -> Counts:
    """The belief as counts to enumerate, with room for what a search of `depth` steps may see."""
    if missing := lacking(belief, Enumerates):
        raise Incompatible(planner, type(belief).__name__, missing, reasons(belief, missing))
    counts: Counts = belief.enumerable(depth)
    return counts


def rewards_of(belief: Any) -> Floats:
    """The range of rewards."""
    return np.array(belief.reward_range())


def listed_rewards(outcomes: Outcomes) -> Floats:
    """The rewards of all outcomes, without padding."""
    return np.asarray(outcomes.reward[outcomes.valid[outcomes.group]])


def leaf_values(belief: Any, leaf: str) -> Floats:
    """The value beyond the last decision, V_0(s), shape (S,); zero in terminal states; empty where none are listed."""
    return np.array(solve(belief.mean_mdp()).values) if leaf == "mean" else np.zeros(getattr(belief, "n_states", 0))


def ends_of(rewards: Floats, gamma: float, depth: int, leaf: Floats) -> Ends:
    """Leaves, and the range of what d rewards and a leaf can come to: V_max(d + 1) = r_max + gamma V_max(d)."""
    low, high = rewards.min(), rewards.max()
    v = np.empty((depth + 1, 2))
    v[0] = (leaf.min(), leaf.max()) if len(leaf) else 0.0
    for d in range(depth):
        v[d + 1] = low + gamma * v[d, 0], high + gamma * v[d, 1]
    return Ends(gamma, leaf, v)
