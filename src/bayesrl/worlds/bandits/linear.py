"""Linear bandits: rewards linear in known features with unknown weights, plus Gaussian noise (survey §3.3).

The set-up is that of Russo and Van Roy's linear experiments as recalled: 30 arms in 5 dimensions with features in
[-1, 1]^5 / sqrt(5), weights N(0, 10 I), noise of variance 1. The features are spread evenly instead of drawn, so that
they are part of the family, as they are part of what the agent knows; weights are drawn for each world. With
`contexts` > 1 there are so many kinds of contexts, each with its own features for the arms (Agrawal and Goyal's
setting).
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.arms.linear_gaussian_arms import LinearGaussianArms
from bayesrl.checks import integer, number
from bayesrl.parameters import value
from bayesrl.registry import register
from bayesrl.worlds.bandits._contextual import ContextualBandit, spread_features


@value
class LinearFamily:
    """Linear bandits whose weights are drawn from a Gaussian."""

    arms: int = 30
    d: int = 5
    """Number of features."""
    contexts: int = 1
    """Kinds of contexts."""
    scale: float = float(np.sqrt(10.0))
    """Standard deviation of a weight."""
    noise: float = 1.0
    """Standard deviation of a reward."""
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
            integer("linear", name, getattr(self, name), 1)
        for name in ("scale", "noise"):
            number("linear", name, getattr(self, name), 0.0, above=True)
        number("linear", "gamma", self.gamma, 0.0, 1.0)

    def draw(self, rng: Generator) -> ContextualBandit:
        """A world of this family, or as many in lockstep as there are replicates."""
        features = spread_features(self.contexts, self.arms, self.d)
        size = self.d if self.replicates is None else (self.replicates, self.d)
        weights = self.scale * rng.standard_normal(size)
        means = np.einsum("ckd,...d->...ck", features, weights)
        return ContextualBandit(means, self.noise, self.default_prior(), "linear", self.gamma, self.prior, self.steps)

    def batch(self, replicates: int) -> LinearFamily:
        """The family of so many worlds in lockstep."""
        return dataclasses.replace(self, replicates=integer("linear", "replicates", replicates, 1))

    def default_prior(self) -> LinearGaussianArms:
        """The exact Gaussian belief about the weights, the features known."""
        features = spread_features(self.contexts, self.arms, self.d)
        return LinearGaussianArms.prior(self.d, self.scale, self.noise, features, self.gamma)

    @property
    def n_actions(self) -> int:
        """K."""
        return self.arms


@register(
    "linear",
    kind="family",
    survey="3.3",
    paper="russo2014learning",
    evidence=("tests/bandits/test_worlds.py::test_contextual_families_draw_what_they_say",),
)
def linear(arms: int = 30, d: int = 5, contexts: int = 1, gamma: float = 1.0) -> LinearFamily:
    """Linear bandits: rewards linear in known features, weights drawn from N(0, 10 I), noise of variance 1."""
    return LinearFamily(arms, d, contexts, gamma=gamma)
