"""Epsilon-greedy on the mean model (survey §4.2).

With probability epsilon a uniformly random action, otherwise the greedy one of the mean model.

Deviations: none. Cost: one warm-started solve per decision. Claims: action frequencies; values at a point belief.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl.bamdp._greedy import TIES, best_action, mean_model_q, must_end, state_in
from bayesrl.checks import Floats, choice, number
from bayesrl.core import Decision, Transition
from bayesrl.registry import register


@register(
    "epsilon-greedy",
    kind="planner",
    survey="4.2",
    paper="Sutton98IR",
    example=lambda: EpsilonGreedy(),
    evidence=(
        "tests/bamdp/test_planners.py::test_point_belief_gives_solved_values",
        "tests/bamdp/test_planners.py::test_epsilon_greedy_frequencies",
        "tests/bamdp/test_figures.py::test_bbrl_chain_family",
    ),
)
@dataclass(frozen=True, slots=True)
class EpsilonGreedy:
    """Greedy on the mean model, but random with a small probability."""

    epsilon: float = 0.1
    """Probability of a random action."""
    ties: str = "random"
    """What to do with equal actions: take the first, or one at random."""

    needs: ClassVar[tuple[str, ...]] = ("mean_mdp",)

    def __post_init__(self) -> None:
        number("EpsilonGreedy", "epsilon", self.epsilon, 0.0, 1.0)
        choice("EpsilonGreedy", "ties", self.ties, TIES)

    def check(self, belief: Any) -> None:
        """Raise where there is neither a discount nor an end."""
        must_end("EpsilonGreedy", belief)

    def start(self) -> Floats | None:
        """No values yet."""
        return None

    def plan(
        self, belief: Any, observation: int, memory: Floats | None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Solve the mean model; act greedily or at random."""
        s = state_in("EpsilonGreedy", belief, observation)
        q, values = mean_model_q(belief, memory)
        here = q[s]
        if rng.random() < self.epsilon:
            action = int(rng.random() * len(here))
        else:
            action = best_action(here, self.ties, rng)
        greedy = here >= here.max()
        probability = self.epsilon / len(here) + (1.0 - self.epsilon) * greedy / greedy.sum()
        return Decision(action, values, {"q": here, "probability": np.asarray(probability)})
