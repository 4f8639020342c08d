"""What memoryless policies share."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.random import Generator

from bayesrl.checks import Floats, generator
from bayesrl.core import Decision, Transition


class Memoryless(Protocol):
    """Makes a policy an agent without memory that learns nothing."""

    def sample(self, observation: Any, rng: Generator) -> Any:
        """An action drawn from the policy."""

    def start(self) -> None:
        """No memory."""

    def act(self, mind: None, observation: Any, rng: Generator) -> Decision:
        """Sample an action."""
        return Decision(self.sample(observation, rng), None, {})

    def learn(self, mind: None, transition: Transition, rng: Generator) -> None:
        """No memory."""


def draw_action(owner: str, p: Floats, rng: Generator) -> int:
    """Draw an action with these probabilities from one random number; never one of probability zero."""
    total = np.cumsum(p)
    action = int(np.searchsorted(total, generator(owner, rng).random() * total[-1], side="right"))
    return action if action < len(p) else int(np.flatnonzero(p)[-1])
