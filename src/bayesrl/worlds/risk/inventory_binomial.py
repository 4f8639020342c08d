"""A small stock with binomial demand (Dimitrakakis and Rothkopf 2011, from their public code; survey §6).

Every day begins with some units in stock. An order is delivered at once, up to the capacity. Demand is Binomial(10,
.3); what is in stock is sold, and further demand is lost. A delivered unit costs 1, a sold unit pays 1.5.

The public code pays the expected sales. Here a day pays the units that were sold. The expectation is the same, and a
learner sees the sales anyway: the next stock tells them. Days that begin with the same stock after delivery share the
distribution of their sales, so their rows are tied; the prior `structured` learns from all of them.
"""

from __future__ import annotations

from math import comb
from typing import Annotated

import numpy as np

from bayesrl.checks import integer
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.outcomes import Outcomes
from bayesrl.parameters import DISCOUNT, AtLeast
from bayesrl.registry import register
from bayesrl.worlds.settings import Setting
from bayesrl.worlds.tabular import MDPWorld

CUSTOMERS, BUYS, COST, PRICE = 10, 0.3, 1.0, 1.5
DEMAND = np.array([comb(CUSTOMERS, d) * BUYS**d * (1.0 - BUYS) ** (CUSTOMERS - d) for d in range(CUSTOMERS + 1)])
"""The probability of each demand."""
LARGEST = 200
"""The largest capacity: the rewards of a flat prior have (capacity + 1)^3 cells."""


@register(
    "inventory-binomial",
    kind="world",
    survey="6",
    paper="Dimitrakakis11BM",
    evidence=(
        "tests/worlds/risk/test_risk_worlds.py::test_inventory_binomial_is_worth_what_was_computed",
        "tests/worlds/risk/test_risk_worlds.py::test_inventory_binomial_by_hand",
        "tests/worlds/risk/test_risk_worlds.py::test_samples_match_probabilities",
    ),
)
def inventory_binomial(
    capacity: Annotated[int, AtLeast(1), "The largest stock, M."] = 5,
    gamma: Annotated[float, DISCOUNT, "Discount."] = 0.9,
) -> MDPWorld:
    """A stock of at most five units with binomial demand: order each day before the customers come.

    The state is the stock, and the action the number of units ordered. Episodes start with an empty stock. The best
    orders are 4 3 2 1 0 0. The usual prior knows what can happen and which days are alike.
    """
    M = integer("inventory-binomial", "capacity", capacity, 1, LARGEST)
    stock = np.arange(M + 1)
    level = np.minimum(stock[:, None] + stock, M)[:, :, None]  # after delivery, by stock and order
    cost = COST * (level - stock[:, None, None])
    sales = np.arange(min(M, CUSTOMERS) + 1)  # outcome k of a pair: k units are sold
    at_least = np.cumsum(DEMAND[::-1])[::-1][: len(sales)]  # the last unit goes if demand is at least the level
    all_sold = np.where(sales == stock[:, None], at_least, 0.0)
    prob = np.where(sales < stock[:, None], DEMAND[: len(sales)], all_sold)  # by level and sales
    outcomes = Outcomes(
        succ=np.maximum(level - sales, 0),
        reward=PRICE * sales - cost,
        group=level[:, :, 0],
        size=np.minimum(stock, CUSTOMERS) + 1,
        otherwise=PRICE * np.maximum(level - stock, 0) - cost,  # by next stock; only a flat prior reads it
        start=np.eye(M + 1)[0],
        terminal=np.zeros(M + 1, np.bool_),
    )
    names = tuple(f"order {n}" for n in range(M + 1))
    return MDPWorld(
        "inventory-binomial",
        TabularMDP(outcomes, prob, gamma),
        Setting("structured:1", steps=60),
        names,
        stock.reshape(1, 1, -1),
    )
