"""Elliptical slice sampling of hidden trajectories (Murray, Adams and MacKay 2010).

The method needs a Gaussian prior and any likelihood. The prior of a trajectory is not Gaussian: the covariance of its
later states depends on its earlier ones. Its innovations are independent standard normal numbers, and the trajectory is
a function of them (`rebuilt`). So the slices are taken in the innovations, with the density of the observations as the
likelihood. The posterior of the innovations is invariant, and with it that of the trajectory. A slice of some
innovations, with the others fixed, is invariant too.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesrl.checks import Floats, frozen
from bayesrl.continuous._trajectories import LOG_2_PI, NOTHING_YET, Function, History, Model, Sample, Walk

SHRINKINGS = 200
"""A slice whose bracket has shrunk this often is empty up to rounding, and its particle stays."""


class Innovations(NamedTuple):
    """The standard normal numbers that make a trajectory."""

    first: Floats
    """Those of the first states, (P, S, d)."""
    moves: Floats
    """Those of the other states, (P, N - S, d)."""


def innovations(model: Model, history: History, sample: Sample) -> Innovations:
    """The numbers that made these trajectories."""
    first = np.linalg.solve(model.root, (sample.states[:, history.first] - model.start)[..., None])[..., 0]
    return Innovations(np.asarray(first, np.float64), np.swapaxes(sample.move_w, 1, 2))


def rebuilt(model: Model, history: History, e: Innovations) -> tuple[Walk, Floats]:
    """The trajectories that these numbers make, and the log density of all observations given each, (P,)."""
    P, N = len(e.first), history.length
    walk = Walk(model, NOTHING_YET, None, np.arange(P), N)
    likelihood, sequence, moved, looked = np.zeros(P), 0, 0, 0
    for t in range(N):
        if sequence < len(history.first) and history.first[sequence] == t:
            walk.begin(e.first[:, sequence])
            sequence += 1
        else:
            walk.step(history.actions[moved], e.moves[:, moved])
            moved += 1
        if looked < len(history.seen) and history.seen[looked] == t:
            likelihood += walk.observe(history.observations[looked])
            looked += 1
    return walk, likelihood


def swept(model: Model, history: History, old: Sample, rng: Generator, sweeps: int) -> Sample:
    """The particles after elliptical slice sampling of their innovations; weights stay.

    A sweep moves all innovations, and then those of a run of states of random place and length.
    """
    e = innovations(model, history, old)
    e = Innovations(e.first.copy(), e.moves.copy())
    sample = Sample._make([*(x.copy() for x in old[:-1]), old.weights])
    likelihood = densities(model, sample)
    for _ in range(sweeps):
        low, high = np.sort(rng.integers(history.length, size=2))
        for ends in ((0, history.length - 1), (low, high)):
            t = np.arange(history.length)
            inside = (t >= ends[0]) & (t <= ends[1])
            slice_moved(model, history, sample, e, likelihood, inside, rng)
    return Sample._make(map(frozen, sample))


def slice_moved(
    model: Model, history: History, sample: Sample, e: Innovations, likelihood: Floats, inside: NDArray[np.bool_],
    rng: Generator,
) -> None:  # fmt: skip
    """One elliptical slice for each particle, in place: the numbers of the states `inside` move, the others stay.

    The new numbers e cos(t) + f sin(t), with f drawn like e, are accepted if the likelihood is above a uniform share of
    the present one. Otherwise the bracket of t shrinks to that side, towards t = 0, where nothing moves.
    """
    first, moves = inside[history.first][:, None], inside[history.before + 1][:, None]
    f = Innovations(rng.standard_normal(e.first.shape), rng.standard_normal(e.moves.shape))
    level = likelihood + np.log1p(-rng.random(len(likelihood)))
    t = rng.uniform(0.0, 2.0 * math.pi, len(likelihood))
    low, high = t - 2.0 * math.pi, t.copy()
    active = np.arange(len(t))
    for _ in range(SHRINKINGS):
        c, s = np.cos(t[active])[:, None, None], np.sin(t[active])[:, None, None]
        new = Innovations(
            np.where(first, e.first[active] * c + f.first[active] * s, e.first[active]),
            np.where(moves, e.moves[active] * c + f.moves[active] * s, e.moves[active]),
        )
        walk, density = rebuilt(model, history, new)
        accepted = density > level[active]
        to = active[accepted]
        for kept, grown in zip(sample[:-1], walk.sample(density)[:-1], strict=True):
            kept[to] = grown[accepted]
        e.first[to], e.moves[to], likelihood[to] = new.first[accepted], new.moves[accepted], density[accepted]
        active = active[~accepted]
        if len(active) == 0:
            break
        side = t[active] < 0.0
        low[active[side]], high[active[~side]] = t[active[side]], t[active[~side]]
        t[active] = rng.uniform(low[active], high[active])


def densities(model: Model, sample: Sample) -> Floats:
    """The log density of all observations given each trajectory, (P,), from its factors."""
    return _log_density(model.see, sample.see, sample.see_w)


def joint_densities(model: Model, history: History, sample: Sample) -> Floats:
    """The log joint of each trajectory and the observations, (P,), from its factors."""
    e = innovations(model, history, sample).first
    starts = -0.5 * np.sum(e * e, axis=(1, 2)) - len(history.first) * float(np.log(np.diagonal(model.root)).sum())
    starts -= 0.5 * e[0].size * LOG_2_PI
    return starts + _log_density(model.move, sample.move, sample.move_w) + densities(model, sample)


def _log_density(f: Function, L: Floats, w: Floats) -> Floats:
    """-w'w/2 - sum log pivots - (n/2) log 2 pi for each particle. A factor of all coordinates counts D times."""
    n = w.shape[2]
    pivots = L[:, :, np.arange(n) * (np.arange(n) + 3) // 2]
    logs = np.log(pivots).sum(axis=(1, 2)) * (f.outputs / len(f.prior))
    return np.asarray(-0.5 * np.sum(w * w, axis=(1, 2)) - logs - 0.5 * n * f.outputs * LOG_2_PI)


def belongs(model: Model, history: History, sample: Sample) -> bool:
    """Whether the factors of a sample are those of its trajectories and of the history."""
    try:
        walk, _ = rebuilt(model, history, innovations(model, history, sample))
    except (ValueError, IndexError, TypeError):
        return False
    pairs = zip(walk.sample(sample.weights), sample, strict=True)
    return all(a.shape == b.shape and np.allclose(a, b, rtol=1e-6, atol=1e-8) for a, b in pairs)
