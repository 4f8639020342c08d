"""Laws of randomness in a run: which call uses which stream, and whether episodes of a random world differ."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.random import Generator, default_rng

from bayesrl.core import Agent, Decision, Family, Streams, Transition, World, draw_world, play

EPISODES = 8
"""Number of episodes that are compared."""


# Streams -------------------------------------------------------------------------------------------------------------


def check_streams(
    agent: Agent[Any], world: World | Family, *, steps: int = 12, horizon: int | None = 5
) -> frozenset[str]:
    """Each stream of a run is used only by its own calls. Return the names of the streams that were used.

    `draw` is for the draw from a family, `world` for the world, `planner` for `act`, `learning` for `learn`. Every call
    of a run is checked: it may change its own stream, but no other stream and neither numpy's nor Python's global
    generator. Given the actions, the world does not depend on the agent's streams. Given the observations, the agent
    does not depend on the world's stream.
    """
    watch = Watch(Streams.of(3), set())
    met: World = draw_world(WatchedFamily(world, watch) if isinstance(world, Family) else world, watch.streams)
    watched = play(WatchedAgent(agent, watch), WatchedWorld(met, watch), watch.streams, horizon=horizon)
    taken = [step.transition for step in islice(watched, steps)]

    others = Streams.of(4)._replace(world=Streams.of(3).world)
    scripted = play(Scripted([t.action for t in taken]), met, others, horizon=horizon)
    again = [step.transition for step in islice(scripted, steps)]
    assert _told(again) == _told(taken), "the world's answers depend on the agent's streams"

    planner, learning, mind = Streams.of(3).planner, Streams.of(3).learning, agent.start()
    for t in taken:
        action, mind, _ = agent.act(mind, t.observation, planner)
        assert np.array_equal(action, t.action), (
            "the agent's decisions depend on more than its observations and its streams"
        )
        mind = agent.learn(mind, t, learning)
    return frozenset(watch.used)


@dataclass(frozen=True)
class Watch:
    """The four streams, and the names of those used so far."""

    streams: Streams
    used: set[str]

    def call(self, name: str, use: Callable[[Generator], Any], given: Generator) -> Any:
        """Make a call with its stream, which must be the one of that name, and check which streams it used."""
        assert given is getattr(self.streams, name), f"a call for the stream {name!r} was given another one"
        before = self._states()
        made = use(given)
        used = {which for which, state in self._states().items() if state != before[which]}
        assert used <= {name}, f"a call for the stream {name!r} used {', '.join(sorted(used - {name}))}"
        self.used.update(used)
        return made

    def _states(self) -> dict[str, str]:
        own = {name: repr(stream.bit_generator.state) for name, stream in self.streams._asdict().items()}
        numpys = np.random.get_state(legacy=False)  # noqa: NPY002 (nobody may use it)
        return own | {"numpy.random": repr(numpys), "random": repr(random.getstate())}


@dataclass(frozen=True)
class WatchedFamily:
    """A family whose draws are watched."""

    family: Family
    watch: Watch

    def draw(self, rng: Generator) -> World:
        """A world."""
        world: World = self.watch.call("draw", self.family.draw, rng)
        return world


@dataclass(frozen=True)
class WatchedWorld:
    """A world whose calls are watched."""

    world: World
    watch: Watch

    def reset(self, rng: Generator) -> Any:
        """The first state of an episode."""
        return self.watch.call("world", self.world.reset, rng)

    def step(self, state: Any, action: Any, rng: Generator) -> Any:
        """The result of an action."""
        return self.watch.call("world", lambda rng: self.world.step(state, action, rng), rng)


@dataclass(frozen=True)
class WatchedAgent:
    """An agent whose calls are watched."""

    agent: Agent[Any]
    watch: Watch

    def start(self) -> Any:
        """The mind before the first step."""
        return self.agent.start()

    def act(self, mind: Any, observation: Any, rng: Generator) -> Any:
        """Choose."""
        return self.watch.call("planner", lambda rng: self.agent.act(mind, observation, rng), rng)

    def learn(self, mind: Any, transition: Transition, rng: Generator) -> Any:
        """Learn."""
        return self.watch.call("learning", lambda rng: self.agent.learn(mind, transition, rng), rng)


@dataclass(frozen=True)
class Scripted:
    """An agent that takes the actions of a list."""

    actions: list[Any]

    def start(self) -> int:
        """No step has been made."""
        return 0

    def act(self, mind: int, observation: Any, rng: Generator) -> Decision:
        """The next action."""
        return Decision(self.actions[mind], mind, {})

    def learn(self, mind: int, transition: Transition, rng: Generator) -> int:
        """One step further."""
        return mind + 1


# Episodes ------------------------------------------------------------------------------------------------------------


def check_episodes(world: World, actions: list[Any], *, episodes: int = EPISODES) -> bool:
    """Episodes of one run differ exactly if the first episodes of different runs do. Return whether they differ.

    The actions are the same in all episodes. If two episodes of a random world are equal with probability p, the
    false-alarm rate for 8 episodes is at most 2 p^7. `actions` should be long enough that p is below 1/8; then the rate
    is 1e-6.
    """
    together = list(islice(_episodes(world, actions, seed=0), episodes))
    apart = [next(_episodes(world, actions, seed)) for seed in range(episodes)]
    assert together == list(islice(_episodes(world, actions, seed=0), episodes)), "the same stream gave other episodes"
    differ = len(set(apart)) > 1
    assert (len(set(together)) > 1) == differ, (
        "runs differ, but the episodes of one run are all equal" if differ else "episodes differ, but runs do not"
    )
    return differ


def _episodes(world: World, actions: list[Any], seed: int) -> Iterator[str]:
    """The episodes of a run with the same actions in each of them, as text."""
    rng = default_rng(seed)
    while True:
        state, seen = world.reset(rng)
        told = [repr(seen)]
        for action in actions:
            state, seen, reward, terminated = world.step(state, action, rng)[:4]
            told.append(repr((seen, reward, terminated)))
            if terminated:
                break
        yield " ".join(told)


def _told(taken: list[Transition]) -> list[str]:
    return [repr(tuple(t)) for t in taken]
