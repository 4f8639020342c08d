"""Capabilities of a belief over a hidden state.

Z is the number of observations. The belief knows everything that was seen, so planners do not need the observation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from bayesrl.capabilities.any_belief import Restarts
from bayesrl.capabilities.mdp import ListsActions, ListsStates

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import Generator
    from numpy.typing import NDArray

    from bayesrl.kernels.simulators.simulator import Simulator
    from bayesrl.models.pomdp import TabularPOMDP

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]


@runtime_checkable
class HasStates(ListsStates, Restarts, Protocol):
    """A belief over the hidden state of a POMDP."""

    @property
    def n_observations(self) -> int:
        """Z."""

    def states(self) -> Floats:
        """Probability of each state now, (S,)."""

    def predictive(self, action: int) -> Floats:
        """Probability of each observation after an action, (Z,)."""


@runtime_checkable
class HasMeanPOMDP(HasStates, Protocol):
    """A belief with a mean model of a hidden state."""

    def mean_pomdp(self) -> TabularPOMDP:
        """The model of posterior means. Its `start` is the belief over the state now."""


@runtime_checkable
class SamplesPOMDPs(HasStates, Protocol):
    """A belief from which a hidden state can be drawn together with its model."""

    def sample_pomdp(self, rng: Generator) -> TabularPOMDP:
        """A model drawn from the belief. Its `start` is certain: the state that was drawn with it."""


@runtime_checkable
class SimulatesHidden(ListsActions, Protocol):
    """A belief over a hidden state that compiled searches can simulate."""

    @property
    def gamma(self) -> float:
        """Discount, in [0, 1]."""

    def reward_range(self) -> tuple[float, float]:
        """The smallest and the largest reward of a step; infinite if there is no bound."""

    def simulate(self, depth: int) -> Simulator:
        """The belief as a compiled simulator for at most `depth` steps, which draws the state at the root."""


@runtime_checkable
class PrefersActions(Protocol):
    """A belief that knows which actions are worth a try in a state, for rollouts."""

    def preferred_actions(self) -> Bools:
        """Whether an action is preferred in a state, (S, A); in each state at least one is.

        If states are not listed, the array is empty: the rollouts of the simulator prefer actions by themselves.
        """
