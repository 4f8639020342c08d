"""The laws of planners for vector actions: legal, deterministic given rng, nothing changed, reproducible agents."""

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.core import Decision
from bayesrl.lab.priors import prior_for
from bayesrl.registry import entries
from bayesrl.testing import check_agent, check_planner

PLANNERS = {name: e for name, e in entries().items() if e.package == "continuous" and e.kind == "planner"}
HOMES = {"continuous-forward-search": "blimp"}
HOMES |= {"gp-sparse-sampling": "continuous-bandit", "lazy-psrl": "lq-system", "certainty-equivalence": "lq-system"}


@pytest.mark.parametrize("name", PLANNERS)
def test_planner_laws(name):
    world = b.make_world(HOMES[name])
    drawn = world.draw(default_rng(0)) if hasattr(world, "draw") else world
    _, observation = drawn.reset(default_rng(0))
    check_planner(PLANNERS[name].example(), prior_for(world), observation, rng=default_rng(0), box=drawn.actions)


@pytest.mark.parametrize("name", PLANNERS)
def test_agents_are_reproducible(name):
    world = b.make_world(HOMES[name])
    check_agent(b.BayesAgent(prior_for(world), PLANNERS[name].example()), world, steps=6)


@pytest.mark.parametrize("action, said", [
    (0, "not an array"), (np.array(0.5), "not a vector"), (np.array([0, 1]), "does not hold floats"),
    (np.array([np.nan]), "not finite"), (np.array([0.5, 0.5]), "coordinates of the box"),
    (np.array([1.5]), "outside the box"),
])  # fmt: skip
def test_the_law_can_fail(action, said):
    """A planner that gives something else than a vector of the box."""

    class Off:
        needs = ()

        def start(self):
            return None

        def plan(self, belief, observation, memory, rng, last=None):
            return Decision(action, None, {})

    family = b.make_world("continuous-bandit")
    with pytest.raises(AssertionError, match=said):
        check_planner(Off(), family.default_prior(), 0, rng=default_rng(0), box=family.actions)
