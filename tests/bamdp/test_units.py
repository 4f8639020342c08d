"""The unit of rewards is arbitrary: no search has a default in the units of one paper's rewards."""

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.bamdp.optimism.pac_bounds import effective_horizon, rmax_knownness
from bayesrl.core import Transition, run
from bayesrl.models.mdp import TabularMDP
from bayesrl.registry import entries
from bayesrl.worlds.tabular import MDPWorld

PLANNERS = {n: e.example() for n, e in entries().items() if e.kind == "planner" and e.package == "bamdp"}
FROM_ZERO = ("bamcp", "hmdp")
"""Rollouts, and the fringe of HMDP, learn values that begin at zero, in the units of rewards."""
SEARCHES = [n for n, e in entries().items() if e.kind == "planner" and ".bamdp.search." in e.factory.__module__]


def paid_in(unit, zero=0.0):
    """Three states, two actions; rewards without ties, as rounding would break those in its own way."""
    rng = default_rng(5)
    P, R = rng.dirichlet(np.ones(3), (3, 2)), rng.uniform(-1.0, 1.0, (3, 2, 3))
    return TabularMDP.from_dense(P, unit * R + zero, gamma=0.9)


@pytest.mark.parametrize("factor", [2.0**-10, 1000.0, 2.0**20])
@pytest.mark.parametrize("name", SEARCHES)
def test_the_unit_of_rewards_does_not_matter(name, factor):
    """Rewards times a constant give the same decisions with the same seed, and root values times that constant."""
    planner, found = entries()[name].example(), []
    for mdp in (paid_in(1.0), paid_in(factor)):
        agent, world = b.BayesAgent(b.DirichletMDP.flat(mdp, 0.4), planner), MDPWorld("units", mdp)
        found.append(run(agent, world, 40, seed=1, keep=("q",)))
    one, other = found
    np.testing.assert_array_equal(one.action, other.action)
    np.testing.assert_allclose(factor * one.columns["q"], other.columns["q"], rtol=1e-9)
    assert 0 < one.action.sum() < 40, "a run in which nothing is decided shows nothing"


@pytest.mark.parametrize("zero", [-3.0, 7.0])
@pytest.mark.parametrize("name", [n for n in PLANNERS if n not in FROM_ZERO])
def test_the_zero_of_rewards_does_not_matter(name, zero):
    """Where no episode ends, a constant added to all rewards gives the same decisions with the same seed."""
    found = []
    for mdp in (paid_in(1.0), paid_in(1.0, zero)):
        agent = b.BayesAgent(b.DirichletMDP.flat(mdp, 0.4), PLANNERS[name])
        found.append(run(agent, MDPWorld("units", mdp), 25, seed=1))
    np.testing.assert_array_equal(found[0].action, found[1].action)
    np.testing.assert_allclose(found[0].reward + zero, found[1].reward)


BY_THEORY = {
    "beb": {"beta": "theory"},
    "vbrb": {"beta_r": "theory", "beta_p": "theory"},
    "mbie-eb": {"beta": "theory"},
    "rmax": {"knownness": "theory"},
    "bolt": {"eta": "theory"},
    "pot": {"eta": "theory"},
}


@pytest.mark.parametrize("name", BY_THEORY)
def test_theorems_ask_for_the_range_of_rewards(name):
    """A constant c added to all rewards adds c / (1 - gamma) to all values."""
    planner, q = b.make(name, **BY_THEORY[name]), []
    for given in ((1.0, 0.0), (1.0, -3.0), (1.0, 7.0)):
        prior = b.DirichletMDP.flat(paid_in(*given), 0.4)
        last = Transition(0, 1, prior.reward[0, 1, 1], 1)
        q.append(planner.plan(prior.update(last), 0, planner.start(), default_rng(0), last).info["q"])
    np.testing.assert_allclose(q[1], q[0] - 30.0, rtol=1e-7)
    np.testing.assert_allclose(q[2], q[0] + 70.0, rtol=1e-7)


def test_rmax_knownness_is_that_of_the_range():
    """2 is the range; a theorem with the sum of the bounds would ask for another number of visits."""
    counts = set()
    for zero in (0.0, -3.0, 7.0):
        mdp = TabularMDP.from_dense(np.full((2, 2, 2), 0.5), zero + np.array([[1.0, -1.0], [0.0, 0.5]]), gamma=0.9)
        counts.add(b.make("rmax", knownness="theory")._knownness(b.DirichletMDP.flat(mdp)))
    assert counts == {rmax_knownness(2, 2, effective_horizon(0.9), reward_range=2.0)}
