"""What R-max and MBIE-EB share: pairs that nobody has tried enough lead to heaven, where every step pays R_max."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesrl.bamdp.posterior import reward_bounds
from bayesrl.checks import Bools, Floats
from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import Outcomes, TabularMDP
from bayesrl.models.solve import solve


def best_value(planner: str, belief: Any, r_max: float | None) -> float:
    """V_max = R_max / (1 - gamma), R_max being the belief's largest reward where none is given."""
    if belief.gamma == 1.0:
        raise InvalidArgument(planner, "belief", "one with a discount below 1", 1.0)
    return float((reward_bounds(planner, belief)[1] if r_max is None else r_max) / (1.0 - belief.gamma))


def heavenly_q(belief: Any, heaven: Bools, worth: float, bonus: Floats, warm: Floats | None) -> tuple[Floats, Floats]:
    """(q[s, a], values[s]) of the mean model with a bonus, where the pairs in `heaven` (S, A) are worth `worth`."""
    model, S = belief.mean_mdp(), belief.n_states
    heaven = heaven & ~model.outcomes.terminal[:, None]
    if not heaven.any():
        solution = solve(model, initial=warm, bonus=bonus)
        return solution.q, solution.values
    start = None if warm is None else np.append(warm, 0.0)
    extra = np.vstack([np.where(heaven, 0.0, bonus), np.zeros((1, belief.n_actions))])
    solution = solve(with_heaven(model, heaven, worth), initial=start, bonus=extra)
    return solution.q[:S], solution.values[:S]


def with_heaven(model: TabularMDP, heaven: Bools, worth: float) -> TabularMDP:
    """The model with one more state, which ends everything: the pairs in `heaven` lead there and pay `worth` once."""
    o = model.outcomes
    S, A, K = o.succ.shape
    lost = heaven[:, :, None]
    first = np.arange(K) == 0
    group = np.append(np.where(heaven, o.n_groups, o.group), np.full((1, A), o.n_groups), axis=0)
    numbers, group = np.unique(group, return_inverse=True)  # groups that nobody draws from are left out
    outcomes = Outcomes(
        succ=np.append(np.where(lost, S, o.succ), np.full((1, A, K), S), axis=0),
        reward=np.append(np.where(lost, worth, o.reward), np.zeros((1, A, K)), axis=0),
        group=group.reshape(S + 1, A),
        size=np.append(o.size, 1)[numbers],
        otherwise=np.zeros(1),
        start=np.append(o.start, 0.0),
        terminal=np.append(o.terminal, True),
    )
    return TabularMDP.unchecked(outcomes, np.append(model.prob, first[None], axis=0)[numbers], model.gamma)
