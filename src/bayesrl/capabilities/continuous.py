"""Capabilities of a belief about continuous states.

States, actions and observations are vectors. A belief over a hidden state knows what was seen and ignores the
observation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import Generator
    from numpy.typing import NDArray

    from bayesrl.core import Transition

    Floats = NDArray[np.float64]
    Ints = NDArray[np.integer[Any]]


@runtime_checkable
class DrawsObservations(Protocol):
    """A belief that can draw what will be seen next, learn it, and value a decision. Forward searches ask this."""

    @property
    def gamma(self) -> float:
        """Discount, in [0, 1]."""

    def update(self, datum: Transition, rng: Generator | None = None) -> Self:
        """The posterior after a transition."""

    def draw(self, observation: Any, action: Any, rng: Generator, n: int = 1) -> Floats:
        """Next observations drawn from the predictive distribution, each under its own model, (n, d)."""

    def expected_reward(self, observation: Any, action: Any) -> float:
        """The expected reward of an action now: over the state where it is hidden, over the reward where it is learned.

        `Incompatible` if the belief was given no reward.
        """


@runtime_checkable
class RewardsStates(Protocol):
    """A belief whose expected rewards depend on the state seen alone. What a search's tree learns changes none."""

    def expected_rewards(self, observations: Any, action: Any) -> Floats:
        """The expected reward of an action in several states, (n, d): (n,)."""


@runtime_checkable
class GrowsTrees(Protocol):
    """A belief that grows the tree of a forward search in one call."""

    def grow_tree(self, observation: Any, actions: Floats, width: int, seeds: tuple[Ints, ...]) -> list[Floats]:
        """The observations of each level, (1, d), (A C, d), ..., distributed as draws of `draw`.

        On each path the belief learns an observation before it draws the next one.
        Child i of action a of a node has row (node A + a) C + i. `seeds` are those of the nodes of each level, (1,),
        (C,), ...: one for all nodes that differ only in the actions before.
        """


@runtime_checkable
class HasRewardFunction(Protocol):
    """A belief about what the actions of a box pay: a Gaussian process."""

    @property
    def noise(self) -> float:
        """Standard deviation of a reward."""

    def action_moments(self, actions: Any) -> tuple[Floats, Floats]:
        """The mean rewards of actions, (n, e): posterior mean, (n,), and covariance, (n, n)."""


@runtime_checkable
class Thins(Protocol):
    """A particle belief that searches can make smaller."""

    def thinned(self, particles: int, rng: Generator) -> Self:
        """The same belief with at most this many particles, drawn by their weights."""


@runtime_checkable
class HasMeanSystem(Protocol):
    """A belief over linear systems x' = A x + B u + w with quadratic costs x'Qx + u'Ru."""

    @property
    def Q(self) -> Floats:
        """Costs of the state, (n, n)."""

    @property
    def R(self) -> Floats:
        """Costs of the action, (m, m)."""

    @property
    def theta(self) -> Floats:
        """The posterior mean of (A, B)', (n + m, n)."""


@runtime_checkable
class SamplesSystems(HasMeanSystem, Protocol):
    """A belief from which linear systems can be drawn."""

    @property
    def precision(self) -> Floats:
        """V, the precision of the parameters in units of the noise, (n + m, n + m)."""

    def sample_system(self, rng: Generator, replicates: Ints | None = None) -> tuple[Floats, Floats]:
        """A system drawn from the belief: A, (n, n), and B, (n, m). In lockstep: one for each of these replicates."""
