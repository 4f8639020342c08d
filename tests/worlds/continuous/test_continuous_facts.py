"""Continuous worlds: every constant, bound, wall and law, by hand."""

import gymnasium
import numpy as np
import pytest
from numpy.random import default_rng
from scipy import stats

from bayesrl.beliefs.covariances import Direction, Discrete, Gaussian, StateAction
from bayesrl.beliefs.features import Fourier, Tabular
from bayesrl.beliefs.features import Polynomial as FeaturePolynomial
from bayesrl.errors import InvalidArgument
from bayesrl.lab.literature.suggestions import suggestions_for
from bayesrl.registry import make_world
from bayesrl.worlds.continuous._box import check_action
from bayesrl.worlds.continuous.maze_2d import bumps
from bayesrl.worlds.continuous.ship_steering import crosses

RNG = default_rng(0)

FREE = 1e6
FACTS = {  # observations, actions, discount, steps of an episode, steps of a run
    "random-walk": (10, 2, 0.99, 1000, 20_000),
    "mountain-car": (([0, 0], [1, 1]), 3, 0.99, 200, 20_000),
    "bpg-bandit": (1, ([-FREE], [FREE]), 1.0, 1, 1000),
    "bpg-regulator": (([-FREE], [FREE]), ([-FREE], [FREE]), 1.0, 20, 40_000),
    "maze-2d": (([0, 0], [1, 1]), 8, 0.9, 1000, 10_000),
    "car-on-the-hill": (([-FREE] * 2, [FREE] * 2), ([-4], [4]), 0.9, 30, 300),
    "ship-steering": (([0] * 4, [1] * 4), ([-np.pi / 12], [np.pi / 12]), 0.99, 5000, 20_000),
}


@pytest.mark.parametrize("name", FACTS)
def test_bounds_and_lengths(name):
    world, (seen, done, gamma, horizon, steps) = make_world(name), FACTS[name]
    for found, expected in ((world.observations, seen), (world.actions, done)):
        if isinstance(expected, int):
            assert found == expected
        else:
            np.testing.assert_allclose(found, expected)
    assert (world.gamma, world.horizon, world.setting.steps) == (gamma, horizon, steps)
    _, first = world.reset(default_rng(0))
    if not isinstance(seen, int):
        assert ((first >= seen[0]) & (first <= seen[1])).all()


def test_suggested_arguments():
    """Priors of values as in the reference, policies that are even at first, features of the whole box."""
    worlds = {name: suggestions_for(make_world(name)) for name in FACTS}
    cube = {d: Fourier(np.zeros(d), np.ones(d), order=3 if d == 2 else 1) for d in (2, 4)}
    plane, car, sea = Gaussian(0.2, 10.0), Gaussian(0.15, 1000.0), Gaussian(0.2, 1000.0)
    hill, around = Gaussian(scale=[0.15, 0.3]), Fourier([-1.2, -2.4], [1.2, 2.4])
    turn = np.pi / 12.0
    for name, phi, k, listed in (
        ("random-walk", Tabular(10), Discrete(variance=100.0), 2),
        ("mountain-car", cube[2], car, 3),
        ("maze-2d", cube[2], plane, 8),
        ("car-on-the-hill", around, hill, [[-4.0], [0.0], [4.0]]),
        ("ship-steering", cube[4], sea, [[-turn], [turn]]),
    ):
        found = worlds[name]["gradient"]
        assert (found["features"], found["covariance"]) == (phi, k)
        policy, n = found["policy"], listed if isinstance(listed, int) else len(listed)
        np.testing.assert_array_equal(policy.parameters, np.zeros(phi.size * n))
        if n != listed:
            np.testing.assert_allclose(policy.actions, listed)
    assert worlds["bpg-bandit"]["gradient"]["features"] == FeaturePolynomial(degree=0)
    assert worlds["bpg-bandit"]["gradient"]["covariance"] == Discrete()
    np.testing.assert_allclose(worlds["bpg-bandit"]["gradient"]["policy"].score(0, [1.5]), [1.5, 1.5**2 - 1.0])
    assert worlds["bpg-regulator"]["gradient"]["features"] == FeaturePolynomial(degree=2)
    assert worlds["bpg-regulator"]["gradient"]["covariance"] == Gaussian(scale=1.0, variance=10.0)
    np.testing.assert_array_equal(worlds["bpg-regulator"]["gradient"]["policy"].parameters, np.zeros(2))

    walk = {"actions": 2, "covariance": Discrete(variance=100.0), "residuals": "white"}
    assert worlds["random-walk"]["gpsarsa"] == walk
    rest = {"actions": 3, "residuals": "white", "threshold": 10.0, "half_life": 10.0, "noise": 1.0}
    assert worlds["mountain-car"]["gpsarsa"] == {"covariance": StateAction(car, Discrete(), dims=2), **rest}
    maze = dict(worlds["maze-2d"]["gpsarsa"])
    np.testing.assert_allclose(maze.pop("actions")[[0, 1, 2]], [[1, 0], [0.5**0.5, 0.5**0.5], [0, 1]], atol=1e-12)
    k = StateAction(plane, Direction(b=0.1), dims=2)
    rest = {"residuals": "coloured", "noise": 1.0, "threshold": 0.1, "half_life": 10.0, "epsilon": 1.0}
    assert maze == {"covariance": k, **rest}
    free = suggestions_for(make_world("maze-2d", directions=None))
    np.testing.assert_allclose(free["gpsarsa"]["actions"], [[-1, -1], [1, 1]])
    assert "policy" not in free["gradient"]
    ship = dict(worlds["ship-steering"]["gpsarsa"])
    np.testing.assert_allclose(ship.pop("actions"), [[-turn], [turn]])
    k = StateAction(sea, Gaussian(scale=turn), dims=4)
    assert ship == {"covariance": k, "residuals": "white", "threshold": 10.0}
    up = dict(worlds["car-on-the-hill"]["gpsarsa"])
    np.testing.assert_allclose(up.pop("actions"), [[-4], [4]])
    k = StateAction(hill, Gaussian(scale=4.0), dims=2)
    assert up == {"covariance": k, "residuals": "white", "noise": 0.1}

    gprl = dict(suggestions_for(make_world("car-on-the-hill", width=0.2))["gprl"])
    grid = [[x, v] for x in np.linspace(-1.2, 1.2, 25) for v in np.linspace(-2.4, 2.4, 25)]
    np.testing.assert_allclose(gprl.pop("support"), grid, atol=1e-12)
    np.testing.assert_array_equal(gprl.pop("target"), [0.6, 0.0])
    assert (gprl["width"], gprl["covariance"], gprl["fit"]) == (0.2, hill, False)


def test_mountain_car_from_everywhere():
    """Against Gymnasium from 300 states, those at the wall and at the goal among them."""
    env, world, rng = gymnasium.make("MountainCar-v0").unwrapped, make_world("mountain-car"), default_rng(2)
    env.reset(seed=0)
    ended = 0
    for i in range(300):
        near = [(-1.2, 0.49), (-1.2, -1.15), (0.44, 0.499)][i % 3]
        state = np.array([rng.uniform(*near), rng.uniform(-0.07, 0.07)])
        state[1] = abs(state[1]) if i % 3 == 2 else state[1]  # Gymnasium's goal asks for no speed backwards
        env.state, action = tuple(state), int(rng.integers(3))
        _, reward, terminated, _, _ = env.step(action)
        step = world.step(state, action, rng)
        np.testing.assert_allclose(step.state, env.state, atol=1e-12)
        np.testing.assert_allclose(step.observation, (step.state + np.array([1.2, 0.07])) / [1.8, 0.14], atol=1e-12)
        assert (step.reward, step.terminated) == (reward, terminated)
        ended += terminated
    assert ended > 10
    assert world.step(np.array([-1.2, -0.01]), 0, rng).state.tolist() == [-1.2, 0.0]
    starts = np.array([world.reset(default_rng(i))[0] for i in range(2000)])
    assert (starts[:, 1] == 0.0).all()
    # uniform on [-.6, -.4]: false alarm 1e-6
    assert stats.kstest(starts[:, 0], stats.uniform(-0.6, 0.2).cdf).pvalue > 1e-6


def test_random_walk_moves():
    world, rng = make_world("random-walk", reward=2.0, spread=0.0), default_rng(0)
    assert world.reset(rng) == (0, 0)
    for s in range(9):
        left, right = world.step(s, 0, rng), world.step(s, 1, rng)
        assert left == (max(s - 1, 0), max(s - 1, 0), 2.0, False)
        assert right == (s + 1, s + 1, 2.0, s == 8)
    for bad in ((9, 0), (-1, 0), (0, 2), (0, -1)):
        with pytest.raises(InvalidArgument, match="must be"):
            world.step(*bad, rng)


def test_regulator_and_its_policy_have_their_laws():
    """Start N(.3, .001^2); actions N(lambda x, sigma^2), with the density that `log_prob` says. False alarms 1e-6."""
    world = make_world("bpg-regulator")
    starts = [world.reset(default_rng(i))[0][0] for i in range(2000)]
    assert stats.kstest(starts, stats.norm(0.3, 0.001).cdf).pvalue > 1e-6
    for theta in ([0.7, -1.1], [-0.6, 0.4]):
        policy = suggestions_for(world)["gradient"]["policy"].with_parameters(theta)
        lam, sigma = -1.999 + 1.998 / (1.0 + np.exp(theta[0])), 0.001 + 1.0 / (1.0 + np.exp(theta[1]))
        assert (policy.gain, policy.sigma) == (pytest.approx(lam), pytest.approx(sigma))
        law = stats.norm(0.8 * lam, sigma)
        rng = default_rng(3)
        assert stats.kstest([policy.sample([0.8], rng)[0] for _ in range(2000)], law.cdf).pvalue > 1e-6
        for a in (-1.5, 0.2):
            assert policy.log_prob([0.8], [a]) == pytest.approx(law.logpdf(a))
    far = suggestions_for(world)["gradient"]["policy"].with_parameters([-800.0, 800.0])  # no overflow
    assert (far.gain, far.sigma) == (pytest.approx(-0.001), pytest.approx(0.001))


@pytest.mark.parametrize("x, v, push", [(-0.25, 0.5, -1.0), (-0.9, -1.0, 3.0), (0.0, 0.2, -4.0), (0.3, -0.4, 4.0)])
def test_car_on_the_hill_from_both_sides(x, v, push):
    """The hill is x^2 + x on the left and x / sqrt(1 + 5 x^2) on the right: gravity along its numerical slope."""
    world, h = make_world("car-on-the-hill", width=0.5), 1e-6
    hill = lambda y: y * y + y if y < 0.0 else y / np.sqrt(1.0 + 5.0 * y * y)  # noqa: E731
    slope = (hill(x + h) - hill(x - h)) / (2.0 * h)
    pull = push - 9.81 * slope / np.sqrt(1.0 + slope**2)
    step = world.step(np.array([x, v]), [push], RNG)
    np.testing.assert_allclose(step.state, [x + 0.3 * v + 0.5 * 0.3**2 * pull, v + 0.3 * pull], atol=1e-5)
    far = (step.state[0] - 0.6) ** 2 + step.state[1] ** 2
    assert step.reward == pytest.approx(np.exp(-0.5 * far / 0.25))
    assert not step.terminated


def test_ship_sails_and_turns():
    """Straight ahead .6 each inner step; the rate follows the rudder; headings stay in [0, 2 pi)."""
    world, rng = make_world("ship-steering"), default_rng(0)
    x, y, heading, rate, asked = 30.0, 40.0, 6.2, 0.2, 0.1
    step = world.step(np.array([x, y, heading, rate]), [asked], rng)
    for _ in range(3):
        x, y = x + 0.6 * np.cos(heading), y + 0.6 * np.sin(heading)
        heading, rate = heading + 0.2 * rate, rate + (asked - rate) * 0.04
    assert heading > 2.0 * np.pi
    np.testing.assert_allclose(step.state, [x, y, heading - 2.0 * np.pi, rate], atol=1e-12)
    assert (step.reward, step.terminated) == (-1.0, False)
    turn = np.pi / 12.0
    expected = [x / 150.0, y / 150.0, heading / (2.0 * np.pi) - 1.0, (rate + turn) / (2.0 * turn)]
    np.testing.assert_allclose(step.observation, expected, atol=1e-12)
    assert world.step(np.array([0.0, 0.0, 0.0, 0.0]), [-turn], rng).state[3] < 0.0


@pytest.mark.parametrize(
    "state, reward, inner",
    [
        ([0.7, 50.0, np.pi, 0.0], -100.0, 2),  # out in the west, in the second inner step
        ([149.7, 50.0, 0.0, 0.0], -100.0, 1),
        ([50.0, 0.1, 1.5 * np.pi, 0.0], -100.0, 1),
        ([50.0, 148.5, 0.5 * np.pi, 0.0], -100.0, 3),
        ([109.5, 109.5, 0.25 * np.pi, 0.0], 0.0, 2),  # through the middle of the gate
        ([110.7, 110.7, 1.25 * np.pi, 0.0], 0.0, 2),  # the other way
        ([100.2, 118.1, 0.5 * np.pi, 0.0], 0.0, 3),  # near one post
        ([119.3, 100.0, 0.5 * np.pi, 0.0], 0.0, 2),  # near the other
        ([99.8, 119.5, 0.5 * np.pi, 0.0], -1.0, 3),  # past one post
        ([120.4, 99.0, 0.5 * np.pi, 0.0], -1.0, 3),  # past the other
        ([90.0, 90.0, 0.25 * np.pi, 0.0], -1.0, 3),  # short of it
    ],
)
def test_ship_passes_the_gate_or_leaves(state, reward, inner):
    step = make_world("ship-steering").step(np.array(state), [0.0], RNG)
    assert (step.reward, step.terminated) == (reward, reward != -1.0)
    way = 0.6 * inner * np.array([np.cos(state[2]), np.sin(state[2])])
    np.testing.assert_allclose(step.state[:2], np.array(state[:2]) + way, atol=1e-9)
    assert ((step.observation >= 0.0) & (step.observation <= 1.0)).all()


@pytest.mark.parametrize(
    "a, b, bump",
    [
        ([0.34, 0.59], [0.36, 0.59], True),  # the first wall, from below to .6
        ([0.36, 0.01], [0.34, 0.01], True),
        ([0.34, 0.61], [0.36, 0.61], False),  # the gap above it
        ([0.34, 0.50], [0.36, 0.72], False),  # crosses x = .35 at y = .61
        ([0.34, 0.55], [0.38, 0.70], True),  # at y = .5875
        ([0.64, 0.41], [0.66, 0.41], True),  # the second wall, from .4 up
        ([0.66, 0.99], [0.64, 0.99], True),
        ([0.64, 0.39], [0.66, 0.39], False),
        ([0.62, 0.30], [0.66, 0.44], True),  # at y = .405
        ([0.40, 0.20], [0.60, 0.80], False),  # between the walls
        ([0.10, 0.02], [0.10, -0.01], True),
        ([0.02, 0.10], [-0.01, 0.10], True),
        ([0.98, 0.10], [1.01, 0.10], True),
        ([0.10, 0.98], [0.10, 1.01], True),
        ([0.98, 0.98], [1.00, 1.00], False),  # the corner belongs to the square
        ([0.02, 0.02], [0.00, 0.00], False),
    ],
)
def test_maze_has_two_walls(a, b, bump):
    assert bumps(np.array(a), np.array(b)) is bump


def test_maze_steps():
    """Eight directions and any direction move alike; the goal is the upper right corner; starts are elsewhere."""
    world, free = make_world("maze-2d"), make_world("maze-2d", directions=None)
    ended = 0
    for i in range(400):
        here, k = default_rng(i).random(2), i % 8
        way = np.array([np.cos(np.pi * k / 4), np.sin(np.pi * k / 4)])
        step, other = world.step(here, k, default_rng(i)), free.step(here, way, default_rng(i))
        there = here + 0.1 * way + 0.05 * default_rng(i).standard_normal(2)
        expected = here if bumps(here, there) else there
        np.testing.assert_allclose(step.state, expected, atol=1e-12)
        np.testing.assert_allclose(other.state, expected, atol=1e-12)
        assert step.reward == other.reward == -1.0
        assert step.terminated is other.terminated is bool((expected >= 0.8).all())
        ended += step.terminated
    assert ended > 5
    for way in ([1.0, 0.01], [0.9, 0.0]):
        with pytest.raises(InvalidArgument, match="a unit vector"):
            free.step(np.array([0.5, 0.5]), way, RNG)
    starts = np.array([world.reset(default_rng(i))[0] for i in range(1000)])
    beside = (starts >= 0.8).sum(axis=1) == 1  # with probability .32 / .96: 4.9 standard errors, false alarm 1e-6
    assert abs(beside.mean() - 1.0 / 3.0) < 4.9 * np.sqrt(2.0 / 9.0 / 1000.0)
    assert starts.min() < 0.02


def test_rounding_at_the_faces_of_a_box_is_clipped():
    world = make_world("car-on-the-hill")
    np.testing.assert_array_equal(check_action("world", world.actions, 4.0 + 1e-10), [4.0])
    np.testing.assert_array_equal(check_action("world", world.actions, [-4.0 - 1e-10]), [-4.0])
    np.testing.assert_array_equal(check_action("world", world.actions, 4.0 + 4e-9), [4.0])
    for action in (4.0 + 6e-9, -4.0 - 6e-9):  # 1e-9 of 1 + 4
        with pytest.raises(InvalidArgument, match=r"between \[-4.0\] and \[4.0\]"):
            check_action("world", world.actions, action)


@pytest.mark.parametrize(
    "a, b, meet",
    [
        ([120.0, 99.0], [120.0, 101.0], True),  # exactly through a post
        ([100.0, 119.0], [100.0, 121.0], True),
        ([119.0, 100.0], [121.0, 100.0], True),
        ([110.0, 110.0], [111.0, 111.0], True),  # begins on the line between the posts
        ([109.0, 109.0], [110.0, 110.0], True),
        ([99.0, 121.5], [101.0, 120.5], False),
        ([108.0, 108.0], [109.9, 109.9], False),
    ],
)
def test_segments_meet_or_not(a, b, meet):
    gate = np.array([100.0, 120.0]), np.array([120.0, 100.0])
    assert crosses(np.array(a), np.array(b), *gate) is meet
    assert crosses(*gate, np.array(a), np.array(b)) is crosses(np.array(a), np.array(b), *gate)


def test_the_regulator_never_ends():
    world, rng = make_world("bpg-regulator"), default_rng(0)
    state, _ = world.reset(rng)
    for _ in range(25):
        state, _, _, terminated = world.step(state, [-0.5], rng)
        assert terminated is False
