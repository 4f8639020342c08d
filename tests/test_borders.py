"""Laws of agents at borders: what is kept, copied, stored or restarted between two calls changes no decision.

Every method that acts plays some short episodes. Then each decision is made once more, the last one first, with the
mind of that time: as it was kept, and from a pickle of agent and mind, as a process does that was started again. The
decision is the same, and so is the next one after the same lesson. So no call writes into a mind that it was given, and
no agent keeps anything besides it.
"""

import pickle
from itertools import islice

import numpy as np
import pytest
from actors import ACTORS, actor
from numpy.random import default_rng

import bayesrl as b
from bayesrl.capabilities import HasMeans, ListsArms, SamplesMeans, TakesFeatures
from bayesrl.core import BayesAgent, Streams, Transition, draw_world, play
from bayesrl.errors import BayesRLError
from bayesrl.live import LiveAgent
from bayesrl.registry import entries
from bayesrl.testing.stripped import stripped


def told(x):
    """A value as nested lists and numbers, which == compares."""
    if isinstance(x, dict):
        return {key: told(y) for key, y in x.items()}
    if isinstance(x, (tuple, list)):
        return [told(y) for y in x]
    return x.tolist() if isinstance(x, (np.ndarray, np.generic)) else repr(x)


class Diary:
    """An agent that notes its calls: minds, arguments, the states of the streams and the decisions."""

    def __init__(self, agent):
        self.agent, self.acts, self.lessons = agent, [], []

    def start(self):
        return self.agent.start()

    def act(self, mind, seen, rng):
        before = rng.bit_generator.state
        made = self.agent.act(mind, seen, rng)
        self.acts.append((mind, pickle.dumps(mind), seen, before, told((made.action, made.info))))
        return made

    def learn(self, mind, transition, rng):
        self.lessons.append((transition, rng.bit_generator.state))
        return self.agent.learn(mind, transition, rng)


def at(state):
    rng = default_rng(0)
    rng.bit_generator.state = state
    return rng


SLOW = {"action-oracle": 3, "bayes-risk": 3, "policy-prior-search": 5, "sboss": 5}
"""The steps of those whose decisions take long; the others take 8, in episodes of 3."""


def played(name):
    steps, horizon = SLOW.get(name, 8), min(3, SLOW.get(name, 8) - 1)
    agent, world = actor(name)
    streams, diary = Streams.of(1), Diary(agent)
    list(islice(play(diary, draw_world(world, streams), streams, horizon=horizon), steps))
    return diary


@pytest.mark.parametrize("name", ACTORS)
def test_a_mind_is_a_value_and_a_restart_changes_nothing(name):
    diary = played(name)
    agents = diary.agent, pickle.loads(pickle.dumps(diary.agent))
    for k in reversed(range(len(diary.acts) - 1)):
        (mind, pickled, seen, before, first), (*_, later, now, second) = diary.acts[k], diary.acts[k + 1]
        lesson, learning = diary.lessons[k]
        for agent, mine in zip(agents, (mind, pickle.loads(pickled)), strict=True):
            made = agent.act(mine, seen, at(before))
            assert told((made.action, made.info)) == first, f"decision {k} came out differently"
            after = agent.learn(made.memory, lesson, at(learning))
            made = agent.act(after, later, at(now))
            assert told((made.action, made.info)) == second, f"decision {k + 1} came out differently after a restart"


LEARN_FROM_ENDS = {"sampled-pomdps": "its models are weighed by the past, in which an end is evidence about the state"}
"""Planners whose decision depends on how an episode ended, with the reason."""


@pytest.mark.parametrize("name", [name for name in ACTORS if isinstance(actor(name)[0], BayesAgent)])
def test_a_planner_begins_anew_however_an_episode_ended(name):
    """After an end, true or by the horizon, the first decision of the next episode is the same."""
    agent, world = actor(name)
    streams = Streams.of(1)
    met = draw_world(world, streams)
    step = list(islice(play(agent, met, streams), 3))[-1]
    mind, first = step.mind, met.reset(default_rng(0))[1]
    found = []
    for how in ({"terminated": True}, {"truncated": True}):
        last = mind.last._replace(terminated=False, truncated=False)._replace(**how)
        belief = mind.belief.restart() if hasattr(mind.belief, "restart") else mind.belief
        made = agent.planner.plan(belief, first, mind.memory, default_rng(2), last)
        found.append(told((made.action, made.info)))
    assert (found[0] == found[1]) == (name not in LEARN_FROM_ENDS)


# Agents in service ---------------------------------------------------------------------------------------------------


ARMS = {n: e.example() for n, e in entries().items() if e.kind == "belief" and e.example}
ARMS = [n for n, belief in ARMS.items() if hasattr(belief, "sample_means") and not n.endswith("-bandit")]
"""Beliefs about arms of which one is chosen at a time."""


def context_of(belief):
    try:
        belief.mean(None)
    except BayesRLError:
        return np.eye(belief.n_weights)
    return None


def reward_of(belief, action, i):
    """A reward that the belief thinks possible, now zero and now not."""
    if hasattr(belief, "prices"):
        return float(belief.prices[action] * (i % 2))
    if hasattr(belief, "values"):
        return float(np.broadcast_to(belief.values, belief.alpha.shape)[action, i % 2])
    return 0.5 if type(belief).__name__ == "BinarisedRewards" else float(i % 2)


@pytest.mark.parametrize("name", ARMS)
def test_an_agent_in_service_is_that_of_a_run(name):
    """It decides and learns by the streams of a run with its seed, also if its belief draws when it learns."""
    belief = entries()[name].example()
    agent, streams, context = BayesAgent(belief, b.make("thompson")), Streams.of(4), context_of(belief)
    live, mind = LiveAgent(agent, seed=4), agent.start()
    for i in range(6):
        made = agent.act(mind, context, streams.planner)
        assert live.act(context) == made.action
        paid = reward_of(belief, made.action, i)
        live.learn(made.action, paid, context)
        mind = agent.learn(made.memory, Transition(context, made.action, paid, 0), streams.learning)
    for one, other in zip(live.streams, streams, strict=True):
        assert one.bit_generator.state == other.bit_generator.state


@pytest.mark.parametrize("bare", [False, True])
@pytest.mark.parametrize("name", ARMS)
def test_questions_neither_change_an_agent_nor_depend_on_those_before(name, bare):
    """A bare belief has no quantiles, so that intervals are drawn."""
    belief = entries()[name].example()
    shown = stripped(belief, (HasMeans, SamplesMeans, ListsArms, TakesFeatures)) if bare else belief
    live = LiveAgent(BayesAgent(shown, b.make("thompson")))
    context = context_of(belief)
    live.explain(context, draws=20)  # reasons of what a belief lacks are computed once, and then kept
    alone = LiveAgent(BayesAgent(shown, b.make("thompson")))
    for i in range(3):
        before = pickle.dumps(live)
        once, again = (told([live.probability(context, 20), live.explain(context, draws=20)]) for _ in range(2))
        assert once == again, "a question has another answer when it is asked again"
        assert pickle.dumps(live) == before, "a question has changed the agent"
        chosen = live.act(context)
        assert chosen == alone.act(context)
        for one in (live, alone):
            one.learn(chosen, reward_of(belief, chosen, i), context)
