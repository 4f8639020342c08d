"""Policies that choose among listed vectors."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl.checks import Floats, array
from bayesrl.errors import InvalidArgument
from bayesrl.models.policies.sampling import Memoryless
from bayesrl.models.policies.softmax_policy import SoftmaxPolicy
from bayesrl.parameters import Shape, value


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
