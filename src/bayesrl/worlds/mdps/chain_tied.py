"""The tied chain (Poupart et al. 2006; survey §4.10): one unknown slip shared by both actions.

The dynamics are those of the chain. An agent with a structured prior believes that every (s, a) draws "its own effect
or the other one" from the same unknown distribution, so two counts describe its whole belief.
"""

from __future__ import annotations

import numpy as np

from bayesrl.registry import register
from bayesrl.worlds.mdps.chain import LENGTH, chain_with
from bayesrl.worlds.tabular import MDPWorld


@register(
    "chain-tied",
    kind="world",
    survey="4.1",
    paper="poupart06beetle",
    evidence=(
        "tests/worlds/mdps/test_worlds.py::test_declared_optimum",
        "tests/worlds/mdps/test_worlds.py::test_chain_variants_differ_only_in_what_is_tied",
    ),
)
def chain_tied(gamma: float = 0.95) -> MDPWorld:
    """The chain with one unknown slip, shared by both actions in every state.

    Outcome 0 is the action's own effect and outcome 1 the other one; the usual prior is Dirichlet(1, 1) on that pair.
    Runs last 1000 steps; the optimum is 3665.83, as for the chain.
    """
    return chain_with(np.zeros((LENGTH, 2), np.int32), gamma, "chain-tied", "structured:1", ("chain_tied",))
