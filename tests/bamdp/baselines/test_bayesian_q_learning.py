"""Bayesian Q-learning: every formula against integration or sampling."""

import numpy as np
import pytest
from numpy.random import default_rng
from scipy import integrate, special, stats

import bayesrl as b
from bayesrl.bamdp.baselines.bayesian_q_learning import (
    LEAST,
    BayesianQLearning,
    conjugate,
    future,
    inverse_gap,
    mixture_update,
    moment_update,
    returns,
    vpi,
)
from bayesrl.beliefs.normal_gamma import NormalGamma, sample_means
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.lab.build import agent_for
from bayesrl.testing import assert_frequencies, assert_mean_equal, assert_quantiles, check_agent

CELL, AFTER = NormalGamma(1.0, 2.0, 1.7, 3.0), NormalGamma(-0.5, 1.5, 2.2, 4.0)


def log_density(cell, mu, tau):
    return stats.gamma.logpdf(tau, cell.shape, scale=1 / cell.rate) + stats.norm.logpdf(
        mu, cell.mean, (cell.strength * tau) ** -0.5
    )


def draw(cell, n, rng):
    """(mu, tau, R): parameters and a return."""
    tau = rng.gamma(cell.shape, 1 / cell.rate, n)
    mu = rng.normal(cell.mean, (cell.strength * tau) ** -0.5)
    return mu, tau, rng.normal(mu, tau**-0.5)


def test_conjugate_update_matches_quadrature():
    """Prior times likelihood of one return over posterior is constant in (mu, tau)."""
    x = 2.5
    new = conjugate(CELL, x, x * x)
    mu, tau = np.meshgrid(np.linspace(-2.0, 4.0, 7), np.linspace(0.1, 3.0, 7))
    ratio = log_density(CELL, mu, tau) + stats.norm.logpdf(x, mu, tau**-0.5) - log_density(new, mu, tau)
    np.testing.assert_allclose(ratio, ratio[0, 0], atol=1e-10)


def test_future_return_moments():
    """200000 returns; false alarm 1e-6, 1% of a deviation is seen."""
    _, _, R = draw(AFTER._replace(shape=4.0), 200_000, default_rng(0))
    first, second = future(AFTER._replace(shape=4.0))
    assert_mean_equal(np.stack([R, R * R], axis=1), [first, second])


def test_moment_update_by_hand():
    """One return with mean r + gamma E and mean square r^2 + 2 gamma r E + gamma^2 E2."""
    E, E2 = -0.5, 0.25 + (2.5 / 1.5) * 4.0 / 1.2
    m1, m2 = 2.0 + 0.9 * E, 4.0 + 2 * 0.9 * 2.0 * E + 0.81 * E2
    new = moment_update(CELL, AFTER, 2.0, 0.9)
    assert new.mean == pytest.approx((2.0 * 1.0 + m1) / 3.0)
    assert (new.strength, new.shape) == (3.0, 2.2)
    assert new.rate == pytest.approx(3.0 + 0.5 * (m2 - m1**2) + 2.0 * (m1 - 1.0) ** 2 / (2 * 3.0))


def test_quadrature_over_returns():
    """Student's law with 2 alpha degrees of freedom, by scipy: mean, variance, E log(1 + x^2), P(x > 1)."""
    x, w = returns(AFTER)
    law = stats.t(2 * 2.2, -0.5, np.sqrt(4.0 * 2.5 / (1.5 * 2.2)))
    assert w.sum() == pytest.approx(1.0)
    assert w @ x == pytest.approx(law.mean(), abs=1e-9)
    assert w @ (x - law.mean()) ** 2 == pytest.approx(law.var(), rel=1e-3)
    assert w @ np.log1p(x * x) == pytest.approx(law.expect(lambda x: np.log1p(x * x)), rel=1e-5)


def test_mixture_update_matches_monte_carlo():
    """The projection has the four expectations of the mixture: 400000 draws from it, false alarm 1e-6."""
    new, rng = mixture_update(CELL, AFTER, 2.0, 0.9), default_rng(1)
    _, _, R = draw(AFTER, 400_000, rng)
    x = 2.0 + 0.9 * R
    mixed = conjugate(CELL, x, x * x)
    tau = rng.gamma(mixed.shape, 1.0 / mixed.rate)
    mu = rng.normal(mixed.mean, (mixed.strength * tau) ** -0.5)
    drawn = np.stack([tau, mu * tau, mu * mu * tau, np.log(tau)], axis=1)
    t = new.shape / new.rate
    matched = [t, new.mean * t, 1.0 / new.strength + new.mean**2 * t, special.digamma(new.shape) - np.log(new.rate)]
    assert_mean_equal(drawn, matched)


@pytest.mark.parametrize("alpha", [2.5, 28.0, 30.0, 400.0, 1e4, 1e9])
def test_the_quadrature_has_the_moments_of_student_t(alpha):
    """However narrow the law is. Between alpha = 28 and 30 the rule stops covering all angles."""
    after = NormalGamma(0.5, 2.0, alpha, 3.0 * alpha)
    x, weight = returns(after)
    z, nu = (x - 0.5) / np.sqrt(4.5), 2.0 * alpha
    assert [weight @ z, weight @ z**2] == pytest.approx([0.0, nu / (nu - 2.0)], rel=1e-7, abs=1e-9)
    assert weight @ z**4 == pytest.approx(3.0 * nu**2 / ((nu - 2.0) * (nu - 4.0)), rel=1e-7)


def test_a_mixture_over_a_sharp_law_is_nearly_a_return_that_was_seen():
    """If R' is nearly certain, the projection is the posterior given r + gamma E[R'], up to its variance."""
    new = mixture_update(CELL, NormalGamma(1.5, 1e6, 1e6, 1.0), 2.0, 0.9)
    assert new == pytest.approx(conjugate(CELL, 3.35, 3.35**2), rel=1e-5)


def test_mixture_is_the_more_careful_update():
    """After many transitions from a state that is itself uncertain, moment updating is the surer one."""
    moment = mixture = CELL
    for _ in range(30):
        moment, mixture = moment_update(moment, AFTER, 0.0, 0.9), mixture_update(mixture, AFTER, 0.0, 0.9)
    spread = [np.sqrt(c.rate / (c.strength * c.shape)) for c in (moment, mixture)]
    assert mixture.strength < moment.strength
    assert spread[1] > 1.5 * spread[0]


def test_inverse_of_the_gap():
    for alpha in (0.3, 1.0, 2.7, 50.0, 1e4):
        assert inverse_gap(float(np.log(alpha) - special.digamma(alpha))) == pytest.approx(alpha, rel=1e-6)


def test_vpi_matches_integration():
    """The best action gains where it falls below the second, the others where they rise above the best."""
    cells = NormalGamma(
        np.array([1.0, 0.4, -0.5]), np.array([2.0, 1.0, 0.5]), np.array([1.5, 2.0, 3.0]), np.array([1.0, 3.0, 2.0])
    )
    gains = [lambda x: max(0.4 - x, 0.0), lambda x: max(x - 1.0, 0.0), lambda x: max(x - 1.0, 0.0)]
    for a, gain in enumerate(gains):
        mu, lam, alpha, beta = (x[a] for x in cells)
        law = stats.t(2 * alpha, mu, np.sqrt(beta / (lam * alpha)))
        kink = 0.4 if a == 0 else 1.0
        tails = [(-np.inf, kink), (kink, np.inf)]
        expected = sum(integrate.quad(lambda x: gain(x) * law.pdf(x), *ends)[0] for ends in tails)  # noqa: B023
        assert vpi(cells)[a] == pytest.approx(expected, rel=1e-6)
    assert vpi(NormalGamma(*(x[:1] for x in cells))).tolist() == [0.0]


def test_choices():
    """Sampling chooses by the chance of being best (of two, by integration; 3000 draws); VPI by mean plus gain."""
    first, second = NormalGamma(0.3, 9.0, 1.5, 1.0), NormalGamma(0.0, 0.5, 2.0, 4.0)
    mind = NormalGamma(*(np.array([[x, y]]) for x, y in zip(first, second, strict=True)))
    laws = [stats.t(2 * c.shape, c.mean, np.sqrt(c.rate / (c.strength * c.shape))) for c in (first, second)]
    p = integrate.quad(lambda x: laws[0].pdf(x) * laws[1].cdf(x), -np.inf, np.inf)[0]
    rng, sampling = default_rng(0), BayesianQLearning(1, 2, 0.9, choose="sampling")
    actions = [sampling.act(mind, 0, rng).action for _ in range(3000)]
    assert_frequencies(np.bincount(actions, minlength=2), [p, 1 - p])
    careful = BayesianQLearning(1, 2, 0.9).act(mind, 0, rng)
    gain = vpi(NormalGamma(*(x[0] for x in mind)))
    np.testing.assert_allclose(careful.info["q"], [0.3, 0.0])
    np.testing.assert_allclose(careful.info["vpi"], gain)
    assert careful.action == int(np.argmax(np.array([0.3, 0.0]) + gain)) == 1  # the unsure one is worth a look


def test_sampled_means_have_students_law():
    """4000 draws of each of two cells, one with much behind it and one with little; false alarm 1e-6."""
    cells, rng = NormalGamma(*np.array([[0.3, -1.0], [25.0, 0.5], [1.5, 6.0], [1.0, 9.0]])), default_rng(1)
    draws = np.array([sample_means(cells, rng) for _ in range(4000)])
    laws = stats.t(2 * cells.shape, cells.mean, np.sqrt(cells.rate / (cells.strength * cells.shape)))
    levels = np.array([0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98])
    assert_quantiles(draws, levels, laws.ppf(levels[:, None]))


def test_visits_narrow_what_is_drawn():
    """A mean of 0 after many returns near 0 is nearly sure to beat a mean of -1, after few it is not.

    3000 choices each, by the chance of being best from integration; false alarm 1e-6 each.
    """
    sampling, rng, seen = BayesianQLearning(1, 2, 0.9, choose="sampling", mean=0.0, rate=4.0), default_rng(2), []
    mind = sampling.start()._replace(mean=np.array([[0.0, -1.0]]))
    for visits in (0, 40):
        for k in range(visits):
            mind = sampling.learn(mind, Transition(0, k % 2, -float(k % 2), 0, terminated=True), rng)
        laws = [stats.t(2 * c[2], c[0], np.sqrt(c[3] / (c[1] * c[2]))) for c in np.array(mind)[:, 0].T]
        p = integrate.quad(lambda x: laws[0].pdf(x) * laws[1].cdf(x), -np.inf, np.inf)[0]  # noqa: B023
        actions = [sampling.act(mind, 0, rng).action for _ in range(3000)]
        assert_frequencies(np.bincount(actions, minlength=2), [p, 1 - p])
        seen.append(p)
    assert seen[0] < 0.7 < 0.99 < seen[1]


def test_the_default_prior_is_that_of_a_uniform_return():
    """Returns between -2 / .2 and 3 / .2, as the lab tells them or as they are given; one return's worth."""
    agent = BayesianQLearning(3, 2, 0.8, r_min=-2.0, r_max=3.0)
    law = stats.uniform(-10.0, 25.0)
    np.testing.assert_allclose(agent.prior(), (law.mean(), 1.0, 2.0, law.var()))
    assert future(agent.prior())[1] - law.mean() ** 2 == pytest.approx(2.0 * law.var())  # mu is as unsure as R is wide
    np.testing.assert_allclose([x[2, 1] for x in agent.start()], agent.prior())
    assert BayesianQLearning(3, 2, 1.0, mean=0.0, rate=7.0).prior() == (0.0, 1.0, 2.0, 7.0)
    chain = agent_for("bayesian-q-learning", b.make_world("chain", gamma=0.95))
    np.testing.assert_allclose(chain.prior(), (100.0, 1.0, 2.0, 200.0**2 / 12.0))
    gc = agent_for("bayesian-q-learning", b.make_world("gc"), params={"r_max": 20.0})
    assert (gc.r_min, gc.r_max) == (0.0, 20.0)


def test_learning_uses_the_seemingly_best_action_and_the_end():
    agent = BayesianQLearning(2, 2, 0.9, update="moment", mean=0.0, shape=2.0, rate=1.0)
    mind = agent.start()
    mind = agent.learn(mind, Transition(1, 1, 5.0, 0, terminated=True), default_rng(0))
    np.testing.assert_allclose([x[1, 1] for x in mind], [2.5, 2.0, 2.5, 1.0 + 25.0 / 4.0])  # r alone: 5 beside 0
    cell, best = NormalGamma(0.0, 1.0, 2.0, 1.0), NormalGamma(*(float(x[1, 1]) for x in mind))
    after = agent.learn(mind, Transition(0, 0, 1.0, 1), default_rng(0))
    np.testing.assert_allclose([x[0, 0] for x in after], moment_update(cell, best, 1.0, 0.9))
    assert mind.mean[0, 0] == 0.0  # the mind before is as it was
    cut = agent.learn(mind, Transition(0, 0, 1.0, 1, truncated=True), default_rng(0))
    np.testing.assert_allclose(cut.mean, after.mean)


@pytest.mark.parametrize("choose", ["vpi", "sampling"])
@pytest.mark.parametrize("update", ["moment", "mixture"])
def test_it_learns_to_wait_for_a_larger_reward(update, choose):
    """In state 0 action 1 leads to 1, where action 0 pays 5; staying in 0 pays 1. V*(1) = 5 / (1 - .49) = 9.8.

    Each of five seeds must find it, and the value within 5% after 400 steps.
    """
    pays = {(0, 0): 1.0, (0, 1): 0.0, (1, 0): 5.0, (1, 1): 0.0}
    for seed in range(5):
        agent, rng, s = BayesianQLearning(2, 2, 0.7, update, choose, r_max=5.0), default_rng(seed), 0
        mind = agent.start()
        for _ in range(400):
            a = agent.act(mind, s, rng).action
            y = int((s, a) == (0, 1))
            mind, s = agent.learn(mind, Transition(s, a, pays[s, a], y), rng), y
        assert mind.mean.argmax(axis=1).tolist() == [1, 0]
        assert mind.shape.min() >= LEAST
        assert mind.mean[1, 0] == pytest.approx(5.0 / 0.51, rel=0.05)


def test_reproducible():
    check_agent(BayesianQLearning(5, 2, 0.95), b.make_world("chain"))
    check_agent(BayesianQLearning(5, 2, 0.95, update="moment", choose="sampling"), b.make_world("chain"))


def test_bad_arguments():
    for params, sentence in [
        ({"shape": 1.0}, "BayesianQLearning: 'shape' must be in (1, 1e+09], got 1.0."),
        ({"update": "mean"}, "BayesianQLearning: 'update' must be one of moment, mixture, got 'mean'."),
        ({"r_max": -1.0}, "BayesianQLearning: 'r_max' must be at least 0, got -1.0."),
        (
            {"r_max": 1e-300},
            "BayesianQLearning: 'r_max' must be greater than r_min (0) by 1e-100 to 1e+100, got 1e-300. Otherwise give "
            "the prior: mean and rate.",
        ),
        (
            {"r_max": 0.0},
            "BayesianQLearning: 'r_max' must be greater than 0, got 0.0. Otherwise give the prior: mean and rate.",
        ),
        (
            {"gamma": 1.0, "mean": 0.0},
            "BayesianQLearning: 'gamma' must be below 1, got 1.0. Otherwise give the prior: mean and rate.",
        ),
        (
            {"r_min": -0.01e100, "r_max": 1e100},
            "BayesianQLearning: 'r_max' must be greater than r_min (-1e+98) by 1e-100 to 1e+100, got 1e+100. Otherwise "
            "give the prior: mean and rate.",
        ),
        (
            {"r_max": 0.99e-100, "mean": 3.0},
            "BayesianQLearning: 'r_max' must be greater than r_min (0) by 1e-100 to 1e+100, got 9.9e-101. Otherwise "
            "give the prior: mean and rate.",
        ),
        ({"choose": "best"}, "BayesianQLearning: 'choose' must be one of vpi, sampling, got 'best'."),
    ]:
        with pytest.raises(InvalidArgument) as error:
            BayesianQLearning(2, 2, **({"gamma": 0.9} | params))
        assert str(error.value) == sentence
    for range_ in (
        {"r_max": 1e-100},
        {"r_max": 1e100},
        {"r_max": 0.0, "rate": 2.0},
        {"r_min": -1e100, "r_max": 1e100, "rate": 2.0},
    ):
        assert np.isfinite(BayesianQLearning(2, 2, 0.9, **range_).prior()).all()
    half = BayesianQLearning(2, 2, 0.75, r_min=-1.0, r_max=4.0, rate=7.0, strength=3.0, shape=1.5)
    assert half.prior() == (pytest.approx(6.0), 3.0, 1.5, 7.0)  # the middle of -4 and 16
    half = BayesianQLearning(2, 2, 0.75, r_min=-1.0, r_max=4.0, mean=5.0, shape=1.5)
    assert half.prior() == (5.0, 1.0, 1.5, pytest.approx(20.0**2 / 12.0 * 0.5))


@pytest.mark.parametrize("nowhere", [-1, 2, 0.5, None, "x"])
def test_observations_that_are_no_state(nowhere):
    agent = b.make("bayesian-q-learning", n_states=2, n_actions=2, gamma=0.9)
    with pytest.raises(InvalidArgument, match="BayesianQLearning: 'observation' must be a whole number of at least 0"):
        agent.act(agent.start(), nowhere, default_rng(0))
