"""The common parts of worlds with vectors: bounds, a time limit, and what agents are given unless told otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl.beliefs.features import Features
from bayesrl.checks import Floats, array, as_array, frozen, integer
from bayesrl.errors import InvalidArgument
from bayesrl.models.policies._sampling import Memoryless
from bayesrl.models.policy import SoftmaxPolicy
from bayesrl.parameters import Shape, value
from bayesrl.worlds._settings import Published

WIDE = 1e6
"""Bounds of real numbers that have none."""


class Bounds(NamedTuple):
    """A box of vectors between two corners, each of shape (d,)."""

    low: Floats
    high: Floats

    @staticmethod
    def of(low: Any, high: Any) -> Bounds:
        """Bounds from two lists of numbers."""
        return Bounds(frozen(np.atleast_1d(np.asarray(low, float))), frozen(np.atleast_1d(np.asarray(high, float))))


class BoxWorld(Published, Protocol):
    """A world that says how long an episode may last, and between which bounds it moves."""

    gamma: float
    horizon: int
    ends: ClassVar[bool] = True
    """Whether an episode can end, other than by its horizon."""

    @property
    def observations(self) -> Bounds | int:
        """Bounds of what is observed, or the number of observations."""

    @property
    def actions(self) -> Bounds | int:
        """Bounds of actions, or their number."""

    @property
    def defaults(self) -> Mapping[str, Mapping[str, Any]]:
        """Suggested arguments: those of a method under its name, those of a package's methods under the package's name.

        "gradient" holds the policy, the features phi(s) and the covariance k_s of states. "gpsarsa" and "gprl" hold
        what these two need in this world.
        """

    @property
    def best_return(self) -> float | None:
        """The largest expected return of an episode, discounted; None: not known."""
        return None


def check_action(world: str, actions: Bounds | int, action: Any) -> Any:
    """An index, or a vector inside the box (rounding at its faces is clipped)."""
    if isinstance(actions, int):
        return integer(world, "action", action, 0, actions - 1)
    a = array(world, "action", np.atleast_1d(as_array(action)), actions.low.shape)
    slack = 1e-9 * (1.0 + np.abs(actions.high))
    if (a < actions.low - slack).any() or (a > actions.high + slack).any():
        raise InvalidArgument(world, "action", f"between {actions.low.tolist()} and {actions.high.tolist()}", action)
    return np.clip(a, actions.low, actions.high)


def softmax(features: Features, n_actions: int) -> SoftmaxPolicy:
    """A softmax policy on features of states, all of whose actions have the same probability."""
    return SoftmaxPolicy(np.zeros((features.size, n_actions)), features)


@value
class ListedPolicy(Memoryless):
    """A policy that chooses among listed vectors: `chooser` draws the number of one.

    Examples
    --------
    >>> policy = ListedPolicy(SoftmaxPolicy.tabular(1, 2), [[-1.0], [1.0]])
    >>> round(policy.log_prob(0, [1.0]), 3)
    -0.693
    """

    chooser: Annotated[SoftmaxPolicy, "The policy of numbers."]
    actions: Annotated[Floats, Shape("(A, d)"), "The listed actions."]

    def __post_init__(self) -> None:
        array("ListedPolicy", "actions", self.actions, (self.chooser.n_actions, None))

    @property
    def parameters(self) -> Floats:
        """Those of the chooser."""
        return self.chooser.parameters

    def with_parameters(self, parameters: ArrayLike) -> ListedPolicy:
        """The same policy with other parameters."""
        return ListedPolicy(self.chooser.with_parameters(parameters), self.actions)

    def sample(self, observation: Any, rng: Generator) -> Floats:
        """A listed action, shape (d,)."""
        return np.asarray(self.actions[self.chooser.sample(observation, rng)])

    def log_prob(self, observation: Any, action: Any) -> float:
        """The logarithm of an action's probability."""
        return self.chooser.log_prob(observation, self._number(action))

    def score(self, observation: Any, action: Any) -> Floats:
        """The gradient of `log_prob` in the parameters, shape (n,)."""
        return self.chooser.score(observation, self._number(action))

    def hessian(self, observation: Any, action: Any) -> Floats:
        """The Hessian of `log_prob` in the parameters, shape (n, n)."""
        return self.chooser.hessian(observation, self._number(action))

    def _number(self, action: Any) -> int:
        a = array("ListedPolicy", "action", np.atleast_1d(np.asarray(action)), (self.actions.shape[1],))
        found = np.flatnonzero((self.actions == a).all(axis=1))
        if len(found) == 0:
            raise InvalidArgument("ListedPolicy", "action", "one of the listed actions", action)
        return int(found[0])
