"""The model of R-max and MBIE-EB: rarely tried pairs lead to an optimistic absorbing state that pays R_max forever.

With a discount that state is worth V_max = R_max / (1 - gamma), the largest value of any policy in any model. With
discount 1 a value is a sum of rewards until the end of the episode, at most R_max times its expected length. So

    V_max = R_max max_s max_pi E[steps to the end | s, pi] = R_max L,

where the maximum is over all states and all policies of the belief's mean model (`longest_episode`), the untried pairs
with their mean rows. It grows and falls as the mean model is learnt. If R_max is negative, the fewest steps count: an
episode takes at least one, and V_max = R_max. The pair is worth V_max once; no policy of the mean model exceeds it.

While the mean model is improper (some policy keeps to states that are not terminal), L is infinite, and the belief is
refused with the number of such a state. A prior that gives each listed outcome a positive count stays proper. Where its
counts are tiny and the data have no end, L is large; it counts as 1e9 at most, which still exceeds what is known.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from bayesrl.bamdp._posterior import CountsVisits, finite_reward_range
from bayesrl.capabilities import HasMeanMDP, HasRewardRange
from bayesrl.checks import Bools, Floats, frozen
from bayesrl.kernels.dynamic_programming.bellman import Model
from bayesrl.models.solution import Iterate, model_of, solve_by
from bayesrl.models.solve import fastest
from bayesrl.models.solvers.episodic import solve_ending
from bayesrl.models.solvers.proper import LONGEST, longest_episode, must_be_proper

TOL = 1e-9
"""Accuracy of values with discount 1."""


class OptimismNeeds(HasMeanMDP, HasRewardRange, CountsVisits, Protocol):
    """A belief for R-max and MBIE-EB."""


def best_value(planner: str, belief: OptimismNeeds, r_max: float | None) -> float:
    """V_max, for the belief's largest reward if none is given."""
    best = finite_reward_range(planner, belief)[1] if r_max is None else r_max
    if belief.gamma < 1.0:
        return float(best / (1.0 - belief.gamma))
    model = belief.mean_mdp()
    must_be_proper(planner, "belief", model)
    return float(best * (min(longest_episode(model), LONGEST) if best > 0.0 else 1.0))


def optimistic_q(
    belief: HasMeanMDP, untried: Bools, worth: float, bonus: Floats, warm: Floats | None
) -> tuple[Floats, Floats]:
    """(q[s, a], values[s]) of the mean model with a bonus; the `untried` pairs (S, A) have the value `worth`."""
    model = belief.mean_mdp()
    untried = untried & ~model.outcomes.terminal[:, None]
    if model.gamma == 1.0:
        m = model_of(model, bonus)
        ending = with_absorbing_pairs(m, untried, worth) if untried.any() else m
        found = solve_ending(ending, fastest, "auto", TOL, None if warm is None else warm.copy())
        return found.q, found.values

    def algorithm(m: Model, v: Floats | None, target: float) -> Iterate:
        return fastest(with_absorbing_pairs(m, untried, worth) if untried.any() else m, v, target)

    solution = solve_by(model, algorithm, "auto", initial=warm, bonus=bonus)
    return solution.q, solution.values


def with_absorbing_pairs(m: Model, untried: Bools, worth: float) -> Model:
    """The model in which the `untried` pairs pay `worth` and end the episode: their rows are empty.

    This equals a step to an absorbing state that pays R_max forever, without an additional state.
    """
    ending = m._replace(r=frozen(np.where(untried, worth, m.r)), shiftable=False)
    if len(m.matrix):
        return ending._replace(matrix=frozen(np.where(untried.reshape(-1, 1), 0.0, m.matrix)))
    return ending._replace(
        prob=frozen(np.vstack([m.prob, np.zeros((1, m.prob.shape[1]))])),
        group=frozen(np.where(untried, np.int32(len(m.size)), m.group)),
        size=frozen(np.append(m.size, np.int32(0))),
    )
