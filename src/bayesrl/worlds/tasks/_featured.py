"""A finite world whose rewards are linear in known features: what inverse reinforcement learning recovers."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

import numpy as np

from bayesrl._explained import explain_failures
from bayesrl.checks import Floats
from bayesrl.parameters import Shape, value
from bayesrl.worlds.tabular import MDPWorld


@explain_failures
@value
class FeaturedWorld(MDPWorld):
    """A world that pays w . phi(s) in state s."""

    features: Annotated[Floats, Shape("(S, d)"), "Features of the states, phi."] = field(
        default_factory=lambda: np.zeros((1, 1)), repr=False
    )
    weights: Annotated[Floats, Shape("(d,)"), "The true weights, w."] = field(
        default_factory=lambda: np.zeros(1), repr=False
    )
