"""Value of information (Dearden, Friedman, Andre 1999; survey §4.4).

The agent draws models from the belief and solves them: their action values are a sample of Q*(s, a). The value of
perfect information of an action is the expected gain of learning its true value. There is a gain only if the choice
changes: the best action (a_1) turns out worse than the second (a_2), or another action better than the best,

    gain = max(E[q_{a_2}] - q, 0) for a = a_1,   max(q - E[q_{a_1}], 0) for the others,   VPI(s, a) = E[gain].

The action with the largest E[q] + VPI is taken. This is myopic: it assumes that one visit reveals an action's value.

There are two ways to keep the sample up to date. "fresh" draws and solves new models for every decision. "reweight"
keeps models and their values and multiplies the weight of each model by the probability that it gave to the transition
just seen. It draws again when the effective sample size (sum w)^2 / sum w^2 has fallen to the share `renew` of the
number of models.

Paper to code: the gains are `value_of_perfect_information` (the survey tests the second case against a_2 where it must
be a_1, and so adds losses: ERRATA 3); weights are `likelihood`.
Deviations: the paper draws again when the total weight falls below a threshold, but that weight also falls while all
models agree. Its smoothing of the sampled values and its repairs of old solutions are left out: solving is cheap here.
With unknown rewards a drawn model holds mean rewards, which give an observed reward no probability, so only "fresh" is
allowed. Ties go to the first action.
Cost: `samples` solves per decision (fresh) or per draw (reweight). Claims: VPI by hand and non-negative; equal to a
transcription under the same random numbers; both ways estimate the same expectations; values at a point belief.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, NamedTuple, Protocol

import numpy as np
from numpy.random import Generator

from bayesrl.bamdp._checks import draws_must_end, state_in
from bayesrl.bamdp.sampling.merged_models import draws_short_rows, solve_each, solve_in_turn
from bayesrl.beliefs.choices import Ties, best_action
from bayesrl.beliefs.choices import value_of_perfect_information as value_of_perfect_information
from bayesrl.capabilities import KnowsRewards, SamplesMDPs
from bayesrl.checks import Floats
from bayesrl.core import Decision, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.facets import Differs, Facets
from bayesrl.kernels.ties import better, size
from bayesrl.models.mdp import TabularMDP
from bayesrl.parameters import PROBABILITY, AtLeast, declared
from bayesrl.registry import register


class ValueOfInformationNeeds(SamplesMDPs, KnowsRewards, Protocol):
    """A belief for the planner."""


class ModelSample(NamedTuple):
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
    facets=Facets(
        depth="N/A",
        actions="information gain",
        successors="all s'",
        posterior=Differs(
            "sample K per step",
            here="sample K per step, or reweight them",
            why="With update='reweight' models of earlier steps are weighed, and drawn again when few of them count.",
        ),
        solution="Q solved by DP",
        guarantee="not known",
        in_survey=True,
    ),
    evidence=(
        "tests/bamdp/sampling/test_voi.py::test_value_of_perfect_information_by_hand",
        "tests/bamdp/sampling/test_voi.py::test_equals_its_transcription",
        "tests/bamdp/sampling/test_voi.py::test_reweighting_estimates_what_fresh_samples_do",
        "tests/bamdp/test_planners.py::test_point_belief_gives_solved_values",
    ),
)
@declared
class ValueOfInformation:
    """Act on expected value plus myopic value of perfect information, both from solved samples of models.

    Examples
    --------
    >>> import bayesrl as b
    >>> from numpy.random import default_rng
    >>> belief = b.DirichletMDP.flat(b.make_world("chain"))
    >>> decision = ValueOfInformation(samples=20).plan(belief, 0, None, default_rng(0))
    >>> decision.info["vpi"].round(1)
    array([5.6, 5.8])
    """

    samples: Annotated[int, AtLeast(1), "Models drawn, k."] = 50
    update: Annotated[
        Literal["fresh", "reweight"], "How the sample follows the belief: drawn for every decision, or reweighted."
    ] = "fresh"
    renew: Annotated[
        float, PROBABILITY, 'With "reweight": the effective share of the sample at which new models are drawn.'
    ] = 0.5
    ties: Annotated[Ties, "What to do with equal actions: take the first, or one at random."] = "first"

    needs: ClassVar[tuple[type, ...]] = (ValueOfInformationNeeds,)

    def check(self, belief: ValueOfInformationNeeds) -> None:
        """Raise an error if the discount is 1 and the model need not end, or on "reweight" with unknown rewards."""
        draws_must_end("ValueOfInformation", belief)
        if self.update == "reweight" and not belief.rewards_known:
            raise InvalidArgument("ValueOfInformation", "update", '"fresh" if rewards are unknown', self.update)

    def start(self) -> ModelSample | None:
        """No models yet."""
        return None

    def plan(
        self,
        belief: ValueOfInformationNeeds,
        observation: int,
        memory: ModelSample | None,
        rng: Generator,
        last: Transition | None = None,
    ) -> Decision:
        """Update the sample and take the action with the largest mean plus VPI."""
        self.check(belief)
        s = state_in("ValueOfInformation", belief, observation)
        warm = None if memory is None else memory.values
        kept = None if memory is None or self.update == "fresh" else self.reweight(memory, last)
        sample = self.draw(belief, warm, rng) if kept is None else kept
        q, vpi = value_of_perfect_information(sample.q[:, s], sample.weight)
        if self.update == "fresh":
            sample = sample._replace(models=())
        return Decision(best_action(q + vpi, self.ties, rng, size(sample.values)), sample, {"q": q, "vpi": vpi})

    def draw(self, belief: ValueOfInformationNeeds, warm: Floats | None, rng: Generator) -> ModelSample:
        """A new sample from the belief."""
        models: tuple[TabularMDP, ...] = ()
        draws = (belief.sample_mdp(rng) for _ in range(self.samples))
        if self.update == "fresh" and draws_short_rows(belief):  # one at a time, as they are large
            values, q = solve_in_turn(draws, warm)
        else:
            models = tuple(draws)
            values, q = solve_each(models, warm)
        return ModelSample(models, q, values.mean(axis=0), np.full(self.samples, 1.0 / self.samples))

    def reweight(self, sample: ModelSample, last: Transition | None) -> ModelSample | None:
        """The sample after a transition, or None if its effective size is too small."""
        if last is None:
            return sample
        weight = sample.weight * np.array([likelihood(m, last) for m in sample.models])
        if not better(weight.sum() ** 2, self.renew * self.samples * (weight**2).sum()):
            return None
        return sample._replace(weight=weight / weight.sum())


def likelihood(model: TabularMDP, seen: Transition) -> float:
    """Probability of the observed transition under the model."""
    s, a, r, y = seen[:4]
    alike = (model.succ[s, a] == y) & (np.abs(model.reward[s, a] - r) <= 1e-9 * (1.0 + abs(r)))
    return float(model.prob[model.group[s, a]][alike].sum())
