"""Logistic bandits: clicks with log-odds linear in known features with unknown weights (survey §3.3).

The kind of world in which Chapelle and Li (2011) compared exploration strategies; theirs came from advertising logs
that are not public. Here there are 20 kinds of contexts, each with its own features for the 10 arms, spread evenly
over [-1, 1]^5 / sqrt(5); weights are drawn from N(0, 9 I) for each world.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.random import Generator
from scipy import special

from bayesrl.beliefs.arms.logistic_arms import LogisticArms
from bayesrl.checks import integer, number
from bayesrl.parameters import value
from bayesrl.registry import register
from bayesrl.worlds.bandits._contextual import ContextualBandit, spread_features


@value
class LogisticFamily:
    """Logistic bandits whose weights are drawn from a Gaussian."""

    arms: int = 10
    d: int = 5
    """Number of features."""
    contexts: int = 20
    """Kinds of contexts."""
    scale: float = 3.0
    """Standard deviation of a weight."""
    gamma: float = 1.0
    """Discount."""
    replicates: int | None = None
    """How many worlds a draw holds in lockstep."""
    prior: str = "gaussian"
    """The prior an agent is given unless another is asked for: the one worlds are drawn from."""
    steps: int = 1000
    """Length of a run unless another is asked for."""

    def __post_init__(self) -> None:
        for name in ("arms", "d", "contexts"):
            integer("logistic", name, getattr(self, name), 1)
        number("logistic", "scale", self.scale, 0.0, above=True)
        number("logistic", "gamma", self.gamma, 0.0, 1.0)

    def draw(self, rng: Generator) -> ContextualBandit:
        """A world of this family, or as many in lockstep as there are replicates."""
        features = spread_features(self.contexts, self.arms, self.d)
        size = self.d if self.replicates is None else (self.replicates, self.d)
        weights = self.scale * rng.standard_normal(size)
        means = special.expit(np.einsum("ckd,...d->...ck", features, weights))
        return ContextualBandit(means, None, self.default_prior(), "logistic", self.gamma, self.prior, self.steps)

    def batch(self, replicates: int) -> LogisticFamily:
        """The family of so many worlds in lockstep."""
        return dataclasses.replace(self, replicates=integer("logistic", "replicates", replicates, 1))

    def default_prior(self) -> LogisticArms:
        """Chapelle and Li's belief about the weights, started from their distribution, the features known."""
        features = spread_features(self.contexts, self.arms, self.d)
        return LogisticArms.prior(self.d, self.scale**-2, features, self.gamma)

    @property
    def n_actions(self) -> int:
        """K."""
        return self.arms


@register(
    "logistic",
    kind="family",
    survey="3.3",
    paper="Chapelle11EE",
    evidence=("tests/bandits/test_worlds.py::test_contextual_families_draw_what_they_say",),
)
def logistic(arms: int = 10, d: int = 5, contexts: int = 20, gamma: float = 1.0) -> LogisticFamily:
    """Logistic bandits: clicks with log-odds linear in known features, weights drawn from N(0, 9 I)."""
    return LogisticFamily(arms, d, contexts, gamma=gamma)
