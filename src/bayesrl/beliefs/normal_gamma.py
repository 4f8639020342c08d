"""The normal-gamma distribution of an unknown mean mu and precision tau.

    tau ~ Gamma(alpha, rate beta),   mu | tau ~ N(mu_0, 1 / (lambda tau)).

The marginal distribution of mu is Student's t with 2 alpha degrees of freedom, centre mu_0 and scale sqrt(beta /
(lambda alpha)). All functions take numbers, or arrays of one shape with an entry for each cell.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.checks import Floats


class NormalGamma(NamedTuple):
    """The parameters of one cell, or arrays of them."""

    mean: Any  # mu_0
    strength: Any  # lambda
    shape: Any  # alpha
    rate: Any  # beta


def increments(strength: Any, delta: Any) -> NormalGamma:
    """The changes of the parameters by one observation, whose distance from the mean is `delta`."""
    step = delta / (strength + 1.0)
    return NormalGamma(step, 1.0, 0.5, 0.5 * strength * delta * step)


def scale_of_mean(cells: NormalGamma) -> Floats:
    """The scale of mu's Student t distribution."""
    return np.asarray(np.sqrt(cells.rate / (cells.shape * cells.strength)))


def variance_of_mean(cells: NormalGamma) -> Floats:
    """The variance of mu; infinite if the shape is at most 1."""
    with np.errstate(divide="ignore"):
        return np.asarray(cells.rate / (cells.strength * np.maximum(cells.shape - 1.0, 0.0)))


def sample_means(cells: NormalGamma, rng: Generator) -> Floats:
    """A draw of mu for each cell: first the precision, then the mean given the precision."""
    tau = rng.standard_gamma(cells.shape) / cells.rate
    return np.asarray(cells.mean + rng.standard_normal(cells.mean.shape) / np.sqrt(cells.strength * tau))
