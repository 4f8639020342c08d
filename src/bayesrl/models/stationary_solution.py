"""Solutions that are planners: what every stationary solution shares."""

from __future__ import annotations

from typing import ClassVar

from numpy.random import Generator

from bayesrl.checks import Floats, array, integer, rows_sum_to_one
from bayesrl.core import Decision, Transition
from bayesrl.models.policy import draw_action


class StationarySolution:
    """A solution with a stationary policy. It is a planner: it ignores the belief and draws from its own policy.

    Its information set is the state, so that its memory is the state of the last decision.
    """

    needs: ClassVar[tuple[type, ...]] = ()
    policy: Floats
    """The probability of each action in each state, (S, A)."""

    def __post_init__(self) -> None:
        owner = type(self).__name__
        rows_sum_to_one(owner, "policy", array(owner, "policy", self.policy, (None, None), low=0.0))

    def start(self) -> None:
        """No state yet."""
        return

    def plan(
        self, belief: object, observation: int, memory: int | None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Draw an action from the policy's row. `info` has its probabilities."""
        owner = type(self).__name__
        s = integer(owner, "observation", observation, 0, len(self.policy) - 1)
        row = self.policy[s]
        return Decision(draw_action(owner, row, rng), s, {"probability": row})
