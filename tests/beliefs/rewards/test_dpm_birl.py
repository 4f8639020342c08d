"""Several experts: enumerated partitions with lists and densities of rewards, Langevin steps, limits, bad input."""

from math import log

import numpy as np
import plain_clusters as plain
import plain_inverse
import pytest
from numpy.random import default_rng
from scipy import special

import bayesrl as b
from bayesrl.beliefs.chain import PoorMixing
from bayesrl.beliefs.crp import draw_clustering
from bayesrl.errors import Incompatible, InvalidArgument
from bayesrl.inverse import DPMBIRL, FinitePrior, GaussianPrior, UniformPrior, demonstrate, langevin
from bayesrl.parameters import unchecked
from bayesrl.testing import assert_uniform_ranks

LINE = plain_inverse.line()
P = LINE.dense()[0]
RIGHT, LEFT, BOTH = [(0, 1), (1, 1), (2, 1)], [(2, 0), (1, 0), (0, 0)], [(1, 1), (2, 0), (1, 1)]
LOGS = [RIGHT, LEFT, BOTH, RIGHT[:2], LEFT[1:], BOTH[:1]]
LIST = FinitePrior([[0.0, 0.2, 1.0], [1.0, 0.0, 0.0], [0.1, 1.0, 0.0], [5.0, 5.0, 5.0]], [0.4, 0.3, 0.3, 0.0])


def listed_likelihood(logs, rationality):
    """L (N, n) of the rewards of LIST, by value iteration."""
    return np.exp(
        [
            [
                plain_inverse.log_likelihood(P, np.repeat(w[:, None], 2, axis=1), 0.9, pairs, rationality)
                for w in LIST.weights
            ]
            for pairs in logs
        ]
    )


@pytest.mark.parametrize(("n", "c"), [(4, 0.5), (5, 2.0), (6, 1.0)])
def test_draws_follow_the_enumerated_partitions(n, c):
    """15, 52 and 203 partitions: each probability, co-assignment, number of clusters and mean, in 6000 sweeps."""
    logs, u = LOGS[:n], np.asarray(LIST.probabilities)
    L = listed_likelihood(logs, 4.0)
    labels, p = plain.enumerated(lambda members: log(u @ L[members].prod(axis=0)), n, c)
    belief = DPMBIRL(LINE, reward_prior=LIST, rationality=4.0, concentration=c).update_many(logs)
    np.testing.assert_allclose(np.exp(belief.log_likelihoods(LIST.weights[0])), L[:, 0], rtol=1e-9)
    belief = belief.refresh(default_rng(n), sweeps=6000)
    z = belief.assignments
    plain.assert_near((z[:, None] == labels).all(axis=2), p)
    plain.assert_near((z[:, :, None] == z[:, None, :]).reshape(len(z), -1), plain.together(labels, p).ravel())
    np.testing.assert_allclose(belief.co_assignment(), plain.together(labels, p), atol=0.06)
    assert belief.n_clusters() == pytest.approx(p @ (labels.max(axis=1) + 1), abs=0.1)
    exact, new, mass = np.zeros((n, 3)), np.zeros(3), 0.0
    fresh = listed_likelihood([[(0, 0)]], 4.0)[0]
    for weight, partition in zip(p, labels, strict=True):
        for i in range(n):
            g = u * L[partition == partition[i]].prod(axis=0)
            exact[i] += weight * (g / g.sum()) @ LIST.weights
        for j in range(partition.max() + 1):
            g = u * L[partition == j].prod(axis=0)
            g = weight * (partition == j).sum() * g / g.sum() * fresh
            new, mass = new + g @ LIST.weights, mass + g.sum()
        g = weight * c * u * fresh
        new, mass = new + g @ LIST.weights, mass + g.sum()
    np.testing.assert_allclose(belief.means(), exact, atol=0.04)
    plain.assert_near(belief.samples.reshape(len(z), -1), exact.ravel())
    np.testing.assert_allclose(belief.new_trajectory([(0, 0)], default_rng(0)), new / mass, atol=0.03)


FEATURE = np.array([[-1.0], [0.2], [1.0]])
"""One weight: positive for experts that go right."""


def quadrature(logs, rationality, points=801):
    """Likelihood of each trajectory on a grid of weights in [-1, 1], (N, points)."""
    grid = np.linspace(-1.0, 1.0, points)
    L = np.zeros((len(logs), points))
    unit = [plain_inverse.optimal_q(P, np.repeat(sign * FEATURE, 2, axis=1), 0.9) for sign in (1.0, -1.0)]
    for k, w in enumerate(grid):
        q = rationality * abs(w) * unit[int(w < 0.0)]
        log_p = q - np.log(np.exp(q).sum(axis=1, keepdims=True))
        L[:, k] = [np.exp(sum(log_p[s, a] for s, a in pairs)) for pairs in logs]
    return grid, L


@pytest.fixture(scope="module")
def with_density():
    prior = UniformPrior(-1.0, 1.0)
    belief = DPMBIRL(LINE, FEATURE, prior, 3.0, 0.8, step=0.7, moves=2).update_many(LOGS[:4])
    return belief.refresh(default_rng(5), sweeps=1200)


def test_densities_follow_the_enumerated_partitions(with_density):
    """15 partitions of four trajectories; a cluster's evidence is an integral over one weight. 1200 sweeps."""
    grid, L = quadrature(LOGS[:4], 3.0)

    def integral(f):
        return ((f[1:] + f[:-1]) / 2.0).sum() / (len(grid) - 1)  # times the density 1/2 and the width 2

    labels, p = plain.enumerated(lambda members: log(integral(L[members].prod(axis=0))), 4, 0.8)
    z, w = with_density.assignments, with_density.samples
    plain.assert_near((z[:, None] == labels).all(axis=2), p)
    plain.assert_near((z[:, :, None] == z[:, None, :]).reshape(len(z), -1), plain.together(labels, p).ravel())
    assert (np.abs(w) <= 1.0).all()
    mean, share, new, mass = np.zeros(4), np.zeros(4), 0.0, 0.0
    fresh = quadrature([[(0, 0)]], 3.0)[1][0]
    for weight, partition in zip(p, labels, strict=True):
        for i in range(4):
            f = L[partition == partition[i]].prod(axis=0)
            mean[i] += weight * integral(f * grid) / integral(f)
            share[i] += weight * integral(f * (np.abs(grid) > 0.8)) / integral(f)
        for j in range(partition.max() + 1):
            f = L[partition == j].prod(axis=0)
            k = weight * (partition == j).sum() / integral(f)
            new, mass = new + k * integral(f * fresh * grid), mass + k * integral(f * fresh)
        new, mass = new + weight * 0.8 * integral(fresh * grid), mass + weight * 0.8 * integral(fresh)
    plain.assert_near(w[:, :, 0], mean)
    plain.assert_near(np.abs(w[:, :, 0]) > 0.8, share)  # clipped steps would pile up at the ends
    np.testing.assert_allclose(with_density.new_trajectory([(0, 0)], default_rng(0))[0], new / mass, atol=0.06)


def test_without_evidence_clusters_follow_the_restaurant():
    """Features of zero: no action says anything, so that the chain draws from the prior of clusterings.

    False alarm below 1e-4: five batch-means standard errors for each of five partitions.
    """
    belief = DPMBIRL(LINE, np.zeros((LINE.n_states, 1)), concentration=0.8, inner=1, moves=1, step=0.5)
    z = belief.update_many(LOGS[:3]).refresh(default_rng(0), 500).assignments
    labels, p = plain.enumerated(lambda members: 0.0, 3, 0.8)
    plain.assert_near((z[:, None] == labels).all(axis=2), p)


def test_langevin_by_hand():
    """The ratio from densities of normal distributions, and a gradient by differences."""
    belief = DPMBIRL(LINE, reward_prior=GaussianPrior(0.0, 0.7), rationality=2.0).update_many(LOGS[:2])
    one = belief.cluster([0])
    w, tau, eps = np.array([0.1, -0.2, 0.5]), 0.3, np.array([0.4, -1.0, 0.2])
    for i in range(3):
        h = np.eye(3)[i] * 1e-6
        slope = (one.log_posterior(w + h) - one.log_posterior(w - h)) / 2e-6
        assert one.gradient(w)[i] == pytest.approx(slope, abs=1e-5)
    new, log_ratio = langevin(one, w, tau, eps)
    np.testing.assert_allclose(new, w + tau**2 / 2 * one.gradient(w) + tau * eps)

    def log_q(to, start):
        return -((to - start - tau**2 / 2 * one.gradient(start)) ** 2).sum() / (2 * tau**2)

    exact = one.log_posterior(new) + log_q(w, new) - one.log_posterior(w) - log_q(new, w)
    assert log_ratio == pytest.approx(exact, abs=1e-10)
    boxed = DPMBIRL(LINE, rationality=2.0).update_many(LOGS[:2]).cluster([0, 1])
    new, log_ratio = langevin(boxed, [0.9, 0.0, 0.0], 0.5, [2.0, 0.0, 0.0])
    assert new[0] > 1.0
    assert log_ratio == -np.inf
    assert boxed.log_posterior(new) == -np.inf


def test_long_trajectories_do_not_underflow():
    """exp(a) / exp(b) is 0 / 0 for trajectories of probability below 1e-308."""
    rng = default_rng(3)
    long = [(int(s), int(a)) for s, a in zip(rng.integers(3, size=1500), rng.integers(2, size=1500), strict=True)]
    belief = DPMBIRL(LINE, FEATURE, rationality=3.0, step=0.02, moves=2).update_many([long, long])
    assert belief.log_likelihoods([0.0]).max() < -1000.0
    found = belief.refresh(default_rng(4), 60)
    assert np.isfinite(found.means()).all()
    assert np.abs(found.means()).max() < 0.3
    assert len(np.unique(found.samples)) > 20


def test_concentration_pools_and_separates():
    for prior in (LIST, GaussianPrior()):
        low = DPMBIRL(LINE, None, prior, 1.0, 1e-9, moves=1).update_many(LOGS).refresh(default_rng(6), 20)
        high = DPMBIRL(LINE, None, prior, 1.0, 1e9, moves=1).update_many(LOGS).refresh(default_rng(6), 20)
        assert low.n_clusters() == 1.0
        assert (low.samples == low.samples[:, :1]).all()
        np.testing.assert_array_equal(high.co_assignment(), np.eye(6))


def test_the_chain_goes_on_and_drops_draws_of_the_old_posterior():
    for prior in (LIST, GaussianPrior()):
        belief = DPMBIRL(LINE, reward_prior=prior, moves=1).update_many(LOGS[:3]).refresh(default_rng(2), 5)
        assert belief.refresh(default_rng(3), 4).samples.shape == (9, 3, 3)
        more = belief.update([b.Transition(0, 1, 0.0, 1)])
        assert more.assignments.shape == (0, 4)
        np.testing.assert_array_equal(more.labels, [*belief.assignments[-1], -1])
        np.testing.assert_array_equal(more.weights[:3], belief.samples[-1])
        assert more.refresh(default_rng(0)).samples.shape == (1, 4, 3)
        assert (belief.samples == belief.sample(default_rng(1))).all(axis=(1, 2)).any()
        empty = DPMBIRL(LINE, reward_prior=prior).refresh(default_rng(0), 3)
        assert empty.n_clusters() == 0.0
        assert empty.new_trajectory(RIGHT, default_rng(0)).shape == (3,)


@pytest.mark.parametrize(("step", "advice"), [(1e-4, "a larger 'step'"), (50.0, "a smaller 'step'")])
def test_a_bad_step_warns(step, advice):
    belief = DPMBIRL(LINE, FEATURE, step=step, moves=1, inner=1).update_many(LOGS[:2])
    with pytest.warns(PoorMixing, match=advice):
        belief.refresh(default_rng(0), 200)


@pytest.mark.parametrize(("block", "rationality"), [(2, 10.0), (2, 1.0), (4, 10.0), (8, 10.0)])
def test_a_warm_up_finds_the_step(block, rationality):
    """16, 4 and 1 weights of the grid: at least .2 and at most .9 of the steps are accepted.

    The step changes only while there are no draws. Sweeps of the warm-up give no draws.
    """
    world, rng = b.make_world("gridworld-blocks", block=block), default_rng(0)
    logs = demonstrate(world, world.features @ world.weights, 3, 40, rng)
    first = DPMBIRL(world, world.features, rationality=rationality, moves=5).update_many(logs)
    belief = first.refresh(rng, 10)
    more = belief.refresh(rng, 10)
    assert first.tau == 0.1 != belief.tau == more.tau
    assert len(belief.samples) == 10
    assert 0.2 < more.diagnostics().acceptance < 0.9
    assert more.update(logs[0]).refresh(rng).tau != more.tau
    assert unchecked(first, step=0.3, tau=0.3).refresh(rng).tau == 0.3


@pytest.mark.long
@pytest.mark.parametrize("step", [0.5, None])
def test_densities_are_calibrated(step):
    """Ranks of the true weights of three trajectories among 19 draws, 200 replicates; false alarm 1e-6."""
    prior, rng, ranks = (
        DPMBIRL(LINE, FEATURE, UniformPrior(-1.0, 1.0), 3.0, 0.8, step=step, moves=2),
        default_rng(9),
        [],
    )
    for _ in range(200):
        labels = draw_clustering(3, 0.8, rng)
        truth = rng.uniform(-1.0, 1.0, 3)[labels]
        logs = []
        for w in truth:
            p = special.softmax(3.0 * prior.rewards.solve(np.array([w])).q, axis=1)
            s = rng.integers(3, size=4)
            logs.append(np.stack([s, rng.random(4) < p[s, 1]], axis=1).astype(int))
        drawn = prior.update_many(logs).refresh(rng, 20 + 19 * 8).samples[20::8, :, 0]
        ranks.append((drawn < truth).sum(axis=0))
    assert_uniform_ranks(np.array(ranks), 20, false_alarm=1e-6)


BELIEF = DPMBIRL(LINE).update_many(LOGS[:2])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: DPMBIRL(LINE, rationality=0.0), "'rationality' must be greater than 0"),
        (lambda: DPMBIRL(LINE, concentration=0.0), "'concentration' must be greater than 0"),
        (lambda: DPMBIRL(LINE, concentration=np.nan), "'concentration' must be greater than 0"),
        (lambda: DPMBIRL(LINE, step=0.0), "'step' must be greater than 0"),
        (lambda: DPMBIRL(LINE, inner=0), "'inner' must be a whole number of at least 1"),
        (lambda: DPMBIRL(LINE, moves=0), "'moves' must be a whole number of at least 1"),
        (lambda: DPMBIRL(LINE, reward_prior=None), "'reward_prior' must be a prior over weights"),
        (lambda: DPMBIRL(LINE, reward_prior=FinitePrior([[0.0]])), "'reward_prior' must be over 3 weights"),
        (lambda: DPMBIRL(LINE, [[1.0]]), "'features' must be of shape"),
        (lambda: DPMBIRL("line"), "'problem' must be a TabularMDP"),
        (lambda: BELIEF.update([(0, 2)]), "'action' must be "),
        (lambda: BELIEF.update([]), "'demonstrations' must be at least one pair"),
        (lambda: BELIEF.update([(0, np.nan)]), "'action' must be "),
        (lambda: BELIEF.update_many(RIGHT), "'demonstrations' must be a sequence of logs"),
        (lambda: BELIEF.update_many(np.array(3)), "'demonstrations' must be a sequence of logs"),
        (lambda: BELIEF.update_many([]), "'demonstrations' must be at least one trajectory"),
        (lambda: BELIEF.update_many([RIGHT, []]), "'demonstrations' must be at least one pair"),
        (lambda: BELIEF.refresh(default_rng(0), 0), "'sweeps' must be a whole number of at least 1"),
        (lambda: BELIEF.refresh(None), "'rng' must be a numpy Generator"),
        (lambda: BELIEF.means(), "'self' must be a belief with draws"),
        (lambda: BELIEF.sample(default_rng(0)), "'self' must be a belief with draws"),
        (lambda: BELIEF.co_assignment(), "'self' must be a belief with draws"),
        (lambda: BELIEF.n_clusters(), "'self' must be a belief with draws"),
        (lambda: BELIEF.diagnostics(), "'self' must be a belief with draws"),
        (lambda: BELIEF.new_trajectory(RIGHT, default_rng(0)), "'self' must be a belief with draws"),
        (lambda: BELIEF.log_likelihoods([0.0]), "'weights' must be "),
        (lambda: BELIEF.cluster([]), "'members' must be "),
        (lambda: BELIEF.cluster([2]), "'members' must be whole numbers from 0 to 1"),
        (lambda: langevin(BELIEF.cluster([0]), [0.0] * 3, 0.0, [0.0] * 3), "'step' must be greater than 0"),
        (lambda: langevin(BELIEF.cluster([0]), [0.0] * 3, 0.1, [0.0] * 2), "'eps' must be "),
        (lambda: langevin(BELIEF.cluster([0]), [2.0] * 3, 0.1, [0.0] * 3), "'weights' must be inside the box"),
        (
            lambda: langevin(
                DPMBIRL(LINE, reward_prior=LIST).update(RIGHT).cluster([0]), LIST.weights[0], 0.1, [0.0] * 3
            ),
            "'prior' must be a density",
        ),
    ],
)
def test_bad_input(call, sentence):
    with pytest.raises(InvalidArgument, match=sentence):
        call()
    with pytest.raises(Incompatible, match="langevin needs a belief with 'log_posterior', 'gradient'"):
        langevin(BELIEF, [0.0] * 3, 0.1, [0.0] * 3)
    assert BELIEF.n_trajectories == 2
