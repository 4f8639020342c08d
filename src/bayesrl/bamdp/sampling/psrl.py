"""Posterior sampling for reinforcement learning (Osband, Russo, Van Roy 2013; survey §4.4).

At the start of each episode the agent draws a model from the belief, solves it, and follows its optimal policy until
the episode ends.

If episodes last a known number of steps tau (`horizon`), the drawn model's finite-horizon problem is solved, and the
policy depends on the step within the episode, as in the paper. A world that does not end its episodes is then cut into
stretches of tau steps. Without `horizon` the policy is the stationary one at the belief's discount gamma. If such a
problem has no terminal states, its episodes have geometric lengths: each step is the last with probability 1 - gamma,
which is the meaning of a discount.

Deviations: the stationary form is not in the paper. Cost: one solve per episode. Claims: values at a point belief
equal the solved values; one model per episode; the Bayesian regret of the paper's theorem is `psrl_bound`.
"""

from __future__ import annotations

from math import log, sqrt
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.bamdp._checks import draws_must_end, state_in
from bayesrl.bamdp.optimism.pac_bounds import checked
from bayesrl.bamdp.sampling.merged_models import SamplesListedMDPs
from bayesrl.checks import Floats
from bayesrl.core import Decision, Transition
from bayesrl.facets import Facets
from bayesrl.kernels.ties import first_best, size
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.solve import finite_horizon, solve
from bayesrl.parameters import AtLeast, declared
from bayesrl.registry import register


class PSRLPlan(NamedTuple):
    """Action values of the episode's model, (tau, S, A) or (1, S, A), their size, and the step within the episode."""

    q: Floats
    size: float
    step: int


@register(
    "psrl",
    kind="planner",
    survey="4.4",
    paper="osband13",
    example=lambda: PSRL(),
    facets=Facets(
        depth="N/A",
        actions="all a",
        successors="all s'",
        posterior="sample 1 per episode",
        solution="Q solved by DP",
        guarantee="bounded expected regret",
    ),
    evidence=(
        "tests/bamdp/test_planners.py::test_point_belief_gives_solved_values",
        "tests/bamdp/test_planners.py::test_psrl_draws_one_model_per_episode",
        "tests/bamdp/test_planners.py::test_sampled_action_has_its_posterior_probability",
    ),
)
@declared
class PSRL:
    """Draw a model at the start of each episode and follow its optimal policy.

    Examples
    --------
    >>> import bayesrl as b
    >>> world = b.make_world("chain")
    >>> agent = b.BayesAgent(b.DirichletMDP.flat(world), PSRL())
    >>> print(b.run(agent, world, steps=100, seed=0).total)
    230.0
    """

    horizon: Annotated[
        int | None, AtLeast(1), "Steps of an episode, tau; None for the stationary policy at the belief's discount."
    ] = None

    needs: ClassVar[tuple[type, ...]] = (SamplesListedMDPs,)

    def check(self, belief: SamplesListedMDPs) -> None:
        """Raise an error if returns may be infinite: no horizon, discount 1, and models whose episodes need not end."""
        if self.horizon is None:
            draws_must_end("PSRL", belief)

    def start(self) -> PSRLPlan | None:
        """No model yet."""
        return None

    def plan(
        self,
        belief: SamplesListedMDPs,
        observation: int,
        memory: PSRLPlan | None,
        rng: Generator,
        last: Transition | None = None,
    ) -> Decision:
        """Follow the episode's policy; at the start of an episode draw a new model."""
        s = state_in("PSRL", belief, observation)
        over = last is not None and last.ends_episode
        if self.horizon is None and not belief.outcomes.terminal.any():
            over |= bool(rng.random() < 1.0 - belief.gamma)
        if memory is None or over or memory.step == self.horizon:
            model = belief.sample_mdp(rng)
            q = solve(model).q[None] if self.horizon is None else episode_q(model, self.horizon)
            memory = PSRLPlan(q, size(q.ravel()), 0)
        here = memory.q[0 if self.horizon is None else memory.step, s]
        return Decision(first_best(here, memory.size), PSRLPlan(memory.q, memory.size, memory.step + 1), {"q": here})


def episode_q(model: TabularMDP, tau: int) -> Floats:
    """Action values at each step of an episode of tau steps, (tau, S, A)."""
    to_go = finite_horizon(model, tau).values[tau - 1 :: -1]  # V with tau - 1, ..., 0 steps to go after this one
    later = (to_go @ model.matrix.T).reshape(tau, *model.group.shape)
    return np.asarray(model.mean_reward + model.gamma * later)


@checked
def psrl_bound(states: int, actions: int, horizon: int, steps: int) -> float:
    """Order of the Bayesian regret over T steps in episodes of tau: tau S sqrt(A T log(S A T))."""
    return horizon * states * sqrt(actions * steps * log(states * actions * steps))
