"""Gaussian policies: a real action with a mean linear in features."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl._explained import explain_failures
from bayesrl.checks import Floats, array, as_array, frozen, generator, number
from bayesrl.errors import InvalidArgument
from bayesrl.models.policies.sampling import Memoryless, feature_row
from bayesrl.parameters import Above, Shape, value


@explain_failures
@value
class GaussianPolicy(Memoryless):
    """A real action: normal, with a mean linear in features of the state and one standard deviation.

    A vector theta of k weights gives a number; a matrix (m, k) gives m independent numbers. With `learn_sigma` the
    standard deviation is the last parameter; then theta may also hold it as its last number.

    Examples
    --------
    >>> policy = GaussianPolicy(None, theta=[2.0, 0.0], sigma=0.5)
    >>> policy.score([1.0, 3.0], 2.5).tolist()
    [2.0, 6.0]
    """

    features: Annotated[Any, "phi(s): a function of states. None: the coordinates of the state."]
    theta: Annotated[Floats, Shape("(k,) or (m, k)"), "Weights of the features."]
    sigma: Annotated[float, Above(0), "Standard deviation of each entry of the action."] = 1.0
    learn_sigma: Annotated[bool, "Whether sigma is a parameter, the last one."] = False

    def __post_init__(self) -> None:
        if self.features is not None and not callable(self.features):
            raise InvalidArgument("GaussianPolicy", "features", "a function of states, or None", self.features)
        if self.theta.ndim not in (1, 2):
            raise InvalidArgument("GaussianPolicy", "theta", "an array of shape (k,) or (m, k)", self.theta)
        object.__setattr__(self, "sigma", float(self.sigma))
        if self.learn_sigma and self.theta.ndim == 1 and len(self.theta) - 1 == getattr(self.features, "size", None):
            object.__setattr__(self, "sigma", number("GaussianPolicy", "sigma", self.theta[-1], 0.0, above=True))
            object.__setattr__(self, "theta", frozen(self.theta[:-1].copy()))

    @property
    def parameters(self) -> Floats:
        """The parameters as a vector, in the order of the score."""
        return np.append(self.theta, self.sigma) if self.learn_sigma else self.theta.ravel()

    def with_parameters(self, parameters: ArrayLike) -> GaussianPolicy:
        """The same policy with other parameters."""
        n = self.theta.size
        given = array("GaussianPolicy", "parameters", parameters, (n + self.learn_sigma,))
        sigma = float(given[-1]) if self.learn_sigma else self.sigma
        return replace(self, theta=given[:n].reshape(self.theta.shape), sigma=sigma)

    def sample(self, observation: Any, rng: Generator) -> float | Floats:
        """An action drawn from the policy: a number, or an array of shape (m,)."""
        mean = self.theta @ self._phi(observation)
        if self.theta.ndim == 1:
            return float(mean + self.sigma * generator("GaussianPolicy", rng).standard_normal())
        return np.asarray(mean + self.sigma * generator("GaussianPolicy", rng).standard_normal(len(mean)))

    def log_prob(self, observation: Any, action: ArrayLike) -> float:
        """The logarithm of an action's density."""
        z = self._deviation(self._phi(observation), action) / self.sigma
        return float(-0.5 * z @ z - len(z) * np.log(self.sigma * np.sqrt(2.0 * np.pi)))

    def score(self, observation: Any, action: ArrayLike) -> Floats:
        """The gradient of `log_prob` in the parameters, shape (n,)."""
        phi = self._phi(observation)
        z = self._deviation(phi, action)
        u = np.outer(z, phi).ravel() / self.sigma**2
        return np.append(u, z @ z / self.sigma**3 - len(z) / self.sigma) if self.learn_sigma else u

    def hessian(self, observation: Any, action: ArrayLike) -> Floats:
        """The Hessian of `log_prob` in the parameters, shape (n, n)."""
        phi = self._phi(observation)
        z = self._deviation(phi, action)
        curved = np.asarray(-np.kron(np.eye(len(z)), np.outer(phi, phi)) / self.sigma**2, np.float64)
        if not self.learn_sigma:
            return curved
        mixed = -2.0 * np.outer(z, phi).reshape(-1, 1) / self.sigma**3
        last = len(z) / self.sigma**2 - 3.0 * (z @ z) / self.sigma**4
        return np.block([[curved, mixed], [mixed.T, np.array([[last]])]])

    def _phi(self, observation: Any) -> Floats:
        k = self.theta.shape[-1]
        if self.features is None:
            return array("GaussianPolicy", "observation", np.atleast_1d(observation), (k,), moderate=True)
        return feature_row("GaussianPolicy", self.features, observation, k)

    def _deviation(self, phi: Floats, action: ArrayLike) -> Floats:
        mean = np.atleast_1d(self.theta @ phi)
        return array("GaussianPolicy", "action", np.atleast_1d(as_array(action)), (len(mean),), moderate=True) - mean
