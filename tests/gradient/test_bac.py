"""Bayesian actor-critic: integrals by exact sums, dense conditioning, exact limits, squared errors, calibration."""

import sys

import numpy as np
import pytest
from gradient_toys import EXACT, POLICY, WALK, paired
from scipy import stats

from bayesrl.beliefs.covariances import Discrete, Fisher, Gaussian, Linear
from bayesrl.core import Transition
from bayesrl.errors import Incompatible, InvalidArgument
from bayesrl.gradient import bac, fisher_information, reinforce_gradient
from bayesrl.gradient._critic import StatePlusScore
from bayesrl.gradient.bayesian_gradient import Whitened
from bayesrl.models.policy import SoftmaxPolicy

V, Q, NU, GRADIENT, G = EXACT
K_S = Discrete(variance=100.0)


def dense(log, policy, G, k_s, noise, gamma):
    """Rows of H and Sigma written one by one, and explicit inverses."""
    episodes, open_ = [], []
    for t in log:
        open_.append(t)
        if t.terminated or t.truncated:
            episodes.append(open_)
            open_ = []
    episodes += [open_] if open_ else []
    points, H, Sigma, r = [], [], [], []
    for steps in episodes:
        first = len(points)
        points += [(t.observation, policy.score(t.observation, t.action)) for t in steps]
        for t, step in enumerate(steps):
            if t == len(steps) - 1 and not step.terminated:
                continue  # no successor pair
            H.append({first + t: 1.0} | ({first + t + 1: -gamma} if t < len(steps) - 1 else {}))
            Sigma.append((first + t, t == len(steps) - 1))
            r.append(step.reward)
    n, m = len(points), len(r)
    matrix, noise_matrix = np.zeros((m, n)), np.zeros((m, m))
    for i, row in enumerate(H):
        for j, weight in row.items():
            matrix[i, j] = weight
        visit, end = Sigma[i]
        noise_matrix[i, i] = noise**2 * (1.0 if end else 1.0 + gamma**2)
        if i > 0 and Sigma[i - 1][0] == visit - 1 and not Sigma[i - 1][1] and matrix[i - 1, visit] != 0.0:
            noise_matrix[i, i - 1] = noise_matrix[i - 1, i] = -gamma * noise**2
    S, U = np.array([[s] for s, _ in points], float), np.array([u for _, u in points])
    K = k_s(S, S) + U @ np.linalg.pinv(G, rcond=1e-10) @ U.T
    C = matrix.T @ np.linalg.inv(matrix @ K @ matrix.T + noise_matrix) @ matrix
    alpha = matrix.T @ np.linalg.solve(matrix @ K @ matrix.T + noise_matrix, r)
    return U.T @ alpha, G - U.T @ C @ U


def some_episodes(kind):
    log = WALK.episodes(POLICY, np.random.default_rng(0), 4)
    if kind == "truncated":
        ends = [i for i, t in enumerate(log) if t.terminated]
        log[ends[0]] = log[ends[0]]._replace(terminated=False, truncated=True)
        return log
    return log[:-3] if kind == "open" else log


def test_the_integrals_on_the_random_walk():
    """The integral of g k(., z_t) is u(z_t) and the double integral is G, by summing over all pairs."""
    pi, U = POLICY.probabilities(), WALK.scores(POLICY).reshape(18, 18)
    states = np.repeat(np.arange(9.0), 2)[:, None]
    g = (NU[:, None] * pi).ravel()[:, None] * U
    k = StatePlusScore(Gaussian(scale=2.0, variance=3.0), Fisher(G), 1)
    K = k.matrix(np.hstack([states, U]), np.hstack([states, U]))
    np.testing.assert_allclose(g.T @ K, U.T, atol=1e-10)
    np.testing.assert_allclose(g.T @ K @ g, G, atol=1e-10)
    assert V[0] == pytest.approx(-12.7222, abs=5e-5)
    assert np.linalg.norm(GRADIENT) == pytest.approx(2.3501, abs=5e-5)


@pytest.mark.parametrize("kind", ["terminated", "truncated", "open"])
@pytest.mark.parametrize("k_s", [K_S, Gaussian(scale=1.5, variance=20.0)], ids=["discrete", "gaussian"])
@pytest.mark.parametrize("gamma", [0.0, 0.99, 1.0])
def test_equal_to_dense_conditioning(kind, k_s, gamma):
    log = some_episodes(kind)
    found = bac(log, POLICY, G, k_s, 0.8, gamma)
    mean, covariance = dense(log, POLICY, G, k_s, 0.8, gamma)
    np.testing.assert_allclose(found.mean, mean, atol=1e-8)
    np.testing.assert_allclose(found.covariance, covariance, atol=1e-8)
    np.testing.assert_allclose(found.natural, np.linalg.pinv(G, rcond=1e-10) @ mean, atol=1e-7)


@pytest.mark.parametrize("kind", ["terminated", "truncated", "open"])
def test_threshold_zero_is_the_full_posterior(kind):
    log = some_episodes(kind)
    full, sparse = (bac(log, POLICY, G, K_S, 0.8, 0.99, threshold) for threshold in (None, 0.0))
    np.testing.assert_allclose(sparse.mean, full.mean, atol=1e-6)
    np.testing.assert_allclose(sparse.covariance, full.covariance, atol=1e-6)


def test_a_threshold_leaves_pairs_out():
    """With every pair below the threshold but the first few, the posterior stays closer to the prior."""
    log = some_episodes("terminated")
    full, sparse = (bac(log, POLICY, G, K_S, 0.8, 0.99, threshold) for threshold in (0.0, 101.0))
    assert np.trace(full.covariance) < np.trace(sparse.covariance) < np.trace(G)
    assert np.linalg.eigvalsh(G - sparse.covariance).min() > -1e-10


def test_many_transitions_are_added_in_batches():
    log = WALK.episodes(POLICY, np.random.default_rng(3), 100)
    assert len(log) > 1200
    full, sparse = (bac(log, POLICY, G, K_S, 1.0, 0.99, threshold) for threshold in (None, 0.0))
    np.testing.assert_allclose(full.mean, sparse.mean, atol=1e-6)
    np.testing.assert_allclose(full.covariance, sparse.covariance, atol=1e-6)


def test_noise_may_depend_on_states():
    log = some_episodes("terminated")
    one, same = bac(log, POLICY, G, K_S, 0.8), bac(log, POLICY, G, K_S, lambda s: np.full(len(s), 0.8))
    np.testing.assert_array_equal(one.mean, same.mean)
    other = bac(log, POLICY, G, K_S, lambda s: 0.1 + s[:, 0])
    assert not np.allclose(one.mean, other.mean)


def test_the_exact_gradient_is_reached():
    """400 episodes: within 25%. Ten seeds gave 5% to 16%."""
    log = WALK.episodes(POLICY, np.random.default_rng(4), 400)
    found = bac(log, POLICY, G, K_S, 1.0, 0.99, 0.0)
    assert np.linalg.norm(found.mean - GRADIENT) < 0.25 * np.linalg.norm(GRADIENT)


@pytest.mark.parametrize("count, repetitions", [(5, 80), (20, 40)])
def test_squared_error_is_below_reinforce(count, repetitions):
    """Paired, by three standard errors; false alarm 1e-3 were they equal. Measured: 6 and more."""
    rng, errors = np.random.default_rng(5), []
    for _ in range(repetitions):
        log = WALK.episodes(POLICY, rng, count)
        estimates = bac(log, POLICY, G, K_S, 1.0, 0.99, 0.0).mean, reinforce_gradient(log, POLICY, 0.99)
        errors.append([np.sum((e - GRADIENT) ** 2) for e in estimates])
    critic, reinforce = np.array(errors).T
    assert paired(critic, reinforce) > 3.0


@pytest.mark.parametrize("threshold", [None, 0.0], ids=["exact", "sparse"])
def test_calibrated(threshold):
    """Q = V + u'w with V ~ N(0, k_s) and w ~ N(0, G^-1), rewards from the model: squared errors of G w are chi-square.

    False alarm 1e-6; a covariance that is wrong by a fifth is found."""
    rng, white, total = np.random.default_rng(6), Whitened.by("test", G, 18), 0.0
    k_s, noise, gamma, repetitions = Gaussian(scale=2.0, variance=4.0), 0.6, 0.99, 150
    U = WALK.scores(POLICY)
    root = np.linalg.cholesky(k_s(np.arange(9.0), np.arange(9.0)) + 1e-9 * np.eye(9))
    for _ in range(repetitions):
        w = rng.standard_normal(9)
        values = (root @ rng.standard_normal(9))[:, None] + U @ white.root @ w
        log = []
        for t in WALK.episodes(POLICY, rng, 3):
            q, d = values[t.observation, t.action], noise * rng.standard_normal()
            if log and not log[-1].terminated:
                log[-1] = log[-1]._replace(reward=log[-1].reward - gamma * (q + d))
            log.append(t._replace(reward=q + d))
        found = bac(log, POLICY, G, k_s, noise, gamma, threshold)
        gap = white.root.T @ (found.mean - white.back @ w)
        total += gap @ np.linalg.solve(white.root.T @ found.covariance @ white.root, gap)
    low, high = stats.chi2(9 * repetitions).ppf([5e-7, 1 - 5e-7])
    assert low < total < high


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda log: bac(log, POLICY, G, None), "bac: 'covariance' must be a covariance of states"),
        (lambda log: bac(log, POLICY, np.eye(3), K_S), "bac: 'information' must be of the 18 parameters"),
        (lambda log: bac(log, POLICY, G, K_S, noise=-1.0), "bac: 'noise' must be at least 0, got -1.0."),
        (lambda log: bac(log, POLICY, G, K_S, noise=lambda s: -s[:, 0]), "bac: 'noise' must be at least 0 everywhere"),
        (lambda log: bac(log, POLICY, G, K_S, gamma=1.5), "bac: 'gamma' must be in [0, 1], got 1.5."),
        (lambda log: bac(log, POLICY, G, K_S, threshold=-1.0), "bac: 'threshold' must be at least 0, got -1.0."),
        (
            lambda log: bac(log[:1], POLICY, G, K_S),
            "bac: 'transitions' must be at least one pair with a successor or an end",
        ),
        (lambda log: bac(log, POLICY, G, K_S, noise=0.0), "bac: 'noise' must be large enough to tell the data apart"),
        (lambda log: bac([], POLICY, G, K_S), "bac: 'transitions' must be at least one transition"),
    ],
)
def test_bad_input(call, sentence):
    with pytest.raises(InvalidArgument) as caught:
        call(WALK.episodes(POLICY, np.random.default_rng(7), 3))
    assert str(caught.value).startswith(sentence)


def test_a_policy_needs_a_score():
    class NoScore:
        sample = log_prob = None

    with pytest.raises(Incompatible, match="bac needs a policy with 'score', which NoScore lacks"):
        bac([Transition(0, 0, 0.0, 1)], NoScore(), G, Linear())


def test_defaults_of_the_estimate():
    """Noise 1, discount .99, every pair kept."""
    log, k = WALK.episodes(POLICY, np.random.default_rng(3), 3), Discrete(variance=100.0)
    G = fisher_information(log, POLICY)
    plain, said = bac(log, POLICY, G, k), bac(log, POLICY, G, k, 1.0, 0.99, None)
    np.testing.assert_array_equal(plain.mean, said.mean)
    np.testing.assert_array_equal(plain.covariance, said.covariance)
    np.testing.assert_array_equal(G, fisher_information(log, POLICY, "pairs", 1.0))


@pytest.mark.parametrize("threshold", [None, 0.0])
def test_small_batches_of_episodes_are_one_batch(monkeypatch, threshold):
    """Truncated and terminated episodes of different lengths, with batches of each size, and noise that differs."""
    rng, paths = np.random.default_rng(5), []
    policy = SoftmaxPolicy(rng.normal(size=(3, 2)))
    for length, truncated in ((4, True), (3, False), (1, True), (5, True), (2, False), (6, True)):
        states = rng.integers(3, size=length + 1)
        for t in range(length):
            last = t == length - 1
            paths.append(
                Transition(int(states[t]), int(rng.integers(2)), float(rng.normal()), int(states[t + 1]),
                           terminated=last and not truncated, truncated=last and truncated)
            )  # fmt: skip
    G = fisher_information(paths, policy)
    given = paths, policy, G, Gaussian(scale=1.0, variance=4.0), lambda s: 0.5 + 0.2 * s[:, 0], 0.9, threshold
    whole = bac(*given)
    for size in (1, 2, 4, 7, 8, 12):
        monkeypatch.setattr(sys.modules["bayesrl.gradient.bac"], "BATCH", size)
        found = bac(*given)
        np.testing.assert_allclose(found.mean, whole.mean, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found.covariance, whole.covariance, rtol=1e-9, atol=1e-12)
