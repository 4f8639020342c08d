"""The double loop (Strens 2000, there "Loop"; survey §4.4): two loops of five steps through one state, one pays twice.

    4 <- 3 <- 2 <- 1 <- 0 -> 5 -> 6 -> 7 -> 8         4 and 8 return to 0, paying 1 and 2

Any action goes round the left loop. On the right one only action 1 goes on; action 0 falls back to 0, so a learner that
has not tried 1 four times in a row does not know what is there.
"""

from __future__ import annotations

import numpy as np

from bayesrl.models.mdp import TabularMDP
from bayesrl.registry import register
from bayesrl.worlds._settings import Setting
from bayesrl.worlds.tabular import MDPWorld

NEXT = ((1, 5), (2, 2), (3, 3), (4, 4), (0, 0), (0, 6), (0, 7), (0, 8), (0, 0))
"""NEXT[s][a]: the world is deterministic."""
SETTING = Setting("flat:1/9", steps=1000, figures=("double_loop", "Double-loop", "dl", "loop"), optimum=400.0)


@register(
    "double-loop",
    kind="world",
    survey="4.4",
    paper="strens00",
    evidence=(
        "tests/worlds/test_worlds.py::test_declared_optimum",
        "tests/worlds/test_worlds.py::test_double_loop_by_hand",
        "tests/worlds/test_worlds.py::test_random_policy_agrees_with_peer_code",
    ),
)
def double_loop(gamma: float = 0.95) -> MDPWorld:
    """Two loops through one state: the easy one pays 1, the one that takes persistence pays 2.

    Rewards are paid for acting in 4 (1) and in 8 (2), wherever the action leads. Runs last 1000 steps; the optimum is
    400, and the easy loop alone earns 200. Guez et al. (2012) use a flat prior of 1/9 and discount .95.
    """
    R = np.zeros((9, 2))
    R[4], R[8] = 1.0, 2.0
    mdp = TabularMDP.from_dense(np.eye(9)[np.array(NEXT)], R, gamma)
    return MDPWorld("double-loop", mdp, SETTING, ("left", "right"))
