"""The tiger whose episodes end with a door, the form in which BA-POMCP was published (survey §4.9 for the prior)."""

from __future__ import annotations

from typing import Annotated

from bayesrl.parameters import DISCOUNT, PROBABILITY, Above
from bayesrl.registry import register
from bayesrl.worlds.hidden import POMDPWorld
from bayesrl.worlds.pomdps.tiger import tiger_with

VALUES = {0.95: {0.85: 3.770189}, 1.0: {0.85: 5.159919}}
"""Optimal values of the start by discount and accuracy, to six digits."""


@register(
    "tiger-episodic",
    kind="world",
    survey="4.9",
    paper="kaelbling98",
    evidence=(
        "tests/worlds/pomdps/test_pomdp_worlds.py::test_tiger_by_hand",
        "tests/worlds/pomdps/test_pomdp_worlds.py::test_tiger_values",
        "tests/worlds/pomdps/test_pomdp_worlds.py::test_hidden_world_laws",
    ),
)
def tiger_episodic(
    accuracy: Annotated[float, PROBABILITY, "Probability that listening tells the right side."] = 0.85,
    correct: Annotated[float, Above(0), "Prior count of right answers, in each state."] = 5,
    incorrect: Annotated[float, Above(0), "Prior count of wrong answers, in each state."] = 3,
    wrong: Annotated[float, "Reward of opening the tiger's door."] = -100.0,
    gamma: Annotated[float, DISCOUNT, "Discount."] = 0.95,
) -> POMDPWorld:
    """The tiger, but a door ends the episode: state 2 is its end. The optimal value of the start is 3.770189.

    Examples
    --------
    >>> from numpy.random import default_rng
    >>> tiger_episodic().step(0, 1, default_rng(0))
    WorldStep(state=2, observation=0, reward=-100.0, terminated=True)
    """
    return tiger_with("tiger-episodic", True, (0, 1), accuracy, correct, incorrect, wrong, gamma, VALUES)
