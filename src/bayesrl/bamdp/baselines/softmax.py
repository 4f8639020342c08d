"""Boltzmann exploration on the mean model (survey §4.2).

Actions with probability proportional to exp(q / temperature), q the mean model's action values. (The public C++
benchmark's soft-max never normalises and always plays action 0; this one does.)

Deviations: none. Cost: one warm-started solve per decision. Claims: action frequencies; values at a point belief.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from scipy.special import softmax

from bayesrl.bamdp._greedy import mean_model_q, must_end, state_in
from bayesrl.checks import Floats, number
from bayesrl.core import Decision, Transition
from bayesrl.registry import register


@register(
    "softmax",
    kind="planner",
    survey="4.2",
    paper="Sutton98IR",
    example=lambda: Softmax(),
    evidence=(
        "tests/bamdp/test_planners.py::test_point_belief_gives_solved_values",
        "tests/bamdp/test_planners.py::test_softmax_frequencies",
    ),
)
@dataclass(frozen=True, slots=True)
class Softmax:
    """Boltzmann choice on the mean model's action values."""

    temperature: float = 1.0
    """Towards 0 greedy, towards infinity uniform, tau."""

    needs: ClassVar[tuple[str, ...]] = ("mean_mdp",)

    def __post_init__(self) -> None:
        number("Softmax", "temperature", self.temperature, 0.0, above=True)

    def check(self, belief: Any) -> None:
        """Raise where there is neither a discount nor an end."""
        must_end("Softmax", belief)

    def start(self) -> Floats | None:
        """No values yet."""
        return None

    def plan(
        self, belief: Any, observation: int, memory: Floats | None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Solve the mean model; draw an action from the Boltzmann distribution."""
        s = state_in("Softmax", belief, observation)
        q, values = mean_model_q(belief, memory)
        p = softmax(q[s] / self.temperature)
        action = int(np.searchsorted(np.cumsum(p), rng.random() * p.sum(), side="right"))
        return Decision(min(action, len(p) - 1), values, {"q": q[s], "probability": p})
