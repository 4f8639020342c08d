"""Parts of particle filters of continuous states: noises, resampling, and the checks of users' functions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.linalg import solve_triangular

from bayesrl.beliefs.dynamics.normal_wishart import (
    NormalWishart,
    Statistics,
    covariance_matrix,
    moved,
    normal_wishart_draw,
    spare_degrees,
    student_numbers,
    weighed,
)
from bayesrl.beliefs.dynamics.vectors import vector
from bayesrl.checks import Floats, Ints, array, frozen, number
from bayesrl.errors import InvalidArgument

Noise = NormalWishart | Floats
"""An unknown noise, or the covariance of a known one with mean zero."""
POINTS = {1: 20, 2: 12, 3: 8, 4: 5}
"""Points of a Gauss-Hermite rule in each dimension, by the number of dimensions."""


# Noises --------------------------------------------------------------------------------------------------------------


def noise_of(owner: str, name: str, given: Any, d: int) -> Noise:
    """A noise from a belief, a covariance matrix, or the standard deviation of each of d coordinates."""
    if isinstance(given, NormalWishart):
        return given
    if isinstance(given, (int, float, np.number)):
        return covariance_matrix(
            owner, name, number(owner, name, given, 0.0, above=True, moderate=True) ** 2 * np.eye(d)
        )
    if not isinstance(given, (np.ndarray, list, tuple)) or np.ndim(np.asarray(given, object)) < 2:
        raise InvalidArgument(owner, name, "a NormalWishart, a covariance matrix or a standard deviation", given)
    return covariance_matrix(owner, name, given)


def size_of(noise: Noise) -> int:
    """The number of coordinates."""
    return len(noise.mean if isinstance(noise, NormalWishart) else noise)


def start_of(owner: str, given: Any) -> tuple[Floats, Floats]:
    """The mean and the covariance of a first state. A covariance of zero is a known state."""
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise InvalidArgument(owner, "state", "the mean and the covariance of the first state", given)
    mean = vector(owner, "state", given[0], None)
    S = array(owner, "state", given[1], moderate=True)
    S = array(owner, "state", S.reshape(1, 1) if S.ndim == 0 else S, (len(mean), len(mean)))
    if np.abs(S - S.T).max() > 1e-9 * np.abs(S).max() or np.linalg.eigvalsh(S)[0] < -1e-12 * np.abs(S).max():
        raise InvalidArgument(owner, "state", "a mean and a symmetric covariance without negative eigenvalues", S)
    return mean, S


def drawn(of: Statistics | Floats, n: int, rng: Generator) -> tuple[Floats, Any]:
    """A noise for each particle from its predictive distribution, (n, d), and the statistics after it."""
    if not isinstance(of, Statistics):
        return rng.standard_normal((n, len(of))) @ np.linalg.cholesky(of).T, of
    x, mean, scatter = moved(of, *student_numbers(of, rng))
    return x, of.after(mean, scatter)


def density(of: Statistics | Floats, x: Floats) -> tuple[Floats, Any]:
    """The log predictive density of each particle's noise, (n,), and the statistics after it."""
    if isinstance(of, Statistics):
        log_density, mean, scatter = weighed(of, x)
        return log_density, of.after(mean, scatter)
    L = np.linalg.cholesky(of)
    y = solve_triangular(L, x.T, lower=True)
    log_det = 2.0 * np.log(np.diagonal(L)).sum()
    return -0.5 * ((y * y).sum(axis=0) + log_det + len(L) * np.log(2.0 * np.pi)), of


class Sample(NamedTuple):
    """Weighted particles. A noise that is known has its covariance, (d, d), in place of statistics."""

    states: Floats | None
    """(N, d); None at the start of an episode, where they are not drawn yet."""
    weights: Floats
    """(N,); they sum to one."""
    noise: Statistics | Floats
    """Of v."""
    sensor: Statistics | Floats
    """Of w."""
    origin: Ints
    """The number of the particle of the prior from which each one descends, (N,)."""

    def chosen(self, rows: Ints) -> Sample:
        """These particles with equal weights, each with statistics of its own."""
        states = None if self.states is None else frozen(self.states[rows])
        noise, sensor = (x.some(rows) if isinstance(x, Statistics) else x for x in (self.noise, self.sensor))
        return Sample(states, frozen(np.full(len(rows), 1.0 / len(rows))), noise, sensor, frozen(self.origin[rows]))

    def moments(self, owner: str, of: Statistics | Floats) -> tuple[Floats, Floats]:
        """The expected mean, (d,), and the expected covariance, (d, d), of a noise."""
        if not isinstance(of, Statistics):
            return np.zeros(len(of)), of
        spare = spare_degrees(owner, of.degrees, of.mean.shape[1])
        return self.weights @ of.mean, np.tensordot(self.weights, of.scatter, 1) / spare

    def model(self, of: Statistics | Floats, rng: Generator) -> tuple[Floats, Floats]:
        """A mean, (d,), and a precision, (d, d), of a noise, drawn from the mixture of the particles."""
        if not isinstance(of, Statistics):
            return np.zeros(len(of)), np.asarray(np.linalg.inv(of), np.float64)
        i = int(pick(self.weights, 1, rng)[0])
        return normal_wishart_draw(of.mean[i], of.strength, of.degrees, of.scatter[i], rng)


# States --------------------------------------------------------------------------------------------------------------


def root(covariance: Floats) -> Floats:
    """A root R of a covariance R R', which may be singular."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def started(state: tuple[Floats, Floats], n: int, rng: Generator) -> Floats:
    """First states of an episode, (n, d)."""
    mean, covariance = state
    return np.asarray(mean + rng.standard_normal((n, len(mean))) @ root(covariance).T)


def normal_points(mean: Floats, covariance: Floats) -> tuple[Floats, Floats]:
    """Points, (n, d), and weights, (n,), of a rule for expectations under a normal distribution.

    Up to four dimensions a Gauss-Hermite product rule, beyond that two points on each axis (exact for cubics).
    """
    d = len(mean)
    if d in POINTS:
        x, p = np.polynomial.hermite_e.hermegauss(POINTS[d])
        grid = np.stack(np.meshgrid(*[x] * d, indexing="ij"), axis=-1).reshape(-1, d)
        weights = np.stack(np.meshgrid(*[p / p.sum()] * d, indexing="ij"), axis=-1).reshape(-1, d).prod(axis=1)
    else:
        grid, weights = np.sqrt(d) * np.vstack([np.eye(d), -np.eye(d)]), np.full(2 * d, 0.5 / d)
    return mean + grid @ root(covariance).T, weights


# Resampling ----------------------------------------------------------------------------------------------------------


def systematic(weights: Floats, n: int, rng: Generator) -> Ints:
    """The numbers of n particles, drawn by their weights with one uniform number."""
    below = np.cumsum(weights)
    ends = np.ceil(n * (below / below[-1]) - rng.random()).astype(np.int64)  # draws up to each particle
    ends[-1] = n
    return np.asarray(np.repeat(np.arange(len(weights)), np.diff(np.maximum(ends, 0), prepend=0)))


def pick(weights: Floats, n: int, rng: Generator) -> Ints:
    """The numbers of n particles, drawn independently by their weights."""
    below = np.cumsum(weights)
    chosen = np.searchsorted(below, rng.random(n) * below[-1], side="right")
    return np.asarray(np.minimum(chosen, len(weights) - 1))


# Users' functions ----------------------------------------------------------------------------------------------------


def add(s: Floats, a: Floats, v: Floats) -> Floats:
    """s + a + v, the simplest transition."""
    return s + a + v


def remove(s: Floats, a: Floats, y: Floats) -> Floats:
    """The v of y = s + a + v."""
    return y - s - a


def rows_of(owner: str, name: str, found: Any, shape: tuple[int | None, ...], finite: bool = True) -> Floats:
    """The result of a user's function as a new array of this shape. A column will do for a vector."""
    try:
        y = np.array(found, np.float64, order="C")
    except (TypeError, ValueError):
        y = np.zeros(0)
    y = y[:, 0] if len(shape) == 1 and y.ndim == 2 and y.shape[1] == 1 else y
    if y.ndim != len(shape) or any(n not in (None, m) for n, m in zip(shape, y.shape, strict=True)):
        wanted = tuple("any" if n is None else n for n in shape)
        raise InvalidArgument(owner, name, f"a function that gives an array of shape {wanted}", found)
    if finite and not np.isfinite(y).all():
        raise InvalidArgument(owner, name, "a function that gives finite numbers", y)
    return y


def solved(owner: str, name: str, found: Any, noise: Noise, n: int, pair: bool = False) -> tuple[Floats, Floats]:
    """The noise that an inverse gave, (n, d), and the logarithm of its derivative, (n,), which `pair` insists on."""
    both = isinstance(found, tuple) and len(found) == 2
    if pair and not both:
        raise InvalidArgument(owner, name, "a function that gives a pair, the noise and its log derivative", found)
    x = rows_of(owner, name, found[0] if both else found, (n, size_of(noise)), finite=False)
    said = found[1] if both else 0.0
    log_jacobian = rows_of(owner, name, np.full(n, said) if np.ndim(said) == 0 else said, (n,), finite=False)
    impossible = log_jacobian == -np.inf
    if not ((np.isfinite(x).all(axis=1) & np.isfinite(log_jacobian)) | impossible).all():
        raise InvalidArgument(owner, name, "finite, or with a log derivative of -inf where nothing fits", found)
    x[impossible] = 0.0
    return x, log_jacobian


def check_inverse(owner: str, name: str, again: Floats, z: Floats) -> None:
    """Refuse an inverse that does not invert."""
    if again.shape != (1, len(z)) or not np.allclose(again[0], z, rtol=1e-6, atol=1e-6):
        of = "transition" if name == "inverse" else "observation"
        raise InvalidArgument(
            owner, name, f"the inverse of '{of}', which must give {z.tolist()} again", again[0].tolist()
        )
