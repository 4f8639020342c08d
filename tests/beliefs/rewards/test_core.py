"""Priors, demonstrations, linear rewards, experts: what all inverse methods share."""

import numpy as np
import pytest
from numpy.random import default_rng
from plain_inverse import DEMONSTRATION, lattice, line, log_likelihood, optimal_q
from scipy import integrate

import bayesrl as b
from bayesrl.beliefs.rewards.demonstrations import Counts, pairs_of, slope, trajectories_of
from bayesrl.beliefs.rewards.demonstrations import log_likelihood as ours
from bayesrl.beliefs.rewards.linear_rewards import LinearRewards
from bayesrl.errors import BayesRLError, ImpossibleEvidence
from bayesrl.inverse import FinitePrior, GaussianPrior, LaplacePrior, UniformPrior, demonstrate, value_loss
from bayesrl.testing import assert_mean_equal
from bayesrl.testing.statistics import assert_chain_mean

PRIORS = [UniformPrior(-1, 2), GaussianPrior(0.3, 0.5), GaussianPrior(0, 1, 1.5, 3.0), GaussianPrior(0, 1, -9, -5)]
PRIORS += [LaplacePrior(), LaplacePrior(0.3, 0.1, 2.0), LaplacePrior(0.7, -3.0, -0.5)]


@pytest.mark.parametrize("prior", PRIORS, ids=str)
def test_priors_are_densities(prior):
    """The density integrates to one, its gradient is its derivative, and draws have its mean (false alarm 1e-6)."""
    low, high = max(prior.low, -9.0), min(prior.high, 9.0)
    breaks = [0.0] if low < 0.0 < high else None
    total, _ = integrate.quad(lambda x: np.exp(prior.log_density([x])), low, high, points=breaks)
    mean, _ = integrate.quad(lambda x: x * np.exp(prior.log_density([x])), low, high, points=breaks)
    assert total == pytest.approx(1.0, abs=1e-9)
    w = np.array([low + 0.3 * (high - low), low + 0.8 * (high - low)])
    for i, e in enumerate(1e-6 * np.eye(2)):
        difference = (prior.log_density(w + e) - prior.log_density(w - e)) / 2e-6
        assert prior.gradient(w)[i] == pytest.approx(difference, abs=1e-6)
    assert prior.log_density([low - 1.0]) == -np.inf or prior.low == -np.inf
    draws = prior.draw(20000, default_rng(0))
    assert draws.min() >= prior.low
    assert draws.max() <= prior.high
    assert_mean_equal(draws, mean, false_alarm=1e-6)


def test_optimal_values_and_likelihood_by_value_iteration():
    mdp, rng = line(), default_rng(1)
    phi = rng.normal(size=(3, 2, 4))
    rewards, P = LinearRewards.of("test", mdp, phi), mdp.dense()[0]
    for _ in range(5):
        w = rng.normal(size=4)
        R = phi @ w
        np.testing.assert_allclose(rewards.solve(w).q, optimal_q(P, R, 0.9), atol=1e-10)
        np.testing.assert_allclose(b.solve(rewards.model(w)).q, optimal_q(P, R, 0.9), atol=1e-8)
        expected = log_likelihood(P, R, 0.9, DEMONSTRATION, 2.0)
        n = Counts.of(np.array(DEMONSTRATION), 2)
        assert ours(rewards.solve(w).q, n, 2.0) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", ["gridworld-blocks", "dearden-maze"])
def test_policy_maps_are_linear_and_differentiate(name):
    """Values of a policy are M w; the adjoint is y' M; with many states (264) matrices are sparse."""
    mdp, rng = b.make_world(name).mdp, default_rng(2)
    S, A = mdp.group.shape
    rewards = LinearRewards.of("test", mdp, rng.normal(size=(S, A, 3)))
    w, policy, y = rng.normal(size=3), rng.integers(A, size=S), rng.normal(size=(S, A))
    M = rewards.policy_map(policy)
    v = b.models.evaluate_policy(rewards.model(w), policy)
    np.testing.assert_allclose((M @ w)[np.arange(S), policy], v, atol=1e-9)
    np.testing.assert_allclose(rewards.adjoint(policy, y), np.einsum("sa,sad->d", y, M), rtol=1e-9)


def test_terminal_states_pay_nothing():
    """Values, gradients, walks and experts of a line that ends in state 2, against value iteration and enumeration.

    False alarm: 3e-5, five batch-means standard errors for each of three weights.
    """
    mdp = b.TabularMDP.from_dense(line().dense()[0], np.zeros(3), 0.9, terminal=[2])
    P, pairs = mdp.dense()[0], [(0, 1), (1, 1), (1, 0), (0, 1)]
    P[2] = 0.0

    def paid(w):
        return np.repeat(w * [1.0, 1.0, 0.0], 2).reshape(3, 2)

    belief = b.inverse.BIRL(mdp, rationality=2.0, step=1.0).update_many(pairs)
    w, h = np.array([-0.3, 0.4, 0.9]), 1e-6
    assert belief.log_likelihood(w) == pytest.approx(log_likelihood(P, paid(w), 0.9, pairs, 2.0), abs=1e-9)
    assert belief.log_likelihood(w) == pytest.approx(belief.log_likelihood(w * [1, 1, 0]), abs=1e-12)
    difference = [(belief.log_posterior(w + e) - belief.log_posterior(w - e)) / (2 * h) for e in h * np.eye(3)]
    np.testing.assert_allclose(belief.gradient(w), difference, atol=1e-6)
    exact = b.inverse.BIRL(mdp, reward_prior=FinitePrior(lattice([-1.0, 0.0, 1.0])), rationality=2.0).update_many(pairs)
    assert_chain_mean(belief.refresh(default_rng(0), 4000).samples, exact.mean())
    demos = demonstrate(mdp, [-1.0, 0.0, 5.0], 20, 50, default_rng(0))
    assert all(2 not in demo[:, 0] for demo in demos)  # the episode is over there
    assert value_loss(mdp, [0.0, 0.0, 5.0], [0, 0, 0]) == pytest.approx(0.0, abs=1e-12)


def test_a_very_sure_expert():
    """Rationality 1e6: a pair has the log probability 0 or -1e6 times what it loses; nothing overflows."""
    mdp, w = line(), np.array([0.0, 0.2, 1.0])
    q = optimal_q(mdp.dense()[0], np.repeat(w, 2).reshape(3, 2), 0.9)
    for pair in ((0, 1), (1, 0)):
        belief = b.inverse.BIRL(mdp, rationality=1e6).update(pair)
        assert belief.log_likelihood(w) == pytest.approx(1e6 * (q[pair] - q[pair[0]].max()), rel=1e-9)


def test_slope_is_the_derivative():
    rng = default_rng(3)
    q, n, h = rng.normal(size=(3, 2)), Counts.of(np.array(DEMONSTRATION), 2), 1e-6
    for s in range(3):
        for a in range(2):
            e = np.zeros((3, 2))
            e[s, a] = h
            difference = (ours(q + e, n, 1.7) - ours(q - e, n, 1.7)) / (2 * h)
            assert slope(q, n, 1.7)[s, a] == pytest.approx(difference, abs=1e-8)


def test_every_form_of_demonstrations_is_read():
    world = b.make_world("chain")
    record = b.run(b.BayesAgent(b.DirichletMDP.flat(world), b.make("random")), world, steps=20, seed=0)
    expected = np.stack([record.state, record.action], axis=1)
    columns = (record.state, record.action, record.reward, record.next_state)
    steps = [b.Transition(*row) for row in zip(*columns, strict=True)]
    pairs = [(int(s), int(a)) for s, a in expected]
    frame = record.to_frame()
    forms = [record, steps, iter(steps), pairs, [list(p) for p in pairs], expected, list(expected), frame]
    forms += [{"state": record.state, "action": record.action}, (pairs[:4], record, [])]
    for form in forms[:-1]:
        np.testing.assert_array_equal(pairs_of("test", form, world.mdp), expected)
    np.testing.assert_array_equal(pairs_of("test", forms[-1], world.mdp), np.vstack([expected[:4], expected]))
    several = trajectories_of("test", [pairs, record, expected[:3]], world.mdp)
    assert [len(t) for t in several] == [20, 20, 3]


def test_impossible_demonstrations_are_refused():
    world, maze = b.make_world("chain"), b.make_world("gridworld-blocks")
    record = b.run(b.BayesAgent(b.DirichletMDP.flat(world), b.make("random")), world, steps=5, seed=0)
    with pytest.raises(BayesRLError, match="64 states and 4 actions"):
        pairs_of("test", record, maze.mdp)
    with pytest.raises(ImpossibleEvidence, match="another world"):
        pairs_of("test", [b.Transition(0, 0, 0.0, 4)], world.mdp)
    wrong = [None, 3, "ab", [], [(0, 9)], [(5, 0)], [(-1, 0)], [(0.5, 0)], [(np.nan, 0)], [(0, 1, 2)], np.zeros((0, 2))]
    wrong += [np.array(1), [[]], {"state": [0]}, {"state": [0], "action": [0, 1]}, [("a", "b")], [None], (0, 1)]
    for bad in wrong:
        with pytest.raises(BayesRLError):
            pairs_of("test", bad, world.mdp)
    for bad in [None, [], record, [(0, 1)], [[]], [[(0, 1)], (0, 1)], b.Transition(0, 0, 0.0, 1)]:
        with pytest.raises(BayesRLError):
            trajectories_of("test", bad, world.mdp)
    for bad in [record, [(0, 1)], [[(0, 1)], (0, 1)], b.Transition(0, 0, 0.0, 1), np.array(1)]:
        with pytest.raises(BayesRLError, match="'demonstrations' must be a sequence of logs, one for each trajectory"):
            trajectories_of("test", bad, world.mdp)


def test_experts_walk_as_they_should():
    """Frequencies of the softmax expert's actions and next states (false alarm 1e-6 each)."""
    mdp, reward = line(), [0.0, 0.2, 1.0]
    q = optimal_q(mdp.dense()[0], np.repeat(reward, 2).reshape(3, 2), 0.9)
    pairs = np.concatenate(demonstrate(mdp, reward, 40, 100, default_rng(0), rationality=3.0))
    for s in range(3):
        p = 1.0 / (1.0 + np.exp(3.0 * (q[s, 0] - q[s, 1])))
        assert_mean_equal(pairs[pairs[:, 0] == s, 1].astype(float), p, false_alarm=1e-6)
    doubtful = np.concatenate(demonstrate(mdp, reward, 20, 100, default_rng(1), rationality=1e-6))[:, 1]
    assert_mean_equal(doubtful.astype(float), 0.5, false_alarm=1e-6)
    best = np.concatenate(demonstrate(mdp, reward, 2, 30, default_rng(0)))
    assert (best[:, 1] == 1).all()
    ties = np.concatenate(demonstrate(mdp, [0.0, 0.0, 0.0], 20, 100, default_rng(0)))[:, 1]
    assert_mean_equal(ties.astype(float), 0.5, false_alarm=1e-6)


def test_value_loss():
    mdp, R = line(), np.array([0.0, 0.2, 1.0])
    P = mdp.dense()[0]
    V = np.linalg.solve(np.eye(3) - 0.9 * P[:, 0], R)
    best = optimal_q(P, np.repeat(R, 2).reshape(3, 2), 0.9).max(axis=1)
    assert value_loss(mdp, R, [0, 0, 0]) == pytest.approx(best[0] - V[0], abs=1e-9)
    assert value_loss(mdp, R, [1, 1, 1]) == pytest.approx(0.0, abs=1e-9)


BAD = [
    (lambda: UniformPrior(1, 1), "below high"),
    (lambda: UniformPrior(np.nan, 1), "low"),
    (lambda: UniformPrior(-np.inf, 1), "low"),
    (lambda: GaussianPrior(scale=0.0), "scale"),
    (lambda: GaussianPrior(low=2.0, high=1.0), "below high"),
    (lambda: GaussianPrior(low="a"), "low"),
    (lambda: LaplacePrior(scale=-1.0), "scale"),
    (lambda: FinitePrior([]), "weights"),
    (lambda: FinitePrior([[0.0], [1.0]], [0.5, 0.6]), "sum to 1"),
    (lambda: FinitePrior([[0.0], [1.0]], [1.0]), "probabilities"),
    (lambda: FinitePrior([[0.0]]).gradient([0.0]), "no gradient"),
    (lambda: LinearRewards.of("X", line(), np.zeros((2, 3))), "features"),
    (lambda: LinearRewards.of("X", line(), np.full((3, 1), np.nan)), "features"),
    (lambda: LinearRewards.of("X", line(1.0), None), "discount"),
    (lambda: LinearRewards.of("X", 3, None), "problem"),
    (lambda: demonstrate(line(), [0.0], 1, 1, default_rng(0)), "reward"),
    (lambda: demonstrate(line(), [0.0] * 3, 0, 1, default_rng(0)), "trajectories"),
    (lambda: demonstrate(line(), [0.0] * 3, 1, 0, default_rng(0)), "length"),
    (lambda: demonstrate(line(), [0.0] * 3, 1, 1, None), "rng"),
    (lambda: demonstrate(line(), [0.0] * 3, 1, 1, default_rng(0), rationality=0.0), "rationality"),
    (lambda: value_loss(line(), [0.0] * 3, [0, 1]), "policy"),
    (lambda: value_loss(line(), [0.0, np.nan, 1.0], [0, 1, 1]), "reward"),
]


@pytest.mark.parametrize(("call", "word"), BAD)
def test_bad_input(call, word):
    with pytest.raises(BayesRLError, match=word):
        call()
