"""Weighted states: steps of all of them at once, new weights, and systematic resampling."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.hidden.pomdp_filter import Tables
from bayesrl.checks import Floats, frozen
from bayesrl.kernels.arrays import B1, F1, I1
from bayesrl.kernels.jit import njit
from bayesrl.kernels.search.hidden_model import HiddenModel, draw_by
from bayesrl.kernels.simulator import step as simulated


class Sample(NamedTuple):
    """Weighted states."""

    states: Any
    """An array of state numbers if states are listed, otherwise a tuple of states."""
    weights: Floats
    """They sum to one."""


def reweighted(states: Any, weights: Floats, rng: Generator) -> tuple[Sample | None, float]:
    """The states with these weights, resampled below half the effective sample size, and the sum of the weights."""
    p = float(weights.sum())
    if not p > 0.0:
        return None, 0.0
    weights = weights / p
    if weights @ weights * len(weights) > 2.0:
        return thinned(Sample(states, weights), len(weights), rng), p
    return Sample(states, frozen(weights)), p


def thinned(old: Sample, n: int, rng: Generator) -> Sample:
    """A sample of n states of equal weight, by systematic resampling."""
    below = np.cumsum(old.weights)
    chosen = np.searchsorted(below, (np.arange(n) + rng.random()) / n * below[-1], side="right")
    chosen = np.minimum(chosen, len(below) - 1)
    states = old.states[chosen] if isinstance(old.states, np.ndarray) else tuple(old.states[i] for i in chosen.tolist())
    return Sample(states, frozen(np.full(n, 1.0 / n)))


@njit
def moved(model: HiddenModel, tables: Tables, states: I1, a: int, o: int, ended: bool, rng: Generator) -> tuple[I1, F1]:
    """A next state drawn for each state, and the probability of what was seen there."""
    after, likelihood = np.empty(len(states), np.int64), np.zeros(len(states))
    for i in range(len(states)):
        g = model.group[states[i], a]
        y = int(model.succ[states[i], a, draw_by(model.cdf, g, int(model.size[g]), rng)])
        after[i] = y
        if tables.terminal[y] == ended:
            for j in range(tables.sign.shape[2]):
                if tables.sign[y, a, j] == o:
                    likelihood[i] += tables.sign_prob[y, a, j]
    return after, likelihood


@njit
def followed(model: object, states: I1, a: int, rng: Generator) -> tuple[I1, B1]:
    """A next state of a compiled world drawn for each state, and whether it ends the episode."""
    after, done = np.empty(len(states), np.int64), np.empty(len(states), np.bool_)
    for i in range(len(states)):
        _, after[i], _, done[i], _ = simulated(model, states[i], a, rng)
    return after, done
