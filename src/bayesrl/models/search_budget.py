"""The parameters that searches on histories share: simulations or time, and what a search keeps and ends with."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Annotated, Literal

from bayesrl.parameters import Above, AtLeast, shared

Leaf = Literal["zero", "mean"]


@shared
class SearchBudget:
    """A planner that simulates histories from the present belief: BAMCP, POMCP and BA-POMCP."""

    __slots__ = ()

    simulations: Annotated[int, AtLeast(1), "Simulations per decision; not used if `milliseconds` is given."] = 1000
    depth: Annotated[int, AtLeast(1), "Decisions of a simulation. 89 is accuracy .01 at discount .95."] = 89
    _: KW_ONLY
    milliseconds: Annotated[
        float | None,
        Above(0),
        "Time per decision instead of a number of simulations; results then depend on the machine.",
    ] = None
    reuse: Annotated[bool, "Whether the next decision keeps the part of the tree below what really happened."] = False
    leaf: Annotated[Leaf, "The value beyond the last decision: zero, or the mean model's if states were seen."] = "zero"
