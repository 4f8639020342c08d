"""Posteriors of arms in the form that look-ahead planners read (gittins, bayes-optimal-bandit)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from bayesrl.checks import Floats


class ArmStates(NamedTuple):
    """Independent arms as bandit processes. The index of an arm is base + scale * (the index of its state)."""

    kind: Literal["bernoulli", "normal"]
    """The kind of state: the two parameters of a Beta, or n of a Gaussian N(0, 1/n) with rewards of unit noise."""
    state: Floats
    """The states, (..., K, 2) or (..., K, 1)."""
    base: Floats | float
    """Added to the index, (..., K)."""
    scale: float
    """The unit of the index."""


class ArmPosteriors(NamedTuple):
    """N posteriors of K arms with Y outcomes. Leading axes, if any, are replicates."""

    prob: Floats
    """P(the next outcome of arm a is y), (..., N, K, Y)."""
    best: Callable[[], Floats]
    """Computes P(no arm is better than arm a), (..., N, K)."""
    drawn: Callable[[], Floats]
    """Computes P(Thompson sampling plays arm a), (..., N, K). It plays the first of equally good arms."""
