"""The tiger with one unknown accuracy for both sides (parameter tying, survey §4.10). The dynamics are the tiger's."""

from __future__ import annotations

from typing import Annotated

from bayesrl.parameters import DISCOUNT, PROBABILITY, Above
from bayesrl.registry import register
from bayesrl.worlds.hidden import POMDPWorld
from bayesrl.worlds.pomdps.tiger import VALUES, tiger_with


@register(
    "tiger-tied",
    kind="world",
    survey="4.10",
    paper="kaelbling98",
    evidence=(
        "tests/worlds/pomdps/test_pomdp_worlds.py::test_tigers_differ_in_what_is_tied",
        "tests/worlds/pomdps/test_pomdp_worlds.py::test_hidden_world_laws",
    ),
)
def tiger_tied(
    accuracy: Annotated[float, PROBABILITY, "Probability that listening tells the right side."] = 0.85,
    correct: Annotated[float, Above(0), "Prior count of right answers."] = 5,
    incorrect: Annotated[float, Above(0), "Prior count of wrong answers."] = 3,
    wrong: Annotated[float, "Reward of opening the tiger's door."] = -100.0,
    gamma: Annotated[float, DISCOUNT, "Discount."] = 0.95,
) -> POMDPWorld:
    """The tiger, if both sides have the same unknown accuracy: one pair of counts is the whole belief about it.

    Examples
    --------
    >>> tiger_tied().observation_counts.tolist()  # of listening, and of what a door shows, which is known
    [[5.0, 3.0], [0.0, 0.0]]
    """
    return tiger_with("tiger-tied", False, (0, 0), accuracy, correct, incorrect, wrong, gamma, VALUES)
