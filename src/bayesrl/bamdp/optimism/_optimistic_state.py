"""The model of R-max and MBIE-EB: rarely tried pairs lead to an optimistic absorbing state that pays R_max forever."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from bayesrl.bamdp._posterior import CountsVisits, finite_reward_range
from bayesrl.capabilities import HasMeanMDP, HasRewardRange
from bayesrl.checks import Bools, Floats, frozen
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.dynamic_programming.bellman import Model
from bayesrl.models.solution import Iterate
from bayesrl.models.solve import fastest, solve_by


class OptimismNeeds(HasMeanMDP, HasRewardRange, CountsVisits, Protocol):
    """A belief for R-max and MBIE-EB."""


def best_value(planner: str, belief: OptimismNeeds, r_max: float | None) -> float:
    """V_max = R_max / (1 - gamma); R_max is the belief's largest reward if none is given."""
    if belief.gamma == 1.0:
        raise InvalidArgument(planner, "belief", "one with a discount below 1", 1.0)
    return float((finite_reward_range(planner, belief)[1] if r_max is None else r_max) / (1.0 - belief.gamma))


def optimistic_q(
    belief: HasMeanMDP, untried: Bools, worth: float, bonus: Floats, warm: Floats | None
) -> tuple[Floats, Floats]:
    """(q[s, a], values[s]) of the mean model with a bonus; the `untried` pairs (S, A) have the value `worth`."""
    model = belief.mean_mdp()
    untried = untried & ~model.outcomes.terminal[:, None]

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
