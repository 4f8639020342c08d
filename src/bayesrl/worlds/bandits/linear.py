"""Linear bandits: rewards linear in known features with unknown weights, plus Gaussian noise (survey §3.3).

The set-up is that of Russo and Van Roy's linear experiments as recalled: 30 arms in 5 dimensions with features in
[-1, 1]^5 / sqrt(5), weights N(0, 10 I), noise of variance 1. The features are spread evenly instead of drawn, so they
belong to the family, and the agent knows them; weights are drawn for each world. With several contexts each context has
its own features of the arms (Agrawal and Goyal's setting).
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl._explained import explain_failures
from bayesrl.beliefs.arms.linear_gaussian_arms import LinearGaussianArms
from bayesrl.checks import generator
from bayesrl.parameters import DISCOUNT, Above, AtLeast, value
from bayesrl.registry import register
from bayesrl.worlds.bandits._arms import ArmsFamily, shape_of
from bayesrl.worlds.bandits._contextual import GAUSSIAN, ContextualBandit, spread_features
from bayesrl.worlds.settings import Setting


@explain_failures
@value
class LinearFamily(ArmsFamily):
    """Linear bandits whose weights are drawn from a Gaussian.

    Examples
    --------
    >>> LinearFamily(arms=3, d=2, contexts=4).draw(np.random.default_rng(0)).means.shape
    (4, 3)
    """

    arms: Annotated[int, AtLeast(1), "Number of arms, K."] = 30
    d: Annotated[int, AtLeast(1), "Number of features."] = 5
    contexts: Annotated[int, AtLeast(1), "Kinds of contexts, C."] = 1
    scale: Annotated[float, Above(0), "Standard deviation of a weight."] = float(np.sqrt(10.0))
    noise: Annotated[float, Above(0), "Standard deviation of a reward."] = 1.0
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0
    replicates: Annotated[int | None, AtLeast(1), "Number of worlds in lockstep that a draw holds; None: one."] = None
    setting: Annotated[Setting, "How the family is usually run."] = field(default=GAUSSIAN, repr=False)

    registered: ClassVar[str] = "linear"

    def draw(self, rng: Generator) -> ContextualBandit:
        """A world of this family, or as many in lockstep as there are replicates."""
        weights = self.scale * generator(self.registered, rng).standard_normal(shape_of(self.d, self.replicates))
        features = spread_features(self.contexts, self.arms, self.d)
        means = np.einsum("ckd,...d->...ck", features, weights)
        return ContextualBandit(means, self.noise, self.default_prior(), self.registered, self.gamma, self.setting)

    def default_prior(self) -> LinearGaussianArms:
        """The exact Gaussian belief about the weights; features are known."""
        features = spread_features(self.contexts, self.arms, self.d)
        return LinearGaussianArms.isotropic(self.d, self.scale, self.noise, features, self.gamma)


@register(
    "linear",
    kind="family",
    survey="3.3",
    paper="russo2014learning",
    evidence=("tests/worlds/bandits/test_worlds.py::test_contextual_families_draw_what_they_say",),
)
def linear(
    arms: Annotated[int, AtLeast(1), "Number of arms, K."] = 30,
    d: Annotated[int, AtLeast(1), "Number of features."] = 5,
    contexts: Annotated[int, AtLeast(1), "Kinds of contexts, C."] = 1,
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0,
) -> LinearFamily:
    """Linear bandits: rewards linear in known features, weights drawn from N(0, 10 I), noise of variance 1.

    Examples
    --------
    >>> linear(d=2).default_prior().covariance
    array([[10.,  0.],
           [ 0., 10.]])
    """
    return LinearFamily(arms, d, contexts, gamma=gamma)
