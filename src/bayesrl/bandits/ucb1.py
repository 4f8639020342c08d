"""UCB1 (Auer, Cesa-Bianchi and Fischer 2002; survey §3.2), the frequentist baseline.

Play each arm once; then the arm with the largest average reward plus sqrt(2 ln t / t_a), where t_a counts the plays of
arm a and t all plays. Rewards should lie in [0, 1]. Of the belief it uses only what was seen, not the prior.

Deviations: none; counts are of rewards that have been learned from, which matters where feedback is delayed; ties go to
the first arm. Cost: O(K). Claims: equal to a naive transcription; Bayesian regret with 10 uniform Bernoulli arms over
1000 steps 130.7.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl.bandits.thompson import best
from bayesrl.core import Decision, Transition
from bayesrl.registry import register


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
@dataclass(frozen=True, slots=True)
class UCB1:
    """Play the arm with the largest average reward plus sqrt(2 ln t / t_a)."""

    needs: ClassVar[tuple[str, ...]] = ("counts", "average")
    batched: ClassVar[bool] = True

    def start(self) -> None:
        """Nothing to remember."""

    def plan(
        self, belief: Any, observation: Any, memory: None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """The first arm not yet played, else the largest index."""
        n = belief.counts()
        t = n.sum(axis=-1)
        twice_log = 2.0 * math.log(max(t, 1.0)) if n.ndim == 1 else 2.0 * np.log(np.maximum(t, 1.0))[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            q = np.where(n > 0.0, belief.average() + np.sqrt(twice_log / n), np.inf)
        return Decision(best(q), None, {"q": q})
