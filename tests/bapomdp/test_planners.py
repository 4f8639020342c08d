"""The laws of planners, for all that act on a hidden state: with a known model, and with one that is learnt."""

import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.beliefs import BoundedBAPOMDP, ExactBAPOMDP, MostProbableBAPOMDP, ParticleBAPOMDP, POMDPFilter
from bayesrl.errors import Incompatible
from bayesrl.models.pomdp import NOTHING
from bayesrl.registry import entries
from bayesrl.testing import check_agent, check_planner

WORLD = b.make_world("tiger-episodic")
BELIEFS = {
    "known": POMDPFilter(WORLD.pomdp),
    "exact": ExactBAPOMDP(WORLD.counts()),
    "bounded": BoundedBAPOMDP(WORLD.counts(), bound=12),
    "particle": ParticleBAPOMDP(WORLD.counts(), particles=30),
    "most-probable": MostProbableBAPOMDP(WORLD.counts(), particles=30),
}
PLANNERS = {e.name: e for e in entries().values() if e.package == "bapomdp" and e.kind == "planner"}


def pairs():
    """Every planner with every belief that it fits."""
    for name, entry in PLANNERS.items():
        fits = 0
        for kind, belief in BELIEFS.items():
            try:
                b.BayesAgent(belief, entry.example())
            except Incompatible:
                continue
            fits += 1
            yield pytest.param(name, belief, id=f"{name}-{kind}")
        assert fits, f"{name} fits no belief"


@pytest.mark.parametrize("name, belief", list(pairs()))
def test_planner_laws(name, belief):
    check_planner(PLANNERS[name].example(), belief, NOTHING, rng=default_rng(0))
    heard = belief.update(b.Transition(NOTHING, 0, -1.0, 1), default_rng(1))
    check_planner(PLANNERS[name].example(), heard, 1, rng=default_rng(0))


@pytest.mark.parametrize("name, belief", list(pairs()))
def test_agent_laws(name, belief):
    check_agent(b.BayesAgent(belief, PLANNERS[name].example()), WORLD, steps=10)
