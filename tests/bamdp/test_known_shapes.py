"""Planners on known problems of other shapes: more than two actions, rewards below zero, ends, leaves above zero.

Where everything is known and certain, one draw is as good as the expectation, so that searches are exact too.
"""

from dataclasses import fields, replace

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.solve import finite_horizon, solve
from bayesrl.registry import entries

DEPTH = 4
PLANNERS = {e.name: e for e in entries().values() if e.package == "bamdp" and e.kind == "planner"}
SEARCHES = (
    "forward-search", "branch-and-bound", "bop", "hmdp", "sparse-sampling", "fsss", "bayesian-sparse-sampling", "bfs3",
)  # fmt: skip
UNTIL_BEST = ("bop", "fsss")
"""They end when one action is known to be best. The values of the others are estimates."""
AVERAGES = ("uct", "bamcp")
"""Their values are means over simulations, some of which take worse actions."""


def certain(actions, low, high, ends):
    """Five states; each action leads to one of them. The last action is best in some states."""
    rng = default_rng(11)
    P, R = np.eye(5)[rng.integers(5, size=(5, actions))], rng.uniform(low, high, (5, actions))
    R[:3, -1] = high
    return TabularMDP.from_dense(P, R, 0.9, terminal=[4] if ends else [])


PROBLEMS = {
    "one action": certain(1, -1.0, 1.0, False),
    "three actions, losses": certain(3, -5.0, -1.0, False),
    "three actions, an end": certain(3, -2.0, 1.0, True),
    "four actions, gains": certain(4, 2.0, 3.0, False),
}


def q_of(planner, belief, s):
    agent = b.BayesAgent(belief, planner)
    return agent.act(agent.start(), s, default_rng(0)).info["q"]


def assert_searched(name, found, q):
    """The exact values; where a search ends early, that of what is best."""
    top = q >= q.max() - 1e-7 if name in UNTIL_BEST else np.ones(len(q), bool)
    np.testing.assert_allclose(found[top], q[top], atol=1e-7)
    assert found.max() <= q.max() + 1e-7


def made(name, **given):
    """The example of this name, with enough simulations to search five states."""
    planner = PLANNERS[name].example()
    known = {field.name for field in fields(planner)}
    wanted = {"depth": DEPTH, "simulations": 1000, "nodes": 1000} | given
    return replace(planner, **{key: x for key, x in wanted.items() if key in known})


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_has_the_exact_values(name, problem):
    mdp = PROBLEMS[problem]
    known, q = b.DirichletMDP.structured(mdp, known=True), finite_horizon(mdp, DEPTH).q
    for s in range(5):
        assert_searched(name, q_of(made(name), known, s), q[s])


@pytest.mark.parametrize("problem", [p for p in PROBLEMS if "one" not in p])
@pytest.mark.parametrize("name", [n for n in (*SEARCHES, *AVERAGES) if hasattr(PLANNERS[n].example(), "leaf")])
def test_leaves_of_the_mean_model_make_a_search_exact(name, problem):
    """The mean of what is known is the truth, so that the value of a leaf is that of going on for ever."""
    mdp = PROBLEMS[problem]
    known, q = b.DirichletMDP.structured(mdp, known=True), solve(mdp).q
    for s in range(5):
        found = q_of(made(name, leaf="mean"), known, s)
        if name in SEARCHES:
            assert_searched(name, found, q[s])
        else:
            assert (found <= q[s] + 1e-7).all()
