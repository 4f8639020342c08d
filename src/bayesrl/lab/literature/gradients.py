"""Gradient estimates of the Gaussian bandit, which the literature prints as tables of means and standard deviations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.random import default_rng

from bayesrl.capabilities import offers
from bayesrl.core import Family, World
from bayesrl.problems import Registered
from bayesrl.statistics import Interval, mean_interval

if TYPE_CHECKING:
    from bayesrl.worlds.continuous.bpg_bandit import BPGBandit

COMPONENTS = ("first component of the gradient", "second component of the gradient")
"""The measures, by the names of published figures: the derivatives in the mean and in the standard deviation."""
BATCHES = 400


def bandit_gradients(reward: str, paths: int, noise: float) -> dict[str, Interval]:
    """Both components of the estimate of model 1 with the exact information, over independent batches of paths.

    >>> found = bandit_gradients("a", 20, 0.0316)[COMPONENTS[0]]
    >>> round(found.mean, 3), found.n
    (1.0, 400)
    """
    from bayesrl.gradient import bpg

    rng, G = default_rng(0), np.diag([1.0, 2.0])
    made = []
    for _ in range(BATCHES):
        a = rng.standard_normal(paths)
        made.append(bpg(np.column_stack([a, a * a - 1.0]), a if reward == "a" else a * a, G, 1, noise).mean)
    return {name: mean_interval(column) for name, column in zip(COMPONENTS, np.array(made).T, strict=True)}


def gradients_of(world: World | Family, method: str, params: dict[str, Any]) -> dict[str, Interval]:
    """The same for a method of an experiment; empty unless it is model 1 on the Gaussian bandit."""
    if method != "bpg-1" or not offers(world, Registered) or world.registered != "bpg-bandit":
        return {}
    return bandit_gradients(cast("BPGBandit", world).reward, params["paths"], params["noise"])
