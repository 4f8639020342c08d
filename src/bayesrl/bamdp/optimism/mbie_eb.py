"""MBIE-EB, model-based interval estimation with an exploration bonus (Strehl and Littman 2008; survey §4.6, baseline).

Act greedily on the learnt model with beta / sqrt(n(s, a)) added to every reward; a pair that was never tried is worth
R_max / (1 - gamma). The bonus falls as 1/sqrt(n), slowly enough for the true optimum to be found: PAC-MDP, where BEB
with its 1/n is near the Bayes-optimal policy instead.

Paper to code: the bonus stands in `plan`; untried pairs are `with_heaven`; the theorem's beta is `mbie_eb_beta`.
Deviations: the model is the belief's mean: with prior counts that go to zero (prior `flat:1e-9`) it is the paper's
empirical model. n counts the planner's own visits; rows that the belief knows for certain have no bonus, and pairs that
share a group share their visits. Unknown rewards are taken at their means. Ties go to the first action.
Cost: one warm-started solve per decision. Claims: equal to a transcription with an empirical model; values at a point
belief.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.bamdp._greedy import TIES, best_action, state_in
from bayesrl.bamdp._posterior import reward_bounds, visited, visits_of_pairs
from bayesrl.bamdp.optimism._optimistic_state import best_value, heavenly_q
from bayesrl.bamdp.optimism.pac_bounds import THEORY, mbie_eb_beta, number_or_theory
from bayesrl.checks import Floats, choice, number
from bayesrl.core import Decision, Transition
from bayesrl.registry import register


class Plan(NamedTuple):
    """Values to start the next solve from, the visits of each group, and R_max / (1 - gamma)."""

    values: Floats
    visits: Floats
    worth: float


@register(
    "mbie-eb",
    kind="planner",
    survey="4.6",
    paper="strehl08",
    example=lambda: MBIEEB(),
    evidence=(
        "tests/bamdp/test_unvisited.py::test_mbie_eb_equals_its_transcription",
        "tests/bamdp/test_unvisited.py::test_heaven_is_worth_what_it_says",
        "tests/bamdp/test_planners.py::test_point_belief_gives_solved_values",
    ),
)
@dataclass(frozen=True, slots=True)
class MBIEEB:
    """Greedy on the mean model with a bonus of beta / sqrt(visits)."""

    beta: float | str = 1.0
    """Size of the bonus; "theory" for the theorem's (`mbie_eb_beta`)."""
    r_max: float | None = None
    """Largest reward, which untried pairs are thought to pay for ever; None for the belief's own."""
    ties: str = "first"
    """What to do with equal actions: take the first, or one at random."""

    needs: ClassVar[tuple[str, ...]] = ("mean_mdp", "counts", "outcomes", "gamma")

    def __post_init__(self) -> None:
        number_or_theory("MBIEEB", "beta", self.beta)
        if self.r_max is not None:
            number("MBIEEB", "r_max", self.r_max)
        choice("MBIEEB", "ties", self.ties, TIES)

    def check(self, belief: Any) -> None:
        """Raise where heaven is worth no number, or where theory prescribes none."""
        best_value("MBIEEB", belief, self.r_max)
        self._beta(belief)

    def start(self) -> Plan | None:
        """No plan yet."""
        return None

    def plan(
        self, belief: Any, observation: int, memory: Plan | None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Solve the mean model with the bonus and act greedily."""
        s = state_in("MBIEEB", belief, observation)
        visits = visited(None if memory is None else memory.visits, belief, last)
        n = visits_of_pairs(visits, belief)
        worth = best_value("MBIEEB", belief, self.r_max) if memory is None else memory.worth
        bonus = self._beta(belief) / np.sqrt(np.maximum(n, 1.0))
        q, values = heavenly_q(belief, n == 0.0, worth, bonus, None if memory is None else memory.values)
        return Decision(best_action(q[s], self.ties, rng), Plan(values, visits, worth), {"q": q[s]})

    def _beta(self, belief: Any) -> float:
        if self.beta != THEORY:
            return float(self.beta)
        low, high = reward_bounds("MBIEEB", belief)
        return mbie_eb_beta(belief.n_states, belief.n_actions, belief.gamma, reward_range=high - low)
