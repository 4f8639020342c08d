"""The common parts of memoryless policies: how they act, draw an action, and read features."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.random import Generator

from bayesrl.checks import Floats, array, called, generator
from bayesrl.core import Decision, Transition
from bayesrl.errors import InvalidArgument


class Memoryless(ABC):
    """Makes a policy an agent without memory that learns nothing."""

    @abstractmethod
    def sample(self, observation: Any, rng: Generator) -> Any:
        """An action drawn from the policy."""

    def start(self) -> None:
        """No memory."""
        return

    def act(self, mind: None, observation: Any, rng: Generator) -> Decision:
        """Sample an action."""
        return Decision(self.sample(observation, rng), None, {})

    def learn(self, mind: None, transition: Transition, rng: Generator) -> None:
        """No memory."""
        return


def draw_action(owner: str, p: Floats, rng: Generator) -> int:
    """Draw an action with these probabilities from one random number; never one of probability zero."""
    total = np.cumsum(p)
    action = int(np.searchsorted(total, generator(owner, rng).random() * total[-1], side="right"))
    return action if action < len(p) else int(np.flatnonzero(p)[-1])


def feature_row(owner: str, features: Any, observation: Any, k: int) -> Floats:
    """phi(s) of one state, shape (k,). Features with a `size` take states as rows, other functions take a state."""
    state = np.reshape(observation, (1, -1)) if hasattr(features, "size") else observation
    row = array(owner, "features", called(owner, "features", features, state)).ravel()
    if len(row) != k:
        raise InvalidArgument(owner, "features", f"a function that returns {k} numbers", row)
    return row
