"""gp-pomdp against dense normal densities, a grid over three states, Kalman's filter and a plain transcription."""

import re

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

from bayesrl.beliefs.covariances import Discrete, Gaussian, Linear, Matern, Polynomial, StateAction
from bayesrl.beliefs.dynamics._log_joint import log_joint
from bayesrl.beliefs.dynamics._pairs import between, slopes
from bayesrl.beliefs.dynamics._slices import Innovations, around, joint_densities, rebuilt, slice_moved
from bayesrl.beliefs.dynamics._trajectories import Sample
from bayesrl.continuous import GPPOMDP, ContinuousForwardSearch
from bayesrl.core import BayesAgent, Transition, run
from bayesrl.errors import BrokenContract, ImpossibleEvidence, Incompatible, InvalidArgument
from bayesrl.io.store import load, save
from bayesrl.parameters import unchecked
from bayesrl.registry import make_world
from bayesrl.testing import assert_mean_equal, assert_uniform_ranks

K_T, K_Z = Gaussian(scale=[1.0, 1.5], variance=0.5), Gaussian(scale=1.2, variance=0.3)
STEPS = [Transition([0.4], [1.0], 0.0, [1.3]), Transition([1.3], [-0.5], 0.0, [0.3])]


def move_mean(x, a):
    return 0.8 * x + 0.5 * a


def see_mean(x):
    return x + 0.1


def scalar(particles=100, **changed):
    given = {"transition": K_T, "observation": K_Z, "transition_noise": 0.3, "observation_noise": 0.25}
    given |= {"transition_mean": move_mean, "observation_mean": see_mean, "state": ([0.2], [[0.5]])}
    return GPPOMDP(**(given | changed), particles=particles)


def plane(particles=40):
    """Two states, one observation, a covariance and a noise for each coordinate."""
    return GPPOMDP(
        [Gaussian(scale=[1.0, 2.0, 1.5], variance=0.4), Matern(smoothness=2.5, scale=2.0, variance=0.2)],
        Gaussian(scale=1.3, variance=0.3) + Linear(variance=0.1), [0.3, 0.2], 0.25,
        lambda x, a: x @ np.array([[0.9, 0.1], [-0.2, 0.8]]) + a * np.array([0.5, -0.3]), lambda x: x[:, 0] - x[:, 1],
        ([0.2, -0.1], [[0.5, 0.1], [0.1, 0.4]]), particles,
    )  # fmt: skip


EPISODES = [
    Transition([0.3], [1.0], 0.0, [0.9]), Transition([0.9], [-1.0], 0.0, None), Transition(None, [0.5], 0.0, [0.1]),
    Transition(None, [0.2], 0.0, [-0.4], truncated=True), Transition([0.1], [0.7], 0.0, [0.5]),
    Transition([0.5], [-0.3], 0.0, [0.2]),
]  # fmt: skip
"""Two sequences, of five and of three states; one observation is missing."""
FIRST, BEFORE, SEEN = [0, 5], [0, 1, 2, 3, 5, 6], [0, 1, 3, 4, 5, 6, 7]
DONE, SAW = [1.0, -1.0, 0.5, 0.2, 0.7, -0.3], [0.3, 0.9, 0.1, -0.4, 0.1, 0.5, 0.2]


def dense_plane(X):
    """The log joint of `plane` after EPISODES, from scipy's densities of whole vectors."""
    belief = plane()
    U = np.column_stack([X[BEFORE], DONE])
    mean = belief.transition_mean(U[:, :2], U[:, 2:])
    total = sum(multivariate_normal.logpdf(X[t], *belief.state) for t in FIRST)
    for i, (k, sd) in enumerate(zip(belief.transition, (0.3, 0.2), strict=True)):
        y = X[np.add(BEFORE, 1), i]
        total += multivariate_normal.logpdf(y, mean[:, i], k(U, U) + sd**2 * np.eye(6))
    K = belief.observation[0](X[SEEN], X[SEEN]) + 0.25**2 * np.eye(7)
    return total + multivariate_normal.logpdf(SAW, X[SEEN, 0] - X[SEEN, 1], K)


def dense(x):
    """The log joint of `scalar` after STEPS."""
    X = np.reshape(x, (3, 1))
    U = np.column_stack([X[:2], [1.0, -0.5]])
    total = multivariate_normal.logpdf(X[0], [0.2], 0.5)
    total += multivariate_normal.logpdf(X[1:, 0], move_mean(U[:, 0], U[:, 1]), K_T(U, U) + 0.09 * np.eye(2))
    return total + multivariate_normal.logpdf([0.4, 1.3, 0.3], X[:, 0] + 0.1, K_Z(X, X) + 0.0625 * np.eye(3))


@pytest.fixture(scope="module")
def grid():
    """Log evidence, means and variances of three states after STEPS, and the best point, from a grid."""
    axis = np.linspace(-2.6, 3.6, 60)
    x = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1).reshape(-1, 3)
    off = 0.5 * np.exp(-0.5 * (x[:, 0] - x[:, 1]) ** 2 - 0.5)  # actions differ by one scale
    A = np.where(np.eye(2, dtype=bool), 0.59, off[:, None, None])
    C = 0.3 * np.exp(-0.5 * np.square((x[:, :, None] - x[:, None]) / 1.2)) + 0.0625 * np.eye(3)
    moved = np.stack([x[:, 1] - 0.8 * x[:, 0] - 0.5, x[:, 2] - 0.8 * x[:, 1] + 0.25], axis=1)

    def density(r, S):
        L = np.linalg.cholesky(S)
        w = np.linalg.solve(L, r[..., None])[..., 0]
        return -0.5 * (w * w).sum(1) - np.log(np.diagonal(L, 0, 1, 2)).sum(1) - 0.5 * r.shape[1] * np.log(2 * np.pi)

    logs = -((x[:, 0] - 0.2) ** 2) - 0.5 * np.log(np.pi) + density(moved, A)
    logs += density(np.array([0.4, 1.3, 0.3]) - x - 0.1, C)
    p = np.exp(logs)
    mean = p @ x / p.sum()
    evidence = np.log(p.sum() * (axis[1] - axis[0]) ** 3)
    return evidence, mean, p @ (x - mean) ** 2 / p.sum(), x[p.argmax()]


@pytest.fixture(scope="module")
def grown():
    """The belief `plane` after EPISODES, with few particles, so that it resamples."""
    return plane().update_many(EPISODES, default_rng(3))


# Densities -----------------------------------------------------------------------------------------------------------


def test_log_joint_equals_dense_normals(grown):
    belief, rng = scalar().update_many(STEPS, default_rng(0)), default_rng(1)
    for _ in range(3):
        x, X = rng.normal(size=3), rng.normal(size=(8, 2))
        assert belief.log_joint(x) == pytest.approx(dense(x), abs=1e-9)
        assert belief.log_joint(x[:, None]) == belief.log_joint(x)
        assert grown.log_joint(X) == pytest.approx(dense_plane(X), abs=1e-9)


def test_factors_of_particles_equal_dense_normals(grown):
    """After resampling, a missing observation and a restart, each particle has the factors of its trajectory."""
    assert grown.ancestors < grown.particles  # particles have been resampled
    ours = joint_densities(grown._model, grown.history, grown.sample)
    np.testing.assert_allclose(ours, [dense_plane(X) for X in grown.sample.states], atol=1e-9)


def test_gradient_equals_finite_differences(grown):
    X = default_rng(2).normal(size=(8, 2))
    _, ours = log_joint("", grown._model, grown.history, X)
    for t in range(8):
        for i in range(2):
            h = np.zeros((8, 2))
            h[t, i] = 1e-5
            assert ours[t, i] == pytest.approx((dense_plane(X + h) - dense_plane(X - h)) / 2e-5, abs=1e-6)


KERNELS = [
    Gaussian(scale=[1.0, 2.0], variance=0.7), Matern(smoothness=1.5), Polynomial(degree=3), Linear(2.0), Discrete(),
    Gaussian() + Linear(), Gaussian() * Polynomial(), StateAction(Gaussian(), Matern(smoothness=2.5), dims=1),
]  # fmt: skip


@pytest.mark.parametrize("k", KERNELS, ids=lambda k: type(k).__name__)
def test_pairs(k):
    """Values in many particles are those of the covariance, and slopes its differences."""
    rng = default_rng(4)
    x, Y, h = rng.normal(size=(3, 2)), rng.normal(size=(3, 4, 2)), 1e-6
    Y[0, 1] = x[0]
    np.testing.assert_allclose(between(k, x, Y), [k.matrix(x[p : p + 1], Y[p])[0] for p in range(3)], atol=1e-12)
    general = slopes.dispatch(object)(k, x, Y[1])  # central differences
    np.testing.assert_allclose(slopes(k, x, Y[1]), general, atol=1e-7 + h)
    np.testing.assert_allclose(between.dispatch(object)(k, x, Y), between(k, x, Y), atol=1e-12)


def test_maximum_equals_an_independent_optimiser(grid):
    belief = scalar(300).update_many(STEPS, default_rng(5))
    options = {"xatol": 1e-8, "fatol": 1e-12, "maxiter": 4000}
    best = minimize(lambda x: -dense(x), grid[3], method="Nelder-Mead", options=options)
    ours = belief.map_states()
    assert ours.shape == (3, 1)
    np.testing.assert_allclose(ours[:, 0], best.x, atol=1e-4)
    assert belief.log_joint(ours) >= belief.log_joint(belief.path_moments()[0])
    np.testing.assert_allclose(log_joint("", belief._model, belief.history, ours)[1], 0.0, atol=1e-4)


def test_the_best_of_several_maxima():
    """The square of the state is seen: two maxima, -2.88 near the prior's central trajectory and -2.37 elsewhere."""
    belief = scalar(200, observation_mean=np.square)
    steps = [Transition(1.0, -0.6, 0.0, 1.4), Transition(None, -0.6, 0.0, 0.9)]
    belief, rng = belief.update_many(steps, default_rng(0)), default_rng(26)
    found = [minimize(lambda x: -belief.log_joint(x), rng.normal(size=3)).fun for _ in range(8)]
    assert max(found) - min(found) > 0.3
    assert belief.log_joint(belief.map_states()) == pytest.approx(-min(found), abs=1e-6)


def test_symmetric_states_have_two_equal_modes():
    belief = scalar(100, transition_mean="zero", observation_mean="zero", state=([0.0], [[0.5]]))
    belief = belief.update_many(STEPS, default_rng(6))
    x, best = default_rng(7).normal(size=3), belief.map_states()
    assert belief.log_joint(-x) == pytest.approx(belief.log_joint(x), abs=1e-12)
    assert np.abs(best).max() > 0.1
    assert belief.log_joint(-best) == pytest.approx(belief.log_joint(best), abs=1e-12)


# Filter --------------------------------------------------------------------------------------------------------------


def test_filter_equals_the_grid(grid):
    """Five seeds of 20,000 particles. The largest standard error of a mean is about .005, of the evidence .006."""
    evidence, mean, variance, _ = grid
    for seed in range(5):
        belief = scalar(20_000).update_many(STEPS, default_rng(seed))
        m, S = belief.path_moments()
        assert belief.log_evidence() == pytest.approx(evidence, abs=0.03)
        np.testing.assert_allclose(m[:, 0], mean, atol=0.03)
        np.testing.assert_allclose(S[:, 0, 0], variance, atol=0.03)
        np.testing.assert_allclose(belief.state_moments()[0], m[-1])


def transcription(P, rng):
    """`plane` after EPISODES in plain Python: every particle conditions its own dense normals."""
    belief = plane()
    m0, S0 = belief.state
    paths, weights, log = [np.zeros((0, 2))] * P, np.full(P, 1.0 / P), 0.0
    before, seen, done, saw = [], [], [], []

    def given(K, y, mean, a, v, new):  # a normal vector y with a new entry
        c = np.linalg.solve(K, a) if len(y) else np.zeros(0)
        return new + c @ (y - mean), v - c @ a

    def extend(action, z):
        nonlocal paths, weights, log
        if 1.0 / (weights @ weights) < 0.5 * P:
            below, u = np.cumsum(weights), (np.arange(P) + rng.random()) / P
            paths = [paths[int(np.argmax(below > one))] for one in u]
            weights = np.full(P, 1.0 / P)
        e, density = rng.standard_normal((P, 2)), np.ones(P)
        for p, X in enumerate(paths):
            if action is None:
                x = m0 + np.linalg.cholesky(S0) @ e[p]
            else:
                U = np.column_stack([X[before], done]) if before else np.zeros((0, 3))
                u, x = np.append(X[-1], action)[None], np.zeros(2)
                for i, (k, sd) in enumerate(zip(belief.transition, (0.3, 0.2), strict=True)):
                    K, a = k.matrix(U, U) + sd**2 * np.eye(len(U)), k.matrix(U, u)[:, 0]
                    prior = belief.transition_mean(np.vstack([U, u])[:, :2], np.vstack([U, u])[:, 2:])[:, i]
                    y = X[np.add(before, 1, dtype=int), i] if before else np.zeros(0)
                    mean, v = given(K, y, prior[:-1], a, k.variances(u)[0] + sd**2, prior[-1])
                    x[i] = mean + np.sqrt(v) * e[p, i]
            paths[p] = X = np.vstack([X, x])
            if z is not None:
                k, V = belief.observation[0], X[seen].reshape(-1, 2)
                a, K = k.matrix(V, x[None])[:, 0], k.matrix(V, V) + 0.25**2 * np.eye(len(V))
                v = k.variances(x[None])[0] + 0.25**2
                mean, v = given(K, np.array(saw), V[:, 0] - V[:, 1], a, v, x[0] - x[1])
                density[p] = np.exp(-0.5 * (z - mean) ** 2 / v) / np.sqrt(2.0 * np.pi * v)
        n = len(paths[0])
        if action is not None:
            before.append(n - 2)
            done.append(action)
        if z is not None:
            seen.append(n - 1)
            saw.append(z)
        log += np.log(weights @ density)
        weights = weights * density / (weights @ density)

    began = True
    for step in EPISODES:
        if began:
            extend(None, step.observation[0])
        extend(step.action[0], None if step.next_observation is None else step.next_observation[0])
        began = step.truncated
    return np.array(paths), weights, log


def test_transcription():
    """The same trajectories, weights and evidence as the transcription, under the same random numbers."""
    ours, (X, weights, log) = plane(12).update_many(EPISODES, default_rng(8)), transcription(12, default_rng(8))
    assert ours.ancestors < 12
    np.testing.assert_allclose(ours.sample.states, X, atol=1e-9)
    np.testing.assert_allclose(ours.sample.weights, weights, atol=1e-9)
    assert ours.log_evidence() == pytest.approx(log, abs=1e-9)


def test_one_covariance_serves_all_coordinates():
    """One covariance and one noise share a factor. It gives what a list of equal ones gives."""
    k, l = Gaussian(scale=[1.0, 2.0, 1.5], variance=0.4), Gaussian(scale=1.3, variance=0.3)
    rest = "state", "state", ([0.2, -0.1], [[0.5, 0.1], [0.1, 0.4]]), 20
    one, two = GPPOMDP(k, l, 0.3, 0.2, *rest), GPPOMDP([k, k], l, np.diag([0.09, 0.09]), [0.2, 0.2], *rest)
    steps = [Transition([0.1, 0.3], 1.0, 0.0, [0.5, 0.2]), Transition(None, -1.0, 0.0, [0.1, -0.2])]
    one, two = (belief.update_many(steps, default_rng(22)) for belief in (one, two))
    assert one.sample.move.shape[1] == one.sample.see.shape[1] == 1
    np.testing.assert_allclose(one.sample.states, two.sample.states, atol=1e-12)
    np.testing.assert_allclose(one.sample.weights, two.sample.weights, atol=1e-12)
    X = default_rng(23).normal(size=(3, 2))
    for a, b in zip(*(log_joint("", x._model, x.history, X) for x in (one, two)), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)
    ours = [joint_densities(x._model, x.history, x.sample) for x in (one, two)]
    np.testing.assert_allclose(*ours, atol=1e-10)
    np.testing.assert_allclose(ours[0], [two.log_joint(X) for X in two.sample.states], atol=1e-10)


def kalman(zs, actions):
    """Mean and variance of x' = x + a + N(0, .2^2), z = x + N(0, .3^2), x_1 ~ N(.5, .4), and the log evidence."""
    m, v, log = 0.5, 0.4, 0.0
    for t, z in enumerate(zs):
        if t:
            m, v = m + actions[t - 1], v + 0.04
        s = v + 0.09
        log += -0.5 * (z - m) ** 2 / s - 0.5 * np.log(2.0 * np.pi * s)
        m, v = m + v / s * (z - m), v * 0.09 / s
    return m, v, log


def almost_linear(particles, **more):
    """Processes of hardly any variance: Kalman's filter is exact up to 1e-4."""
    k = Gaussian(variance=1e-6)
    return GPPOMDP(k, k, 0.2, 0.3, lambda x, a: x + a, lambda x: x, ([0.5], [[0.4]]), particles, **more)


def test_known_functions_give_kalmans_filter():
    """State, evidence, draws and rewards after eight steps and at the start, within five standard errors."""
    rng, actions = default_rng(9), [0.3, -0.2, 0.5, 0.1, -0.4, 0.2, 0.0, 0.3]
    zs = (0.6 + np.append(0.0, np.cumsum(actions)) + 0.3 * rng.standard_normal(9)).tolist()
    prior = belief = almost_linear(10_000, reward=lambda x, a: -(x[:, 0] ** 2) + a[0])
    m, v, _ = kalman(zs[:1], [])
    z = belief.draw(zs[0], actions[0], rng, 4000)
    assert z.shape == (4000, 1)
    assert z.mean() == pytest.approx(m + actions[0], abs=0.05)
    assert z.std() == pytest.approx(np.sqrt(v + 0.04 + 0.09), abs=0.03)
    assert belief.expected_reward(zs[0], 0.7) == pytest.approx(0.7 - m * m - v, abs=0.01)
    assert belief.expected_reward(None, 0.0) == pytest.approx(-0.25 - 0.4, abs=0.01)
    for t, a in enumerate(actions):
        belief = belief.update(Transition(zs[t], a, 0.0, zs[t + 1]), rng)
    m, v, log = kalman(zs, actions)
    (mean,), ((variance,),) = belief.state_moments()
    assert mean == pytest.approx(m, abs=0.015)
    assert variance == pytest.approx(v, abs=0.005)
    assert belief.log_evidence() == pytest.approx(log, abs=0.15)
    z = belief.draw(None, 0.5, rng, 4000)
    assert z.mean() == pytest.approx(m + 0.5, abs=0.045)
    assert z.std() == pytest.approx(np.sqrt(v + 0.04 + 0.09), abs=0.03)
    assert belief.expected_reward(None, 1.0) == pytest.approx(1.0 - m * m - v, abs=0.03)
    np.testing.assert_array_equal(belief.restart().state_moments()[1], prior.state_moments()[1])


def check_calibration(prior, replicates, moves, rng):
    """Ranks of hidden states among draws of their posterior are uniform, and posterior means average to the truth.

    Data are two sequences, so that what the first one taught is tested too.
    """
    ranks, means, truths = [], [], []
    for _ in range(replicates):
        truth, belief = Simulated(), prior
        for _ in range(2):
            belief = belief.update_many(truth.sequence(moves, rng), rng).restart()
        chosen = rng.choice(belief.particles, 19, p=belief.sample.weights)
        ranks.append((belief.sample.states[chosen, :, 0] < truth.x).sum(axis=0))
        means.append(belief.path_moments()[0][:, 0])
        truths.append(truth.x)
    assert_uniform_ranks(np.array(ranks), 20, false_alarm=1e-6)
    assert_mean_equal(np.subtract(means, truths), 0.0, false_alarm=1e-6)
    assert_mean_equal(np.array(means)[:, [0, moves + 1]], 0.2, false_alarm=1e-6)


def test_calibration_and_martingale():
    """False alarm 1e-6 each. 400 replicates detect a posterior that is too narrow by two fifths or off by a third."""
    check_calibration(scalar(500), 400, 1, default_rng(10))


@pytest.mark.long
def test_calibration_over_longer_sequences():
    """False alarm 1e-6 each. 1500 replicates detect a posterior that is too narrow by a fifth or off by a sixth."""
    check_calibration(scalar(2000), 1500, 2, default_rng(10))


class Simulated:
    """A trajectory and observations drawn from the prior of `scalar`, by conditioning dense normals."""

    def __init__(self):
        self.inputs, self.outputs, self.at, self.z, self.x = [], [], [], [], []

    def conditional(self, k, noise, X, y, x, rng):
        v, mean = k.variances(x[None])[0] + noise, 0.0
        if X:
            K = k.matrix(np.array(X), np.array(X)) + noise * np.eye(len(X))
            c = np.linalg.solve(K, k.matrix(np.array(X), x[None])[:, 0])
            mean, v = c @ np.array(y), v - c @ k.matrix(np.array(X), x[None])[:, 0]
        return mean + np.sqrt(v) * rng.standard_normal()

    def seen(self, x, rng):
        r = self.conditional(K_Z, 0.0625, self.at, self.z, np.array([x]), rng)
        self.at.append([x])
        self.z.append(r)
        self.x.append(x)
        return [see_mean(x) + r]

    def sequence(self, moves, rng):
        x, steps = 0.2 + np.sqrt(0.5) * rng.standard_normal(), []
        z = self.seen(x, rng)
        for _ in range(moves):
            a = float(rng.integers(-1, 2))
            r = self.conditional(K_T, 0.09, self.inputs, self.outputs, np.array([x, a]), rng)
            self.inputs.append([x, a])
            self.outputs.append(r)
            x = move_mean(x, a) + r
            z, before = self.seen(x, rng), z
            steps.append(Transition(before, a, 0.0, z))
        return steps


# Moves ---------------------------------------------------------------------------------------------------------------


def test_slices_reach_the_posterior_of_the_grid(grid):
    """2000 trajectories of the prior, moved, have the moments of the posterior on the grid: it is the invariant law.

    They are moved by `refresh`; by slices of innovations alone; and then by slices around the maximum alone, which keep
    the moments. Trajectories are independent, so that the false-alarm rate is 1e-6 for each. The test detects a mean
    that is off by a ninth of a standard deviation. The prior's means are off by a half to one.
    """
    _, mean, variance, _ = grid
    start, rng, P = scalar(2000), default_rng(11), 2000
    blind = start.update_many([step._replace(observation=None, next_observation=None) for step in STEPS], rng)
    history = scalar(1).update_many(STEPS, rng).history
    walk = rebuilt(start._model, history, blind.sample.states, drawn=False)
    belief = unchecked(blind, history=history, sample=walk.sample(np.full(P, 1.0 / P)))
    assert np.abs(belief.path_moments()[0][:, 0] - mean).max() > 0.25

    def check(sample):
        X = sample.states[:, :, 0]
        assert_mean_equal(X, mean, false_alarm=1e-6)
        assert_mean_equal((X - mean) ** 2, variance, false_alarm=1e-6)

    check(belief.refresh(rng, 12).sample)
    sample, everything = Sample._make([x.copy() for x in belief.sample]), np.ones(3, bool)
    for chart, slices in ((Innovations(start._model, history), 10), (around(start._model, history), 6)):
        before = sample.states.copy()
        for _ in range(slices):
            slice_moved(chart, sample, everything, rng)
        assert (sample.states != before).all()
        check(sample)


def test_moved_particles_keep_their_factors(grown):
    """After a refresh the factors are those of the moved trajectories, and there are more ancestors."""
    moved = grown.refresh(default_rng(12), 2)
    ours = joint_densities(moved._model, moved.history, moved.sample)
    np.testing.assert_allclose(ours, [dense_plane(X) for X in moved.sample.states], atol=1e-8)
    assert moved.ancestors > grown.ancestors
    assert moved.effective == pytest.approx(grown.particles)
    assert scalar().refresh(default_rng(0)) == scalar()


def test_brackets_shrink():
    """Innovations move all trajectories, though precise observations leave few angles in a thousand."""
    belief = scalar(200, observation_noise=1e-3, observation=Gaussian(variance=1e-6)).update_many(
        STEPS, default_rng(24)
    )
    sample = Sample._make([x.copy() for x in belief.sample])
    slice_moved(Innovations(belief._model, belief.history), sample, np.ones(3, bool), default_rng(25))
    assert (sample.states != belief.sample.states).all()


def test_a_slice_of_some_states_leaves_the_others():
    """A run of states moves alone: the first state stays where only later innovations move."""
    belief = scalar(50).update_many(STEPS, default_rng(13))
    sample = Sample._make([x.copy() for x in belief.sample])
    slice_moved(Innovations(belief._model, belief.history), sample, np.array([False, True, False]), default_rng(14))
    moved = sample.states != belief.sample.states
    assert not moved[:, 0].any()
    assert moved[:, 1:].all()


# Values --------------------------------------------------------------------------------------------------------------


def test_thinned(grown):
    rng = default_rng(15)
    few = grown.thinned(5, rng)
    assert few.particles == 5
    assert few.effective == pytest.approx(5)
    paths = {X.tobytes() for X in grown.sample.states}
    assert all(X.tobytes() in paths for X in few.sample.states)
    assert few.update(EPISODES[1], rng).sample.states.shape == (5, 9, 2)
    assert grown.thinned(1000, rng) is grown
    assert plane().thinned(3, rng).particles == 3


def test_updates_change_nothing(grown):
    """Arrays of particles are read-only, and two posteriors of one belief share nothing that is written."""
    kept = [x.copy() for x in (*grown.sample, *grown.history[2:])]
    rng = default_rng(16)
    one, two = grown.update(EPISODES[1], default_rng(17)), grown.update(EPISODES[2], rng)
    grown.restart().update(EPISODES[0], rng)
    grown.refresh(rng)
    grown.draw([0.0], [0.1], rng, 3)
    for old, now in zip(kept, (*grown.sample, *grown.history[2:]), strict=True):
        np.testing.assert_array_equal(old, now)
        assert not now.flags.writeable
    assert one == grown.update(EPISODES[1], default_rng(17))
    assert one != two
    with pytest.raises(ValueError, match="read-only"):
        one.sample.states[0, 0] = 1.0


# Planning ------------------------------------------------------------------------------------------------------------


def test_forward_search_values():
    """Two decisions ahead with known functions: the reward -x^2 - .1 a^2 now and after a step, in closed form.

    Within .2. Over 20 seeds the standard deviation of a value was at most .036, so that a false alarm is below 1e-6.
    """
    belief = almost_linear(4000, reward=lambda x, a: -(x[:, 0] ** 2) - 0.1 * a[0] ** 2, gamma=0.9)
    planner = ContinuousForwardSearch([-1.0, 0.0, 1.0], depth=2, width=32, inner=2000)
    rng, A = default_rng(27), np.array([-1.0, 0.0, 1.0])
    for now, zs, actions in ((belief, [0.8], []), (None, [0.8, 1.4], [0.5])):
        if now is None:
            now = belief.update(Transition(0.8, 0.5, 0.0, 1.4), rng)
        m, v, _ = kalman(zs, actions)
        q = -(m * m) - v - 0.1 * A**2 - 0.9 * ((m + A) ** 2 + v + 0.04)
        found = planner.plan(now, zs[-1], planner.start(), rng)
        np.testing.assert_allclose(found.info["q"], q, atol=0.2)
    with pytest.raises(Incompatible, match="It was given no 'reward'"):
        BayesAgent(scalar(20), planner)


def test_an_agent_acts_on_a_hidden_state():
    """The hidden blimp: a run with restarts goes through, and the same seed gives the same actions."""
    rows = lambda x, a: np.column_stack([x[:, 0] + 0.5 * x[:, 1], x[:, 1]])  # noqa: E731
    k, l = Gaussian(scale=2.0, variance=0.04), Gaussian(scale=2.0, variance=4e-4)
    start = [1.0, 0.0], np.diag([4e-4, 4e-4])
    reward = lambda x, a: np.exp(-0.5 * (x[:, 0] / 0.3) ** 2)  # noqa: E731
    belief = GPPOMDP([l, k], l, [0.01, 0.02], 0.05, rows, lambda x: x[:, 0], start, 30, reward)
    agent = BayesAgent(belief, ContinuousForwardSearch([-1.0, 0.0, 1.0], width=2, inner=5))
    one, two = (run(agent, make_world("blimp", hidden=True), 6, seed=3, horizon=3) for _ in range(2))
    assert one == two


# Files ---------------------------------------------------------------------------------------------------------------


def test_a_saved_belief_goes_on_as_before(tmp_path):
    belief = scalar(30, transition_mean="state", observation_mean="zero").update_many(STEPS, default_rng(18))
    save(belief, tmp_path / "belief.zip")
    same = load(tmp_path / "belief.zip")
    assert same == belief
    assert same.restart().update(STEPS[0], default_rng(19)) == belief.restart().update(STEPS[0], default_rng(19))
    X = belief.sample.states.copy()
    X[3, 1] += 0.1
    damaged = unchecked(belief, sample=belief.sample._replace(states=X))
    halves = np.full(30, 0.5 / 30)
    light, lost = (unchecked(belief, sample=x) for x in (belief.sample._replace(weights=halves), None))
    for broken, words in (
        (damaged, "trajectories that belong to the history"), (lost, "trajectories that belong to the history"),
        (light, "numbers that sum to 1"),
    ):  # fmt: skip
        with pytest.raises(InvalidArgument, match=words):
            save(broken, tmp_path / "other.zip")
    with pytest.raises(InvalidArgument, match="made of values of this library"):
        save(scalar(), tmp_path / "functions.zip")


# Bad input -----------------------------------------------------------------------------------------------------------

NAN, FLAT = float("nan"), lambda x: np.zeros(2)
WRONG = {
    "particles": (0, "'particles' must be a whole number of at least 1, got 0"),
    "transition": (3.0, "'transition' must be a covariance, or a list"),
    "observation": ([K_Z, K_Z], "'observation' must be one, or one for each of 1 coordinates, got 2"),
    "transition_noise": (0.0, "'transition_noise' must be greater than 0, got 0.0"),
    "observation_noise": ([[1.0, 2.0], [3.0, 1.0]], "symmetric positive definite"),
    "transition_mean": ("states", "'transition_mean' must be a function, \"state\" or \"zero\", got 'states'"),
    "observation_mean": (FLAT, "'observation_mean' must be a function that gives finite numbers of shape"),
    "state": (([0.0], [[-1.0]]), "'state' must be with a symmetric positive definite covariance"),
    "reward": (1.0, "'reward' must be a function"),
    "gamma": (1.5, "'gamma' must be in"),
    "resample": (2.0, "'resample' must be in"),
}


@pytest.mark.parametrize("name", WRONG)
def test_constructor_refuses(name):
    bad, words = WRONG[name]
    with pytest.raises(InvalidArgument, match=re.escape(words)) as caught:
        scalar(**{name: bad}) if name != "particles" else scalar(bad)
    assert str(caught.value).startswith("GPPOMDP: ")


def test_constructor_refuses_forms():
    for noise in (NAN, -1.0, [0.1, 0.2], [[0.1, 0.01], [0.01, 0.1]], "much", []):
        with pytest.raises(InvalidArgument):
            scalar(transition_noise=noise)
    for state in (0.0, ([0.0], [[1.0, 0.0]]), ([NAN], [[1.0]]), ([0.0, 0.0], [[1.0, 0.5], [0.4, 1.0]]), ([[0.0]], 1.0)):
        with pytest.raises(InvalidArgument):
            scalar(state=state)
    with pytest.raises(InvalidArgument, match="points of 2 coordinates"):
        scalar(observation=Gaussian(scale=[1.0, 2.0]))
    with pytest.raises(InvalidArgument, match="a function for 2 coordinates, as a state has 1"):
        scalar(observation=[K_Z, K_Z], observation_mean="state")


def test_methods_refuse():
    """One sentence each, and the belief stays as it was."""
    belief, rng = scalar(20).update(STEPS[0], default_rng(20)), default_rng(21)
    before = belief.sample.states.copy()
    step = STEPS[1]
    for datum, name in (
        (step._replace(action=NAN), "action"), (step._replace(action=[1.0, 2.0]), "action"),
        (step._replace(action="up"), "action"), (step._replace(next_observation=[NAN]), "next_observation"),
        (step._replace(next_observation=[0.0, 1.0]), "next_observation"),
    ):  # fmt: skip
        with pytest.raises(InvalidArgument, match=f"GPPOMDP.update: '{name}' must be"):
            belief.update(datum, rng)
    with pytest.raises(InvalidArgument, match="'observation' must be"):
        belief.restart().update(step._replace(observation=[NAN]), rng)
    with pytest.raises(InvalidArgument, match="'rng' must be a numpy Generator"):
        belief.update(step)
    with pytest.raises(ImpossibleEvidence, match="its density is zero in every particle"):
        scalar(20, observation_mean=lambda x: 1e200 + 0.0 * x).update(step, rng)
    with pytest.raises(InvalidArgument, match=r"GPPOMDP\.log_joint: 'states' must be of shape"):
        belief.log_joint([0.0, 0.0, 0.0])
    with pytest.raises(InvalidArgument, match="finite everywhere"):
        belief.log_joint([0.0, NAN])
    for ask in (
        scalar().path_moments,
        scalar().map_states,
        lambda: scalar().log_joint([0.0]),
    ):
        with pytest.raises(InvalidArgument, match="a belief with data"):
            ask()
    for bad in (lambda: belief.thinned(0, rng), lambda: belief.refresh(rng, 0), lambda: belief.map_states(0)):
        with pytest.raises(InvalidArgument, match="a whole number of at least 1"):
            bad()
    with pytest.raises(InvalidArgument, match="'n' must be"):
        belief.draw(None, 0.0, rng, 0)
    with pytest.raises(Incompatible, match="'reward', which GPPOMDP lacks"):
        belief.expected_reward(None, 0.0)
    with pytest.raises(BrokenContract, match="the function 'reward' does not return"):
        scalar(20, reward=lambda x, a: np.zeros(3)).expected_reward([0.0], 0.0)
    with pytest.raises(InvalidArgument, match="'transition_mean' must be a function that gives finite numbers"):
        scalar(20, transition_mean=lambda x, a: NAN * x).update(step, rng)
    with pytest.raises(BrokenContract, match="the function 'transition_mean' does not take an array of shape"):
        scalar(20, transition_mean=lambda x: x).update(step, rng)
    np.testing.assert_array_equal(belief.sample.states, before)
