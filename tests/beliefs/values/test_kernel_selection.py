"""The mixture over covariances against its definition, and particles against a fine grid."""

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.special import logsumexp
from scipy.stats import kstest, norm

from bayesrl.beliefs import GPTD, KernelSelection, SparseGPTD
from bayesrl.beliefs.covariances import Gaussian
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument

QUERIES = np.array([-0.5, 0.3, 1.1])


def log(rng, n=12):
    states = rng.uniform(-1.0, 1.5, n + 1)
    return [Transition(states[i], 0, float(np.sin(3.0 * states[i])), states[i + 1], i % 5 == 4) for i in range(n)]


@pytest.mark.parametrize("threshold", [None, 0.01])
def test_weights_are_prior_times_evidence(threshold):
    steps, candidates, prior = [], [Gaussian(scale=s) for s in (0.2, 0.7, 2.0)], np.array([0.5, 0.3, 0.2])
    rng = default_rng(0)
    for n in (5, 4, 3):
        states = rng.uniform(-1.0, 1.5, n + 1)
        steps += [Transition(states[i], 0, float(rng.normal()), states[i + 1], i == n - 1) for i in range(n)]
    one = KernelSelection(candidates, prior, 0.3, 0.9, threshold).update_many(steps)
    each = KernelSelection(candidates, prior, 0.3, 0.9, threshold)
    for step in steps:
        each = each.update(step)
    parts = [
        (GPTD(k, 0.3, 0.9) if threshold is None else SparseGPTD(k, 0.3, 0.9, threshold)).update_many(steps)
        for k in candidates
    ]
    logs = np.log(prior) + [p.log_evidence() for p in parts]
    weights = np.exp(logs - logsumexp(logs))
    means = np.array([p.mean(QUERIES) for p in parts])
    mean = weights @ means
    covariance = sum(
        w * (p.covariance(QUERIES) + np.outer(m - mean, m - mean))
        for w, p, m in zip(weights, parts, means, strict=True)
    )
    for belief in (one, each):
        np.testing.assert_allclose(belief.weights, weights, atol=1e-9)
        np.testing.assert_allclose(belief.mean(QUERIES), mean, atol=1e-9)
        np.testing.assert_allclose(belief.covariance(QUERIES), covariance, atol=1e-9)
        np.testing.assert_allclose(belief.variance(QUERIES), np.diagonal(covariance), atol=1e-9)
        np.testing.assert_allclose(belief.log_evidence(), logsumexp(logs), atol=1e-8)
    deviations = np.sqrt([p.variance(QUERIES) for p in parts])
    q = one.quantile(0.2, QUERIES)
    np.testing.assert_allclose(weights @ norm.cdf(q, means, deviations), 0.2, atol=1e-9)
    draws = one.sample(QUERIES, default_rng(1), draws=4000)  # five standard errors, false alarm 1e-6 for each of 3
    assert (np.abs(draws.mean(0) - mean) < 5.0 * np.sqrt(np.diagonal(covariance) / 4000)).all()


def test_particles_agree_with_a_grid():
    """400 particles, resampled and moved, have the posterior mean scale of a fine grid, within .2 in logarithms.

    The standard deviation of the estimate over seeds is about .05: four of them.
    """
    rng, noise, gamma = default_rng(2), 0.2, 0.0
    states = np.sort(rng.uniform(0.0, 4.0, 31))
    truth = np.linalg.cholesky(Gaussian(scale=0.5)(states, states) + 1e-9 * np.eye(31)) @ rng.standard_normal(31)
    rewards = truth[:-1] + noise * rng.standard_normal(30)
    grid = np.linspace(-4.0, 4.0, 161)
    logs = -0.5 * grid**2 + [
        GPTD(Gaussian(scale=float(np.exp(x))), noise, gamma).update_many((states, rewards)).log_evidence() for x in grid
    ]
    expected = np.exp(logs - logsumexp(logs)) @ grid

    class OneScale(Gaussian):
        """Only the scale is unknown."""

        @property
        def parameters(self):
            return np.log([self.scale])

        def with_parameters(self, logs):
            return OneScale(scale=float(np.exp(logs[0])), variance=1.0)

    belief = KernelSelection([OneScale(scale=1.0)], noise=noise, gamma=gamma, threshold=1e-6, particles=400)
    for i in range(0, 30, 5):
        belief = belief.update_many((states[i : i + 6], rewards[i : i + 5]), default_rng(3 + i))
    found = belief.weights @ [np.log(v.prior_covariance.scale) for v in belief.values]
    assert len(belief.values) == 400
    assert abs(found - expected) < 0.2


BAD = {
    "candidates": lambda: KernelSelection([]),
    "not covariances": lambda: KernelSelection([1.0]),
    "one is not": lambda: KernelSelection([Gaussian(), 1.0]),
    "weights": lambda: KernelSelection([Gaussian()], weights=[0.5, 0.5]),
    "negative": lambda: KernelSelection([Gaussian()], weights=[-1.0]),
    "zero": lambda: KernelSelection([Gaussian()], weights=[0.0]),
    "rng": lambda: KernelSelection([Gaussian()], particles=3).update(Transition(0.0, 0, 1.0, 1.0)),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_in_a_sentence(name):
    with pytest.raises(InvalidArgument, match="must be"):
        BAD[name]()


@pytest.mark.parametrize("seed", [0, 1])
def test_particles_do_not_degenerate(seed):
    """After every update the effective number is at least half; resampling makes the weights equal."""
    belief, equal = KernelSelection([Gaussian(0.3), Gaussian(3.0)], noise=0.2, gamma=0.5, particles=12, width=2.0), 0
    rng = default_rng(seed)
    for step in log(default_rng(7)):
        belief = belief.update(step, rng)
        assert 1.0 / np.sum(belief.weights**2) >= 6.0
        assert belief.weights.sum() == pytest.approx(1.0)
        equal += bool((belief.weights == 1.0 / 12).all())
    assert 0 < equal < 12


def test_moves_keep_the_prior():
    """Without data a move keeps N(log centre, width^2). 400 particles, 25 moves; false alarm 1e-6 for each test."""
    belief, rng = KernelSelection([Gaussian(0.5, 2.0)], particles=400, width=0.4, spread=0.6), default_rng(0)
    belief = belief._drawn(rng)
    before = np.array([v.prior_covariance.parameters for v in belief.values])
    for _ in range(25):
        belief = belief._rejuvenated(rng)
    logs = np.array([v.prior_covariance.parameters for v in belief.values])
    for found in (before, logs):
        for x, centre in zip(found.T, np.log([0.5, 2.0]), strict=True):
            assert kstest(x, norm(centre, 0.4).cdf).pvalue > 1e-6
            assert abs(np.mean((x - centre) ** 2) / 0.16 - 1.0) < 4.9 * np.sqrt(2.0 / 400)
    assert (logs != before).all()


def test_particles_are_drawn_anew_below_half_of_them():
    """One of two particles has all the weight: that is half of them, and not less. With three it is less."""
    weak, strong = Gaussian(variance=1e-4), Gaussian(variance=1.0)
    for n, moved in ((2, False), (3, True)):
        belief = KernelSelection([weak, strong], noise=0.01, gamma=0.5, particles=n, width=0.01)
        for seed in range(20):
            new = belief.update(Transition(0.0, 0, 5.0, 1.0, terminated=True), default_rng(seed))
            one = belief._drawn(default_rng(seed))
            if sum(one.origin) == 1:
                break
        assert sum(one.origin) == 1  # of the strong kind
        if moved:
            np.testing.assert_array_equal(new.weights, np.full(n, 1.0 / n))
            assert new.origin == (1,) * n
        else:
            np.testing.assert_array_equal(new.weights, one.origin)
            assert new.origin == one.origin


def test_a_weight_that_is_too_small_for_a_number():
    """A reward that one kernel cannot explain leaves it no weight; what comes then raises no warning."""
    belief = KernelSelection([Gaussian(variance=1e-4), Gaussian(variance=1.0)], noise=0.01, gamma=0.5)
    for reward in (5.0, 4.9):
        belief = belief.update(Transition(0.0, 0, reward, 1.0, terminated=True))
        assert belief.weights.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("parts", [(12,), (5, 7), (0, 1, 0, 11), (1,) * 12])
def test_what_a_move_replays_is_what_was_learnt(parts):
    """In logs of any length, of which the first may be empty, and across restarts."""
    steps = log(default_rng(0))
    belief, rng = KernelSelection([Gaussian(0.5), Gaussian(2.0)], noise=0.5, gamma=0.9, particles=5), default_rng(1)
    assert belief.update_many([]) == belief
    for start, n in zip(np.cumsum([0, *parts[:-1]]), parts, strict=True):
        belief = belief.update_many(steps[start : start + n], rng)
        belief = belief.restart() if n and steps[start + n - 1].terminated else belief
    kept = np.concatenate([one.rewards for one in belief.log])
    np.testing.assert_array_equal(kept, [step.reward for step in steps])
    for value in belief.values:
        plain = GPTD(value.prior_covariance, 0.5, 0.9).update_many(steps)
        np.testing.assert_allclose(value.mean(QUERIES), plain.mean(QUERIES), 1e-9)
        assert value.log_evidence() == pytest.approx(plain.log_evidence())
