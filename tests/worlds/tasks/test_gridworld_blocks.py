"""gridworld-blocks against the facts and by hand."""

import numpy as np
import pytest

import bayesrl as b
from bayesrl.errors import BayesRLError


def test_values_of_the_facts():
    """Computed values: 1 at block 15, -.5 at 5, -.8 at 10."""
    w = np.zeros(16)
    w[[15, 5, 10]] = 1.0, -0.5, -0.8
    v = b.solve(b.make_world("gridworld-blocks", weights=w)).values
    np.testing.assert_allclose([v.mean(), v[0], v[63]], [4.04886, 1.28843, 9.67763], atol=5e-6)


def test_moves_by_hand():
    world = b.make_world("gridworld-blocks")
    P = world.mdp.dense()[0]
    np.testing.assert_allclose(P[0, 0, [0, 1, 8]], [0.6 + 0.2, 0.1, 0.1])  # north and west of the corner are walls
    np.testing.assert_allclose(P[9, 3, [1, 17, 8, 10]], [0.1, 0.1, 0.1, 0.7])
    assert world.features[[0, 1, 8, 9, 2, 63]].argmax(axis=1).tolist() == [0, 0, 0, 0, 1, 15]
    np.testing.assert_allclose(world.mdp.mean_reward, np.repeat(world.features @ world.weights, 4).reshape(64, 4))
    np.testing.assert_allclose(world.mdp.outcomes.start, 1 / 64)
    assert world.weights[-1] == 1.0
    assert (world.weights[:-1] < 0.0).sum() == 5  # ceil(.3 * 16)


@pytest.mark.parametrize("bad", [{"size": 0}, {"block": 3}, {"noise": 1.1}, {"gamma": 1.0}, {"weights": [1.0]}])
def test_bad_input(bad):
    with pytest.raises(BayesRLError, match=next(iter(bad))):
        b.make_world("gridworld-blocks", **bad)
