"""Bayesian exploration bonus (Kolter and Ng 2009; survey §4.6).

Act greedily on the mean model with beta / (1 + n(s, a)) added to every reward, where n is the total Dirichlet count,
prior counts included; the belief is not updated inside the plan, so plain dynamic programming solves it. The bonus
falls as 1/n, faster than PAC-MDP bonuses: the method follows the Bayes-optimal policy, not necessarily the true
optimum.

Paper to code: the bonus is `bonus`, the Bellman equation `mean_model_q`.
Deviations: the paper's problem is undiscounted over a horizon H; here the infinite-horizon problem at the belief's
discount is solved, as in the public codes (the survey's formula lacks gamma and has a misprint, ERRATA 6). Those
codes hold beta as an unsigned integer; here it is a number. With unknown rewards the mean rewards are used, and the
bonus is the transitions' or the rewards' own, beta / (1 + rewards seen), whichever is greater: each visit teaches both,
so that is the one of which less was known at first. Ties go to the first action.
Cost: one warm-started solve per decision. Claims: totals on the double-loop (deterministic); values at a point
belief.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl.bamdp._greedy import TIES, best_action, mean_model_q, must_end, state_in
from bayesrl.bamdp._posterior import doubt_of_rewards, reward_bounds
from bayesrl.bamdp.optimism.pac_bounds import THEORY, beb_beta, effective_horizon, number_or_theory
from bayesrl.checks import Floats, choice
from bayesrl.core import Decision, Transition
from bayesrl.registry import register


@register(
    "beb",
    kind="planner",
    survey="4.6",
    paper="kolter09",
    example=lambda: BEB(),
    evidence=(
        "tests/bamdp/test_figures.py::test_beb_on_the_double_loop",
        "tests/bamdp/test_planners.py::test_point_belief_gives_solved_values",
        "tests/bamdp/test_planners.py::test_beb_equals_its_transcription",
        "tests/bamdp/test_optimism.py::test_beb_explores_rewards_where_transitions_are_known",
    ),
)
@dataclass(frozen=True, slots=True)
class BEB:
    """Greedy on the mean model with a bonus of beta / (1 + count)."""

    beta: float | str = 1.0
    """Size of the bonus; "theory" for the theorem's 2 H^2, times the range of the rewards."""
    ties: str = "first"
    """What to do with equal actions: take the first, or one at random."""

    needs: ClassVar[tuple[str, ...]] = ("mean_mdp", "counts")

    def __post_init__(self) -> None:
        number_or_theory("BEB", "beta", self.beta)
        choice("BEB", "ties", self.ties, TIES)

    def check(self, belief: Any) -> None:
        """Raise where there is neither a discount nor an end, or where theory prescribes no bonus."""
        self.size(belief)
        must_end("BEB", belief)

    def start(self) -> Floats | None:
        """No values yet."""
        return None

    def plan(
        self, belief: Any, observation: int, memory: Floats | None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Solve the mean model with the bonus and act greedily."""
        s = state_in("BEB", belief, observation)
        bonus = self.size(belief) / (1.0 + belief.counts())
        if hasattr(belief, "rewards"):
            bonus = np.maximum(bonus, self.size(belief) * doubt_of_rewards(belief))
        q, values = mean_model_q(belief, memory, bonus)
        return Decision(best_action(q[s], self.ties, rng), values, {"q": q[s]})

    def size(self, belief: Any) -> float:
        """beta, or what the theorem prescribes for this belief's discount and rewards."""
        if self.beta != THEORY:
            return float(self.beta)
        low, high = reward_bounds("BEB", belief)
        return beb_beta(effective_horizon(belief.gamma), high - low)
