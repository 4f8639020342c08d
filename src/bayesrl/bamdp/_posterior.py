"""The common parts of optimistic planners: bounds on rewards, and the planner's own counts of visits."""

from __future__ import annotations

from math import isfinite
from typing import Protocol

import numpy as np

from bayesrl.capabilities import GroupsVisits, HasCertainPairs, HasRewardRange
from bayesrl.checks import Floats, frozen
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument


class CountsVisits(GroupsVisits, HasCertainPairs, Protocol):
    """A belief for planners that count visits."""


def finite_reward_range(planner: str, belief: HasRewardRange) -> tuple[float, float]:
    """The smallest and the largest reward of a step; refuse a belief without such bounds."""
    low, high = belief.reward_range()
    if not (isfinite(low) and isfinite(high)):
        hint = "Give the largest reward to the planner, if it takes one (r_max)."
        raise InvalidArgument(planner, "belief", "one with bounded rewards", type(belief).__name__, hint)
    return low, high


def count_visits(visits: Floats | None, belief: GroupsVisits, last: Transition | None) -> Floats:
    """The visits of each counter (see `visit_groups`), including the transition just seen."""
    counter = belief.visit_groups()
    new = np.zeros(counter.max() + 1) if visits is None else visits.copy()
    if last is not None:
        new[counter[last.state, last.action]] += 1.0
    return frozen(new)


def visits_of_pairs(visits: Floats, belief: CountsVisits) -> Floats:
    """n(s, a), (S, A): the visits of each pair's counter; infinite if the pair is known for certain."""
    return np.where(belief.certain_pairs(), np.inf, visits[belief.visit_groups()])
