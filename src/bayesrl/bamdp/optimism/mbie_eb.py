"""MBIE-EB, model-based interval estimation with an exploration bonus (Strehl and Littman 2008; survey §4.6, baseline).

The agent acts greedily on the learnt model with beta / sqrt(n(s, a)) added to every reward; a pair that was never tried
is worth R_max / (1 - gamma). The bonus falls as 1/sqrt(n), slowly enough to find the true optimum (PAC-MDP). BEB, with
a bonus of order 1/n, is near the Bayes-optimal policy instead.

With discount 1 every policy of the mean model must end, and an untried pair is worth R_max times its longest expected
episode, computed anew at each decision (`_optimistic_state.py`). A belief that need not end is refused with the state.

Paper to code: the bonus is in `plan`; untried pairs are `with_absorbing_pairs`; the theorem's beta is `mbie_eb_beta`.
Deviations: the model is the belief's mean: with prior counts that go to zero (prior `flat:1e-9`) it is the paper's
empirical model. n counts the planner's own visits. Pairs that the belief knows for certain have no bonus. Pairs that
share a group share their visits, unless rewards are unknown. Unknown rewards are taken at their means. Ties go to the
first action.
Cost: one warm-started solve per decision. Claims: equal to a transcription with an empirical model; values at a point
belief.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.bamdp._checks import state_in
from bayesrl.bamdp._posterior import count_visits, finite_reward_range, visits_of_pairs
from bayesrl.bamdp.optimism._optimistic_state import OptimismNeeds, best_value, optimistic_q
from bayesrl.bamdp.optimism.pac_bounds import THEORY, mbie_eb_beta
from bayesrl.beliefs.choices import Ties, best_action
from bayesrl.checks import Floats
from bayesrl.core import Decision, Transition
from bayesrl.facets import Facets
from bayesrl.kernels.ties import sizes
from bayesrl.parameters import AtLeast, declared
from bayesrl.registry import register


class MBIEPlan(NamedTuple):
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
    facets=Facets(
        depth="N/A",
        actions="all a",
        successors="all s'",
        posterior="N/A",
        solution="Q + reward bonus solved by DP",
        guarantee="PAC-MDP",
    ),
    evidence=(
        "tests/bamdp/optimism/test_unvisited.py::test_mbie_eb_equals_its_transcription",
        "tests/bamdp/optimism/test_unvisited.py::test_the_absorbing_state_is_worth_what_it_says",
        "tests/bamdp/test_planners.py::test_point_belief_gives_solved_values",
        "tests/bamdp/test_undiscounted.py::test_rmax_and_mbie_eb_are_enumerated",
    ),
)
@declared
class MBIEEB:
    """Act greedily on the mean model with a bonus of beta / sqrt(visits).

    With discount 1 every policy of the mean model must end, and an untried pair is worth R_max times the longest
    expected episode over all policies and states of that model.

    Examples
    --------
    >>> import bayesrl as b
    >>> world = b.make_world("chain")
    >>> agent = b.BayesAgent(b.DirichletMDP.flat(world, 1e-9), MBIEEB(beta=2.0))
    >>> print(b.run(agent, world, steps=100, seed=0).total)
    218.0
    """

    beta: Annotated[
        float | Literal["theory"], AtLeast(0), 'Size of the bonus; "theory" for the theorem\'s (`mbie_eb_beta`).'
    ] = 1.0
    r_max: Annotated[
        float | None,
        "Largest reward, R_max: untried pairs are worth R_max / (1 - gamma), or R_max times the longest expected "
        "episode if the discount is 1; None for the belief's own.",
    ] = None
    ties: Annotated[Ties, "What to do with equal actions: take the first, or one at random."] = "first"

    needs: ClassVar[tuple[type, ...]] = (OptimismNeeds,)

    def check(self, belief: OptimismNeeds) -> None:
        """Raise an error if V_max is not finite, or if theory prescribes no finite number."""
        best_value("MBIEEB", belief, self.r_max)
        self._beta(belief)

    def start(self) -> MBIEPlan | None:
        """No plan yet."""
        return None

    def plan(
        self,
        belief: OptimismNeeds,
        observation: int,
        memory: MBIEPlan | None,
        rng: Generator,
        last: Transition | None = None,
    ) -> Decision:
        """Solve the mean model with the bonus and act greedily."""
        s = state_in("MBIEEB", belief, observation)
        visits = count_visits(None if memory is None else memory.visits, belief, last)
        n = visits_of_pairs(visits, belief)
        if memory is None or belief.gamma == 1.0:  # with discount 1 the longest episode is learnt
            worth = best_value("MBIEEB", belief, self.r_max)
        else:
            worth = memory.worth
        bonus = self._beta(belief) / np.sqrt(np.maximum(n, 1.0))
        q, values = optimistic_q(belief, n == 0.0, worth, bonus, None if memory is None else memory.values)
        return Decision(best_action(q[s], self.ties, rng, sizes(q)), MBIEPlan(values, visits, worth), {"q": q[s]})

    def _beta(self, belief: OptimismNeeds) -> float:
        if self.beta != THEORY:
            return float(self.beta)
        low, high = finite_reward_range("MBIEEB", belief)
        return mbie_eb_beta(belief.n_states, belief.n_actions, belief.gamma, reward_range=high - low)
