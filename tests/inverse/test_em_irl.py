"""em-irl and the Boltzmann backup against plain iteration, finite differences, enumeration and direct maximisation."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from plain_inverse import line
from scipy import optimize, special

import bayesrl as b
from bayesrl.beliefs.rewards.linear_rewards import LinearRewards
from bayesrl.errors import BayesRLError, Incompatible, NotConverged
from bayesrl.inverse import FinitePrior, UniformPrior, boltzmann_log_likelihood, boltzmann_q, demonstrate
from bayesrl.inverse.boltzmann import BoltzmannBackup
from bayesrl.inverse.em_irl import MixtureOfExperts, responsibilities

LOGS = tuple(
    np.array(x)
    for x in (
        [(0, 1), (1, 1), (2, 1), (2, 1)],
        [(1, 1), (2, 1), (0, 1), (1, 1)],
        [(2, 0), (1, 0), (0, 0), (0, 0)],
        [(1, 0), (0, 0), (1, 1)],
        [(2, 0), (1, 0), (0, 0)],
    )
)


BOX = UniformPrior(-1, 1)


@dataclass
class Apart:
    """The least that em-irl asks of a belief."""

    rewards: Any
    reward_prior: Any
    rationality: float
    trajectories: Any


def apart(prior=BOX, rationality=2.0, logs=LOGS, problem=None, features=None):
    return Apart(LinearRewards.of("test", problem or line(), features), prior, rationality, logs)


def plain_q(P, R, gamma, c, sweeps=2000):
    Q = np.zeros(R.shape)
    for _ in range(sweeps):
        Q = R + gamma * P @ (special.softmax(c * Q, axis=1) * Q).sum(axis=1)
    return Q


def plain_likelihoods(w, c, logs=LOGS):
    """The probability of each log on the line, (N,), by a loop."""
    p = special.softmax(c * plain_q(line().dense()[0], np.repeat(w, 2).reshape(3, 2), 0.9, c, 400), axis=1)
    return np.array([np.prod([p[s, a] for s, a in log]) for log in logs])


# The Boltzmann backup -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("c", [0.5, 3.0, 20.0])
def test_the_backup_iterated_plainly(c):
    w = np.array([0.3, -0.7, 0.5])
    Q = plain_q(line().dense()[0], np.repeat(w, 2).reshape(3, 2), 0.9, c)
    np.testing.assert_allclose(boltzmann_q(line(), w, c), Q, atol=1e-10)


@pytest.mark.parametrize("features", [None, "pairs"])
def test_gradients_equal_finite_differences(features):
    """Through the fixed point. With the policy held fixed, they differ by more than a tenth."""
    rng = np.random.default_rng(0)
    phi = None if features is None else rng.normal(size=(3, 2, 4))
    w, demo = rng.uniform(-1, 1, 3 if phi is None else 4), np.concatenate(LOGS)
    value, g = boltzmann_log_likelihood(line(), w, 3.0, demo, phi)
    at = [
        [boltzmann_log_likelihood(line(), w + h * e, 3.0, demo, phi)[0] for h in (1e-5, -1e-5)] for e in np.eye(len(w))
    ]
    np.testing.assert_allclose(g, [(up - down) / 2e-5 for up, down in at], rtol=1e-5, atol=1e-5)
    Q = boltzmann_q(line(), w, 3.0, phi)
    p = special.log_softmax(3.0 * Q, axis=1)
    np.testing.assert_allclose(value, sum(p[s, a] for s, a in demo))


def test_sparse_systems_agree_with_dense_ones(monkeypatch):
    world = b.make_world("gridworld-blocks", size=4)
    demo = demonstrate(world, world.features @ world.weights, 2, 20, np.random.default_rng(0))
    dense = boltzmann_log_likelihood(world, world.weights, 3.0, demo, world.features)
    monkeypatch.setattr("bayesrl.beliefs.rewards.linear_rewards.DENSE", 2)
    few = boltzmann_log_likelihood(world, world.weights, 3.0, demo, world.features)
    np.testing.assert_allclose(few[0], dense[0])
    np.testing.assert_allclose(few[1], dense[1], atol=1e-9)


def test_a_backup_that_goes_round_in_circles_is_refused():
    """Two states, where the better action leads away: the iteration from zero alternates."""
    P = [[[0, 1], [1, 0]], [[1, 0], [0, 1]]]
    mdp = b.TabularMDP.from_dense(P, [0.0, 0.0], 0.9)
    pairs = np.eye(4).reshape(2, 2, 4)
    with pytest.raises(NotConverged, match="Boltzmann backups"):
        boltzmann_q(mdp, [0.25, -0.5, 0.75, 0.0], 3.0, pairs)
    belief = apart(FinitePrior([[0.25, -0.5, 0.75, 0.0]]), 3.0, (np.array([(0, 1)]),), mdp, pairs)
    with pytest.raises(NotConverged):
        b.make("em-irl", clusters=1, restarts=2).solve(belief, np.random.default_rng(0))


# EM -------------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def found():
    solver = b.make("em-irl", clusters=2, restarts=4, iterations=200, tol=1e-10)
    return solver.solve(apart(), np.random.default_rng(0))


def test_a_fixed_point_is_a_maximum(found):
    """Direct maximisation of the mixture's likelihood from there, and from other points, gains nothing."""
    mixture = MixtureOfExperts(BoltzmannBackup("test", apart().rewards, 2.0), LOGS, UniformPrior(-1, 1), 10)

    def minus(x):
        return -mixture.state(x[:6].reshape(2, 3), np.array([x[6], 1.0 - x[6]])).total

    bounds = [(-1, 1)] * 6 + [(1e-6, 1 - 1e-6)]
    starts = [np.append(found.weights.ravel(), found.mixing[0])]
    starts += [np.append(w, 0.5) for w in np.random.default_rng(1).uniform(-1, 1, (6, 6))]
    best = -min(optimize.minimize(minus, x, method="L-BFGS-B", bounds=bounds).fun for x in starts)
    assert found.log_likelihood >= best - 1e-5
    L = np.array([plain_likelihoods(w, 2.0) for w in found.weights])
    np.testing.assert_allclose(found.log_likelihood, np.log(found.mixing @ L).sum(), atol=1e-8)


def test_the_trace_never_falls(found):
    assert (np.diff(found.trace) >= 0.0).all()
    assert len(found.trace) > 3
    assert found.trace[-1] == found.log_likelihood


def test_shares_and_responsibilities(found):
    """One E step by hand: rows of z sum to one, and rho is their mean at a fixed point."""
    z = found.responsibilities
    assert z.shape == (5, 2)
    np.testing.assert_allclose(z.sum(axis=1), 1.0)
    np.testing.assert_allclose(z.mean(axis=0), found.mixing, atol=1e-3)
    L = np.array([plain_likelihoods(w, 2.0) for w in found.weights]).T * found.mixing
    np.testing.assert_allclose(z, L / L.sum(axis=1, keepdims=True), atol=1e-8)
    k = z.argmax(axis=1)
    assert k[0] == k[1] != k[2] == k[4]


def test_finite_prior_by_enumeration():
    """All pairs of entries: EM's likelihood is that of the best pair with the best share."""
    weights = np.array([[-1.0, 0.0, 1.0], [1.0, 0.0, -1.0], [0.0, 0.5, 0.0], [0.5, -1.0, 0.5]])
    em = b.make("em-irl", clusters=2, restarts=8, iterations=300, tol=1e-9)
    best = em.solve(apart(FinitePrior(weights)), np.random.default_rng(0))
    L, shares = [plain_likelihoods(w, 2.0) for w in weights], np.linspace(0.0, 1.0, 41)
    values = [np.log(r * x + (1.0 - r) * y).sum() for i, x in enumerate(L) for y in L[:i] for r in shares]
    assert best.log_likelihood >= max(values) - 1e-9
    assert best.log_likelihood <= max(values) + 0.01  # the shares' lattice
    assert all((weights == w).all(axis=1).any() for w in best.weights)
    assert (np.diff(best.trace) >= 0.0).all()


def test_one_cluster_maximises_the_pooled_likelihood():
    demo = np.concatenate(LOGS)
    one = b.make("em-irl", clusters=1, restarts=3, tol=1e-10).solve(apart(), np.random.default_rng(0))
    np.testing.assert_allclose(one.responsibilities, 1.0)
    np.testing.assert_allclose(one.log_likelihood, boltzmann_log_likelihood(line(), one.weights[0], 2.0, demo)[0])
    at = [boltzmann_log_likelihood(line(), w, 2.0, demo)[0] for w in np.random.default_rng(2).uniform(-1, 1, (50, 3))]
    assert one.log_likelihood >= max(at)


def test_more_clusters_than_trajectories_and_reproducible():
    solver = b.make("em-irl", clusters=7, restarts=1, iterations=2)
    one, two = (solver.solve(apart(), np.random.default_rng(0)) for _ in range(2))
    assert one == two
    assert one.weights.shape == (7, 3)


def test_responsibilities_of_improbable_trajectories():
    np.testing.assert_allclose(responsibilities(np.array([[-5000.0, -5001.0], [-np.inf, -9e3]])).sum(axis=1), 1.0)


def test_bad_input():
    rng, demo = np.random.default_rng(0), [(0, 1)]
    bads = ({"clusters": 0}, {"clusters": 1.5}, {"restarts": 0}, {"iterations": 0}, {"inner": 0}, {"tol": 0.0})
    for bad in bads:
        with pytest.raises(BayesRLError, match=next(iter(bad))):
            b.make("em-irl", **bad)
    solver = b.make("em-irl", clusters=1, restarts=1)
    with pytest.raises(BayesRLError, match="trajectories"):
        solver.solve(apart(logs=()), rng)
    for wrong in (None, 3, b.DirichletMDP.flat(line())):
        with pytest.raises(Incompatible, match="trajectories"):
            solver.solve(wrong, rng)
    with pytest.raises(BayesRLError, match="rng"):
        solver.solve(apart(), None)
    for bad, name in (
        ((line(), [1.0], 1.0, demo), "weights"),
        ((line(), [1.0, 2.0, np.nan], 1.0, demo), "weights"),
        ((line(), [1.0, 2.0, 3.0], 0.0, demo), "rationality"),
        ((line(), [1.0, 2.0, 3.0], "x", demo), "rationality"),
        ((line(), [1.0, 2.0, 3.0], 1.0, []), "demonstrations"),
        ((line(), [1.0, 2.0, 3.0], 1.0, [(0, 5)]), "action"),
        ((line(), [1.0, 2.0, 3.0], 1.0, demo, np.ones((2, 3))), "features"),
        ((None, [1.0], 1.0, demo), "problem"),
    ):
        with pytest.raises(BayesRLError, match=name):
            boltzmann_log_likelihood(*bad)
        if name not in ("demonstrations", "action"):
            with pytest.raises(BayesRLError, match=name):
                boltzmann_q(*bad[:3], *bad[4:])
