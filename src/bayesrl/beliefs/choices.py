"""How actions are chosen from values: the best one with a rule for ties, and the value of perfect information."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.random import Generator

from bayesrl.checks import Floats
from bayesrl.kernels.ties import any_best, first_best

Ties = Literal["first", "random"]
"""The rule for actions of equal value."""


def best_action(q: Floats, ties: Ties, rng: Generator, scale: float = 0.0) -> int:
    """The greedy action; among ties (`kernels/ties.py`) the first, or one at random."""
    return first_best(q, scale) if ties == "first" else any_best(q, rng, scale)


def value_of_perfect_information(q: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """(E[q_a], VPI(a)) of weighted samples of action values q[i, a] (ERRATA 3)."""
    mean = weight @ q
    if len(mean) == 1:
        return mean, np.zeros(1)
    second, first = np.argsort(mean, kind="stable")[-2:]
    gain = np.maximum(q - mean[first], 0.0)
    gain[:, first] = np.maximum(mean[second] - q[:, first], 0.0)
    return mean, weight @ gain
