"""R-max (Brafman and Tennenholtz 2003; survey §4.6, the PAC-MDP baseline).

A pair (s, a) is unknown until it has been visited m times. The plan imagines that unknown pairs lead to a heaven where
every step pays R_max, and uses what was learnt of the known ones: the agent either earns or learns.

Paper to code: heaven is `with_heaven`; the plan is made anew when a pair becomes known, in `plan`.
Deviations: discounted, where the paper plans over a mixing time. The model of known pairs is the belief's mean, at the
time of the plan: with prior counts that go to zero (prior `flat:1e-9`) that is the paper's empirical model, except
that visits beyond the m-th count as well. Visits are the planner's own; rows that the belief knows for certain are
known where rewards are, and pairs that share a group share their visits there. Unknown rewards are taken at their means
once a pair is known.
Ties go to the first action.
Cost: a solve when a pair becomes known, at most |S||A| + 1 times. Claims: equal to a transcription with an empirical
model; values at a point belief.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.bamdp._greedy import TIES, best_action, state_in
from bayesrl.bamdp._posterior import reward_bounds, visited, visits_of_pairs
from bayesrl.bamdp.optimism._optimistic_state import best_value, heavenly_q
from bayesrl.bamdp.optimism.pac_bounds import THEORY, effective_horizon, rmax_knownness
from bayesrl.checks import Floats, choice, integer, number
from bayesrl.core import Decision, Transition
from bayesrl.registry import register


class Plan(NamedTuple):
    """The action values of the plan in use, its values, and the visits of each group."""

    q: Floats
    values: Floats
    visits: Floats


@register(
    "rmax",
    kind="planner",
    survey="4.6",
    paper="brafman03",
    example=lambda: RMax(),
    evidence=(
        "tests/bamdp/test_unvisited.py::test_rmax_equals_its_transcription",
        "tests/bamdp/test_unvisited.py::test_heaven_is_worth_what_it_says",
        "tests/bamdp/test_planners.py::test_point_belief_gives_solved_values",
    ),
)
@dataclass(frozen=True, slots=True)
class RMax:
    """Unknown pairs lead to heaven until they have been visited m times."""

    knownness: int | str = 5
    """Visits after which a pair counts as known, m; "theory" for the theorem's (`rmax_knownness`)."""
    r_max: float | None = None
    """Reward of heaven, R_max; None for the largest one that the belief thinks possible."""
    ties: str = "first"
    """What to do with equal actions: take the first, or one at random."""

    needs: ClassVar[tuple[str, ...]] = ("mean_mdp", "counts", "outcomes", "gamma")

    def __post_init__(self) -> None:
        if not isinstance(self.knownness, str) or self.knownness != THEORY:
            integer("RMax", "knownness", self.knownness, 1)
        if self.r_max is not None:
            number("RMax", "r_max", self.r_max)
        choice("RMax", "ties", self.ties, TIES)

    def check(self, belief: Any) -> None:
        """Raise where heaven is worth no number, or where theory prescribes none."""
        best_value("RMax", belief, self.r_max)
        self._knownness(belief)

    def start(self) -> Plan | None:
        """No plan yet."""
        return None

    def plan(
        self, belief: Any, observation: int, memory: Plan | None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Follow the plan in use; make a new one when a pair has just become known."""
        s, m = state_in("RMax", belief, observation), self._knownness(belief)
        visits = visited(None if memory is None else memory.visits, belief, last)
        if memory is None or (visits == m)[memory.visits < m].any():
            unknown = visits_of_pairs(visits, belief) < m
            worth, warm = best_value("RMax", belief, self.r_max), None if memory is None else memory.values
            memory = Plan(*heavenly_q(belief, unknown, worth, np.zeros(unknown.shape), warm), visits)
        here = memory.q[s]
        return Decision(best_action(here, self.ties, rng), memory._replace(visits=visits), {"q": here})

    def _knownness(self, belief: Any) -> int:
        if self.knownness != THEORY:
            return int(self.knownness)
        low, high = reward_bounds("RMax", belief)
        H = effective_horizon(belief.gamma)
        return rmax_knownness(belief.n_states, belief.n_actions, H, reward_range=high - low)
