"""Weighted models that stand for a prior in expectations: points of a Gauss rule, or draws.

With discount 1 every policy must end in each of them. Terminal states then have empty rows, so that visits are finite.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import roots_jacobi

from bayesrl.bamdp.sampling.merged_models import SamplesListedMDPs
from bayesrl.capabilities import HasDirichletRows, ListsOutcomes, offers
from bayesrl.checks import Floats
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.solvers.proper import longest_episode, must_be_proper

FINE = 8
"""Points for each unknown from which a Gauss rule counts as exact."""


class PriorModels(NamedTuple):
    """Weighted models of a prior."""

    P: Floats  # (n, S, A, S)
    r: Floats  # (n, S, A) expected rewards
    weight: Floats  # (n,)
    first: Floats  # (S,) distribution of the first state
    gamma: float
    longest: float = 0.0  # the longest expected episode of any of them, if the discount is 1


def models_of(prior: SamplesListedMDPs, n: int, rng: Generator) -> PriorModels:
    """At most n models for expectations over the prior: a Gauss rule if n points suffice, otherwise draws."""
    if offers(prior, HasDirichletRows) and FINE ** len(free := unknowns(prior)) <= n:
        return stack(prior, *gauss_rule(prior, free, int(n ** (1.0 / max(len(free), 1)) + 1e-9)))
    return draw_models(prior, n, rng)


def draw_models(prior: SamplesListedMDPs, n: int, rng: Generator) -> PriorModels:
    """Models drawn from the prior."""
    return stack(prior, [prior.sample_mdp(rng) for _ in range(n)], np.full(n, 1.0 / n))


def stack(prior: ListsOutcomes, models: list[TabularMDP], weight: Floats) -> PriorModels:
    """The arrays of these models."""
    S, A = models[0].n_states, models[0].n_actions
    P, longest = np.array([m.matrix for m in models]).reshape(-1, S, A, S), 0.0
    if prior.gamma == 1.0:
        for m in models:
            must_be_proper("FiniteStateController", "problem", m)
        P[:, prior.outcomes.terminal] = 0.0
        longest = max(map(longest_episode, models))
    r = np.array([m.mean_reward for m in models])
    return PriorModels(P, r, weight, prior.outcomes.start, prior.gamma, longest)


def absorbing(models: PriorModels) -> Floats:
    """The probabilities (n, S, A, S) with rows of terminal states that stay, for simulation."""
    if models.gamma < 1.0:
        return models.P
    P = models.P.copy()
    for s in np.flatnonzero(~P.any(axis=(0, 2, 3))):
        P[:, s, :, s] = 1.0
    return P


def unknowns(prior: HasDirichletRows) -> list[tuple[int, int]]:
    """The cells (g, k) of free probabilities: all but the last of each unknown group."""
    size = prior.outcomes.size
    return [(int(g), k) for g in np.flatnonzero(~prior.known) for k in range(size[g] - 1)]


def gauss_rule(prior: HasDirichletRows, free: list[tuple[int, int]], n: int) -> tuple[list[TabularMDP], Floats]:
    """Gauss-Jacobi points and weights, n for each unknown; by stick breaking a Dirichlet row is a product of Betas."""
    alpha, known, last = prior.alpha, prior.known, prior.outcomes.size - 1
    rules = [roots_jacobi(n, alpha[g, k + 1 :].sum() - 1.0, alpha[g, k] - 1.0) for g, k in free]  # on [-1, 1]
    models, weights = [], []
    for index in np.ndindex(*[n] * len(free)):
        prob, weight = np.where(known[:, None], alpha, 0.0), 1.0
        prob[~known, last[~known]] = 1.0  # the last outcome holds the rest of the stick
        for (g, k), (x, w), i in zip(free, rules, index, strict=True):
            prob[g, k] = 0.5 * (1.0 + x[i]) * prob[g, last[g]]
            prob[g, last[g]] -= prob[g, k]
            weight *= w[i] / w.sum()
        models.append(TabularMDP.unchecked(prior.outcomes, prob, prior.gamma))
        weights.append(weight)
    return models, np.array(weights)
