"""Purchases of random amounts against quadrature of prior times likelihood, logs against steps, lockstep, refusals."""

import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal
from scipy import integrate, stats

import bayesrl as b
from bayesrl.beliefs import Forgetting, LogNormalPurchase
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence, Incompatible, InvalidArgument
from bayesrl.lab.priors import prior_for
from bayesrl.worlds import PricedBandit

PRIOR = LogNormalPurchase([2.0, 0.8], [1.0, 1.3], [0.0, 0.5], [1.0, 0.7], 0.6, 0.9)
REWARDS = [0.0, 2.5, 0.0, 1.1, 4.0, 0.0]


def seen(*rewards, arm=1):
    return [Transition(0, arm, float(r), 0) for r in rewards]


def test_matches_quadrature():
    """Rate and mean logarithm on grids: their posteriors, and the evidence."""
    posterior = PRIOR.update_many(seen(*REWARDS))
    theta, mu = np.linspace(1e-9, 1 - 1e-9, 400_001), np.linspace(-8.0, 9.0, 40_001)
    rate = stats.beta.pdf(theta, 0.8, 1.3)
    typical = stats.norm.pdf(mu, 0.5, 0.6 / np.sqrt(0.7))
    for r in REWARDS:
        rate = rate * (theta if r else 1.0 - theta)
        typical = typical * (stats.lognorm.pdf(r, 0.6, scale=np.exp(mu)) if r else 1.0)
    bought, amounts = integrate.simpson(rate, x=theta), integrate.simpson(typical, x=mu)
    assert_allclose(posterior.log_evidence(), np.log(bought * amounts), atol=2e-4)
    value = np.exp(mu + 0.18)
    first = integrate.simpson(rate * theta, x=theta) / bought * integrate.simpson(typical * value, x=mu) / amounts
    second = (
        integrate.simpson(rate * theta**2, x=theta) / bought * integrate.simpson(typical * value**2, x=mu) / amounts
    )
    assert_allclose(posterior.mean()[1], first, rtol=2e-4)
    assert_allclose(posterior.variance()[1], second - first**2, rtol=2e-3)
    assert posterior.mean()[0] == PRIOR.mean()[0]
    assert posterior.plays().tolist() == [0.0, 6.0]
    assert_allclose(posterior.average()[1], np.mean(REWARDS))
    assert np.isnan(posterior.average()[0])


@pytest.mark.parametrize(
    "belief",
    [
        PRIOR,
        PRIOR.update_many(seen(*REWARDS)),
        LogNormalPurchase([0.5, 3.0], [0.5, 400.0], [1.0, 3.0], [1.0, 30.0], 1.5),
        LogNormalPurchase([2000.0, 5.0], [30.0, 5.0], [0.0, 0.0], [0.5, 1e8], 1.0),
    ],
    ids=["prior", "posterior", "rare", "sure"],
)
def test_quantiles_match_quadrature(belief):
    """P(theta exp(mu + sigma^2 / 2) <= x) as an integral over theta in its own quantiles."""
    u = (np.arange(40_000) + 0.5) / 40_000
    for p in (0.01, 0.3, 0.5, 0.95, 0.999):
        at = belief.quantile(p)
        for a in range(2):
            theta = stats.beta.ppf(u, belief.alpha[a], belief.beta[a])
            centre = belief.log_mean[a] + 0.5 * belief.spread**2
            z = (np.log(at[a]) - np.log(theta) - centre) / (belief.spread / np.sqrt(belief.strength[a]))
            assert_allclose(stats.norm.cdf(z).mean(), p, atol=3e-5)
    assert belief.quantile(0.0).tolist() == [0.0, 0.0]
    assert belief.quantile(1.0).tolist() == [np.inf, np.inf]


def test_draws_have_the_quantiles():
    """4000 draws: false alarm 1e-6 for each quantile, sees .04."""
    rng = default_rng(0)
    draws = np.array([PRIOR.sample_means(None, rng) for _ in range(4000)])
    for p in (0.1, 0.5, 0.9):
        assert_allclose((draws <= PRIOR.quantile(p)).mean(axis=0), p, atol=5.0 * np.sqrt(0.25 / 4000))


def test_a_log_is_its_steps_and_lockstep_is_one_by_one():
    rng, n = default_rng(3), 4
    action = rng.integers(2, size=(25, n))
    reward = rng.choice(np.array(REWARDS), size=(25, n))
    together = PRIOR.batch(n)
    for a, r in zip(action, reward, strict=True):
        together = together.update(Transition(0, a, r, 0))
    at_once = PRIOR.batch(n).update_many({"action": action, "reward": reward})
    for i in range(n):
        alone = PRIOR
        for a, r in zip(action[:, i], reward[:, i], strict=True):
            alone = alone.update(Transition(0, int(a), float(r), 0))
        log = PRIOR.update_many({"action": action[:, i], "reward": reward[:, i]})
        for ask in ("mean", "variance", "plays", "average", "log_evidence"):
            expected = getattr(alone, ask)()
            assert_allclose(getattr(together, ask)()[i], expected, rtol=1e-11)
            assert_allclose(getattr(at_once, ask)()[i], expected, rtol=1e-9)
            assert_allclose(getattr(log, ask)(), expected, rtol=1e-9)
        assert_allclose(together.quantile(0.8)[i], alone.quantile(0.8), rtol=1e-9)
    assert PRIOR.update_many([]) == PRIOR


def test_fades_towards_its_prior():
    faded = Forgetting(PRIOR, decay=0.5)
    for datum in seen(2.0, 0.0):
        faded = faded.update(datum)
    assert_allclose(faded.belief.alpha[1], 0.8 + 0.5)
    assert_allclose(faded.belief.beta[1], 1.3 + 1.0)
    assert_allclose(faded.belief.strength[1], 0.7 + 0.5)
    assert_allclose(faded.belief.strength[1] * faded.belief.log_mean[1], 0.35 + 0.5 * np.log(2.0))
    assert_allclose(faded.average()[1], 1.0 / 1.5)


@pytest.mark.parametrize("name", ["thompson", "bayes-ucb", "ucb1"])
def test_planners_act_on_it(name):
    world = PricedBandit([0.6, 0.1], [3.0, 20.0])
    prior = prior_for(world, "log-normal-purchase:0.4")
    assert_array_equal(prior.log_mean, np.log([3.0, 20.0]))
    record = b.run(b.BayesAgent(prior, b.make(name)), world, steps=20)
    assert record.reward.shape == (20,)
    shop = b.LiveAgent(b.BayesAgent(prior, b.make(name)), actions=["pen", "desk"])
    shop.learn("desk", reward=19.5)
    assert shop.explain()[1].mean > prior.mean()[1]


def test_what_it_lacks_is_refused_with_the_reason():
    with pytest.raises(Incompatible, match="information of a play"):
        b.BayesAgent(PRIOR, b.make("information-directed"))
    b.BayesAgent(PRIOR, b.make("information-directed", form="variance"))
    with pytest.raises(Incompatible):
        b.BayesAgent(PRIOR, b.make("gittins"))
    assert prior_for(b.make_world("bernoulli", arms=2), "log-normal-purchase") == LogNormalPurchase.weak(2)
    with pytest.raises(InvalidArgument, match="rewards are not negative"):
        prior_for(b.make_world("gaussian"), "log-normal-purchase")


@pytest.mark.parametrize(
    "make, said",
    [
        (lambda: LogNormalPurchase([1.0], [1.0], [0.0, 0.0], [1.0]), "'log_mean' must be an array of shape"),
        (lambda: LogNormalPurchase([0.0], [1.0], [0.0], [1.0]), "'alpha' must be greater than 0"),
        (lambda: LogNormalPurchase([1.0], [1.0], [0.0], [1.0], 0.0), "'spread' must be greater than 0"),
        (lambda: LogNormalPurchase([1.0], [1.0], [300.0], [1.0]), "'log_mean' must be such that mean and variance"),
        (lambda: LogNormalPurchase([1.0], [1.0], [0.0], [1.0], 20.0), "'log_mean' must be such that mean and variance"),
        (lambda: LogNormalPurchase.weak(0), "'arms' must be"),
        (lambda: LogNormalPurchase.weak(2, -1.0), "'spread' must be greater than 0"),
        (lambda: PRIOR.update(Transition(0, 2, 1.0, 0)), "'action' must be"),
        (lambda: PRIOR.update(Transition(0, 0, float("inf"), 0)), "'reward' must be a finite number"),
        (lambda: PRIOR.batch(0), "'replicates' must be"),
        (lambda: PRIOR.quantile(-0.1), "'p' must be"),
    ],
)
def test_wrong_arguments_are_refused(make, said):
    with pytest.raises(InvalidArgument, match=said):
        make()


def test_negative_rewards_are_refused():
    with pytest.raises(ImpossibleEvidence, match="LogNormalPurchase: reward -1 has probability zero"):
        PRIOR.update(Transition(0, 0, -1.0, 0))
    with pytest.raises(ImpossibleEvidence, match="rewards are not negative"):
        PRIOR.update_many({"action": [0, 1], "reward": [1.0, -2.0]})
