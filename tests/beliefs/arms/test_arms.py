"""Conjugate beliefs about arms against quadrature, logs against single steps, lockstep against one by one."""

import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose
from scipy import integrate, stats

from bayesrl.beliefs.arms.beta_bernoulli import BetaBernoulli
from bayesrl.beliefs.arms.binarised_rewards import BinarisedRewards
from bayesrl.beliefs.arms.exponential_arm import ExponentialArm
from bayesrl.beliefs.arms.normal_arm import NormalArm
from bayesrl.beliefs.arms.normal_gamma_arm import NormalGammaArm
from bayesrl.beliefs.arms.poisson_arm import PoissonArm
from bayesrl.beliefs.rewards.reward_normal import RewardNormal
from bayesrl.core import Transition
from bayesrl.testing import assert_mean_equal


def seen(*rewards, arm=1):
    return [Transition(0, arm, float(r), 0) for r in rewards]


# For each belief: rewards of arm 1, and its prior density and likelihood as functions of the mean reward x.
CASES = {
    "beta": (
        BetaBernoulli([2.0, 0.8], [1.0, 1.3]),
        [1, 0, 0, 1, 0],
        (1e-12, 1 - 1e-12),
        lambda x: stats.beta.pdf(x, 0.8, 1.3),
        lambda r, x: stats.bernoulli.pmf(r, x),
    ),
    "normal": (
        NormalArm([0.0, 1.0], [1.0, 0.5], noise=0.7),
        [0.3, -1.2, 2.0],
        (-6, 6),
        lambda x: stats.norm.pdf(x, 1.0, 0.7 / np.sqrt(0.5)),
        lambda r, x: stats.norm.pdf(r, x, 0.7),
    ),
    "poisson": (
        PoissonArm([1.0, 1.5], [1.0, 0.5]),
        [3, 0, 1],
        (0, 40),
        lambda x: stats.gamma.pdf(x, 1.5, scale=2.0),
        lambda r, x: stats.poisson.pmf(r, x),
    ),
    "exponential": (
        ExponentialArm([3.0, 3.5], [1.0, 1.3]),
        [0.2, 1.7, 0.9, 0.4],
        (1e-3, 60),
        lambda x: stats.invgamma.pdf(x, 3.5, scale=1.3),
        lambda r, x: stats.expon.pdf(r, scale=x),
    ),
    "normal-gamma": (
        NormalGammaArm([0.0, 0.5], [1.0, 0.8], [3.0, 3.5], [2.0, 1.2]),
        [0.3, -1.2, 2.0],
        (-8, 8),
        None,  # two unknowns: `marginal` integrates the precision out
        None,
    ),
}


def marginal(x, rewards):
    """Prior times likelihood of the normal-gamma case at mean rewards x, the precision integrated out."""
    precision, x = np.linspace(1e-6, 30.0, 3001)[:, None], x[None]
    prior = stats.gamma.pdf(precision, 3.5, scale=1 / 1.2) * stats.norm.pdf(x, 0.5, (0.8 * precision) ** -0.5)
    joint = prior * np.prod([stats.norm.pdf(r, x, precision**-0.5) for r in rewards], axis=0)
    return integrate.simpson(joint, x=precision[:, 0], axis=0)


@pytest.mark.parametrize("name", CASES)
def test_matches_quadrature(name):
    belief, rewards, (low, high), prior, likelihood = CASES[name]
    posterior = belief.update_many(seen(*rewards))
    if prior is None:
        grid = np.linspace(low, high, 801)
        joint = marginal(grid, rewards)
    else:
        grid = np.linspace(low, high, 400_001)
        joint = prior(grid) * np.prod([likelihood(r, grid) for r in rewards], axis=0)
    evidence = integrate.simpson(joint, x=grid)
    density = joint / evidence
    mean = integrate.simpson(grid * density, x=grid)
    variance = integrate.simpson((grid - mean) ** 2 * density, x=grid)
    below = integrate.cumulative_simpson(density, x=grid, initial=0.0)
    tol = 2e-4 if prior is None else 2e-5
    assert_allclose(posterior.log_evidence(), np.log(evidence), atol=tol)
    assert_allclose(posterior.mean()[1], mean, rtol=tol)
    assert_allclose(posterior.variance()[1], variance, rtol=20 * tol)
    for p in (0.05, 0.5, 0.9):
        assert_allclose(np.interp(posterior.quantile(p)[1], grid, below), p, atol=tol)
    draws = np.array(
        [posterior.sample_means(None, default_rng(i)) for i in range(4000)]
    )  # false alarm 1e-4, sees 5% of a deviation
    assert stats.kstest(draws[:, 1], lambda x: np.interp(x, grid, below)).pvalue > 1e-4


@pytest.mark.parametrize("name", CASES)
def test_untouched_arm_is_untouched(name):
    belief, rewards, *_ = CASES[name]
    posterior = belief.update_many(seen(*rewards))
    for ask in (posterior.mean, posterior.variance):
        assert ask()[0] == getattr(belief, ask.__name__)()[0]
    assert posterior.plays().tolist() == [0, len(rewards)]
    assert np.isnan(posterior.average()[0])
    assert_allclose(posterior.average()[1], np.mean(rewards))


@pytest.mark.parametrize("name", CASES)
def test_a_log_is_its_steps_and_lockstep_is_one_by_one(name):
    belief, rewards, *_ = CASES[name]
    rng = default_rng(3)
    steps, n = 40, 5
    action = rng.integers(2, size=(steps, n))
    reward = rng.choice(np.array(rewards, float), size=(steps, n))
    together = belief.batch(n)
    for a, r in zip(action, reward, strict=True):
        together = together.update(Transition(0, a, r, 0))
    at_once = belief.batch(n).update_many({"action": action, "reward": reward})
    for i in range(n):
        alone = belief
        for a, r in zip(action[:, i], reward[:, i], strict=True):
            alone = alone.update(Transition(0, int(a), float(r), 0))
        log = belief.update_many({"action": action[:, i], "reward": reward[:, i]})
        for ask in ("mean", "variance", "plays", "average", "log_evidence"):
            expected = getattr(alone, ask)()
            assert_allclose(getattr(together, ask)()[i], expected, rtol=1e-11)
            assert_allclose(getattr(at_once, ask)()[i], expected, rtol=1e-9)
            assert_allclose(getattr(log, ask)(), expected, rtol=1e-9)
        assert_allclose(together.quantile(0.8)[i], alone.quantile(0.8), rtol=1e-9)
    assert together.sample_means(None, default_rng(0)).shape == (n, 2)
    assert belief.batch(n).update_many([]) == belief.batch(n)


def test_survey_misprint_is_not_repeated():
    """ERRATA 1: a zero adds one to beta and leaves alpha alone."""
    posterior = BetaBernoulli.uniform(2).update(Transition(0, 0, 0.0, 0))
    assert posterior == BetaBernoulli([1.0, 1.0], [2.0, 1.0])


def test_normal_gamma_is_reward_normal():
    mean, strength, shape, rate = np.array([[0.2, -1.0], [1.0, 0.5], [2.0, 3.0], [1.0, 0.7]])
    ours, theirs = NormalGammaArm(mean, strength, shape, rate), RewardNormal(mean, strength, shape, rate)
    for a, r in [(0, 0.3), (1, -2.0), (0, 1.1), (0, 0.9)]:
        ours, theirs = ours.update(Transition(0, a, r, 0)), theirs.update(((a,), r))
    for field in ("mean_", "strength", "shape", "rate"):
        assert_allclose(getattr(ours, field), getattr(theirs, field), rtol=1e-13)


def test_binarised_coin_is_fair_to_the_mean():
    """False alarm 1e-6; 4000 coins see a bias of about .04."""
    belief = BinarisedRewards(BetaBernoulli.uniform(2))
    rng = default_rng(1)
    wins = [belief.update(Transition(0, 1, 0.3, 0), rng).inside.alpha[1] - 1.0 for _ in range(4000)]
    assert_mean_equal(np.array(wins)[:, None], np.array([0.3]), false_alarm=1e-6, what="coin")
    log = {"action": np.ones(4000, int), "reward": np.full(4000, 0.3)}
    many = belief.update_many(log, rng).inside.average()[1]
    assert abs(many - 0.3) < 5 * np.sqrt(0.21 / 4000)


def test_binarised_is_transparent_on_zeros_and_ones():
    inside = BetaBernoulli.uniform(3)
    wrapped, rng = BinarisedRewards(inside.batch(4)), default_rng(0)
    a, r = np.array([0, 1, 2, 0]), np.array([0.0, 1.0, 1.0, 0.0])
    expected = inside.batch(4).update(Transition(0, a, r, 0))
    assert wrapped.update(Transition(0, a, r, 0), rng).inside == expected
