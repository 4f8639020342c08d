"""The family machine-costs: its numbers by hand, its draws, both readings, and what is refused."""

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.errors import BayesRLError
from bayesrl.lab.priors import prior_for
from bayesrl.testing.statistics import assert_mean_equal


def test_transitions_and_costs_by_hand():
    family = b.make_world("machine-costs", n_states=4)
    P, _ = family.belief.mdp.dense()
    assert P.argmax(axis=2).tolist() == [[1, 0], [2, 0], [3, 0], [0, 0]]
    assert P.max(axis=2).min() == 1.0
    np.testing.assert_array_equal(family.belief.outcomes.start, [0.25] * 4)
    mean, C = family.belief.reward_moments()
    assert mean.tolist() == [[0.0, -130.0]] * 3 + [[-100.0, -130.0]]
    np.testing.assert_allclose(C, np.diag([1e-4, 1.0] * 3 + [800.0, 20.0]), rtol=1e-12)
    other = b.make_world("machine-costs", n_states=4, second="std").belief.covariance_
    np.testing.assert_allclose(other, np.diag([1e-8, 1.0] * 3 + [640_000.0, 400.0]), rtol=1e-12)
    assert (b.make_world("machine-costs").n_states, family.gamma, family.belief.noise) == (50, 0.8, 1.0)


def test_worlds_have_their_law():
    """False alarm 1e-6 for means and for variances; 2000 draws detect a variance that is off by a sixth."""
    family, rng = b.make_world("machine-costs", n_states=2), default_rng(0)
    r = np.array([family.draw(rng).mdp.mean_reward.ravel() for _ in range(2000)])
    mean, C = family.belief.reward_moments()
    assert_mean_equal(r, mean.ravel())
    assert_mean_equal((r - mean.ravel()) ** 2, np.diag(C))


def test_a_world_pays_its_drawn_means():
    family = b.make_world("machine-costs", n_states=3)
    world = family.draw(default_rng(1))
    assert world.step(2, 1, default_rng(0)).reward == world.mdp.mean_reward[2, 1]
    assert world.step(2, 0, default_rng(0)).state == 0
    assert prior_for(family) == family.belief == family.default_prior()
    record = b.run(b.BayesAgent(family.belief, b.make("psrl")), family, steps=60, seed=0)
    learnt = family.belief.update_many(record)
    assert learnt.reward_variance().sum() < family.belief.reward_variance().sum()


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"n_states": 1}, "'n_states' must be a whole number of at least 2"),
        ({"n_states": 2.5}, "'n_states' must be a whole number"),
        ({"second": "deviation"}, "'second' must be one of variance, std"),
        ({"gamma": 1.1}, "'gamma' must be in"),
    ],
)
def test_bad_arguments(given, sentence):
    with pytest.raises(BayesRLError, match=sentence):
        b.make_world("machine-costs", **given)


def test_a_family_has_no_table():
    with pytest.raises(BayesRLError, match=r"draw\(rng\) a world first, or take belief.mean_mdp"):
        b.solve(b.make_world("machine-costs"))
