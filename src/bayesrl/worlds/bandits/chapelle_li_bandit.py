"""Chapelle and Li's simulated bandit (2011, §2): one arm of mean .5, all others epsilon below it.

In their Table 1 (100 arms, epsilon .1, both as recalled) rewards arrive every delta steps, which is
`BatchedFeedback(agent, delta)`. We do not know its horizon: 10^6 has been inferred, but the regret of 226,220 exceeds
the maximum of 10^5 in 10^6 steps. With 10^6 steps we get a regret of 4.0e3 for Thompson sampling and 2.5e4 for UCB1
without delay (theirs: 9105 and 24145). With delta = 1000 we get 3.9e3 and 3.0e4 (theirs: 59256 and 226220). So this
reading of the table does not reproduce it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import numpy as np

from bayesrl.checks import integer, number
from bayesrl.parameters import DISCOUNT, AtLeast, Within
from bayesrl.registry import register
from bayesrl.worlds.bandits.bernoulli import UNIFORM, BernoulliBandit


@register(
    "chapelle-li-bandit",
    kind="world",
    survey="3.3",
    paper="Chapelle11EE",
    evidence=("tests/worlds/bandits/test_worlds.py::test_chapelle_li_by_hand",),
)
def chapelle_li(
    arms: Annotated[int, AtLeast(2), "Number of arms, K."] = 100,
    epsilon: Annotated[float, Within(0.0, 0.5), "Gap between the best arm and the others."] = 0.1,
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0,
) -> BernoulliBandit:
    """Bernoulli arms, one of mean .5 and the others epsilon below it.

    A run usually lasts 10,000 steps.

    Examples
    --------
    >>> chapelle_li(arms=3).means
    array([0.5, 0.4, 0.4])
    """
    K = integer("chapelle-li-bandit", "arms", arms, 2)
    gap = number("chapelle-li-bandit", "epsilon", epsilon, 0.0, 0.5)
    means = np.where(np.arange(K) == 0, 0.5, 0.5 - gap)
    return BernoulliBandit(means, "chapelle-li-bandit", gamma, replace(UNIFORM, steps=10_000))
