"""The unit of rewards is arbitrary: no search has a default in the units of one paper's rewards."""

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.core import run
from bayesrl.models.mdp import TabularMDP
from bayesrl.registry import entries
from bayesrl.worlds.tabular import MDPWorld

SEARCHES = [n for n, e in entries().items() if e.kind == "planner" and ".bamdp.search." in e.factory.__module__]


def paid_in(unit):
    """Three states, two actions; rewards without ties, as rounding would break those in its own way."""
    rng = default_rng(5)
    P, R = rng.dirichlet(np.ones(3), (3, 2)), rng.uniform(-1.0, 1.0, (3, 2, 3))
    return TabularMDP.from_dense(P, unit * R, gamma=0.9)


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
