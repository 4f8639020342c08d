"""The double loop (Strens 2000, there "Loop"; survey §4.4): two loops of five steps through one state.

    4 <- 3 <- 2 <- 1 <- 0 -> 5 -> 6 -> 7 -> 8         4 and 8 return to 0, paying 1 and 2

On the left loop every action moves on. On the right loop only action 1 moves on; action 0 returns to 0, so a learner
finds the larger reward only after four times action 1 in a row.
"""

from __future__ import annotations

import numpy as np

from bayesrl.models.mdp import TabularMDP
from bayesrl.registry import register
from bayesrl.worlds.settings import Setting
from bayesrl.worlds.tabular import MDPWorld

NEXT = ((1, 5), (2, 2), (3, 3), (4, 4), (0, 0), (0, 6), (0, 7), (0, 8), (0, 0))
"""NEXT[s][a], the next state."""
SETTING = Setting("flat:1/9", steps=1000, figures=("double_loop", "Double-loop", "dl", "loop"), optimum=400.0)


@register(
    "double-loop",
    kind="world",
    survey="4.4",
    paper="strens00",
    evidence=(
        "tests/worlds/mdps/test_worlds.py::test_declared_optimum",
        "tests/worlds/mdps/test_worlds.py::test_double_loop_by_hand",
        "tests/worlds/mdps/test_worlds.py::test_random_policy_agrees_with_peer_code",
    ),
)
def double_loop(gamma: float = 0.95) -> MDPWorld:
    """Two loops through one state: the easy one pays 1, the one that needs the right action four times pays 2.

    Any action in state 4 pays 1, and any action in state 8 pays 2. Runs last 1000 steps; the optimum is
    400, and the easy loop alone earns 200. Guez et al. (2012) use a flat prior of 1/9 and discount .95.
    """
    R = np.zeros((9, 2))
    R[4], R[8] = 1.0, 2.0
    mdp = TabularMDP.from_dense(np.eye(9)[np.array(NEXT)], R, gamma)
    return MDPWorld("double-loop", mdp, SETTING, ("left", "right"))
