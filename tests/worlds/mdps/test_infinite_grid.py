"""The infinite grid: its law, its steps, and the command line's way to it."""

import numpy as np
import pytest
from numpy.random import default_rng
from scipy import stats

from bayesrl.core import Family, World
from bayesrl.errors import InvalidArgument
from bayesrl.registry import make_world
from bayesrl.testing import assert_mean_equal
from bayesrl.worlds.mdps.infinite_grid import InfiniteGrid, Place, infinite_grid, uniform

UP, RIGHT, DOWN, LEFT = range(4)


def test_rewards_have_their_law():
    """p, q and rewards over 300 worlds against the Beta's moments; false alarm 1e-6 each.

    Sees an error of .03 in a mean, of .02 in a probability; neighbours are independent given p and q.
    """
    family = infinite_grid(rows=(2.0, 1.0), columns=(1.0, 3.0))
    worlds = [family.draw(default_rng(i)) for i in range(300)]
    p = np.array([[w.p(y) for y in (-2, 0, 7)] for w in worlds])
    q = np.array([[w.q(x) for x in (-1, 4)] for w in worlds])
    assert_mean_equal(p, 2 / 3)
    assert_mean_equal(q, 1 / 4)
    assert_mean_equal(p**2, 2 * 3 / (3 * 4))
    assert_mean_equal(q**2, 1 * 2 / (4 * 5))
    assert_mean_equal((p[:, :1] - 2 / 3) * (p[:, 1:] - 2 / 3), 0.0)
    there = np.array([[w.rewarded(x, y) for x in range(10)] for w in worlds for y in (0,)], float)
    assert_mean_equal(there, 2 / 3 / 4)
    # in one row: E[p^2] E[q]^2
    assert_mean_equal(there[:, :1] * there[:, 1:], (2 * 3 / (3 * 4)) / 16)
    # in one column: E[p]^2 E[q^2]
    column = np.array([[w.rewarded(0, y) for y in range(10)] for w in worlds], float)
    assert_mean_equal(column[:, :1] * column[:, 1:], (2 / 3) ** 2 * (1 * 2 / (4 * 5)))


def test_hashed_numbers_are_uniform():
    """20000 neighbours of one key, chi-square over 100 bins at false alarm 1e-6; neighbours uncorrelated."""
    u = np.array([uniform(12345, 0, x, y) for x in range(-50, 50) for y in range(-100, 100)])
    assert stats.chisquare(np.bincount((u * 100).astype(int), minlength=100)).pvalue > 1e-6
    assert abs(np.corrcoef(u[1:], u[:-1])[0, 1]) < 5 / np.sqrt(len(u))
    assert uniform(1, 0, 2, 3) != uniform(1, 0, 3, 2)


def test_steps_by_hand():
    grid = InfiniteGrid(key=3, rows=(1.0, 1.0), columns=(1.0, 1.0))
    rng = default_rng(0)
    state, seen = grid.reset(rng)
    assert (state, seen) == (Place(0, 0), (0, 0))
    had = set()
    for a, there in ((UP, (0, 1)), (RIGHT, (1, 1)), (DOWN, (1, 0)), (LEFT, (0, 0)), (UP, (0, 1)), (RIGHT, (1, 1))):
        before = state
        state, seen, reward, over = grid.step(state, a, rng)
        assert (seen, state[:2], over) == (there, there, False)
        assert reward == (grid.rewarded(*there) and there not in had)
        had |= {there} if reward else set()
        assert state.taken == had
        assert grid.step(before, a, rng)[2] == reward  # the state is explicit: asked again, it answers the same
    assert had
    assert rng.bit_generator.state == default_rng(0).bit_generator.state


def test_a_family():
    family = make_world("infinite-grid", gamma=0.9)
    assert isinstance(family, Family)
    assert not isinstance(family, World)
    assert isinstance(family.draw(default_rng(0)), World)
    assert family.draw(default_rng(0)) == family.draw(default_rng(0))
    assert family.draw(default_rng(0)) != family.draw(default_rng(1))
    prior = family.default_prior()
    assert (prior.rows, prior.columns, prior.gamma) == ((2.0, 1.0), (1.0, 2.0), 0.9)


def test_bad_input():
    with pytest.raises(InvalidArgument, match="'rows' must be greater than 0 everywhere, got -1"):
        infinite_grid(rows=(-1.0, 1.0))
    with pytest.raises(InvalidArgument, match="infinite-grid: 'action' must be a whole number of at least 0"):
        InfiniteGrid(0).step(Place(0, 0), 4, default_rng(0))
