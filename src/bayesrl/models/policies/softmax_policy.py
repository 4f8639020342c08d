"""Softmax policies: probabilities proportional to exp(theta . phi(s, a) / temperature)."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl._explained import explain_failures
from bayesrl.checks import Floats, array, integer, returned
from bayesrl.errors import InvalidArgument
from bayesrl.models.policies.sampling import Memoryless, draw_action, feature_row
from bayesrl.parameters import Above, Shape, value


@explain_failures
@value
class SoftmaxPolicy(Memoryless):
    """Probabilities proportional to exp(theta . phi(s, a) / temperature) (Williams 1992; survey §2.3).

    Without features there is one parameter for each (s, a), so theta has shape (S, A). With a function of states,
    phi(s), there is one parameter for each feature and action, so theta has shape (k, A). With features of states and
    actions, an array or a function from a state to a matrix (A, d), theta has shape (d,).

    Examples
    --------
    >>> policy = SoftmaxPolicy([[0.0, 0.0], [0.0, np.log(3.0)]])
    >>> policy.probabilities().round(2).tolist()
    [[0.5, 0.5], [0.25, 0.75]]
    >>> policy.score(1, 1).round(2).tolist()
    [0.0, 0.0, -0.25, 0.25]
    >>> SoftmaxPolicy.tabular(2, 2, theta=[0.0, 0.0, 0.0, np.log(3.0)]) == policy
    True
    """

    theta: Annotated[Floats, Shape("(S, A), (k, A) or (d,)"), "The parameters."]
    features: Annotated[
        Any, "None: a table. phi(s, a): an array (S, A, d), or a function of a state. phi(s): a function of states."
    ] = None
    temperature: Annotated[float, Above(0), "What preferences are divided by, tau."] = 1.0

    def __post_init__(self) -> None:
        if self.features is None:
            array("SoftmaxPolicy", "theta", self.theta, (None, None))
        elif callable(self.features):
            if self.theta.ndim not in (1, 2):
                raise InvalidArgument("SoftmaxPolicy", "theta", "an array of shape (k, A) or (d,)", self.theta)
        else:
            phi = array("SoftmaxPolicy", "features", self.features, (None, None, None))
            array("SoftmaxPolicy", "theta", self.theta, (phi.shape[2],))
            object.__setattr__(self, "features", phi)

    @classmethod
    def tabular(
        cls, n_states: int, n_actions: int, theta: ArrayLike | None = None, temperature: float = 1.0
    ) -> SoftmaxPolicy:
        """A table. Parameter s A + a belongs to action a in state s; by default all are 0."""
        S = integer("SoftmaxPolicy.tabular", "n_states", n_states, 1)
        A = integer("SoftmaxPolicy.tabular", "n_actions", n_actions, 1)
        given = np.zeros(S * A) if theta is None else array("SoftmaxPolicy.tabular", "theta", theta)
        if given.size != S * A:
            raise InvalidArgument("SoftmaxPolicy.tabular", "theta", f"{S * A} numbers", given)
        return cls(given.reshape(S, A), temperature=temperature)

    @property
    def n_states(self) -> int:
        """S."""
        if callable(self.features):
            raise InvalidArgument("SoftmaxPolicy", "features", "an array or None, to count states", self.features)
        return len(self.theta if self.features is None else self.features)

    @property
    def n_actions(self) -> int:
        """A."""
        if self.theta.ndim == 2:
            return int(self.theta.shape[1])
        if callable(self.features):
            raise InvalidArgument("SoftmaxPolicy", "features", "an array, to count actions", self.features)
        return int(self.features.shape[1])

    @property
    def parameters(self) -> Floats:
        """The parameters as a vector, in the order of the score."""
        return self.theta.ravel()

    def with_parameters(self, parameters: ArrayLike) -> SoftmaxPolicy:
        """The same policy with other parameters."""
        theta = array("SoftmaxPolicy", "parameters", parameters, (self.theta.size,))
        return replace(self, theta=theta.reshape(self.theta.shape))

    def sample(self, observation: Any, rng: Generator) -> int:
        """An action drawn from the policy."""
        return draw_action("SoftmaxPolicy", np.exp(self._read(observation)[1]), rng)

    def log_prob(self, observation: Any, action: int) -> float:
        """The logarithm of an action's probability."""
        _, log_p = self._read(observation)
        return float(log_p[_chosen(action, len(log_p))])

    def score(self, observation: Any, action: int) -> Floats:
        """The gradient of `log_prob` in the parameters, shape (n,): phi(s, a) less its mean, over the temperature."""
        phi, log_p = self._read(observation)
        gap = -np.exp(log_p)
        gap[_chosen(action, len(gap))] += 1.0
        if self.theta.ndim == 1:
            return np.asarray(gap @ phi / self.temperature)
        return np.outer(phi, gap).ravel() / self.temperature + 0.0  # no zeros with a sign

    def hessian(self, observation: Any, action: int) -> Floats:
        """The Hessian of `log_prob`, shape (n, n): minus the covariance of phi(s, a), over the squared temperature."""
        phi, log_p = self._read(observation)
        p = np.exp(log_p)
        _chosen(action, len(p))
        spread = np.diag(p) - np.outer(p, p)
        curved = phi.T @ spread @ phi if self.theta.ndim == 1 else np.kron(np.outer(phi, phi), spread)
        return np.asarray(-curved / self.temperature**2)

    def probabilities(self) -> Floats:
        """The probability of each action in each state, shape (S, A)."""
        return np.exp([self._read(s)[1] for s in range(self.n_states)])

    def _read(self, observation: Any) -> tuple[Floats, Floats]:
        """The features, (A, d) if theta is a vector and (k,) otherwise, and the log-probabilities of actions, (A,)."""
        if self.features is None:
            s = integer("SoftmaxPolicy", "observation", observation, 0, len(self.theta) - 1)
            phi, x = np.eye(1, len(self.theta), s)[0], self.theta[s]
        elif self.theta.ndim == 2:
            phi = feature_row("SoftmaxPolicy", self.features, observation, len(self.theta))
            x = phi @ self.theta
        else:
            if callable(self.features):
                phi = returned("SoftmaxPolicy", "features", self.features, (None, len(self.theta)), observation)
            else:
                phi = self.features[integer("SoftmaxPolicy", "observation", observation, 0, self.n_states - 1)]
            x = phi @ self.theta
        x = (x - x.max()) / self.temperature
        return phi, np.asarray(x - np.log(np.exp(x).sum()))


def _chosen(action: Any, n: int) -> int:
    return integer("SoftmaxPolicy", "action", action, 0, n - 1)
