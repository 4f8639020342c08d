"""Hyper-parameters by the evidence: L-BFGS from several starts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.random import Generator

from bayesrl.checks import Floats, generator

REACH = 12.0
"""Logarithms stay within this distance of the first start."""
SPREAD = 1.0
"""Standard deviation of the logarithms of the other starts around the first."""


def maximise_evidence(
    owner: str, evidence: Callable[[Floats], tuple[float, Floats]], first: Floats, starts: int, rng: Generator
) -> Floats:
    """The logarithms with the largest evidence found. `evidence` returns its value and gradient."""
    from scipy.optimize import minimize

    random = generator(owner, rng)
    if len(first) == 0:
        return first

    def loss(logs: Floats) -> tuple[float, Floats]:
        try:
            reached, slope = evidence(logs)
        except np.linalg.LinAlgError:  # singular there: such hyper-parameters are not chosen
            return 1e300, np.zeros_like(logs)
        return (-reached, -slope) if np.isfinite(reached) else (1e300, np.zeros_like(logs))

    bounds = [(x - REACH, x + REACH) for x in first]
    best, least = first, loss(first)[0]
    for i in range(starts):
        start = first if i == 0 else first + SPREAD * random.standard_normal(len(first))
        found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
        if found.fun < least:
            best, least = np.asarray(found.x), float(found.fun)
    return best
