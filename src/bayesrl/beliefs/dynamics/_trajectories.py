"""Hidden trajectories under two Gaussian processes: particles that grow by a state.

Each particle is a trajectory with its own two processes: the dynamics given its states and actions, and the sensor
given its states. For both it keeps the packed Cholesky factor L of the covariance of its data and w = L^-1 (data -
mean). A new input with covariances a to the old ones, and variance v with the noise, adds one row:

    l = L^-1 a,   sd^2 = v - l'l,   mean = m(input) + l'w,   w_new = (datum - mean)/sd.

For the dynamics w_new is the standard normal number e that drew the next state. A trajectory is therefore a function of
independent standard normal numbers, its innovations: those of the first states and w. `_slices.py` moves in them.

A learned reward, r = g_R(x, a) + noise with a prior mean of zero, is one more coordinate of the dynamics, the last one.
It has the same inputs, but its datum is seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesrl.beliefs.covariances import Covariance
from bayesrl.beliefs.dynamics._pairs import between
from bayesrl.checks import Floats, frozen
from bayesrl.errors import ImpossibleEvidence
from bayesrl.kernels.arrays import F1, F2, F3
from bayesrl.kernels.jit import any_order

LOG_2_PI = math.log(2.0 * math.pi)
Places = NDArray[np.int64]


class Function(NamedTuple):
    """An unknown function: one process for each of its D coordinates, with noise."""

    prior: tuple[Covariance, ...]
    """One covariance for all coordinates, or one for each."""
    noise: Floats
    """Variances of the noise, as many as covariances."""
    mean: Callable[[Floats], Floats]
    """Prior mean of rows (n, k), shape (n, D)."""
    outputs: int
    """D."""


class Model(NamedTuple):
    """The priors of all functions and of the first state."""

    move: Function
    """The next state from rows (state, action), and the reward last if it is learned."""
    see: Function
    """The observation from states."""
    start: Floats
    """Mean of the first state, (d,)."""
    root: Floats
    """Lower Cholesky factor of its covariance, (d, d)."""

    @property
    def learns_reward(self) -> bool:
        """Whether the reward is one more process."""
        return self.move.outputs > len(self.start)


NO_REWARDS = frozen(np.zeros(0))


class History(NamedTuple):
    """The actions, observations and rewards. States are numbered through all sequences."""

    length: int
    """Number of states, N."""
    running: bool
    """Whether the last sequence goes on."""
    first: Places
    """The first state of each sequence, (S,)."""
    actions: Floats
    """The actions taken, in order, (N - S, k)."""
    seen: Places
    """States of which an observation came, (M,)."""
    observations: Floats
    """These observations, (M, e)."""
    rewards: Floats = NO_REWARDS
    """Rewards of the actions, (N - S,), if they are learned."""

    @property
    def before(self) -> Places:
        """The states in which an action was taken, (N - S,)."""
        acted = np.ones(self.length, bool)
        acted[self.first[1:] - 1] = False
        acted[self.length - 1 :] = False
        return np.flatnonzero(acted)

    def grown(self, action: Floats | None, z: Floats | None, reward: float | None = None) -> History:
        """After one more state, which is the first of a sequence if there is no action, and which may be seen."""
        first, actions, seen, observations, rewards = self[2:]
        rewards = rewards if reward is None else frozen(np.append(rewards, reward))
        if action is None:
            first = np.append(first, self.length)
        else:
            actions = np.append(actions.reshape(len(actions), len(action)), action[None], axis=0)
        if z is not None:
            seen, observations = np.append(seen, self.length), np.append(observations, z[None], axis=0)
        data = frozen(first), frozen(actions), frozen(seen), frozen(observations), rewards
        return History(self.length + 1, True, *data)


def nothing_yet(actions: int, observations: int) -> History:
    """The history before the first step."""
    none = np.zeros(0, np.int64)
    return History(0, False, none, np.zeros((0, actions)), none, np.zeros((0, observations)))


NOTHING_YET = nothing_yet(0, 0)


class Sample(NamedTuple):
    """Weighted trajectories with their processes."""

    states: Floats
    """(P, N, d)."""
    move: Floats
    """Packed factors of the dynamics, (P, C, n (n + 1)/2) with n = N - S."""
    move_w: Floats
    """(P, d, n); (P, d + 1, n) if the reward is learned."""
    see: Floats
    """Packed factors of the sensor, (P, C, M (M + 1)/2)."""
    see_w: Floats
    """(P, e, M)."""
    weights: Floats
    """They sum to one, (P,)."""

    def taken(self, chosen: Places, weights: Floats) -> Sample:
        """Copies of chosen particles, with these weights."""
        return Sample._make([*(frozen(x[chosen]) for x in self[:-1]), frozen(weights)])


class Growing:
    """One function in every particle, with room for more data."""

    def __init__(self, function: Function, particles: int, room: int) -> None:
        self.function, self.n = function, 0
        self.L = np.zeros((particles, len(function.prior), room * (room + 1) // 2))
        self.w = np.zeros((particles, function.outputs, room))

    def copy(self, L: Floats, w: Floats) -> None:
        """Begin with these factors."""
        self.n = w.shape[2]
        self.L[:, :, : L.shape[2]] = L
        self.w[:, :, : self.n] = w

    def given(self, x: Floats, Y: Floats) -> tuple[Floats, Floats]:
        """Add the input x, (P, k), to the inputs Y, (P, n, k): mean and standard deviation of its datum, (P, D)."""
        f, n = self.function, self.n
        K = np.stack([between(k, x, Y) if n else np.zeros((len(x), 0)) for k in f.prior], axis=1)
        v = np.stack([k.variances(x) for k in f.prior], axis=1) + f.noise
        add_row(self.L, K, v, f.noise)
        row = self.L[:, :, n * (n + 1) // 2 :]
        mean = f.mean(x) + np.sum(row[:, :, :n] * self.w[:, :, :n], axis=2)
        return mean, np.broadcast_to(row[:, :, n], mean.shape)

    def add(self, w: Floats) -> None:
        """Add the datum whose whitened residual is w, (P, D)."""
        self.w[:, :, self.n] = w
        self.n += 1


class Walk:
    """Trajectories that grow: the chosen particles of a sample, or empty ones, with room for more states."""

    def __init__(self, model: Model, history: History, sample: Sample | None, chosen: Places, more: int) -> None:
        P, n = len(chosen), history.length
        self.model, self.n = model, n
        self.before, self.actions, self.seen = list(history.before), list(history.actions), list(history.seen)
        self.X = np.zeros((P, n + more, len(model.start)))
        self.move = Growing(model.move, P, len(self.before) + more)
        self.see = Growing(model.see, P, len(self.seen) + more)
        if sample is not None:
            self.X[:, :n] = sample.states[chosen]
            self.move.copy(sample.move[chosen], sample.move_w[chosen])
            self.see.copy(sample.see[chosen], sample.see_w[chosen])

    @property
    def state(self) -> Floats:
        """The last states, (P, d)."""
        return self.X[:, self.n - 1]

    def begin(self, e: Floats, drawn: bool = True) -> None:
        """Begin a sequence: its first state drawn by standard normal numbers, (P, d), or given."""
        self.X[:, self.n] = self.model.start + e @ self.model.root.T if drawn else e
        self.n += 1

    def step(self, action: Floats, e: Floats, drawn: bool = True, reward: float | None = None) -> None:
        """Extend each trajectory under its own process, by standard normal numbers, (P, d), or by given states.

        A learned reward is a datum of the action. Without one (None) it is what each particle expects.
        """
        mean, sd = self.move.given(with_action(self.state, action), self._inputs())
        w, d = np.zeros(mean.shape), e.shape[1]
        w[:, :d] = e if drawn else (e - mean[:, :d]) / sd[:, :d]
        if reward is not None:
            w[:, d:] = (reward - mean[:, d:]) / sd[:, d:]
        self.X[:, self.n] = mean[:, :d] + sd[:, :d] * e if drawn else e
        self.move.add(w)
        self.before.append(self.n - 1)
        self.actions.append(action)
        self.n += 1

    def paid(self, action: Floats) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the learned reward of an action now, given each particle's past, (P,)."""
        mean, sd = self.move.given(with_action(self.state, action), self._inputs())
        return mean[:, -1], sd[:, -1]

    def earned(self) -> Floats:
        """The log density of the last learned reward in each particle, given its past, (P,)."""
        n = self.move.n
        w, sd = self.move.w[:, -1, n - 1], self.move.L[:, -1, n * (n + 1) // 2 - 1]
        with np.errstate(over="ignore"):
            return np.asarray(-0.5 * w * w - np.log(sd) - 0.5 * LOG_2_PI)

    def sensed(self) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the observation of the last state, given each particle's past, (P, e)."""
        return self.see.given(self.state, self.X[:, self.seen])

    def observe(self, z: Floats) -> Floats:
        """Learn the observation of the last state. The log density of it in each particle, (P,)."""
        mean, sd = self.sensed()
        w = (z - mean) / sd
        self.see.add(w)
        self.seen.append(self.n - 1)
        return np.asarray(-0.5 * np.sum(w * w, axis=1) - np.sum(np.log(sd), axis=1) - 0.5 * len(z) * LOG_2_PI)

    def _inputs(self) -> Floats:
        """States and actions of the dynamics' data, (P, n, d + k)."""
        X = self.X[:, self.before]
        if not self.actions:
            return X
        return np.concatenate([X, np.broadcast_to(self.actions, (len(X), *np.shape(self.actions)))], axis=2)

    def sample(self, weights: Floats) -> Sample:
        """The trajectories with these weights."""
        n, m = self.move.n, self.see.n
        grown = (self.X[:, : self.n], self.move.L[:, :, : n * (n + 1) // 2], self.move.w[:, :, :n])
        sensor = (self.see.L[:, :, : m * (m + 1) // 2], self.see.w[:, :, :m])
        return Sample._make(map(frozen, (*grown, *sensor, weights)))


def with_action(x: Floats, action: Floats) -> Floats:
    """Rows (state, action) of states with one action."""
    return np.concatenate([x, np.broadcast_to(action, (len(x), len(action)))], axis=1)


@any_order
def add_row(L: F3, K: F3, v: F2, noise: F1) -> None:
    """Append a row to each packed factor: covariances K, (P, C, n), and variances v, (P, C), of a new datum.

    The variance given the other data is at least that of the noise, and rounding may not make it smaller.
    """
    P, C, n = K.shape
    for p in range(P):
        for c in range(C):
            factor = L[p, c]
            new = factor[n * (n + 1) // 2 : n * (n + 1) // 2 + n + 1]
            squares = 0.0
            for i in range(n):
                row, total = factor[i * (i + 1) // 2 : i * (i + 1) // 2 + i + 1], 0.0
                for j in range(i):
                    total += row[j] * new[j]
                new[i] = (K[p, c, i] - total) / row[i]
                squares += new[i] * new[i]
            new[n] = math.sqrt(max(v[p, c] - squares, noise[c]))


# Weights -------------------------------------------------------------------------------------------------------------


def systematic(weights: Floats, n: int, rng: Generator) -> Places:
    """Numbers of n particles, by systematic resampling."""
    below = np.cumsum(weights)
    chosen = np.searchsorted(below, (np.arange(n) + rng.random()) / n * below[-1], side="right")
    return np.asarray(np.minimum(chosen, len(below) - 1))


def observed(walk: Walk, weights: Floats, z: Floats | None) -> tuple[Floats, float]:
    """Learn an observation, if there is one: the new weights, and the log of its mean density."""
    if z is None:
        return weights, 0.0
    with np.errstate(all="ignore"):
        densities = walk.observe(z)
    return weighed(weights, densities, f"the observation {z.tolist()}")


def weighed(weights: Floats, densities: Floats, evidence: str) -> tuple[Floats, float]:
    """The weights after evidence with these log densities, (P,), and the log of its mean density."""
    with np.errstate(all="ignore"):
        logs = np.log(weights) + densities
    top = float(np.max(logs))
    if not math.isfinite(top):
        raise ImpossibleEvidence("GPPOMDP", evidence, "its density is zero in every particle")
    new = np.exp(logs - top)
    return new / new.sum(), top + math.log(float(new.sum()))


def moments(X: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Weighted means, (N, d), and covariances, (N, d, d), of particles (P, N, d)."""
    mean = np.einsum("p,pnd->nd", weights, X)
    away = X - mean
    return mean, np.einsum("p,pnd,pne->nde", weights, away, away)
