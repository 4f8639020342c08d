"""Bayesian exploration bonus (Kolter and Ng 2009; survey §4.6).

The agent acts greedily on the mean model with beta / (1 + n(s, a)) added to every reward; n is the total Dirichlet
count, prior counts included. The belief is not updated inside the plan, so plain dynamic programming solves it. The
bonus falls as 1/n, faster than PAC-MDP bonuses: the method follows the Bayes-optimal policy, not necessarily the true
optimum.

Paper to code: the bonus is in `plan`, the Bellman equation is `mean_model_q`.
Deviations: the paper's problem is undiscounted over a horizon H; here the infinite-horizon problem at the belief's
discount is solved, as in the public codes (the survey's formula lacks gamma and has a misprint, ERRATA 6). In those
codes beta is an unsigned integer; here it is real. If rewards are unknown, their means are used, and the bonus is the
larger of two: that of the transitions and that of the rewards, beta / (1 + rewards seen). Ties go to the first action.
Cost: one warm-started solve per decision. Claims: totals on the double-loop (deterministic); values at a point
belief.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.random import Generator

from bayesrl.bamdp._checks import must_end, state_in
from bayesrl.bamdp._mean_model import mean_model_q
from bayesrl.bamdp._posterior import finite_reward_range
from bayesrl.bamdp.optimism.pac_bounds import THEORY, beb_beta, effective_horizon
from bayesrl.beliefs.choices import Ties, best_action
from bayesrl.capabilities import CountsPairs, HasMeanMDP, HasRewardRange
from bayesrl.checks import Floats
from bayesrl.core import Decision, Transition
from bayesrl.facets import Facets
from bayesrl.kernels.ties import sizes
from bayesrl.parameters import AtLeast, declared
from bayesrl.registry import register


@runtime_checkable
class HasInverseRewardCounts(Protocol):
    """A belief that counts the rewards that it has seen."""

    def inverse_reward_counts(self) -> Floats:
        """E[1 / (1 + n)] of each pair, (S, A); zero if rewards are known.

        Here n is the number of rewards seen with the next outcome, including prior pseudo-counts.
        """


class BEBNeeds(HasMeanMDP, CountsPairs, HasInverseRewardCounts, HasRewardRange, Protocol):
    """A belief for BEB."""


@register(
    "beb",
    kind="planner",
    survey="4.6",
    paper="kolter09",
    example=lambda: BEB(),
    facets=Facets(
        depth="N/A",
        actions="all a",
        successors="all s'",
        posterior="N/A",
        solution="Q + reward bonus solved by DP",
        guarantee="PAC-BAMDP",
        in_survey=True,
    ),
    evidence=(
        "tests/bamdp/test_figures.py::test_beb_on_the_double_loop",
        "tests/bamdp/test_planners.py::test_point_belief_gives_solved_values",
        "tests/bamdp/test_planners.py::test_beb_equals_its_transcription",
        "tests/bamdp/optimism/test_optimism.py::test_beb_explores_rewards_where_transitions_are_known",
    ),
)
@declared
class BEB:
    """Act greedily on the mean model with a bonus of beta / (1 + count).

    Examples
    --------
    >>> import bayesrl as b
    >>> world = b.make_world("chain")
    >>> agent = b.BayesAgent(b.DirichletMDP.flat(world), BEB(beta=3.0))
    >>> print(b.run(agent, world, steps=100, seed=0).total)
    152.0
    """

    beta: Annotated[
        float | Literal["theory"],
        AtLeast(0),
        'Size of the bonus; "theory" for the theorem\'s 2 H^2, times the range of the rewards.',
    ] = 1.0
    ties: Annotated[Ties, "What to do with equal actions: take the first, or one at random."] = "first"

    needs: ClassVar[tuple[type, ...]] = (BEBNeeds,)

    def check(self, belief: BEBNeeds) -> None:
        """Raise an error if the discount is 1 and the model need not end, or if theory prescribes no bonus."""
        self.size(belief)
        must_end("BEB", belief)

    def start(self) -> Floats | None:
        """No values yet."""
        return None

    def plan(
        self, belief: BEBNeeds, observation: int, memory: Floats | None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Solve the mean model with the bonus and act greedily."""
        s = state_in("BEB", belief, observation)
        size = self.size(belief)
        bonus = np.maximum(size / (1.0 + belief.counts()), size * belief.inverse_reward_counts())
        q, values = mean_model_q(belief, memory, bonus)
        return Decision(best_action(q[s], self.ties, rng, sizes(q)), values, {"q": q[s]})

    def size(self, belief: BEBNeeds) -> float:
        """beta, or what the theorem prescribes for this belief's discount and rewards."""
        if self.beta != THEORY:
            return float(self.beta)
        low, high = finite_reward_range("BEB", belief)
        return beb_beta(effective_horizon(belief.gamma), high - low)
