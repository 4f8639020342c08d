"""Sparse sampling on a box against closed forms, quadrature and a transcription; values, not actions, are compared."""

import pickle

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.special import ndtri
from scipy.stats import norm
from scipy.stats.qmc import Sobol

import bayesrl as b
from bayesrl.beliefs import GPRegression
from bayesrl.beliefs.covariances import Gaussian
from bayesrl.continuous import GPSparseSampling
from bayesrl.continuous.gp_sparse_sampling import GOLDEN, covariance_root, drawn
from bayesrl.core import Transition
from bayesrl.errors import Incompatible, InvalidArgument
from bayesrl.testing import assert_frequencies, assert_mean_equal

BELIEF = GPRegression(Gaussian(scale=0.2), noise=0.3).update_many(([0.1, 0.4, 0.5], [0.0, 1.0, 1.1]))
PAIR = np.array([0.3, 0.7])


def moments(belief=BELIEF, X=PAIR):
    return belief.mean(X), belief.covariance(X)


def after(m, S, a, noise):
    """The step of the mean for a standardised reward of a, and the covariance after it."""
    c = S[a] / np.sqrt(S[a, a] + noise**2)
    return c, S - np.outer(c, c)


def expected_maximum(m, c):
    """E max(m + c z) of two numbers, z standard normal."""
    d, s = m[0] - m[1], abs(c[0] - c[1])
    return m[0] * norm.cdf(d / s) + m[1] * norm.cdf(-d / s) + s * norm.pdf(d / s)


def two_decisions(m, S, noise):
    return np.array([m[a] + expected_maximum(m, after(m, S, a, noise)[0]) for a in range(2)])


def three_decisions(m, S, noise, n=301):
    """The first reward by the quantiles of n equal shares; then the closed form."""
    z, q = ndtri((np.arange(n) + 0.5) / n), []
    for a in range(2):
        c, T = after(m, S, a, noise)
        q.append(m[a] + np.mean([two_decisions(m + c * x, T, noise).max() for x in z]))
    return np.array(q)


def plan(planner, belief=BELIEF, seed=0):
    return planner.plan(belief, 0, planner.start(), default_rng(seed))


# Values --------------------------------------------------------------------------------------------------------------


def test_one_decision_is_the_posterior_mean():
    planner = GPSparseSampling(candidates=64, depth=1)
    decision = plan(planner)
    mean = BELIEF.mean(planner.points())
    np.testing.assert_array_equal(decision.info["q"], mean)
    np.testing.assert_array_equal(decision.action, planner.points()[mean.argmax()])


@pytest.mark.parametrize("noise", [0.3, 1.0])
def test_two_decisions_are_the_closed_form_of_two_actions(noise):
    """Learning is worth .27 and .13 at a noise of .3; the second action, with the smaller mean, is the better one."""
    belief = GPRegression(Gaussian(scale=0.2), noise).update_many(([0.1, 0.4, 0.5], [0.0, 1.0, 1.1]))
    exact = two_decisions(*moments(belief), noise)
    q = plan(GPSparseSampling(PAIR, width=200), belief).info["q"]
    np.testing.assert_allclose(q, exact, atol=0.01)
    few = np.mean([plan(GPSparseSampling(PAIR), belief, seed).info["q"] for seed in range(40)], axis=0)
    np.testing.assert_allclose(few, exact, atol=0.03)  # unbiased with 8 rewards of each action


def test_three_decisions_are_quadrature():
    exact = three_decisions(*moments(), BELIEF.noise)
    q = plan(GPSparseSampling(PAIR, depth=3, width=40, simulations=20_000)).info["q"]
    np.testing.assert_allclose(q, exact, atol=0.03)
    assert (exact - 3.0 * BELIEF.mean(PAIR).max()).max() > 0.3  # what learning is worth


def test_thompson_takes_an_action_with_its_probability_of_being_best():
    """2000 decisions; false alarm 1e-6. The probabilities are those of 400,000 joint draws of the belief."""
    X = np.array([0.05, 0.3, 0.6, 0.9])
    planner, rng = GPSparseSampling(X, depth=0), default_rng(1)
    chosen = [planner.plan(BELIEF, 0, None, rng).action[0] for _ in range(2000)]
    best = np.bincount(BELIEF.sample(X, default_rng(2), 400_000).argmax(axis=1), minlength=4) / 400_000
    assert_frequencies([chosen.count(x) for x in X], best)
    decision = plan(planner)
    assert decision.action == X[decision.info["sample"].argmax()]
    np.testing.assert_array_equal(decision.info["q"], BELIEF.mean(X))


def test_draws_have_the_moments_of_the_belief():
    """Also where the covariance is singular: a candidate twice, and points that are nearly equal. False alarm 1e-6."""
    X = np.array([0.2, 0.2, 0.2000001, 0.35, 0.8])
    m, S = moments(X=X)
    root = covariance_root(S)
    np.testing.assert_allclose(root.T @ root, S, atol=1e-6)
    rng = default_rng(3)
    f = np.array([drawn(rng, m, root) for _ in range(4000)])
    assert_mean_equal(f - m, 0.0)
    assert_mean_equal(((f - m) ** 2)[:, [0, 3, 4]], np.diagonal(S)[[0, 3, 4]])
    assert_mean_equal(((f[:, 3] - m[3]) * (f[:, 0] - m[0]))[:, None], S[3, 0])


def transcription(belief, X, depth, width, K, rng):
    """The same descents with dense conditioning on what was drawn; nodes are histories of (action, reward number)."""
    m0, S0 = moments(belief, X)
    n, s2 = len(X), belief.noise**2
    L = np.linalg.cholesky(S0)
    z = ndtri((rng.random(depth - 1)[:, None] + GOLDEN * np.arange(min(width, K))) % 1.0)
    count, visits, value = {}, {}, {}

    def posterior(history):
        """Mean and covariance after rewards that are standardised one after the other."""
        m, S, rows, y = m0, S0, [], []
        for level, (a, i) in enumerate(history):
            y.append(m[a] + np.sqrt(S[a, a] + s2) * z[level, i])
            rows.append(a)
            A = S0[np.ix_(rows, rows)] + s2 * np.eye(len(rows))
            G = np.linalg.solve(A, S0[rows]).T
            m, S = m0 + G @ (np.array(y) - m0[rows]), S0 - G @ S0[rows]
        return m, S, rows, np.array(y)

    def worth(history):
        if len(history) == depth - 1:
            return posterior(history)[0].max()
        m = posterior(history)[0]
        tried = [a for a in range(n) if (history, a) in count]
        return max(q(history, a, m) for a in tried)

    def q(history, a, m):
        return m[a] + np.mean([value[(*history, (a, i))] for i in range(count[history, a])])

    for _ in range(K):
        history = ()
        for _ in range(depth - 1):
            f = m0 + L @ rng.standard_normal(n)
            m, _, rows, y = posterior(history)
            if rows:  # one reward after the other
                S, mean, g = S0, m0, f
                for a, paid in zip(rows, y, strict=True):
                    v = S[a, a] + s2
                    g = g + S[a] / v * (paid - g[a] - np.sqrt(s2) * rng.standard_normal())
                    mean, S = mean + S[a] / v * (paid - mean[a]), S - np.outer(S[a], S[a]) / v
                f = g
            a = int(f.argmax())
            visits[history, a] = visits.get((history, a), 0) + 1
            if count.get((history, a), 0) < width:
                count[history, a] = count.get((history, a), 0) + 1
                i = count[history, a] - 1
            else:
                i = (visits[history, a] - 1) % width
            history = (*history, (a, i))
        for end in range(depth - 1, -1, -1):
            value[history[:end]] = worth(history[:end])
    m = m0
    found = [q((), a, m) if ((), a) in count else m[a] + (depth - 1) * m.max() for a in range(n)]
    return np.array(found), [visits.get(((), a), 0) for a in range(n)]


@pytest.mark.parametrize("depth, width, K", [(2, 3, 40), (3, 2, 60), (4, 2, 40), (3, 5, 3)])
def test_equal_to_a_transcription_that_conditions_densely(depth, width, K):
    X = np.array([0.05, 0.3, 0.6, 0.95])
    decision = plan(GPSparseSampling(X, depth, K, width), seed=depth)
    q, visits = transcription(BELIEF, X, depth, width, K, default_rng(depth))
    np.testing.assert_allclose(decision.info["q"], q, atol=1e-9)
    assert decision.info["visits"].tolist() == visits
    assert decision.action == X[np.where(np.array(visits) > 0, q, -np.inf).argmax()]


def test_what_is_certain_teaches_nothing():
    """Without noise a point that was seen has variance zero: every reward of it is the same."""
    belief = GPRegression(Gaussian(scale=0.2), noise=0.0).update_many(([0.3, 0.7], [1.0, 2.0]))
    decision = plan(GPSparseSampling([0.3, 0.7], depth=3, simulations=50), belief)
    assert decision.action == 0.7
    np.testing.assert_allclose(decision.info["q"], [5.0, 6.0], atol=1e-6)  # the first one was never tried


# Candidates and refusals ---------------------------------------------------------------------------------------------


def test_candidates_are_the_first_points_of_sobols_sequence():
    planner = GPSparseSampling(candidates=5, low=[-1.0, 0.0], high=[1.0, 2.0])
    unit = Sobol(2, scramble=False).random(8)[:5]
    np.testing.assert_array_equal(planner.points(), [-1.0, 0.0] + 2.0 * unit)
    assert GPSparseSampling([0.1, 0.2]).points().tolist() == [[0.1], [0.2]]
    assert GPSparseSampling(candidates=1).points().tolist() == [[0.0]]
    assert pickle.loads(pickle.dumps(planner)) == planner


def test_it_learns_actions_and_rewards():
    """A transition is the datum (action, reward); a number is an action of one coordinate."""
    one = BELIEF.update(Transition(0, np.array([0.3]), 2.0, 0))
    assert one == BELIEF.update((0.3, 2.0)) == BELIEF.update(Transition(None, 0.3, 2.0, None))
    assert one == BELIEF.update_many([Transition(0, [0.3], 2.0, 0)])
    mean, covariance = one.action_moments(PAIR)
    np.testing.assert_array_equal(mean, one.mean(PAIR))
    np.testing.assert_array_equal(covariance, one.covariance(PAIR))


@pytest.mark.parametrize("datum, name", [(([0.1, 0.2], 0.0), "action"), (([np.nan], 0.0), "action"),
                                         ((0.1, np.inf), "reward"), ((0.1, "x"), "reward")])  # fmt: skip
def test_bad_transitions_change_nothing(datum, name):
    with pytest.raises(InvalidArgument, match=rf"^GPRegression.update: '{name}' must be"):
        BELIEF.update(Transition(0, datum[0], datum[1], 0))


@pytest.mark.parametrize("given, name", [
    ({"candidates": 0}, "candidates"), ({"candidates": [[0.1], [np.nan]]}, "candidates"),
    ({"candidates": "x"}, "candidates"),
    ({"candidates": [[[0.1]]]}, "candidates"), ({"depth": -1}, "depth"), ({"simulations": 0}, "simulations"),
    ({"width": 0}, "width"), ({"low": 1.0, "high": 1.0}, "low"), ({"low": [0.0, 0.0]}, "low"),
    ({"high": np.inf}, "high"), ({"candidates": 4097}, "candidates"),
])  # fmt: skip
def test_bad_parameters_are_refused(given, name):
    with pytest.raises(InvalidArgument, match=rf"^GPSparseSampling: '{name}' must be "):
        GPSparseSampling(**given)


def test_a_belief_without_a_reward_function_is_refused():
    with pytest.raises(Incompatible, match=r"^GPSparseSampling needs a belief with 'noise', 'action_moments'"):
        b.BayesAgent(b.beliefs.BetaBernoulli.uniform(2), GPSparseSampling())
