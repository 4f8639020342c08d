"""Several agents: processor time beside plain Python, in one run, one thread. Imports are excluded."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.random import default_rng
from tests.helpers.plain_games import repeated

import bayesrl as b
from bayesrl.multiagent import JointTransition, RepeatedGame

REPEATS = 5


def seconds(call: Callable[[], object], times: int) -> float:
    """The median processor time of a call, of several groups of calls."""
    found = []
    for _ in range(REPEATS):
        began = time.process_time()
        for _ in range(times):
            call()
        found.append((time.process_time() - began) / times)
    return float(np.median(found))


def lookahead(depth: int = 4) -> None:
    """A decision by lookahead in the 2 by 2 game with Beta payoffs, against the recursion in plain Python."""
    game = RepeatedGame(alpha=[[6.0, 6.0], [1.0, 1.0]], beta=[[5.0, 5.0], [1.0, 1.0]], strategy=[9.0, 1.0])
    agent = b.make("bayesian-marl", prior=game, choose="lookahead", depth=depth)
    beliefs = iter([game.update(JointTransition(0, 0, 0, 1.0, 0)) for _ in range(200 * REPEATS)])
    tables = [x.tolist() for x in (game.alpha, game.beta, game.strategy)]
    assert np.allclose(agent.act(game, 0, default_rng(0)).info["q"], repeated(*tables, depth))
    ours = seconds(lambda: agent.act(next(beliefs), 0, default_rng(0)), 200)
    plain = seconds(lambda: repeated(*tables, depth), 1)
    print(f"lookahead to depth {depth}: {1e6 * ours:.0f} us; plain Python takes {plain / ours:.0f} times that")


def main() -> None:
    """Print all measurements."""
    for depth in (3, 4, 5):
        lookahead(depth)
