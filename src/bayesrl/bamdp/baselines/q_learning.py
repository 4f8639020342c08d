"""Q-learning, the model-free baseline (Watkins 1989; survey §2.4).

    Q(s, a) <- Q(s, a) + rate [ r + gamma max_a' Q(s', a') - Q(s, a) ],   no bootstrap from a terminated episode

The next action is epsilon-greedy on Q, or Boltzmann where a temperature is given. It has no belief, so it is an agent
by itself and carries its own discount.

Deviations: none. Cost: O(A) per step and one copied row. Claims: the update, line by line; convergence to Q*.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.special import softmax

from bayesrl.bamdp._greedy import best_action, step_in
from bayesrl.checks import Floats, frozen, integer, number
from bayesrl.core import Decision, Transition
from bayesrl.registry import register


@register(
    "q-learning",
    kind="agent",
    survey="2.4",
    paper="Watkins89LD",
    example=lambda: QLearning(n_states=2, n_actions=2, gamma=0.9),
    evidence=(
        "tests/bamdp/test_q_learning.py::test_update_by_hand",
        "tests/bamdp/test_q_learning.py::test_converges_to_optimal_values",
        "tests/bamdp/test_q_learning.py::test_boltzmann_frequencies",
    ),
)
@dataclass(frozen=True, slots=True)
class QLearning:
    """Q-learning with epsilon-greedy or Boltzmann exploration."""

    n_states: int
    """S."""
    n_actions: int
    """A."""
    gamma: float
    """Discount, in [0, 1]."""
    rate: float = 0.1
    """Step size."""
    epsilon: float = 0.1
    """Probability of a random action; ignored where a temperature is given."""
    temperature: float | None = None
    """Boltzmann temperature; None for epsilon-greedy."""
    initial: float = 0.0
    """First value of every Q(s, a); a high one is optimistic."""

    def __post_init__(self) -> None:
        owner = "QLearning"
        integer(owner, "n_states", self.n_states, 1)
        integer(owner, "n_actions", self.n_actions, 1)
        number(owner, "gamma", self.gamma, 0.0, 1.0)
        number(owner, "rate", self.rate, 0.0, 1.0, above=True)
        number(owner, "epsilon", self.epsilon, 0.0, 1.0)
        number(owner, "initial", self.initial)
        if self.temperature is not None:
            number(owner, "temperature", self.temperature, 0.0, above=True)

    def start(self) -> Floats:
        """The first table."""
        return frozen(np.full((self.n_states, self.n_actions), float(self.initial)))

    def act(self, mind: Floats, observation: int, rng: Generator) -> Decision:
        """An action from the exploration rule; ties of the greedy one at random."""
        q = mind[integer("QLearning", "observation", observation, 0, self.n_states - 1)]
        if self.temperature is not None:
            p = softmax(q / self.temperature)
            action = min(int(np.searchsorted(np.cumsum(p), rng.random(), side="right")), len(p) - 1)
        elif rng.random() < self.epsilon:
            action = int(rng.random() * len(q))
        else:
            action = best_action(q, "random", rng)
        return Decision(action, mind, {"q": q})

    def learn(self, mind: Floats, transition: Transition, rng: Generator) -> Floats:
        """One temporal-difference step, on a copy."""
        s, a, r, y = step_in("QLearning", self.n_states, self.n_actions, transition)
        target = r if y is None else r + self.gamma * mind[y].max()
        Q = mind.copy()
        Q[s, a] += self.rate * (target - Q[s, a])
        return frozen(Q)
