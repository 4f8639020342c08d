"""Over simulated data the bounds fail at most as often as they say, for q chosen with the data to make them fail.

Among all q with the same KL(q, p), a Gibbs posterior q in proportion to p exp(lambda D) has the largest E_q D. So the
worst q is one of these, and a bound has failed if it fails for any of several temperatures. In 4000 data sets a bound
that fails with probability delta fails more often than `most(delta)` with probability below 1e-6. These bounds are
loose. What the tests can see: a tenth of each bound (of the l1 form a twentieth) fails too often.
"""

from functools import partial
from itertools import product
from math import log

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.stats import binom

from bayesrl.pacbayes import bandit_bound, function_approximation_bound, lemma, model_bound, value_bound

DATA = 4000
TEMPERATURES = (0.0, 0.3, 1.0, 3.0, 10.0, 1e6)
"""In units of the inverse deviation; the last puts all mass on the largest deviation."""


def most(delta):
    return binom.isf(1e-6, DATA, delta)


def failures(D, bound, prior=None):
    """In how many data sets the bound fails for some Gibbs posterior; D is (data, things)."""
    n, N = D.shape
    p, failed = np.full(N, 1.0 / N) if prior is None else prior, np.zeros(n, bool)
    for temperature in TEMPERATURES:
        f = temperature / D.std() * (D - D.max(axis=1, keepdims=True))
        q = p * np.exp(f)
        q /= q.sum(axis=1, keepdims=True)
        kl = np.where(q > 0.0, q * (np.log(np.maximum(q, 1e-300)) - np.log(p)), 0.0).sum(axis=1).clip(0.0)
        failed |= (q * D).sum(axis=1) > [bound(kl=x) for x in kl]
    return failed.sum()


def test_the_lemma_fails_rarely_where_its_tails_are_exact():
    """500 independent deviations with P(D >= e) = exp(-2 e^2). Without KL it fails in a quarter of the data sets."""
    D = np.sqrt(default_rng(0).exponential(0.5, (DATA, 500)))
    bound = partial(lemma, constant=1.0, exponent=2.0, delta=0.05)
    assert failures(D, bound) <= most(0.05)
    assert failures(D, lambda kl: bound(kl=0.0)) > 0.2 * DATA  # the divergence is needed


# One small problem: two states, three actions, rewards of pairs known -------------------------------------------------

S, A, GAMMA = 2, 3, 0.5
P = np.array([[0.5, 0.3, 0.7], [0.4, 0.6, 0.5]])
"""The probability of state 0 after each pair."""
R = np.array([[1.0, 0.9, 0.8], [0.0, 0.1, 0.2]])
POLICIES = list(product(range(A), repeat=S))


def values(p, policy):
    """V in models with these probabilities (..., S, A)."""
    chosen = np.stack([p[..., s, a] for s, a in enumerate(policy)], axis=-1)
    rows = np.stack([chosen, 1.0 - chosen], axis=-1)
    r = np.array([R[s, a] for s, a in enumerate(policy)])
    return np.linalg.solve(np.eye(S) - GAMMA * rows, np.broadcast_to(r, rows.shape[:-1])[..., None])[..., 0]


def counts(n, rng):
    return rng.binomial(n, P, (DATA, S, A)) / n


@pytest.mark.parametrize("form, share", [("hoeffding", 0.1), ("l1", 0.05)])
def test_model_bound_fails_rarely(form, share):
    seen = counts(20, default_rng(1))
    D = np.stack([np.abs(values(seen, pi) - values(P, pi)).max(axis=-1) for pi in POLICIES], axis=1)
    bound = partial(model_bound, n_states=S, gamma=GAMMA, visits=20, delta=0.2, form=form)
    assert failures(D, bound) <= most(0.2)
    assert failures(D, lambda kl: share * bound(kl=kl)) > most(0.2)


def test_value_bound_fails_rarely():
    """Forty random Q in [0, 2]: the Bellman error is within the deviation, and Q* within the total."""
    rng = default_rng(2)
    Q, seen = rng.uniform(0.0, 2.0, (40, S, A)), counts(20, rng)
    best = np.max([values(P, pi) for pi in POLICIES], axis=0)
    optimal = R + GAMMA * (P * best[0] + (1.0 - P) * best[1])
    V = Q.max(axis=2)

    def error(p):
        T = R + GAMMA * (p[..., None, :, :] * V[:, 0, None, None] + (1.0 - p[..., None, :, :]) * V[:, 1, None, None])
        return np.abs(T - Q).max(axis=(-2, -1))

    bound = partial(value_bound, n_states=S, n_actions=A, gamma=GAMMA, visits=20, delta=0.2, empirical=0.0)
    D = error(P) - error(seen)
    assert failures(D, lambda kl: bound(kl=kl).deviation) <= most(0.2)
    assert failures(D, lambda kl: 0.1 * bound(kl=kl).deviation) > most(0.2)
    # ||Q - Q*|| - empirical / (1 - gamma) <= total of empirical 0
    D = np.abs(Q - optimal).max(axis=(1, 2)) - error(seen) / (1.0 - GAMMA)
    assert failures(D, lambda kl: bound(kl=kl).total) <= most(0.2)


def test_function_approximation_bound_fails_rarely():
    """Thirty value functions, twenty independent transitions: what the one that fits best really has as its error."""
    rng, n = default_rng(3), 20
    V = rng.uniform(0.0, 2.0, (30, S))
    s = rng.integers(S, size=(DATA, n))
    y = np.where(rng.random((DATA, n)) < P[s, 0], 0, 1)
    table = (R[:, 0, None] + GAMMA * V[:, None, :] - V[:, :, None]) ** 2  # of a value function, s and s'
    true = 0.5 * (P[:, 0] * table[:, :, 0] + (1.0 - P[:, 0]) * table[:, :, 1]).sum(axis=1)
    cells = np.stack([((s == i) & (y == j)).mean(axis=1) for i in range(S) for j in range(S)], axis=1)
    D = true - cells @ table.reshape(30, -1).T
    bound = partial(function_approximation_bound, samples=n, delta=0.2, empirical=0.0, loss_range=4.0)
    assert failures(D, bound) <= most(0.2)
    assert failures(D, lambda kl: 0.1 * bound(kl=kl)) > most(0.2)


@pytest.mark.parametrize("form", ["hoeffding", "bernstein"])
def test_bandit_bound_fails_rarely(form):
    """Three arms, played with probability .1 or more and otherwise the best so far: both signs of E_q (S - t mu)."""
    rng, t, eps, mu = default_rng(4), 100, 0.1, np.array([0.3, 0.5, 0.6])
    total = np.zeros((DATA, 3))
    for _ in range(t):
        pi = np.full((DATA, 3), eps)
        pi[np.arange(DATA), total.argmax(axis=1)] += 1.0 - 3 * eps
        a = (pi.cumsum(axis=1) < rng.random((DATA, 1))).sum(axis=1).clip(0, 2)
        rows = np.arange(DATA)
        total[rows, a] += (rng.random(DATA) < mu[a]) / pi[rows, a]
    bound = partial(bandit_bound, steps=t, delta=0.2, epsilon=eps, arms=3, form=form)
    M = total - t * mu
    assert abs(M.mean(axis=0)).max() < 5 * M.std() / np.sqrt(DATA)  # a martingale
    assert failures(M, bound) + failures(-M, bound) <= most(0.2)
    assert failures(M, lambda kl: 0.1 * bound(kl=kl)) > most(0.2)


def test_the_worst_posterior_is_among_those_tried():
    """All mass on the largest deviation has KL = ln N, and temperature 0 is the prior."""
    D = default_rng(5).random((50, 8))
    told = []
    failures(D, lambda kl: told.append(kl) or 0.0)
    told = np.reshape(told, (len(TEMPERATURES), 50))
    assert told[0] == pytest.approx(0.0, abs=1e-12)
    assert told[-1] == pytest.approx(log(8))
    assert (np.diff(told, axis=0) > 0.0).all()
