"""POT, probably optimistic transitions (Kawaguchi and Araya 2013; survey §4.6).

BOLT imagines that all of the next eta transitions from (s, a) lead to the best next state, which is unlikely. POT
limits their number by an upper confidence bound on the share of sigma,

    eta(s, a, sigma) = eta min(1, E[P(sigma|s, a)] + beta sd[P(sigma|s, a)]),

from the present estimate of the transition and the posterior's deviation. POT is greedier than BOLT, and its optimism
shrinks as the posterior becomes more certain. A prior that gives good transitions almost no probability misleads the
method.

Paper to code: the bound is `probable_share`; the rest is BOLT's (`imagined_model`, `extended_q`), discount 1 too.
Deviations: we did not have the paper. The survey says that eta is set online for each state and action, like an upper
confidence bound, from the estimate of the transition and its variance, and that beta controls it. The formula above is
our reading, with BOLT's eta kept as the number of coming transitions.
If rewards are unknown, eta times the same upper bound on the share of the largest reward gives the number of
pseudo-observations of it; rewards without a largest value are taken at their means. Ties go to the first action.
Cost: as BOLT. Claims: equal to the listed extended MDP; between the mean model's values and BOLT's, equal to BOLT's for
large beta; values at a point belief.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.random import Generator

from bayesrl.bamdp._checks import state_in
from bayesrl.bamdp.optimism.bolt import PlansWithImagined, imagined_model
from bayesrl.capabilities import CountsPairs, HasOptimisticRewards, HasRowVariance
from bayesrl.checks import Floats
from bayesrl.core import Decision, Transition
from bayesrl.facets import Differs, Facets
from bayesrl.parameters import AtLeast, declared
from bayesrl.registry import register


@runtime_checkable
class BoundsBestRewards(Protocol):
    """A belief that bounds how probable the largest reward is."""

    def best_reward_share(self, deviations: float) -> Floats:
        """Mean plus `deviations` standard deviations of the probability of the largest reward in each cell, at most 1.

        If rewards are known, or have no largest value, this is an array with the single entry 1.
        """


class POTNeeds(HasOptimisticRewards, BoundsBestRewards, CountsPairs, HasRowVariance, Protocol):
    """A belief for POT."""


@register(
    "pot",
    kind="planner",
    survey="4.6",
    paper="kawaguchi13",
    example=lambda: POT(),
    facets=Facets(
        depth="N/A",
        actions="A x S",
        successors="all s'",
        posterior="create at most eta per step",
        solution="Q solved by DP",
        guarantee=Differs(
            "PAC for a weaker criterion",
            here="not known",
            why="The survey's bound is for the paper's formula, which we did not have; ours is a reading.",
        ),
    ),
    reading="The survey's account of POT only; the formula of eta(s, a, sigma) is ours.",
    evidence=(
        "tests/bamdp/optimism/test_optimism.py::test_pot_equals_the_listed_extended_mdp",
        "tests/bamdp/optimism/test_optimism.py::test_pot_lies_between_the_mean_model_and_bolt",
        "tests/bamdp/test_planners.py::test_point_belief_gives_solved_values",
        "tests/bamdp/test_undiscounted.py::test_bolt_and_pot_are_the_enumerated_extended_mdp",
    ),
)
@declared
class POT(PlansWithImagined):
    """Act greedily on the mean model with as many imagined transitions as are probable.

    With discount 1 and no depth it plans until the end of the episode; every policy of the mean model must end.

    Examples
    --------
    >>> import bayesrl as b
    >>> world = b.make_world("chain")
    >>> agent = b.BayesAgent(b.DirichletMDP.flat(world), POT(beta=2.0))
    >>> print(b.run(agent, world, steps=100, seed=0).total)
    156.0
    """

    beta: Annotated[float, AtLeast(0), "Standard deviations above the mean that count as probable."] = 1.0
    eta: Annotated[
        float | Literal["theory"],
        AtLeast(0),
        'Transitions to come from a (s, a), BOLT\'s eta; "theory" for H (`depth`, or the effective horizon).',
    ] = 10.0

    needs: ClassVar[tuple[type, ...]] = (POTNeeds,)

    def plan(
        self, belief: POTNeeds, observation: int, memory: Floats | None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Solve the extended MDP and act greedily."""
        s, eta = state_in("POT", belief, observation), self._imagined(self.eta, belief.gamma)
        extra = eta * belief.best_reward_share(self.beta)
        return self._decide(imagined_model(belief, eta * probable_share(belief, self.beta), extra), s, memory, rng)


def probable_share(belief: POTNeeds, beta: float) -> Floats:
    """An upper bound on the share of each outcome, (G, K): mean plus beta standard deviations, at most 1."""
    above = belief.mean_mdp().prob + beta * np.sqrt(belief.row_variance())
    return np.asarray(np.minimum(1.0, above))
