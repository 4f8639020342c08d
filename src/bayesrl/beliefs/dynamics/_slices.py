"""Elliptical slice sampling of hidden trajectories (Murray, Adams and MacKay 2010).

The method needs coordinates whose prior is standard normal, and any likelihood. The prior of a trajectory is not
Gaussian: the covariance of its later states depends on its earlier ones. There are two charts with such coordinates.

`Innovations`: the standard normal numbers that make a trajectory. The likelihood is the density of the observations
and of learned rewards.
`Around`: a normal law around the most probable trajectory stands for the prior, and the likelihood is the log joint
less the log density of that law (Nishihara, Murray and Adams 2014). The law is Laplace's approximation, a little wider.
It is made from the data alone, and not from the particles.

In both, prior times likelihood is the posterior, which is therefore invariant; so is it for a slice of the coordinates
of some states with the others fixed. Innovations move states of which little is known. They change all later states
too, so that long trajectories with precise observations hardly move. The second chart moves those as a whole, but
hardly a particle that is far from the most probable trajectory.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesrl.beliefs.dynamics._log_joint import log_joint, maximised
from bayesrl.beliefs.dynamics._pairs import steps
from bayesrl.beliefs.dynamics._trajectories import LOG_2_PI, NOTHING_YET, History, Model, Sample, Walk
from bayesrl.checks import Floats, frozen
from bayesrl.errors import InvalidArgument

SHRINKINGS = 200
"""A slice whose bracket has shrunk this often is empty up to rounding, and its particle stays."""
WIDER = 1.3
"""Standard deviations of the law around the most probable trajectory, in those of Laplace's approximation."""
FLATTEST = 1e-6
"""Curvatures at the most probable trajectory below this share of the largest are raised to it."""


class Chart(Protocol):
    """Coordinates of trajectories, (P, N, d), with a standard normal prior."""

    def coordinates(self, sample: Sample) -> Floats:
        """Those of the particles."""

    def built(self, e: Floats) -> Walk:
        """The trajectories that have these coordinates."""

    def likelihood(self, sample: Sample, e: Floats) -> Floats:
        """The log likelihood of each particle, given its coordinates, (P,)."""


class Innovations(NamedTuple):
    """The standard normal numbers that drew each state."""

    model: Model
    history: History

    def coordinates(self, sample: Sample) -> Floats:
        return innovations(self.model, self.history, sample)

    def built(self, e: Floats) -> Walk:
        return rebuilt(self.model, self.history, e)

    def likelihood(self, sample: Sample, e: Floats) -> Floats:
        return densities(self.model, sample)


class Around(NamedTuple):
    """x = mode + root e: a normal law around the most probable trajectory."""

    model: Model
    history: History
    mode: Floats
    root: Floats
    """(N d, N d)."""

    def coordinates(self, sample: Sample) -> Floats:
        away = (sample.states - self.mode).reshape(len(sample.states), -1)
        return np.asarray(np.linalg.solve(self.root, away.T), np.float64).T.reshape(sample.states.shape)

    def built(self, e: Floats) -> Walk:
        X = self.mode + (e.reshape(len(e), -1) @ self.root.T).reshape(e.shape)
        return rebuilt(self.model, self.history, X, drawn=False)

    def likelihood(self, sample: Sample, e: Floats) -> Floats:
        return joint_densities(self.model, self.history, sample) + 0.5 * np.sum(e * e, axis=(1, 2))


def around(model: Model, history: History) -> Around | None:
    """Laplace's approximation at a maximum of the log joint; None if the log joint is singular there."""
    start = rebuilt(model, history, np.zeros((1, history.length, len(model.start)))).X[0]
    try:
        mode = maximised("GPPOMDP", model, history, [start])
        H = np.zeros((mode.size, mode.size))
        for i, h in enumerate(10.0 * steps(mode).ravel()):
            shift = np.zeros(mode.size)
            shift[i] = h
            sides = [mode + sign * shift.reshape(mode.shape) for sign in (1.0, -1.0)]
            forth, back = (log_joint("GPPOMDP", model, history, x)[1].ravel() for x in sides)
            H[i] = (back - forth) / (2.0 * h)
    except InvalidArgument:
        return None
    curvature, axes = np.linalg.eigh(0.5 * (H + H.T))
    root = WIDER * axes / np.sqrt(np.maximum(curvature, FLATTEST * curvature[-1]))
    return Around(model, history, mode, np.asarray(root, np.float64))


# Trajectories from coordinates ---------------------------------------------------------------------------------------


def innovations(model: Model, history: History, sample: Sample) -> Floats:
    """The standard normal numbers that made these trajectories, (P, N, d)."""
    e = np.zeros(sample.states.shape)
    away = sample.states[:, history.first] - model.start
    e[:, history.first] = np.linalg.solve(model.root, away[..., None])[..., 0]
    e[:, history.before + 1] = np.swapaxes(sample.move_w[:, : len(model.start)], 1, 2)
    return e


def rebuilt(model: Model, history: History, e: Floats, drawn: bool = True) -> Walk:
    """The trajectories that these numbers draw, (P, N, d), or those that are these states, with their processes."""
    walk = Walk(model, NOTHING_YET, None, np.arange(len(e)), history.length)
    moved, looked, first = 0, 0, set(history.first.tolist())
    for t in range(history.length):
        if t in first:
            walk.begin(e[:, t], drawn)
        else:
            reward = float(history.rewards[moved]) if model.learns_reward else None
            walk.step(history.actions[moved], e[:, t], drawn, reward)
            moved += 1
        if looked < len(history.seen) and history.seen[looked] == t:
            walk.observe(history.observations[looked])
            looked += 1
    return walk


def belongs(model: Model, history: History, sample: Sample) -> bool:
    """Whether the factors of a sample are those of its trajectories and of the history."""
    if history.rewards.shape != (len(history.actions) * model.learns_reward,):
        return False
    try:
        walk = rebuilt(model, history, sample.states, drawn=False)
    except (ValueError, IndexError, TypeError):
        return False
    pairs = zip(walk.sample(sample.weights), sample, strict=True)
    return all(a.shape == b.shape and np.allclose(a, b, rtol=1e-6, atol=1e-8) for a, b in pairs)


# Slices --------------------------------------------------------------------------------------------------------------


def swept(model: Model, history: History, old: Sample, rng: Generator, sweeps: int) -> Sample:
    """The particles after sweeps of slices; weights stay.

    A sweep moves whole trajectories around the most probable one, then the innovations of a run of states of random
    place and length.
    """
    sample = Sample._make([*(x.copy() for x in old[:-1]), old.weights])
    whole, t = around(model, history), np.arange(history.length)
    for _ in range(sweeps):
        if whole is not None:
            slice_moved(whole, sample, t >= 0, rng)
        low, high = np.sort(rng.integers(history.length, size=2))
        slice_moved(Innovations(model, history), sample, (t >= low) & (t <= high), rng)
    return Sample._make(map(frozen, sample))


def slice_moved(chart: Chart, sample: Sample, inside: NDArray[np.bool_], rng: Generator) -> None:
    """One elliptical slice for each particle, in place: the coordinates of the states `inside` move, others stay.

    New coordinates e cos(t) + f sin(t), with f drawn like e, are accepted if their likelihood is above a uniform share
    of the present one. Otherwise the bracket of t shrinks to that side, towards t = 0, where nothing moves.
    """
    e = chart.coordinates(sample)
    f = rng.standard_normal(e.shape)
    level = chart.likelihood(sample, e) + np.log1p(-rng.random(len(e)))
    t = rng.uniform(0.0, 2.0 * math.pi, len(e))
    low, high, active = t - 2.0 * math.pi, t.copy(), np.arange(len(e))
    for _ in range(SHRINKINGS):
        angle = t[active, None, None]
        new = np.where(inside[:, None], e[active] * np.cos(angle) + f[active] * np.sin(angle), e[active])
        grown = chart.built(new).sample(sample.weights[active])
        accepted = chart.likelihood(grown, new) > level[active]
        for kept, moved in zip(sample[:-1], grown[:-1], strict=True):
            kept[active[accepted]] = moved[accepted]
        active = active[~accepted]
        if len(active) == 0:
            break
        side = t[active] < 0.0
        low[active[side]], high[active[~side]] = t[active[side]], t[active[~side]]
        t[active] = rng.uniform(low[active], high[active])


# Densities of particles ----------------------------------------------------------------------------------------------


def densities(model: Model, sample: Sample) -> Floats:
    """The log density of all observations and learned rewards given each trajectory, (P,), from its factors."""
    seen = _log_density(sample.see, sample.see_w)
    return seen + _log_density(sample.move[:, -1:], sample.move_w[:, -1:]) if model.learns_reward else seen


def joint_densities(model: Model, history: History, sample: Sample) -> Floats:
    """The log joint of each trajectory, the observations and learned rewards, (P,), from its factors."""
    e = innovations(model, history, sample)[:, history.first]
    starts = -0.5 * np.sum(e * e, axis=(1, 2)) - len(history.first) * float(np.log(np.diagonal(model.root)).sum())
    starts -= 0.5 * e[0].size * LOG_2_PI
    return starts + _log_density(sample.move, sample.move_w) + _log_density(sample.see, sample.see_w)


def _log_density(L: Floats, w: Floats) -> Floats:
    """-w'w/2 - sum log pivots - (n/2) log 2 pi for each particle. A factor of all D coordinates counts D times."""
    D, n = w.shape[1:]
    pivots = L[:, :, np.arange(n) * (np.arange(n) + 3) // 2]
    logs = np.log(pivots).sum(axis=(1, 2)) * (D / L.shape[1])
    return np.asarray(-0.5 * np.sum(w * w, axis=(1, 2)) - logs - 0.5 * n * D * LOG_2_PI)
