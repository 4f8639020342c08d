"""Laws of every world at borders: it is a function of its arguments, and what it keeps between calls changes nothing.

A world is walked, over ends of episodes. Then each of its steps is taken again, the last one first, in the world that
was walked, in a fresh one, and in a pickled one: the same state, action and random numbers give the same result, so no
kept row and no earlier step has a part in it. The states that were given out have not changed.
"""

import pickle

import numpy as np
import pytest
from numpy.random import default_rng
from scripts import actions_of

import bayesrl as b
from bayesrl.core import Family, Streams, draw_world, play
from bayesrl.errors import BayesRLError
from bayesrl.registry import make_world, worlds
from bayesrl.testing.randomness import Scripted
from bayesrl.worlds.continuous.maze_2d import GOAL

WORLDS = [entry.name for entry in worlds()]
SHORT = {"random-mdp": {"length": 3, "tasks": 3}, "coloured-maze": {"length": 3, "tasks": 3}}
"""Tasks that change within the walk."""
VECTORS = {"lq", "lq-system", "web-server"}
"""Worlds in lockstep whose actions are vectors."""


def world_of(name):
    world = make_world(name, **SHORT.get(name, {}))
    return world.draw(default_rng(1)) if isinstance(world, Family) else world


def walked(world, n=25):
    """Pairs of a call and its pickled result; a call is a method, its pickled arguments and the state of its stream."""
    rng, found, actions = default_rng(3), [], iter(actions_of(world, n))

    def call(method, *given):
        kept = method, pickle.dumps(given), rng.bit_generator.state
        made = getattr(world, method)(*given, rng)
        found.append((kept, pickle.dumps(tuple(made)), made, rng.bit_generator.state))
        return made

    state, _ = call("reset")
    for i, action in enumerate(actions):
        step = call("step", state, action)
        state = step[0]
        if step[3] or i % 10 == 9:
            state, _ = call("reset")
    return found


def taken_again(world, call):
    (method, given, before) = call
    rng = default_rng(0)
    rng.bit_generator.state = before
    made = getattr(world, method)(*pickle.loads(given), rng)
    return pickle.dumps(tuple(made)), rng.bit_generator.state


@pytest.mark.parametrize("name", WORLDS)
def test_a_world_is_a_function_of_its_arguments(name):
    world = world_of(name)
    found = walked(world)
    for call, result, made, after in reversed(found):
        assert pickle.dumps(tuple(made)) == result, "a result that was given out has changed"
        assert taken_again(world, call) == (result, after), f"{call[0]} gave another result in the same world"
    copy = pickle.loads(pickle.dumps(world))
    for place in (world_of(name), copy):
        for call, result, _, after in reversed(found):
            assert taken_again(place, call) == (result, after), f"{call[0]} gave another result in another instance"


@pytest.mark.parametrize("name", [n for n in WORLDS if hasattr(make_world(n), "batch")])
def test_a_batch_is_that_of_a_world_that_was_never_asked(name):
    """Whatever a world has been asked for, and keeps: its replicates in lockstep answer for themselves."""
    for make in (make_world, world_of):
        asked = make(name)
        one, many = answers(asked), answers(asked.batch(3))
        assert many == answers(make(name).batch(3))
        assert one == answers(asked), "batch has changed the world"
    world = world_of(name).batch(3)
    action = actions_of(world_of(name))[1]
    step = world.step(world.reset(default_rng(0))[0], np.array([action] * 3), default_rng(1))
    assert np.shape(step[2]) == (3,)


def answers(world):
    """What the public members of a world without arguments say, pickled, by name."""
    found = {}
    for name in dir(type(world)):
        if not name.startswith("_") and isinstance(vars_of(world, name), (property, cached)):
            try:
                found[name] = pickle.dumps(getattr(world, name))
            except (BayesRLError, AttributeError) as refused:
                found[name] = str(refused)
    return found


def vars_of(world, name):
    return next(vars(kind)[name] for kind in type(world).__mro__ if name in vars(kind))


cached = type(vars(b.worlds.tabular.MDPWorld)["gaps"])


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("horizon", [None, 3, 1])
def test_a_run_is_the_beginning_of_a_longer_one_and_episodes_follow_each_other(name, horizon):
    """Every column of n steps is that of the first n of more steps; and each row says whether an episode ended."""
    world = make_world(name, **SHORT.get(name, {}))
    script = Scripted(actions_of(world if hasattr(world, "actions") or hasattr(world, "n_actions") else world_of(name)))
    long = b.run(script, world, 9, horizon=horizon, keep=("state",))
    check_episodes_of(long, horizon if horizon or not hasattr(world, "horizon") else world.horizon)
    for n in (1, 2, 3, 4, 8):
        short = b.run(script, world, n, horizon=horizon, keep=("state",)).columns
        for column in long.columns.keys() | short.keys():
            rest = np.zeros(9, int)  # a column of tasks is left out where all are 0
            x, y = short.get(column, rest[:n]), long.columns.get(column, rest)[:n]
            assert list(map(repr, x)) == list(map(repr, y)), column


def check_episodes_of(record, horizon):
    """Rows follow each other within an episode, which ends in one of two ways."""
    age = 0
    c = record.columns
    for t in range(len(record)):
        age += 1
        ended, cut = bool(c["terminated"][t]), bool(c["truncated"][t])
        assert cut == (age == horizon and not ended)
        if ended or cut:
            age = 0
        elif t + 1 < len(record):
            assert repr(c["next_observation"][t]) == repr(c["observation"][t + 1])


@pytest.mark.parametrize("name", WORLDS)
def test_an_episode_begins_where_the_world_resets(name):
    """After an end, true or by the horizon, the next step begins in what `reset` gave, and its task is the first."""
    world = make_world(name, **SHORT.get(name, {}))
    streams = Streams.of(2)
    met, given = draw_world(world, streams), []

    class Watched:
        def reset(self, rng):
            given.append(met.reset(rng))
            return given[-1]

        def step(self, *call):
            return met.step(*call)

    script, begins = Scripted(actions_of(met)), True
    for step, _ in zip(play(script, Watched(), streams, horizon=4), range(12), strict=False):
        if begins:
            assert step.state is given[-2 if step.transition.ends_episode else -1][0]
            assert step.transition.task == 0
        begins = step.transition.ends_episode
        if begins:
            assert step.observation is given[-1][1]


@pytest.mark.parametrize("name", [n for n in WORLDS if hasattr(make_world(n), "batch") and n not in VECTORS])
def test_worlds_in_lockstep_refuse_other_actions(name):
    """In any replicate: an arm below the first one, beyond the last one, and one of another replicate."""
    world = world_of(name).batch(3)
    state, _ = world.reset(default_rng(0))
    good = np.array([actions_of(world_of(name))[1]] * 3)
    for i in range(3):
        for wrong in (-1, world.n_actions):
            bad = good.copy()
            bad[(i, 0)[: bad.ndim]] = wrong
            with pytest.raises(BayesRLError):
                world.step(state, bad, default_rng(1))
    for bad in (good[:2], np.concatenate([good, good[:1]]), good[0], good.astype(float)):
        with pytest.raises(BayesRLError):
            world.step(state, bad, default_rng(1))


@pytest.mark.parametrize("name", WORLDS)
def test_no_episode_begins_at_its_end(name):
    """Where a state tells whether an episode ended in it."""
    world, rng = world_of(name), default_rng(5)
    if name == "maze-2d":
        starts = np.array([world.reset(rng)[0] for _ in range(5000)])
        assert not (starts >= GOAL).all(axis=1).any()
        assert (starts >= GOAL).any()
    known = getattr(world, "pomdp", None) or (getattr(world, "mdp", None) if not hasattr(world, "tasks") else None)
    if known is not None:
        ends = known.terminal if hasattr(known, "terminal") else known.outcomes.terminal
        start = known.start if hasattr(known, "start") else known.outcomes.start
        assert not start[ends].any()
