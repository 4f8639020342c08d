"""What optimistic planners read off a belief: bounds on rewards, and the planner's own visits.

A belief with unknown rewards holds its Dirichlet as `transitions` and its reward belief as `rewards`; one with known
rewards is all transitions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesrl.checks import Floats, Ints, frozen
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument


def reward_bounds(planner: str, belief: Any) -> tuple[float, float]:
    """The smallest and the largest reward there can be (a terminal state pays 0)."""
    if not hasattr(belief, "rewards"):
        o = belief.outcomes
        paid = o.reward[np.arange(o.n_outcomes) < o.size[o.group][:, :, None]]
        return float(paid.min()), float(paid.max())
    rewards = belief.rewards
    if hasattr(rewards, "high"):
        return float(rewards.low), float(rewards.high)
    if hasattr(rewards, "values"):
        return float(rewards.values[0]), float(rewards.values[-1])
    hint = "Say what the largest reward is, where the planner takes it (r_max)."
    raise InvalidArgument(planner, "belief", "one with bounded rewards", type(rewards).__name__, hint)


def counter(belief: Any) -> Ints:
    """Which counter of visits each pair has, (S, A): its group's, or its own where nobody else tells what it pays."""
    group: Ints = belief.outcomes.group
    return np.arange(group.size).reshape(group.shape) if hasattr(belief, "rewards") else group


def visited(visits: Floats | None, belief: Any, last: Transition | None) -> Floats:
    """What each `counter` shows: how often the planner saw it drawn, the transition just seen included."""
    n = counter(belief)
    new = np.zeros(n.max() + 1) if visits is None else visits.copy()
    if last is not None:
        new[n[last.state, last.action]] += 1.0
    return frozen(new)


def visits_of_pairs(visits: Floats, belief: Any) -> Floats:
    """n(s, a), (S, A): visits by its `counter`; infinite where the belief knows it and its reward for certain."""
    certain = np.isinf(belief.counts()) & (not hasattr(belief, "rewards"))
    return np.where(certain, np.inf, visits[counter(belief)])


def doubt_of_rewards(belief: Any) -> Floats:
    """E[1 / (1 + n)] of each pair, (S, A): n counts the rewards, prior ones included, of the outcome that comes."""
    share = 1.0 / (1.0 + belief.rewards.reward_counts())
    if share.ndim == 2:
        return np.asarray(share)
    model = belief.mean_mdp()
    return np.asarray((model.prob[model.group] * share).sum(axis=2))
