"""Generalised double loops (BBRL: Castronovo et al. 2015): the double loop with actions of unknown quality.

In state 0 an action enters one loop or the other; on the right loop it moves on or returns to 0. The probability of
each (s, a) is drawn uniformly. On the left loop every action moves on.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bayesrl.registry import register
from bayesrl.worlds.mdps._dirichlet_family import BBRL, DirichletFamily

NEXT = ((1, 5), (2,), (3,), (4,), (0,), (0, 6), (0, 7), (0, 8), (0,))
"""NEXT[s]: the possible next states of either action."""


@register(
    "gdl",
    kind="family",
    survey="4.1",
    paper="castronovo15",
    evidence=(
        "tests/worlds/mdps/test_families.py::test_counts_and_rewards",
        "tests/worlds/mdps/test_families.py::test_draws_match_the_dirichlet",
        "tests/worlds/mdps/test_families.py::test_gdl_optimum_agrees_with_peer_code",
    ),
)
def gdl(gamma: float = 0.95) -> DirichletFamily:
    """Random double loops: which action enters which loop, and which goes on, is drawn for each world.

    500 worlds, 250 steps, discounted return. The optimum is about 3.51 (.09) in BBRL's own run.
    """
    counts, rewards = np.zeros((9, 2, 9)), np.zeros((9, 2, 9))
    for s, reached in enumerate(NEXT):
        counts[s, :, reached] = 1.0
    rewards[4, :, 0], rewards[8, :, 0] = 1.0, 2.0
    setting = replace(BBRL, figures=("GDL (accurate prior)", "GDL (inaccurate prior)"))
    return DirichletFamily("gdl", counts, rewards, gamma, setting)
