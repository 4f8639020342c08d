"""Robot navigation: the numbers of the reference, by hand; its belief, by its name."""

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.adapters.gymnasium import to_gymnasium
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.lab.priors import prior_for
from bayesrl.registry import make_world


def test_steps_by_hand():
    """8000 steps; each bound is 5 standard errors, so that one in 100,000 correct worlds fails."""
    world, rng, n = make_world("robot-navigation"), default_rng(1), 8000
    s, a = np.array([1.0, 0.5]), world.moves[1]
    steps = [world.step(s, a, rng) for _ in range(n)]
    new, z = np.array([x.state for x in steps]), np.array([x.observation for x in steps])
    corner = 0.5 * np.sqrt(0.5)
    assert np.abs(new.mean(axis=0) - [1.1 + corner, 0.45 + corner]).max() < 5.0 * 0.1 / np.sqrt(n)
    assert np.abs(new.std(axis=0) - 0.1).max() < 5.0 * 0.1 / np.sqrt(2 * n)
    assert np.abs((z - new).mean(axis=0)).max() < 5.0 * 0.2 / np.sqrt(n)
    assert np.abs((z - new).std(axis=0) - 0.2).max() < 5.0 * 0.2 / np.sqrt(2 * n)
    assert np.abs(np.corrcoef(new.T, (z - new).T)[np.triu_indices(4, 1)]).max() < 5.0 / np.sqrt(n)
    assert {(x.reward, x.terminated) for x in steps} == {(-1.25, False)}
    starts = np.array([world.reset(rng)[0] for _ in range(4000)])
    assert np.abs(starts.std(axis=0) - 0.1).max() < 5.0 * 0.1 / np.sqrt(8000)
    assert world.reset(rng)[1].tolist() == [0.0, 0.0]


def test_moves_and_bounds():
    world = make_world("robot-navigation")
    np.testing.assert_allclose(np.linalg.norm(world.moves, axis=1), [0.5] * 8 + [0.0], atol=1e-12)
    assert len({tuple(x) for x in world.moves.round(9)}) == 9
    for action in ([0.6, 0.0], [0.0], [0.0, np.nan], "left", 3):
        with pytest.raises(InvalidArgument, match="'action' must be"):
            world.step(np.zeros(2), action, default_rng(0))
    with pytest.raises(InvalidArgument, match="'state' must be"):
        world.step(np.zeros(3), [0.0, 0.0], default_rng(0))
    with pytest.raises(InvalidArgument, match="'drift' must be"):
        make_world("robot-navigation", drift=(0.1,))
    env = to_gymnasium(world)
    seen, _ = env.reset(seed=1)
    assert env.observation_space.contains(seen)
    seen, *_ = env.step(env.action_space.sample())
    assert env.observation_space.contains(seen)


def test_its_belief_learns_the_drift():
    """Sixty steps to and fro with 1000 particles: the drift within .08, the sensor's deviation within a third."""
    world, rng = make_world("robot-navigation"), default_rng(2)
    belief = prior_for(world)
    assert belief.gamma == world.gamma
    assert belief.expected_reward(None, world.moves[0]) == pytest.approx(-5.0 - 2.0 * 0.01)
    with pytest.raises(InvalidArgument, match="'transition' must be a function of rows, got 3"):
        prior_for(world, "normal-wishart-dynamics:3")
    (state, z), belief = world.reset(rng), belief.thinned(1000, rng)
    for t in range(60):
        a = world.moves[1] if t % 2 else world.moves[5]
        state, seen, reward, _ = world.step(state, a, rng)
        belief, z = belief.update(Transition(z, a, reward, seen), rng), seen
    np.testing.assert_allclose(belief.noise_moments()[0], [0.1, -0.05], atol=0.08)
    np.testing.assert_allclose(np.sqrt(np.diagonal(belief.sensor_moments()[1])), 0.2, rtol=0.35)
    assert np.linalg.norm(belief.state_moments()[0] - state) < 0.5
    assert belief.draw(None, world.moves[0], rng, 3).shape == (3, 2)
