"""VBRB, variance-based reward bonus (Sorg, Singh, Lewis 2010; survey §4.6).

The agent acts greedily on the mean model with a bonus for the uncertainty of the posterior, in standard deviations,

    beta_R sd[R(s, a)] + beta_P sqrt( sum_s' Var[P(s'|s, a)] ).

By Chebyshev's inequality the truth is probably below this bound, so the plan is optimistic about the true MDP. With
Dirichlet counts the bonus falls as 1/sqrt(n) (the bonus, not the sample complexity: ERRATA 17), slower than BEB's.

Paper to code: `bonus`; the Bellman equation, with the gamma and the t-1 that the survey lacks (ERRATA 6), is
`mean_model_q`; the theorem's coefficients are `vbrb_betas`.
Deviations: R(s, a) is the expectation over outcomes, so if rewards depend on s' it is uncertain although each reward is
known. Its variance is the belief's own (`reward_variance`): exact for Dirichlet rows; for other rows the covariance is
taken to be that of the Dirichlet with the same means and total variance. Ties go to the first action.
Cost: one warm-started solve per decision. Claims: variances equal the Dirichlet's, and Monte Carlo's with unknown
rewards; equal to a transcription; values at a point belief.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Protocol

import numpy as np
from numpy.random import Generator

from bayesrl.bamdp._checks import must_end, state_in
from bayesrl.bamdp._mean_model import mean_model_q
from bayesrl.bamdp._posterior import finite_reward_range
from bayesrl.bamdp.optimism.pac_bounds import THEORY, vbrb_betas
from bayesrl.beliefs.choices import Ties, best_action
from bayesrl.capabilities import HasMeanMDP, HasRewardRange, HasRewardVariance, HasRowVariance, ListsOutcomes
from bayesrl.checks import Floats
from bayesrl.core import Decision, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.facets import Facets
from bayesrl.kernels.ties import sizes
from bayesrl.parameters import AtLeast, declared
from bayesrl.registry import register


class VBRBNeeds(HasMeanMDP, ListsOutcomes, HasRowVariance, HasRewardVariance, HasRewardRange, Protocol):
    """A belief for VBRB."""


@register(
    "vbrb",
    kind="planner",
    survey="4.6",
    paper="sorg10",
    example=lambda: VBRB(),
    facets=Facets(
        depth="N/A",
        actions="all a",
        successors="all s'",
        posterior="N/A",
        solution="Q + variance bonus solved by DP",
        guarantee="PAC-MDP",
        in_survey=True,
    ),
    evidence=(
        "tests/bamdp/optimism/test_optimism.py::test_vbrb_variances_are_the_dirichlets",
        "tests/bamdp/optimism/test_optimism.py::test_vbrb_reward_variance_by_monte_carlo",
        "tests/bamdp/optimism/test_optimism.py::test_vbrb_equals_its_transcription",
        "tests/bamdp/test_planners.py::test_point_belief_gives_solved_values",
    ),
)
@declared
class VBRB:
    """Act greedily on the mean model with a bonus from the posterior's variances.

    Examples
    --------
    >>> import bayesrl as b
    >>> world = b.make_world("chain")
    >>> agent = b.BayesAgent(b.DirichletMDP.flat(world), VBRB(beta_r=1.0, beta_p=5.0))
    >>> print(b.run(agent, world, steps=100, seed=0).total)
    242.0
    """

    beta_r: Annotated[
        float | Literal["theory"],
        AtLeast(0),
        'Bonus for a standard deviation of the reward, beta_R; "theory" for the theorem\'s.',
    ] = 1.0
    beta_p: Annotated[
        float | Literal["theory"],
        AtLeast(0),
        'Bonus for the root of the summed variances of transitions, beta_P; "theory" for the theorem\'s.',
    ] = 1.0
    ties: Annotated[Ties, "What to do with equal actions: take the first, or one at random."] = "first"

    needs: ClassVar[tuple[type, ...]] = (VBRBNeeds,)

    def check(self, belief: VBRBNeeds) -> None:
        """Raise an error if the discount is 1 and the model need not end, or if the bonus is infinite."""
        self.bonus(belief)
        must_end("VBRB", belief)

    def start(self) -> Floats | None:
        """No values yet."""
        return None

    def plan(
        self, belief: VBRBNeeds, observation: int, memory: Floats | None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Solve the mean model with the bonus and act greedily."""
        s = state_in("VBRB", belief, observation)
        q, values = mean_model_q(belief, memory, self.bonus(belief))
        return Decision(best_action(q[s], self.ties, rng, sizes(q)), values, {"q": q[s]})

    def bonus(self, belief: VBRBNeeds) -> Floats:
        """The bonus of each pair, (S, A)."""
        beta_r, beta_p = self.beta_r, self.beta_p
        if THEORY in (beta_r, beta_p):
            low, high = finite_reward_range("VBRB", belief)
            betas = vbrb_betas(belief.n_states, belief.n_actions, belief.gamma, reward_range=high - low)
            beta_r, beta_p = (b if x == THEORY else x for b, x in zip(betas, (beta_r, beta_p), strict=True))
        variance_r, variance_p = variances(belief)
        if not np.isfinite(variance_r).all():
            hint = "A normal reward needs a shape above 1."
            raise InvalidArgument("VBRB", "belief", "one with finite variances of rewards", np.inf, hint)
        return float(beta_r) * np.sqrt(variance_r) + float(beta_p) * np.sqrt(variance_p)


def variances(belief: VBRBNeeds) -> tuple[Floats, Floats]:
    """(Var[R(s, a)], sum_s' Var[P(s'|s, a)]), both (S, A)."""
    rows = belief.row_variance()
    return belief.reward_variance(rows), np.asarray(rows.sum(axis=1)[belief.outcomes.group])
