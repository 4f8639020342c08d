"""Full-bandit feedback: of several arms chosen at once, only the sum of their rewards is seen (survey §3.3).

The sum's mean is linear in the arms' means, so a Gaussian belief about the means is updated as in
linear_gaussian_arms.py with the indicator of the chosen set as features: one sum correlates the arms that made it.
The noise is that of a sum of M rewards. For zeros and ones this is an approximation (an exact one on finitely many
models is `FiniteModels(BernoulliSums(...))`).

Deviations: the Gaussian likelihood. Cost: update O(K^2), sample O(K^2). Claims: equal to linear regression on
indicators.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs._log import Log, columns
from bayesrl.beliefs.arms._arms import paid
from bayesrl.beliefs.arms.linear_gaussian_arms import LinearGaussianArms
from bayesrl.checks import Floats, integer
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.registry import register


@register(
    "full-bandit",
    kind="belief",
    survey="3.3",
    paper="Gopalan14TS",
    example=lambda: FullBandit.uniform(4, 2),
    evidence=(
        "tests/bandits/test_planners.py::test_full_bandit_is_regression_on_indicators",
        "tests/beliefs/test_laws.py::test_belief_laws",
    ),
)
@dataclass(frozen=True)
class FullBandit:
    """A Gaussian belief about single arms that learns from sums of several."""

    weights: LinearGaussianArms
    """The belief about the arms' means, one weight for each arm."""

    @classmethod
    def uniform(cls, arms: int, suggestions: int, gamma: float = 1.0) -> FullBandit:
        """Means .5 with the variance of a uniform, 1/12, and the noise of a sum of zeros and ones, M/6 on average."""
        K = integer("FullBandit.uniform", "arms", arms, 1)
        M = integer("FullBandit.uniform", "suggestions", suggestions, 1, K)
        root = np.eye(K) / np.sqrt(12.0)
        return cls(LinearGaussianArms(np.full(K, 0.5), root, float(np.sqrt(M / 6.0)), None, np.eye(K), gamma))

    def batch(self, replicates: int) -> FullBandit:
        """So many experiments side by side."""
        return dataclasses.replace(self, weights=self.weights.batch(replicates))

    def update(self, datum: Transition, rng: Generator | None = None) -> FullBandit:
        """The posterior after a set of arms and the sum of what they paid."""
        m = self.weights.mean_
        items, K = np.asarray(datum.action), m.shape[-1]
        if items.dtype.kind not in "iu" or items.shape[:-1] != m.shape[:-1] or not 0 <= items.min() <= items.max() < K:
            raise InvalidArgument("FullBandit.update", "action", f"sets of arms from 0 to {K - 1}", datum.action)
        x = np.zeros(m.shape)
        np.put_along_axis(x, items, 1.0, axis=-1)
        return FullBandit(self.weights.observe(x, paid("FullBandit.update", m.shape, datum.reward)))

    def update_many(self, log: Log) -> FullBandit:
        """The posterior after a log of sets of arms and sums."""
        new = self
        for action, reward in zip(*columns("FullBandit.update_many", log, "action", "reward"), strict=True):
            new = new.update(Transition(0, action, reward, 0))
        return new

    gamma = property(lambda self: self.weights.gamma, doc="Discount.")
    n_actions = property(lambda self: self.weights.mean_.shape[-1], doc="K, the arms to choose from.")

    def sample_means(self, context: object, rng: Generator) -> Floats:
        """Mean rewards of single arms drawn from the belief."""
        return self.weights.sample_weights(rng)

    def mean(self, context: Any = None) -> Floats:
        """Expected reward of each arm."""
        return self.weights.mean_

    def log_evidence(self) -> Floats:
        """Log density of the sums under the prior, for each replicate."""
        return self.weights.log_evidence()
