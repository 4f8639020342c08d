"""Gaussian bandits: arms that pay a mean of their own plus standard normal noise (survey chapter 3).

The family draws every arm's mean from N(0, 1). One random number is drawn for each step, whatever is played, so that
methods compared on the same stream stay aligned.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from numpy.random import Generator

from bayesrl.beliefs.arms.normal_arm import NormalArm
from bayesrl.checks import Floats, array, integer, number
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import value
from bayesrl.registry import register
from bayesrl.worlds.bandits._arms import gap, picked, shape_of, side_by_side


@value
class GaussianBandit:
    """Arms that pay their mean plus standard normal noise."""

    means: Floats
    """Mean rewards, shape (K,), or (replicates, K) in lockstep."""
    name: str = "gaussian-bandit"
    gamma: float = 1.0
    """Discount."""
    prior: str = "standard"
    """The prior an agent is given unless another is asked for."""
    steps: int = 1000
    """Length of a run unless another is asked for."""

    rewards: ClassVar[str] = "gaussian"

    def __post_init__(self) -> None:
        means = array(self.name, "means", self.means)
        if means.ndim not in (1, 2):
            raise InvalidArgument(self.name, "means", "numbers of shape (arms,)", means)
        object.__setattr__(self, "means", means)
        object.__setattr__(self, "gamma", number(self.name, "gamma", self.gamma, 0.0, 1.0))

    def reset(self, rng: Generator) -> tuple[None, int]:
        """A bandit has no state."""
        return None, 0

    def step(self, state: None, action: Any, rng: Generator) -> tuple[None, int, Any, bool]:
        """Play an arm."""
        mean = picked(self.name, self.means, action)
        return None, 0, mean + rng.standard_normal(None if self.means.ndim == 1 else len(mean)), False

    def batch(self, replicates: int) -> GaussianBandit:
        """The same arms for so many replicates."""
        return dataclasses.replace(self, means=side_by_side(self.means, replicates))

    def default_prior(self) -> NormalArm:
        """Means and noise standard normal."""
        return NormalArm.standard(self.n_actions, self.gamma)

    def gap(self, state: object, action: Any) -> Any:
        """The best arm's mean less the chosen one's."""
        return gap(self.name, self.means, action)

    @property
    def n_actions(self) -> int:
        """K."""
        return self.means.shape[-1]


@value
class GaussianFamily:
    """Gaussian bandits whose means are drawn from N(0, 1)."""

    arms: int = 10
    gamma: float = 1.0
    """Discount."""
    replicates: int | None = None
    """How many worlds a draw holds in lockstep."""
    prior: str = "standard"
    """The prior an agent is given unless another is asked for: the one worlds are drawn from."""
    steps: int = 1000
    """Length of a run unless another is asked for."""

    def __post_init__(self) -> None:
        integer("gaussian", "arms", self.arms, 1)
        object.__setattr__(self, "gamma", number("gaussian", "gamma", self.gamma, 0.0, 1.0))

    def draw(self, rng: Generator) -> GaussianBandit:
        """A world of this family, or as many in lockstep as there are replicates."""
        means = rng.standard_normal(shape_of(self.arms, self.replicates))
        return GaussianBandit(means, "gaussian", self.gamma, self.prior, self.steps)

    def batch(self, replicates: int) -> GaussianFamily:
        """The family of so many worlds in lockstep."""
        return dataclasses.replace(self, replicates=integer("gaussian", "replicates", replicates, 1))

    def default_prior(self) -> NormalArm:
        """Means and noise standard normal: the distribution that worlds are drawn from."""
        return NormalArm.standard(self.arms, self.gamma)

    @property
    def n_actions(self) -> int:
        """K."""
        return self.arms


@register(
    "gaussian",
    kind="family",
    survey="3",
    paper="Russo14IT",
    evidence=("tests/bandits/test_worlds.py::test_families_draw_what_they_say",),
)
def gaussian(arms: int = 10, gamma: float = 1.0) -> GaussianFamily:
    """Gaussian bandits whose means are drawn from N(0, 1), with noise of variance 1."""
    return GaussianFamily(arms, gamma)
