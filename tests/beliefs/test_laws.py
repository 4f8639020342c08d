"""Every registered belief obeys the laws. False-alarm rate: 1e-6 for each statistical law of each belief."""

import numpy as np
import pytest
from numpy.random import default_rng
from own_probes import check_belief

from bayesrl.beliefs import DirichletMDP, RewardBeta, RewardNormal, UnknownRewards
from bayesrl.models.mdp import Outcomes, TabularMDP
from bayesrl.registry import methods

BELIEFS = {e.name: e.example for e in methods() if e.kind == "belief"}


@pytest.mark.parametrize("name", BELIEFS)
def test_belief_laws(name):
    check_belief(BELIEFS[name](), rng=default_rng(list(name.encode())))


def tied():
    """Three groups over four pairs: one shared, one known, one of its own, of different sizes."""
    succ = np.array([[[0, 1, 0], [1, 0, 0]], [[0, 1, 2], [2, 1, 0]], [[2, 2, 2]] * 2])
    reward = np.array([[[0.0, 1.0, 0.0], [2.0, 3.0, 0.0]], [[0.0, 1.0, 5.0], [1.0, 0.0, 0.0]], [[0.0] * 3] * 2])
    group, size = np.array([[0, 0], [1, 2], [3, 3]]), np.array([2, 3, 2, 1])
    outcomes = Outcomes(succ, reward, group, size, np.zeros(1), np.array([1.0, 0, 0]), np.array([False, False, True]))
    alpha = np.array([[0.5, 2.0, 0], [1.0, 0.3, 0.7], [0.25, 0.75, 0], [1.0, 0, 0]])
    return DirichletMDP(outcomes, alpha, 0.9, known=[False, False, True, True])


def test_tied_and_partly_known_groups_obey_the_laws():
    check_belief(tied(), rng=default_rng(1))


def test_unknown_rewards_obey_the_laws():
    P = [[[0.7, 0.3], [0.1, 0.9]], [[0.5, 0.5], [0.2, 0.8]]]
    transitions = DirichletMDP.flat(TabularMDP.from_dense(P, np.zeros((2, 2)), gamma=0.9))
    check_belief(UnknownRewards(transitions, RewardBeta(np.ones((2, 2)), np.ones((2, 2)))), rng=default_rng(2))
    normal = RewardNormal(np.zeros((2, 2, 2)), np.ones((2, 2, 2)), np.full((2, 2, 2), 3.0), np.ones((2, 2, 2)))
    check_belief(UnknownRewards(transitions, normal), rng=default_rng(3))
