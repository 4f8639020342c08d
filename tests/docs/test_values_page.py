"""The true values that docs/values.md compares with."""

import runpy
from pathlib import Path

import numpy as np
import pytest

PAGE = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "values.py"))


def test_true_values_of_the_walk():
    """The value of the start is the reference's; moments are those of 1,000 episodes within five standard errors."""
    value, deviation = PAGE["walk_moments"]()
    assert value[0] == pytest.approx(-12.7222, abs=5e-5)
    gamma = PAGE["WALK"].gamma
    returns = np.array(
        [
            sum(gamma**t * step.reward for t, step in enumerate(steps))
            for i in range(100, 150)
            for steps in PAGE["walk_episodes"](i)
        ]
    )
    assert len(returns) == 1000
    assert returns.mean() == pytest.approx(value[0], abs=5 * returns.std() / np.sqrt(1000))
    spread = (returns - returns.mean()) ** 2
    assert spread.mean() == pytest.approx(deviation[0] ** 2, abs=5 * spread.std() / np.sqrt(1000))


def test_true_values_of_the_car():
    """A car that rolls over the goal needs one step. Values along an episode obey Bellman's equation."""
    car = PAGE["CAR"]
    assert PAGE["car_value"](np.array([0.99, 0.9])) == -1.0
    steps = PAGE["car_episode"](np.random.default_rng(0))
    assert steps[-1].terminated
    values = [PAGE["car_value"](step.observation) for step in steps[-20:]]
    np.testing.assert_allclose(values[:-1], [-1.0 + car.gamma * v for v in values[1:]], rtol=1e-9)
