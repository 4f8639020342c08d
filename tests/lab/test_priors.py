"""Priors by name."""

import pickle

import numpy as np
import pytest

import bayesrl as b
from bayesrl.beliefs import SparseDirichletMDP
from bayesrl.errors import BayesRLError, Incompatible, InvalidArgument, UnknownName
from bayesrl.lab.build import world_for
from bayesrl.lab.priors import SHORT, prior_for, same_prior, ways
from bayesrl.registry import entries


def test_the_sparse_prior():
    """By default the published one: counts .2 on a support whose size k has weight k^-2."""
    grid = b.make_world("grid5")
    assert prior_for(grid, "sparse") == SparseDirichletMDP.flat(grid, concentration=0.2, size_exponent=2.0)
    assert prior_for(grid, "sparse:1/2") == SparseDirichletMDP.flat(grid, 0.5, 2.0)


def test_what_is_left_out():
    chain = b.make_world("chain")
    np.testing.assert_array_equal(prior_for(chain, "flat").alpha, np.ones((10, 5)))
    np.testing.assert_array_equal(prior_for(b.make_world("chain-tied"), "structured").alpha, np.ones((1, 2)))
    assert prior_for(chain) == prior_for(chain, chain.prior)


@pytest.mark.parametrize("amount", ["0", "-1", "x", "1/0", ""])
def test_a_bad_concentration(amount):
    expected = "sparse: 'concentration' must be greater than 0, got" if amount else "'spec' must be NAME, NAME:VALUE"
    with pytest.raises(InvalidArgument, match=expected):
        prior_for(b.make_world("grid5"), f"sparse:{amount}")


def test_parameters_of_priors_by_name():
    grid = b.make_world("grid5")
    assert prior_for(grid, "sparse:concentration=1/2,size_exponent=1") == SparseDirichletMDP.flat(grid, 0.5, 1.0)
    assert prior_for(grid, "sparse-dirichlet") == prior_for(grid, "sparse")
    with pytest.raises(UnknownName, match="no parameter of the prior sparse called 'size'"):
        prior_for(grid, "sparse:size=1")


def test_short_names_are_those_that_are_registered():
    registered = {way.name: way.belief.name for way in ways() if way.name != way.belief.name}
    assert registered == SHORT


def test_every_belief_says_how_it_is_made_or_what_takes_it():
    """And none says both."""
    beliefs = [e for e in entries().values() if e.kind == "belief" and e.factory.__module__.startswith("bayesrl.")]
    assert not [e.name for e in beliefs if bool(e.ways) == bool(e.taken_by)]
    for entry in beliefs:
        if entry.taken_by:
            with pytest.raises(InvalidArgument, match=f"got '{entry.name}'. It is taken by"):
                prior_for(b.make_world("chain"), entry.name)


def test_what_takes_a_belief_is_a_command_a_class_or_an_agent():
    for entry in entries().values():
        if entry.taken_by:
            word = entry.taken_by.split(" ")[0]
            known = set(dir(b.beliefs)) | {"bayesrl", "the"}
            assert word.removeprefix("beliefs.").split(".")[0].rstrip(",") in known, entry.name


def test_a_family_has_no_sparse_prior():
    with pytest.raises(Incompatible, match="The prior 'sparse' needs a problem with 'mdp', which gc lacks"):
        prior_for(b.make_world("gc"), "sparse")


def test_names_that_mean_the_same():
    assert same_prior("sparse", "sparse:.2")
    assert same_prior("flat:1/4", "flat:0.25")
    assert not same_prior("sparse", "flat:.2")
    assert not same_prior("accurate", "inaccurate")


# Hidden states -------------------------------------------------------------------------------------------------------


def test_priors_of_worlds_with_hidden_states():
    tiger = b.make_world("tiger")
    assert prior_for(tiger) == prior_for(tiger, "known") == b.beliefs.POMDPFilter(tiger.pomdp)
    assert prior_for(tiger, "exact") == b.beliefs.ExactBAPOMDP(tiger.counts())
    assert prior_for(tiger, "particle") == b.beliefs.ParticleBAPOMDP(tiger.counts(), particles=1000)
    assert prior_for(tiger, "particle:50") == b.beliefs.ParticleBAPOMDP(tiger.counts(), particles=50)
    assert prior_for(tiger, "bounded:12") == b.beliefs.BoundedBAPOMDP(tiger.counts(), bound=12)
    assert prior_for(tiger, "bounded") == b.beliefs.BoundedBAPOMDP(tiger.counts(), bound=8 + 20)


def test_the_filter_knows_what_rollouts_prefer():
    rocks = b.make_world("rock-sample")
    np.testing.assert_array_equal(prior_for(rocks).preferred_actions(), rocks.preferred)


@pytest.mark.parametrize("number", ["0", "-1", "x", "1/2", ""])
def test_a_bad_number_of_particles(number):
    expected = "'particles' must be a whole number of at least 1, got" if number else "'spec' must be NAME, NAME:VALUE"
    with pytest.raises(InvalidArgument, match=expected):
        prior_for(b.make_world("tiger"), f"particle:{number}")


def test_priors_that_hidden_worlds_do_not_have():
    with pytest.raises(Incompatible, match="The prior 'flat' needs a problem with 'mdp', which tiger lacks"):
        prior_for(b.make_world("tiger"), "flat")
    with pytest.raises(InvalidArgument, match="'particles' must be left out where the model is a table, got 3"):
        prior_for(b.make_world("tiger"), "known:3")


PLACES = [
    "logistic",
    "chain",
    "tiger",
    "bernoulli",
    "linear",
    "combinatorial",
    "blimp",
    "lq",
    "random-walk",
    "infinite-grid",
    "gc",
]
PLACES += ["two-agent-chain", "coalitions", "continuous-bandit", "combinatorial:feedback=full", "blimp:hidden=true"]
PLACES += [
    "robot-navigation",
    "chapelle-li-bandit",
    "contextual-shop",
    "online-shop",
    "rock-sample",
    "random-mdp",
    "logistic",
]
WANTS_MORE = {"factored-dbn", "gp-pomdp"}
"""Priors that fit none of these worlds without parameters."""


@pytest.mark.parametrize("way", ways(), ids=lambda way: way.name)
def test_a_prior_does_not_depend_on_those_made_before(way):
    """Made twice for the first world that it fits: also one that draws models."""
    fitted = False
    for place in PLACES:
        world = world_for(place)
        try:
            first = prior_for(world, way.name)
        except BayesRLError:
            continue
        assert pickle.dumps(prior_for(world, way.name)) == pickle.dumps(first)
        fitted = True
        break
    assert fitted == (way.name not in WANTS_MORE)
