"""Thompson sampling of M arms out of K (Gopalan, Mannor and Mansour 2014; survey §3.3, several suggestions).

Draw the arms' means from the belief and choose the M that are largest in the draw, which is the best set in the drawn
model when a set pays the sum of its arms: no need to list the K-over-M sets. What is learned depends on what is seen,
and that is the belief's affair: every arm's reward (`SemiBandit`, around any belief about arms) or the sum alone
(`FullBandit`, Gaussian; `FiniteModels(BernoulliSums(...))`, exact on finitely many models).

Deviations: none. Cost: one draw of the belief and a partial sort. Claims: the set chosen is the best of all sets in the
drawn model; learns under both kinds of feedback.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl.checks import integer
from bayesrl.core import Decision, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.registry import register


@register(
    "thompson-combinatorial",
    kind="planner",
    survey="3.3",
    paper="Gopalan14TS",
    example=lambda: ThompsonCombinatorial(2),
    evidence=(
        "tests/bandits/test_planners.py::test_combinatorial_set_is_the_best_of_all_sets",
        "tests/bandits/test_planners.py::test_combinatorial_learns_under_both_kinds_of_feedback",
    ),
)
@dataclass(frozen=True, slots=True)
class ThompsonCombinatorial:
    """Choose the M arms that are best in a model drawn from the belief."""

    suggestions: int = 3
    """How many arms are chosen at once, M."""

    needs: ClassVar[tuple[str, ...]] = ("sample",)
    batched: ClassVar[bool] = True

    def __post_init__(self) -> None:
        integer("ThompsonCombinatorial", "suggestions", self.suggestions, 1)

    def start(self) -> None:
        """Nothing to remember."""

    def plan(
        self, belief: Any, observation: Any, memory: None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Draw and choose; the action lists the set in increasing order."""
        q = belief.sample(rng)
        M, K = self.suggestions, q.shape[-1]
        if M > K:
            raise InvalidArgument("ThompsonCombinatorial", "suggestions", f"at most {K}, the number of arms", M)
        chosen = np.sort(np.argpartition(-q, M - 1, axis=-1)[..., :M], axis=-1)
        return Decision(chosen, None, {"q": q})
