r"""A problem that a bonus of 1/n may never solve (Kolter and Ng 2009, theorem 2; Li 2009; survey §4.6).

Two actions. `safe` pays c. `try` pays 1 with probability 1/2 and else nothing; the state tells which it was. It is a
little better: c = 1/2 - epsilon with epsilon = 1 / (16 beta). An agent that adds at most beta / n to a reward stops to
try when too many tries failed, never tries again, and so never learns that it was wrong: it is *locked out*.

The theorem says that for every bonus of at most beta / n^p with p > 1/2 there is an MDP in which this happens with
probability above .15. Its reason is that the mean of n tries has the standard deviation 1 / (2 sqrt(n)), which exceeds
the bonus if n is large. For p = 1, n = 16 beta^2 tries have the deviation 1 / (8 beta) = epsilon + beta / n. So their
mean is one deviation too low with probability Phi(-1) = .159, unless the agent has stopped before. We know theorem and
example from the survey alone: this reasoning and this MDP are ours.

With the prior `structured:1` the tries are one Beta(1, 1), tied over both states, and BEB's index of `try` after w of n
tries is (1 + w) / (2 + n) + beta / (3 + n). It is locked out once this falls below c, since the index of `safe` only
falls to c. `locked_out` adds up the probability: .533 for beta = 1 and .580 for beta = 2 within 3000 tries, far above
the bound, which speaks of one n, while an agent may stop at any.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from bayesrl.checks import integer, number
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.outcomes import Outcomes
from bayesrl.parameters import DISCOUNT, Above
from bayesrl.registry import register
from bayesrl.worlds.settings import Setting
from bayesrl.worlds.tabular import MDPWorld

STEPS, LUCK = 3000, 0.5
BOUND = 0.15
"""delta_0 of the theorem."""


@register(
    "li-example",
    kind="world",
    survey="4.6",
    paper="li09",
    evidence=(
        "tests/worlds/mdps/test_li_example.py::test_li_example_by_hand",
        "tests/worlds/mdps/test_li_example.py::test_locked_out_by_enumeration",
        "tests/worlds/mdps/test_li_example.py::test_beb_is_locked_out_and_psrl_is_not",
    ),
)
def li_example(
    beta: Annotated[float, Above(0), "The bonus beta / n for which the problem is made; below 1 as for 1."] = 1.0,
    gamma: Annotated[float, DISCOUNT, "Discount."] = 0.95,
) -> MDPWorld:
    """A safe action and a better one that may fail: after bad luck a bonus of beta / n may never try it again.

    Made for `beb:beta=1` with the prior `structured:1`. Runs last 3000 steps; the optimum is 1500.

    Examples
    --------
    >>> from bayesrl.models.solve import solve
    >>> world = li_example(beta=2.0)
    >>> solve(world).policy.tolist(), float(world.dense()[1][0, 0, 0])
    ([1, 1], 0.46875)
    >>> round(locked_out(beta=2.0, tries=1000), 3)
    0.578
    """
    c = 0.5 - margin(beta)
    outcomes = Outcomes(
        succ=np.array([[[0, 0], [0, 1]], [[1, 0], [0, 1]]], np.int32),  # outcome 0 of a try is the luck
        reward=np.array([[[c, 0.0], [1.0, 0.0]]] * 2),
        group=np.array([[0, 1]] * 2),
        size=np.array([1, 2], np.int32),
        otherwise=np.array([[[c, c], [1.0, 0.0]]] * 2),
        start=np.array([0.0, 1.0]),
        terminal=np.zeros(2, np.bool_),
    )
    prob = np.array([[1.0, 0.0], [LUCK, 1.0 - LUCK]])
    mdp = TabularMDP(outcomes, prob, number("li-example", "gamma", gamma, 0.0, 1.0))
    return MDPWorld("li-example", mdp, Setting("structured:1", steps=STEPS, optimum=STEPS * LUCK), ("safe", "try"))


def margin(beta: float) -> float:
    """epsilon, by which `try` is better."""
    return 1.0 / (16.0 * max(number("li-example", "beta", beta, 0.0, above=True), 1.0))


def locked_out(beta: float = 1.0, tries: int = 1000) -> float:
    """The probability that BEB with this beta gives up the better action within that many tries."""
    n = integer("locked_out", "tries", tries, 0)
    c, out = 0.5 - margin(beta), 0.0
    p = np.ones(1)  # p[w]: probability that all tries were made so far, and w of them were lucky
    for t in range(n + 1):
        stops = (1.0 + np.arange(t + 1)) / (2.0 + t) + beta / (3.0 + t) < c
        out += float(p[stops].sum())
        p = np.where(stops, 0.0, p)
        p = np.append(p * (1.0 - LUCK), 0.0) + np.append(0.0, p * LUCK)
    return out
