"""The finite-horizon index against enumeration, limits and exact optima."""

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.bandits.bayes_optimal_bandit import bayes_optimal_value, greedy, policy_value
from bayesrl.bandits.finite_horizon_index import FiniteHorizonIndex, finite_horizon_index
from bayesrl.bandits.gittins import gittins_index
from bayesrl.beliefs.arms.beta_bernoulli import BetaBernoulli
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.testing import check_planner


def stopping_rules(a, b, T, gamma):
    """(reward, time) of every stopping rule that plays at least once and at most T times, by enumeration."""
    p = a / (a + b)
    if T == 1:
        return {(p, 1.0)}
    none = {(0.0, 0.0)}
    success, failure = (stopping_rules(*s, T - 1, gamma) | none for s in ((a + 1, b), (a, b + 1)))
    return {
        (p + gamma * (p * r1 + (1 - p) * r0), 1.0 + gamma * (p * t1 + (1 - p) * t0))
        for r1, t1 in success
        for r0, t0 in failure
    }


@pytest.mark.long
@pytest.mark.parametrize("a, b", [(1, 1), (2, 5), (0.6, 0.3)])
@pytest.mark.parametrize("gamma", [1.0, 0.7])
def test_index_is_the_best_stopping_rule(a, b, gamma):
    best = [max(r / t for r, t in stopping_rules(a, b, T, gamma)) for T in (1, 2, 3, 4)]
    np.testing.assert_allclose(finite_horizon_index(a, b, [1, 2, 3, 4], gamma), best, atol=2e-7)


@pytest.mark.long
def test_limits():
    T = np.array([1, 2, 5, 20, 100, 400])
    index = finite_horizon_index(2.0, 3.0, T)
    assert index[0] == 0.4
    assert (np.diff(index) > 0.0).all()
    # With a discount what comes after 400 plays weighs nothing: Gittins's index.
    n = np.arange(1, 6)
    discounted = finite_horizon_index(n, n[:, None], 400, 0.9)
    np.testing.assert_allclose(discounted, gittins_index(n, n[:, None], 0.9), atol=7e-7)


def test_states_do_not_disturb_each_other():
    rng = default_rng(0)
    a, b, T = rng.integers(1, 9, 60) + 0.5, rng.integers(1, 9, 60), rng.integers(1, 40, 60)
    alone = [finite_horizon_index(*state) for state in zip(a, b, T, strict=True)]
    np.testing.assert_allclose(finite_horizon_index(a, b, T), alone, atol=2e-7)


@pytest.mark.parametrize("known", [0.45, 0.55, 0.65])
def test_optimal_against_a_known_arm(known):
    """One arm is known: then there is an optimal policy that never comes back to the other, so the index is exact."""
    belief, T = BetaBernoulli(np.array([1.0, known * 1e9]), np.array([1.0, (1 - known) * 1e9])), 12

    def index(posteriors):
        a, b = belief.alpha + posteriors.seen[..., 1], belief.beta + posteriors.seen[..., 0]
        mine = finite_horizon_index(a[..., 0], b[..., 0], posteriors.left)
        return np.stack([mine, np.full_like(mine, known)], axis=-1)

    best = bayes_optimal_value(belief, T)
    assert policy_value(belief, T, greedy(index)) == pytest.approx(best, abs=1e-6)
    myopic = policy_value(belief, T, greedy(lambda posteriors: posteriors.mean))
    assert known < 0.5 or myopic < best - 0.01


def test_close_to_the_optimum_of_two_unknown_arms():
    belief, T = BetaBernoulli.uniform(2), 12

    def index(posteriors):
        a, b = belief.alpha + posteriors.seen[..., 1], belief.beta + posteriors.seen[..., 0]
        return finite_horizon_index(a, b, posteriors.left)

    best = bayes_optimal_value(belief, T)
    value = policy_value(belief, T, greedy(index))
    assert best - 0.01 < value <= best
    assert value > policy_value(belief, T, greedy(lambda posteriors: posteriors.mean)) + 0.02


def test_planner_plays_the_largest_index():
    planner, rng = FiniteHorizonIndex(horizon=6), default_rng(4)
    belief, memory = BetaBernoulli(np.array([1.0, 2.0, 1.5]), np.array([1.0, 2.5, 1.0])), planner.start()
    for t in range(8):
        action, memory, info = planner.plan(belief, 0, memory, rng)
        expected = [finite_horizon_index(a, b, max(6 - t, 1)) for a, b in zip(belief.alpha, belief.beta, strict=True)]
        np.testing.assert_allclose(info["q"], expected, atol=2e-7)
        assert action == info["q"].argmax()
        belief = belief.update(Transition(0, action, float(rng.random() < 0.5), 0))
    both = planner.plan(BetaBernoulli.uniform(3).batch(2), 0, 0, rng)
    np.testing.assert_array_equal(both.action, [0, 0])


def test_laws_and_bad_input():
    check_planner(FiniteHorizonIndex(10), BetaBernoulli.uniform(3), 0, rng=default_rng(0))
    with pytest.raises(InvalidArgument, match=r"'horizon' must be a whole number of at most 1000000, got 1\.5"):
        finite_horizon_index(1, 1, 1.5)
    with pytest.raises(InvalidArgument, match=r"'horizon' must be at least 1 everywhere, got 0\.0"):
        finite_horizon_index(1, 1, 0)
    with pytest.raises(InvalidArgument, match="'gamma' must be in"):
        finite_horizon_index(1, 1, 3, 1.1)
