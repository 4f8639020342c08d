"""Bandits on a box: the functions drawn, the best action, and what is refused."""

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.adapters.gymnasium import to_gymnasium
from bayesrl.beliefs.covariances import Gaussian
from bayesrl.errors import InvalidArgument
from bayesrl.lab.build import agent_for
from bayesrl.lab.priors import prior_for
from bayesrl.registry import make_world
from bayesrl.testing import assert_mean_equal
from bayesrl.worlds.continuous.continuous_bandit import CUT, ContinuousBandit

FAMILY = make_world("continuous-bandit")


def test_functions_have_the_covariance_of_the_process():
    """1500 functions at four points between those of the grid; false alarm 1e-6 for each statement."""
    X, rng = np.array([[0.013], [0.13], [0.33], [0.987]]), default_rng(0)
    f = np.array([FAMILY.draw(rng).mean(X) for _ in range(1500)])
    assert_mean_equal(f, 0.0)
    products = (f[:, :, None] * f[:, None, :]).reshape(len(f), -1)
    assert_mean_equal(products, Gaussian(scale=0.2)(X, X).ravel())


@pytest.mark.parametrize("dims", [1, 2])
def test_nothing_is_lost_between_the_points_of_the_grid(dims):
    """The variance that interpolation leaves out, at points that are nowhere near the grid's."""
    family, rng = make_world("continuous-bandit", dims=dims), default_rng(0)
    grid, k = family.draw(rng).centres, Gaussian(scale=0.2)
    values, vectors = np.linalg.eigh(k(grid, grid))
    kept = values > CUT * values[-1]
    part = k(rng.random((200, dims)), grid) @ vectors[:, kept] / np.sqrt(values[kept])
    assert np.abs(1.0 - np.sum(part**2, axis=1)).max() < 1e-6


def test_the_best_action_and_gaps():
    world = FAMILY.draw(default_rng(3))
    fine = np.linspace(0.0, 1.0, 100_001)[:, None]
    paid = world.mean(fine)
    assert world.mean(world.best[None])[0] >= paid.max()
    assert world.mean(world.best[None])[0] == pytest.approx(paid.max(), abs=1e-8)
    assert world.gap(None, [0.25]) == pytest.approx(paid.max() - world.mean([0.25])[0], abs=1e-8)
    assert world.gap(None, world.best) == 0.0


def test_where_the_best_actions_all_pay_the_same():
    """Only the two ends pay less, so that there is no slope and no curvature where the search begins."""
    ends = ContinuousBandit([[0.0], [1.0]], [-1.0, -2.0], Gaussian(scale=1e-7))
    assert 0.0 < ends.best.item() < 1.0
    assert ends.mean(ends.best[None]).tolist() == [0.0]
    assert [ends.gap(None, [a]) for a in (0.0, 0.3, 1.0)] == [1.0, 0.0, 2.0]


def test_a_step_pays_the_function_and_noise():
    """4000 rewards; false alarm 1e-6."""
    world, rng = FAMILY.draw(default_rng(3)), default_rng(4)
    paid = np.array([world.step(None, 0.4, rng).reward for _ in range(4000)])
    assert_mean_equal(paid[:, None], world.mean([0.4])[0])
    assert_mean_equal(((paid - world.mean([0.4])[0]) ** 2)[:, None], 0.01)
    assert world.step(None, [0.4], default_rng(0))[:2] == (None, 0)


def test_the_prior_is_the_process():
    assert prior_for(FAMILY) == FAMILY.default_prior()
    assert (FAMILY.default_prior().noise, FAMILY.default_prior().prior_covariance) == (0.1, Gaussian(scale=0.2))
    two = make_world("continuous-bandit", dims=2, scale=0.3)
    planner = agent_for("gp-sparse-sampling", two, params={"candidates": 4}).planner
    assert planner.points().shape == (4, 2)


def test_as_an_environment():
    env = to_gymnasium(FAMILY)
    seen, _ = env.reset(seed=1)
    assert env.observation_space.contains(seen)
    assert env.step(env.action_space.sample())[0] == 0


@pytest.mark.parametrize("action", [1.1, [-0.1], [0.1, 0.2], "x", np.nan, None])
def test_actions_outside_are_refused(action):
    with pytest.raises(InvalidArgument, match=r"^continuous-bandit: 'action' must be"):
        FAMILY.draw(default_rng(0)).step(None, action, default_rng(0))


@pytest.mark.parametrize("given", [{"scale": 0.0}, {"scale": 0.001}, {"noise": 0.0}, {"dims": 0}, {"dims": 4}])
def test_bad_parameters_are_refused(given):
    with pytest.raises(InvalidArgument, match=r"'\w+' must be"):
        make_world("continuous-bandit", **given)
    with pytest.raises(InvalidArgument, match=r"^ContinuousBandit: 'weights' must be"):
        ContinuousBandit([[0.5]], [1.0, 2.0], Gaussian())
