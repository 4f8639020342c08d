"""Finite-state controllers: an action for each node, and a next node for each observation."""

from __future__ import annotations

from typing import Annotated, Any

from numpy.random import Generator

from bayesrl._explained import explain_failures
from bayesrl.checks import indices, integer
from bayesrl.core import Decision, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.models.policies.tabular_policy import Table, TabularPolicy
from bayesrl.parameters import Shape, value


@explain_failures
@value
class ControllerPolicy:
    """A finite-state controller: an action for each node, and a next node for each observation.

    The policy is a distribution over actions given the node, so `sample` and `log_prob` take a node as the observation.
    Its mind as an agent is the node. Every episode starts in node 0.

    Examples
    --------
    >>> import numpy as np
    >>> listen_twice = ControllerPolicy(TabularPolicy([0, 0, 1], n_actions=2), moves=[[1, 1], [2, 2], [0, 0]])
    >>> [listen_twice.sample(node, np.random.default_rng(0)) for node in range(3)]
    [0, 0, 1]
    """

    acts: TabularPolicy
    """The actions of the N nodes, which take the place of states."""
    moves: Annotated[Table, Shape("(N, O)"), "The next node after each observation."]

    def __post_init__(self) -> None:
        if not isinstance(self.acts, TabularPolicy):
            raise InvalidArgument("ControllerPolicy", "acts", "a TabularPolicy over the nodes", self.acts)
        nodes = len(self.acts)
        moves = indices("ControllerPolicy", "moves", self.moves, (nodes, None), nodes)
        object.__setattr__(self, "moves", moves)

    def sample(self, observation: int, rng: Generator) -> int:
        """An action drawn from the distribution of a node."""
        return self.acts.sample(observation, rng)

    def log_prob(self, observation: int, action: int) -> float:
        """The logarithm of an action's probability in a node."""
        return self.acts.log_prob(observation, action)

    def start(self) -> int:
        """Node 0."""
        return 0

    def act(self, mind: int, observation: Any, rng: Generator) -> Decision:
        """Sample the action of the current node."""
        return Decision(self.sample(mind, rng), mind, {"node": mind})

    def learn(self, mind: int, transition: Transition, rng: Generator) -> int:
        """The node to which the observation leads, or node 0 if the episode has ended."""
        seen = transition.next_observation
        if transition.ends_episode:
            return 0
        return int(self.moves[mind, integer("ControllerPolicy", "observation", seen, 0, self.moves.shape[1] - 1)])
