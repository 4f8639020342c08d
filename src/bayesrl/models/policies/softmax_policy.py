"""Softmax policies: probabilities proportional to exp(theta . phi(s, a))."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.random import Generator

from bayesrl._explained import explain_failures
from bayesrl.checks import Floats, array, integer
from bayesrl.models.policies._sampling import Memoryless, draw_action
from bayesrl.parameters import Shape, value


@explain_failures
@value
class SoftmaxPolicy(Memoryless):
    """Probabilities proportional to exp(theta . phi(s, a)) (Williams 1992; survey §2.3).

    Without features there is one parameter for each (s, a), so theta has shape (S, A).

    Examples
    --------
    >>> policy = SoftmaxPolicy([[0.0, 0.0], [0.0, np.log(3.0)]])
    >>> policy.probabilities().round(2).tolist()
    [[0.5, 0.5], [0.25, 0.75]]
    >>> policy.score(1, 1).round(2).tolist()
    [0.0, 0.0, -0.25, 0.25]
    """

    theta: Annotated[Floats, Shape("(S, A), or (d,) with features"), "The parameters."]
    features: Annotated[
        Floats | None, Shape("(S, A, d)"), "phi(s, a); None if there is one parameter for each (s, a)."
    ] = None

    def __post_init__(self) -> None:
        if self.features is None:
            array("SoftmaxPolicy", "theta", self.theta, (None, None))
        else:
            array("SoftmaxPolicy", "features", self.features, (None, None, None))
            array("SoftmaxPolicy", "theta", self.theta, (self.features.shape[2],))

    @property
    def n_states(self) -> int:
        """S."""
        return len(self.theta if self.features is None else self.features)

    @property
    def n_actions(self) -> int:
        """A."""
        return int((self.theta if self.features is None else self.features).shape[1])

    def sample(self, observation: int, rng: Generator) -> int:
        """An action drawn from the policy."""
        return draw_action("SoftmaxPolicy", np.exp(self._log_row(observation)), rng)

    def log_prob(self, observation: int, action: int) -> float:
        """The logarithm of an action's probability."""
        return float(self._log_row(observation)[self._action(action)])

    def score(self, observation: int, action: int) -> Floats:
        """The gradient of `log_prob` in theta, shape (d,), or (S * A,) without features: phi(s, a) minus its mean."""
        p, a = np.exp(self._log_row(observation)), self._action(action)
        if self.features is not None:
            phi = self.features[observation]
            return np.asarray(phi[a] - p @ phi)
        gradient = np.zeros(self.theta.shape)
        gradient[observation] = -p
        gradient[observation, a] += 1.0
        return gradient.ravel()

    def probabilities(self) -> Floats:
        """The probability of each action in each state, shape (S, A)."""
        return np.exp([self._log_row(s) for s in range(self.n_states)])

    def _log_row(self, observation: Any) -> Floats:
        s = integer("SoftmaxPolicy", "observation", observation, 0, self.n_states - 1)
        x = self.theta[s] if self.features is None else self.features[s] @ self.theta
        x = x - x.max()
        return np.asarray(x - np.log(np.exp(x).sum()))

    def _action(self, action: Any) -> int:
        return integer("SoftmaxPolicy", "action", action, 0, self.n_actions - 1)
