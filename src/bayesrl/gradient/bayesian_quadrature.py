"""Bayesian quadrature (O'Hagan 1991; survey §5.2.1): the posterior of an integral from values of the integrand.

The integrand f has a Gaussian-process prior with constant mean, so the integral of f against a known probability
measure is Gaussian. With b_i the integral of k(x, x_i), b_0 the double integral of k, and C = (K + sigma^2 I)^-1,

    weights C b,   mean zeta_0 + b'C(y - f_0),   variance b_0 - b'C b.

Both integrals are closed for the Gaussian covariance under a Gaussian measure, and under a uniform one on a box, where
they are products of normal distribution functions. Cost: O(M^3) for M points. Claims: b and b_0 equal numerical
integrals; the error is within the posterior's deviation at its rate.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular
from scipy.special import ndtr

from bayesrl._explained import explain_failures
from bayesrl._shown import shown
from bayesrl.beliefs.covariances import Covariance, Gaussian
from bayesrl.beliefs.covariances import points as rows_of
from bayesrl.beliefs.values.gaussian import nonnegative
from bayesrl.checks import Floats, array, frozen, number
from bayesrl.errors import Incompatible, InvalidArgument
from bayesrl.gradient.bayesian_gradient import factor
from bayesrl.parameters import Shape, value
from bayesrl.registry import register


@runtime_checkable
class Measure(Protocol):
    """A probability measure against which covariances can be integrated."""

    def expectation(self, covariance: Gaussian, X: Floats) -> Floats:
        """E k(x, X_i), shape (n,)."""

    def double_expectation(self, covariance: Gaussian) -> float:
        """E k(x, y) for independent x and y."""


@explain_failures
@value
class GaussianMeasure:
    """x ~ N(mean, covariance).

    Examples
    --------
    >>> GaussianMeasure([0.0], [[1.0]]).double_expectation(Gaussian()).__round__(3)
    0.577
    """

    mean: Annotated[Floats, Shape("(d,)"), "Mean."]
    covariance: Annotated[Floats, Shape("(d, d)"), "Covariance, positive definite."]

    def __post_init__(self) -> None:
        m = array("GaussianMeasure", "mean", np.atleast_1d(self.mean), (None,))
        S = array("GaussianMeasure", "covariance", np.atleast_2d(self.covariance), (len(m), len(m)))
        if np.abs(S - S.T).max() > 1e-9 * np.abs(S).max() or np.linalg.eigvalsh(S).min() <= 0.0:
            raise InvalidArgument("GaussianMeasure", "covariance", "symmetric and positive definite", S)
        object.__setattr__(self, "mean", m)
        object.__setattr__(self, "covariance", S)

    def expectation(self, covariance: Gaussian, X: Floats) -> Floats:
        """E k(x, X_i), shape (n,)."""
        return covariance.expectation(self.mean, self.covariance, X)

    def double_expectation(self, covariance: Gaussian) -> float:
        """E k(x, y) for independent x and y."""
        return float(covariance.double_expectation(self.mean, self.covariance))


@explain_failures
@value
class UniformMeasure:
    """x uniform on the box from low to high.

    Examples
    --------
    >>> UniformMeasure([0.0], [1.0]).double_expectation(Gaussian()).__round__(3)
    0.924
    """

    low: Annotated[Floats, Shape("(d,)"), "Least coordinates."]
    high: Annotated[Floats, Shape("(d,)"), "Largest coordinates."]

    def __post_init__(self) -> None:
        low = array("UniformMeasure", "low", np.atleast_1d(self.low), (None,))
        high = array("UniformMeasure", "high", np.atleast_1d(self.high), low.shape)
        if not (low < high).all():
            raise InvalidArgument("UniformMeasure", "high", "greater than 'low' in every coordinate", high)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    def expectation(self, covariance: Gaussian, X: Floats) -> Floats:
        """E k(x, X_i), shape (n,): a product over coordinates."""
        Z = rows_of("UniformMeasure.expectation", "X", X, len(self.low))
        scale = np.broadcast_to(covariance.scale, self.low.shape)
        ends = ndtr((self.high - Z) / scale) - ndtr((self.low - Z) / scale)
        shares = np.sqrt(2.0 * np.pi) * scale / (self.high - self.low) * ends
        return np.asarray(covariance.variance * np.prod(shares, axis=1))

    def double_expectation(self, covariance: Gaussian) -> float:
        """E k(x, y) for independent x and y, a product over coordinates; q = width / scale."""
        q = (self.high - self.low) / np.broadcast_to(covariance.scale, self.low.shape)
        shares = 2.0 * (np.sqrt(2.0 * np.pi) * q * (ndtr(q) - 0.5) + np.expm1(-0.5 * q * q)) / q**2
        return float(covariance.variance * np.prod(shares))


class Integral(NamedTuple):
    """The posterior of an integral: Gaussian."""

    mean: float
    variance: float
    weights: Floats
    """The weight of each value, shape (M,)."""

    def __repr__(self) -> str:
        return shown(self)


@register(
    "bayesian-quadrature",
    kind="tool",
    survey="5.2",
    paper="Ohagan91BQ",
    evidence=(
        "tests/gradient/test_quadrature.py::test_integrals_of_the_covariance",
        "tests/gradient/test_quadrature.py::test_equal_to_dense_conditioning",
        "tests/gradient/test_quadrature.py::test_calibrated",
    ),
)
def bayesian_quadrature(
    points: ArrayLike,
    values: ArrayLike,
    covariance: Covariance,
    measure: Measure,
    noise: float = 0.0,
    prior_mean: float = 0.0,
) -> Integral:
    """The posterior of the integral of f against a measure, from values of f at points (M, d).

    `noise` is the standard deviation of the values, and `prior_mean` the constant prior mean of f.

    Examples
    --------
    >>> found = bayesian_quadrature([-1.0, 0.0, 1.0], [1.0, 0.0, 1.0], Gaussian(scale=2.0), GaussianMeasure(0.0, 1.0))
    >>> round(found.mean, 3), round(found.variance, 4)
    (0.817, 0.0002)
    """
    owner = "bayesian_quadrature"
    if not isinstance(measure, Measure):
        raise InvalidArgument(owner, "measure", "a GaussianMeasure or a UniformMeasure", measure)
    if not isinstance(covariance, Gaussian):
        hint = "Its integrals are known for covariances.Gaussian."
        raise Incompatible(owner, type(covariance).__name__, ["expectation"], hint, kind="covariance")
    X = rows_of(owner, "points", points)
    y = array(owner, "values", values, (len(X),), moderate=True)
    sigma = number(owner, "noise", noise, 0.0, moderate=True)
    f_0 = number(owner, "prior_mean", prior_mean, moderate=True)
    b, b_0 = measure.expectation(covariance, X), measure.double_expectation(covariance)
    L = factor(owner, covariance.matrix(X, X), sigma)
    t = solve_triangular(L, b, lower=True)
    weights = np.asarray(solve_triangular(L, t, lower=True, trans="T"))
    variance = nonnegative(owner, np.array([b_0 - t @ t]), np.array([b_0]))
    return Integral(float(f_0 + weights @ (y - f_0)), float(variance[0]), frozen(weights))
