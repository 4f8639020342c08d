"""Value of information (Dearden, Friedman, Andre 1999; survey §4.4).

Draw models from the belief and solve them: their action values are a sample of what Q*(s, a) may be. The value of
perfect information of an action is what the agent expects to gain by learning its true value, which is something only
if that changes the choice: the best action (a_1) proves worse than the second (a_2), or another better than the best,

    gain = max(E[q_{a_2}] - q, 0) for a = a_1,   max(q - E[q_{a_1}], 0) for the others,   VPI(s, a) = E[gain].

The action with the largest E[q] + VPI is taken. Myopic: it is as if one look at an action told its value.

Two ways to keep the sample up to date. "fresh" draws and solves new models for every decision. "reweight" keeps models
and their values, multiplies each model's weight by the probability it gave to the transition just seen, and draws anew
when the weights have become too uneven: (sum w)^2 / sum w^2, the number of equally weighted models the sample is worth,
has fallen to `renew` of what it was.

Paper to code: the gains are `value_of_perfect_information` (the survey tests the second case against a_2 where it must
be a_1, and so adds losses: ERRATA 3); weights are `likelihood`.
Deviations: the paper draws anew when the total weight falls below a threshold; it falls also while all models agree.
Its smoothing of the sampled values and its ways to repair old solutions are left out: solving is cheap here. With
unknown rewards a drawn model holds mean rewards, which give a reward no probability, so only "fresh" is allowed.
Ties go to the first action.
Cost: `samples` solves per decision (fresh) or per drawing (reweight). Claims: VPI by hand and non-negative; equal to a
transcription under the same random numbers; both ways estimate the same expectations; values at a point belief.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.bamdp._greedy import TIES, best_action, draws_must_end, state_in
from bayesrl.bamdp.sampling._hyper_model import draws_lists, solve_each, solve_in_turn
from bayesrl.checks import Floats, choice, integer, number
from bayesrl.core import Decision, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.registry import register

UPDATES = ("fresh", "reweight")


class Sample(NamedTuple):
    """Models with their action values q[i, s, a], mean values to start from, and weights that sum to one."""

    models: tuple[TabularMDP, ...]
    q: Floats
    values: Floats
    weight: Floats


@register(
    "value-of-information",
    kind="planner",
    survey="4.4",
    paper="dearden99model",
    example=lambda: ValueOfInformation(samples=10),
    evidence=(
        "tests/bamdp/test_voi.py::test_value_of_perfect_information_by_hand",
        "tests/bamdp/test_voi.py::test_equals_its_transcription",
        "tests/bamdp/test_voi.py::test_reweighting_estimates_what_fresh_samples_do",
        "tests/bamdp/test_planners.py::test_point_belief_gives_solved_values",
    ),
)
@dataclass(frozen=True, slots=True)
class ValueOfInformation:
    """Act on expected value plus myopic value of perfect information, both from solved samples of models."""

    samples: int = 50
    """Models drawn, k."""
    update: str = "fresh"
    """How the sample follows the belief: "fresh", drawn for every decision, or "reweight", by importance."""
    renew: float = 0.5
    """With "reweight": the part of the sample's worth at which new models are drawn."""
    ties: str = "first"
    """What to do with equal actions: take the first, or one at random."""

    needs: ClassVar[tuple[str, ...]] = ("sample_mdp", "outcomes", "gamma")

    def __post_init__(self) -> None:
        integer("ValueOfInformation", "samples", self.samples, 1)
        choice("ValueOfInformation", "update", self.update, UPDATES)
        number("ValueOfInformation", "renew", self.renew, 0.0, 1.0)
        choice("ValueOfInformation", "ties", self.ties, TIES)

    def check(self, belief: Any) -> None:
        """Raise where there is neither a discount nor an end, or rewards are unknown and models are to be kept."""
        draws_must_end("ValueOfInformation", belief)
        if self.update == "reweight" and hasattr(belief, "rewards"):
            raise InvalidArgument("ValueOfInformation", "update", '"fresh" where rewards are unknown', self.update)

    def start(self) -> Sample | None:
        """No models yet."""
        return None

    def plan(
        self, belief: Any, observation: int, memory: Sample | None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Bring the sample up to date and weigh value against information."""
        self.check(belief)
        s = state_in("ValueOfInformation", belief, observation)
        warm = None if memory is None else memory.values
        kept = None if memory is None or self.update == "fresh" else self.reweighted(memory, last)
        sample = self.drawn(belief, warm, rng) if kept is None else kept
        q, vpi = value_of_perfect_information(sample.q[:, s], sample.weight)
        if self.update == "fresh":
            sample = sample._replace(models=())
        return Decision(best_action(q + vpi, self.ties, rng), sample, {"q": q, "vpi": vpi})

    def drawn(self, belief: Any, warm: Floats | None, rng: Generator) -> Sample:
        """A new sample from the belief."""
        models: tuple[TabularMDP, ...] = ()
        draws = (belief.sample_mdp(rng) for _ in range(self.samples))
        if self.update == "fresh" and draws_lists(belief):  # one at a time, as they are large
            values, q = solve_in_turn(draws, warm)
        else:
            models = tuple(draws)
            values, q = solve_each(models, warm)
        return Sample(models, q, values.mean(axis=0), np.full(self.samples, 1.0 / self.samples))

    def reweighted(self, sample: Sample, last: Transition | None) -> Sample | None:
        """The sample after a transition, or None if it is not worth enough any more."""
        if last is None:
            return sample
        weight = sample.weight * np.array([likelihood(m, last) for m in sample.models])
        if weight.sum() ** 2 <= self.renew * self.samples * (weight**2).sum():
            return None
        return sample._replace(weight=weight / weight.sum())


def likelihood(model: TabularMDP, seen: Transition) -> float:
    """Probability that the model gave to what was seen."""
    s, a, r, y = seen[:4]
    alike = (model.succ[s, a] == y) & (np.abs(model.reward[s, a] - r) <= 1e-9 * (1.0 + abs(r)))
    return float(model.prob[model.group[s, a]][alike].sum())


def value_of_perfect_information(q: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """(E[q_a], VPI(a)) of weighted samples of action values q[i, a]."""
    mean = weight @ q
    if len(mean) == 1:
        return mean, np.zeros(1)
    second, first = np.argsort(mean, kind="stable")[-2:]
    gain = np.maximum(q - mean[first], 0.0)
    gain[:, first] = np.maximum(mean[second] - q[:, first], 0.0)
    return mean, weight @ gain
