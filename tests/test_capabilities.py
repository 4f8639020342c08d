"""Capabilities: what planners declare is what they ask, and what does not fit is refused with a name."""

from typing import ClassVar

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl import capabilities
from bayesrl.beliefs import BetaBernoulli, GaussianRewards, RewardBeta, RewardNormal, SparseDirichletMDP, UnknownRewards
from bayesrl.capabilities import HasMeanMDP, Restarts, SamplesMDPs, Simulates, lacking, members, offers
from bayesrl.errors import Incompatible
from bayesrl.lab.priors import prior_for
from bayesrl.registry import entries
from bayesrl.testing import check_needs
from bayesrl.testing.stripped import stripped

PLANNERS = {name: e for name, e in entries().items() if e.kind == "planner"}
WORLDS = {"bamdp": "chain", "bandits": "bernoulli", "bapomdp": "tiger", "continuous": "lq-system"}
WORLDS |= {"risk": "machine-repair"}
OWN_WORLDS = {"thompson-combinatorial": b.make_world("combinatorial", suggestions=2)}
OWN_WORLDS |= {"gp-sparse-sampling": b.make_world("continuous-bandit")}
OWN_WORLDS |= {"continuous-forward-search": b.make_world("blimp")}
PARTS = {"Needy", "FeatureRewards", "RewardPrior", "Predictive"}
"""Protocols of a planner, and of what beliefs answer."""
PROTOCOLS = [
    x
    for x in (getattr(capabilities, name) for name in capabilities.__all__)
    if getattr(x, "_is_protocol", False) and x.__name__ not in PARTS
]


def home(name):
    return OWN_WORLDS.get(name) or b.make_world(WORLDS[PLANNERS[name].factory.__module__.split(".")[1]])


def fitting(name, world):
    """A prior that a planner fits. If the state is hidden, the model may be known or not."""
    if not getattr(world, "hidden", False):
        return prior_for(world)
    beliefs = [b.beliefs.POMDPFilter(world.pomdp), b.beliefs.ExactBAPOMDP(world.model_prior())]
    return next(x for x in beliefs if not any(lacking(x, need) for need in PLANNERS[name].factory.needs))


@pytest.mark.parametrize("name", PLANNERS)
def test_a_belief_stripped_to_the_needs_still_plans(name):
    world = home(name)
    check_needs(PLANNERS[name].example(), fitting(name, world), world)


@pytest.mark.parametrize("name", [n for n, e in PLANNERS.items() if "bamdp" in e.factory.__module__])
def test_also_with_unknown_rewards_and_sparse_rows(name):
    """Where the pair fits at all."""
    world = b.make_world("chain")
    moves = b.DirichletMDP.flat(world)
    priors = [
        UnknownRewards(moves, RewardBeta(np.ones((5, 2)), np.ones((5, 2)), low=0.0, high=10.0)),
        UnknownRewards(moves, RewardNormal(*(np.full((5, 2), x) for x in (0.0, 1.0, 2.0, 1.0)))),
        SparseDirichletMDP.flat(world),
    ]
    for prior in priors:
        planner = PLANNERS[name].example()
        try:
            agent = b.BayesAgent(prior, planner)
        except (Incompatible, b.errors.InvalidArgument):
            continue
        bare = b.BayesAgent(stripped(prior, planner.needs), planner)
        for state in (0, 4):
            one = agent.act(agent.start(), state, default_rng(0))
            two = bare.act(bare.start(), state, default_rng(0))
            assert one.action == two.action


def test_a_stripped_belief_answers_nothing_else():
    """The law could not fail without this."""
    prior = stripped(b.DirichletMDP.flat(b.make_world("chain")), (HasMeanMDP,))
    assert prior.n_states == 5
    assert prior.mean_mdp().n_states == 5
    with pytest.raises(AttributeError, match="asked its belief for 'counts', which is not among its needs"):
        prior.counts()


def test_a_planner_that_asks_for_more_than_it_names_fails_the_law():
    class Sly:
        needs: ClassVar = (HasMeanMDP,)

        def start(self):
            return None

        def plan(self, belief: HasMeanMDP, observation, memory, rng, last=None):
            belief.counts()
            return b.Decision(0, None, {})

    world = b.make_world("chain")
    with pytest.raises(AttributeError, match="'counts', which is not among its needs"):
        check_needs(Sly(), prior_for(world), world)


def test_misfits_are_refused_when_the_agent_is_made():
    world = b.make_world("chain")
    with pytest.raises(Incompatible) as wrong:
        b.BayesAgent(BetaBernoulli.uniform(2), b.make("psrl"))
    assert "sample_mdp" in wrong.value.missing
    assert "PSRL needs a belief with" in str(wrong.value)
    with pytest.raises(Incompatible, match=r"psrl") as wrong:
        b.BayesAgent(b.DirichletMDP.flat(world), b.make("thompson"))
    assert "bandit" in str(wrong.value)


def test_a_belief_says_what_it_cannot_offer_and_why():
    prior = UnknownRewards(
        b.DirichletMDP.flat(b.make_world("chain")),
        RewardNormal(*(np.full((5, 2), x) for x in (0.0, 1.0, 2.0, 1.0))),
    )
    assert "simulate" in lacking(prior, Simulates)
    assert offers(prior, SamplesMDPs)
    with pytest.raises(Incompatible, match="do not take finitely many values"):
        b.BayesAgent(prior, b.make("bamcp"))


def test_members_are_those_of_the_parents_too():
    assert members(SamplesMDPs) == ("n_states", "n_actions", "gamma", "sample_mdp")
    assert members(Restarts) == ("restart",)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.__name__)
def test_every_capability_is_documented_and_offered_by_somebody(protocol):
    assert protocol.__doc__
    for name in members(protocol):
        own = next(vars(p)[name] for p in protocol.__mro__ if name in vars(p))
        assert (own.fget if isinstance(own, property) else own).__doc__, name
    beliefs = [e.example() for e in entries().values() if e.kind == "belief" and e.example]
    beliefs.append(GaussianRewards(b.make_world("chain").mdp, np.zeros((5, 2)), np.eye(10)))
    assert any(offers(belief, protocol) for belief in beliefs)
