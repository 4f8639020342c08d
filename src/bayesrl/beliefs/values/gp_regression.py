"""Gaussian-process regression and the linear statistical model (Rasmussen and Williams 2006; survey §2.5.2).

A function f has a Gaussian-process prior with mean zero. A datum is a value y = f(x) + N(0, noise^2). More generally
`update_linear` takes y = H f(X) + N(0, noise_covariance): every row of H mixes the values at the points X. The
posterior is Gaussian; `observations.py` computes it. In a bandit on a box f(a) is what action a pays on average: a
`Transition` is the datum (action, reward), and its observations are not looked at.

`fit` chooses hyper-parameters (those of the covariance, and the noise) by the evidence: L-BFGS from several starts,
with the analytic gradient (y'A^-1 A' A^-1 y - tr A^-1 A')/2 for each derivative A' of the data's covariance.

Deviations: none. Cost: O(n^2) for a datum and for a query. Claims: equal to dense conditioning.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy.linalg import cho_solve

from bayesrl.beliefs._problems import own_prior
from bayesrl.beliefs.covariances import Covariance, Gaussian, points
from bayesrl.beliefs.values._evidence import maximise_evidence
from bayesrl.beliefs.values._exact import ExactPosterior
from bayesrl.beliefs.values.observations import LOG_2_PI, Observations, Rows, is_regular
from bayesrl.beliefs.values.trajectory import state_row
from bayesrl.checks import Floats, array, integer, number
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import AtLeast, unchecked, value
from bayesrl.registry import register
from bayesrl.traits import Traits


def prior_for(problem: object) -> GPRegression:
    """The usual prior of a problem that has one of this kind."""
    return own_prior("gp-regression", problem, GPRegression)


@register(
    "gp-regression",
    kind="belief",
    survey="2.5",
    paper="Rasmussen06GP",
    example=lambda: GPRegression(Gaussian(scale=1.0), noise=0.3),
    prior_for=prior_for,
    evidence=(
        "tests/beliefs/values/test_gp_regression.py::test_equal_to_dense_conditioning",
        "tests/beliefs/values/test_gp_regression.py::test_linear_statistical_model",
        "tests/beliefs/values/test_gp_regression.py::test_fit_maximises_the_evidence",
    ),
)
@value
class GPRegression(ExactPosterior):
    """A Gaussian process over functions, from noisy values or noisy mixtures of values.

    Examples
    --------
    >>> from bayesrl.beliefs.covariances import Gaussian
    >>> belief = GPRegression(Gaussian(scale=1.0), noise=0.1).update_many(([0.0, 1.0, 2.0], [1.0, 3.0, 2.0]))
    >>> belief.mean([1.0]).round(2).tolist(), belief.variance([1.0, 9.0]).round(3).tolist()
    ([2.96], [0.01, 1.0])
    """

    prior_covariance: Annotated[Covariance, "Prior covariance of values."]
    noise: Annotated[float, AtLeast(0.0), "Standard deviation of a datum."] = 0.1
    data: Observations | None = field(init=False, default=None, repr=False)
    """The data, with the Cholesky factor of their covariance."""
    blocks: tuple[tuple[int, Floats], ...] = field(init=False, default=(), repr=False)
    """Noise covariances that were given: the number of the first datum, and the matrix."""

    traits: ClassVar[Traits] = ExactPosterior.traits._replace(grows=("data", "blocks"))

    def __init__(self, covariance: Covariance | None = None, noise: float = 0.1) -> None:
        object.__setattr__(self, "prior_covariance", Gaussian(scale=1.0) if covariance is None else covariance)
        object.__setattr__(self, "noise", noise)
        object.__setattr__(self, "data", None)
        object.__setattr__(self, "blocks", ())
        self.__post_init__()

    def __post_init__(self) -> None:
        if not isinstance(self.prior_covariance, Covariance):
            expected = "a covariance, such as covariances.Gaussian(scale=1.0)"
            raise InvalidArgument("GPRegression", "covariance", expected, self.prior_covariance)

    def check_grown(self) -> None:
        """Refuse fields that do not belong together."""
        super().check_grown()
        n = 0 if self.data is None else len(self.data)
        for start, S in self.blocks:
            if not 0 <= start <= n - len(S) or S.shape != (len(S), len(S)):
                raise InvalidArgument("GPRegression", "blocks", "noise covariances of the data", self.blocks)

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: tuple[ArrayLike, float] | Transition, rng: Generator | None = None) -> GPRegression:
        """The posterior after a point and its value, or after a step of a bandit: its action and its reward."""
        owner = "GPRegression.update"
        if isinstance(datum, Transition):
            x = state_row(owner, "action", datum.action, self.dims)
            return self._learn(owner, x, None, np.array([number(owner, "reward", datum.reward, moderate=True)]), None)
        if not isinstance(datum, tuple) or len(datum) != 2:
            raise InvalidArgument(owner, "datum", "a point and its value", datum)
        x = state_row(owner, "x", datum[0], self.dims)
        return self._learn(owner, x, None, np.array([number(owner, "y", datum[1], moderate=True)]), None)

    def update_many(self, log: tuple[ArrayLike, ArrayLike], rng: Generator | None = None) -> GPRegression:
        """The posterior after points X, (n, d), and their values y, (n,); or after several single data."""
        owner = "GPRegression.update_many"
        if isinstance(log, list) and log and all(isinstance(one, tuple) for one in log):
            new = self
            for one in log:
                new = new.update(one)
            return new
        if not isinstance(log, tuple) or len(log) != 2:
            raise InvalidArgument(owner, "log", "points and their values", log)
        X = points(owner, "X", log[0], self.dims)
        return self._learn(owner, X, None, array(owner, "y", log[1], (len(X),), moderate=True), None)

    def update_linear(
        self, X: ArrayLike, H: ArrayLike, y: ArrayLike, noise_covariance: ArrayLike | None = None
    ) -> GPRegression:
        """The posterior after data y = H f(X) + noise. Without a covariance the noise is independent, of `noise`."""
        owner = "GPRegression.update_linear"
        x = points(owner, "X", X, self.dims)
        rows = array(owner, "H", H, (None, len(x)), moderate=True)
        values = array(owner, "y", y, (len(rows),), moderate=True)
        if noise_covariance is None:
            return self._learn(owner, x, rows, values, None)
        S = array(owner, "noise_covariance", noise_covariance, (len(rows), len(rows)), moderate=True)
        if np.abs(S - S.T).max() > 1e-9 * np.abs(S).max() or np.linalg.eigvalsh(S).min() < -1e-9 * np.abs(S).max():
            raise InvalidArgument(owner, "noise_covariance", "symmetric without negative eigenvalues", S)
        return self._learn(owner, x, rows, values, S)

    def _learn(self, owner: str, X: Floats, H: Floats | None, y: Floats, S: Floats | None) -> GPRegression:
        """The posterior after data with rows H (None: one value each) and noise S (None: independent)."""
        data = Observations(X.shape[1]) if self.data is None else self.data
        known, n = len(data.points), len(y)
        if H is None:
            rows = Rows(np.ones(n), known + np.arange(n), np.arange(n + 1))
        else:
            rows = Rows.of(H, known)
        noise = self.noise**2 * np.eye(n) if S is None else S
        new = data.add(owner, self.prior_covariance, X, rows, y, noise)
        return unchecked(self, data=new, blocks=self.blocks if S is None else (*self.blocks, (len(data), S)))

    # A bandit on a box -----------------------------------------------------------------------------------------------

    def action_moments(self, actions: ArrayLike) -> tuple[Floats, Floats]:
        """The mean rewards of actions: posterior mean, (n,), and covariance, (n, n)."""
        return self.mean(actions), self.covariance(actions)

    # Hyper-parameters ------------------------------------------------------------------------------------------------

    def fit(self, rng: Generator, starts: int = 5) -> GPRegression:
        """The same data under the hyper-parameters of the largest evidence found, from several starts.

        The first start is the present covariance and noise. A noise of zero stays zero, and so do the noise
        covariances that `update_linear` was given.
        """
        owner = "GPRegression.fit"
        if self.data is None:
            raise InvalidArgument(owner, "self", "a belief with data", self)
        data, prior, blocks = self.data, self.prior_covariance, self.blocks
        H, y, X = data.apply(np.eye(len(data.points))), data.y, data.points
        free, fixed = np.ones(len(y)), np.zeros((len(y), len(y)))
        for start, S in blocks:
            free[start : start + len(S)] = 0.0
            fixed[start : start + len(S), start : start + len(S)] = S
        noisy = self.noise > 0.0 and bool(free.any())
        plain = np.array_equal(H, np.eye(len(y)))  # values themselves: products with H cost more than the rest

        def evidence(logs: Floats) -> tuple[float, Floats]:
            k = prior.with_parameters(logs[: len(logs) - noisy])
            variance = np.exp(2.0 * logs[-1]) if noisy else self.noise**2
            K = k.matrix(X, X)
            A = (K if plain else H @ K @ H.T) + fixed + np.diag(variance * free)
            L: Floats = np.asarray(np.linalg.cholesky(A), np.float64)
            if not is_regular(L, np.diagonal(A)):
                raise np.linalg.LinAlgError
            inverse = cho_solve((L, True), np.eye(len(y)))
            weight = inverse @ y
            W = 0.5 * (np.outer(weight, weight) - inverse)  # derivative of the evidence in A
            slopes = np.einsum("ij,pij->p", W if plain else H.T @ W @ H, k.derivatives(X))
            if noisy:
                slopes = np.append(slopes, 2.0 * variance * float(np.diagonal(W) @ free))
            return -0.5 * float(y @ weight) - float(np.log(np.diagonal(L)).sum()) - 0.5 * len(y) * LOG_2_PI, slopes

        first = np.append(prior.parameters, np.log(self.noise)) if noisy else prior.parameters
        logs = maximise_evidence(owner, evidence, first, integer(owner, "starts", starts, 1), rng)
        noise = float(np.exp(logs[-1])) if noisy else self.noise
        new = GPRegression(prior.with_parameters(logs[: len(logs) - noisy]), noise)
        refitted = Observations(X.shape[1]).add(
            owner, new.prior_covariance, X, Rows.of(H, 0), y, fixed + np.diag(noise**2 * free)
        )
        return unchecked(new, data=refitted, blocks=blocks)
