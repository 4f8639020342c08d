"""Inverse reinforcement learning with discount 1, where every policy ends, beside enumerated optimal values."""

import numpy as np
import pytest
from episodes import END, best_q, best_values, dense, endless, proper, value_of
from numpy.random import default_rng

import bayesrl as b
from bayesrl.beliefs.rewards._policy_walk import Lattice, Schedule, policy_walk, walk_many
from bayesrl.beliefs.rewards.likelihood import Counts
from bayesrl.beliefs.rewards.linear_rewards import LinearRewards
from bayesrl.checks import frozen
from bayesrl.errors import InvalidArgument
from bayesrl.inverse.boltzmann import boltzmann_log_likelihood, boltzmann_q
from bayesrl.inverse.experts import value_loss
from bayesrl.lab.inverse import uniform_loss
from bayesrl.worlds.tabular import MDPWorld

PROBLEM = proper(1)
PHI = default_rng(3).normal(size=(4, 2, 2))
PHI[END] = 0.0
PAIRS = [(0, 1), (1, 0), (2, 1), (0, 1), (1, 0)]
REFUSED = "'problem' must be one whose episodes end under every policy, .* need not end from state 1'"
KINDS = ["BIRL", "ModifiedBIRL", "MultitaskBIRL", "DPMBIRL", "BNIRL"]


def log_likelihood(w, c=1.5):
    """By enumerated policies."""
    Q = c * best_q(dense(PROBLEM)[0], PHI @ w)
    return sum(Q[s, a] - np.log(np.exp(Q[s]).sum()) for s, a in PAIRS)


def listed(n=7):
    return default_rng(4).uniform(-1.0, 1.0, (n, 2))


def normalised(x):
    p = np.exp(x - np.max(x))
    return p / p.sum()


@pytest.mark.parametrize("kind", ["BIRL", "ModifiedBIRL"])
def test_the_posterior_over_listed_rewards_is_enumerated(kind):
    prior = b.inverse.FinitePrior(listed())
    belief = getattr(b.inverse, kind)(PROBLEM, PHI, prior, rationality=1.5).update_many(PAIRS)
    exact = normalised([log_likelihood(w) for w in listed()])
    np.testing.assert_allclose(belief.posterior(), exact, atol=1e-9)
    best = b.inverse.MAPBIRL().solve(belief, default_rng(0))
    np.testing.assert_array_equal(best.weights, listed()[exact.argmax()])


def test_the_posterior_over_tasks_is_enumerated():
    prior = b.inverse.FinitePrior(listed())
    belief = b.inverse.MultitaskBIRL(PROBLEM, PHI, (prior,), rationality=1.5).update_many([PAIRS])
    exact = normalised([log_likelihood(w) for w in listed()]) @ listed()
    np.testing.assert_allclose(belief.means()[0], exact, atol=1e-9)


@pytest.mark.parametrize("many", [False, True])
def test_the_walk_keeps_optimal_values(many):
    """Action values at the end of a walk, with and without a dense inverse, beside enumeration."""
    rewards = LinearRewards.of("me", PROBLEM, PHI)
    n = Counts.of(np.array(PAIRS), 2)
    slack = 1e-12 * (1.0 + rewards.largest)
    grid = Lattice(-1.0, 0.25, frozen(np.zeros(9)), slack)
    go, at, draws = Schedule(frozen(np.array([1.0, 2.0])), frozen(np.ones(200))), np.array([4, 4]), np.zeros((200, 2))
    if many:
        moves, Q = walk_many(default_rng(0), rewards, n, 1.5, grid, go, at, draws)
    else:
        still = Counts(frozen(n.states), frozen(n.taken))
        moves, Q = policy_walk(default_rng(0), rewards.ground, still, 1.5, grid, go, at, draws)
    assert moves > 20
    np.testing.assert_allclose(Q, best_q(dense(PROBLEM)[0], PHI @ grid.weights(at)), atol=1e-9)


def test_the_map_is_above_a_lattice():
    belief = b.inverse.BIRL(PROBLEM, PHI, rationality=1.5).update_many(PAIRS)
    found = b.inverse.MAPBIRL(restarts=4).solve(belief, default_rng(0))
    lattice = [log_likelihood(np.array([x, y])) for x in np.linspace(-1, 1, 9) for y in np.linspace(-1, 1, 9)]
    at = log_likelihood(found.weights)
    assert at >= max(lattice) - 1e-9
    assert found.log_posterior - at == pytest.approx(belief.reward_prior.log_density(found.weights), abs=1e-9)


def test_the_largest_value_is_a_bound():
    rewards = LinearRewards.of("me", PROBLEM, PHI)
    P = dense(PROBLEM)[0]
    for seed in range(20):
        w = default_rng(seed).choice([-1.0, 1.0], 2)
        assert np.abs(best_q(P, PHI @ w)).max() <= rewards.largest + 1e-9
    assert rewards.largest < 100.0


def test_boltzmann_values_are_a_fixed_point_with_the_gradient_of_differences():
    w = np.array([0.4, -0.3])
    Q = boltzmann_q(PROBLEM, w, 0.7, PHI)
    p = np.exp(0.7 * Q) / np.exp(0.7 * Q).sum(axis=1, keepdims=True)
    P = dense(PROBLEM)[0]
    np.testing.assert_allclose(Q, PHI @ w + P @ (p * Q).sum(axis=1), atol=1e-9)
    _, slope = boltzmann_log_likelihood(PROBLEM, w, 0.7, PAIRS, PHI)
    for i, h in enumerate(1e-5 * np.eye(2)):
        up, down = (boltzmann_log_likelihood(PROBLEM, w + x, 0.7, PAIRS, PHI)[0] for x in (h, -h))
        assert slope[i] == pytest.approx((up - down) / 2e-5, abs=1e-6)


def test_losses_are_differences_of_values():
    P, r = dense(PROBLEM)
    best = best_values(P, r)[0]
    pi = np.array([0, 1, 0, 0])
    assert value_loss(PROBLEM, r, pi) == pytest.approx(best - value_of(P, r, pi)[0], abs=1e-9)
    even = value_of(P, r, np.full((4, 2), 0.5))[0]
    assert uniform_loss(MDPWorld("proper", PROBLEM)) == pytest.approx(best - even, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_beliefs_about_rewards_draw_and_refuse(kind):
    made = getattr(b.inverse, kind)
    options = {} if kind == "BNIRL" else {"features": PHI}
    belief = made(PROBLEM, **options).update_many(PAIRS if kind in KINDS[:2] or kind == "BNIRL" else [PAIRS])
    belief.refresh(default_rng(0), sweeps=5)
    with pytest.raises(InvalidArgument, match=f"{kind}: {REFUSED}"):
        made(endless(), **options)
