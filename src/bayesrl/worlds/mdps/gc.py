"""Generalised chains (BBRL: Castronovo et al. 2015): chains of five states with three actions of unknown quality.

From each state an action leads on or back to the first state; the probability of each (s, a) is drawn uniformly. Unlike
in the chain, every arrival in the last state pays 10, and every arrival in the first pays 2.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bayesrl.registry import register
from bayesrl.worlds.mdps._dirichlet_family import BBRL, DirichletFamily


@register(
    "gc",
    kind="family",
    survey="4.1",
    paper="castronovo15",
    evidence=(
        "tests/worlds/mdps/test_families.py::test_counts_and_rewards",
        "tests/worlds/mdps/test_families.py::test_draws_match_the_dirichlet",
        "tests/worlds/mdps/test_families.py::test_gc_optimum_agrees_with_peer_code",
    ),
)
def gc(gamma: float = 0.95) -> DirichletFamily:
    """Random chains of five states and three actions, each action moving on or back with its own probability.

    500 worlds, 250 steps, discounted return. The optimum is about 70.8 (3.1) in BBRL's own run, random play 31.5.
    """
    counts, rewards = np.zeros((5, 3, 5)), np.zeros((5, 3, 5))
    s = np.arange(5)
    counts[s, :, 0] = counts[s, :, np.minimum(s + 1, 4)] = 1.0
    rewards[:, :, 0], rewards[:, :, 4] = 2.0, 10.0
    setting = replace(BBRL, figures=("GC (accurate prior)", "GC (inaccurate prior)"))
    return DirichletFamily("gc", counts, rewards, gamma, setting)
