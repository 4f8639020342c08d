"""Chapelle and Li's simulated bandit (2011, §2): one arm of mean .5, all others epsilon below it.

Their Table 1 (100 arms, epsilon .1, both as recalled) hands rewards over every delta steps, which is
`BatchedFeedback(agent, delta)`. Its horizon is not known to us: 10^6 has been inferred, but a regret of 226,220 is
more than the 10^5 that can be lost in as many steps. With 10^6 steps we get a regret of 4.0e3 for Thompson sampling
and 2.5e4 for UCB1 without delay (theirs: 9105 and 24145), and with delta = 1000 3.9e3 and 3.0e4 (theirs: 59256 and
226220): the table is not reproduced by this reading of it.
"""

from __future__ import annotations

import numpy as np

from bayesrl.checks import integer, number
from bayesrl.registry import register
from bayesrl.worlds.bandits.bernoulli import BernoulliBandit


@register(
    "chapelle-li-bandit",
    kind="world",
    survey="3.3",
    paper="Chapelle11EE",
    evidence=("tests/bandits/test_worlds.py::test_chapelle_li_by_hand",),
)
def chapelle_li(arms: int = 100, epsilon: float = 0.1, gamma: float = 1.0) -> BernoulliBandit:
    """Bernoulli arms, one of mean .5 and the others epsilon below it.

    Runs last 10,000 steps unless another number is asked for.
    """
    K = integer("chapelle-li-bandit", "arms", arms, 2)
    gap = number("chapelle-li-bandit", "epsilon", epsilon, 0.0, 0.5)
    means = np.where(np.arange(K) == 0, 0.5, 0.5 - gap)
    return BernoulliBandit(means, "chapelle-li-bandit", gamma, steps=10_000)
