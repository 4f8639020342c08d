"""Capabilities that all beliefs over listed outcomes with known rewards share.

The beliefs over transition probabilities inherit these methods and override none of them. `UnknownRewards` combines
such a belief with a belief about rewards, and has the same capabilities.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from bayesrl.checks import Bools, Floats, Ints, integer
from bayesrl.models.mdp import OverOutcomes, TabularMDP
from bayesrl.models.outcomes import Outcomes


def dirichlet_predictive(counts: list[float]) -> list[float]:
    """The predictive of a Dirichlet: counts over their sum."""
    total = sum(counts)
    return [count / total for count in counts]


class Readable(Protocol):
    """A belief over listed outcomes whose rewards are known."""

    @property
    def outcomes(self) -> Outcomes:
        """The possible outcomes and their groups."""

    def counts(self) -> Floats:
        """Total count of each (s, a), (S, A)."""

    def mean_mdp(self) -> TabularMDP:
        """The model of posterior means."""

    def row_variance(self) -> Floats:
        """Posterior variance of each probability, (G, K)."""


class KnownRewards(OverOutcomes):
    """Capabilities of a `Readable` belief."""

    # Rewards ---------------------------------------------------------------------------------------------------------

    @property
    def rewards_known(self) -> bool:
        """Whether the reward of every outcome is known."""
        return True

    def reward_range(self) -> tuple[float, float]:
        """The smallest and the largest reward of an outcome, including the 0 of terminal states."""
        return self.outcomes.reward_range

    def inverse_reward_counts(self) -> Floats:
        """Zero for every pair, (S, A)."""
        return np.zeros(self.outcomes.group.shape)

    def reward_variance(self: Readable, rows: Floats | None = None) -> Floats:
        """Var[R(s, a)], (S, A). If rewards depend on the outcome, R is uncertain although every reward is known.

        A Dirichlet row with means p has covariance c (diag(p) - p p'), where c = sum Var / sum p (1 - p) = 1 / (n + 1).
        For other beliefs this form is an approximation.
        """
        return row_reward_variance(self.mean_mdp(), self.row_variance() if rows is None else rows)

    def optimistic_mdp(self: Readable, extra: Floats | float) -> TabularMDP:
        """The mean model, since no reward is unknown."""
        return self.mean_mdp()

    def best_reward_share(self, deviations: float) -> Floats:
        """An array with the single entry 1."""
        return np.ones(1)

    # Pairs -----------------------------------------------------------------------------------------------------------

    def visit_groups(self) -> Ints:
        """The group of each pair, (S, A)."""
        return self.outcomes.group

    def certain_pairs(self: Readable) -> Bools:
        """Whether each pair is known, (S, A)."""
        return np.isinf(self.counts())

    def pair_means(self: Readable) -> Floats:
        """Posterior mean of the probability of each outcome, (S, A, K)."""
        return self.outcomes.of_pairs(self.mean_mdp().prob)

    def pair_variances(self: Readable) -> Floats:
        """Posterior variance of the probability of each outcome, (S, A, K)."""
        return self.outcomes.of_pairs(self.row_variance())

    # Search ----------------------------------------------------------------------------------------------------------

    @property
    def numbered_states(self) -> int:
        """S."""
        return self.outcomes.n_states

    def encode(self, observation: Any, owner: str = "encode") -> int:
        """The observed state, which must be a listed one."""
        return integer(owner, "observation", observation, 0, self.outcomes.n_states - 1)

    def is_terminal(self, state: int) -> bool:
        """Whether a state ends the episode."""
        return bool(self.outcomes.terminal[state])


def row_reward_variance(model: TabularMDP, variance: Floats) -> Floats:
    """Var[R(s, a)] from the mean model and the variances of its rows (G, K)."""
    p, r, var = model.outcomes.of_pairs(model.prob), model.reward, model.outcomes.of_pairs(variance)
    work = 1.0 - p  # reused for all products, since new arrays would cost more than the sums
    work *= p
    total, most = var.sum(axis=2), work.sum(axis=2)
    c = np.divide(total, most, out=np.zeros(total.shape), where=most > 0.0)
    mean = np.multiply(p, r, out=work).sum(axis=2)
    work *= r
    return np.asarray(np.maximum(c * (work.sum(axis=2) - mean**2), 0.0))


def with_diagonal(covariance: Floats, variance: Floats, known: Bools | None = None) -> Floats:
    """The matrices `covariance` (G, K, K) with `variance` (G, K) on the diagonals; zero for groups that are known."""
    i = np.arange(variance.shape[1])
    covariance[:, i, i] = variance
    if known is not None:
        covariance[known] = 0.0
    return covariance
