"""The law of caches: a memory that is only a cache decides as a fresh one, whatever belief it comes from.

Every registered planner acts for some steps. Its memory is then used with the same belief, with a belief about another
run, with the prior, and with a belief of another discount. Planners whose memory is more than a cache are listed with
the reason, and what can be checked of them is.
"""

import dataclasses
import pickle

import numpy as np
import pytest
from at_home import HOMES, after, agent_of
from numpy.random import default_rng

import bayesrl as b
from bayesrl.bapomdp import _history_search
from bayesrl.core import BayesAgent
from bayesrl.models.mdp import TabularMDP
from bayesrl.registry import entries
from bayesrl.testing.laws import check_cache

TIME = "it counts the decisions"
DRAWN = "it acts on models that it has drawn, for a while"
MORE = {
    "bamcp": "its rollouts are learnt from all transitions",
    "bayes-ucb": TIME,
    "finite-horizon-index": TIME,
    "hmdp": "its leaves are learnt from all transitions",
    "boss": DRAWN,
    "lazy-psrl": DRAWN,
    "psrl": DRAWN,
    "sampled-pomdps": DRAWN,
    "sboss": DRAWN,
    "tsmdp": DRAWN,
    "value-of-information": "it weights models that it has drawn before",
    "mbie-eb": "it plans again after some steps only",
    "rmax": "it plans again when a pair becomes known",
}
"""Planners whose memory changes what they do, with the reason."""
VARIANTS = ("bolt over a depth", "pot over a depth", "beb by its theorem", "vbrb by its theorem")
"""Settings with which a memory is a cache of another kind."""
WARM = {"bolt", "pot", "gittins"}
"""Planners whose memory says where a solver starts: values then agree within its tolerance, 1e-6."""
PLANNERS = [
    n for n, e in entries().items() if e.kind == "planner" and e.package in HOMES and n != "coalition-formation"
]


def situations(name):
    """Beliefs and observations to plan with."""
    prior, (mind, seen), (other, elsewhere) = agent_of(name)[0].prior, after(name, 1), after(name, 2)
    yield from ((mind.belief, seen), (other.belief, elsewhere), (prior, elsewhere))
    if any(field.name == "gamma" for field in dataclasses.fields(prior)):
        yield dataclasses.replace(other.belief, gamma=0.4), elsewhere


@pytest.mark.parametrize("name", [*(name for name in PLANNERS if name not in MORE), *VARIANTS])
def test_a_kept_memory_plans_like_a_fresh_one(name):
    agent, _ = agent_of(name)
    assert isinstance(agent, BayesAgent)
    for belief, seen in situations(name):
        check_cache(agent.planner, belief, seen, after(name, 1)[0].memory, rounding=1e-6 * (name in WARM))


@pytest.mark.parametrize("name", MORE)
def test_memories_that_are_more_than_caches(name):
    """The reason is needed, since some decision or value differs; and it is the content of the memory that counts."""
    agent, memory = agent_of(name)[0], after(name, 1)[0].memory
    wrong = 0
    for belief, seen in situations(name):
        try:
            check_cache(agent.planner, belief, seen, memory)
        except AssertionError:
            wrong += 1
        again = pickle.loads(pickle.dumps(memory))
        one, two = (agent.planner.plan(belief, seen, m, default_rng(0)) for m in (memory, again))
        assert np.array_equal(one.action, two.action)
    assert wrong


@pytest.mark.parametrize("name", [name for name, reason in MORE.items() if reason is TIME])
def test_a_count_of_decisions_knows_no_belief(name):
    assert after(name, 1)[0].memory == after(name, 2)[0].memory == 5


def test_leaf_values_are_those_of_the_present_mean_model():
    """Of a posterior, and of a known model with the same probabilities and another discount or other rewards."""
    planner = b.make("ba-pomcp", leaf="mean", simulations=50, depth=2)
    belief = entries()["bapomdp-particle"].example()
    memory = planner.plan(belief, None, None, default_rng(0)).memory
    for seen in (0, 1, 1):
        belief = belief.update(b.Transition(None, 0, 0.0, seen), default_rng(1))
        check_cache(planner, belief, None, memory)
    planner = b.make("pomcp", leaf="mean", simulations=50, depth=2)
    known = entries()["pomdp-filter"].example()
    memory = planner.plan(known, None, None, default_rng(0)).memory
    mdp = known.pomdp.mdp
    doubled = mdp.outcomes.with_rewards(mdp.outcomes.reward * 2.0)
    for outcomes, gamma in ((mdp.outcomes, mdp.gamma), (mdp.outcomes, 0.3), (doubled, mdp.gamma)):
        other = dataclasses.replace(known.pomdp, mdp=TabularMDP.unchecked(outcomes, mdp.prob, gamma))
        check_cache(planner, dataclasses.replace(known, pomdp=other), None, memory)


class Table(b.beliefs.POMDPFilter):
    """A belief of one's own, whose mean model is always the same table."""

    def mean_pomdp(self):
        return self.pomdp


def test_leaf_values_are_kept_for_one_table_and_one_discount():
    planner = b.make("pomcp", leaf="mean", simulations=50, depth=2)
    pomdp = entries()["pomdp-filter"].example().pomdp
    memory = planner.plan(Table(pomdp), None, None, default_rng(0)).memory
    assert planner.plan(Table(pomdp), None, memory, default_rng(0)).memory.leaf is memory.leaf
    mdp = pomdp.mdp
    tilted = mdp.prob**2 + 0.1 * np.arange(mdp.prob.shape[1])
    for prob, gamma in ((mdp.prob, 0.3), (tilted / tilted.sum(axis=1, keepdims=True), mdp.gamma)):
        other = dataclasses.replace(pomdp, mdp=TabularMDP.unchecked(mdp.outcomes, prob, gamma))
        check_cache(planner, Table(other), None, memory)


@pytest.mark.parametrize("prior", ["pomdp-filter", "pomdp-particles"])
def test_a_run_in_a_known_model_solves_it_once(prior, monkeypatch):
    solved = []
    monkeypatch.setattr(_history_search, "solve", lambda mdp: solved.append(mdp) or b.solve(mdp))
    agent = b.agent("pomcp", "tiger", prior, leaf="mean", simulations=20, depth=3)
    b.run(agent, b.make_world("tiger"), steps=6)
    assert len(solved) == 1


@pytest.mark.parametrize("entry", ["succ", "reward", "group", "size", "otherwise", "terminal", "end"])
def test_leaf_values_are_not_kept_for_a_model_that_differs_in_one_entry(entry):
    mdp = entries()["pomdp-filter"].example().pomdp.mdp
    other = object.__new__(type(mdp.outcomes))
    own = getattr(mdp.outcomes, entry)
    other.__dict__.update(vars(mdp.outcomes) | {entry: 0 if own is None else own.copy()})
    assert _history_search._same(mdp, TabularMDP.unchecked(mdp.outcomes, mdp.prob, mdp.gamma))
    assert not _history_search._same(mdp, TabularMDP.unchecked(other, mdp.prob, mdp.gamma))
