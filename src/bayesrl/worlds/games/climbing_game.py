"""The climbing game (Claus and Boutilier 1998; played by Chalkiadakis and Boutilier 2003; survey §7.3).

Two players with three actions each are paid the same:

     11  -30    0
    -30    7    6
      0    0    5

The best joint action (0, 0) is surrounded by punishments: a player that does not trust the other climbs down. The
matrix was found in public code; one with the lower right block transposed circulates too.
"""

from __future__ import annotations

import numpy as np

from bayesrl.checks import Floats
from bayesrl.models.stochastic_game import StochasticGame
from bayesrl.registry import register
from bayesrl.worlds.games._game_world import GameWorld

PAYOFF = np.array([[11.0, -30.0, 0.0], [-30.0, 7.0, 6.0], [0.0, 0.0, 5.0]])


@register(
    "climbing-game",
    kind="world",
    survey="7.3",
    paper="chalkiadakis03",
    evidence=(
        "tests/worlds/games/test_game_worlds.py::test_payoffs",
        "tests/worlds/games/test_game_worlds.py::test_a_game_is_a_world_against_its_partner",
    ),
)
def climbing_game(partner: Floats | None = None, gamma: float = 0.95) -> GameWorld:
    """The climbing game against a player with a fixed strategy, uniform unless `partner` (3,) is given.

    `payoff` holds the matrix, and `game` the game for `multiagent.run_game`. The discount is ours.
    """
    return GameWorld("climbing-game", StochasticGame.stage(PAYOFF, gamma), partner)
