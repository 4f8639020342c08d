"""Q-learning, the model-free baseline (Watkins 1989; survey §2.4).

    Q(s, a) <- Q(s, a) + rate [ r + gamma max_a' Q(s', a') - Q(s, a) ],   no bootstrap from a terminated episode

The next action is epsilon-greedy on Q, or a Boltzmann draw if a temperature is given. The method has no belief, so it
is an agent by itself and carries its own discount.

Deviations: none. Cost: O(A) per step and one copy of the table. Claims: the update, line by line; convergence to Q*.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.random import Generator
from scipy.special import softmax

from bayesrl.bamdp._checks import step_in
from bayesrl.beliefs.choices import best_action
from bayesrl.checks import Floats, frozen, integer
from bayesrl.core import Decision, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.models.policy import draw_action
from bayesrl.parameters import DISCOUNT, PROBABILITY, Above, AtLeast, Within, declared
from bayesrl.registry import register


@register(
    "q-learning",
    kind="agent",
    survey="2.4",
    paper="Watkins89LD",
    example=lambda: QLearning(n_states=2, n_actions=2, gamma=0.9),
    evidence=(
        "tests/bamdp/baselines/test_q_learning.py::test_update_by_hand",
        "tests/bamdp/baselines/test_q_learning.py::test_converges_to_optimal_values",
        "tests/bamdp/baselines/test_q_learning.py::test_boltzmann_frequencies",
    ),
)
@declared
class QLearning:
    """Q-learning with epsilon-greedy or Boltzmann exploration.

    Examples
    --------
    >>> import bayesrl as b
    >>> world = b.make_world("chain")
    >>> agent = QLearning(n_states=5, n_actions=2, gamma=world.gamma, initial=50.0)
    >>> print(b.run(agent, world, steps=1000, seed=0).total)
    2852.0
    """

    n_states: Annotated[int, AtLeast(1), "Number of states, S."]
    n_actions: Annotated[int, AtLeast(1), "Number of actions, A."]
    gamma: Annotated[float, DISCOUNT, "Discount."]
    rate: Annotated[float, Within(0, 1, open_low=True), "Step size."] = 0.1
    epsilon: Annotated[float, PROBABILITY, "Probability of a random action; ignored if a temperature is given."] = 0.1
    temperature: Annotated[float | None, Above(0), "Boltzmann temperature; None for epsilon-greedy."] = None
    initial: Annotated[float, "First value of every Q(s, a); a high one is optimistic."] = 0.0

    def start(self) -> Floats:
        """The first table."""
        return frozen(np.full((self.n_states, self.n_actions), float(self.initial)))

    def act(self, mind: Floats, observation: int, rng: Generator) -> Decision:
        """Draw an action from the exploration rule; ties are broken at random."""
        self._check_table(mind)
        q = mind[integer("QLearning", "observation", observation, 0, self.n_states - 1)]
        if self.temperature is not None:
            action = draw_action("QLearning", softmax(q / self.temperature), rng)
        elif rng.random() < self.epsilon:
            action = int(rng.random() * len(q))
        else:
            action = best_action(q, "random", rng)
        return Decision(action, mind, {"q": q})

    def learn(self, mind: Floats, transition: Transition, rng: Generator) -> Floats:
        """Take one temporal-difference step, on a copy."""
        self._check_table(mind)
        s, a, r, y = step_in("QLearning", self.n_states, self.n_actions, transition)
        target = r if y is None else r + self.gamma * mind[y].max()
        Q = mind.copy()
        Q[s, a] += self.rate * (target - Q[s, a])
        return frozen(Q)

    def _check_table(self, mind: Floats) -> None:
        """Refuse what is not a table of this agent; a whole-number table would lose the fractions of its values."""
        shape = (self.n_states, self.n_actions)
        if not isinstance(mind, np.ndarray) or mind.shape != shape or mind.dtype != np.float64:
            raise InvalidArgument("QLearning", "mind", f"an array of floats of shape {shape}", mind)
