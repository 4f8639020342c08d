"""The blimp by hand, seen and hidden."""

import math

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.continuous import GPDynamics
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.lab.priors import prior_for
from bayesrl.registry import make_world
from bayesrl.worlds.continuous.blimp import blimp_reward


def test_steps_by_hand():
    """Means and standard deviations of 4,000 steps within five standard errors; the reward is the height's before."""
    world, rng, s = make_world("blimp"), default_rng(0), np.array([0.3, -0.2])
    steps = [world.step(s, 0.5, rng) for _ in range(4000)]
    after = np.array([step.state for step in steps])
    assert (
        np.abs(after.mean(axis=0) - [0.3 - 0.1, -0.2 + 0.5 * (0.3 + 0.08)]) < 5.0 * np.array([0.01, 0.02]) / 63
    ).all()
    assert (np.abs(after.std(axis=0) / [0.01, 0.02] - 1.0) < 5.0 / math.sqrt(8000)).all()
    assert steps[0].reward == pytest.approx(math.exp(-0.5))
    assert blimp_reward(s[None], np.zeros(1))[0] == pytest.approx(math.exp(-0.5))
    assert (steps[0].observation == steps[0].state).all()
    assert not steps[0].terminated


def test_hidden_shows_a_noisy_height():
    world, rng = make_world("blimp", hidden=True), default_rng(1)
    firsts = np.array([world.reset(rng)[1] for _ in range(2000)])
    assert firsts.shape == (2000, 1)
    assert abs(firsts.mean() - 1.0) < 5.0 * 0.05 / math.sqrt(2000)
    steps = [world.step(np.array([0.2, 0.0]), [0.0], rng) for _ in range(2000)]
    apart = np.array([step.observation[0] - step.state[0] for step in steps])
    assert abs(apart.std() / 0.05 - 1.0) < 5.0 / math.sqrt(4000)


def test_the_hidden_prior_follows_the_state():
    """With known dynamics and unknown noises, particles know height and velocity after 30 steps."""
    world, rng = make_world("blimp", hidden=True), default_rng(3)
    belief, (state, seen) = prior_for(world), world.reset(rng)
    for _ in range(30):
        action = rng.integers(-1, 2, size=1).astype(float)
        step = world.step(state, action, rng)
        belief = belief.update(Transition(seen, action, step.reward, step.observation), rng)
        state, seen = step.state, step.observation
    mean, covariance = belief.state_moments()
    assert np.sqrt(np.diagonal(covariance)).max() < 0.15
    assert (np.abs(mean - state) < 5.0 * np.sqrt(np.diagonal(covariance))).all()


def test_its_prior_learns_it():
    world, rng = make_world("blimp"), default_rng(2)
    belief = prior_for(world)
    assert isinstance(belief, GPDynamics)
    state, _ = world.reset(rng)
    for _ in range(60):
        action = rng.integers(-1, 2, size=1).astype(float)
        step = world.step(state, action, rng)
        belief = belief.update(Transition(state, action, step.reward, step.state))
        state = step.state
    mean, _ = belief.predictive([0.5, -0.1], [1.0])
    np.testing.assert_allclose(mean, [0.45, -0.1 + 0.5 * (0.6 + 0.04)], atol=0.03)
    assert belief.expected_reward([0.3, 0.0], [0.0]) == pytest.approx(math.exp(-0.5))
    for action in (1.5, [0.0, 0.0], np.nan, "up"):
        with pytest.raises(InvalidArgument, match="'action' must be"):
            world.step(state, action, rng)
