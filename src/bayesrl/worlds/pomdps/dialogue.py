"""A dialogue (of the kind of Png and Pineau 2011; survey §4.9): what does the user want, who is heard badly?

A user wants one of k things. In each turn the system may ask what it is, ask the user to confirm one of them, or submit
one. Asked, the user names the goal, and the right word is heard with probability `heard`, else one of the others; asked
to confirm, the user says yes or no, and the right one is heard with probability `confirmed`. A question costs 1, asking
to confirm costs 1, a wrong submission 20; the right one pays 10. After a submission the next user comes, with any goal,
and what is heard means nothing.

    states: goal g; actions 0 ask, 1 + g confirm g, 1 + k + g submit g; observations g a word, k yes, k + 1 no

The Bayes-adaptive version leaves unknown how well the speech recogniser works: as in the paper, answers are tied, so
that there are two rows, that of questions and that of confirmations, with counts (`correct`, `incorrect`) of right and
wrong answers. The wrong word is each of the others with equal probability. The numbers are ours: those of the paper are
for a wheelchair with twenty-five goals, and we know it from the survey alone.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from bayesrl.checks import integer, number
from bayesrl.models.pomdp import ObservationOutcomes
from bayesrl.parameters import DISCOUNT, PROBABILITY, Above, AtLeast
from bayesrl.registry import register
from bayesrl.worlds.hidden import POMDPWorld
from bayesrl.worlds.pomdps._tables import listed_pomdp

NAME = "dialogue"
TURN, RIGHT, WRONG = -1.0, 10.0, -20.0
MOST = 50
BRACKET = (20.6371, 20.6378)
"""Of the default arguments."""


@register(
    NAME,
    kind="world",
    survey="4.9",
    paper="png11",
    evidence=(
        "tests/worlds/pomdps/test_dialogue.py::test_dialogue_by_hand",
        "tests/worlds/pomdps/test_dialogue.py::test_the_value_is_that_of_a_stopping_problem",
        "tests/worlds/pomdps/test_pomdp_worlds.py::test_hidden_world_laws",
    ),
)
def dialogue(
    goals: Annotated[int, AtLeast(2), "Number of goals, k, at most 50."] = 4,
    heard: Annotated[float, PROBABILITY, "Probability that the right word is heard."] = 0.7,
    confirmed: Annotated[float, PROBABILITY, "Probability that yes or no is heard rightly."] = 0.85,
    correct: Annotated[float, Above(0), "Prior count of right answers."] = 3,
    incorrect: Annotated[float, Above(0), "Prior count of wrong answers."] = 1,
    gamma: Annotated[float, DISCOUNT, "Discount."] = 0.95,
) -> POMDPWorld:
    """A system that learns by questions what a user wants, and then does it: ask, confirm, submit.

    The optimal value of the start lies between 20.6371 and 20.6378.

    Examples
    --------
    >>> dialogue().pomdp
    TabularPOMDP(states=4, actions=9, observations=6, gamma=0.95)
    """
    k = integer(NAME, "goals", goals, 2, MOST)
    right, sure = (number(NAME, n, p, 0.0, 1.0) for n, p in (("heard", heard), ("confirmed", confirmed)))
    good, bad = (number(NAME, n, x, 0.0, above=True) for n, x in (("correct", correct), ("incorrect", incorrect)))
    discount, A = number(NAME, "gamma", gamma, 0.0, 1.0), 1 + 2 * k
    g = np.arange(k)
    succ = np.tile(np.arange(k), (k, A, 1))
    succ[:, : 1 + k, 0] = g[:, None]  # the goal stays until something is submitted
    moves = np.tile([0] * (1 + k) + [1] * k, (k, 1))
    R = np.full((k, A), TURN)
    R[:, 1 + k :] = np.where(np.eye(k, dtype=bool), RIGHT, WRONG)
    seen, group = np.zeros((k, A, k), np.int64), np.full((k, A), 2)
    for goal in range(k):
        seen[goal, 0] = [goal, *(word for word in range(k) if word != goal)]  # the right word first
        seen[goal, 1 : 1 + k, :2] = [k + 1, k]
        seen[goal, 1 + goal, :2] = [k, k + 1]
        seen[goal, 1 + k :] = np.arange(k)
    group[:, 0], group[:, 1 : 1 + k] = 0, 1
    rows = [[right, *[(1.0 - right) / (k - 1)] * (k - 1)], [sure, 1.0 - sure], [1.0 / k] * k]
    observed = ObservationOutcomes(seen, group, np.array([k, 2, k]), k + 2)
    counts = np.zeros((3, k))
    counts[0], counts[1, :2] = [good, *[bad / (k - 1)] * (k - 1)], [good, bad]
    usual = (k, right, sure, discount) == (4, 0.7, 0.85, 0.95)
    named = tuple(f"goal-{i}" for i in range(k))
    return POMDPWorld(
        NAME,
        listed_pomdp(succ, moves, [[1.0], [1.0 / k] * k], observed, rows, R, discount, np.full(k, 1.0 / k)),
        states=named,
        actions=("ask", *(f"confirm-{i}" for i in range(k)), *(f"submit-{i}" for i in range(k))),
        observations=(*named, "yes", "no"),
        bracket=BRACKET if usual else None,
        observation_counts=counts,
    )
