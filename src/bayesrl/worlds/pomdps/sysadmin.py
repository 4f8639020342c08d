"""The system administrator, partially observed (Katt, Oliehoek and Amato 2017, after the code of its authors).

There are n computers, on a line or without neighbours. Bit c of the state is 1 if computer c works. A working computer
goes on with probability .975 times .925 for each neighbour that has failed; a failed one stays failed. Action c looks
at computer c, action n + c reboots it: it then works with probability .95, whatever happened. The computer concerned is
seen after the step, correctly with probability .95 (1 works, 0 fails). Each working computer pays 1 after each step, a
reboot costs 1. Nothing ends.

What the Bayes-adaptive version leaves unknown is ours: the transitions. The agent believes that a working computer goes
on with .9 whatever its neighbours do, and trusts this as if it had seen ten steps from each state. What it sees is
known.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from bayesrl.checks import Floats, Ints, choice, integer, number
from bayesrl.models.pomdp import ObservationOutcomes
from bayesrl.parameters import DISCOUNT, AtLeast
from bayesrl.registry import register
from bayesrl.worlds.hidden import POMDPWorld
from bayesrl.worlds.pomdps._tables import listed_pomdp

GOES_ON, WITH_FAILED, REBOOTED, SEEN = 0.975, 0.925, 0.95, 0.95
BELIEVED, TRUST = 0.9, 10.0
BRACKETS = {"line": (53.3329, 53.4365), "none": (54.6316, 54.6729)}
"""Of three computers at discount .95."""
MOST = 8


@register(
    "sysadmin",
    kind="world",
    survey="4.9",
    paper="katt17",
    evidence=(
        "tests/worlds/pomdps/test_pomdp_worlds.py::test_sysadmin_by_hand",
        "tests/worlds/pomdps/test_pomdp_worlds.py::test_values_of_seen_states",
        "tests/worlds/pomdps/test_pomdp_worlds.py::test_hidden_world_laws",
    ),
)
def sysadmin(
    computers: Annotated[int, AtLeast(1), "Number of computers, n, at most 8."] = 3,
    topology: Annotated[Literal["line", "none"] | None, 'Who is whose neighbour; None is "none".'] = "line",
    gamma: Annotated[float, DISCOUNT, "Discount."] = 0.95,
) -> POMDPWorld:
    """Computers that fail, sooner with failed neighbours: look at one, or reboot one, in each step.

    Examples
    --------
    >>> sysadmin().pomdp
    TabularPOMDP(states=8, actions=6, observations=2, gamma=0.95)
    """
    n = integer("sysadmin", "computers", computers, 1, MOST)
    form = "none" if topology is None else choice("sysadmin", "topology", topology, ("line", "none"))
    near = 1 if form == "line" else 0
    discount = number("sysadmin", "gamma", gamma, 0.0, 1.0)
    S, A = 2**n, 2 * n
    works = np.asarray(np.arange(S)[:, None] >> np.arange(n) & 1)  # [s, c]
    failed = np.pad(1 - works, ((0, 0), (1, 1)))
    true = moves(works, GOES_ON * WITH_FAILED ** (near * (failed[:, :-2] + failed[:, 2:])))
    believed = moves(works, np.full((S, n), BELIEVED))
    observation = np.tile([0, 1], (S, A, 1))
    group = np.tile(works, 2)  # row 1 of a computer that works, row 0 of one that fails
    rows = [[SEEN, 1.0 - SEEN], [1.0 - SEEN, SEEN]]
    R = np.zeros((S, A, S)) + works.sum(axis=1) - (np.arange(A) >= n)[:, None]
    flat = np.arange(S * A).reshape(S, A)
    succ = np.broadcast_to(np.arange(S), (S, A, S))
    observed = ObservationOutcomes(observation, group, np.array([2, 2]), 2)
    start = np.eye(S)[-1]
    return POMDPWorld(
        "sysadmin",
        listed_pomdp(succ, flat, true.reshape(S * A, S).tolist(), observed, rows, R, discount, start),
        actions=tuple(f"{what}-{c}" for what in ("look", "reboot") for c in range(n)),
        observations=("fails", "works"),
        bracket=BRACKETS[form] if (n, discount) == (3, 0.95) else None,
        transition_counts=TRUST * believed.reshape(S * A, S),
    )


def moves(works: Ints, goes_on: Floats) -> Floats:
    """P[s, a, s'], given the probabilities (S, n) that a working computer goes on."""
    n = works.shape[1]
    after = np.repeat((works * goes_on)[:, None], 2 * n, axis=1)  # [s, a, c]
    after[:, n + np.arange(n), np.arange(n)] = REBOOTED
    return np.asarray(np.prod(np.where(works == 1, after[:, :, None], 1.0 - after[:, :, None]), axis=3))
