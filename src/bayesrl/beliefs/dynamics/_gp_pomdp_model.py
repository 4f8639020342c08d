"""The arguments of `gp-pomdp` checked, and the model that they make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bayesrl.beliefs.covariances import Covariance
from bayesrl.beliefs.dynamics._trajectories import Function, History, Model
from bayesrl.checks import Floats, array, as_array, called, frozen
from bayesrl.errors import InvalidArgument

OWNER = "GPPOMDP"


class Given(NamedTuple):
    """The arguments of one of the two functions."""

    name: str
    prior: tuple[Covariance, ...]
    noise: float | Floats
    mean: Callable[..., Any] | str


def model_of(
    transition: Given, observation: Given, state: tuple[Floats, Floats], reward: Covariance | None = None
) -> Model:
    """The functions and the start, with sizes that fit; a reward that has a covariance is learned.

    A sensor has as many coordinates as its mean gives. If its mean is one number, "state" or "zero", it has as many as
    its lists of covariances and noise say, or as the state.
    """
    m, S = state
    d, mean = len(m), observation.mean
    tried = np.tile(m, (3, 1))
    e = max(len(observation.prior), np.size(observation.noise))
    seen = as_array(called(OWNER, "observation_mean", mean, tried)).shape if callable(mean) else ()
    if len(seen) == 2:
        e = seen[1]
    elif seen == () and e == 1:
        e = d
    move = function(transition, d, d) if reward is None else with_reward(transition, reward, d)
    see = function(observation, e, d)
    see.mean(tried)
    for k in see.prior:
        k.matrix(tried, tried)
    return Model(move, see, m, np.asarray(np.linalg.cholesky(S), np.float64))


def function(given: Given, D: int, d: int) -> Function:
    """One of the two functions, with D coordinates, of states of d coordinates."""
    name, prior, mean, noise = given.name, given.prior, given.mean, np.atleast_1d(given.noise)
    for what, listed in ((name, prior), (f"{name}_noise", noise)):
        if len(listed) not in (1, D):
            raise InvalidArgument(OWNER, what, f"one, or one for each of {D} coordinates", len(listed))
    if mean == "state" and D != d:
        raise InvalidArgument(OWNER, f"{name}_mean", f"a function for {D} coordinates, as a state has {d}", mean)

    def rows(U: Floats) -> Floats:
        if isinstance(mean, str):
            return U[:, :d] if mean == "state" else np.zeros((len(U), D))
        inputs = (U[:, :d], U[:, d:]) if name == "transition" else (U,)
        got = as_array(called(OWNER, f"{name}_mean", mean, *inputs))
        got = got[:, None] if D == 1 and got.shape == (len(U),) else got
        numbers = got.dtype.kind in "biuf" and np.isfinite(got).all()
        if not numbers or got.shape not in ((), (len(U), D)):
            expected = f"a function that gives finite numbers of shape {(len(U), D)} for {len(U)} rows"
            raise InvalidArgument(OWNER, f"{name}_mean", expected, got)
        return np.broadcast_to(got.astype(np.float64), (len(U), D))

    C = max(len(prior), len(noise))
    return Function(prior * (C // len(prior)), np.square(np.broadcast_to(noise, C)), rows, D)


def with_reward(transition: Given, reward: Covariance, d: int) -> Function:
    """The dynamics of d coordinates, and the reward as one more, with a prior mean of zero and the last noise."""
    given = np.atleast_1d(transition.noise)
    if len(given) not in (1, d + 1):
        expected = f"one, or one for each of {d} coordinates and the learned reward"
        raise InvalidArgument(OWNER, "transition_noise", expected, len(given))
    noise = np.broadcast_to(given, d + 1)
    move = function(transition._replace(noise=noise[:d]), d, d)

    def rows(U: Floats) -> Floats:
        return np.column_stack([move.mean(U), np.zeros(len(U))])

    return Function((*move.prior * (d // len(move.prior)), reward), np.square(noise), rows, d + 1)


def covariances(name: str, given: Any) -> tuple[Covariance, ...]:
    """One covariance, or one for each coordinate."""
    listed = tuple(given) if isinstance(given, (list, tuple)) else (given,)
    if not listed or not all(isinstance(k, Covariance) for k in listed):
        raise InvalidArgument(OWNER, name, "a covariance, or a list with one for each coordinate", given)
    return listed


def deviations(name: str, given: Any) -> float | Floats:
    """Standard deviations from a number, a vector of them, or a diagonal covariance."""
    x = array(OWNER, name, given)
    if x.ndim == 2:
        S = positive(OWNER, name, x, len(x))
        if np.count_nonzero(S - np.diag(np.diagonal(S))):
            hint = "Coordinates are independent given the input."
            raise InvalidArgument(OWNER, name, "a number, a vector or a diagonal covariance", given, hint)
        x = np.sqrt(np.diagonal(S))
    if x.ndim > 1 or not (x > 0.0).all():
        raise InvalidArgument(OWNER, name, "greater than 0", given)
    x = array(OWNER, name, x, low=0.0, above=True, moderate=True)
    return float(x) if x.ndim == 0 else x


def normal(name: str, state: Any) -> tuple[Floats, Floats]:
    """A mean and a covariance."""
    if not isinstance(state, (tuple, list)) or len(state) != 2:
        raise InvalidArgument(OWNER, name, "a mean and a covariance", state)
    m = np.atleast_1d(array(OWNER, name, state[0], moderate=True))
    if m.ndim != 1:
        raise InvalidArgument(OWNER, name, "with a vector as mean", m)
    return frozen(m), frozen(positive(OWNER, name, state[1], m.size))


def positive(owner: str, name: str, given: Any, d: int) -> Floats:
    """A symmetric positive definite matrix, (d, d). A number is a variance of one coordinate."""
    S = np.atleast_2d(array(owner, name, given, moderate=True))
    if S.shape != (d, d):
        raise InvalidArgument(owner, name, f"with a covariance of shape {(d, d)}", S)
    if np.abs(S - S.T).max() > 1e-9 * np.abs(S).max() or np.linalg.eigvalsh(S).min() <= 1e-12 * np.abs(S).max():
        raise InvalidArgument(owner, name, "with a symmetric positive definite covariance", S)
    return S


def spread(n: int, d: int) -> Floats:
    """n points spread evenly over the standard normal distribution, (n, d): quantiles of an additive recurrence."""
    from scipy.special import ndtri

    ratio = 2.0
    for _ in range(40):  # the root of x^(d + 1) = x + 1: the golden ratio for d = 1
        ratio = (1.0 + ratio) ** (1.0 / (d + 1))
    return np.asarray(ndtri((0.5 + np.outer(np.arange(n), ratio ** -np.arange(1.0, d + 1.0))) % 1.0))


def action_in(owner: str, history: History, action: Any) -> Floats:
    """An action as a vector, of the size of those before."""
    a = np.atleast_1d(array(owner, "action", action, moderate=True))
    k = history.actions.shape[1] if len(history.actions) else None
    if a.ndim != 1 or k not in (None, a.size):
        expected = "a number or a vector" if k is None else f"a vector of {k} number{'s' * (k != 1)}"
        raise InvalidArgument(owner, "action", expected, action)
    return a


def seen_in(owner: str, model: Model, name: str, z: Any) -> Floats | None:
    """An observation as a vector; None is a missing one."""
    if z is None:
        return None
    e = model.see.outputs
    x = np.atleast_1d(array(owner, name, z, moderate=True))
    if x.shape != (e,):
        raise InvalidArgument(owner, name, f"a vector of {e} number{'s' * (e != 1)}, or None", z)
    return x
