"""Random: every action alike, whatever is believed. The baseline below all baselines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl.core import Decision, Transition
from bayesrl.registry import register


@register(
    "random",
    kind="planner",
    survey="4.2",
    example=lambda: Random(),
    evidence=(
        "tests/bamdp/test_planners.py::test_random_frequencies",
        "tests/bamdp/test_figures.py::test_random_returns",
    ),
)
@dataclass(frozen=True, slots=True)
class Random:
    """Uniformly random actions."""

    needs: ClassVar[tuple[str, ...]] = ("n_actions",)

    def start(self) -> None:
        """Nothing to remember."""
        return

    def plan(
        self, belief: Any, observation: int, memory: None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Any action."""
        A = belief.n_actions
        return Decision(int(rng.random() * A), None, {"probability": np.full(A, 1.0 / A)})
