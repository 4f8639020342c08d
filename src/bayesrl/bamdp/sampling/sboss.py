"""SBOSS, BOSS that draws again when the posterior has moved (after Castro and Precup 2010; survey §4.6).

The form in which public benchmarks run Castro and Precup's idea: a fixed number K of models is merged as in BOSS, and
new ones are drawn as soon as the posterior of some (s, a) has moved by more than delta since the last drawing. The
distance moved is counted in standard deviations and summed over the next states,

    sum_s' |E[P(s'|s, a)] - E_then[P(s'|s, a)]| / sd_then[P(s'|s, a)]  >  delta,

where `then` is the posterior from which the models in use were drawn. Frequent early, rare later on: a count moves a
posterior less the more of them there are.

Paper to code: the sum is `moved`, the merged model `hyper_q`.
Deviations: K is fixed, where the paper sets it for each pair from the variance (`smart_sampler.py`). Unknown rewards
are drawn with the models, and the distance that their means have moved is added to the sum.
Cost: O(|S||A| outcomes) per decision, and a solve of K |A| actions when models are drawn. Claims: equal to a
transcription under the same random numbers; the public code's return.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.bamdp._greedy import draws_must_end, state_in
from bayesrl.bamdp.sampling._hyper_model import hyper_q
from bayesrl.checks import Floats, integer, number
from bayesrl.core import Decision, Transition
from bayesrl.kernels.jit import njit
from bayesrl.registry import register


class Spread(NamedTuple):
    """Posterior mean and standard deviation of all that is unknown about each (s, a), shape (S, A, n)."""

    mean: Floats
    deviation: Floats


class Plan(NamedTuple):
    """The action values of the hyper-model in use, its values, and the posterior it was drawn from."""

    q: Floats
    values: Floats
    then: Spread


@register(
    "sboss",
    kind="planner",
    survey="4.6",
    paper="castro10",
    example=lambda: SBOSS(),
    evidence=(
        "tests/bamdp/test_boss.py::test_sboss_equals_its_transcription",
        "tests/bamdp/test_boss.py::test_unknown_rewards_move_the_posterior",
        "tests/bamdp/test_boss.py::test_returns_of_public_code",
        "tests/bamdp/test_planners.py::test_point_belief_gives_solved_values",
    ),
)
@dataclass(frozen=True, slots=True)
class SBOSS:
    """Act on the best of K sampled models in every state; draw again when the posterior has moved."""

    samples: int = 4
    """Models drawn, K."""
    delta: float = 3.0
    """Standard deviations that the posterior of a (s, a) may move before new models are drawn."""

    needs: ClassVar[tuple[str, ...]] = ("sample_mdp", "mean_mdp", "counts", "row_variance", "outcomes")

    def __post_init__(self) -> None:
        integer("SBOSS", "samples", self.samples, 1)
        number("SBOSS", "delta", self.delta, 0.0)

    def check(self, belief: Any) -> None:
        """Raise where there is neither a discount nor an end."""
        draws_must_end("SBOSS", belief)

    def start(self) -> Plan | None:
        """No models yet."""
        return None

    def plan(
        self, belief: Any, observation: int, memory: Plan | None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Follow the hyper-model's policy; draw new models when the posterior has moved."""
        s = state_in("SBOSS", belief, observation)
        if memory is None or moved(memory.then, means(belief)).max() > self.delta:
            warm = None if memory is None else memory.values
            sizes = np.full(belief.outcomes.n_groups, self.samples)
            memory = Plan(*hyper_q(belief, sizes, warm, rng), spread(belief))
        here = memory.q[s]
        return Decision(int(np.argmax(here)), memory, {"q": here})


def spread(belief: Any) -> Spread:
    """The posterior's moments, in the order of `means`."""
    variance = of_pairs(belief, belief.row_variance())
    if hasattr(belief, "rewards"):
        doubt = belief.rewards.reward_variances().reshape(*variance.shape[:2], -1)
        variance = np.concatenate([variance, doubt], axis=2)
    return Spread(means(belief), np.sqrt(variance))


def means(belief: Any) -> Floats:
    """Posterior means: probabilities of outcomes, then, where they are unknown, mean rewards."""
    mean = of_pairs(belief, belief.mean_mdp().prob)
    if hasattr(belief, "rewards"):
        mean = np.concatenate([mean, belief.rewards.mean_rewards().reshape(*mean.shape[:2], -1)], axis=2)
    return mean


def of_pairs(belief: Any, x: Floats) -> Floats:
    """A table of groups (G, K) as one of pairs (S, A, K); the same memory where that can be."""
    o = belief.outcomes
    return x.reshape(o.succ.shape) if o.is_flat else x[o.group]


def moved(then: Spread, mean: Floats) -> Floats:
    """How many standard deviations of `then` the means have moved, summed for each (s, a); what is known stays."""
    return distance(then.mean, then.deviation, mean)


@njit
def distance(then: Floats, deviation: Floats, mean: Floats) -> Floats:
    """Sums of |mean - then| / deviation over the last axis, where the deviation is not zero."""
    S, A, n = then.shape
    d = np.zeros((S, A))
    for s in range(S):
        for a in range(A):
            for k in range(n):
                if mean[s, a, k] != then[s, a, k] and deviation[s, a, k] != 0.0:
                    d[s, a] += abs(mean[s, a, k] - then[s, a, k]) / deviation[s, a, k]
    return d
