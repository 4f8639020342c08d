"""The common parts of agents that draw models from a belief, solve them, and ask an oracle which of them is right.

The models are drawn from a belief over hyper-states, which learns from all observations. A drawn model is therefore
weighted by the answers of the past only. After that, observations and answers both change its weight.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.random import Generator
from scipy import special

from bayesrl.bapomdp._models import model_values, solved
from bayesrl.beliefs.pomdp.bapomdp_particle import ParticleBAPOMDP
from bayesrl.beliefs.pomdp.finite_pomdps import FinitePOMDPs
from bayesrl.checks import Floats, Ints
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence
from bayesrl.kernels.ties import greedy
from bayesrl.models.pomdp import NOTHING
from bayesrl.models.pomdp_solvers.alpha_vectors import AlphaVectors


class Answer(NamedTuple):
    """A question to an oracle, and its answer."""

    asked: int
    """The action that was asked about; NOTHING if the best action was asked for."""
    said: int
    """The best action; or 1 for yes and 0 for no."""


class Drawn(NamedTuple):
    """Models that were drawn together."""

    belief: FinitePOMDPs
    """The models with their filters and weights."""
    solutions: tuple[AlphaVectors, ...]
    """Their solutions."""
    age: int = 0
    """Steps since they were drawn."""

    def q(self) -> Floats:
        """Q_i(b_i, a), shape (N, A)."""
        return model_values(self.belief, self.solutions)

    def best(self) -> Ints:
        """Each model's own best action, (N,); of equal actions the first."""
        return greedy(self.q())


class Asking(NamedTuple):
    """The mind of an agent that asks."""

    learned: ParticleBAPOMDP
    """The posterior of model and state after all observations. Models are drawn from it."""
    past: tuple[Transition | Answer, ...] = ()
    """All steps and answers. They are replayed for models that are drawn."""
    drawn: Drawn | None = None
    """The present models; None before the first decision."""
    chosen: int = NOTHING
    """The action that the oracle has chosen, to be taken next."""
    refused: tuple[int, ...] = ()
    """Actions to which it has said no since the last step."""


class Asks(Protocol):
    """An agent that draws models and asks about them."""

    @property
    def models(self) -> int:
        """Number of models drawn."""

    @property
    def size(self) -> int:
        """Beliefs of a solution."""

    @property
    def renew(self) -> int:
        """Steps until models are drawn anew."""

    def likelihood(self, best: Ints, answer: Answer) -> Floats:
        """The probability of an answer under models with these best actions, (N,)."""


def present_models(agent: Asks, mind: Asking, rng: Generator) -> Drawn:
    """The models of this decision: new ones every `renew` steps, but not between a no and the next question."""
    if mind.drawn is None or (mind.drawn.age >= agent.renew and not mind.refused):
        return draw_models(agent, mind, rng)
    return mind.drawn


def draw_models(agent: Asks, mind: Asking, rng: Generator) -> Drawn:
    """New models: drawn, solved, taken through the past, and weighted by the past answers."""
    start = mind.learned.restart().states()
    models = [mind.learned.sample_pomdp(rng).starting(start) for _ in range(agent.models)]
    solutions = solved(models, agent.size, rng)
    belief, log_answers = FinitePOMDPs(tuple(models)), np.zeros(agent.models)
    for event in mind.past:
        if isinstance(event, Answer):
            with np.errstate(divide="ignore"):
                log_answers += np.log(agent.likelihood(Drawn(belief, solutions).best(), event))
        else:
            belief = belief.update(event)
            belief = belief.restart() if event.ends_episode else belief
    log_answers[belief.log_joint == -np.inf] = -np.inf
    if log_answers.max() == -np.inf:
        raise ImpossibleEvidence(type(agent).__name__, "the past", "no drawn model can give all answers")
    return Drawn(belief.reweighted(special.softmax(log_answers)), solutions)


def after_step(mind: Asking, datum: Transition, rng: Generator) -> Asking:
    """The mind after a step that was no question."""
    learned, drawn = mind.learned.update(datum, rng), mind.drawn
    belief = None if drawn is None else drawn.belief.update(datum)
    if datum.ends_episode:
        learned, belief = learned.restart(), None if belief is None else belief.restart()
    if drawn is not None and belief is not None:
        drawn = Drawn(belief, drawn.solutions, drawn.age + 1)
    return Asking(learned, (*mind.past, datum), drawn)


def after_reply(
    mind: Asking, drawn: Drawn, weights: Floats, answer: Answer, chosen: int, refused: tuple[int, ...] = ()
) -> Asking:
    """The mind after an answer, which gave the models these weights."""
    drawn = drawn._replace(belief=drawn.belief.reweighted(weights))
    return Asking(mind.learned, (*mind.past, answer), drawn, chosen, refused)
