"""The posterior of one reward given the pairs of several trajectories, and Langevin steps on it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl.beliefs.rewards._several import SeveralExperts
from bayesrl.beliefs.rewards.demonstrations import log_softmax
from bayesrl.beliefs.rewards.langevin import langevin
from bayesrl.capabilities import RewardPrior
from bayesrl.checks import Floats
from bayesrl.kernels.ties import greedy
from bayesrl.models.solution import Solution


class Fit(NamedTuple):
    """A reward, and how probable it makes the trajectories."""

    weights: Floats
    """(d,)."""
    solution: Solution
    log_p: Floats
    """Log probability of each action, (S A,)."""
    log_l: Floats
    """Log likelihood of each trajectory, (N,)."""


def fit(belief: SeveralExperts, w: Floats) -> Fit:
    """Solve a reward."""
    solution = belief.rewards.solve(w)
    log_p = log_softmax(solution.q, belief.rationality).ravel()
    return Fit(w, solution, log_p, belief.taken @ log_p)


class Target:
    """The log posterior of a reward, up to a constant, and its gradient. It keeps what it solved last."""

    def __init__(
        self, belief: SeveralExperts, reward_prior: RewardPrior, taken: Floats, now: Fit | None = None
    ) -> None:
        self.belief, self.reward_prior, self.taken = belief, reward_prior, taken
        self.solved: list[Fit] = [] if now is None else [now]
        self.slopes: list[tuple[Fit, Floats]] = []

    @property
    def now(self) -> Fit:
        """Where `walk` stands."""
        return self.solved[0]

    def fit(self, w: Floats) -> Fit:
        """The solution of a reward."""
        for one in self.solved:
            if one.weights is w or np.array_equal(one.weights, w):
                return one
        self.solved = [*self.solved[:1], fit(self.belief, w)]
        return self.solved[-1]

    def log_posterior(self, weights: ArrayLike) -> float:
        """Log of prior times likelihood of weights (d,); it is not normalised."""
        w = self.belief.rewards.weights("Target.log_posterior", weights)
        prior = float(self.reward_prior.log_density(w))
        return prior if prior == -np.inf else prior + float(self.taken @ self.fit(w).log_p)

    def gradient(self, weights: ArrayLike) -> Floats:
        """Its gradient, (d,); a subgradient where several policies are optimal."""
        w = self.belief.rewards.weights("Target.gradient", weights)
        found, c = self.fit(w), self.belief.rationality
        for one, slope in self.slopes:
            if one is found:
                return slope
        n = self.taken.reshape(found.solution.q.shape)
        y = c * (n - n.sum(axis=1, keepdims=True) * np.exp(found.log_p.reshape(n.shape)))
        policy = greedy(found.solution.q)
        slope = np.asarray(self.reward_prior.gradient(w) + self.belief.rewards.adjoint(policy, y))
        self.slopes = [*(kept for kept in self.slopes if kept[0] is self.solved[0]), (found, slope)]
        return slope

    def walk(self, step: float, moves: int, rng: Generator) -> int:
        """Make Langevin steps from `now`, which moves; returns how many were accepted."""
        accepted = 0
        for _ in range(moves):
            new, log_ratio = langevin(self, self.now.weights, step, rng.standard_normal(len(self.now.weights)))
            if np.log(rng.random()) < log_ratio:
                self.solved = [self.fit(new)]
                accepted += 1
        return accepted
