"""Linear and logistic beliefs against batch formulas, modes and quadrature."""

import dataclasses

import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose
from scipy import integrate, special, stats

from bayesrl.beliefs.arms.linear_gaussian_arms import LinearGaussianArms, their_v
from bayesrl.beliefs.arms.logistic_arms import LogisticArms
from bayesrl.beliefs.arms.logistic_laplace_arms import LogisticLaplaceArms
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument


def log_of(n, K, d, rng, binary=False):
    """Contexts (n, K, d), actions and rewards."""
    X, a = rng.standard_normal((n, K, d)), rng.integers(K, size=n)
    r = rng.integers(2, size=n).astype(float) if binary else rng.standard_normal(n)
    return X, a, r


def test_linear_matches_batch_regression():
    """The survey's linear model: covariance (S^-1 + X'X / sigma^2)^-1, mean S' X'r / sigma^2; evidence of N(0, ...)."""
    rng = default_rng(0)
    n, K, d, sigma, scale = 60, 4, 6, 0.7, 1.5
    X, a, r = log_of(n, K, d, rng)
    belief = LinearGaussianArms.isotropic(d, scale, sigma)
    for x, i, y in zip(X, a, r, strict=True):
        belief = belief.update(Transition(x, int(i), y, 0))
    rows = X[np.arange(n), a]
    covariance = np.linalg.inv(np.eye(d) / scale**2 + rows.T @ rows / sigma**2)
    mean = covariance @ rows.T @ r / sigma**2
    assert_allclose(belief.covariance, covariance, rtol=1e-9, atol=1e-13)
    assert_allclose(belief.mean_, mean, rtol=1e-9)
    joint = stats.multivariate_normal(np.zeros(n), scale**2 * rows @ rows.T + sigma**2 * np.eye(n))
    assert_allclose(belief.log_evidence(), joint.logpdf(r), rtol=1e-10)
    assert_allclose(belief.mean(X[0]), X[0] @ mean, rtol=1e-9)
    assert_allclose(belief.variance(X[0]), np.diag(X[0] @ covariance @ X[0].T), rtol=1e-9)
    assert_allclose(belief.quantile(0.9, X[0]), stats.norm.ppf(0.9, X[0] @ mean, np.sqrt(belief.variance(X[0]))))
    at_once = LinearGaussianArms.isotropic(d, scale, sigma).update_many({"state": X, "action": a, "reward": r})
    assert at_once == belief


def test_linear_stays_positive_after_many_rewards():
    rng, d = default_rng(1), 3
    belief = LinearGaussianArms.isotropic(d, 100.0, 1e-3, features=np.eye(d))
    for t in range(5000):
        belief = belief.update(Transition(0, t % d, float(rng.normal()), 0))
    assert_allclose(belief.covariance, np.diag(np.diag(belief.covariance)), atol=1e-18)
    assert_allclose(np.diag(belief.covariance), 1.0 / (1e-4 + np.array([1667, 1667, 1666]) * 1e6), rtol=1e-9)


def test_v_stretches_draws_only():
    """Agrawal and Goyal: draws from N(m, v^2 B^-1), B = I + sum x x'. False alarm 1e-4 for each coordinate."""
    rng, d, v = default_rng(2), 3, 0.4
    X, a, r = log_of(20, 5, d, rng)
    theirs = LinearGaussianArms.agrawal_goyal(d, v).update_many({"state": X, "action": a, "reward": r})
    rows = X[np.arange(20), a]
    B = np.eye(d) + rows.T @ rows
    m = np.linalg.solve(B, rows.T @ r)
    assert_allclose(theirs.mean_, m, rtol=1e-9)
    assert_allclose(theirs.covariance, np.linalg.inv(B), rtol=1e-9)
    draws = np.array([theirs.sample_weights(rng) for _ in range(4000)])
    for i in range(d):
        spread = v * np.sqrt(np.linalg.inv(B)[i, i])
        assert stats.kstest(draws[:, i], stats.norm(m[i], spread).cdf).pvalue > 1e-4
    assert_allclose(np.cov(draws.T), v**2 * np.linalg.inv(B), atol=0.15 * v**2 * np.linalg.inv(B).max())
    exact = LinearGaussianArms.isotropic(d, noise=0.5)
    stretched = dataclasses.replace(exact, v=0.2)
    assert_allclose(stretched.sample_weights(default_rng(3)), 0.4 * exact.sample_weights(default_rng(3)))
    assert_allclose(stretched.variance(X[0]), exact.variance(X[0]))
    assert their_v(2, 1.0, 0.5, np.exp(-1.0)) == pytest.approx(np.sqrt(96.0))


BELIEFS = {
    "linear": LinearGaussianArms.isotropic(3, noise=0.5),
    "logistic": LogisticArms.isotropic(3),
    "laplace": LogisticLaplaceArms.isotropic(3),
}


@pytest.mark.parametrize("name", BELIEFS)
def test_lockstep_is_one_by_one(name):
    belief, rng, n = BELIEFS[name], default_rng(4), 4
    together, alone = belief.batch(n), [belief] * n
    for _ in range(25):
        X, a, r = log_of(n, 3, 3, rng, binary=True)
        together = together.update(Transition(X, a, r, 0))
        alone = [b.update(Transition(x, int(i), y, 0)) for b, x, i, y in zip(alone, X, a, r, strict=True)]
    shared = rng.standard_normal((3, 3))
    for i in range(n):
        assert_allclose(together.mean_[i], alone[i].mean_, rtol=1e-9)
        for ask in (lambda b, x: b.mean(x), lambda b, x: b.variance(x), lambda b, x: b.quantile(0.7, x)):
            assert_allclose(ask(together, X)[i], ask(alone[i], X[i]), rtol=1e-9)
            assert_allclose(ask(together, shared)[i], ask(alone[i], shared), rtol=1e-9)
    assert together.sample_means(X, rng).shape == (n, 3)
    several = together.best_arm(X, 400, default_rng(0)).p
    assert several.shape == (n, 3)
    for i in range(n):  # 400 draws each: five standard errors of a difference, false alarm 6e-7 each
        one = alone[i].best_arm(X[i], 400, default_rng(i)).p
        assert (np.abs(several[i] - one) < 5.0 * np.sqrt(0.5 / 400)).all()


@pytest.mark.parametrize("name", BELIEFS)
def test_features_held_by_the_belief_are_contexts_by_number(name):
    rng = default_rng(5)
    table = rng.standard_normal((4, 3, 3))
    given = BELIEFS[name]
    held = dataclasses.replace(given, features=table)
    for _ in range(10):
        c, a, y = int(rng.integers(4)), int(rng.integers(3)), float(rng.integers(2))
        given, held = given.update(Transition(table[c], a, y, 0)), held.update(Transition(c, a, y, 0))
    assert_allclose(held.mean_, given.mean_)
    assert_allclose(held.mean(2), given.mean(table[2]))
    assert held.n_actions == 3
    # features beside the table, also if they are whole numbers, and in lockstep
    for x in (table[0] + 1.0, np.arange(9).reshape(3, 3)):
        assert_allclose(held.mean(x), given.mean(x), rtol=1e-9)
        together = held.update(Transition(x, 1, 1.0, 0)).batch(4)
        assert_allclose(together.mean_[3], given.update(Transition(x, 1, 1.0, 0)).mean_, rtol=1e-9)
        assert_allclose(together.mean(np.stack([x + i for i in range(4)]))[2], together.mean(x + 2)[2], rtol=1e-9)
    numbers = held.batch(2).mean(np.array([3, 1]))
    assert_allclose(numbers, [given.mean(table[3]), given.mean(table[1])], rtol=1e-9)


# Logistic ------------------------------------------------------------------------------------------------------------


def gradient(w, m, Q, X, y):
    return Q @ (w - m) + X.T @ (special.expit(X @ w) - y)


@pytest.mark.parametrize("answer", [0.0, 1.0])
@pytest.mark.parametrize("size", [0.01, 1.0, 50.0])
def test_logistic_update_is_the_mode_and_its_curvature(answer, size):
    rng, d = default_rng(6), 4
    m, q, x = rng.standard_normal(d), rng.gamma(2.0, size=d), size * rng.standard_normal((1, d))
    new = LogisticArms(m, q).update(Transition(x, 0, answer, 0))
    p = special.expit(x[0] @ new.mean_)
    assert_allclose(gradient(new.mean_, m, np.diag(q), x, [answer]), 0.0, atol=1e-9 * max(1.0, size))
    assert_allclose(new.precision, q + x[0] ** 2 * p * (1 - p), rtol=1e-12)


def test_logistic_batch_is_the_mode_and_its_curvature():
    rng, d, n = default_rng(7), 4, 50
    X, a, y = log_of(n, 3, d, rng, binary=True)
    rows, m, q = X[np.arange(n), a], rng.standard_normal(d), rng.gamma(2.0, size=d)
    new = LogisticArms(m, q).update_many({"state": X, "action": a, "reward": y})
    p = special.expit(rows @ new.mean_)
    assert_allclose(gradient(new.mean_, m, np.diag(q), rows, y), 0.0, atol=1e-8)
    assert_allclose(new.precision, q + (p * (1 - p)) @ rows**2, rtol=1e-9)


def test_laplace_update_is_the_mode_and_its_hessian():
    rng, d, n = default_rng(8), 4, 50
    root = rng.standard_normal((d, d))
    m, Q = rng.standard_normal(d), np.linalg.inv(root @ root.T)
    X, a, y = log_of(n, 3, d, rng, binary=True)
    one = LogisticLaplaceArms(m, root).update(Transition(X[0], int(a[0]), y[0], 0))
    x = X[0, a[:1]]
    p = special.expit(x @ one.mean_)
    assert_allclose(gradient(one.mean_, m, Q, x, y[:1]), 0.0, atol=1e-9)
    assert_allclose(np.linalg.inv(one.covariance), Q + (x.T * (p * (1 - p))) @ x, rtol=1e-8, atol=1e-10)
    many = LogisticLaplaceArms(m, root).update_many({"state": X, "action": a, "reward": y})
    rows = X[np.arange(n), a]
    p = special.expit(rows @ many.mean_)
    assert_allclose(gradient(many.mean_, m, Q, rows, y), 0.0, atol=1e-8)
    assert_allclose(np.linalg.inv(many.covariance), Q + (rows.T * (p * (1 - p))) @ rows, rtol=1e-8)


def test_laplace_batch_with_a_singular_covariance():
    """Weights that are certain to be equal: the sum of two features has one weight, and Laplace's belief about it."""
    prior, rng = LogisticLaplaceArms([0.3, 0.3], -np.ones((2, 2))), default_rng(12)
    X, a, y = log_of(20, 3, 2, rng, binary=True)
    new = prior.update_many({"state": X, "action": a, "reward": y})
    alone = LogisticLaplaceArms([0.3], [[np.sqrt(2.0)]])
    alone = alone.update_many({"state": X.sum(axis=2, keepdims=True), "action": a, "reward": y})
    assert_allclose(new.mean_, np.repeat(alone.mean_, 2), rtol=1e-9)
    assert_allclose(new.covariance, np.full((2, 2), alone.covariance[0, 0]), rtol=1e-9)
    assert prior.update_many([]) == prior
    with pytest.raises(InvalidArgument, match="'root' must be invertible"):
        new.fade(prior, 0.9)


@pytest.mark.parametrize("spread", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("kind", [LogisticArms, LogisticLaplaceArms])
def test_logistic_moments_match_quadrature(kind, spread):
    """Mean, variance and quantile of each arm's probability, for log-odds with up to this deviation."""
    m, X = np.array([-4.0, 1.5]), np.array([[1.0, 0.0], [0.0, 1.0], [0.6, -0.8], [0.1, 0.3]])
    root = spread * (np.diag([1.0, 0.5]) if kind is LogisticArms else np.array([[0.8, 0.1], [-0.5, 0.3]]))
    belief = kind(m, 1.0 / np.diag(root) ** 2) if kind is LogisticArms else kind(m, root)
    z = np.linspace(-12.0, 12.0, 20_001)
    deviation = np.sqrt(np.diag(X @ root @ root.T @ X.T))
    p = special.expit((X @ m)[:, None] + deviation[:, None] * z)
    moment = [integrate.simpson(p**k * stats.norm.pdf(z), x=z) for k in (1, 2)]
    assert_allclose(belief.mean(X), moment[0], atol=2e-6)
    assert_allclose(belief.variance(X), moment[1] - moment[0] ** 2, atol=2e-6)
    for level in (0.02, 0.5, 0.9):
        assert_allclose(belief.quantile(level, X), special.expit(stats.norm(X @ m, deviation).ppf(level)), rtol=1e-9)


@pytest.mark.parametrize("kind", [LogisticArms, LogisticLaplaceArms])
def test_logistic_concentrates(kind):
    """After 20000 answers every weight is within .15 of the truth (about five posterior deviations)."""
    rng, w = default_rng(9), np.array([0.8, -0.5, 0.2])
    X = rng.standard_normal((20_000, 1, 3))
    y = (rng.random(20_000) < special.expit(X[:, 0] @ w)).astype(float)
    belief = kind.isotropic(3)
    for x, r in zip(X[:2000], y, strict=False):
        belief = belief.update(Transition(x, 0, r, 0))
    belief = belief.update_many({"state": X[2000:], "action": np.zeros(18_000, int), "reward": y[2000:]})
    assert_allclose(belief.mean_, w, atol=0.15)


def test_reshaping_stretches_draws():
    """False alarm 1e-4: with alpha .5 log-odds have half the spread."""
    x, rng = np.array([[1.0]]), default_rng(10)
    draws = special.logit([LogisticArms([0.3], [4.0], reshaping=0.5).sample_means(x, rng)[0] for _ in range(4000)])
    assert stats.kstest(draws, stats.norm(0.3, 0.25).cdf).pvalue > 1e-4
    laplace = LogisticLaplaceArms([0.3], [[0.5]], reshaping=0.5)
    draws = special.logit([laplace.sample_means(x, rng)[0] for _ in range(4000)])
    assert stats.kstest(draws, stats.norm(0.3, 0.25).cdf).pvalue > 1e-4


@pytest.mark.parametrize("as_table", [True, False])
def test_matrices_in_a_log_replace_the_features_of_a_belief(as_table):
    """A log teaches the same as its steps one by one, whether contexts are matrices, numbers or left out."""
    rng = default_rng(3)
    prior = LinearGaussianArms.isotropic(2, 1.0, 0.5, features=rng.normal(size=(3, 2)))
    for contexts in (rng.normal(size=(5, 3, 2)), np.arange(5), [None] * 5):
        steps = [Transition(c, i % 3, float(i), None) for i, c in enumerate(contexts)]
        one_by_one = prior
        for step in steps:
            one_by_one = one_by_one.update(step)
        table = {"state": contexts, "action": np.arange(5) % 3, "reward": np.arange(5.0)}
        at_once = prior.update_many(table if as_table else iter(steps))
        np.testing.assert_allclose(at_once.mean(), one_by_one.mean(), rtol=1e-10)
