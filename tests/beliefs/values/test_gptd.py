"""Beliefs about values against dense conditioning, exact filters and regression on returns."""

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.stats import chi2

from bayesrl.beliefs import GPTD, ParametricGPTD, SparseGPTD, WhiteGPTD, features
from bayesrl.beliefs.covariances import Discrete, Gaussian, Linear, Matern
from bayesrl.beliefs.values.dictionary import Dictionary
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument

EPISODES = [
    ([0.0, 1.0, 2.0, 1.0], [1.0, 2.0, 3.0], "truncated"),
    ([0.5, 1.0], [1.0, 2.0], "terminated"),
    ([3.0, 1.0, 1.0, 2.0], [0.5, 0.1, -1.0], "truncated"),
    ([0.0, 1.0, 0.0], [1.0, -1.0, 0.3], "terminated"),
    ([2.5, 0.2, 1.7], [0.2, 0.7], "open"),
]
QUERIES = np.array([-1.0, 0.0, 0.7, 2.0])
NOISES = {"number": 0.3, "function": lambda s: 0.2 + 0.1 * np.abs(s[:, 0])}


def transitions(episodes):
    made = []
    for states, rewards, how in episodes:
        for i, r in enumerate(rewards):
            last = i == len(rewards) - 1
            ends = last and how == "terminated"
            after = 99.0 if ends else states[i + 1]
            made.append(Transition(states[i], 0, r, after, ends, last and how == "truncated"))
    return made


def dense(episodes, noise, gamma, kernel, queries, coloured=True):
    """Mean, covariance and log evidence by textbook conditioning, each visit a point of its own."""
    X, H, y, n = [], [], [], sum(len(r) for _, r, _ in episodes)
    S, row = np.zeros((n, n)), 0
    sd = lambda s: noise(np.array([[s]]))[0] if callable(noise) else noise  # noqa: E731
    for states, rewards, how in episodes:
        first = len(X)
        X += states
        for i, r in enumerate(rewards):
            h = np.zeros(99)
            h[first + i] = 1.0
            S[row, row] = sd(states[i]) ** 2
            if not (how == "terminated" and i == len(rewards) - 1):
                h[first + i + 1] = -gamma
                S[row, row] += gamma**2 * sd(states[i + 1]) ** 2 if coloured else 0.0
            if i > 0 and coloured:
                S[row, row - 1] = S[row - 1, row] = -gamma * sd(states[i]) ** 2
            H.append(h)
            y.append(r)
            row += 1
    X, y = np.array(X), np.array(y)
    H = np.array(H)[:, : len(X)]
    A, C = H @ kernel(X, X) @ H.T + S, kernel(queries, X) @ H.T
    evidence = -0.5 * (y @ np.linalg.solve(A, y) + np.linalg.slogdet(2.0 * np.pi * A)[1])
    return C @ np.linalg.solve(A, y), kernel(queries, queries) - C @ np.linalg.solve(A, C.T), evidence


def same(belief, expected, tol=1e-8):
    mean, covariance, evidence = expected
    np.testing.assert_allclose(belief.mean(QUERIES), mean, atol=tol)
    np.testing.assert_allclose(belief.covariance(QUERIES), covariance, atol=tol)
    np.testing.assert_allclose(belief.variance(QUERIES), np.diagonal(covariance), atol=tol)
    np.testing.assert_allclose(belief.log_evidence(), evidence, atol=tol)


def one_by_one(belief, log):
    for step in log:
        belief = belief.update(step)
    return belief


@pytest.mark.parametrize("gamma", [0.0, 0.9, 1.0])
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("kind", [GPTD, WhiteGPTD])
def test_equal_to_dense_conditioning(kind, noise, gamma):
    """Batch and one by one; terminated, truncated and open trajectories; states that repeat."""
    kernel = Gaussian(scale=1.0)
    expected = dense(EPISODES, NOISES[noise], gamma, kernel, QUERIES, kind is GPTD)
    prior, log = kind(kernel, NOISES[noise], gamma), transitions(EPISODES)
    same(prior.update_many(log), expected)
    same(one_by_one(prior, log), expected)
    split = prior.update_many(log[:2]).update_many(log[2:9]).update_many(log[9:])
    same(split, expected)


def test_states_and_rewards_are_one_open_trajectory():
    states, rewards, _ = EPISODES[-1]
    kernel = Matern(smoothness=2.5)
    belief = GPTD(kernel, 0.3, 0.9).update_many((states, rewards))
    same(belief, dense(EPISODES[-1:], 0.3, 0.9, kernel, QUERIES))
    more = belief.update_many(([1.7, 0.4], [2.0]))
    same(more, dense([([*states, 0.4], [*rewards, 2.0], "open")], 0.3, 0.9, kernel, QUERIES))


@pytest.mark.parametrize("gamma", [0.9, 1.0])
def test_complete_episodes_are_regression_on_returns(gamma):
    """Appendix B: complete episodes give the regression on discounted returns with independent noise."""
    rng, kernel = default_rng(0), Gaussian(scale=0.7)
    episodes = [(rng.normal(size=n).tolist(), rng.normal(size=n).tolist(), "terminated") for n in (3, 5, 1)]
    X, y = [], []
    for states, rewards, _ in episodes:
        total = 0.0
        for s, r in zip(states[::-1], rewards[::-1], strict=True):
            total = r + gamma * total
            X.append(s)
            y.append(total)
    K = kernel(X, X) + 0.3**2 * np.eye(len(X))
    C = kernel(QUERIES, X)
    belief = GPTD(kernel, 0.3, gamma).update_many(transitions(episodes))
    np.testing.assert_allclose(belief.mean(QUERIES), C @ np.linalg.solve(K, y), atol=1e-10)
    np.testing.assert_allclose(
        belief.covariance(QUERIES), kernel(QUERIES, QUERIES) - C @ np.linalg.solve(K, C.T), atol=1e-10
    )


@pytest.mark.parametrize("gamma", [0.0, 0.9, 1.0])
@pytest.mark.parametrize("residuals", ["coloured", "white"])
def test_threshold_zero_is_the_full_posterior(residuals, gamma):
    kernel, log = Gaussian(scale=0.5), transitions(EPISODES)
    prior = SparseGPTD(kernel, NOISES["function"], gamma, threshold=0.0, residuals=residuals)
    expected = dense(EPISODES, NOISES["function"], gamma, kernel, QUERIES, residuals == "coloured")
    same(prior.update_many(log), expected)
    same(one_by_one(prior, log), expected)
    assert len(prior.update_many(log).dictionary) == len({s for states, _, _ in EPISODES for s in states})


@pytest.mark.parametrize(("n", "scale", "seed"), [(80, 0.3, 4), (40, 0.3, 2), (200, 1.0, 4)])
def test_threshold_zero_where_states_are_close(n, scale, seed):
    """States that are never admitted cost accuracy: the worst of the cases that the docstring speaks of, and others."""
    rng, kernel, queries = default_rng(seed), Gaussian(scale=scale), np.linspace(-2.0, 2.0, 50)
    log = rng.uniform(-2.0, 2.0, n + 1), rng.normal(size=n)
    sparse, full = (prior.update_many(log) for prior in (SparseGPTD(kernel, threshold=0.0), GPTD(kernel)))
    assert len(sparse.dictionary) < n
    np.testing.assert_allclose(sparse.mean(queries), full.mean(queries), atol=1e-4)
    assert sparse.log_evidence() == pytest.approx(full.log_evidence(), abs=1e-3)


def test_sparse_is_the_projected_model():
    """With a dictionary of some states the belief is that of V projected on it, found here by dense algebra."""
    rng, kernel, gamma, noise = default_rng(1), Gaussian(scale=1.0), 0.9, 0.3
    states = rng.uniform(-2.0, 2.0, 41)
    rewards = rng.normal(size=40)
    belief = SparseGPTD(kernel, noise, gamma, threshold=0.2).update_many((states, rewards))
    admitted, coordinates = [], []
    for x in states:  # the rule, by dense algebra
        delta, a = 1.0, np.zeros(0)
        if admitted:
            a = np.linalg.solve(kernel(admitted, admitted), kernel(admitted, [x])[:, 0])
            delta = 1.0 - kernel([x], admitted)[0] @ a
        if delta > 0.2:
            admitted.append(x)
            a = np.eye(len(admitted))[-1]
        coordinates.append(a)
    np.testing.assert_array_equal(belief.dictionary[:, 0], admitted)
    A = np.array([np.append(a, np.zeros(len(admitted) - len(a))) for a in coordinates])
    H = A[:-1] - gamma * A[1:]
    S = (1.0 + gamma**2) * np.eye(40) - gamma * (np.eye(40, k=1) + np.eye(40, k=-1))
    K = kernel(admitted, admitted)
    M, C = H @ K @ H.T + noise**2 * S, kernel(QUERIES, admitted) @ H.T
    np.testing.assert_allclose(belief.mean(QUERIES), C @ np.linalg.solve(M, rewards), atol=1e-9)
    expected = kernel(QUERIES, QUERIES) - C @ np.linalg.solve(M, C.T)
    np.testing.assert_allclose(belief.covariance(QUERIES), expected, atol=1e-9)
    np.testing.assert_allclose(belief.variance(QUERIES), np.diagonal(expected), atol=1e-9)
    engel = kernel(QUERIES, admitted)
    np.testing.assert_allclose(engel @ belief.alpha, belief.mean(QUERIES), atol=1e-9)
    np.testing.assert_allclose(kernel(QUERIES, QUERIES) - engel @ belief.C @ engel.T, expected, atol=1e-9)
    evidence = -0.5 * (rewards @ np.linalg.solve(M, rewards) + np.linalg.slogdet(2.0 * np.pi * M)[1])
    np.testing.assert_allclose(belief.log_evidence(), evidence, atol=1e-8)
    slow = SparseGPTD(kernel, noise, gamma, threshold=0.2)
    for s, r, y in zip(states, rewards, states[1:], strict=False):
        slow = slow.update(Transition(s, 0, r, y))
    np.testing.assert_allclose(slow.mean(QUERIES), belief.mean(QUERIES), atol=1e-9)


class OfFeatures(Linear):
    """The covariance phi'phi."""

    phi = features.Polynomial(degree=2)

    def matrix(self, X, Y):
        return 2.0 * self.phi(X) @ self.phi(Y).T

    def variances(self, X):
        return 2.0 * np.sum(self.phi(X) ** 2, axis=1)


@pytest.mark.parametrize("gamma", [0.0, 0.9, 1.0])
def test_parametric_is_gptd_with_the_covariance_of_its_features(gamma):
    prior = ParametricGPTD(OfFeatures.phi, NOISES["function"], gamma, prior_variance=2.0)
    expected = dense(EPISODES, NOISES["function"], gamma, OfFeatures(), QUERIES)
    log = transitions(EPISODES)
    same(prior.update_many(log), expected)
    same(one_by_one(prior, log), expected)


def test_twenty_thousand_transitions_stay_exact():
    """On 12 states the posterior equals an exact filter in information form, and no variance is negative."""
    rng, gamma, noise, n = default_rng(2), 0.95, 0.5, 20_000
    states = rng.integers(12, size=n + 1).astype(float)
    rewards = rng.normal(size=n)
    H = np.zeros((n, 12))
    H[np.arange(n), states[:-1].astype(int)] += 1.0
    H[np.arange(n), states[1:].astype(int)] -= gamma
    # Sigma = sigma^2 B B' with B the bidiagonal (1, -gamma) of n rows and n + 1 columns: solve a banded system
    from scipy.linalg import solveh_banded

    band = np.array([np.append(0.0, np.full(n - 1, -gamma)), np.full(n, 1.0 + gamma**2)]) * noise**2
    solved = solveh_banded(band, np.column_stack([H, rewards]))
    precision = np.eye(12) / 4.0 + H.T @ solved[:, :12]
    covariance = np.linalg.inv(precision)
    mean = covariance @ (H.T @ solved[:, 12])
    for belief in (
        SparseGPTD(Discrete(variance=4.0), noise, gamma, threshold=1e-6),
        ParametricGPTD(features.Tabular(12), noise, gamma, prior_variance=4.0),
    ):
        after = belief.update_many((states, rewards))
        np.testing.assert_allclose(after.mean(np.arange(12)), mean, atol=1e-5)
        np.testing.assert_allclose(after.covariance(np.arange(12)), covariance, atol=1e-5)
        assert (after.variance(np.arange(12)) > 0.0).all()


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_smooth_covariances_keep_the_right_dictionary(scale):
    """Threshold 1e-6 with condition numbers of 4e10 and 5e11: the dictionary and values of a dense Cholesky rule."""
    rng, kernel, gamma, noise = default_rng(3), Gaussian(scale=scale), 0.9, 0.3
    states = rng.uniform(-1.0, 1.0, (801, 2))
    rewards = np.sin(3.0 * states[:-1, 0])
    belief = SparseGPTD(kernel, noise, gamma, threshold=1e-6).update_many((states, rewards))
    L, chosen, coordinates = np.zeros((0, 0)), [], []
    for i, x in enumerate(states):
        ell = np.linalg.solve(L, kernel(states[chosen], x[None])[:, 0]) if chosen else np.zeros(0)
        delta = 1.0 - ell @ ell
        if delta > 1e-6:
            m = len(chosen)
            grown = np.zeros((m + 1, m + 1))
            grown[:m, :m], grown[m, :m], grown[m, m] = L, ell, np.sqrt(delta)
            L, ell = grown, grown[m]
            chosen.append(i)
        coordinates.append(ell)
    np.testing.assert_array_equal(belief.dictionary, states[chosen])
    assert np.linalg.cond(kernel(states[chosen], states[chosen])) > 3e10
    A = np.array([np.append(a, np.zeros(len(chosen) - len(a))) for a in coordinates])
    F = A[:-1] - gamma * A[1:]
    S = noise**2 * ((1.0 + gamma**2) * np.eye(800) - gamma * (np.eye(800, k=1) + np.eye(800, k=-1)))
    Z = np.linalg.solve(L, kernel(states[chosen], states[:50])).T @ F.T
    M = F @ F.T + S
    np.testing.assert_allclose(belief.mean(states[:50]), Z @ np.linalg.solve(M, rewards), atol=1e-5)
    expected = 1.0 - np.sum(Z * np.linalg.solve(M, Z.T).T, axis=1)
    np.testing.assert_allclose(belief.variance(states[:50]), expected, atol=1e-5)


def test_calibrated():
    """V and residuals from the model: the squared error over the posterior covariance is chi-square.

    False-alarm rate 1e-6. 1500 repetitions see a covariance that is wrong by about a fifth; 90% intervals cover at
    their rate within 5 standard errors.
    """
    rng, kernel, gamma, noise = default_rng(4), Gaussian(scale=1.0), 0.9, 0.5
    places = np.array([0.0, 0.8, 1.6, 2.4])
    root = np.linalg.cholesky(kernel(places, places) + 1e-12 * np.eye(4))
    far, covered = 0.0, 0
    for _ in range(1500):
        V = root @ rng.standard_normal(4)
        log = []
        for length, ends in ((3, True), (4, False)):
            path = rng.integers(4, size=length + 1)
            D = noise * rng.standard_normal(length + 1)
            for i in range(length):
                last = ends and i == length - 1
                r = V[path[i]] + D[i] - (0.0 if last else gamma * (V[path[i + 1]] + D[i + 1]))
                done = i == length - 1 and not ends
                log.append(Transition(places[path[i]], 0, float(r), places[path[i + 1]], last, done))
        belief = GPTD(kernel, noise, gamma).update_many(log)
        error = V - belief.mean(places)
        far += error @ np.linalg.solve(belief.covariance(places), error)
        covered += np.sum((V > belief.quantile(0.05, places)) & (V < belief.quantile(0.95, places)))
    assert chi2.ppf(5e-7, 4 * 1500) < far < chi2.ppf(1.0 - 5e-7, 4 * 1500)
    assert abs(covered / 6000 - 0.9) < 5.0 * np.sqrt(0.09 / 1500)  # four places of a repetition count as one


def test_joint_draws_have_the_posterior_moments():
    """20,000 draws; five standard errors of each of 4 means and 16 covariances (false alarm about 1e-5)."""
    belief = GPTD(Gaussian(scale=1.0), 0.3, 0.9).update_many(transitions(EPISODES))
    draws = belief.sample(QUERIES, default_rng(5), draws=20_000)
    C = belief.covariance(QUERIES)
    se = np.sqrt(np.diagonal(C) / 20_000)
    assert (np.abs(draws.mean(axis=0) - belief.mean(QUERIES)) < 5.0 * se + 1e-9).all()
    spread = np.sqrt((np.outer(np.diagonal(C), np.diagonal(C)) + C**2) / 20_000)
    assert (np.abs(np.cov(draws.T) - C) < 5.0 * spread + 1e-9).all()


@pytest.mark.parametrize("prior", [GPTD(), WhiteGPTD(), SparseGPTD(), ParametricGPTD(features.Polynomial(1))])
def test_older_versions_stay_as_they_are(prior):
    log = transitions(EPISODES)
    beliefs = [prior]
    for step in log:
        beliefs.append(beliefs[-1].update(step))
    means = [belief.mean(QUERIES) for belief in beliefs]
    for i in (3, 7, 1):
        beliefs[i].update_many(([log[i].observation, 9.0, 8.0], [5.0, 6.0]))
    for belief, mean in zip(beliefs, means, strict=True):
        np.testing.assert_array_equal(belief.mean(QUERIES), mean)


BAD = {
    "noise": lambda: GPTD(noise=-1.0),
    "noise nan": lambda: GPTD(noise=float("nan")),
    "gamma": lambda: GPTD(gamma=1.5),
    "covariance": lambda: GPTD(covariance=3),
    "threshold": lambda: SparseGPTD(threshold=-0.1),
    "residuals": lambda: SparseGPTD(residuals="pink"),
    "features": lambda: ParametricGPTD(features=lambda s: s),
    "prior_variance": lambda: ParametricGPTD(features.Tabular(2), prior_variance=0.0),
    "negative function": lambda: GPTD(noise=lambda s: -np.ones(len(s))).update_many(([0.0, 1.0], [1.0])),
    "n+1 states": lambda: GPTD().update_many(([0.0, 1.0], [1.0, 2.0])),
    "nan state": lambda: GPTD().update_many(([0.0, np.nan], [1.0])),
    "nan reward": lambda: GPTD().update(Transition(0.0, 0, np.nan, 1.0)),
    "elsewhere": lambda: GPTD().update(Transition(0.0, 0, 1.0, 1.0)).update(Transition(3.0, 0, 1.0, 1.0)),
    "dimension": lambda: GPTD().update(Transition([0.0, 1.0], 0, 1.0, [0.0, 1.0])).mean([1.0]),
    "dimension later": lambda: GPTD().update(Transition([0.0, 1.0], 0, 1.0, [0.0])),
    "zero noise": lambda: GPTD(noise=0.0).update_many([Transition(0.0, 0, 1.0, 0.0, True)] * 2),
    "sparse zero noise": lambda: SparseGPTD(noise=0.0).update_many([Transition(0.0, 0, 1.0, 0.0, True)] * 2),
    "log": lambda: GPTD().update_many(3),
    "quantile": lambda: GPTD().quantile(2.0, [0.0]),
    "draws": lambda: GPTD().sample([0.0], default_rng(0), draws=0),
    "rng": lambda: GPTD().sample([0.0], 3),
    "no such state": lambda: ParametricGPTD(features.Tabular(2)).update(Transition(5, 0, 1.0, 0)),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_in_a_sentence(name):
    with pytest.raises(InvalidArgument, match="must be"):
        BAD[name]()


def test_a_jump_is_refused_with_a_hint():
    belief = GPTD().update(Transition(0.0, 0, 1.0, 1.0))
    with pytest.raises(InvalidArgument, match=r"restart\(\)"):
        belief.update(Transition(3.0, 0, 1.0, 1.0))
    assert len(belief.restart().update(Transition(3.0, 0, 1.0, 1.0)).data) == 2


def test_a_variance_equal_to_the_threshold_does_not_join():
    """Above the threshold, not at it; a state without variance never joins, even if the threshold is zero."""
    far = np.array([[0.0], [400.0]])  # without covariance
    for threshold, size in ((2.25, 0), (np.nextafter(2.25, 0.0), 2)):
        basis, coordinates = Dictionary.empty(1).admit(Gaussian(1.0, variance=2.25), far, threshold)
        assert len(basis) == size
        np.testing.assert_array_equal(coordinates, 1.5 * np.eye(2)[:, :size])
    basis, coordinates = Dictionary.empty(1).admit(Linear(), np.array([[0.0], [3.0], [0.0]]), 0.0)
    assert basis.states.tolist() == [[3.0]]
    assert coordinates.tolist() == [[0.0], [3.0], [0.0]]
