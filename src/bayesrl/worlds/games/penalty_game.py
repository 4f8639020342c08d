"""The penalty game (Claus and Boutilier 1998; played by Chalkiadakis and Boutilier 2003; survey §7.3).

Two players with three actions each are paid the same, and a failure to coordinate on a best joint action costs k:

    10   0   k
     0   2   0
     k   0  10

There are two best joint actions, and a safe one between them. The matrix was found in public code; penalties of 0, -20
and -100 are recalled.
"""

from __future__ import annotations

import numpy as np

from bayesrl.checks import Floats, number
from bayesrl.models.stochastic_game import StochasticGame
from bayesrl.registry import register
from bayesrl.worlds.games._game_world import GameWorld


@register(
    "penalty-game",
    kind="world",
    survey="7.3",
    paper="chalkiadakis03",
    evidence=(
        "tests/worlds/games/test_game_worlds.py::test_payoffs",
        "tests/worlds/games/test_game_worlds.py::test_a_game_is_a_world_against_its_partner",
    ),
)
def penalty_game(k: float = -100.0, partner: Floats | None = None, gamma: float = 0.95) -> GameWorld:
    """The penalty game against a player with a fixed strategy, uniform unless `partner` (3,) is given.

    `payoff` holds the matrix, and `game` the game for `multiagent.run_game`. The discount is ours.
    """
    k = number("penalty-game", "k", k)
    payoff = np.array([[10.0, 0.0, k], [0.0, 2.0, 0.0], [k, 0.0, 10.0]])
    return GameWorld("penalty-game", StochasticGame.stage(payoff, gamma), partner)
