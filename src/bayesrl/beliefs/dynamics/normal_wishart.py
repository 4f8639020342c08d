"""The Normal-Wishart distribution of an unknown mean and precision matrix (survey §4.8).

    Lambda ~ Wishart(nu, Psi^-1), with mean nu Psi^-1,   mu | Lambda ~ N(m, (kappa Lambda)^-1).

A datum x ~ N(mu, Lambda^-1) changes the parameters to kappa + 1, m + (x - m) / (kappa + 1), nu + 1 and
Psi + kappa / (kappa + 1) (x - m)(x - m)'. Its predictive distribution is Student's t with nu - d + 1 degrees, location
m and shape Psi (kappa + 1) / (kappa (nu - d + 1)). In one dimension this is the normal-gamma distribution with shape
nu / 2 and rate Psi / 2.

`Statistics` holds the parameters of many such distributions, one for each particle of a filter. All of them have seen
the same number of data, so kappa and nu are shared.
"""

from __future__ import annotations

import math
from dataclasses import field
from typing import Annotated, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl.beliefs.dynamics.vectors import vector
from bayesrl.checks import Floats, Ints, array, frozen, generator, integer
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.arrays import F1, F2, F3
from bayesrl.kernels.jit import njit
from bayesrl.parameters import Above, Shape, unchecked, value

LOG_PI = math.log(math.pi)


@value
class NormalWishart:
    """An unknown mean and precision of normal data.

    Examples
    --------
    >>> belief = NormalWishart([0.0, 1.0], strength=2.0, degrees=4.0, scatter=[[2.0, 0.3], [0.3, 1.0]])
    >>> belief = belief.update_many([[0.5, 1.2], [-0.3, 0.4], [1.1, 2.0]])
    >>> belief.mean.round(3).tolist(), round(belief.log_evidence(), 7)
    ([0.26, 1.12], -6.7812286)
    """

    mean: Annotated[Floats, Shape("(d,)"), "Expected mean, m."]
    strength: Annotated[float, Above(0.0), "Observations that the mean is worth, kappa."]
    degrees: Annotated[float, "Degrees of freedom, nu; more than d - 1."]
    scatter: Annotated[Floats, Shape("(d, d)"), "Psi; the expected precision is nu Psi^-1."]
    log_probability: float = field(init=False, default=0.0, repr=False)
    """Log density of the data so far."""

    def __post_init__(self) -> None:
        owner = "NormalWishart"
        m = vector(owner, "mean", self.mean, None)
        d = len(m)
        object.__setattr__(self, "mean", m)
        object.__setattr__(self, "scatter", covariance_matrix(owner, "scatter", self.scatter, d))
        if not self.degrees > d - 1.0:
            raise InvalidArgument(owner, "degrees", f"greater than d - 1 = {d - 1}", self.degrees)

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: ArrayLike, rng: Generator | None = None) -> NormalWishart:
        """The posterior after a datum, (d,)."""
        owner = "NormalWishart.update"
        return self._learned(owner, vector(owner, "datum", datum, len(self.mean))[None])

    def update_many(self, data: ArrayLike, rng: Generator | None = None) -> NormalWishart:
        """The posterior after data, (n, d)."""
        owner = "NormalWishart.update_many"
        return self._learned(owner, array(owner, "data", data, (None, len(self.mean)), moderate=True))

    def _learned(self, owner: str, X: Floats) -> NormalWishart:
        """The posterior after rows, all at once."""
        n, centre = len(X), X.mean(axis=0)
        kappa, apart, within = self.strength, centre - self.mean, X - centre
        scatter = self.scatter + within.T @ within + kappa * n / (kappa + n) * np.outer(apart, apart)
        new = unchecked(
            self,
            mean=frozen(self.mean + n / (kappa + n) * apart),
            strength=kappa + n,
            degrees=self.degrees + n,
            scatter=frozen(scatter),
        )
        with np.errstate(all="ignore"):
            ratio = new._log_constant() - self._log_constant() - 0.5 * n * len(self.mean) * LOG_PI
        if not math.isfinite(ratio):
            raise InvalidArgument(owner, "data", "so near to the mean that the scatter stays positive definite", X)
        return unchecked(new, log_probability=self.log_probability + ratio)

    def _log_constant(self) -> float:
        """The logarithm of the normalising constant, without the powers of pi and 2 that ratios do not need."""
        d, nu = len(self.mean), self.degrees
        log_det = float(np.linalg.slogdet(self.scatter)[1])
        log_gammas = sum(math.lgamma(0.5 * (nu - j)) for j in range(d))
        return log_gammas - 0.5 * nu * log_det - 0.5 * d * math.log(self.strength)

    # Questions -------------------------------------------------------------------------------------------------------

    def log_predictive(self, x: ArrayLike) -> float:
        """The logarithm of the density of a next datum, (d,)."""
        y = vector("NormalWishart.log_predictive", "x", x, len(self.mean))
        return float(weighed(repeated(self, 1), np.array(y[None]))[0][0])

    def log_evidence(self) -> float:
        """The logarithm of the density of the data so far, the product of their predictive densities."""
        return self.log_probability

    def expected_covariance(self) -> Floats:
        """E[Lambda^-1] = Psi / (nu - d - 1), (d, d)."""
        return frozen(self.scatter / spare_degrees("NormalWishart.expected_covariance", self.degrees, len(self.mean)))

    def sample(self, rng: Generator) -> tuple[Floats, Floats]:
        """A mean, (d,), and a precision, (d, d), drawn from the belief (Bartlett's decomposition)."""
        rng = generator("NormalWishart.sample", rng)
        return normal_wishart_draw(self.mean, self.strength, self.degrees, self.scatter, rng)

    def draw(self, rng: Generator, n: int = 1) -> Floats:
        """Next data, each under its own mean and precision, (n, d)."""
        of = repeated(self, integer("NormalWishart.draw", "n", n, 1))
        return moved(of, *student_numbers(of, generator("NormalWishart.draw", rng)))[0]


# Many at once --------------------------------------------------------------------------------------------------------


class Statistics(NamedTuple):
    """The parameters of N Normal-Wishart distributions that have seen the same number of data."""

    mean: Floats
    """m, (N, d)."""
    strength: float
    """kappa."""
    degrees: float
    """nu."""
    scatter: Floats
    """Psi, (N, d, d)."""

    def some(self, chosen: Ints) -> Statistics:
        """Those of the chosen particles, copied."""
        return self._replace(mean=frozen(self.mean[chosen]), scatter=frozen(self.scatter[chosen]))

    def after(self, mean: Floats, scatter: Floats) -> Statistics:
        """Those after one more datum of each particle, as `moved` and `weighed` give them."""
        return Statistics(frozen(mean), self.strength + 1.0, self.degrees + 1.0, frozen(scatter))


def repeated(belief: NormalWishart, n: int) -> Statistics:
    """The same parameters for each of n particles."""
    mean, scatter = np.repeat(belief.mean[None], n, axis=0), np.repeat(belief.scatter[None], n, axis=0)
    return Statistics(frozen(mean), float(belief.strength), float(belief.degrees), frozen(scatter))


def normal_wishart_draw(m: Floats, kappa: float, nu: float, Psi: Floats, rng: Generator) -> tuple[Floats, Floats]:
    """A mean, (d,), and a precision, (d, d)."""
    d, A = len(m), np.zeros((len(m), len(m)))
    for j in range(d):
        A[j, :j], A[j, j] = rng.standard_normal(j), math.sqrt(rng.chisquare(nu - j))
    T = np.linalg.solve(np.linalg.cholesky(Psi).T, A)  # Lambda = T T'
    return m + np.linalg.solve(T.T, rng.standard_normal(d)) / math.sqrt(kappa), T @ T.T


def student_numbers(of: Statistics, rng: Generator) -> tuple[Floats, Floats]:
    """The random numbers of `moved`: standard normal ones, (N, d), and chi-squared ones, (N,)."""
    n, d = of.mean.shape
    return rng.standard_normal((n, d)), rng.chisquare(of.degrees - d + 1.0, n)


@njit
def moved(of: Statistics, normal: F2, chi: F1) -> tuple[F2, F2, F3]:
    """For each particle a datum x from its predictive, and m and Psi after x."""
    m, kappa, _, Psi = of
    n, d = m.shape
    x, mean, scatter, L = np.empty((n, d)), np.empty((n, d)), np.empty((n, d, d)), np.empty((d, d))
    for i in range(n):
        cholesky(Psi, i, L)
        scale = np.sqrt((kappa + 1.0) / (kappa * chi[i]))
        for j in range(d):
            total = 0.0
            for k in range(j + 1):
                total += L[j, k] * normal[i, k]
            x[i, j] = m[i, j] + scale * total
        learn(of, i, x, mean, scatter)
    return x, mean, scatter


@njit
def weighed(of: Statistics, x: F2) -> tuple[F1, F2, F3]:
    """For each particle the log predictive density of its datum x, and m and Psi after x."""
    m, kappa, nu, Psi = of
    n, d = m.shape
    log_density, mean, scatter = np.empty(n), np.empty((n, d)), np.empty((n, d, d))
    L, y = np.empty((d, d)), np.empty(d)
    f = nu - d + 1.0
    constant = math.lgamma(0.5 * (f + d)) - math.lgamma(0.5 * f) - 0.5 * d * np.log(np.pi * (kappa + 1.0) / kappa)
    for i in range(n):
        cholesky(Psi, i, L)
        square, half_log_det = 0.0, 0.0
        for j in range(d):  # y = L^-1 (x - m)
            total = x[i, j] - m[i, j]
            for k in range(j):
                total -= L[j, k] * y[k]
            y[j] = total / L[j, j]
            square += y[j] * y[j]
            half_log_det += np.log(L[j, j])
        log_density[i] = constant - half_log_det - 0.5 * (f + d) * np.log1p(kappa / (kappa + 1.0) * square)
        learn(of, i, x, mean, scatter)
    return log_density, mean, scatter


@njit
def learn(of: Statistics, i: int, x: F2, mean: F2, scatter: F3) -> None:
    """m and Psi of particle i after its x, written into `mean` and `scatter`."""
    m, kappa, _, Psi = of
    share = 1.0 / (kappa + 1.0)
    for j in range(m.shape[1]):
        off = x[i, j] - m[i, j]
        mean[i, j] = m[i, j] + share * off
        for k in range(m.shape[1]):
            scatter[i, j, k] = Psi[i, j, k] + kappa * share * off * (x[i, k] - m[i, k])


@njit
def cholesky(A: F3, i: int, L: F2) -> None:
    """The lower factor of matrix i, written into L."""
    for j in range(len(L)):
        for k in range(j + 1):
            total = A[i, j, k]
            for h in range(k):
                total -= L[j, h] * L[k, h]
            L[j, k] = np.sqrt(total) if j == k else total / L[k, k]


# Checks --------------------------------------------------------------------------------------------------------------


def covariance_matrix(owner: str, name: str, x: ArrayLike, d: int | None = None) -> Floats:
    """A symmetric positive definite matrix, (d, d); a number is a matrix of one."""
    S = array(owner, name, x, moderate=True)
    S = array(owner, name, S.reshape(1, 1) if S.ndim == 0 else S, (d, d))
    if S.shape[0] != S.shape[1] or np.abs(S - S.T).max() > 1e-9 * np.abs(S).max():
        raise InvalidArgument(owner, name, "a symmetric matrix", S)
    if not np.linalg.eigvalsh(S)[0] > 1e-14 * np.abs(S).max():
        raise InvalidArgument(owner, name, "a positive definite matrix", S)
    return frozen(0.5 * (S + S.T))


def spare_degrees(owner: str, degrees: float, d: int) -> float:
    """nu - d - 1, by which the scatter is divided in E[Sigma]."""
    if not degrees > d + 1.0:
        raise InvalidArgument(owner, "degrees", f"greater than d + 1 = {d + 1}, or E[Sigma] is infinite", degrees)
    return degrees - d - 1.0
