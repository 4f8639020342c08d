"""The best stationary policy for a measure over percentiles, on drawn models (no paper).

The command `bayesrl risk` uses it for `cvar` and `mean`. If transitions are uncertain, no linear program over
stationary policies is known for a measure. We climb soft-max logits by L-BFGS on finitely many drawn models, with the
exact gradient. The result is a local optimum. On the models on which it was found it is never below its starts.

The return of model j has the gradient x_j(s) q_j(s, a), where x_j are the discounted visits of states under the policy
and q_j its action values. The gradient of the measure weighs the models by Psi(c_j) - Psi(c_{j-1}), the worst first.
Cost: O(n S^2 (S + A)) for each of some tens of evaluations in each ascent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import softmax

from bayesrl.capabilities import SamplesMDPs
from bayesrl.checks import Floats
from bayesrl.kernels.ties import first_best
from bayesrl.models.solvers.proper import longest_episode, must_be_proper
from bayesrl.risk.measure import Measure

INSIDE = 0.1
"""The share of the uniform policy in every start, since logits must be finite."""
ROUNDED = 1e-3
"""Probabilities below this are also tried as zero."""


class DrawnModels(NamedTuple):
    """Drawn models as arrays."""

    P: Floats
    """(n, S, A, S); with discount 1 the rows of terminal states are zero."""
    r: Floats
    """Expected rewards of pairs, (n, S, A)."""
    start: Floats
    """(S,)"""
    gamma: float
    longest: float = 0.0
    """The longest expected episode of any of them, if the discount is 1."""


def drawn(belief: SamplesMDPs, n: int, rng: Generator) -> DrawnModels:
    """Draw n models from a belief. With discount 1 their episodes must end under every policy."""
    models = [belief.sample_mdp(rng) for _ in range(n)]
    S, A = models[0].group.shape
    P, r, longest = np.array([m.matrix for m in models]).reshape(n, S, A, S), [m.mean_reward for m in models], 0.0
    if models[0].gamma == 1.0:
        for m in models:
            must_be_proper("drawn", "belief", m)
        longest = max(map(longest_episode, models))
        P[:, models[0].outcomes.terminal] = 0.0
    return DrawnModels(P, np.array(r), models[0].outcomes.start, models[0].gamma, longest)


def ascended(starts: Sequence[Floats], d: DrawnModels, measure: Measure) -> Floats:
    """The best of the starts (S, A) and of the ends of the ascents from them; the first start where no visit comes."""
    from scipy.optimize import minimize  # slow to load

    scale = float(np.ptp(d.r)) * d.longest if d.gamma == 1.0 else float(np.ptp(d.r)) / (1.0 - d.gamma)
    scale = scale or 1.0
    shape = d.r.shape[1:]

    def loss(logits: Floats) -> tuple[float, Floats]:
        mu = softmax(logits.reshape(shape), axis=1)
        worth, d_mu = worth_and_gradient(mu, d, measure)
        d_logits = mu * (d_mu - (mu * d_mu).sum(axis=1, keepdims=True))
        return -worth / scale, -d_logits.ravel() / scale

    tried = list(starts)
    for start in starts:
        first = np.log((1.0 - INSIDE) * start + INSIDE / shape[1])
        end = minimize(loss, first.ravel(), jac=True, method="L-BFGS-B", options={"ftol": 1e-11, "maxiter": 200})
        mu = softmax(end.x.reshape(shape), axis=1)
        rounded = np.where(mu < ROUNDED, 0.0, mu)
        tried += [mu, rounded / rounded.sum(axis=1, keepdims=True)]
    best = tried[first_best(np.array([worth_and_gradient(mu, d, measure)[0] for mu in tried]))]
    unreached = ~worth_and_gradient(best, d, measure)[1].any(axis=1)
    return merged(np.where(unreached[:, None], starts[0], best), d)


def merged(mu: Floats, d: DrawnModels) -> Floats:
    """The same policy (S, A) where an action takes over the probability of later ones that are equal in all models."""
    new = mu.copy()
    for a in range(1, mu.shape[1]):
        for first in range(a):
            same = (d.P[:, :, a] == d.P[:, :, first]).all(axis=(0, 2)) & (d.r[:, :, a] == d.r[:, :, first]).all(axis=0)
            new[same, first] += new[same, a]
            new[same, a] = 0.0
    return new


def worth_and_gradient(mu: Floats, d: DrawnModels, measure: Measure) -> tuple[float, Floats]:
    """The measure of the returns of a policy (S, A) over drawn models, and its gradient in the policy, (S, A)."""
    n, S = d.P.shape[:2]
    X = np.linalg.inv(np.eye(S) - d.gamma * np.einsum("nsay,sa->nsy", d.P, mu))  # (n, S, S)
    V = np.einsum("nsy,nya,ya->ns", X, d.r, mu, optimize=True)
    q = d.r + d.gamma * np.einsum("nsay,ny->nsa", d.P, V)
    returns = V @ d.start
    weight = np.empty(n)
    weight[np.argsort(returns, kind="stable")] = np.diff(measure.cumulative(np.linspace(0.0, 1.0, n + 1)))
    return float(weight @ returns), np.einsum("n,ns,nsa->sa", weight, d.start @ X, q, optimize=True)
