"""Draws that are spread evenly: one of each of several strata of many draws."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from bayesrl.checks import Floats, Ints

OVER = 32
"""Draws that are made for each one that is used."""


def one_of_each_stratum(drawn: Floats, width: int, rng: Generator) -> Ints:
    """The numbers of `width` of the draws, (OVER width, d).

    The draws are ordered by the sum of their standardised coordinates and cut into `width` strata; one of each stratum
    is taken at random. A mean over those taken has the expectation of the mean over all. The choice depends on the
    standardised draws alone, so that the same random numbers lead to the same choice for draws moved or stretched.
    """
    apart = drawn - drawn.sum(axis=0) / len(drawn)
    spread = np.sqrt((apart * apart).sum(axis=0))
    key = (apart / np.where(spread > 0.0, spread, 1.0)).sum(axis=1)
    order = np.argsort(key, kind="stable").reshape(width, OVER)
    return np.asarray(order[np.arange(width), rng.integers(OVER, size=width)])
