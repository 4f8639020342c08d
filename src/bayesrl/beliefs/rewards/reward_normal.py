"""Gaussian rewards of unknown mean and variance (Strens 2000; survey §4.7, corrected).

In Strens's prior psi = 1/sigma has density psi exp(-psi^2 sigma_0^2 / 2), and the mean is N(mu_0, sigma^2). The
precision lambda = psi^2 is then Gamma(1, rate sigma_0^2 / 2), so the prior is normal-gamma with strength 1 and shape 1.
The posterior after n rewards with mean m and variance v is

    lambda ~ Gamma(1 + n/2, rate [sigma_0^2 + n v + n/(n+1) (m - mu_0)^2] / 2),
    mu ~ N((mu_0 + n m)/(n+1), sigma^2/(n+1)).

The survey's l.1220 has the wrong power of psi, omits the shift of the mean and ignores mu_0 (ERRATA 8). The form above
follows from the prior as stated.

Deviations: any strength and shape may be given; `strens` makes the paper's prior. Cost: update O(cells), a copy.
Claims: belief laws; the posterior density against quadrature of prior times likelihood.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl.beliefs.normal_gamma import NormalGamma, increments, sample_means, variance_of_mean
from bayesrl.beliefs.rewards.reward_beta import add_at, observed
from bayesrl.checks import Floats, array, generator, integer, number, sequence
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import Above, Shape, unchecked, value
from bayesrl.registry import register


@register(
    "reward-normal",
    kind="belief",
    survey="4.7",
    paper="strens00",
    example=lambda: RewardNormal(np.zeros((2, 2)), np.ones((2, 2)), np.full((2, 2), 3.0), np.full((2, 2), 2.0)),
    taken_by="beliefs.UnknownRewards, beside a belief about transitions",
    evidence=(
        "tests/beliefs/test_laws.py::test_belief_laws",
        "tests/beliefs/rewards/test_rewards.py::test_strens_posterior_matches_quadrature",
    ),
)
@value
class RewardNormal:
    """Gaussian rewards of unknown mean and variance, with a normal-gamma belief for each cell.

    Examples
    --------
    >>> belief = RewardNormal.strens((1, 1), mu0=0.0, sigma0=1.0)  # one state, one action
    >>> belief.update(((0, 0), 3.0)).mean_rewards().tolist()
    [[1.5]]
    """

    mean_: Annotated[Floats, Shape("(S, A) or (S, A, K)"), "Mean of mu."]
    strength: Annotated[Floats, Above(0), Shape("as mean_"), "Pseudo-observations behind the mean, kappa."]
    shape: Annotated[Floats, Above(0), Shape("as mean_"), "Shape of the gamma belief about the precision, a."]
    rate: Annotated[Floats, Above(0), Shape("as mean_"), "Rate of the gamma belief about the precision, b."]

    def __post_init__(self) -> None:
        for name in ("strength", "shape", "rate"):
            array("RewardNormal", name, getattr(self, name), self.mean_.shape)

    @classmethod
    def strens(cls, cells: tuple[int, ...], mu0: ArrayLike = 0.0, sigma0: ArrayLike = 1.0) -> RewardNormal:
        """The paper's prior for every cell."""
        given = {"sigma0": array("RewardNormal.strens", "sigma0", sigma0, low=0.0, above=True, moderate=True)}
        given["mu0"] = array("RewardNormal.strens", "mu0", mu0, moderate=True)
        wanted = sequence("RewardNormal.strens", "cells", cells, "a shape, such as (states, actions)")
        cells = tuple(integer("RewardNormal.strens", "cells", n, 1, 10**8) for n in wanted)
        for name, x in given.items():
            if x.shape not in ((), cells):
                raise InvalidArgument("RewardNormal.strens", name, f"a number or an array of shape {cells}", x)
        one = np.ones(cells)
        return cls(one * given["mu0"], one, one, one * given["sigma0"] ** 2 / 2.0)

    def update(self, datum: tuple[tuple[int, ...], float], rng: Generator | None = None) -> RewardNormal:
        """The posterior after a reward in a cell."""
        cell, r = observed("RewardNormal.update", datum, self.mean_.shape)
        x = number("RewardNormal.update", "reward", r)
        more = increments(self.strength[cell], x - self.mean_[cell])
        return unchecked(
            self,
            mean_=add_at(self.mean_, cell, more.mean),
            strength=add_at(self.strength, cell, more.strength),
            shape=add_at(self.shape, cell, more.shape),
            rate=add_at(self.rate, cell, more.rate),
        )

    def mean_rewards(self) -> Floats:
        """Expected reward of each cell."""
        return self.mean_

    def reward_variances(self) -> Floats:
        """Posterior variance of each cell's mean reward; infinite if the shape is at most 1."""
        return variance_of_mean(self._cells)

    def reward_counts(self) -> Floats:
        """The effective number of rewards of each cell, including the prior: kappa."""
        return self.strength

    def sample_rewards(self, rng: Generator) -> Floats:
        """Mean rewards drawn from the belief: first the precision, then the mean given the precision."""
        generator("RewardNormal.sample_rewards", rng)
        return sample_means(self._cells, rng)

    @property
    def _cells(self) -> NormalGamma:
        return NormalGamma(self.mean_, self.strength, self.shape, self.rate)
