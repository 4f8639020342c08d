"""How actions are chosen from values: the best one with a rule for ties, and the value of perfect information."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.random import Generator

from bayesrl.checks import Floats

Ties = Literal["first", "random"]
"""What to do with actions of equal value."""

SLACK = 1e-9
"""Action values that differ by less, relative to their size, are ties; solvers have about this accuracy."""


def best_action(q: Floats, ties: Ties, rng: Generator) -> int:
    """The greedy action; among ties the first, or one at random."""
    values: list[float] = q.tolist()  # actions are few: a list is faster than an array
    cut = max(values) - SLACK * (1.0 + max(map(abs, values)))
    best = [a for a, value in enumerate(values) if value >= cut]
    return best[0] if ties == "first" or len(best) == 1 else best[int(rng.random() * len(best))]


def value_of_perfect_information(q: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """(E[q_a], VPI(a)) of weighted samples of action values q[i, a] (ERRATA 3)."""
    mean = weight @ q
    if len(mean) == 1:
        return mean, np.zeros(1)
    second, first = np.argsort(mean, kind="stable")[-2:]
    gain = np.maximum(q - mean[first], 0.0)
    gain[:, first] = np.maximum(mean[second] - q[:, first], 0.0)
    return mean, weight @ gain
