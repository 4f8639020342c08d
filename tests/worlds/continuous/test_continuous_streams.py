"""Continuous worlds: plain formulas of steps with the same random numbers, suggested beliefs, and faces of boxes."""

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.beliefs.covariances import Gaussian
from bayesrl.beliefs.features import Tabular
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.lab.literature.suggestions import suggestions_for
from bayesrl.lab.literature.suggestions_by_world import even
from bayesrl.lab.priors import prior_for
from bayesrl.models.policies.listed_policy import ListedPolicy
from bayesrl.models.policy import SoftmaxPolicy
from bayesrl.registry import make_world
from bayesrl.worlds.continuous import blimp, robot_navigation
from bayesrl.worlds.continuous._box import WIDE, check_action
from bayesrl.worlds.continuous.continuous_bandit import MOST, ContinuousBandit, ContinuousBanditFamily
from bayesrl.worlds.continuous.linear_system import LinearSystem
from bayesrl.worlds.continuous.lq import LQ, Moderate
from bayesrl.worlds.continuous.maze_2d import bumps
from bayesrl.worlds.continuous.ship_steering import crosses


def near(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


# Steps with the same random numbers ----------------------------------------------------------------------------------


def blimp_step(s, a, rng):
    s, noise = np.asarray(s), rng.standard_normal(2)
    new = [s[0] + 0.5 * s[1] + 0.01 * noise[0], s[1] + 0.5 * (0.6 * a - 0.4 * s[1]) + 0.02 * noise[1]]
    return new, np.exp(-((s[0] / 0.3) ** 2) / 2.0)


@pytest.mark.parametrize("hidden", [False, True])
def test_the_blimp(hidden):
    """The start, a step and what is seen of both; thrusts are numbers or vectors of one."""
    world, s = make_world("blimp", hidden=hidden), [0.4, -0.7]
    assert (world.gamma, world.horizon, world.ends, world.setting.steps) == (0.95, 100, False, 100)
    size = 1 if hidden else 2
    near(world.observations, [[-WIDE] * size, [WIDE] * size])
    near(world.actions, [[-1.0], [1.0]])
    state, first = world.reset(default_rng(2))
    near(state, [1.0, 0.0])
    near(first, 1.0 + 0.05 * default_rng(2).standard_normal(1) if hidden else state)
    for action in (0.8, [0.8]):
        rng = default_rng(3)
        new, paid = blimp_step(s, 0.8, rng)
        found = world.step(s, action, default_rng(3))
        near(found.state, new)
        near(found.observation, new[0] + 0.05 * rng.standard_normal(1) if hidden else new)
        assert found.reward == pytest.approx(paid, rel=1e-12)
        assert found.terminated is False
    with pytest.raises(InvalidArgument, match=r"^blimp: 'state' must be"):
        world.step([0.0, 0.0, 0.0], 0.0, default_rng(0))


def test_the_blimps_suggested_beliefs():
    """All numbers of both beliefs; the functions of the hidden one follow the world."""
    seen, hidden = make_world("blimp", gamma=0.8), make_world("blimp", hidden=True, gamma=0.7)
    for world in (seen, hidden):
        near(suggestions_for(world)["continuous"]["actions"], [[-1.0], [0.0], [1.0]])
    prior = prior_for(seen)
    assert (prior.covariance, prior.noise, prior.gamma, prior.mean) == (Gaussian(scale=2.0), 0.03, 0.8, "state")
    s, a = np.array([[0.4, -0.7], [-0.2, 0.3]]), np.array([0.8])
    for belief in (prior, suggestions_for(hidden)["normal-wishart-dynamics"]):
        reward = belief["reward"] if isinstance(belief, dict) else belief.reward
        near(reward(s, a), np.exp(-np.square(s[:, 0] / 0.3) / 2.0))
    prior = prior_for(hidden)
    assert prior.gamma == 0.7
    near(prior.noise.mean, [0.0, 0.0])
    assert (prior.noise.strength, prior.noise.degrees) == (1.0, 6.0)
    near(prior.noise.expected_covariance(), np.eye(2) * 0.05**2)
    near(prior.sensor.mean, [0.0])
    assert (prior.sensor.strength, prior.sensor.degrees) == (50.0, 4.0)
    near(prior.sensor.expected_covariance(), [[0.1**2]])
    near(prior.state[0], [1.0, 0.0])
    near(prior.state[1], 1e-6 * np.eye(2))
    v = np.array([[0.3, -0.1], [0.02, 0.7]])
    h, u = s.T
    near(blimp.moved(s, a, v), np.column_stack([h + 0.5 * u, u + 0.5 * (0.6 * 0.8 - 0.4 * u)]) + v)
    near(blimp.seen(s, a, v[:, :1]), s[:, :1] + v[:, :1])
    w, slope = blimp.unseen(s, a, np.array([0.9]))
    near(w, 0.9 - s[:, :1])
    assert slope == 0.0


def test_the_robot():
    """Drift, noise, sensor and goal that are not the default ones; the observation at a reset says nothing."""
    world = make_world("robot-navigation", drift=(0.3, -0.7), noise=0.4, sensor=0.9, goal=(1.5, -0.2), gamma=0.6)
    start, first = world.reset(default_rng(4))
    near(start, 0.1 * default_rng(4).standard_normal(2))
    near(first, [0.0, 0.0])
    s, a = np.array([0.6, -0.9]), np.array([0.25, -0.5])
    found, rng = world.step(s, a, default_rng(5)), default_rng(5)
    new = s + a + [0.3, -0.7] + 0.4 * rng.standard_normal(2)
    near(found.state, new)
    near(found.observation, new + 0.9 * rng.standard_normal(2))
    assert found.reward == pytest.approx(-(0.9**2 + 0.7**2), rel=1e-12)
    assert found.terminated is False
    near(world.observations, [[-WIDE] * 2, [WIDE] * 2])
    near(world.actions, [[-0.5] * 2, [0.5] * 2])
    turns = np.arange(8) * np.pi / 4.0
    near(world.moves, [*([0.5 * np.cos(x), 0.5 * np.sin(x)] for x in turns), [0.0, 0.0]])
    assert (world.hidden, world.ends, world.horizon, world.setting.steps) == (True, False, 50, 50)

    given = suggestions_for(world)
    near(given["continuous"]["actions"], world.moves)
    belief = given["normal-wishart-dynamics"]
    assert belief["gamma"] == 0.6
    for name, strength, scatter in (("noise", 0.5, 0.1), ("sensor", 50.0, 0.2)):
        near(belief[name].mean, [0.0, 0.0])
        assert (belief[name].strength, belief[name].degrees) == (strength, 5.0)
        near(belief[name].scatter, scatter * np.eye(2))
    near(belief["state"][0], [0.0, 0.0])
    near(belief["state"][1], 0.01 * np.eye(2))
    rows, v = np.array([[0.6, -0.9], [0.1, 0.2], [2.0, 0.4]]), np.array([[0.1, 0.2], [0.3, -0.4], [0.5, 0.7]])
    near(belief["reward"](rows, a), [-((x - 1.5) ** 2 + (y + 0.2) ** 2) for x, y in rows])
    near(robot_navigation.moved(rows, a, v), rows + v + [0.25, -0.5])
    near(robot_navigation.seen(rows, a, v), rows + v)
    w, slope = robot_navigation.unseen(rows, a, np.array([0.3, 0.4]))
    near(w, [[0.3 - x, 0.4 - y] for x, y in rows])
    assert slope == 0.0


def test_worlds_of_policy_gradients():
    """Random walk, regulator, mountain car and bandit: starts and steps with the same random numbers."""
    walk = make_world("random-walk", reward=-0.7, spread=0.3)
    assert walk.step(4, 1, default_rng(6)) == (5, 5, default_rng(6).normal(-0.7, 0.3), False)
    assert make_world("random-walk", gamma=0.5, reward=-3.0).best_return == pytest.approx(-3.0 * (2.0 - 0.5**8))
    regulator = make_world("bpg-regulator")
    x, first = regulator.reset(default_rng(7))
    near(x, [default_rng(7).normal(0.3, 0.001)])
    near(first, x)
    found = regulator.step(np.array([0.7]), [-0.4], default_rng(8))
    near(found.state, [0.7 - 0.4 + default_rng(8).normal(0.0, 0.01)])
    near(found.observation, found.state)
    assert found.reward == pytest.approx(-(0.49 + 0.1 * 0.16), rel=1e-12)
    assert make_world("bpg-regulator", gamma=0.9).best_return is None
    assert (regulator.ends, make_world("car-on-the-hill").ends) == (False, False)
    assert make_world("bpg-bandit").reset(default_rng(0)) == (0, 0)
    policy = suggestions_for(regulator)["gradient"]["policy"].with_parameters([0.7, -1.1])
    rng = default_rng(9)
    lam, sigma = -1.999 + 1.998 / (1.0 + np.exp(0.7)), 0.001 + 1.0 / (1.0 + np.exp(-1.1))
    near(policy.sample([0.8], default_rng(9)), [0.8 * lam + sigma * rng.standard_normal()])
    car = make_world("mountain-car")
    start, seen = car.reset(default_rng(10))
    near(start, [default_rng(10).uniform(-0.6, -0.4), 0.0])
    near(seen, [(start[0] + 1.2) / 1.8, 0.5])
    ship = make_world("ship-steering")
    start, seen = ship.reset(default_rng(0))
    near(start, [0.0, 0.0, np.pi / 2.0, 0.0])
    near(seen, [0.0, 0.0, 0.25, 0.5])


def test_settings_of_critics():
    """Bayesian actor-critic keeps a dictionary with threshold .1 where features are many."""
    for name in ("maze-2d", "mountain-car", "car-on-the-hill", "ship-steering"):
        assert suggestions_for(make_world(name))["bac"] == {"threshold": 0.1}
    assert suggestions_for(make_world("car-on-the-hill"))["gprl"]["jitter"] == 0.01
    for gamma, expected in ((1.0, 0.99), (0.995, 0.99), (0.8, 0.8)):
        given = suggestions_for(make_world("bpg-regulator", gamma=gamma))
        assert given["bac"] == given["actor-critic"] == {"gamma": expected}


# Faces and limits ----------------------------------------------------------------------------------------------------


def test_walls_of_the_maze_are_touched_but_not_crossed():
    """A way that begins or ends at a wall does not cross it; one through the end of a wall does."""
    for a, b, bump in (
        ([0.35, 0.3], [0.5, 0.3], False), ([0.3, 0.3], [0.35, 0.3], False), ([0.65, 0.7], [0.5, 0.7], False),
        ([0.3, 0.0], [0.4, 0.0], True), ([0.3, 0.6], [0.4, 0.6], True), ([0.6, 0.4], [0.7, 0.4], True),
        ([0.7, 1.0], [0.6, 1.0], True), ([0.1, 0.5], [0.9, 0.5], True),
    ):  # fmt: skip
        assert bumps(np.array(a), np.array(b)) is bump, (a, b)


def test_the_goal_of_the_maze_holds_its_corner():
    """Who bumps stays: at (.8, 1) that is the goal, a step below or to the left it is not."""
    world = make_world("maze-2d")
    for place, over in (([0.8, 1.0], True), ([0.79, 1.0], False)):
        steps = [world.step(np.array(place), 2, default_rng(i)) for i in range(8)]
        stayed = [step for step in steps if (step.state == place).all()]
        assert len(stayed) > 3
        assert {step.terminated for step in stayed} == {over}
    assert world.step(np.array([1.0, 0.8]), 0, default_rng(1)).terminated is True
    free = make_world("maze-2d", directions=None)
    assert free.vectors.shape == (0, 2)
    assert free.n_actions is None
    near(make_world("maze-2d", directions=3).vectors, [[1.0, 0.0], [-0.5, 0.75**0.5], [-0.5, -(0.75**0.5)]])
    for off, kept in ((0.9e-6, True), (1.1e-6, False), (-0.9e-6, True), (-1.1e-6, False)):
        way = np.array([0.6, 0.8]) * np.sqrt(1.0 + off)
        if kept:
            there = [0.5, 0.5] + 0.1 * way + 0.05 * default_rng(0).standard_normal(2)
            near(free.step(np.array([0.5, 0.5]), way, default_rng(0)).state, there)
        else:
            with pytest.raises(InvalidArgument, match="a unit vector"):
                free.step(np.array([0.5, 0.5]), way, default_rng(0))


def test_the_shore_belongs_to_the_sea():
    """A ship may sail along the shore, and one that arrives at it sails on; the gate's line is a segment."""
    world = make_world("ship-steering")
    along = world.step(np.array([50.0, 0.0, 0.0, 0.0]), [0.0], default_rng(0))
    assert (along.reward, along.terminated) == (-1.0, False)
    near(along.state, [51.8, 0.0, 0.0, 0.0])
    arrives = world.step(np.array([0.2 * 3.0, 50.0, np.pi, 0.0]), [0.0], default_rng(0))
    near(arrives.state[:2], [-0.6, 50.0])  # after two inner steps, the first of which ended at 0
    assert (arrives.reward, arrives.terminated) == (-100.0, True)
    leaves = world.step(np.array([50.0, 0.2 * 3.0, 1.5 * np.pi, 0.0]), [0.0], default_rng(0))
    near(leaves.state[1], -0.6)
    a, b, c, d = (np.array(p) for p in ([0.0, 0.0], [0.3, 0.0], [0.5, 0.1], [0.5, -0.1]))
    assert crosses(a, b, c, d) is crosses(c, d, a, b) is False
    assert crosses(a, 2.0 * b, c, d) is crosses(c, d, a, 2.0 * b) is True


def test_actions_of_boxes_and_lists():
    """Every index from 0 to n - 1, and vectors of several coordinates with faces of different size."""
    assert [check_action("w", 3, k) for k in range(3)] == [0, 1, 2]
    for bad in (-1, 3, 0.5):
        with pytest.raises(InvalidArgument, match=r"^w: 'action' must be"):
            check_action("w", 3, bad)
    box = make_world("robot-navigation").actions._replace(low=np.array([-2.0, 5.0]), high=np.array([9.0, 7.0]))
    near(check_action("w", box, [8.5, 5.5]), [8.5, 5.5])
    near(check_action("w", box, [9.0 + 0.9e-8, 5.0 - 0.7e-8]), [9.0, 5.0])
    for bad in ([9.0 + 1.1e-8, 6.0], [8.0, 5.0 - 0.9e-8], [8.0, 7.0 + 0.9e-8], [-2.0 - 1.1e-8, 6.0], [8.0], 8.0):
        with pytest.raises(InvalidArgument, match=r"^w: 'action' must be"):
            check_action("w", box, bad)
    policy = even(Tabular(3), 4)
    assert policy.parameters.tolist() == [0.0] * 12
    near([np.exp(policy.log_prob(s, k)) for s in range(3) for k in range(4)], 0.25)
    listed = np.array([[0.1, 0.2], [0.1, -0.3], [0.4, 0.2]])
    policy = ListedPolicy(SoftmaxPolicy.tabular(2, 3), listed).with_parameters(np.arange(6.0) ** 1.5)
    for k, a in enumerate(listed):
        assert policy.log_prob(1, a) == policy.chooser.log_prob(1, k)
        near(policy.score(1, a), policy.chooser.score(1, k))
        near(policy.hessian(1, a), policy.chooser.hessian(1, k))
    for seed in range(5):
        near(policy.sample(1, default_rng(seed)), listed[policy.chooser.sample(1, default_rng(seed))])
    for bad, words in (([0.1, 0.3], "one of the listed"), ([0.1], "shape"), ([0.1, 0.2, 0.3], "shape")):
        with pytest.raises(InvalidArgument, match=words):
            policy.log_prob(1, bad)
    with pytest.raises(InvalidArgument, match="'actions' must be"):
        ListedPolicy(SoftmaxPolicy.tabular(2, 3), listed[:2])


def test_the_mountain_cars_limits():
    """Velocities end at .07 in size and positions at -1.2 and .6; the goal is at .5 itself."""
    world, rng = make_world("mountain-car"), default_rng(0)
    for (x, v), action, (y, w) in (
        ((-0.5, 0.0699), 2, (-0.43, 0.07)), ((-0.5, -0.0699), 0, (-0.57, -0.07)), ((0.58, 0.065), 2, (0.6, None)),
        ((-1.19, -0.05), 1, (-1.2, 0.0)), ((-1.2, 0.03), 1, (None, 0.03 - 0.0025 * np.cos(-3.6))),
        ((0.1, 0.02), 0, (None, 0.02 - 0.001 - 0.0025 * np.cos(0.3))),
    ):  # fmt: skip
        step = world.step(np.array([x, v]), action, rng)
        w = v + 0.001 * (action - 1) - 0.0025 * np.cos(3.0 * x) if w is None else w
        y = x + w if y is None else y
        near(step.state, [y, w])
        near(step.observation, [(y + 1.2) / 1.8, (w + 0.07) / 0.14])
        assert (step.reward, step.terminated) == (-1.0, y >= 0.5)
    v = 0.5 - (x := 0.45) - 0.001 + 0.0025 * np.cos(3.0 * x)
    below, above = (world.step(np.array([x, v + off]), 2, rng).terminated for off in (-1e-9, 1e-9))
    assert (below, above) == (False, True)
    steps = [world.step(np.array([x, v + k * 1e-17]), 2, rng) for k in range(-20, 21)]
    exact = [step.terminated for step in steps if step.state[0] == 0.5]
    assert exact
    assert all(exact)


# Bandits on a box ----------------------------------------------------------------------------------------------------


def test_a_drawn_function_by_the_same_numbers():
    """The weights are K^-1/2 z on the grid: a quarter of the scale and ends at 0 and 1; two coordinates."""
    family = ContinuousBanditFamily(scale=0.7, noise=0.3, dims=2, gamma=0.9)
    world, line = family.draw(default_rng(11)), np.linspace(0.0, 1.0, 7)
    grid = np.array([[x, y] for x in line for y in line])
    near(world.centres, grid)
    assert (world.noise, world.gamma, world.dims, family.per_axis) == (0.3, 0.9, 2, 7)
    K = np.exp(-((grid[:, None] - grid) ** 2).sum(axis=2) / (2.0 * 0.7**2))
    values, vectors = np.linalg.eigh(K)
    kept = values > 1e-12 * values.max()
    assert 5 < kept.sum() < 49
    z = default_rng(11).standard_normal(49)
    f = vectors[:, kept] * np.sqrt(values[kept]) @ (vectors[:, kept].T @ z)  # the values that the weights interpolate
    np.testing.assert_allclose(world.mean(grid), f, atol=1e-5)
    found = world.step(None, [0.3, 0.8], default_rng(12))
    paid = world.mean([[0.3, 0.8]])[0] + 0.3 * default_rng(12).standard_normal()
    assert (found.state, found.observation, found.terminated) == (None, 0, False)
    assert found.reward == pytest.approx(paid, rel=1e-12)
    assert world.reset(default_rng(0)) == (None, 0)
    assert (family.observations, world.observations) == (1, 1)
    for one in (family, world):
        near(one.actions, [[0.0, 0.0], [1.0, 1.0]])
        near(suggestions_for(one)["gp-sparse-sampling"]["low"], [0.0, 0.0])
        near(suggestions_for(one)["gp-sparse-sampling"]["high"], [1.0, 1.0])
    prior = family.default_prior()
    assert (prior.prior_covariance, prior.noise) == (Gaussian(scale=0.7), 0.3)


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_the_best_action_is_not_missed(dims):
    """A narrow high hill between the points of a coarse grid, beside a wider lower one that such a grid finds."""
    scale = 0.012 if dims == 1 else 0.03
    low, high = np.full(dims, 0.21 if dims < 3 else 1.0 / 7.0), np.full(dims, 0.763 if dims == 1 else 0.79)
    world = ContinuousBandit([low, high], [2.0, 3.0], Gaussian(scale=scale))
    np.testing.assert_allclose(world.best, high, atol=1e-4)
    a = low + 0.5 * scale
    assert world.gap(None, a) == pytest.approx(3.0 - 2.0 * np.exp(-0.125 * dims), abs=1e-6)
    assert world.gap(None, world.best) == 0.0


def test_grids_have_a_largest_size():
    """Exactly as many points as allowed, and one more, in one and in two dimensions."""
    for scale, dims, points in ((4.0 / (MOST - 1), 1, MOST), (4.0 / 43.0, 2, 44**2), (4.0 / 11.0, 3, 12**3)):
        assert ContinuousBanditFamily(scale=scale * 1.000001, dims=dims).per_axis ** dims == points <= MOST
        with pytest.raises(InvalidArgument, match=r"^continuous-bandit: 'scale' must be so large"):
            ContinuousBanditFamily(scale=scale * 0.999999, dims=dims)
    with pytest.raises(InvalidArgument, match="'scale' must be so large"):
        ContinuousBanditFamily(scale=1e-90)
    for centres, weights in ([[0.5], [1.0]], [[[0.5]], [1.0, 2.0]], [[[[0.5]]], [1.0]]):
        with pytest.raises(InvalidArgument, match=r"^ContinuousBandit: '(centres|weights)' must be"):
            ContinuousBandit(centres, weights, Gaussian())


# Linear systems ------------------------------------------------------------------------------------------------------


def test_a_step_of_a_linear_system():
    """Three states, two actions, correlated noise and full costs, with the same random numbers."""
    rng = default_rng(13)
    A, B, C = 0.4 * rng.normal(size=(3, 3)), rng.normal(size=(3, 2)), rng.normal(size=(3, 3))
    M, N = rng.normal(size=(3, 3)), rng.normal(size=(2, 2))
    Q, R, W = M @ M.T, N @ N.T + 0.1 * np.eye(2), C @ C.T + 0.1 * np.eye(3)
    world = LinearSystem(A, B, Q, R, W)
    x, u = rng.normal(size=3), rng.normal(size=2)
    found = world.step(x, u, default_rng(14))
    near(found.state, A @ x + B @ u + np.linalg.cholesky(W) @ default_rng(14).standard_normal(3))
    assert found.observation.tolist() == found.state.tolist()
    assert found.reward == pytest.approx(-(x @ Q @ x + u @ R @ u), rel=1e-12)
    near(world.observations, [[-WIDE] * 3, [WIDE] * 3])
    near(world.actions, [[-WIDE] * 2, [WIDE] * 2])
    assert (world.gamma, world.horizon, suggestions_for(world), world.setting.steps) == (1.0, None, {}, 1000)
    prior = world.default_prior()
    near(prior.mean, np.eye(5, 3))
    near(prior.precision, np.eye(5))
    for name in ("noise", "Q", "R"):
        near(getattr(prior, name), getattr(world, name))
    P = Q  # the cost to go, by iteration
    for _ in range(400):
        K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
        P = Q + A.T @ P @ (A - B @ K)
    assert world.optimum() == pytest.approx(-np.trace(P @ W), rel=1e-8)
    many = world.batch(2)
    assert (many.A.shape, many.B.shape, many.reset(rng)[0].shape) == ((2, 3, 3), (2, 3, 2), (2, 3))
    near(many.optimum(), [-np.trace(P @ W)] * 2)
    for bad in (np.zeros((2, 3)), np.zeros((3, 2)), np.zeros(2)):
        with pytest.raises(InvalidArgument, match="'action' must be"):
            many.step(np.zeros((2, 3)), bad, rng)
    with pytest.raises(InvalidArgument, match="'state' must be"):
        many.step(np.zeros(3), np.zeros((2, 2)), rng)


def test_priors_and_costs_of_the_linear_worlds():
    """Every number that the pages of the worlds state."""
    mass = make_world("lq-system").default_prior()
    near(mass.mean, [[1.0, 0.0], [0.05, 1.0], [0.0, 0.05]])
    near(mass.precision, 10.0 * np.eye(3))
    near([mass.Q, mass.noise], [np.diag([1.0, 0.1]), np.diag([0.01, 0.02])])
    near(mass.R, [[0.1]])
    server = make_world("web-server", noise=0.3)
    near(server.A, [[0.54, -0.11], [-0.026, 0.63]])
    near(server.B, [[-85e-4, 4.4e-4], [-2.5e-4, 2.8e-4]])
    near([server.Q, server.R], [np.diag([5.0, 1.0]), np.diag([1.0 / 2500.0, 1e-6])])
    near(server.noise, 0.09 * np.eye(2))
    prior = server.default_prior()
    near(prior.mean, [[0.5, 0.0], [0.0, 0.5], [-60e-4, 0.0], [0.0, 1e-4]])
    deviations = [0.25, 0.25, 0.005, 0.005] * 2
    near(prior.covariance(), np.diag(np.square(deviations)))
    near([prior.Q, prior.R, prior.noise], [server.Q, server.R, server.noise])
    family = LQ(spread=0.4)
    world = family.draw(default_rng(15))
    for one in (world, family.default_prior()):
        near([one.Q, one.R, one.noise], [[[1.0]], [[0.3]], [[0.01]]])
    near(family.default_prior().covariance(), 0.16 * np.eye(2))
    near(family.default_prior().mean, [[0.7], [0.6]])
    near(family.observations, [[-WIDE], [WIDE]])
    near(family.actions, [[-WIDE], [WIDE]])
    assert (family.gamma, world.name, world.default_prior()) == (1.0, "lq", family.default_prior())


def test_draws_outside_the_restriction_are_drawn_again():
    """With the same random numbers: all at once, then those that were outside, until none is."""
    rng = default_rng(16)
    drawn = rng.normal((0.7, 0.6), 0.9, (6, 2))
    rounds = 0
    while (out := ~((np.abs(drawn[:, 0]) < 1.1) & (np.abs(drawn[:, 1]) > 0.15))).any():
        drawn[out] = rng.normal((0.7, 0.6), 0.9, (out.sum(), 2))
        rounds += 1
    assert rounds > 1
    many = LQ(spread=0.9).batch(6).draw(default_rng(16))
    near(many.A[:, 0, 0], drawn[:, 0])
    near(many.B[:, 0, 0], drawn[:, 1])
    for a, b, inside in ((1.1, 1.0, False), (-1.1, 1.0, False), (1.09, -0.15, False), (-1.09, -0.16, True)):
        assert Moderate()(np.array([[a]]), np.array([[b]])) is inside
        assert Moderate(growth=2.0, effect=0.1)(np.array([[a]]), np.array([[b]])) is True
    with pytest.raises(InvalidArgument, match=r"^lq: 'replicates' must be"):
        LQ().batch(0)


def test_learned_from_the_world():
    """A datum of the hidden blimp's own step is possible under its suggested belief."""
    world, rng = make_world("blimp", hidden=True), default_rng(17)
    state, seen = world.reset(rng)
    step = world.step(state, [1.0], rng)
    belief = prior_for(world).thinned(20, rng).update(Transition(seen, [1.0], step.reward, step.observation), rng)
    assert np.isfinite(belief.log_evidence())
