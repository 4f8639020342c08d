"""Machine replacement (Delage and Mannor 2010, their figure 3; survey §6): repair in time, or wait for a breakdown.

    0 to 6  the machine works, and wears out      8  in repair, R1
    7       it is broken                          9  in a long repair, R2

    nothing   s < 7: stays .2, s + 1 .8                7: stays     8: stays .2, to 0 .8    9: stays
    repair    s < 7: s + 1 .3, to 8 .6, to 9 .1        7: stays .3, to 8 .6, to 9 .1    8: stays    9: to 8 .6, stays .4

State 7 pays -20, state 8 pays -2 and state 9 pays -10. The structure comes from public code. Discount .8 and the
uniform start are recalled. Three conventions circulate: the reward of the state reached (the default), that of the
current state, and a mixture of the two, which is not offered.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from bayesrl.checks import choice
from bayesrl.models.mdp import TabularMDP
from bayesrl.parameters import DISCOUNT
from bayesrl.registry import register
from bayesrl.worlds.settings import Setting
from bayesrl.worlds.tabular import MDPWorld

BROKEN, REPAIR, LONG = 7, 8, 9
REWARD = np.array([0.0] * 7 + [-20.0, -2.0, -10.0])
"""The reward of each state."""
LAYOUT = np.array([[[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, -1, -1, -1, -1, -1, -1]]])


@register(
    "machine-replacement",
    kind="world",
    survey="6",
    paper="Delage10PO",
    evidence=(
        "tests/worlds/risk/test_risk_worlds.py::test_machine_replacement_is_worth_what_was_computed",
        "tests/worlds/risk/test_risk_worlds.py::test_machine_replacement_by_hand",
        "tests/worlds/risk/test_risk_worlds.py::test_samples_match_probabilities",
    ),
)
def machine_replacement(
    gamma: Annotated[float, DISCOUNT, "Discount."] = 0.8,
    rewards: Annotated[Literal["reached", "current"], "Which state of a step pays."] = "reached",
) -> MDPWorld:
    """A machine that wears out in eight steps, and two kinds of repair.

    The usual prior knows which states can follow. The best policy repairs in states 5, 6, 7 and 9; at discount .9 and
    above it repairs in state 4 too.
    """
    paid = choice("machine-replacement", "rewards", rewards, ("reached", "current"))
    P = np.zeros((10, 2, 10))
    for s in range(BROKEN + 1):
        worse = min(s + 1, BROKEN)
        P[s, 0, s] += 0.2
        P[s, 0, worse] += 0.8
        P[s, 1, [worse, REPAIR, LONG]] = 0.3, 0.6, 0.1
    P[REPAIR, 0, [REPAIR, 0]] = 0.2, 0.8
    P[REPAIR, 1, REPAIR] = P[LONG, 0, LONG] = 1.0
    P[LONG, 1, [REPAIR, LONG]] = 0.6, 0.4
    R = np.broadcast_to(REWARD if paid == "reached" else REWARD[:, None, None], P.shape)
    mdp = TabularMDP.from_dense(P, R, gamma, start=np.full(10, 0.1))
    return MDPWorld("machine-replacement", mdp, Setting("structured:1", steps=500), ("nothing", "repair"), LAYOUT)
