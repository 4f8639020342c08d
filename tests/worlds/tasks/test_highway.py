"""highway against the facts and by hand."""

import numpy as np
import pytest

import bayesrl as b
from bayesrl.errors import BayesRLError
from bayesrl.worlds.tasks.highway import STYLES

SHAPE = (2, 3, 8, 8, 8)


def state(speed, lane, *cars):
    """The number of a state; lanes are 0 to 2, positions 1 (no car) to 8."""
    return int(np.ravel_multi_index((speed - 1, lane, *(x - 1 for x in cars)), SHAPE))


@pytest.fixture(scope="module")
def world():
    return b.make_world("highway")


def test_values_of_the_facts(world):
    """Computed values of V* at the start."""
    assert world.mdp.n_states == 3072
    start = int(world.mdp.outcomes.start.argmax())
    assert start == state(1, 1, 1, 1, 1)
    found = []
    for w in STYLES.values():
        R = np.repeat(world.features @ w, 5).reshape(-1, 5)
        found.append(b.solve(world.mdp, bonus=R - world.mdp.mean_reward).values[start])
    np.testing.assert_allclose(found, [0.557348, 0.470011, 4.904690], atol=5e-7)


def row(world, s, a):
    m = world.mdp
    return {int(y): p for y, p in zip(m.succ[s, a], m.prob[m.group[s, a]], strict=True) if p > 0.0}


def test_moves_by_hand(world):
    """A busy left lane at speed 2, going right: the car at 7 leaves, the one at 3 comes to 5, and lane 2 was empty."""
    s = state(2, 0, 3, 7, 1)
    expected = {
        state(2, 1, 5, 1, 1): 0.4 * 0.2,
        state(2, 1, 5, 1, 2): 0.4 * 0.8,
        state(2, 0, 5, 1, 1): 0.6 * 0.2,
        state(2, 0, 5, 1, 2): 0.6 * 0.8,
    }
    found = row(world, s, 2)
    assert found.keys() == expected.keys()
    np.testing.assert_allclose([found[y] for y in expected], list(expected.values()))
    # an empty road at speed 1, faster: one car at most
    found = row(world, state(1, 1, 1, 1, 1), 3)
    only = [0.4 * 0.4 * 0.2, 0.6 * 0.6 * 0.2, 0.6 * 0.4 * 0.8]
    cars = [(2, 1, 1), (1, 2, 1), (1, 1, 2)]
    np.testing.assert_allclose([found[state(2, 1, *c)] for c in cars], only)
    np.testing.assert_allclose(found[state(2, 1, 1, 1, 1)], 1.0 - sum(only))
    np.testing.assert_allclose(row(world, state(2, 1, 5, 5, 5), 4)[state(1, 1, 7, 7, 7)], 0.8)  # slower
    assert world.features[state(2, 0, 5, 1, 1)].tolist() == [1, 1, 0, 0, 0, 1]
    assert world.features[state(1, 2, 5, 6, 8)].tolist() == [0, 0, 0, 1, 1, 0]
    assert [world.features[state(1, 1, 6, p, 6), 0] for p in range(1, 9)] == [0, 0, 0, 0, 1, 1, 1, 0]


@pytest.mark.parametrize("bad", [{"style": "slow"}, {"style": None}, {"gamma": 1.0}, {"gamma": "x"}])
def test_bad_input(bad):
    with pytest.raises(BayesRLError, match=next(iter(bad))):
        b.make_world("highway", **bad)
