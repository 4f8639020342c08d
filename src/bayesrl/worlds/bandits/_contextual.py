"""Contextual bandits with finitely many contexts (survey §2.1): the context is observed before the choice.

Each step draws the context uniformly. Mean rewards are a table (C, K), or (replicates, C, K) for several worlds in
lockstep. Each step draws exactly two random numbers, so methods that are compared on the same stream stay aligned.
"""

from __future__ import annotations

import dataclasses
from dataclasses import field
from typing import Annotated

import numpy as np
from numpy.random import Generator

from bayesrl._explained import explain_failures
from bayesrl.checks import Floats, Ints, frozen, generator, integer
from bayesrl.core import Belief, Transition, WorldStep
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import DISCOUNT, Above, Shape, value
from bayesrl.worlds.bandits._arms import MOST, choices_of_replicates
from bayesrl.worlds.settings import Published, Setting

OWN, GAUSSIAN = Setting("own", steps=1000), Setting("gaussian", steps=1000)
"""The default set-ups: the world's own prior, or a Gaussian prior of the weights."""


@explain_failures
@value
class ContextualBandit(Published):
    """Arms whose mean reward depends on the kind of context, paying 0 or 1 or with Gaussian noise.

    Examples
    --------
    >>> from bayesrl.beliefs import LinearGaussianArms
    >>> belief = LinearGaussianArms.isotropic(4, features=np.eye(4).reshape(2, 2, 4))
    >>> world = ContextualBandit([[0.0, 1.0], [3.0, 2.0]], noise=1.0, belief=belief)
    >>> [float(world.gap(context, 0)) for context in (0, 1)]
    [1.0, 0.0]
    """

    means: Annotated[
        Floats, Shape("(C, K), or (replicates, C, K) in lockstep"), "Mean reward of each arm in each kind of context."
    ]
    noise: Annotated[
        float | None, Above(0), "Standard deviation of rewards; None: rewards are 0 or 1, and means are probabilities."
    ]
    belief: Annotated[Belief[Transition], "The default prior of an agent."] = field(repr=False)
    name: Annotated[str, "Name of the world."] = "contextual-bandit"
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0
    setting: Annotated[Setting, "How the world is usually run."] = field(default=OWN, repr=False)

    def __post_init__(self) -> None:
        means, binary = self.means, self.noise is None
        if means.ndim not in (2, 3) or (binary and (means.min() < 0.0 or means.max() > 1.0)):
            raise InvalidArgument(self.name, "means", "of shape (contexts, arms), probabilities without noise", means)
        if self.noise is not None:
            object.__setattr__(self, "noise", float(self.noise))
        object.__setattr__(self, "gamma", float(self.gamma))

    def reset(self, rng: Generator) -> tuple[int | Ints, int | Ints]:
        """The first context, which is also what is observed."""
        context = self._context(generator(self.name, rng))
        return context, context

    def step(self, state: int | Ints, action: object, rng: Generator) -> WorldStep:
        """Play an arm in this context; the next context, the same as observed, and the reward."""
        mean = self._mean(state, action)
        generator(self.name, rng)
        reward: float | Floats
        if isinstance(mean, float):
            noise = self.noise
            reward = float(rng.random() < mean) if noise is None else mean + noise * rng.standard_normal()
        elif self.noise is None:
            reward = (rng.random(len(mean)) < mean).astype(np.float64)
        else:
            reward = mean + self.noise * rng.standard_normal(len(mean))
        context = self._context(rng)
        return WorldStep(context, context, reward)

    def batch(self, replicates: int) -> ContextualBandit:
        """The same arms in each of several replicates in lockstep."""
        n = integer(self.name, "replicates", replicates, 1, MOST // self.means.size)
        return dataclasses.replace(self, means=frozen(np.tile(self.means, (n, 1, 1))))

    def default_prior(self) -> Belief[Transition]:
        """The default prior of an agent."""
        return self.belief

    def gap(self, state: int | Ints, action: object) -> float | Floats:
        """The best arm's mean in this context minus the chosen arm's."""
        if self.means.ndim == 2:
            state = integer(self.name, "state", state, 0, self.n_contexts - 1)
        best = self.means[state] if self.means.ndim == 2 else self.means[np.arange(len(self.means)), state]
        lost: float | Floats = best.max(axis=-1) - self._mean(state, action)
        return lost

    @property
    def n_actions(self) -> int:
        """K."""
        return self.means.shape[-1]

    @property
    def n_contexts(self) -> int:
        """C."""
        return self.means.shape[-2]

    def _context(self, rng: Generator) -> int | Ints:
        if self.means.ndim == 2:
            return int(rng.integers(self.n_contexts))
        return rng.integers(self.n_contexts, size=len(self.means))

    def _mean(self, state: int | Ints, action: object) -> float | Floats:
        if self.means.ndim == 2:
            return self.means.item(
                integer(self.name, "state", state, 0, self.n_contexts - 1),
                integer(self.name, "action", action, 0, self.n_actions - 1),
            )
        n = len(self.means)
        each: Floats = self.means[np.arange(n), state, choices_of_replicates(self.name, self.n_actions, n, action)]
        return each


def spread_features(contexts: int, arms: int, d: int) -> Floats:
    """Features (C, K, d) spread evenly over the cube [-1, 1]^d / sqrt(d), equal at every call.

    The additive recurrence of the generalised golden ratio: coordinate j of point n is the fractional part of
    1/2 + n / phi^j, where phi^(d+1) = phi + 1.
    """
    phi = 2.0
    for _ in range(60):
        phi = (1.0 + phi) ** (1.0 / (d + 1.0))
    n = np.arange(1, contexts * arms + 1)[:, None]
    points = np.mod(0.5 + n * phi ** -np.arange(1.0, d + 1.0), 1.0)
    return frozen(((2.0 * points - 1.0) / np.sqrt(d)).reshape(contexts, arms, d))
