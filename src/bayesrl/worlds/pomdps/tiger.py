"""The tiger (Kaelbling, Littman and Cassandra 1998; survey §2.3): how often to listen before a door is opened.

A tiger is behind one of two doors. Listening costs 1, leaves it there, and tells the right side with probability
`accuracy`. Opening its door costs 100, opening the other one pays 10; then the tiger is put behind a door at random,
and what is heard means nothing.

    states 0 tiger left, 1 tiger right; actions 0 listen, 1 open left, 2 open right; observations 0 left, 1 right

The Bayes-adaptive version (Ross, Chaib-draa and Pineau 2008) leaves the accuracy unknown: each of the two rows of
listening has the counts (`correct`, `incorrect`). With (5, 3) its mean is .625. Transitions and doors are known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import numpy as np

from bayesrl.checks import number
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.pomdp import ObservationOutcomes, TabularPOMDP
from bayesrl.parameters import DISCOUNT, PROBABILITY, Above
from bayesrl.registry import register
from bayesrl.worlds.hidden import POMDPWorld

LISTEN, OPEN_LEFT, OPEN_RIGHT = 0, 1, 2
AT_95 = {0.7: -7.689403, 0.75: -0.495903, 0.8: 8.966838, 0.85: 19.371368, 0.9: 33.142507, 0.95: 43.151066}
VALUES: Mapping[float, Mapping[float, float]] = {0.95: AT_95, 0.75: {0.85: 1.933439}}
"""Optimal values of the start by discount and accuracy, to six digits."""
ROUNDING = 1e-6


@register(
    "tiger",
    kind="world",
    survey="2.3",
    paper="kaelbling98",
    evidence=(
        "tests/worlds/pomdps/test_pomdp_worlds.py::test_tiger_by_hand",
        "tests/worlds/pomdps/test_pomdp_worlds.py::test_tiger_values",
        "tests/worlds/pomdps/test_pomdp_worlds.py::test_hidden_world_laws",
    ),
)
def tiger(
    accuracy: Annotated[float, PROBABILITY, "Probability that listening tells the right side."] = 0.85,
    correct: Annotated[float, Above(0), "Prior count of right answers, in each state."] = 5,
    incorrect: Annotated[float, Above(0), "Prior count of wrong answers, in each state."] = 3,
    wrong: Annotated[float, "Reward of opening the tiger's door."] = -100.0,
    gamma: Annotated[float, DISCOUNT, "Discount."] = 0.95,
) -> POMDPWorld:
    """The tiger behind one of two doors, without end: after a door, it is put behind a door at random.

    The optimal value of the start is 19.371368. The best policy listens until one side was heard two times more than
    the other, and then opens the door of the other side.

    Examples
    --------
    >>> from numpy.random import default_rng
    >>> world = tiger()
    >>> world.step(0, 2, default_rng(0))
    WorldStep(state=1, observation=0, reward=10.0, terminated=False)
    """
    return tiger_with("tiger", False, (0, 1), accuracy, correct, incorrect, wrong, gamma, VALUES)


def tiger_with(
    name: str,
    episodic: bool,
    group: tuple[int, int],
    accuracy: float,
    correct: float,
    incorrect: float,
    wrong: float,
    gamma: float,
    values: Mapping[float, Mapping[float, float]],
) -> POMDPWorld:
    """A tiger world. `group` numbers the rows of listening with the tiger on the left and on the right.

    `values` are optimal values of the start by discount and accuracy, for a wrong door that costs 100.
    """
    right = number(name, "accuracy", accuracy, 0.0, 1.0)
    counts = [number(name, "correct", correct, 0.0, above=True), number(name, "incorrect", incorrect, 0.0, above=True)]
    paid, discount = number(name, "wrong", wrong), number(name, "gamma", gamma, 0.0, 1.0)
    best = values.get(discount, {}).get(right) if paid == -100.0 else None
    S = 3 if episodic else 2
    P, R = np.zeros((S, 3, S)), np.zeros((S, 3))
    P[:, LISTEN] = np.eye(S)
    P[:, OPEN_LEFT:] = [0.0, 0.0, 1.0] if episodic else [0.5, 0.5]
    R[:2] = [[-1.0, paid, 10.0], [-1.0, 10.0, paid]]
    start = [0.5, 0.5, 0.0][:S]
    mdp = TabularMDP.from_dense(P, R, discount, start, (2,) if episodic else ())
    door = max(group) + 1  # the group of what a door shows
    groups, observation = np.full((S, 3), door), np.tile([0, 1], (S, 3, 1))
    groups[:2, LISTEN] = group
    observation[1, LISTEN] = 1, 0  # outcome 0 is the right side
    heard = [[right, 1.0 - right]] * door
    pomdp = TabularPOMDP(
        mdp, ObservationOutcomes(observation, groups, np.full(door + 1, 2), 2), np.array([*heard, [0.5, 0.5]]), R
    )
    return POMDPWorld(
        name,
        pomdp,
        states=("tiger-left", "tiger-right", "over")[:S],
        actions=("listen", "open-left", "open-right"),
        observations=("hear-left", "hear-right"),
        bracket=None if best is None else (best - ROUNDING, best + ROUNDING),
        observation_counts=np.array([*[counts] * door, [0.0, 0.0]]),
    )
