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

from bayesrl.bamdp.hyper import hyper_q
from bayesrl.checks import Floats, integer, number
from bayesrl.core import Decision, Transition
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

    needs: ClassVar[tuple[str, ...]] = ("sample_mdp", "mean_mdp", "counts", "row_variance")

    def __post_init__(self) -> None:
        integer("SBOSS", "samples", self.samples, 1)
        number("SBOSS", "delta", self.delta, 0.0)

    def start(self) -> Plan | None:
        """No models yet."""
        return None

    def plan(
        self, belief: Any, observation: int, memory: Plan | None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Follow the hyper-model's policy; draw new models when the posterior has moved."""
        now = spread(belief)
        if memory is None or moved(memory.then, now).max() > self.delta:
            models = [belief.sample_mdp(rng) for _ in range(self.samples)]
            memory = Plan(*hyper_q(models, None if memory is None else memory.values), now)
        here = memory.q[observation]
        return Decision(int(np.argmax(here)), memory, {"q": here})


def spread(belief: Any) -> Spread:
    """The posterior's moments: probabilities of outcomes, then, where they are unknown, mean rewards."""
    model = belief.mean_mdp()
    mean, variance = model.prob[model.group], belief.row_variance()[model.group]
    if hasattr(belief, "rewards"):
        paid, doubt = (x.reshape(*model.group.shape, -1) for x in (belief.rewards.mean(), belief.rewards.variance()))
        mean, variance = np.concatenate([mean, paid], axis=2), np.concatenate([variance, doubt], axis=2)
    return Spread(mean, np.sqrt(variance))


def moved(then: Spread, now: Spread) -> Floats:
    """How many standard deviations of `then` the means have moved, summed for each (s, a); what is known stays."""
    step = np.abs(now.mean - then.mean)
    known = then.deviation == 0.0
    return np.asarray(np.divide(step, then.deviation, out=np.zeros_like(step), where=~known).sum(axis=2))
