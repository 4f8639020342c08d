"""The chain (Strens 2000; survey §4.1): a small reward at once against a larger one at the end of a walk.

Five states in a row, two actions, two effects. Effect a moves one state on and pays 0; in the last state it stays and
pays 10. Effect b returns to the first state and pays 2. Action a has effect a with probability .8, action b has effect
b with probability .8; otherwise each has the effect of the other.

The published optimum, 3677, is 1000 times the stationary reward 3.6768. From the first state the optimum is 3665.83 on
average; always choosing a gives 3663.69 (near the end of the run b is better, since there is no time left to walk).
"""

from __future__ import annotations

import numpy as np

from bayesrl.checks import Ints
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.outcomes import Outcomes
from bayesrl.registry import register
from bayesrl.worlds.settings import Setting
from bayesrl.worlds.tabular import MDPWorld

LENGTH, SLIP = 5, 0.2


@register(
    "chain",
    kind="world",
    survey="4.1",
    paper="strens00",
    evidence=(
        "tests/worlds/mdps/test_worlds.py::test_declared_optimum",
        "tests/worlds/mdps/test_worlds.py::test_chain_by_hand",
        "tests/worlds/mdps/test_worlds.py::test_samples_match_probabilities",
    ),
)
def chain(gamma: float = 0.95) -> MDPWorld:
    """The five-state chain: walk to the far end for 10, or fall back for 2.

    In this full version no rows are tied; the usual prior is a Dirichlet over all five states for each row. Runs last
    1000 steps; the optimum is 3665.83. Poupart et al. (2006) ran it with discount .99. At that discount the return of
    `exploit` depends on its rule for equal actions: 3149 ± 73 (first action, 300 runs) or 2152 ± 46 (random, 1000
    runs).
    """
    return chain_with(np.arange(2 * LENGTH).reshape(LENGTH, 2), gamma, "chain", "flat:1", ("chain", "chain_full"))


def chain_with(group: Ints, gamma: float, name: str, prior: str, figures: tuple[str, ...]) -> MDPWorld:
    """The chain with the given rows tied together; outcome 0 is the action's own effect, outcome 1 the other one."""
    back = (0, 2.0)
    on = [(min(s + 1, LENGTH - 1), 10.0 if s == LENGTH - 1 else 0.0) for s in range(LENGTH)]
    effects = np.array([[[on[s], back], [back, on[s]]] for s in range(LENGTH)])  # [s, a, k] -> next state, reward
    otherwise = np.zeros((LENGTH, 1, LENGTH))
    otherwise[:, :, 0] = 2.0
    otherwise[-1, :, -1] = 10.0
    groups = int(group.max()) + 1
    outcomes = Outcomes(
        succ=effects[..., 0].astype(np.int32),
        reward=effects[..., 1],
        group=group,
        size=np.full(groups, 2, np.int32),
        otherwise=otherwise,
        start=np.eye(LENGTH)[0],
        terminal=np.zeros(LENGTH, np.bool_),
    )
    mdp = TabularMDP(outcomes, np.tile([1.0 - SLIP, SLIP], (groups, 1)), gamma)
    layout = np.arange(LENGTH).reshape(1, 1, LENGTH)
    setting = Setting(prior, steps=1000, figures=figures, optimum=3665.8324480000642)
    return MDPWorld(name, mdp, setting, ("a", "b"), layout)
