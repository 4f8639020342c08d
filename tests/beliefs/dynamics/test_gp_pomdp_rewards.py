"""gp-pomdp with a learned reward against dense normal densities, a grid over three states, and regression."""

import pickle

import numpy as np
import pytest
from numpy.random import default_rng
from own_probes import check_belief
from scipy.stats import multivariate_normal

from bayesrl.beliefs import GPRegression
from bayesrl.beliefs.covariances import Gaussian, Linear, Matern
from bayesrl.beliefs.dynamics._gp_pomdp_model import spread
from bayesrl.beliefs.dynamics._log_joint import log_joint
from bayesrl.beliefs.dynamics._slices import Innovations, around, joint_densities, slice_moved
from bayesrl.beliefs.dynamics._trajectories import History, Sample
from bayesrl.continuous import GPPOMDP, ContinuousForwardSearch, GPDynamics
from bayesrl.core import BayesAgent, Transition, run
from bayesrl.errors import BrokenContract, ImpossibleEvidence, InvalidArgument
from bayesrl.io.store import load, save
from bayesrl.parameters import unchecked
from bayesrl.registry import make_world
from bayesrl.testing import assert_mean_equal

K_T, K_Z = Gaussian(scale=[1.0, 1.5], variance=0.5), Gaussian(scale=1.2, variance=0.3)
K_R = Gaussian(scale=[0.8, 2.0], variance=1.5)
PAYS = [2.5, -2.5]
STEPS = [Transition([0.4], [1.0], PAYS[0], [1.3]), Transition([1.3], [-0.5], PAYS[1], [0.3])]


def scalar(particles=100, **changed):
    """The system of test_gp_pomdp.py, with a reward whose noise is .2."""
    given = {"transition": K_T, "observation": K_Z, "transition_noise": [0.3, 0.2], "observation_noise": 0.25}
    given |= {"transition_mean": lambda x, a: 0.8 * x + 0.5 * a, "observation_mean": lambda x: x + 0.1}
    given |= {"state": ([0.2], [[0.5]]), "reward": K_R}
    return GPPOMDP(**(given | changed), particles=particles)


def rewards_given(X, actions, rewards, k=K_R, sd=0.2):
    """The log density of rewards of states, (n, d), and actions, (n,)."""
    U = np.column_stack([X, actions])
    return multivariate_normal.logpdf(rewards, np.zeros(len(U)), k(U, U) + sd**2 * np.eye(len(U)))


def dense(x):
    """The log joint of `scalar` after STEPS."""
    X = np.reshape(x, (3, 1))
    U = np.column_stack([X[:2], [1.0, -0.5]])
    total = multivariate_normal.logpdf(X[0], [0.2], 0.5)
    total += multivariate_normal.logpdf(X[1:, 0], 0.8 * U[:, 0] + 0.5 * U[:, 1], K_T(U, U) + 0.09 * np.eye(2))
    total += multivariate_normal.logpdf([0.4, 1.3, 0.3], X[:, 0] + 0.1, K_Z(X, X) + 0.0625 * np.eye(3))
    return total + rewards_given(X[:2], [1.0, -0.5], PAYS)


# Two states, two sequences of five and of three states; observations are missing, rewards are not.
EPISODES = [
    Transition([0.3], [1.0], 0.5, [0.9]), Transition([0.9], [-1.0], -0.2, None), Transition(None, [0.5], 0.1, [0.1]),
    Transition(None, [0.2], 0.9, [-0.4], truncated=True), Transition([0.1], [0.7], 1.1, [0.5]),
    Transition([0.5], [-0.3], -0.6, None, terminated=True),
]  # fmt: skip
FIRST, BEFORE, SEEN = [0, 5], [0, 1, 2, 3, 5, 6], [0, 1, 3, 4, 5, 6]
DONE, SAW, PAID = [1.0, -1.0, 0.5, 0.2, 0.7, -0.3], [0.3, 0.9, 0.1, -0.4, 0.1, 0.5], [0.5, -0.2, 0.1, 0.9, 1.1, -0.6]
F, START = np.array([[0.9, 0.1], [-0.2, 0.8]]), ([0.2, -0.1], [[0.5, 0.1], [0.1, 0.4]])
MOVES = [Gaussian(scale=[1.0, 2.0, 1.5], variance=0.4), Matern(smoothness=2.5, scale=2.0, variance=0.2)]
K_SEEN = Gaussian(scale=1.3, variance=0.3) + Linear(variance=0.1)
EARNS = Gaussian(scale=[0.7, 1.5, 2.0]) + Linear(variance=0.2)


def plane(transition, noise, particles=40, **more):
    rows, seen = lambda x, a: x @ F + 0.5 * a, lambda x: x[:, 0] - x[:, 1]
    return GPPOMDP(transition, K_SEEN, noise, 0.25, rows, seen, START, particles, EARNS, **more)


PLANES = {
    "each its own": (MOVES, [0.3, 0.2, 0.15]),
    "one for all": (MOVES[0], 0.3),
    "one covariance": (MOVES[0], [0.3, 0.2, 0.15]),
    "a diagonal covariance": (MOVES, np.diag(np.square([0.3, 0.2, 0.15]))),
}


@pytest.mark.parametrize("name", PLANES)
def test_log_joint_with_rewards(name):
    """The log joint, its gradient and the factors of particles, by scipy's densities of whole vectors."""
    transition, noise = PLANES[name]
    ks = transition if isinstance(transition, list) else [transition] * 2
    sds = np.broadcast_to(noise, 3) if np.ndim(noise) < 2 else np.sqrt(np.diagonal(noise))

    def dense_plane(X):
        U = np.column_stack([X[BEFORE], DONE])
        total = sum(multivariate_normal.logpdf(X[t], *START) for t in FIRST)
        for i, k in enumerate(ks):
            mean = U[:, :2] @ F[:, i] + 0.5 * U[:, 2]
            total += multivariate_normal.logpdf(X[np.add(BEFORE, 1), i], mean, k(U, U) + sds[i] ** 2 * np.eye(6))
        K = K_SEEN(X[SEEN], X[SEEN]) + 0.25**2 * np.eye(6)
        total += multivariate_normal.logpdf(SAW, X[SEEN, 0] - X[SEEN, 1], K)
        return total + rewards_given(X[BEFORE], DONE, PAID, EARNS, sds[2])

    grown = plane(transition, noise).update_many(EPISODES, default_rng(3))
    assert grown.ancestors < grown.particles  # particles have been resampled
    ours = joint_densities(grown._model, grown.history, grown.sample)
    np.testing.assert_allclose(ours, [dense_plane(X) for X in grown.sample.states], atol=1e-9)
    X = default_rng(2).normal(size=(8, 2))
    assert grown.log_joint(X) == pytest.approx(dense_plane(X), abs=1e-9)
    _, gradient = log_joint("", grown._model, grown.history, X)
    for t in range(8):
        for i in range(2):
            h = np.zeros((8, 2))
            h[t, i] = 1e-5
            assert gradient[t, i] == pytest.approx((dense_plane(X + h) - dense_plane(X - h)) / 2e-5, abs=1e-6)
    moved = grown.refresh(default_rng(12), 1)
    moved.check_grown()
    assert (moved.sample.states != grown.sample.states).any()
    ours = joint_densities(moved._model, moved.history, moved.sample)
    np.testing.assert_allclose(ours, [dense_plane(X) for X in moved.sample.states], atol=1e-8)


def test_weights_are_densities_of_observations_and_rewards():
    """Without resampling, weights and evidence are those of p(z, r | trajectory), by dense normals."""
    belief = scalar(9, resample=0.0).update_many(STEPS, default_rng(0))
    logs = []
    for X in belief.sample.states:
        seen = multivariate_normal.logpdf([0.4, 1.3, 0.3], X[:, 0] + 0.1, K_Z(X, X) + 0.0625 * np.eye(3))
        logs.append(seen + rewards_given(X[:2], [1.0, -0.5], PAYS))
    p = np.exp(logs)
    np.testing.assert_allclose(belief.sample.weights, p / p.sum(), atol=1e-12)
    assert belief.log_evidence() == pytest.approx(np.log(p.mean()), abs=1e-12)


@pytest.fixture(scope="module")
def grid():
    """Log evidence, means and variances of three states after STEPS, from a grid."""
    axis = np.linspace(-2.6, 3.6, 60)
    x = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1).reshape(-1, 3)
    apart = np.square(x[:, 0] - x[:, 1])
    A = np.where(np.eye(2, dtype=bool), 0.59, 0.5 * np.exp(-0.5 * apart - 0.5)[:, None, None])
    B = np.where(np.eye(2, dtype=bool), 1.54, 1.5 * np.exp(-0.5 * apart / 0.64 - 0.28125)[:, None, None])
    C = 0.3 * np.exp(-0.5 * np.square((x[:, :, None] - x[:, None]) / 1.2)) + 0.0625 * np.eye(3)
    moved = np.stack([x[:, 1] - 0.8 * x[:, 0] - 0.5, x[:, 2] - 0.8 * x[:, 1] + 0.25], axis=1)

    def density(r, S):
        L = np.linalg.cholesky(S)
        w = np.linalg.solve(L, np.broadcast_to(r, (len(S), S.shape[1]))[..., None])[..., 0]
        return -0.5 * (w * w).sum(1) - np.log(np.diagonal(L, 0, 1, 2)).sum(1) - 0.5 * S.shape[1] * np.log(2 * np.pi)

    logs = -((x[:, 0] - 0.2) ** 2) - 0.5 * np.log(np.pi) + density(moved, A)
    logs += density(np.array([0.4, 1.3, 0.3]) - x - 0.1, C) + density(np.array(PAYS), B)
    p = np.exp(logs)
    assert logs[::9999] == pytest.approx([dense(one) for one in x[::9999]], abs=1e-9)
    mean = p @ x / p.sum()
    return np.log(p.sum() * (axis[1] - axis[0]) ** 3), mean, p @ (x - mean) ** 2 / p.sum()


def test_filter_with_rewards_equals_the_grid(grid):
    """Two seeds, five standard errors. Without the rewards the mean of x_2 is off by .34 and the evidence by 8.5."""
    evidence, mean, variance = grid
    for seed in range(2):
        belief = scalar(20_000).update_many(STEPS, default_rng(seed))
        m, S = belief.path_moments()
        assert belief.log_evidence() == pytest.approx(evidence, abs=0.09)
        np.testing.assert_allclose(m[:, 0], mean, atol=0.045)
        np.testing.assert_allclose(S[:, 0, 0], variance, atol=0.03)


@pytest.mark.parametrize("chart", ["innovations", "around"])
def test_slices_with_rewards_keep_the_posterior(grid, chart):
    """1500 trajectories of the posterior, drawn by weights from 40,000, keep its moments. False alarm 1e-6 each.

    It detects a mean that is off by an eighth of a standard deviation. Slices that forget the rewards are off by more.
    """
    _, mean, variance = grid
    many = scalar(40_000, resample=0.0).update_many(STEPS, default_rng(4))
    rng = default_rng(5)
    chosen = rng.choice(many.particles, 1500, p=many.sample.weights)
    sample = Sample._make([x.copy() for x in many.sample.taken(chosen, np.full(1500, 1.0 / 1500))])
    slices = Innovations(many._model, many.history) if chart == "innovations" else around(many._model, many.history)
    before = sample.states.copy()
    for _ in range(5):
        slice_moved(slices, sample, np.ones(3, bool), rng)
    assert (sample.states != before).all()
    X = sample.states[:, :, 0]
    assert_mean_equal(X, mean, false_alarm=1e-6)
    assert_mean_equal((X - mean) ** 2, variance, false_alarm=1e-6)


def test_the_maximum_with_rewards():
    belief = scalar(50).update_many(STEPS, default_rng(5))
    best = belief.map_states(3)
    np.testing.assert_allclose(log_joint("", belief._model, belief.history, best)[1], 0.0, atol=1e-4)
    assert belief.log_joint(best) == pytest.approx(dense(best), abs=1e-9)
    assert all(dense(best) >= dense(X) for X in belief.sample.states)


def test_the_laws_of_beliefs():
    """Purity, calibration and the martingale of states now, with rewards drawn from each truth's own function."""
    check_belief(scalar(60, transition_mean="state", observation_mean="state"), rng=default_rng(0), exact=False)


# Rewards -------------------------------------------------------------------------------------------------------------


def known(reward, noise=(1e-6, 0.2)):
    """x' = x + a, and z = x: states are known to 1e-6."""
    k = Gaussian(variance=1e-12)
    return GPPOMDP(k, k, noise, 1e-6, lambda x, a: x + a, "state", ([0.5], [[1e-12]]), 5, reward, resample=0.0)


def test_known_states_give_regression():
    """Rewards expected in known states are those of regression and of gp-dynamics, after a restart too."""
    rng, belief, x, log, U = default_rng(6), known(K_R), 0.5, [], []
    for t in range(7):
        a = float(rng.normal())
        U.append((x, a))
        log.append(Transition([x], [a], float(np.sin(x) + 0.2 * rng.normal()), [x + a], terminated=t == 3))
        x = 0.5 if t == 3 else x + a
    belief = belief.update_many(log, rng)
    r = np.array([step.reward for step in log])
    exact = GPRegression(K_R, 0.2).update_many((np.array(U), r))
    seen = GPDynamics(Gaussian(), noise=[1.0, 0.2], reward=K_R).update_many(log)
    for now, at in ((belief, x), (belief.restart(), 0.5)):
        for a in (-1.0, 0.0, 0.7):
            found = now.expected_reward([at], [a])
            assert found == pytest.approx(exact.mean([[at, a]])[0], abs=2e-5)
            assert found == pytest.approx(seen.expected_reward([at], [a]), abs=2e-5)
    assert known(K_R).expected_reward([0.5], [0.3]) == 0.0  # the prior mean
    both, seen = (b.update_many(log, default_rng(7)) for b in (known(K_R), known(None, noise=1e-6)))
    earned = rewards_given(np.array(U)[:, :1], np.array(U)[:, 1], r)
    assert both.log_evidence() - seen.log_evidence() == pytest.approx(earned, abs=1e-4)


def test_expected_rewards_of_hidden_states():
    """Each particle predicts by its own past, by dense conditioning; before a sequence its first states are spread."""
    belief = scalar(7, resample=0.0).update_many(STEPS, default_rng(8))

    def predicted(X, x, a):
        U, u = np.column_stack([X[:2], [1.0, -0.5]]), np.array([[x, a]])
        return K_R(u, U)[0] @ np.linalg.solve(K_R(U, U) + 0.04 * np.eye(2), PAYS)

    p, X = belief.sample.weights, belief.sample.states
    expected = p @ [predicted(one, one[2, 0], 0.3) for one in X]
    assert belief.expected_reward(None, 0.3) == pytest.approx(expected, abs=1e-12)
    x = 0.2 + np.sqrt(0.5) * spread(7, 1)[:, 0]
    found = belief.restart().expected_reward(None, 0.3)
    expected = p @ [predicted(one, at, 0.3) for one, at in zip(X, x, strict=True)]
    assert found == pytest.approx(expected, abs=1e-12)


def test_draws_do_not_depend_on_rewards():
    """A single particle moves by the same random numbers, whether rewards are learned or not."""
    one, none = scalar(1), scalar(1, reward=None, transition_noise=0.3)
    one, none = (b.update_many(STEPS, default_rng(9)) for b in (one, none))
    np.testing.assert_allclose(one.sample.states, none.sample.states, atol=1e-12)
    ours, theirs = (b.draw(None, 0.3, default_rng(10), 4) for b in (one, none))
    np.testing.assert_allclose(ours, theirs, atol=1e-12)
    assert none.history.rewards.size == 0
    assert one.history.rewards.tolist() == PAYS


# Planning ------------------------------------------------------------------------------------------------------------


def test_a_forward_search_learns_what_pays():
    """In known states action 1 has paid 1 more than action -1: the values of a search, one and two decisions ahead."""
    k = Gaussian(scale=[50.0, 1.0], variance=4.0)
    belief, rng, x = known(k), default_rng(11), 0.5
    for t in range(20):
        a = float((-1, 1)[t % 2])
        belief = belief.update(Transition([x], [a], a, [x + a]), rng)
        x += a
    now = [belief.expected_reward([x], a) for a in ([-1.0], [1.0])]
    np.testing.assert_allclose(now, [-1.0, 1.0], atol=0.05)
    for depth, q in ((1, now), (2, [now[0] + 0.95 * now[1], now[1] + 0.95 * now[1]])):
        planner = ContinuousForwardSearch([-1.0, 1.0], depth=depth, width=2, inner=5)
        found = planner.plan(belief, [x], planner.start(), rng)
        assert found.action.tolist() == [1.0]
        np.testing.assert_allclose(found.info["q"], q, atol=0.05)


def test_an_agent_learns_the_reward_of_a_hidden_state():
    """The hidden blimp with nothing said of its reward: a run with restarts, twice the same."""
    rows = lambda x, a: np.column_stack([x[:, 0] + 0.5 * x[:, 1], x[:, 1]])  # noqa: E731
    k, l = Gaussian(scale=2.0, variance=0.04), Gaussian(scale=2.0, variance=4e-4)
    start, pays = ([1.0, 0.0], np.diag([4e-4, 4e-4])), Gaussian(scale=[0.5, 2.0, 5.0])
    belief = GPPOMDP([l, k], l, [0.01, 0.02, 0.05], 0.05, rows, lambda x: x[:, 0], start, 20, pays)
    agent = BayesAgent(belief, ContinuousForwardSearch([-1.0, 0.0, 1.0], width=2, inner=5))
    one, two = (run(agent, make_world("blimp", hidden=True), 6, seed=3, horizon=3) for _ in range(2))
    assert one == two


# Files and bad input -------------------------------------------------------------------------------------------------


def test_saved_and_pickled_beliefs_go_on_as_before(tmp_path):
    belief = scalar(20, transition_mean="state", observation_mean="zero").update_many(STEPS, default_rng(12))
    save(belief, tmp_path / "belief.zip")
    for same in (load(tmp_path / "belief.zip"), pickle.loads(pickle.dumps(belief))):
        assert same == belief
        assert same.update(STEPS[0], default_rng(13)) == belief.update(STEPS[0], default_rng(13))
        assert same.expected_reward(None, 0.3) == belief.expected_reward(None, 0.3)
    assert not belief.history.rewards.flags.writeable
    h = belief.history
    for rewards in (h.rewards[:1], np.append(h.rewards, 0.0), h.rewards + 0.1, h.rewards[:, None]):
        with pytest.raises(InvalidArgument, match="trajectories that belong to the history"):
            save(unchecked(belief, history=h._replace(rewards=rewards)), tmp_path / "other.zip")
    plain = scalar(20, reward=None, transition_noise=0.3).update_many(STEPS, default_rng(12))
    assert History(*plain.history[:6]) == plain.history  # files of older versions
    with pytest.raises(InvalidArgument, match="trajectories that belong to the history"):
        unchecked(plain, history=plain.history._replace(rewards=h.rewards)).check_grown()


def test_refusals():
    for noise, words in (
        ([0.3, 0.2, 0.1], "one, or one for each of 1 coordinates and the learned reward, got 3"),
        ([[0.1, 0.01], [0.01, 0.1]], "diagonal"),
    ):
        with pytest.raises(InvalidArgument, match=words):
            scalar(transition_noise=noise)
    with pytest.raises(InvalidArgument, match="one, or one for each of 1 coordinates, got 2"):
        scalar(transition=[K_T, K_T])
    with pytest.raises(InvalidArgument, match="'reward' must be a function of states and an action, a covariance"):
        scalar(reward="a lot")
    belief, rng = scalar(10), default_rng(14)
    for bad in (np.nan, None, "much", [0.1, 0.2], 1e101):
        with pytest.raises(InvalidArgument, match=r"GPPOMDP\.update: 'reward' must be"):
            belief.update(STEPS[0]._replace(reward=bad), rng)
    still = scalar(10, transition_noise=[0.3, 1e-100], reward=Linear(variance=1e-100), state=([0.0], [[1e-60]]))
    with pytest.raises(ImpossibleEvidence, match=r"the reward 1e\+100"):
        still.update(Transition([0.1], [0.0], 1e100, [0.1]), rng)
    with pytest.raises(InvalidArgument, match="3 coordinates"):
        scalar(10, reward=Gaussian(scale=[1.0, 1.0, 1.0])).update_many(STEPS, rng)


@pytest.mark.parametrize("wrong", [np.zeros(3), None, "much", [1.0, np.nan], np.zeros((10, 2)), np.inf])
def test_a_function_that_returns_nonsense(wrong):
    """It is refused as the result of the function 'reward'."""
    belief = scalar(10, reward=lambda x, a: wrong, transition_noise=0.3)
    with pytest.raises(BrokenContract, match=r"GPPOMDP\.expected_reward: the function 'reward' does not return"):
        belief.expected_reward([0.0], 0.0)
