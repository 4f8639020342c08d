"""Planners report how much they searched; on problems this small the numbers can be counted by hand or by recursion."""

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.models.mdp import TabularMDP

RNG = default_rng(0)
RANDOM = TabularMDP.from_dense(RNG.dirichlet(np.ones(3), (3, 2)), RNG.random((3, 2)), 0.9)
ENDS = TabularMDP.from_dense(RNG.dirichlet(np.ones(3), (3, 2)), RNG.random((3, 2)), 0.9, terminal=[2])
ALONE = TabularMDP.from_dense(RNG.dirichlet(np.ones(3), (3, 1)), RNG.random((3, 1)), 0.9)
"""One action, so that nothing can be pruned."""
CORRIDOR = TabularMDP.from_dense(np.eye(5)[[1, 2, 3, 4, 4]][:, None], np.arange(5.0)[:, None], 0.9, terminal=[4])
"""One action and one outcome: four steps to the end."""
PROBLEMS = {"random": RANDOM, "ends": ENDS, "alone": ALONE}


def info(name, mdp, state=0, **given):
    belief = (b.DirichletMDP.structured if mdp is CORRIDOR else b.DirichletMDP.flat)(mdp)
    return b.make(name, **given).plan(belief, state, None, default_rng(0)).info


def histories(mdp, s, depth):
    """Hyper-states with a decision to make, within `depth` decisions of s; with flat counts everything is possible."""
    if mdp.outcomes.terminal[s]:
        return 0
    if depth == 1:
        return 1
    return 1 + mdp.n_actions * sum(histories(mdp, y, depth - 1) for y in range(mdp.n_states))


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize("name", PROBLEMS)
def test_nodes_of_forward_search(name, depth):
    assert info("forward-search", PROBLEMS[name], depth=depth)["nodes"] == histories(PROBLEMS[name], 0, depth)


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_nodes_that_cannot_be_pruned(depth):
    """With one action BOP searches all histories.

    Branch and bound leaves out the last decision, whose bounds are equal, since rewards here do not depend on the next
    state. At the root it searches all outcomes.
    """
    assert info("bop", ALONE, depth=depth, nodes=1000)["nodes"] == histories(ALONE, 0, depth)
    assert info("branch-and-bound", ALONE, depth=depth)["nodes"] == histories(ALONE, 0, max(depth - 1, min(depth, 2)))
    if depth <= 2:
        for name in ("random", "ends"):
            found = info("branch-and-bound", PROBLEMS[name], depth=depth)["nodes"]
            assert found == histories(PROBLEMS[name], 0, depth)


@pytest.mark.parametrize("nodes", [1, 2, 7, 50])
def test_nodes_that_were_asked_for(nodes):
    assert info("bop", RANDOM, nodes=nodes)["nodes"] == nodes


def test_nodes_of_trajectories():
    """HMDP: one trajectory has a node before each decision; hundreds have all nodes of two decisions."""
    for depth in (1, 2, 5):
        assert info("hmdp", RANDOM, depth=depth, simulations=1)["nodes"] == depth
        assert info("hmdp", CORRIDOR, depth=depth, simulations=9)["nodes"] == min(depth, 4)
    assert info("hmdp", RANDOM, depth=2, simulations=500)["nodes"] == histories(RANDOM, 0, 2)
    assert info("hmdp", ENDS, depth=2, simulations=500)["nodes"] == histories(ENDS, 0, 2)


@pytest.mark.parametrize("name", ["forward-search", "branch-and-bound", "bop", "hmdp"])
def test_nothing_is_searched_at_the_end(name):
    assert info(name, ENDS, state=2)["nodes"] == 0


@pytest.mark.parametrize("simulations", [1, 2, 30])
def test_simulations(simulations):
    """Each simulation tries one action at the root and takes `depth` steps, or as many as there are to the end."""
    for name in ("bamcp", "uct", "bayesian-sparse-sampling"):
        found = info(name, RANDOM, simulations=simulations, depth=6)
        assert found["simulations"] == simulations == found["visits"].sum()
    assert info("bamcp", RANDOM, simulations=simulations, depth=6)["steps"] == 6 * simulations
    for depth, state in ((3, 0), (9, 0), (9, 3)):
        found = info("bamcp", CORRIDOR, state, simulations=simulations, depth=depth)
        assert found["steps"] == simulations * min(depth, 4 - state)
    assert info("bamcp", CORRIDOR, 4, simulations=simulations, depth=5)["steps"] == 0


def test_trajectories_until_the_bounds_meet():
    """FSSS: on a corridor one trajectory knows everything; at the end there is nothing to know."""
    for depth in (1, 3, 9):
        assert info("fsss", CORRIDOR, depth=depth, simulations=50)["simulations"] == 1
    assert info("fsss", CORRIDOR, 4, depth=3, simulations=50)["simulations"] == 0
    assert info("fsss", RANDOM, depth=6, simulations=3)["simulations"] == 3
