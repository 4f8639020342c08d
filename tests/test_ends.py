"""Laws of ends: what every planner, agent and solution does at the end of an episode, and in the middle of a run.

An episode ends by the world (terminated) or by its horizon (truncated). To most methods an end means nothing. Some
begin anew: their next decision is that with an empty memory. Methods that learn values of states tell the two kinds of
ends apart, because a truncated episode would have gone on. A method that is in no table obeys the default, so a new one
is held to it.

Minds are values. A run goes on from a mind that was written to a file and read, and from one from which other runs
branched, as if nothing had happened.
"""

import dataclasses
import pickle
from itertools import islice, pairwise

import numpy as np
import pytest
from at_home import VARIANTS, after, agent_of
from numpy.random import default_rng

from bayesrl.bapomdp._asking import draw_models
from bayesrl.beliefs import DirichletMDP, RewardBeta, SparseDirichletMDP, UnknownRewards
from bayesrl.core import Streams, Transition, draw_world, play
from bayesrl.gradient._learner import Learning
from bayesrl.gradient._paths import path_of
from bayesrl.gradient.fisher import information
from bayesrl.kernels.search.history_tree import Tree
from bayesrl.registry import entries, make, make_world

HERE = ("bamdp", "bandits", "bapomdp", "continuous", "gradient", "risk", "value")
SOLUTIONS = ("bamdp-exact", "beetle", "finite-state-controller", "pbvi")
METHODS = [n for n, e in entries().items() if e.package in HERE and e.kind in ("planner", "agent")]
ALL = [*METHODS, *SOLUTIONS, *VARIANTS]
PLANNERS = [n for n in ALL if entries()[VARIANTS.get(n, (n,))[0]].kind != "agent"]
AGENTS = [n for n in ALL if n not in PLANNERS]
LEARNS_VALUES = ("bamcp", "bamcp that reuses its tree", "hmdp", "q-learning", "bayesian-q-learning")
LEARNS_VALUES += ("actor-critic", "bac", "gpsarsa")
"""An episode that is cut off would have gone on, so its last step is not like that of one that ended."""
BEGINS_ANEW = {
    "psrl": "a model is drawn for each episode",
    "psrl over a horizon": "a model is drawn for each episode",
    "policy-prior-search": "it remembers the steps of this episode",
    "bamdp-exact": "the decisions to go are those of an episode",
    "finite-state-controller": "an episode begins in the first node",
    "pomcp that reuses its tree": "its tree is about this episode",
    "ba-pomcp that reuses its tree": "its tree is about this episode",
}
FOLLOWS_STATES = ("sampled-pomdps", "medusa", "action-oracle", "bayes-risk")
"""They follow the hidden state in models of their own, which restart with the episode; what they count goes on. The
tiger's episodes never end by themselves, so they are only cut off."""
COUNTS = ("age", "answers", "asked", "solutions", "log_drawn", "log_now", "steps", "visits", "past")


def alike(one, two):
    """Whether two minds, memories or decisions hold the same, apart from how a step that they remember ended."""
    if isinstance(one, Transition):
        return isinstance(two, Transition) and alike(tuple(one[:4]), tuple(two[:4]))
    if isinstance(one, Tree):  # which has rows that are not used yet
        return isinstance(two, Tree)
    if isinstance(one, np.ndarray) or isinstance(two, np.ndarray):
        return np.array_equal(one, two, equal_nan=np.asarray(one).dtype.kind == "f")
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(alike(one[key], two[key]) for key in one)
    if isinstance(one, (tuple, list)) and type(one) is type(two):
        return len(one) == len(two) and all(map(alike, one, two))
    return type(one) is type(two) and bool(one == two)


def restarted(belief):
    """Whether the states that a belief follows are those of the first step of an episode."""
    if hasattr(belief, "per_model"):
        return alike(belief.per_model(), belief.restart().per_model())
    return alike(belief.states(), belief.restart().states())


def counted(mind):
    """What a mind counts, by name, also inside it."""
    found = {}
    for name in getattr(mind, "_fields", ()):
        if name in COUNTS:
            found[name] = getattr(mind, name)
        elif hasattr(getattr(mind, name), "_fields"):
            found |= counted(getattr(mind, name))
    return found


# Ends ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("steps", [1, 5])
@pytest.mark.parametrize("name", PLANNERS)
def test_what_an_end_means_to_a_planner(name, steps):
    planner, (mind, seen) = agent_of(name)[0].planner, after(name, 1, steps)
    cut, over = mind.last._replace(truncated=True), mind.last._replace(terminated=True)
    on, at_cut = (planner.plan(mind.belief, seen, mind.memory, default_rng(0), last) for last in (mind.last, cut))
    if name in FOLLOWS_STATES:
        assert alike(counted(on.memory), counted(at_cut.memory))
        assert all(restarted(model.filter) for model in at_cut.memory.models)
        return
    if name not in LEARNS_VALUES:
        at_end = planner.plan(mind.belief, seen, mind.memory, default_rng(0), over)
        assert alike(at_cut, at_end), "the two kinds of ends"
    fresh = planner.plan(mind.belief, seen, planner.start(), default_rng(0), cut)
    assert alike(at_cut, fresh if name in BEGINS_ANEW else on)


@pytest.mark.parametrize("steps", [1, 5, 8])
@pytest.mark.parametrize("name", AGENTS)
def test_what_an_end_means_to_an_agent(name, steps):
    agent, world = agent_of(name)
    streams = Streams.of(2)
    *_, step = islice(play(agent, draw_world(world, streams), streams), steps)
    before, t = step.decision.memory, step.transition._replace(terminated=False, truncated=False)
    cut = t._replace(truncated=True)
    on, at_cut = (agent.learn(before, last, default_rng(0)) for last in (t, cut))
    if name in FOLLOWS_STATES:
        assert alike(counted(on), counted(at_cut))
        present = at_cut if name == "medusa" else at_cut.drawn
        assert restarted(present.belief)
        assert name == "medusa" or restarted(draw_models(agent, at_cut, default_rng(1)).belief)
    elif name not in LEARNS_VALUES:
        at_end = agent.learn(before, t._replace(terminated=True), default_rng(0))
        assert alike(at_cut, at_end), "the two kinds of ends"


def test_each_name_of_a_table_is_a_method():
    assert {*LEARNS_VALUES, *BEGINS_ANEW, *FOLLOWS_STATES} <= {*ALL}


# Minds are values ----------------------------------------------------------------------------------------------------


class Interrupted:
    """An agent whose mind goes through a file before every call, and from which other runs branch."""

    def __init__(self, agent):
        self.agent = agent

    def start(self):
        return self.agent.start()

    def act(self, mind, observation, rng):
        self.agent.act(mind, observation, default_rng(7))
        return self.agent.act(pickle.loads(pickle.dumps(mind)), observation, rng)

    def learn(self, mind, transition, rng):
        ended = transition._replace(truncated=not transition.terminated)
        other = self.agent.learn(mind, ended, default_rng(8))
        self.agent.act(other, transition.observation, default_rng(9))
        return self.agent.learn(pickle.loads(pickle.dumps(mind)), transition, rng)


@pytest.mark.parametrize("name", ALL)
def test_a_run_goes_on_after_an_interruption(name):
    agent, world = agent_of(name)
    runs = []
    for one in (agent, Interrupted(agent)):
        streams = Streams.of(3)
        played = islice(play(one, draw_world(world, streams), streams, horizon=3), 8)
        runs.append([(step.transition, step.decision.info) for step in played])
    assert alike(*runs)


# What is kept --------------------------------------------------------------------------------------------------------

KEEPS = ("psrl", "boss", "sboss", "smart-sampler", "sampled-pomdps", "lazy-psrl", "rmax")
KEEPS += ("bayesian-dp every third step", "value-of-information that reweights", "lazy-psrl every third step")
"""Planners that draw models or plan only when something happened: the belief moved, an end, some steps."""


@pytest.mark.parametrize("name", KEEPS)
def test_what_was_drawn_or_solved_is_kept_while_nothing_happens(name):
    planner, (mind, seen) = agent_of(name)[0].planner, after(name, 1, 3)
    one = planner.plan(mind.belief, seen, mind.memory, default_rng(1), mind.last)
    two = planner.plan(mind.belief, seen, one.memory, default_rng(2), None)
    assert alike(one.action, two.action)
    for key in {"q", "gain", "vpi", "weights", "risks"} & one.info.keys():
        np.testing.assert_array_equal(one.info[key], two.info[key])


@pytest.mark.parametrize("name", AGENTS)
def test_asking_again_teaches_nothing(name):
    """The first decision may learn from the step before it, and the second is asked of that mind."""
    agent, (mind, seen) = agent_of(name)[0], after(name, 1)
    one = agent.act(mind, seen, default_rng(0))
    two = agent.act(one.memory, seen, default_rng(0))
    three = agent.act(two.memory, seen, default_rng(0))
    assert alike((two.action, two.info), (three.action, three.info))


class Watched:
    """A belief that remembers the counts that it gave to a search."""

    def __init__(self, belief):
        self.belief, self.given = belief, []

    def __getattr__(self, name):
        return getattr(self.belief, name)

    def enumerable(self, depth):
        m = self.belief.enumerable(depth)
        self.given.append((m, pickle.loads(pickle.dumps(m))))
        return m


TREES = ("forward-search", "branch-and-bound", "bop", "hmdp", "bayesian-sparse-sampling")
BELIEFS = {
    "flat": lambda: DirichletMDP.flat(make_world("chain")),
    "sparse": lambda: SparseDirichletMDP.flat(make_world("chain")),
    "tied": lambda: DirichletMDP.structured(make_world("chain-tied")),
    "unknown rewards": lambda: UnknownRewards(
        DirichletMDP.flat(make_world("chain")), RewardBeta(np.ones((5, 2)), np.full((5, 2), 2.0))
    ),
}


@pytest.mark.parametrize("kind", BELIEFS)
@pytest.mark.parametrize("name", TREES)
def test_a_search_takes_back_what_it_imagined(name, kind):
    belief = Watched(BELIEFS[kind]())
    make(name, **({"nodes": 40} if name == "bop" else {"depth": 3})).plan(belief, 0, None, default_rng(0))
    assert belief.given
    for after_it, before in belief.given:
        for field in before._fields:
            if field != "weights":  # a table that fills itself
                one, two = getattr(after_it, field), getattr(before, field)
                np.testing.assert_allclose(one, two, rtol=1e-12, atol=0.0, err_msg=field)


# Batches of episodes -------------------------------------------------------------------------------------------------

LEARNERS = [n for n, e in entries().items() if e.kind == "agent" and e.package == "gradient"]


def learnt(agent, mind, episodes):
    for step in (step for episode in episodes for step in episode):
        mind = agent.learn(mind, step, default_rng(0))
    return mind


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("name", LEARNERS)
def test_the_order_of_the_episodes_of_a_batch_does_not_matter(name, exact):
    agent, world = agent_of(name)
    if exact:
        if name != "bac":
            return
        agent = dataclasses.replace(agent, threshold=None)
    played = [step.transition for step in islice(play(agent_of("reinforce")[0], world, Streams.of(5), horizon=6), 40)]
    ends = [0, *(i + 1 for i, step in enumerate(played) if step.ends_episode)]
    short, long = sorted((played[i:j] for i, j in pairwise(ends)), key=len)[:: len(ends) - 2]
    batches = ([long[:3], short], [long, short], [long[:-1], long])
    for one, two in batches:
        one, two = ([*episode[:-1], episode[-1]._replace(truncated=True)] for episode in (one, two))
        forwards, backwards = (learnt(agent, agent.start(), pair) for pair in ([one, two], [two, one]))
        assert forwards.updates == backwards.updates == 1
        np.testing.assert_allclose(forwards.policy.parameters, backwards.policy.parameters, rtol=1e-7, atol=1e-9)
        assert not forwards.paths
        assert not forwards.episode


def drawn_by_hand(agent, paths_of_batches):
    """The minds after batches, by the rule of one update."""
    mind = agent.start()
    for paths in paths_of_batches:
        unit, gamma, decay = agent.fisher
        paths = tuple(path_of("test", steps, mind.policy) for steps in paths)
        known = mind.information.after(information(paths, mind.policy, unit, gamma), decay)
        policy, gradient, search = agent._improve(mind, paths, known.mean)
        mind = Learning(policy, information=known, updates=mind.updates + 1, gradient=gradient, search=search)
        yield mind


@pytest.mark.parametrize("direction", ["plain", "natural", "conjugate"])
@pytest.mark.parametrize("name", LEARNERS)
def test_a_learner_carries_on_all_that_an_update_found(name, direction):
    agent, world = agent_of(name)
    if direction != "plain":
        if not hasattr(agent, "direction"):
            return
        agent = dataclasses.replace(agent, direction=direction)
    played = [step.transition for step in islice(play(agent_of("reinforce")[0], world, Streams.of(6), horizon=5), 60)]
    ends = [0, *(i + 1 for i, step in enumerate(played) if step.ends_episode)]
    episodes = [played[i:j] for i, j in pairwise(ends)][:8]
    batches = [episodes[i : i + 2] for i in range(0, 8, 2)]
    mind = agent.start()
    for batch, expected in zip(batches, drawn_by_hand(agent, batches), strict=True):
        mind = learnt(agent, mind, batch)
        assert alike(mind, expected)


# Lockstep ------------------------------------------------------------------------------------------------------------

TOGETHER = ("ucb1", "bayes-ucb", "gittins", "finite-horizon-index", "bayes-optimal-bandit", "information-directed")
TOGETHER += ("bayes-optimal-bandit to a horizon", "certainty-equivalence")
WIDE = ("gittins", "finite-horizon-index")
"""Their indices are the middles of intervals that are 2e-7 wide."""


@pytest.mark.parametrize("name", TOGETHER)
def test_replicates_in_lockstep_are_planned_for_as_alone(name):
    """Each with the belief and the memory of its own past; replicates soon differ."""
    agent, world = agent_of(name)
    alone, rounding = [agent.start() for _ in range(3)], 2e-7 if name in WIDE else 1e-12
    streams = Streams.of(4, 0, True)
    for step in islice(play(agent.batch(3), draw_world(world, streams, 3), streams, lockstep=3), 9):
        t = step.transition
        for i in range(3):
            seen = t.observation if np.ndim(t.observation) == 0 else t.observation[i]
            decision = agent.act(alone[i], seen, default_rng(0))
            for key in {"q", "gain"} & decision.info.keys():
                np.testing.assert_allclose(decision.info[key], step.decision.info[key][i], rtol=1e-9, atol=rounding)
            after_it = t.next_observation if np.ndim(t.next_observation) == 0 else t.next_observation[i]
            datum = Transition(seen, t.action[i], float(t.reward[i]), after_it)
            alone[i] = agent.learn(decision.memory, datum, default_rng(0))
