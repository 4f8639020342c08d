"""Gaussian bandits: each arm pays its own mean plus standard normal noise (survey chapter 3).

The family draws every arm's mean from N(0, 1). Each step draws exactly one random number, so methods that are
compared on the same stream stay aligned.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, ClassVar

from numpy.random import Generator

from bayesrl._explained import explain_failures
from bayesrl.beliefs.arms.normal_arm import NormalArm
from bayesrl.checks import Floats, generator
from bayesrl.core import WorldStep
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import DISCOUNT, AtLeast, Shape, value
from bayesrl.registry import register
from bayesrl.worlds.bandits._arms import ArmsFamily, SingleArms, entry_of_arm, shape_of
from bayesrl.worlds.settings import Setting

STANDARD = Setting("standard", steps=1000)
"""The default set-up: the agent's prior of every mean is N(0, 1), like the distribution of worlds."""


@explain_failures
@value
class GaussianBandit(SingleArms):
    """Arms that pay their mean plus standard normal noise.

    Examples
    --------
    >>> from numpy.random import default_rng
    >>> world = GaussianBandit([0.0, 2.0])
    >>> round(world.step(None, 1, default_rng(0)).reward, 2)
    2.13
    >>> float(world.gap(None, 0))
    2.0
    """

    means: Annotated[Floats, Shape("(K,), or (replicates, K) in lockstep"), "Mean reward of each arm."]
    name: Annotated[str, "Name of the world."] = "gaussian-bandit"
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0
    setting: Annotated[Setting, "How the world is usually run."] = field(default=STANDARD, repr=False)

    rewards: ClassVar[str] = "gaussian"

    def __post_init__(self) -> None:
        if self.means.ndim not in (1, 2):
            raise InvalidArgument(self.name, "means", "numbers of shape (arms,)", self.means)
        object.__setattr__(self, "gamma", float(self.gamma))

    def step(self, state: None, action: object, rng: Generator) -> WorldStep:
        """Play an arm, or one in each replicate."""
        mean = entry_of_arm(self.name, self.means, action)
        generator(self.name, rng)
        noise = rng.standard_normal() if isinstance(mean, float) else rng.standard_normal(len(mean))
        return WorldStep(None, 0, mean + noise)

    def default_prior(self) -> NormalArm:
        """Means and noise are standard normal."""
        return NormalArm.standard(self.n_actions, self.gamma)


@explain_failures
@value
class GaussianFamily(ArmsFamily):
    """Gaussian bandits whose means are drawn from N(0, 1).

    Examples
    --------
    >>> from numpy.random import default_rng
    >>> GaussianFamily(arms=3).draw(default_rng(0)).means.round(2)
    array([ 0.13, -0.13,  0.64])
    """

    arms: Annotated[int, AtLeast(1), "Number of arms, K."] = 10
    gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0
    replicates: Annotated[int | None, AtLeast(1), "Number of worlds in lockstep that a draw holds; None: one."] = None
    setting: Annotated[Setting, "How the family is usually run."] = field(default=STANDARD, repr=False)

    registered: ClassVar[str] = "gaussian"

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", float(self.gamma))

    def draw(self, rng: Generator) -> GaussianBandit:
        """A world of this family, or as many in lockstep as there are replicates."""
        means = generator(self.registered, rng).standard_normal(shape_of(self.arms, self.replicates))
        return GaussianBandit(means, self.registered, self.gamma, self.setting)

    def default_prior(self) -> NormalArm:
        """Means and noise are standard normal: the distribution that worlds are drawn from."""
        return NormalArm.standard(self.arms, self.gamma)


@register(
    "gaussian",
    kind="family",
    survey="3",
    paper="Russo14IT",
    evidence=("tests/worlds/bandits/test_worlds.py::test_families_draw_what_they_say",),
)
def gaussian(
    arms: Annotated[int, AtLeast(1), "Number of arms, K."] = 10, gamma: Annotated[float, DISCOUNT, "Discount."] = 1.0
) -> GaussianFamily:
    """Gaussian bandits whose means are drawn from N(0, 1), with noise of variance 1.

    Examples
    --------
    >>> gaussian(arms=2).default_prior().variance()
    array([1., 1.])
    """
    return GaussianFamily(arms, gamma)
