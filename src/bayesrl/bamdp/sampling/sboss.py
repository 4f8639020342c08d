"""SBOSS, BOSS that draws again when the posterior has moved (after Castro and Precup 2010; survey §4.6).

Public benchmarks run Castro and Precup's idea in this form: a fixed number K of models is merged as in BOSS, and new
models are drawn as soon as the posterior of some (s, a) has moved by more than delta since the last draw. The distance
is measured in standard deviations and summed over the next states,

    sum_s' |E[P(s'|s, a)] - E_then[P(s'|s, a)]| / sd_then[P(s'|s, a)]  >  delta,

where `then` is the posterior from which the models in use were drawn. New models are drawn often at first and rarely
later: the more counts there are, the less another one moves the posterior.

Paper to code: the sum is `distance_moved`, the merged model `hyper_q`.
Deviations: K is fixed; the paper sets it for each pair from the variance (`smart_sampler.py`). Unknown rewards are
drawn with the models, and the distance that their means have moved is added to the sum.
Cost: O(|S||A| outcomes) per decision, and a solve of K |A| actions when models are drawn. Claims: equal to a
transcription under the same random numbers; the public code's return.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.random import Generator

from bayesrl.bamdp._checks import draws_must_end, state_in
from bayesrl.bamdp.sampling.merged_models import SamplesListedMDPs, hyper_q
from bayesrl.capabilities import HasPairMoments
from bayesrl.checks import Floats
from bayesrl.core import Decision, Transition
from bayesrl.facets import Facets
from bayesrl.kernels.jit import njit
from bayesrl.kernels.ties import first_best, size
from bayesrl.parameters import AtLeast, declared
from bayesrl.registry import register


class SBOSSNeeds(SamplesListedMDPs, HasPairMoments, Protocol):
    """A belief for SBOSS."""


class Moments(NamedTuple):
    """Posterior mean and standard deviation of all that is unknown about each (s, a), shape (S, A, n)."""

    mean: Floats
    deviation: Floats


class SBOSSPlan(NamedTuple):
    """The action values of the hyper-model in use, its values, and the posterior it was drawn from."""

    q: Floats
    values: Floats
    then: Moments


@register(
    "sboss",
    kind="planner",
    survey="4.6",
    paper="castro10",
    example=lambda: SBOSS(),
    facets=Facets(
        depth="N/A",
        actions="A x K",
        successors="all s'",
        posterior="sample K when the posterior has moved",
        solution="Q solved by DP",
        guarantee="not known",
    ),
    evidence=(
        "tests/bamdp/sampling/test_boss.py::test_sboss_equals_its_transcription",
        "tests/bamdp/sampling/test_boss.py::test_unknown_rewards_move_the_posterior",
        "tests/bamdp/sampling/test_boss.py::test_returns_of_public_code",
        "tests/bamdp/test_planners.py::test_point_belief_gives_solved_values",
    ),
)
@declared
class SBOSS:
    """Act on the best of K sampled models in every state; draw again when the posterior has moved.

    Examples
    --------
    >>> import bayesrl as b
    >>> world = b.make_world("chain")
    >>> agent = b.BayesAgent(b.DirichletMDP.flat(world), SBOSS(samples=3))
    >>> print(b.run(agent, world, steps=100, seed=0).total)
    120.0
    """

    samples: Annotated[int, AtLeast(1), "Models drawn, K."] = 4
    delta: Annotated[
        float, AtLeast(0), "Standard deviations that the posterior of a (s, a) may move before new models are drawn."
    ] = 3.0

    needs: ClassVar[tuple[type, ...]] = (SBOSSNeeds,)

    def check(self, belief: SBOSSNeeds) -> None:
        """Raise an error if the discount is 1 and the model need not end."""
        draws_must_end("SBOSS", belief)

    def start(self) -> SBOSSPlan | None:
        """No models yet."""
        return None

    def plan(
        self,
        belief: SBOSSNeeds,
        observation: int,
        memory: SBOSSPlan | None,
        rng: Generator,
        last: Transition | None = None,
    ) -> Decision:
        """Follow the hyper-model's policy; draw new models when the posterior has moved."""
        s = state_in("SBOSS", belief, observation)
        if memory is None or distance_moved(*memory.then, belief.pair_means()).max() > self.delta:
            warm = None if memory is None else memory.values
            sizes = np.full(belief.outcomes.n_groups, self.samples)
            memory = SBOSSPlan(*hyper_q(belief, sizes, warm, rng), moments_of(belief))
        here = memory.q[s]
        return Decision(first_best(here, size(memory.values)), memory, {"q": here})


def moments_of(belief: HasPairMoments) -> Moments:
    """The moments of the present posterior."""
    return Moments(belief.pair_means(), np.sqrt(belief.pair_variances()))


@njit
def distance_moved(then: Floats, deviation: Floats, mean: Floats) -> Floats:
    """Sums of |mean - then| / deviation over the last axis, (S, A); terms with deviation zero are left out."""
    S, A, n = then.shape
    d = np.zeros((S, A))
    for s in range(S):
        for a in range(A):
            for k in range(n):
                if mean[s, a, k] != then[s, a, k] and deviation[s, a, k] != 0.0:
                    d[s, a] += abs(mean[s, a, k] - then[s, a, k]) / deviation[s, a, k]
    return d
