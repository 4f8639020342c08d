"""Bayesian linear regression: values linear in features (survey §2.5.2, the parametric form).

y = phi(x)'W + N(0, noise^2) with W ~ N(0, prior_variance I). The posterior of the weights has two forms,

    mean  v Phi'(v Phi Phi' + noise^2 I)^-1 y      with an n x n matrix, for n data,
    mean  (Phi'Phi + (noise^2 / v) I)^-1 Phi'y     with a k x k matrix, for k features,

and the smaller of the two is solved. As long as there are fewer data than features the rows of Phi are kept, afterwards
only Phi'Phi and Phi'y, so memory does not grow with the data.

Deviations: none. Cost: O(min(n, k)^3) for the first query after an update. Claims: both forms agree; equal to
`gp-regression` with the covariance v phi'phi.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl.beliefs.features import Features, Tabular
from bayesrl.beliefs.values._evidence import maximise_evidence
from bayesrl.beliefs.values._linear import LinearPosterior, check_features
from bayesrl.beliefs.values.observations import LOG_2_PI, is_regular
from bayesrl.beliefs.values.triangular import positive_solved
from bayesrl.checks import Floats, array, frozen, integer, number
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import Above, AtLeast, unchecked, value
from bayesrl.registry import register
from bayesrl.traits import Traits


class Sums(NamedTuple):
    """The sums on which the posterior depends."""

    n: int
    gram: Floats
    """Phi'Phi, shape (k, k)."""
    moment: Floats
    """Phi'y, shape (k,)."""
    squares: float
    """y'y."""
    rows: Floats | None
    """Phi, shape (n, k), as long as n < k."""
    y: Floats | None


class Posterior(NamedTuple):
    """The weights: N(mean, covariance)."""

    mean: Floats
    covariance: Floats
    log_evidence: float


@register(
    "bayesian-linear-regression",
    kind="belief",
    survey="2.5",
    paper="Rasmussen06GP",
    example=lambda: BayesianLinearRegression(Tabular(3), noise=0.5),
    taken_by="BayesianLinearRegression.update_many, which learns a function from a log",
    evidence=(
        "tests/beliefs/values/test_gp_regression.py::test_both_forms_of_linear_regression_agree",
        "tests/beliefs/values/test_gp_regression.py::test_linear_regression_is_gp_regression",
    ),
)
@value
class BayesianLinearRegression(LinearPosterior):
    """A function linear in features, with a Gaussian belief about the weights.

    Examples
    --------
    >>> from bayesrl.beliefs.features import Polynomial
    >>> belief = BayesianLinearRegression(Polynomial(degree=1), noise=0.1, prior_variance=100.0)
    >>> belief = belief.update_many(([0.0, 1.0, 2.0], [1.0, 3.0, 5.0]))
    >>> belief.weights.round(2).tolist(), belief.mean([3.0]).round(2).tolist()
    ([1.0, 2.0], [7.0])
    """

    features: Annotated[Features, "phi: a row of features for each point."]
    noise: Annotated[float, AtLeast(0.0), "Standard deviation of a datum."] = 0.1
    prior_variance: Annotated[float, Above(0.0), "Prior variance of a weight, v."] = 1.0
    sums: Sums = field(init=False, repr=False)
    """The sums of the data."""

    traits: ClassVar[Traits] = Traits(depends_on_data=("posterior",), grows=("sums",))

    def __post_init__(self) -> None:
        check_features("BayesianLinearRegression", self.features)
        if "sums" not in vars(self):  # else a file holds them
            k = self.features.size
            begun = Sums(0, np.zeros((k, k)), np.zeros(k), 0.0, np.zeros((0, k)), np.zeros(0))
            object.__setattr__(self, "sums", begun)

    def check_grown(self) -> None:
        """Refuse fields that do not belong together."""
        owner, k, (n, gram, moment, _, rows, y) = "BayesianLinearRegression", self.features.size, self.sums
        array(owner, "sums", gram, (k, k))
        array(owner, "sums", moment, (k,))
        if (rows is None) != (y is None) or (rows is None and n < k):
            raise InvalidArgument(owner, "sums", "rows and values of fewer data than features", n)
        if rows is not None and y is not None and (rows.shape != (n, k) or y.shape != (n,)):
            raise InvalidArgument(owner, "sums", f"rows of {n} data", rows)

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: tuple[ArrayLike, float], rng: Generator | None = None) -> BayesianLinearRegression:
        """The posterior after a point and its value."""
        owner = "BayesianLinearRegression.update"
        if not isinstance(datum, tuple) or len(datum) != 2:
            raise InvalidArgument(owner, "datum", "a point and its value", datum)
        x = array(owner, "x", datum[0], moderate=True)
        return self._learn(self.features(x.reshape(1, -1)), np.array([number(owner, "y", datum[1], moderate=True)]))

    def update_many(self, log: tuple[ArrayLike, ArrayLike], rng: Generator | None = None) -> BayesianLinearRegression:
        """The posterior after points X, (n, d), and their values y, (n,); or after several single data."""
        owner = "BayesianLinearRegression.update_many"
        if isinstance(log, list) and log and all(isinstance(one, tuple) for one in log):
            new = self
            for one in log:
                new = new.update(one)
            return new
        if not isinstance(log, tuple) or len(log) != 2:
            raise InvalidArgument(owner, "log", "points and their values", log)
        phi = self.features(log[0])
        return self._learn(phi, array(owner, "y", log[1], (len(phi),), moderate=True))

    def _learn(self, phi: Floats, y: Floats) -> BayesianLinearRegression:
        n, gram, moment, squares, rows, seen = self.sums
        total = n + len(y)
        few = total < self.features.size and rows is not None and seen is not None
        new = Sums(
            total,
            frozen(gram + phi.T @ phi),
            frozen(moment + phi.T @ y),
            squares + float(y @ y),
            frozen(np.concatenate([rows, phi])) if few and rows is not None else None,
            frozen(np.concatenate([seen, y])) if few and seen is not None else None,
        )
        return unchecked(self, sums=new)

    # The posterior ---------------------------------------------------------------------------------------------------

    @cached_property
    def posterior(self) -> Posterior:
        """The posterior of the weights, by the smaller of the two forms."""
        n, gram, moment, squares, rows, y = self.sums
        s, v, k = self.noise**2, self.prior_variance, len(moment)
        try:
            if rows is not None and y is not None:
                A = v * rows @ rows.T + s * np.eye(n)
                L: Floats = np.asarray(np.linalg.cholesky(A), np.float64)
                if not is_regular(L, np.diagonal(A)):
                    raise np.linalg.LinAlgError
                solved = positive_solved(L, np.column_stack([y, rows]))
                mean = v * rows.T @ solved[:, 0]
                covariance = v * np.eye(k) - v * v * rows.T @ solved[:, 1:]
                log_det, fit = 2.0 * float(np.log(np.diagonal(L)).sum()), float(y @ solved[:, 0])
                return Posterior(mean, covariance, -0.5 * (fit + log_det + n * LOG_2_PI))
            if s == 0.0:
                raise np.linalg.LinAlgError
            L = np.asarray(np.linalg.cholesky(gram + s / v * np.eye(k)), np.float64)
        except np.linalg.LinAlgError:
            hint = "More data than features, and points that repeat, need noise."
            owner = "BayesianLinearRegression"
            raise InvalidArgument(owner, "noise", "greater than 0 here", self.noise, hint) from None
        mean = positive_solved(L, moment[:, None])[:, 0]
        log_det = 2.0 * float(np.log(np.diagonal(L)).sum()) - k * np.log(s / v)
        fit = (squares - float(mean @ moment)) / s
        evidence = -0.5 * (fit + log_det + n * (np.log(s) + LOG_2_PI))
        return Posterior(mean, s * positive_solved(L, np.eye(k)), float(evidence))

    @property
    def weights(self) -> Floats:
        """Posterior mean of the weights, shape (k,)."""
        return self.posterior.mean

    def weight_moments(self) -> tuple[Floats, Floats]:
        """Mean, (k,), and covariance, (k, k), of the weights."""
        return self.posterior.mean, self.posterior.covariance

    def log_evidence(self) -> float:
        """Logarithm of the density of the data seen."""
        return self.posterior.log_evidence

    def fit(self, rng: Generator, starts: int = 5) -> BayesianLinearRegression:
        """The same data under the noise and prior variance of the largest evidence found, from several starts.

        With eigenvalues l of Phi'Phi, z = V'Phi'y and t = noise^2 / v the evidence is -1/2 times
        sum log((l + t) / t) + n log(2 pi noise^2) + (y'y - sum z^2 / (l + t)) / noise^2.
        """
        owner, (n, gram, moment, squares, _, _) = "BayesianLinearRegression.fit", self.sums
        if n == 0:
            raise InvalidArgument(owner, "self", "a belief with data", self)
        if self.noise == 0.0:
            raise InvalidArgument(owner, "noise", "greater than 0", self.noise)
        values, vectors = np.linalg.eigh(gram)
        lam, z = np.maximum(values, 0.0), (vectors.T @ moment) ** 2

        def evidence(logs: Floats) -> tuple[float, Floats]:
            s = float(np.exp(2.0 * logs[0]))
            t = s / float(np.exp(logs[1]))
            rest = squares - float(np.sum(z / (lam + t)))
            in_t = -0.5 * (float(np.sum(t / (lam + t) - 1.0)) + float(np.sum(z * t / (lam + t) ** 2)) / s)
            in_s = -0.5 * (n - rest / s)
            reached = -0.5 * (float(np.sum(np.log1p(lam / t))) + n * (np.log(s) + LOG_2_PI) + rest / s)
            return float(reached), np.array([2.0 * (in_t + in_s), -in_t])

        first = np.log([self.noise, self.prior_variance])
        logs = maximise_evidence(owner, evidence, first, integer(owner, "starts", starts, 1), rng)
        noise, variance = (float(x) for x in np.exp(logs))
        return unchecked(self, noise=noise, prior_variance=variance, sums=self.sums)
