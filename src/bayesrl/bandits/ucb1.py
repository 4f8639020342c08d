"""UCB1 (Auer, Cesa-Bianchi and Fischer 2002; survey §3.2), the frequentist baseline.

Play each arm once. Then play the arm with the largest average reward plus sqrt(2 ln t / t_a), where t_a counts the
plays of arm a and t counts all plays. Rewards should lie in [0, 1]. The prior is not used.

Deviations: none. A play is counted when its reward is learned, which matters if feedback is delayed. Ties go to the
first arm. Cost: O(K). Claims: equal to a naive transcription; Bayesian regret with 10 uniform Bernoulli arms over
1000 steps 130.7.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl.bandits.thompson import best
from bayesrl.capabilities import CountsPlays
from bayesrl.core import Decision, Transition
from bayesrl.parameters import declared
from bayesrl.registry import register
from bayesrl.traits import Traits


@register(
    "ucb1",
    kind="planner",
    survey="3.2",
    paper="Auer2002FA",
    example=lambda: UCB1(),
    evidence=(
        "tests/bandits/test_planners.py::test_planner_equals_naive_transcription",
        "tests/bandits/test_regret.py::test_bayesian_regret_beside_the_reference",
    ),
)
@declared
class UCB1:
    """Play the arm with the largest average reward plus sqrt(2 ln t / t_a).

    Examples
    --------
    >>> import bayesrl as b
    >>> shop = b.make_world("online-shop")
    >>> agent = b.BayesAgent(shop.default_prior(), UCB1())
    >>> b.run(agent, shop, steps=50).action[:10]
    array([0, 1, 2, 0, 0, 0, 0, 1, 2, 0])
    """

    needs: ClassVar[tuple[type, ...]] = (CountsPlays,)
    traits: ClassVar[Traits] = Traits(batched=True)

    def start(self) -> None:
        """Nothing to remember."""

    def plan(
        self, belief: CountsPlays, observation: Any, memory: None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Play the first arm not yet played, or else the arm of largest index."""
        n = belief.plays()
        t = n.sum(axis=-1)
        twice_log = 2.0 * math.log(max(float(t), 1.0)) if n.ndim == 1 else 2.0 * np.log(np.maximum(t, 1.0))[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            q = np.where(n > 0.0, belief.average() + np.sqrt(twice_log / n), np.inf)
        return Decision(best(q), None, {"q": q})
