"""Actions for every world, in an order that needs no agent."""

from __future__ import annotations

from typing import Any

import numpy as np

SCRIPTS = {"shuttle": (1, 2, 2), "rock-sample": (4, 5, 6, 7)}
"""Actions of worlds in which most others are certain, or end the episode."""


def actions_of(world: Any, n: int = 30) -> list[Any]:
    """Different actions, or sets of them."""
    if own := SCRIPTS.get(getattr(world, "name", "")):
        return [own[i % len(own)] for i in range(n)]
    box = getattr(world, "actions", None)
    if hasattr(box, "low"):
        return [np.clip(0.1 * np.sin(3.0 * i), box.low, box.high) * np.ones(len(box.low)) for i in range(n)]
    K, M = world.n_actions, getattr(world, "suggestions", None)
    return [3 * i % K if M is None else (i + np.arange(M)) % K for i in range(n)]
