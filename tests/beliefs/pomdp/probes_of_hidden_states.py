"""Probes of beliefs over hidden states.

A truth is a model with a hidden path through it (`Path`). Data are episodes, or parts of one, as an agent sees them:
actions are chosen at random, and a belief restarts at the end of an episode.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from draws import one_of
from numpy.random import Generator

from bayesrl.beliefs.pomdp._beam import Model, Rates, broken
from bayesrl.beliefs.pomdp.bapomdp_bounded import BoundedBAPOMDP
from bayesrl.beliefs.pomdp.bapomdp_exact import ExactBAPOMDP
from bayesrl.beliefs.pomdp.bapomdp_most_probable import MostProbableBAPOMDP
from bayesrl.beliefs.pomdp.bapomdp_particle import ParticleBAPOMDP
from bayesrl.beliefs.pomdp.chains import read_only, weights
from bayesrl.beliefs.pomdp.finite_pomdps import FinitePOMDPs
from bayesrl.beliefs.pomdp.infinite_pomdp import InfinitePOMDP
from bayesrl.beliefs.pomdp.policy_prior import PolicyPrior
from bayesrl.beliefs.pomdp.pomdp_filter import POMDPFilter
from bayesrl.beliefs.pomdp.pomdp_particles import POMDPParticles
from bayesrl.capabilities import HasMeanPOMDP, Restarts, SamplesPOMDPs
from bayesrl.checks import Floats
from bayesrl.core import Belief, Transition
from bayesrl.models.pomdp import NOTHING, TabularPOMDP
from bayesrl.testing import probe_for


@dataclass
class Path:
    """A hidden state that moves. `step` draws one step after a random action, `reset` begins a new episode."""

    pomdp: TabularPOMDP
    start: Floats
    state: int

    def __post_init__(self) -> None:
        self.P, self.O, _ = self.pomdp.dense()

    def reset(self, rng: Generator) -> None:
        """Draw the first state of an episode."""
        self.state = one_of(self.start, rng)

    def step(self, rng: Generator, truncated: bool = False) -> Transition:
        """Move, and say what is seen. A terminal state is followed by a new episode."""
        s, a = self.state, int(rng.integers(self.pomdp.n_actions))
        y = one_of(self.P[s, a], rng)
        o = one_of(self.O[y, a], rng)
        ended = bool(self.pomdp.terminal[y])
        self.state = y
        if ended or truncated:
            self.reset(rng)
        return Transition(NOTHING, a, self.pomdp.reward(s, a, y, o), o, ended, truncated and not ended)


class Restarting(Belief[Transition], Restarts, Protocol):
    """A belief over a hidden state."""


class Learner(Belief[Transition], HasMeanPOMDP, SamplesPOMDPs, Protocol):
    """A belief over a hidden state that holds models."""


R = TypeVar("R", bound=Restarting)


def learn_steps(belief: R, steps: list[Transition], rng: Generator | None) -> R:
    """The belief after these steps, restarted at the ends of episodes, as an agent does."""
    for step in steps:
        belief = belief.update(step, rng)
        belief = belief.restart() if step.ends_episode else belief
    return belief


class MovingProbe(NamedTuple):
    """For filters of a known model: the truth is the state of a path, and a datum is its next step.

    The order of data matters, and the state now is no martingale. Its expectation n steps ahead is `ahead`.
    """

    approximate: bool = False
    """Whether only purity and moments are checked."""
    moving: bool = True

    def draw(self, belief: Learner, rng: Generator) -> Path:
        pomdp = belief.sample_pomdp(rng)
        return Path(pomdp, belief.restart().states(), int(pomdp.start.argmax()))

    def datum(self, belief: Learner, theta: Path, rng: Generator) -> list[Transition]:
        return [theta.step(rng)]

    def learn(self, belief: Learner, steps: list[Transition], rng: Generator | None) -> Learner:
        return learn_steps(belief, steps, rng)

    def read(self, belief: Learner, theta: Path) -> Floats:
        return np.eye(belief.n_states)[theta.state]

    def expect(self, belief: Learner) -> Floats:
        return np.asarray(belief.states())

    def ahead(self, belief: Learner, n: int) -> Floats:
        """The distribution of the state after n steps with random actions and restarts."""
        pomdp, b = belief.mean_pomdp(), belief.states()
        M = pomdp.dense()[0].mean(axis=1)
        for _ in range(n):
            b = b @ M
            b = np.where(pomdp.terminal, 0.0, b) + b[pomdp.terminal].sum() * belief.restart().states()
        return np.asarray(b)


class EpisodesProbe(NamedTuple):
    """For beliefs about an unknown model: the truth is a model, and a datum is an episode of `length` steps at most.

    The quantities are the probabilities of transitions and observations. Beliefs are exchangeable in episodes.
    """

    length: int = 2
    random: bool = False
    """Whether the belief uses rng."""
    approximate: bool = False
    """Whether only purity, concentration and moments are checked."""
    remains: float = 0.5
    """The share of the prior's error that may remain after much data."""
    data: int = 3
    """Episodes that a belief learns before its moments are checked."""
    many: int = 100
    """Episodes after which a belief has concentrated."""

    def draw(self, belief: Learner, rng: Generator) -> Path:
        pomdp = belief.sample_pomdp(rng)
        return Path(pomdp, belief.restart().states(), int(pomdp.start.argmax()))

    def datum(self, belief: Learner, theta: Path, rng: Generator) -> list[Transition]:
        theta.reset(rng)
        steps: list[Transition] = []
        while not steps or not steps[-1].ends_episode:
            steps.append(theta.step(rng, truncated=len(steps) + 1 == self.length))
        return steps

    def learn(self, belief: Learner, steps: list[Transition], rng: Generator | None) -> Learner:
        return learn_steps(belief, steps, rng)

    def read(self, belief: Learner, theta: Path) -> Floats:
        return np.concatenate([theta.P.ravel(), theta.O.ravel()])

    def readings(self, belief: Learner, n: int, rng: Generator) -> Floats:
        """Of n truths; no path is drawn."""
        models = [belief.sample_pomdp(rng).dense() for _ in range(n)]
        return np.array([np.concatenate([P.ravel(), O.ravel()]) for P, O, _ in models])

    def expect(self, belief: Learner) -> Floats:
        P, O, _ = belief.mean_pomdp().dense()
        return np.concatenate([P.ravel(), O.ravel()])


class SequencesProbe:
    """For beliefs with a hierarchical Dirichlet process: the truth is a model, and a datum a sequence of two steps.

    The rest of the model is broken into states until hardly any is left. The quantities are the probabilities of the
    first observation of a sequence after each action.
    """

    approximate = True
    remains, data, many = 0.7, 3, 60

    def draw(self, belief: InfinitePOMDP | PolicyPrior, rng: Generator) -> Model:
        model: Model = belief.data.chains[rng.choice(belief.chains, p=weights(belief.data))].model
        rates = Rates(float(belief.row), float(belief.stick), float(belief.concentration))
        for _ in range(25):
            model = read_only(broken(model, rates, rng))
        return model

    def datum(self, belief: InfinitePOMDP, theta: Model, rng: Generator) -> list[Transition]:
        x, steps = one_of(theta.beta, rng), []
        for t in range(2):
            a = int(rng.integers(belief.n_actions))
            paid = float(rng.choice(np.asarray(belief.rewards), p=theta.before[x, a]))
            x = one_of(theta.moves[x, a], rng)
            o = one_of(theta.after[x, a], rng)
            steps.append(Transition(NOTHING, a, paid, o, truncated=t == 1))
        return steps

    def learn(self, belief: R, steps: list[Transition], rng: Generator | None) -> R:
        return learn_steps(belief, steps, rng)

    def read(self, belief: InfinitePOMDP, theta: Model) -> Floats:
        return np.array([theta.beta @ theta.moves[:, a] @ theta.after[:, a] for a in range(belief.n_actions)])

    def expect(self, belief: InfinitePOMDP) -> Floats:
        begun = belief.restart()
        return np.array([begun.predictive(a) for a in range(belief.n_actions)])


class ExpertProbe:
    """The same for an expert's controller. The quantities are the probabilities of the first action."""

    approximate = True
    remains, data, many = 0.7, 3, 60
    draw, learn = SequencesProbe.draw, SequencesProbe.learn

    def datum(self, belief: PolicyPrior, theta: Model, rng: Generator) -> list[Transition]:
        x, steps = one_of(theta.beta, rng), []
        for t in range(2):
            a = one_of(theta.before[x, 0], rng)
            o = int(rng.integers(belief.n_observations))
            x = one_of(theta.moves[x, o], rng)
            steps.append(Transition(NOTHING, a, 0.0, o, truncated=t == 1))
        return steps

    def read(self, belief: PolicyPrior, theta: Model) -> Floats:
        return np.asarray(theta.beta @ theta.before[:, 0])

    def expect(self, belief: PolicyPrior) -> Floats:
        return np.asarray(belief.restart().predictive())


probe_for.register(PolicyPrior, lambda belief: ExpertProbe())
probe_for.register(InfinitePOMDP, lambda belief: SequencesProbe())
probe_for.register(POMDPFilter, lambda belief: MovingProbe())
probe_for.register(POMDPParticles, lambda belief: MovingProbe(approximate=True))
probe_for.register(FinitePOMDPs, lambda belief: EpisodesProbe())
probe_for.register(ExactBAPOMDP, lambda belief: EpisodesProbe(remains=0.85))
for kind in (BoundedBAPOMDP, MostProbableBAPOMDP, ParticleBAPOMDP):  # tests/hidden checks their calibration
    probe_for.register(kind, lambda belief: EpisodesProbe(approximate=True, remains=0.85))
