"""The preparation of a search before compiled code runs: counts, values of leaves, ranges of returns."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np

from bayesrl.capabilities import Enumerates, HasMeanMDP, demand, offers
from bayesrl.checks import Floats
from bayesrl.core import Planner
from bayesrl.errors import Incompatible, InvalidArgument
from bayesrl.kernels.search.search_bounds import AUTO, LeafBounds
from bayesrl.kernels.simulators.counts import Counts
from bayesrl.models.solve import solve

Leaf = Annotated[Literal["zero", "mean"], "The value after the last decision: zero, or the mean model's."]
"""The mean model is that at the root, and its horizon is infinite."""
Exploration = float | Literal["auto"]


def constant_of(exploration: Exploration) -> float:
    """The constant of the UCB rule as compiled code knows it (`kernels/search/search_bounds.py: ucb_constant`)."""
    return AUTO if isinstance(exploration, str) else exploration


def counts_of(planner: Planner[Any, Any], belief: Enumerates, depth: int) -> Counts:
    """The belief as counts for a search of `depth` steps.

    If a planner is used without an agent, a belief that does not fit raises the same error as `BayesAgent`.
    """
    try:
        return belief.enumerable(depth)
    except (AttributeError, InvalidArgument):
        demand(planner, belief)
        raise


def check_leaf(planner: str, belief: object, leaf: Leaf) -> None:
    """Raise an error if the leaves need a mean model and the belief has none."""
    if leaf == "mean":
        _with_mean_model(planner, belief)


def leaf_values(planner: str, belief: object, n_states: int, leaf: Leaf) -> Floats:
    """The value after the last decision, V_0(s), (S,); zero in terminal states; empty if states are not listed."""
    if leaf == "zero":
        return np.zeros(n_states)
    return np.array(solve(_with_mean_model(planner, belief).mean_mdp()).values)


def _with_mean_model(planner: str, belief: object) -> HasMeanMDP:
    if not offers(belief, HasMeanMDP):
        raise Incompatible(f"{planner} with leaf='mean'", type(belief).__name__, ["mean_mdp"])
    return belief


def bounds_of_leaves(reward_range: tuple[float, float], gamma: float, depth: int, leaf: Floats) -> LeafBounds:
    """Leaf values, and the range of d discounted rewards plus a leaf: V_max(d + 1) = r_max + gamma V_max(d)."""
    low, high = reward_range
    v = np.empty((depth + 1, 2))
    v[0] = (leaf.min(), leaf.max()) if len(leaf) else 0.0
    for d in range(depth):
        v[d + 1] = low + gamma * v[d, 0], high + gamma * v[d, 1]
    return LeafBounds(gamma, leaf, v)
