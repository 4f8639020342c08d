"""The worlds of chapter 5 against hand computations, Gymnasium and closed forms."""

import gymnasium
import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.core import run
from bayesrl.errors import InvalidArgument
from bayesrl.lab.build import agent_for
from bayesrl.lab.literature.suggestions import suggestions_for
from bayesrl.registry import make_world

NAMES = ["random-walk", "mountain-car", "bpg-bandit", "bpg-regulator", "maze-2d", "car-on-the-hill", "ship-steering"]
RNG = default_rng(0)


def test_mountain_car_is_gymnasiums():
    env, world, rng = gymnasium.make("MountainCar-v0").unwrapped, make_world("mountain-car"), default_rng(1)
    seen, _ = env.reset(seed=3)
    state = np.array(seen, float)
    env.state = tuple(state)
    for _ in range(400):
        action = int(rng.integers(3))
        seen, reward, terminated, _, _ = env.step(action)
        step = world.step(state, action, rng)
        state = step.state
        np.testing.assert_allclose(state, env.state, atol=1e-12)
        assert (reward, terminated) == (step.reward, step.terminated)
        assert ((step.observation >= 0.0) & (step.observation <= 1.0)).all()
        if terminated:
            break


def test_random_walk_by_hand():
    """The optimum and the value of even chances of the reference, by solving the chain of ten states."""
    world = make_world("random-walk")
    P = np.zeros((2, 10, 10))
    for s in range(9):
        for a in range(2):
            P[a, s, world.step(s, a, RNG).state] = 1.0
    for chance, expected in ((1.0, -8.64828), (0.5, -51.2577)):
        M = (1.0 - chance) * P[0] + chance * P[1]
        V = np.linalg.solve(np.eye(10) - 0.99 * M, np.append(-np.ones(9), 0.0))
        np.testing.assert_allclose(V[0], expected, atol=6e-5)
    paid = [world.step(3, 1, RNG).reward for _ in range(4000)]
    assert abs(np.mean(paid) + 1.0) < 5.0 * 0.1 / np.sqrt(4000)
    assert abs(np.std(paid) - 0.1) < 5.0 * 0.1 / np.sqrt(8000)
    assert world.step(8, 1, RNG).terminated
    assert not world.step(8, 0, RNG).terminated


def test_bandit_and_regulator_by_hand():
    bandit = make_world("bpg-bandit", reward="a2")
    assert bandit.step(0, [3.0], RNG) == (0, 0, 9.0, True)
    assert make_world("bpg-bandit").step(0, 3.0, RNG).reward == 3.0
    world = make_world("bpg-regulator")
    steps = [world.step(np.array([0.5]), [-0.2], RNG) for _ in range(4000)]
    moved = [step.state[0] for step in steps]
    assert abs(np.mean(moved) - 0.3) < 5.0 * 0.01 / np.sqrt(4000)
    assert abs(np.std(moved) - 0.01) < 5.0 * 0.01 / np.sqrt(8000)
    assert steps[0].reward == pytest.approx(-(0.25 + 0.1 * 0.04))


def test_regulator_costs_what_the_reference_says():
    """The best gain's cost at sigma = .001 by the exact recursion of second moments."""
    policy = suggestions_for(make_world("bpg-regulator"))["gradient"]["policy"]
    best = policy.with_parameters(np.array([np.log(1.998 / (1.999 - 0.916) - 1.0), 40.0]))
    assert best.gain == pytest.approx(-0.916)
    assert best.sigma == pytest.approx(0.001)
    second, cost = 0.3**2 + 0.001**2, 0.0
    for _ in range(20):
        cost += second + 0.1 * (best.gain**2 * second + best.sigma**2)
        second = (1.0 + best.gain) ** 2 * second + best.sigma**2 + 0.01**2
    assert cost == pytest.approx(0.100342, abs=1e-6)


@pytest.mark.parametrize("theta", [[0.0, 0.0], [1.0, -0.5], [-2.0, 3.0]])
def test_scores_of_the_regulators_policy_match_differences(theta):
    policy, x, a, h = suggestions_for(make_world("bpg-regulator"))["gradient"]["policy"], [0.7], [-0.4], 1e-5
    base = policy.with_parameters(np.array(theta))
    for i in range(2):
        up, down = np.array(theta), np.array(theta)
        up[i] += h
        down[i] -= h
        up, down = policy.with_parameters(up), policy.with_parameters(down)
        slope = (up.log_prob(x, a) - down.log_prob(x, a)) / (2.0 * h)
        np.testing.assert_allclose(base.score(x, a)[i], slope, rtol=1e-6, atol=1e-8)
        second = (up.score(x, a) - down.score(x, a)) / (2.0 * h)
        np.testing.assert_allclose(base.hessian(x, a)[i], second, rtol=1e-5, atol=1e-7)


def test_car_on_the_hill_by_hand():
    world = make_world("car-on-the-hill")
    state, _ = world.reset(RNG)
    np.testing.assert_array_equal(state, [-0.5, 0.0])
    assert world.step(state, [0.0], RNG).state.tolist() == [-0.5, 0.0]  # the valley's bottom: slope 0
    after = world.step(np.array([0.5, 1.0]), [2.0], RNG).state
    slope = (1.0 + 5.0 * 0.25) ** -1.5
    pull = 2.0 - 9.81 * slope / np.sqrt(1.0 + slope**2)
    np.testing.assert_allclose(after, [0.5 + 0.3 + 0.045 * pull, 1.0 + 0.3 * pull])
    assert world.step(np.array([0.6, 0.0]), [9.81 * np.sin(np.arctan((1 + 5 * 0.36) ** -1.5))], RNG).reward == (
        pytest.approx(1.0)
    )


def test_ship_by_hand():
    world = make_world("ship-steering")
    state, _ = world.reset(RNG)
    turned = world.step(state, [np.pi / 12.0], RNG).state
    rates = [0.0]
    for _ in range(3):
        rates.append(rates[-1] + (np.pi / 12.0 - rates[-1]) * 0.04)
    assert turned[3] == pytest.approx(rates[-1])
    assert turned[2] == pytest.approx(np.pi / 2.0 + 0.2 * sum(rates[:3]))
    out = world.step(np.array([0.1, 50.0, np.pi, 0.0]), [0.0], RNG)
    assert (out.reward, out.terminated) == (-100.0, True)
    through = world.step(np.array([109.0, 110.0, 0.25 * np.pi, 0.0]), [0.0], RNG)
    assert (through.reward, through.terminated) == (0.0, True)


def test_maze_by_hand():
    world = make_world("maze-2d")
    moved = np.array([world.step(np.array([0.5, 0.5]), 2, default_rng(i)).state for i in range(3000)])
    assert (np.abs(moved.mean(0) - [0.5, 0.6]) < 5.0 * 0.05 / np.sqrt(3000)).all()
    assert (np.abs(moved.std(0) - 0.05) < 5.0 * 0.05 / np.sqrt(6000)).all()
    walled = [world.step(np.array([0.34, 0.2]), 0, default_rng(i)).state[0] for i in range(200)]
    assert max(walled) < 0.35  # the wall at .35 is closed below .6
    corner = [world.step(np.array([0.0, 0.0]), 4, default_rng(i)).state for i in range(200)]
    assert np.min(corner) >= 0.0
    starts = np.array([world.reset(default_rng(i))[0] for i in range(500)])
    assert not (starts >= 0.8).all(axis=1).any()
    free = make_world("maze-2d", directions=None)
    assert free.step(np.array([0.75, 0.9]), [1.0, 0.0], default_rng(0)).reward == -1.0


@pytest.mark.parametrize("name", NAMES)
def test_actions_outside_are_refused(name):
    world = make_world(name)
    state, _ = world.reset(RNG)
    for action in (99, "left", np.nan, [np.nan], [[1.0]]):
        if name.startswith("bpg") and action == 99:
            continue  # any number is an action
        with pytest.raises(InvalidArgument, match="must be"):
            world.step(state, action, RNG)


GRADIENT_AGENTS = ["bpg-1", "bpg-2", "bpg-hessian", "bac", "actor-critic", "reinforce", "gpomdp"]


@pytest.mark.parametrize("name", NAMES)
def test_agents_by_name_act_with_the_worlds_suggestions(name):
    """Every gradient agent, and GPSARSA where the world suggests it, runs a few short episodes by its name alone."""
    world = make_world(name)
    for method in GRADIENT_AGENTS:
        few = {"episodes": 2} if method in ("bac", "actor-critic") else {"paths": 2}
        agent = agent_for(method, world, params=few)
        assert agent.policy == suggestions_for(world)["gradient"]["policy"]
        assert run(agent, world, 30, horizon=6, keep=("updates",)).updates[-1] > 0
    if "gpsarsa" in suggestions_for(world):
        run(agent_for("gpsarsa", world), world, 30, horizon=6)


@pytest.mark.parametrize("name", NAMES)
def test_every_world_states_the_residuals(name):
    """White where transitions are deterministic; only the two worlds of the bandit's paper have no GPSARSA."""
    given = suggestions_for(make_world(name)).get("gpsarsa")
    if name.startswith("bpg"):
        assert given is None
    else:
        assert given["residuals"] == ("coloured" if name == "maze-2d" else "white")
    assert set(suggestions_for(make_world(name))["gradient"]) == {"policy", "features", "covariance"}


def test_suggestions_are_those_of_the_method():
    """A world's noise and threshold for values of pairs are not those of gradients."""
    world = make_world("mountain-car")
    sarsa, bpg, bac = (agent_for(method, world) for method in ("gpsarsa", "bpg-1", "bac"))
    assert (sarsa.noise, sarsa.threshold, sarsa.half_life, sarsa.residuals) == (1.0, 10.0, 10.0, "white")
    assert (bpg.noise, bpg.threshold, bpg.half_life, bpg.gamma) == (0.1, 0.0, None, 0.99)
    assert (bac.noise, bac.threshold, bac.half_life, bac.rate) == (3.0, 0.1, None, 0.1)
    assert agent_for("bac", make_world("random-walk")).threshold == 0.0
    regulator = make_world("bpg-regulator")  # critics need a discount where episodes do not end
    assert [agent_for(method, regulator).gamma for method in ("bac", "actor-critic", "bpg-1")] == [0.99, 0.99, 1.0]
    assert agent_for("bac", make_world("bpg-regulator", gamma=0.9)).gamma == 0.9


def test_best_returns():
    assert make_world("random-walk").best_return == pytest.approx(-8.64828, abs=5e-6)
    assert make_world("random-walk", gamma=1.0).best_return == -9.0
    assert make_world("random-walk", reward=1.0).best_return is None
    assert make_world("random-walk", reward=0.0).best_return == 0.0
    assert make_world("bpg-regulator").best_return == -0.100342
    assert make_world("bpg-regulator", horizon=10).best_return is None
    assert make_world("ship-steering").best_return is None


def test_a_policy_of_listed_actions():
    policy = suggestions_for(make_world("car-on-the-hill"))["gradient"]["policy"]
    s = np.array([-0.5, 0.1])
    assert {float(policy.sample(s, default_rng(i))[0]) for i in range(40)} == {-4.0, 0.0, 4.0}
    moved = policy.with_parameters(default_rng(0).normal(size=len(policy.parameters)))
    chance = [np.exp(moved.log_prob(s, [a])) for a in (-4.0, 0.0, 4.0)]
    assert sum(chance) == pytest.approx(1.0)
    np.testing.assert_array_equal(moved.score(s, [4.0]), moved.chooser.score(s, 2))
    np.testing.assert_array_equal(moved.hessian(s, [0.0]), moved.chooser.hessian(s, 1))
    with pytest.raises(InvalidArgument, match="'action' must be one of the listed actions, got"):
        policy.score(s, [1.0])
