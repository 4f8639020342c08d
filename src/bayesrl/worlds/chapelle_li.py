"""Chapelle and Li's simulated bandit (2011, §2): one arm of mean .5, all others epsilon below it.

Their Table 1 (as recalled: 100 arms, epsilon .1; a horizon of 10^6 is inferred from the size of the figures) hands
rewards over every delta steps: `BatchedFeedback(agent, delta)`.
"""

from __future__ import annotations

import numpy as np

from bayesrl.checks import integer, number
from bayesrl.registry import register
from bayesrl.worlds.bernoulli import BernoulliBandit


@register(
    "chapelle-li-bandit",
    kind="world",
    survey="3.3",
    paper="Chapelle11EE",
    evidence=("tests/bandits/test_worlds.py::test_chapelle_li_by_hand",),
)
def chapelle_li(arms: int = 100, epsilon: float = 0.1, gamma: float = 1.0) -> BernoulliBandit:
    """Bernoulli arms, one of mean .5 and the others epsilon below it.

    Runs last 10,000 steps unless another number is asked for; the published figures seem to be for a million.
    """
    K = integer("chapelle-li-bandit", "arms", arms, 2)
    gap = number("chapelle-li-bandit", "epsilon", epsilon, 0.0, 0.5)
    means = np.where(np.arange(K) == 0, 0.5, 0.5 - gap)
    return BernoulliBandit(means, "chapelle-li-bandit", gamma, steps=10_000)
