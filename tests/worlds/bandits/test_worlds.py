"""Bandit worlds: what they draw and pay, gaps, lockstep, default priors. False alarm of each statistical test 1e-5."""

import itertools

import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose
from scipy import special, stats

from bayesrl.beliefs.arms.beta_bernoulli import BetaBernoulli
from bayesrl.beliefs.arms.linear_gaussian_arms import LinearGaussianArms
from bayesrl.beliefs.arms.money.priced import Priced
from bayesrl.core import Family, World
from bayesrl.errors import InvalidArgument
from bayesrl.lab.priors import prior_for
from bayesrl.worlds.bandits._contextual import ContextualBandit, spread_features
from bayesrl.worlds.bandits.bernoulli import BernoulliBandit, bernoulli
from bayesrl.worlds.bandits.chapelle_li_bandit import chapelle_li
from bayesrl.worlds.bandits.combinatorial import CombinatorialBandit, combinatorial
from bayesrl.worlds.bandits.contextual_shop import SPREAD, contextual_shop
from bayesrl.worlds.bandits.gaussian import GaussianBandit, gaussian
from bayesrl.worlds.bandits.linear import linear
from bayesrl.worlds.bandits.logistic import logistic
from bayesrl.worlds.bandits.online_shop import online_shop
from bayesrl.worlds.bandits.online_shop_several import online_shop_several
from bayesrl.worlds.shop import Shop

ALL = [bernoulli(), gaussian(), linear(), logistic(), combinatorial(), chapelle_li(), online_shop(), contextual_shop()]


@pytest.mark.parametrize("world", ALL, ids=lambda w: type(w).__name__)
def test_worlds_and_families_are_what_the_core_expects(world):
    assert isinstance(world, (World, Family))
    assert prior_for(world) == world.default_prior()
    assert world.gamma == 1.0
    one = world.draw(default_rng(0)) if isinstance(world, Family) else world
    assert one.n_actions == world.n_actions
    assert one.default_prior() == world.default_prior()


def test_families_draw_what_they_say():
    rng = default_rng(0)
    means = bernoulli(arms=5).batch(2000).draw(rng).means
    assert means.shape == (2000, 5)
    assert stats.kstest(means.ravel(), "uniform").pvalue > 1e-5
    assert stats.kstest(gaussian(arms=5).batch(2000).draw(rng).means.ravel(), "norm").pvalue > 1e-5
    assert bernoulli(arms=3).draw(rng).means.shape == (3,)


def test_contextual_arms_pay_their_means_in_lockstep():
    """6000 replicates of arms that pay 0 or 1."""
    n, p = 6000, np.array([[0.2, 0.9], [0.6, 0.1]])
    world = ContextualBandit(p, None, BetaBernoulli.uniform(2)).batch(n)
    for context, arm in itertools.product((0, 1), (0, 1)):
        paid = world.step(np.full(n, context), np.full(n, arm), default_rng(3)).reward
        assert set(paid) == {0.0, 1.0}
        assert stats.binomtest(int(paid.sum()), n, p[context, arm]).pvalue > 1e-5


def test_customers_are_told_apart_by_contrasts():
    """A one, then contrasts that sum to zero over all kinds; no two kinds look alike."""
    x = Shop().customers()
    assert x.shape == (2, 3)
    assert (x[:, 0] == 1.0).all()
    assert not x[:, 1:].sum(axis=0).any()
    assert len(np.unique(x, axis=0)) == 2
    belief = contextual_shop().belief  # a weight of the prior has this deviation
    assert_allclose(belief.root @ belief.root.T, SPREAD**2 * np.eye(9))


@pytest.mark.parametrize("lockstep", [False, True])
def test_arms_pay_their_means(lockstep):
    rng, n = default_rng(1), 6000
    p, mu = np.array([0.2, 0.9]), np.array([-1.0, 2.5])
    for world, a in itertools.product((BernoulliBandit(p), GaussianBandit(mu)), (0, 1)):
        if lockstep:
            paid = world.batch(n).step(None, np.full(n, a), rng)[2]
        else:
            paid = np.array([world.step(None, a, rng)[2] for _ in range(n)])
        if isinstance(world, BernoulliBandit):
            assert set(paid) == {0.0, 1.0}
            assert stats.binomtest(int(paid.sum()), n, p[a]).pvalue > 1e-5
        else:
            assert stats.kstest(paid, stats.norm(mu[a], 1.0).cdf).pvalue > 1e-5


def test_gaps_are_what_an_arm_gives_away():
    world = BernoulliBandit(np.array([0.2, 0.9, 0.5]))
    assert_allclose([world.gap(None, a) for a in range(3)], [0.7, 0.0, 0.4])
    both = BernoulliBandit(np.array([[0.2, 0.9, 0.5], [0.6, 0.1, 0.3]]))
    assert_allclose(both.gap(None, np.array([2, 1])), [0.4, 0.5])


def test_chapelle_li_by_hand():
    world = chapelle_li()
    assert world.means[0] == 0.5
    assert_allclose(world.means[1:], np.full(99, 0.4))
    assert_allclose(chapelle_li(10, 0.02).means[1:], np.full(9, 0.48))
    assert_allclose(chapelle_li(3, 0.5).means, [0.5, 0.0, 0.0])
    for bad in (0.51, 1.0, -0.01):
        with pytest.raises(InvalidArgument, match=r"chapelle-li-bandit: 'epsilon' must be in \[0, 0\.5\]"):
            chapelle_li(3, bad)


def test_contextual_families_draw_what_they_say():
    """Means are linear (in the log-odds) in the features, with weights of the stated variance."""
    rng, n = default_rng(2), 4000
    X = spread_features(20, 10, 5)
    assert np.abs(X).max() <= 1 / np.sqrt(5)
    assert np.linalg.matrix_rank(X.reshape(-1, 5)) == 5
    drawn = logistic().batch(n).draw(rng)
    score = special.logit(drawn.means).reshape(n, -1)
    weights = np.linalg.lstsq(X.reshape(-1, 5), score.T, rcond=None)[0]
    assert_allclose(X.reshape(-1, 5) @ weights, score.T, atol=1e-9)
    assert stats.kstest(weights.ravel() / 3.0, "norm").pvalue > 1e-5
    drawn = linear(contexts=3).batch(n).draw(rng)
    X = spread_features(3, 30, 5)
    weights = np.linalg.lstsq(X.reshape(-1, 5), drawn.means.reshape(n, -1).T, rcond=None)[0]
    assert stats.kstest(weights.ravel() / np.sqrt(10.0), "norm").pvalue > 1e-5
    assert isinstance(linear().default_prior(), LinearGaussianArms)
    assert_allclose(linear().default_prior().covariance, 10.0 * np.eye(5))


@pytest.mark.parametrize(
    "family", [linear(arms=3, contexts=4), logistic(arms=3, contexts=4)], ids=["linear", "logistic"]
)
def test_contexts_are_uniform_and_pay_their_means(family):
    rng, n = default_rng(3), 20_000
    world = family.draw(rng)
    state, seen = world.reset(rng)
    assert state == seen
    contexts, paid = [], []
    for _ in range(n):
        contexts.append(state)
        state, seen, reward, over = world.step(state, 1, rng)
        paid.append(reward)
        assert not over
    contexts, paid = np.array(contexts), np.array(paid)
    assert stats.chisquare(np.bincount(contexts, minlength=4)).pvalue > 1e-5
    for c in range(4):
        mine = paid[contexts == c]
        se = mine.std() / np.sqrt(len(mine))
        assert abs(mine.mean() - world.means[c, 1]) < 4.9 * se  # 1e-6 for each
    together = family.batch(5).draw(rng)
    state, _ = together.reset(rng)
    assert_allclose(
        together.gap(state, np.arange(5) % 3)[2], together.means[2, state[2]].max() - together.means[2, state[2], 2]
    )


def test_combinatorial_pays_and_shows_what_it_says():
    rng, n = default_rng(4), 5000
    p = np.array([0.1, 0.8, 0.5, 0.4])
    chosen = np.array([1, 3])
    semi = CombinatorialBandit(p, 2)
    paid = np.array([semi.step(None, chosen, rng)[1] for _ in range(n)])
    assert all(stats.binomtest(int(paid[:, j].sum()), n, p[chosen[j]]).pvalue > 1e-5 for j in (0, 1))
    _, seen, reward, _ = semi.step(None, chosen, rng)
    assert reward == seen.sum()
    _, seen, reward, _ = CombinatorialBandit(p, 2, "full").step(None, chosen, rng)
    assert seen == 0
    for items in itertools.combinations(range(4), 2):
        assert_allclose(semi.gap(None, np.array(items)), 1.3 - p[list(items)].sum(), atol=1e-12)
    assert combinatorial(arms=6).batch(3).draw(rng).reset(rng)[1].shape == (3, 3)


def test_shops_agree_with_each_other():
    """The bandit forms average the contextual one's customers, and its belief can represent its rates."""
    shop = Shop()
    rates = shop.buys()
    assert rates.shape == (2, 3)
    assert_allclose(contextual_shop().rates, rates)
    assert_allclose(online_shop().rates, rates.mean(axis=0))
    assert_allclose(online_shop_several().rates, rates.mean(axis=0))
    X = shop.product_features()
    w = np.linalg.lstsq(X.reshape(6, 9), special.logit(rates).ravel(), rcond=None)[0]
    assert_allclose(special.expit(X @ w), rates, atol=1e-9)
    assert online_shop().default_prior() == Priced(BetaBernoulli.uniform(3), shop.prices)
    # Seeing the customer is worth something: the best product differs between kinds.
    means = contextual_shop().means
    assert len(set(means.argmax(axis=1).tolist())) == 2
    assert means.max(axis=1).mean() > 1.15 * means.mean(axis=0).max()


@pytest.mark.parametrize("noise", [None, 0.7])
def test_contextual_rewards_are_drawn_before_the_next_context(noise):
    """The stream by hand: first the number of the reward, then the next context; alone and in lockstep."""
    p = np.array([[0.2, 0.9, 0.4], [0.6, 0.1, 0.7]])
    world = ContextualBandit(p, noise, BetaBernoulli.uniform(3))
    three, context, arm = world.batch(3), np.array([1, 0, 1]), np.array([2, 0, 1])
    for seed in range(8):
        rng = default_rng(seed)
        paid = float(rng.random() < p[1, 2]) if noise is None else p[1, 2] + noise * rng.standard_normal()
        step, after = world.step(1, 2, default_rng(seed)), int(rng.integers(2))
        assert (step.state, step.observation, step.reward) == (after, after, paid)
        rng, mean = default_rng(seed), p[context, arm]
        paid = (rng.random(3) < mean) * 1.0 if noise is None else mean + noise * rng.standard_normal(3)
        step, after = three.step(context, arm, default_rng(seed)), rng.integers(2, size=3)
        np.testing.assert_array_equal(step.reward, paid)
        np.testing.assert_array_equal(step.state, after)
        np.testing.assert_array_equal(step.observation, after)
