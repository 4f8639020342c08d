"""Inventory with a rounded normal demand (public code of k-of-N; survey chapter 6): how much to order, on little data.

The stock is 0..M, and so is the order; what does not fit is paid for and lost. With x = min(s + a, M) units on the
shelf, demand is normal with mean M/2 and standard deviation M/6. A demand of d < x units has the mass from d - 1/2 to
d + 1/2, all larger demands are the outcome "sold out", and each row is normalised (the mass below -1/2 is dropped).
Each unit sold earns 2.1, each unit ordered costs 1, and each unit left over costs .05.

Outcome k of (s, a) is the sale of k units, k = 0..x. It tells the next state x - k and the reward. Every (s, a) has its
own distribution, although rows with the same x are equal in the true model. The empty first stock, the
discount of .9 and runs of 60 steps are ours.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from scipy.special import ndtr

from bayesrl.checks import integer, number
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.outcomes import Outcomes
from bayesrl.parameters import DISCOUNT, Within
from bayesrl.registry import register
from bayesrl.worlds.settings import Setting
from bayesrl.worlds.tabular import MDPWorld

PRICE, COST, HOLDING = 2.1, 1.0, 0.05
LARGEST = 200
"""The largest capacity. Its table has 8 million outcomes."""


@register(
    "inventory",
    kind="world",
    survey="6",
    paper="Chen2012TO",
    evidence=(
        "tests/worlds/risk/test_inventory.py::test_computed_values",
        "tests/worlds/risk/test_inventory.py::test_rows_by_hand",
    ),
)
def inventory(
    capacity: Annotated[int, Within(1, LARGEST), "Largest stock and largest order, M."] = 29,
    gamma: Annotated[float, DISCOUNT, "Discount."] = 0.9,
) -> MDPWorld:
    """A stock with a rounded normal demand: order up to `capacity` units, sell, and pay for what is left.

    With capacity 5 the best orders at discount .9 are 3 2 1 0 0 0, and an empty stock is worth 25.21389.

    Examples
    --------
    >>> world = inventory(capacity=5)
    >>> import bayesrl as b
    >>> b.DirichletMDP.structured(world).outcomes
    Outcomes(states=6, actions=6, outcomes=6, groups=36)
    >>> print(b.solve(world).policy.table)
    [3 2 1 0 0 0]
    """
    M = integer("inventory", "capacity", capacity, 1, LARGEST)
    S = M + 1
    s, a, k = np.indices((S, S, S))
    x = np.minimum(s + a, M)  # on the shelf
    below = ndtr((k - 0.5 - M / 2.0) / (M / 6.0))  # P(demand < k - 1/2)
    above = ndtr(-(k - 0.5 - M / 2.0) / (M / 6.0))
    p = np.where(k < x, np.diff(below, axis=2, append=1.0), np.where(k == x, above, 0.0))
    outcomes = Outcomes(
        succ=np.maximum(x - k, 0),
        reward=PRICE * k - COST * a - HOLDING * (x - k),
        group=np.arange(S * S).reshape(S, S),
        size=x[:, :, 0].ravel() + 1,
        otherwise=PRICE * np.maximum(x - k, 0) - COST * a - HOLDING * k,  # here k is the next state
        start=np.eye(S)[0],
        terminal=np.zeros(S, np.bool_),
    )
    rows = (p / p.sum(axis=2, keepdims=True)).reshape(S * S, S)
    mdp = TabularMDP(outcomes, rows, number("inventory", "gamma", gamma, 0.0, 1.0))
    return MDPWorld("inventory", mdp, Setting("structured:1", steps=60), tuple(f"order {i}" for i in range(S)))
