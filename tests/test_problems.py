"""What worlds offer: each protocol of problems.py is offered by some world, and `offers` tells which."""

import inspect

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl import problems
from bayesrl.capabilities import members, offers
from bayesrl.errors import BayesRLError, InvalidArgument
from bayesrl.lab.build import agent_for
from bayesrl.lab.literature.suggestions import suggestions_for
from bayesrl.lab.literature.suggestions_by_world import BY_WORLD
from bayesrl.models.mdp import find_mdp, find_outcomes, mdp_of
from bayesrl.models.pomdp import TabularPOMDP, find_pomdp, pomdp_of
from bayesrl.registry import PACKAGES, entries, make_world, worlds
from bayesrl.worlds.hidden import POMDPWorld
from bayesrl.worlds.pomdps.rock_sample import rock_sample
from bayesrl.worlds.tabular import MDPWorld

PROTOCOLS = {
    name: kind
    for name, kind in vars(problems).items()
    if getattr(kind, "_is_protocol", False) and kind.__module__ == problems.__name__
}
WORLDS = {entry.name: make_world(entry.name) for entry in worlds()}
FOREIGN = {"GymnasiumEnvironment", "Copies"}
"""What no registered world offers."""
LARGE = {"Simulable", "WeighsObservations", "BoundsRewards"}
"""What a world offers that is too large for a table."""


@pytest.mark.parametrize("name", sorted(PROTOCOLS.keys() - FOREIGN))
def test_some_world_offers_it(name):
    found = [rock_sample(15, 15)] if name in LARGE else WORLDS.values()
    kind = PROTOCOLS[name]
    offering = [world for world in found if offers(world, kind)]
    assert offering
    for world in offering:
        for member in members(kind):
            getattr(world, member)  # what is offered can be read


def test_a_member_has_one_meaning():
    """No two protocols declare a member of the same name, but for what they inherit."""
    own = [(m, name) for name, kind in PROTOCOLS.items() for m in members(kind) if m in vars(kind)]
    names = [member for member, _ in own]
    assert len(names) == len(set(names)), sorted(own)


def test_every_protocol_and_member_says_what_it_is():
    for kind in PROTOCOLS.values():
        assert kind.__doc__
        assert all(inspect.getdoc(vars(kind)[m]) for m in members(kind) if m in vars(kind))


def test_a_family_says_that_it_has_no_table():
    family = make_world("gc")
    assert not any(offers(make_world(name), problems.HasMDP) for name in ("gc", "random-mdp", "machine-costs"))
    assert offers(family, problems.HasOutcomeCounts)
    assert find_mdp(family) is None
    assert find_outcomes(family) is family.outcomes
    with pytest.raises(InvalidArgument, match=r"^solve: 'problem' must be a TabularMDP .*draw\(rng\) a world first\.$"):
        mdp_of(family)
    with pytest.raises(InvalidArgument, match="a single world, got 'gc'"):
        family.mdp  # noqa: B018 (it is refused)


def test_the_model_in_a_thing():
    chain, tiger = make_world("chain"), make_world("tiger")
    assert find_mdp(chain) is find_mdp(chain.mdp) is mdp_of(chain) is chain.mdp
    assert find_outcomes(chain) is find_outcomes(chain.mdp) is find_outcomes(chain.mdp.outcomes) is chain.mdp.outcomes
    assert find_pomdp(tiger) is find_pomdp(tiger.pomdp) is pomdp_of(tiger, "me") is tiger.pomdp
    assert find_pomdp(chain) is find_pomdp(chain.mdp) is find_outcomes(3) is find_mdp("chain") is None
    with pytest.raises(InvalidArgument, match=r"^me: 'problem' must be a TabularPOMDP.*, got 'MDPWorld'"):
        pomdp_of(chain, "me")


def test_answers_to_common_questions():
    class Silent:
        """A world that says nothing."""

    chain, tiger, blimp = make_world("chain"), make_world("tiger"), make_world("blimp")
    assert [problems.name_of(world) for world in (chain, Silent())] == ["chain", "Silent"]
    assert [problems.is_hidden(world) for world in (chain, tiger, blimp, Silent())] == [False, True, False, False]
    assert problems.is_hidden(make_world("blimp", hidden=True))
    assert [problems.may_end(world) for world in (chain, blimp, Silent())] == [False, False, True]
    assert [problems.discount_of(world) for world in (blimp, Silent())] == [0.95, 1.0]
    assert problems.action_names(tiger, 3) == ("listen", "open-left", "open-right")
    assert problems.action_names(Silent(), 2) == problems.action_names(make_world("random-walk"), 2) == ("0", "1")
    assert problems.layout_of(Silent()) is problems.preferred_of(tiger) is problems.legal_of(Silent()) is None
    assert problems.layout_of(make_world("grid5")).shape == (1, 5, 5)
    assert problems.legal_of(make_world("rock-sample")).shape == (257, 9)


# What a world leaves unknown -----------------------------------------------------------------------------------------


def test_the_prior_over_models_and_its_old_word():
    tiger, oracle = make_world("tiger"), make_world("asking-for-state")
    assert tiger.model_prior() == tiger.counts() == oracle.model_prior() == oracle.counts()


@pytest.mark.parametrize("method", ["medusa", "action-oracle", "bayes-risk"])
@pytest.mark.parametrize("world", ["gc", "gdl", "grid-bbrl"])
def test_counts_of_a_family_are_no_prior_over_models(method, world):
    """A family has `counts` too: an array. It ended in a TypeError."""
    with pytest.raises(BayesRLError, match=method):
        agent_for(method, make_world(world))


# Arguments that suit a method in a world -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", WORLDS)
def test_suggestions_name_methods_and_their_parameters(name):
    known = entries()
    for owner, arguments in suggestions_for(WORLDS[name]).items():
        if owner in PACKAGES:
            taken = {key for entry in known.values() if entry.package == owner for key in entry.parameters}
        else:
            taken = set(known[owner].parameters)
        assert arguments.keys() <= taken, f"{name}: {owner}"


def test_every_suggestion_is_for_a_world():
    names = {world.registered for world in WORLDS.values() if offers(world, problems.Registered)}
    assert not BY_WORLD.keys() - names
    assert sum(bool(suggestions_for(world)) for world in WORLDS.values()) == 18


def test_a_users_world_states_its_own():
    P, O = [[[1.0]]], [[[0.5, 0.5]]]
    pomdp = TabularPOMDP.from_dense(P, O, [[0.0]], gamma=0.5)
    own = {"pomcp": {"simulations": 7}}
    assert suggestions_for(POMDPWorld("mine", pomdp, defaults=own)) == own
    assert agent_for("pomcp", POMDPWorld("mine", pomdp, defaults=own)).planner.simulations == 7
    assert suggestions_for(POMDPWorld("mine", pomdp)) == suggestions_for(POMDPWorld("tiger", pomdp, defaults={})) == {}

    class Mine(MDPWorld):
        """A world with suggestions of its own."""

        defaults = {"beb": {"beta": 5.0}}  # noqa: RUF012 (a user's class)

    chain = make_world("chain")
    assert agent_for("beb", Mine("mine", chain.mdp, chain.setting)).planner.beta == 5.0


def test_a_file_is_not_the_registered_world(tmp_path):
    """A file may have the name of a world whose methods have suggestions."""
    from bayesrl.models.pomdp_file import write_pomdp

    path = tmp_path / "tiger.pomdp"
    write_pomdp(make_world("tiger").pomdp, path)
    read = POMDPWorld.from_file(path)
    assert (read.name, suggestions_for(read)) == ("tiger", {})


def test_a_drawn_world_has_the_suggestions_of_its_family():
    family = make_world("continuous-bandit", dims=2, scale=0.5)
    drawn = suggestions_for(family.draw(default_rng(0)))["gp-sparse-sampling"]
    np.testing.assert_array_equal(drawn["high"], [1.0, 1.0])
    game = make_world("two-agent-chain").draw(default_rng(0))
    assert b.run(agent_for("bayesian-marl", game), game, 3).action.shape == (3,)
