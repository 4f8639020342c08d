"""Logistic bandits: clicks with log-odds linear in known features with unknown weights (survey §3.3).

Chapelle and Li (2011) compared exploration strategies in such a world; theirs came from advertising logs that are not
public. Here there are 20 contexts, each with its own features of the 10 arms, spread evenly over [-1, 1]^5 / sqrt(5);
weights are drawn from N(0, 9 I) for each world.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, ClassVar

import numpy as np
from numpy.random import Generator
from scipy import special

from bayesrl._explained import explain_failures
from bayesrl.beliefs.arms.logistic_arms import LogisticArms
from bayesrl.checks import generator
from bayesrl.parameters import DISCOUNT, Above, AtLeast, value
from bayesrl.registry import register
from bayesrl.worlds.bandits._arms import ArmsFamily, shape_of
from bayesrl.worlds.bandits._contextual import GAUSSIAN, ContextualBandit, spread_features
from bayesrl.worlds.settings import Setting


@explain_failures
@value
class LogisticFamily(ArmsFamily):
    """Logistic bandits whose weights are drawn from a Gaussian.

    Examples
    --------
    >>> LogisticFamily(arms=3, d=2, contexts=4).draw(np.random.default_rng(0)).means.shape
    (4, 3)
    """

    arms: Annotated[int, AtLeast(1), "Number of arms, K."] = 10
    d: Annotated[int, AtLeast(1), "Number of features."] = 5
    contexts: Annotated[int, AtLeast(1), "Kinds of contexts, C."] = 20
    scale: Annotated[float, Above(0), "Standard deviation of a weight."] = 3.0
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0
    replicates: Annotated[int | None, AtLeast(1), "Number of worlds in lockstep that a draw holds; None: one."] = None
    setting: Annotated[Setting, "How the family is usually run."] = field(default=GAUSSIAN, repr=False)

    registered: ClassVar[str] = "logistic"

    def draw(self, rng: Generator) -> ContextualBandit:
        """A world of this family, or as many in lockstep as there are replicates."""
        weights = self.scale * generator(self.registered, rng).standard_normal(shape_of(self.d, self.replicates))
        features = spread_features(self.contexts, self.arms, self.d)
        means = special.expit(np.einsum("ckd,...d->...ck", features, weights))
        return ContextualBandit(means, None, self.default_prior(), self.registered, self.gamma, self.setting)

    def default_prior(self) -> LogisticArms:
        """Chapelle and Li's belief about the weights, starting from their distribution; features are known."""
        features = spread_features(self.contexts, self.arms, self.d)
        return LogisticArms.isotropic(self.d, self.scale**-2, features, self.gamma)


@register(
    "logistic",
    kind="family",
    survey="3.3",
    paper="Chapelle11EE",
    evidence=("tests/worlds/bandits/test_worlds.py::test_contextual_families_draw_what_they_say",),
)
def logistic(
    arms: Annotated[int, AtLeast(1), "Number of arms, K."] = 10,
    d: Annotated[int, AtLeast(1), "Number of features."] = 5,
    contexts: Annotated[int, AtLeast(1), "Kinds of contexts, C."] = 20,
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0,
) -> LogisticFamily:
    """Logistic bandits: clicks with log-odds linear in known features, weights drawn from N(0, 9 I).

    Examples
    --------
    >>> world = logistic().draw(np.random.default_rng(0))
    >>> world.n_contexts, world.n_actions
    (20, 10)
    """
    return LogisticFamily(arms, d, contexts, gamma=gamma)
