"""What R-max and MBIE-EB share: pairs that nobody has tried enough lead to heaven, where every step pays R_max."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesrl.bamdp._posterior import reward_bounds
from bayesrl.checks import Bools, Floats, frozen
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.bellman import Model
from bayesrl.models.solve import fastest
from bayesrl.models.solvers._driver import Iterate, solved


def best_value(planner: str, belief: Any, r_max: float | None) -> float:
    """V_max = R_max / (1 - gamma), R_max being the belief's largest reward where none is given."""
    if belief.gamma == 1.0:
        raise InvalidArgument(planner, "belief", "one with a discount below 1", 1.0)
    return float((reward_bounds(planner, belief)[1] if r_max is None else r_max) / (1.0 - belief.gamma))


def heavenly_q(belief: Any, heaven: Bools, worth: float, bonus: Floats, warm: Floats | None) -> tuple[Floats, Floats]:
    """(q[s, a], values[s]) of the mean model with a bonus, where the pairs in `heaven` (S, A) are worth `worth`."""
    model = belief.mean_mdp()
    heaven = heaven & ~model.outcomes.terminal[:, None]

    def algorithm(m: Model, v: Floats | None, target: float) -> Iterate:
        return fastest(with_heaven(m, heaven, worth) if heaven.any() else m, v, target)

    solution = solved(model, algorithm, "auto", initial=warm, bonus=bonus)
    return solution.q, solution.values


def with_heaven(m: Model, heaven: Bools, worth: float) -> Model:
    """The model in which the pairs in `heaven` pay `worth` and end everything: like a terminal state's, rows are empty.

    That is a step to a state where every step pays R_max, without the state: nothing has to be listed anew.
    """
    ending = m._replace(r=frozen(np.where(heaven, worth, m.r)), free=False)
    if len(m.matrix):
        return ending._replace(matrix=frozen(np.where(heaven.reshape(-1, 1), 0.0, m.matrix)))
    return ending._replace(
        prob=frozen(np.vstack([m.prob, np.zeros((1, m.prob.shape[1]))])),
        group=frozen(np.where(heaven, np.int32(len(m.size)), m.group)),
        size=frozen(np.append(m.size, np.int32(0))),
    )
