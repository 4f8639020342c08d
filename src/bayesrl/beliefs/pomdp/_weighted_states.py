"""Weighted states: steps of all of them at once, new weights, and systematic resampling."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.pomdp.pomdp_filter import Tables
from bayesrl.checks import Floats, frozen
from bayesrl.kernels.arrays import B1, F1, I1
from bayesrl.kernels.jit import njit
from bayesrl.kernels.simulators.hidden_model import HiddenModel, draw_by
from bayesrl.kernels.simulators.simulator import Simulator
from bayesrl.kernels.simulators.simulator import step as simulated
from bayesrl.kernels.ties import better


class Sample(NamedTuple):
    """Weighted states."""

    states: Any
    """An array of state numbers if states are listed, otherwise a tuple of states."""
    weights: Floats
    """They sum to one."""


class Drawn(NamedTuple):
    """Draws of a step."""

    states: Any
    """As those of a sample: all that were drawn or, by rejection, those that are kept."""
    weights: Floats
    """The weight of each before, times the probability of what was seen there; their sum estimates that probability."""
    counted: tuple[list[int], int] | None = None
    """By rejection: which draws fitted, counted from 1, and the number of draws."""

    @property
    def fitting(self) -> int:
        """How many draws fitted what was seen."""
        return int(np.count_nonzero(self.weights)) if self.counted is None else len(self.counted[0])

    def sample(self, rng: Generator) -> tuple[Sample | None, float]:
        """The sample that they make, and the estimate; (None, 0) if none fitted."""
        if self.counted is None or not self.counted[0]:
            return reweighted(self.states, self.weights, rng)
        n = len(self.states)
        return Sample(self.states, frozen(np.full(n, 1.0 / n))), float(self.weights.sum())


def reweighted(states: Any, weights: Floats, rng: Generator) -> tuple[Sample | None, float]:
    """The states with these weights, resampled below half the effective sample size, and the sum of the weights."""
    p = float(np.add.reduce(weights))
    if not p > 0.0:
        return None, 0.0
    weights = weights / p
    if better(float(weights @ weights) * len(weights), 2.0):
        return thinned(Sample(states, weights), len(weights), rng), p
    return Sample(states, frozen(weights)), p


def thinned(old: Sample, n: int, rng: Generator) -> Sample:
    """A sample of n states of equal weight, by systematic resampling."""
    below = np.cumsum(old.weights)
    chosen = np.searchsorted(below, (np.arange(n) + rng.random()) / n * below[-1], side="right")
    chosen = np.minimum(chosen, len(below) - 1)
    states = old.states[chosen] if isinstance(old.states, np.ndarray) else tuple(old.states[i] for i in chosen.tolist())
    return Sample(states, frozen(np.full(n, 1.0 / n)))


def drawn_together(parts: list[Drawn], n: int, rng: Generator) -> tuple[Sample | None, float]:
    """A sample of n of all draws that fit, and an estimate of the probability of what was seen.

    Draws go on until the second fits, at draw m, and then to the end of its part: the share that fits is 1 / (m - 1),
    or 1 / draws if only one fits in all parts. The probability is this share times the mean of those that fit.
    """
    states: list[Any] = []
    numbers, likelihood, draws = np.zeros(0), np.zeros(0), 0
    for part in parts:
        fit = np.flatnonzero(part.weights)
        states += [part.states[i] for i in fit]
        if part.counted is None:
            new, tries, likely = (fit + 1).tolist(), len(part.weights), part.weights[fit] * len(part.weights)
        else:
            (new, tries), likely = part.counted, np.ones(len(fit))
        numbers, likelihood = np.append(numbers, draws + np.array(new, np.int64)), np.append(likelihood, likely)
        draws += tries
    if not states:
        return None, 0.0
    share = 1.0 / (numbers[1] - 1) if len(states) > 1 else 1.0 / draws
    weights = frozen(likelihood / likelihood.sum())
    alike = np.array(states) if isinstance(parts[0].states, np.ndarray) else tuple(states)
    return thinned(Sample(alike, weights), n, rng), float(share * likelihood.mean())


@njit
def moved(model: HiddenModel, tables: Tables, states: I1, a: int, o: int, ended: bool, rng: Generator) -> tuple[I1, F1]:
    """A next state drawn for each state, and the probability of what was seen there."""
    after, likelihood = np.empty(len(states), np.int64), np.zeros(len(states))
    for i in range(len(states)):
        g = model.group[states[i], a]
        y = int(model.succ[states[i], a, draw_by(model.cdf, g, int(model.size[g]), rng)])
        after[i] = y
        if tables.terminal[y] == ended:
            for j in range(tables.observation.shape[2]):
                if tables.observation[y, a, j] == o:
                    likelihood[i] += tables.observation_prob[y, a, j]
    return after, likelihood


@njit
def followed(model: Simulator, states: I1, a: int, rng: Generator) -> tuple[I1, B1]:
    """A next state of a compiled world drawn for each state, and whether it ends the episode."""
    after, done = np.empty(len(states), np.int64), np.empty(len(states), np.bool_)
    for i in range(len(states)):
        _, after[i], _, done[i], _ = simulated(model, states[i], a, rng)
    return after, done
