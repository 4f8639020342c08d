"""The common parts of beliefs about several experts, which keep the trajectories apart.

A subclass is a `@value` class with the fields `problem`, `features`, `rationality` and `trajectories`. It calls
`_begin` in `__post_init__` and says in `_after` what becomes of its chain when trajectories are added.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl.beliefs.rewards.demonstrations import log_softmax, pairs_of, trajectories_of
from bayesrl.beliefs.rewards.linear_rewards import AboutRewards, LinearRewards
from bayesrl.beliefs.rewards.reward_priors import FinitePrior
from bayesrl.checks import Floats, Ints, frozen
from bayesrl.parameters import unchecked


class SeveralExperts(AboutRewards):
    """A belief about the rewards of several experts, each of whom gave a trajectory."""

    rationality: float
    trajectories: tuple[Ints, ...]
    """The pairs (state, action) of each trajectory, each (N, 2), in the order in which they were learnt."""

    def _begin(self) -> None:
        """Check what all subclasses have, and start without trajectories."""
        rewards = LinearRewards.of(type(self).__name__, self.problem, self.features)
        made = {"problem": rewards.mdp, "rationality": float(self.rationality), "rewards": rewards, "trajectories": ()}
        for name, x in made.items():
            object.__setattr__(self, name, x)

    def _check_trajectories(self) -> None:
        if self.trajectories:
            trajectories_of(type(self).__name__, list(self.trajectories), self.problem)

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Any, rng: Generator | None = None) -> Self:
        """The belief after one more trajectory: a record, transitions, or pairs (state, action)."""
        return self._with((pairs_of(f"{type(self).__name__}.update", datum, self.problem),))

    def update_many(self, log: Any, rng: Generator | None = None) -> Self:
        """The belief after a sequence of those, one for each trajectory."""
        return self._with(trajectories_of(f"{type(self).__name__}.update_many", log, self.problem))

    def _with(self, more: tuple[Ints, ...]) -> Self:
        return unchecked(self, trajectories=(*self.trajectories, *more), **self._after(len(more)))

    def _after(self, more: int) -> dict[str, Any]:
        """The fields of the chain after `more` new trajectories."""
        raise NotImplementedError

    # Likelihood ------------------------------------------------------------------------------------------------------

    def log_likelihoods(self, weights: ArrayLike) -> Floats:
        """Log probability of each trajectory's actions given the weights of a reward (d,), (N,)."""
        w = self.rewards.weights(f"{type(self).__name__}.log_likelihoods", weights)
        return np.asarray(self.taken @ log_softmax(self.rewards.solve(w).q, self.rationality).ravel())

    @cached_property
    def taken(self) -> Floats:
        """How often each trajectory took action a in state s, (N, S A)."""
        S, A = self.problem.group.shape
        rows = [np.bincount(pairs @ [A, 1], minlength=S * A) for pairs in self.trajectories]
        return frozen(np.reshape(rows, (len(rows), S * A)).astype(np.float64))

    @property
    def n_trajectories(self) -> int:
        """N."""
        return len(self.trajectories)


def log_policies(rewards: LinearRewards, listed: FinitePrior, c: float) -> Floats:
    """Log probability of each action for each vector of a `FinitePrior`, (n, S A)."""
    return frozen(np.array([log_softmax(rewards.solve(w).q, c).ravel() for w in listed.weights]))
