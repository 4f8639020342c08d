"""Two agents in one game."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng

from bayesrl.beliefs.games.joint import JointTransition
from bayesrl.capabilities import offers
from bayesrl.checks import integer, sequence
from bayesrl.core import Agent, columns_of
from bayesrl.errors import InvalidArgument
from bayesrl.models.stochastic_game import StochasticGame
from bayesrl.record import Record, column, describe, provenance
from bayesrl.renamed import keep_old_names


@runtime_checkable
class SeesOthers(Protocol):
    """An agent that learns from joint transitions. Other agents learn from their own transitions."""

    sees_others: bool


@runtime_checkable
class HasGame(Protocol):
    """A world that is a game against a fixed player, or a family of such worlds."""

    @property
    def game(self) -> StochasticGame:
        """The game."""


def run_game(
    agents: Sequence[Agent[Any]], game: StochasticGame | HasGame, steps: int, seed: int = 0, *, replicate: int = 0
) -> tuple[Record, Record]:
    """Let two agents play a game for a number of steps; one record for each.

    Both observe the state, act at the same time, and learn. An agent that `sees_others` learns from joint transitions
    in which its own action comes first. A record has the columns of `run`, and `other`: the other's actions. `run` is
    for one agent in a world, which may be a game against a fixed player.

    >>> import bayesrl as b
    >>> game = b.make_world("penalty-game", k=-20).game
    >>> players = [b.make("bayesian-marl", prior=b.multiagent.RepeatedGame(payoff=game.R[0])) for _ in range(2)]
    >>> first, second = run_game(players, game, steps=5, seed=3)
    >>> bool((first.action == second.other).all()), len(second)
    (True, 5)
    """
    two, rules = _players(agents), _rules(game)
    integer("run_game", "steps", steps, 1)
    seed = integer("run_game", "seed", seed, 0, any_length=True)
    replicate = integer("run_game", "replicate", replicate, 0)
    began = time.perf_counter()
    paths = _paths(two, rules, steps, list(map(default_rng, SeedSequence(seed, spawn_key=(replicate,)).spawn(5))))
    seconds = time.perf_counter() - began
    made_of = {"agents": [describe(agent) for agent in two], "world": describe(game)}
    records = []
    for i, path in enumerate(paths):
        columns = columns_of([step.own() for step in path]) | {"other": column("other", [x.other for x in path])}
        told = made_of | {"agent": made_of["agents"][i]}
        numbers = {"steps": steps, "seed": seed, "replicate": replicate, "horizon": None, "lockstep": None, "player": i}
        records.append(Record(columns, rules.gamma, provenance(told, numbers), seconds))
    return records[0], records[1]


def _players(agents: Sequence[Agent[Any]]) -> list[Any]:
    two = sequence("run_game", "agents", agents, "two agents")
    if len(two) != 2 or not all(isinstance(agent, Agent) for agent in two):
        raise InvalidArgument("run_game", "agents", "two agents (start, act, learn)", agents)
    return list(two)


def _rules(game: StochasticGame | HasGame) -> StochasticGame:
    rules = game.game if offers(game, HasGame) else game
    if not isinstance(rules, StochasticGame):
        raise InvalidArgument("run_game", "game", "a StochasticGame, or a world with a game", game)
    return rules


def _paths(
    two: Sequence[Any], rules: StochasticGame, steps: int, streams: Sequence[Generator]
) -> tuple[list[JointTransition], list[JointTransition]]:
    """The transitions of each player. The streams are the game's, then each planner's, then each belief's."""
    world_rng, *others = streams
    planner_rngs, learning_rngs = others[:2], others[2:]
    sizes, pays = (rules.n_actions, rules.n_others), (rules.rewards(0), rules.rewards(1))
    cumulative = np.cumsum(rules.P, axis=3)
    cumulative[..., -1] = 1.0
    minds: list[Any] = [agent.start() for agent in two]
    taken: tuple[list[JointTransition], list[JointTransition]] = ([], [])
    s = rules.start
    for _ in range(steps):
        done = [agent.act(mind, s, rng) for agent, mind, rng in zip(two, minds, planner_rngs, strict=True)]
        a, b = (integer("run_game", "action", d.action, 0, n - 1) for d, n in zip(done, sizes, strict=True))
        y = int(np.searchsorted(cumulative[s, a, b], world_rng.random(), side="right"))
        for i, (mine, theirs) in enumerate(((a, b), (b, a))):
            step = JointTransition(s, mine, theirs, float(pays[i][s, a, b, y]), y)
            taken[i].append(step)
            seen: Any = step if isinstance(two[i], SeesOthers) and two[i].sees_others else step.own()
            minds[i] = two[i].learn(done[i].memory, seen, learning_rngs[i])
        s = y
    return taken


keep_old_names(__name__)
