"""The semi-tied chain (Poupart et al. 2006; survey §4.10): one unknown slip for each action.

The dynamics are those of the chain. An agent with a structured prior knows that an action has the same slip in every
state, but not that both actions have the same slip.
"""

from __future__ import annotations

import numpy as np

from bayesrl.registry import register
from bayesrl.worlds.mdps.chain import LENGTH, chain_with
from bayesrl.worlds.tabular import MDPWorld


@register(
    "chain-semi",
    kind="world",
    survey="4.1",
    paper="poupart06beetle",
    evidence=(
        "tests/worlds/mdps/test_worlds.py::test_declared_optimum",
        "tests/worlds/mdps/test_worlds.py::test_chain_variants_differ_only_in_what_is_tied",
    ),
)
def chain_semi(gamma: float = 0.95) -> MDPWorld:
    """The chain with two unknown slips, one for each action.

    Outcome 0 is the action's own effect and outcome 1 the other one; the usual prior is Dirichlet(1, 1) on each
    action's pair. Runs last 1000 steps; the optimum is 3665.83, as for the chain. The published figure of `exploit`
    here, 3257, could not be reproduced by others (3586 to 3635).
    """
    group = np.tile(np.arange(2, dtype=np.int32), (LENGTH, 1))
    return chain_with(group, gamma, "chain-semi", "structured:1", ("chain_semi",))
