"""Contextual bandits with finitely many kinds of contexts (survey §2.1): who comes is seen before the choice.

The kind of context is drawn uniformly for each step. Mean rewards are a table (C, K), or (replicates, C, K) for that
many worlds in lockstep. Two random numbers are drawn for each step, whatever is played, so that methods compared on the
same stream stay aligned.
"""

from __future__ import annotations

import dataclasses
from dataclasses import field
from typing import Any

import numpy as np
from numpy.random import Generator

from bayesrl.checks import Floats, array, frozen, integer, number
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import value
from bayesrl.worlds.bandits._arms import one_each


@value
class ContextualBandit:
    """Arms whose mean reward depends on the kind of context, paying 0 or 1 or with Gaussian noise."""

    means: Floats
    """Mean reward of arm a in a context of kind c, shape (C, K), or (replicates, C, K) in lockstep."""
    noise: float | None
    """Standard deviation of Gaussian noise; None: rewards are 0 or 1, and means are probabilities."""
    belief: Any = field(repr=False)
    """The prior an agent is given unless another is asked for."""
    name: str = "contextual-bandit"
    gamma: float = 1.0
    """Discount."""
    prior: str = "own"
    """The name of that prior."""
    steps: int = 1000
    """Length of a run unless another is asked for."""

    def __post_init__(self) -> None:
        means = array(self.name, "means", self.means, low=-np.inf if self.noise is not None else 0.0)
        if means.ndim not in (2, 3) or (self.noise is None and means.max() > 1.0):
            raise InvalidArgument(self.name, "means", "of shape (contexts, arms), probabilities without noise", means)
        object.__setattr__(self, "means", means)
        if self.noise is not None:
            object.__setattr__(self, "noise", number(self.name, "noise", self.noise, 0.0, above=True))
        object.__setattr__(self, "gamma", number(self.name, "gamma", self.gamma, 0.0, 1.0))

    def reset(self, rng: Generator) -> tuple[Any, Any]:
        """The first context, which is also what is observed."""
        context = self._context(rng)
        return context, context

    def step(self, state: Any, action: Any, rng: Generator) -> tuple[Any, Any, Any, bool]:
        """Play an arm in this context; the next context, the same as observed, and the reward."""
        mean = self._mean(state, action)
        size = None if self.means.ndim == 2 else len(mean)
        reward: Any
        if self.noise is None:
            win = rng.random(size) < mean
            reward = float(win) if size is None else win.astype(np.float64)
        else:
            reward = mean + self.noise * rng.standard_normal(size)
        context = self._context(rng)
        return context, context, reward, False

    def batch(self, replicates: int) -> ContextualBandit:
        """The same arms for so many replicates."""
        n = integer(self.name, "replicates", replicates, 1)
        return dataclasses.replace(self, means=frozen(np.tile(self.means, (n, 1, 1))))

    def default_prior(self) -> Any:
        """The belief that fits the world."""
        return self.belief

    def gap(self, state: Any, action: Any) -> Any:
        """The best arm's mean in this context less the chosen one's."""
        best = self.means[state] if self.means.ndim == 2 else self.means[np.arange(len(self.means)), state]
        return best.max(axis=-1) - self._mean(state, action)

    @property
    def n_actions(self) -> int:
        """K."""
        return self.means.shape[-1]

    @property
    def n_contexts(self) -> int:
        """C."""
        return self.means.shape[-2]

    def _context(self, rng: Generator) -> Any:
        drawn = rng.integers(self.n_contexts, size=None if self.means.ndim == 2 else len(self.means))
        return int(drawn) if self.means.ndim == 2 else drawn

    def _mean(self, state: Any, action: Any) -> Any:
        if self.means.ndim == 2:
            return self.means.item(int(state), integer(self.name, "action", action, 0, self.n_actions - 1))
        n = len(self.means)
        return self.means[np.arange(n), state, one_each(self.name, self.n_actions, n, action)]


def spread_features(contexts: int, arms: int, d: int) -> Floats:
    """Features (C, K, d) spread evenly over the cube [-1, 1]^d / sqrt(d), the same whenever they are asked for.

    The additive recurrence of the generalised golden ratio: coordinate j of point n is the fractional part of
    1/2 + n / phi^j, where phi^(d+1) = phi + 1.
    """
    phi = 2.0
    for _ in range(60):
        phi = (1.0 + phi) ** (1.0 / (d + 1.0))
    n = np.arange(1, contexts * arms + 1)[:, None]
    points = np.mod(0.5 + n * phi ** -np.arange(1.0, d + 1.0), 1.0)
    return frozen(((2.0 * points - 1.0) / np.sqrt(d)).reshape(contexts, arms, d))
