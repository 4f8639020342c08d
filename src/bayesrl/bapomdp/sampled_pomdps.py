"""Sampled POMDPs: the choice of least Bayes risk among models drawn from a belief (Doshi and others 2008; survey §4.9).

This is `bayes-risk` without an oracle. Models are drawn from the belief and solved. Each filters its own belief over
the state, and is weighted by what it predicted. The action of least Bayes risk is done, which is the action of largest
mean value. Each model assumes that it is known, so the planner gathers information about the state, but not about the
model. It is the way to act on `infinite-pomdp`, whose models have different states.

Paper to code: BR(a) `bayes_risk`, the choice `plan`.
Deviations: models are drawn anew every `renew` steps, and when no model explains what was seen. If the belief says how
episodes start (`states()` after `restart()`), each model filters the episode from that start. Otherwise it starts from
the state that was drawn with it, and models are drawn anew after each episode.
Cost: a filter step and Q of each model for each decision; `models` solutions for each renewal.
Claims: at a known model, the values of its solution; equal to a transcription under the same random numbers.
"""

from typing import ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.random import Generator
from scipy import special

from bayesrl.bapomdp import _settings as declares
from bayesrl.bapomdp.answers import bayes_risk
from bayesrl.beliefs.pomdp.pomdp_filter import POMDPFilter
from bayesrl.capabilities import HasStates, ListsActions, Restarts, offers
from bayesrl.core import Decision, Transition
from bayesrl.errors import ImpossibleEvidence
from bayesrl.kernels.ties import first_best, sizes
from bayesrl.models.pomdp import TabularPOMDP
from bayesrl.models.pomdp_solvers.alpha_vectors import AlphaVectors
from bayesrl.models.pomdp_solvers.pbvi import PBVI
from bayesrl.parameters import declared
from bayesrl.registry import register


class SampledPOMDPsNeeds(ListsActions, Restarts, Protocol):
    """A belief for the planner."""

    def sample_pomdp(self, rng: Generator) -> TabularPOMDP:
        """A model drawn from the belief. Its `start` is certain: the state that was drawn with it."""


class DrawnPOMDP(NamedTuple):
    """One drawn model."""

    filter: POMDPFilter
    solution: AlphaVectors
    before: float
    """Log probability that it gave to what was seen before it was drawn."""


class Sampled(NamedTuple):
    """The memory of the planner."""

    models: tuple[DrawnPOMDP, ...] = ()
    episode: tuple[Transition, ...] = ()
    """The steps of this episode."""
    age: int = 0
    """Steps since the models were drawn."""


@register(
    "sampled-pomdps",
    kind="planner",
    survey="4.9",
    paper="doshi08",
    example=lambda: SampledPOMDPs(models=3, size=10),
    evidence=(
        "tests/bapomdp/test_sampled_pomdps.py::test_a_known_model_gives_its_solution",
        "tests/bapomdp/test_sampled_pomdps.py::test_equal_to_a_transcription",
    ),
)
@declared
class SampledPOMDPs:
    """Do the action of least Bayes risk among sampled and solved models.

    Examples
    --------
    >>> import bayesrl as b
    >>> world = b.make_world("tiger")
    >>> prior = b.beliefs.ParticleBAPOMDP(world.model_prior(), particles=100)
    >>> agent = b.BayesAgent(prior, SampledPOMDPs(models=5, size=20))
    >>> b.run(agent, world, steps=5, seed=0).action.tolist()
    [0, 0, 0, 0, 0]
    """

    models: declares.Models = 20
    renew: declares.Renew = 50
    size: declares.Size = 50

    needs: ClassVar[tuple[type, ...]] = (SampledPOMDPsNeeds,)

    def start(self) -> Sampled:
        """No models yet."""
        return Sampled()

    def plan(
        self,
        belief: SampledPOMDPsNeeds,
        observation: object,
        memory: "Sampled",
        rng: Generator,
        last: Transition | None = None,
    ) -> Decision:
        """The action of least Bayes risk; ties go to the first. The observation is not looked at."""
        if last is not None:
            memory = followed(memory, last)
        ended = not memory.episode and not offers(belief, HasStates)
        if not memory.models or memory.age >= self.renew or ended:
            memory = Sampled(self._drawn(belief, memory.episode, rng), memory.episode)
        q = np.array([solution.q(f.states()) for f, solution, _ in memory.models])
        w = special.softmax(np.array([f.log_evidence() - before for f, _, before in memory.models]))
        risk = bayes_risk(q, w)
        return Decision(first_best(risk, sizes(q)), memory, {"q": w @ q, "risks": risk, "weights": w})

    def _drawn(
        self, belief: SampledPOMDPsNeeds, episode: tuple[Transition, ...], rng: Generator
    ) -> tuple[DrawnPOMDP, ...]:
        """Draw and solve models. If the first state of an episode is known, each model filters the present episode."""
        begun, found = belief.restart(), []
        start = begun.states() if offers(begun, HasStates) else None
        for _ in range(self.models):
            pomdp = belief.sample_pomdp(rng)
            filter_ = POMDPFilter(pomdp if start is None else pomdp.starting(start))
            if (now := explained(filter_, () if start is None else episode)) is not None:
                found.append(DrawnPOMDP(now, PBVI(size=self.size).solve(filter_, rng), now.log_evidence()))
        if not found:
            raise ImpossibleEvidence("SampledPOMDPs", "this episode", "none of the drawn models explains it")
        return tuple(found)


def followed(memory: Sampled, last: Transition) -> Sampled:
    """The memory after a step. Models that do not explain it are dropped."""
    after = [(model, explained(model.filter, (last,))) for model in memory.models]
    models = tuple(model._replace(filter=now) for model, now in after if now is not None)
    if not last.ends_episode:
        return Sampled(models, (*memory.episode, last), memory.age + 1)
    return Sampled(tuple(m._replace(filter=m.filter.restart()) for m in models), (), memory.age + 1)


def explained(filter_: POMDPFilter, steps: tuple[Transition, ...]) -> POMDPFilter | None:
    """The filter after these steps; None if they are impossible."""
    try:
        for step in steps:
            filter_ = filter_.update(step)
    except ImpossibleEvidence:
        return None
    return filter_
