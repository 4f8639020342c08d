"""The machine of Bertuccelli et al. (2012; survey §6), from a textbook exercise: maintain it or not, repair it or not.

State 0 runs and state 1 is broken, at the start of a week. A week that ends with a running machine earns 100.

    running   maintain   costs 20,  fails with probability .4
              nothing    costs 0,   fails with probability .7
    broken    repair     costs 40,  fails with probability .4
              replace    costs 150, never fails that week

The numbers are recalled, and were not read again in the paper. At discount .9 the best policy maintains and repairs.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from bayesrl.models.mdp import TabularMDP
from bayesrl.parameters import DISCOUNT
from bayesrl.registry import register
from bayesrl.worlds.settings import Setting
from bayesrl.worlds.tabular import MDPWorld

FAILS = np.array([[0.4, 0.7], [0.4, 0.0]])
"""Probability that the machine is broken after the week, (S, A)."""
COST = np.array([[20.0, 0.0], [40.0, 150.0]])
EARNED = np.array([100.0, 0.0])
"""The earnings of a week that ends in each state."""


@register(
    "machine-repair",
    kind="world",
    survey="6",
    paper="Bertuccelli12RA",
    evidence=(
        "tests/worlds/risk/test_machine_repair.py::test_values",
        "tests/worlds/risk/test_machine_repair.py::test_by_hand",
    ),
)
def machine_repair(gamma: Annotated[float, DISCOUNT, "Discount."] = 0.9) -> MDPWorld:
    """A machine that runs or is broken: maintenance or none, repair or replacement, each week.

    The optimal values are 328 for a running machine and 308 for a broken one. The first action is to maintain or to
    repair, the second to do nothing or to replace. The usual prior lists both next states of every action but
    replacement, which never fails.
    """
    P = np.stack([1.0 - FAILS, FAILS], axis=-1)
    mdp = TabularMDP.from_dense(P, EARNED - COST[:, :, None], gamma)
    return MDPWorld(
        "machine-repair",
        mdp,
        Setting("structured:1", steps=100, optimum=3208.0),
        ("maintain/repair", "nothing/replace"),
    )
