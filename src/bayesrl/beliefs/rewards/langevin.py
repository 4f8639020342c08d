"""Langevin steps: proposals that follow the gradient of a log posterior, with their exact Metropolis ratio.

From w the proposal is w' = w + step^2 / 2 g(w) + step eps with eps standard normal, where g is the gradient. Its
density is that of N(w + step^2 / 2 g(w), step^2 I), so that with xi = (w - w' - step^2 / 2 g(w')) / step

    log ratio = log p(w') - log p(w) + (|eps|^2 - |xi|^2) / 2.

A proposal outside the prior's box has ratio zero and is rejected. It is not moved to the box: that would change the
law. Everything is in logarithms, because likelihoods of long trajectories underflow.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from bayesrl.capabilities import require
from bayesrl.checks import Floats, array, number
from bayesrl.errors import InvalidArgument


class Differentiable(Protocol):
    """A log posterior of weights and its gradient."""

    def log_posterior(self, weights: Floats) -> float:
        """Up to a constant; minus infinity outside the box of the prior."""

    def gradient(self, weights: Floats) -> Floats:
        """(d,)."""


def langevin(belief: Differentiable, weights: ArrayLike, step: float, eps: ArrayLike) -> tuple[Floats, float]:
    """A Langevin proposal and the logarithm of its Metropolis ratio.

    Parameters
    ----------
    belief: a belief with `log_posterior(weights)` and `gradient(weights)`
    weights: array of shape (d,)
        The weights now.
    step: number greater than 0
        The standard deviation of the noise.
    eps: array of shape (d,)
        Standard normal numbers.

    Examples
    --------
    >>> import bayesrl as b
    >>> line = b.TabularMDP.from_dense([[[1, 0], [0, 1]], [[1, 0], [0, 1]]], [0.0, 0.0], gamma=0.9)
    >>> belief = b.inverse.DPMBIRL(line, reward_prior=b.inverse.GaussianPrior()).update([(0, 1), (1, 1)]).cluster([0])
    >>> proposal, log_ratio = langevin(belief, [0.0, 0.1], 0.2, [0.3, -0.5])
    >>> proposal.round(3).tolist(), round(log_ratio, 3)
    ([0.043, 0.015], -0.002)
    """
    require("langevin", belief, Differentiable)
    w, tau = (
        array("langevin", "weights", weights, (None,), moderate=True),
        number("langevin", "step", step, 0.0, above=True),
    )
    noise = array("langevin", "eps", eps, w.shape, moderate=True)
    before = belief.log_posterior(w)
    if before == -np.inf:
        raise InvalidArgument("langevin", "weights", "inside the box of the prior", weights)
    new = w + 0.5 * tau**2 * belief.gradient(w) + tau * noise
    after = belief.log_posterior(new)
    if after == -np.inf:
        return new, -np.inf
    xi = (w - new - 0.5 * tau**2 * belief.gradient(new)) / tau
    return new, float(after - before + 0.5 * (noise @ noise - xi @ xi))
