"""R-max (Brafman and Tennenholtz 2003; survey §4.6, the PAC-MDP baseline).

A pair (s, a) is unknown until it has been visited m times. The plan assumes that unknown pairs lead to an optimistic
absorbing state in which every step pays R_max, and uses the learnt model of the known pairs. With discount 1 an unknown
pair is worth R_max times the longest expected episode of the mean model at the time of the plan, in which every policy
must end (`_optimistic_state.py`).

Paper to code: the absorbing state is `with_absorbing_pairs`; `plan` makes a new plan when a pair becomes known.
Deviations: the problem is discounted; the paper plans over a mixing time. The model of known pairs is the belief's mean
at the time of the plan. With prior counts that go to zero (prior `flat:1e-9`) this is the paper's empirical model,
except that visits beyond the m-th count as well. Visits are the planner's own. Pairs that the belief knows for certain,
rewards included, are known from the start. Pairs that share a group share their visits, unless rewards are unknown.
Unknown rewards of a known pair are taken at their means. Ties go to the first action.
Cost: a solve when a pair becomes known, at most |S||A| + 1 times. Claims: equal to a transcription with an empirical
model; values at a point belief.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.bamdp._checks import state_in
from bayesrl.bamdp._posterior import count_visits, finite_reward_range, visits_of_pairs
from bayesrl.bamdp.optimism._optimistic_state import OptimismNeeds, best_value, optimistic_q
from bayesrl.bamdp.optimism.pac_bounds import THEORY, effective_horizon, rmax_knownness
from bayesrl.beliefs.choices import Ties, best_action
from bayesrl.checks import Floats
from bayesrl.core import Decision, Transition
from bayesrl.facets import Facets
from bayesrl.kernels.ties import size
from bayesrl.parameters import AtLeast, declared
from bayesrl.registry import register


class RMaxPlan(NamedTuple):
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
    facets=Facets(
        depth="N/A",
        actions="all a",
        successors="all s'",
        posterior="N/A",
        solution="Q solved by DP, unknown pairs at R_max",
        guarantee="PAC-MDP",
    ),
    evidence=(
        "tests/bamdp/optimism/test_unvisited.py::test_rmax_equals_its_transcription",
        "tests/bamdp/optimism/test_unvisited.py::test_the_absorbing_state_is_worth_what_it_says",
        "tests/bamdp/test_planners.py::test_point_belief_gives_solved_values",
        "tests/bamdp/test_undiscounted.py::test_rmax_and_mbie_eb_are_enumerated",
    ),
)
@declared
class RMax:
    """Assume that a pair leads to the largest reward until it has been visited m times.

    With discount 1 every policy of the mean model must end, and an unknown pair is worth R_max times the longest
    expected episode over all policies and states of that model.

    Examples
    --------
    >>> import bayesrl as b
    >>> world = b.make_world("chain")
    >>> agent = b.BayesAgent(b.DirichletMDP.flat(world, 1e-9), RMax(knownness=3))
    >>> print(b.run(agent, world, steps=100, seed=0).total)
    144.0
    """

    knownness: Annotated[
        int | Literal["theory"],
        AtLeast(1),
        'Visits after which a pair counts as known, m; "theory" for the theorem\'s (`rmax_knownness`).',
    ] = 5
    r_max: Annotated[
        float | None,
        "Largest reward, R_max: unknown pairs are worth R_max / (1 - gamma), or R_max times the longest expected "
        "episode if the discount is 1; None for the belief's own.",
    ] = None
    ties: Annotated[Ties, "What to do with equal actions: take the first, or one at random."] = "first"

    needs: ClassVar[tuple[type, ...]] = (OptimismNeeds,)

    def check(self, belief: OptimismNeeds) -> None:
        """Raise an error if V_max is not finite, or if theory prescribes no finite number."""
        best_value("RMax", belief, self.r_max)
        self._knownness(belief)

    def start(self) -> RMaxPlan | None:
        """No plan yet."""
        return None

    def plan(
        self,
        belief: OptimismNeeds,
        observation: int,
        memory: RMaxPlan | None,
        rng: Generator,
        last: Transition | None = None,
    ) -> Decision:
        """Follow the plan in use; make a new one when a pair has just become known."""
        s, m = state_in("RMax", belief, observation), self._knownness(belief)
        visits = count_visits(None if memory is None else memory.visits, belief, last)
        if memory is None or (visits == m)[memory.visits < m].any():
            unknown = visits_of_pairs(visits, belief) < m
            worth, warm = best_value("RMax", belief, self.r_max), None if memory is None else memory.values
            memory = RMaxPlan(*optimistic_q(belief, unknown, worth, np.zeros(unknown.shape), warm), visits)
        here = memory.q[s]
        return Decision(
            best_action(here, self.ties, rng, size(memory.values)), memory._replace(visits=visits), {"q": here}
        )

    def _knownness(self, belief: OptimismNeeds) -> int:
        if self.knownness != THEORY:
            return int(self.knownness)
        low, high = finite_reward_range("RMax", belief)
        H = effective_horizon(belief.gamma)
        return rmax_knownness(belief.n_states, belief.n_actions, H, reward_range=high - low)
