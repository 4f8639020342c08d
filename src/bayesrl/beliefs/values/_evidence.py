"""Hyper-parameters by the evidence: L-BFGS from several starts.

Where all scales are tiny the data look like white noise, and the evidence is flat. From a steep start a step of L-BFGS
can jump onto this plateau and stop there. So it climbs in boxes: `STRIDE` to each side in logarithms, and again from
where it ended, until it ends inside its box. Data without noise lead to the edge of what is singular in floating point.
L-BFGS stops at the first step that crosses the edge, so boxes that met it shrink, down to `LEAST`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.random import Generator

from bayesrl.checks import Floats, generator

REACH = 12.0
"""Logarithms stay within this distance of the first start."""
STRIDE = 2.0
"""Half the side of a box, in logarithms."""
LEAST = 0.05
"""Half the side of the smallest box."""
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

    singular = False

    def loss(logs: Floats) -> tuple[float, Floats]:
        nonlocal singular
        try:
            reached, slope = evidence(logs)
        except np.linalg.LinAlgError:  # such hyper-parameters are not chosen
            reached = -np.inf
        if np.isfinite(reached):
            return -reached, -slope
        singular = True
        return 1e300, np.zeros_like(logs)

    best, least = first, loss(first)[0]
    for i in range(starts):
        x = first if i == 0 else first + SPREAD * random.standard_normal(len(first))
        stride = STRIDE
        while stride >= LEAST:
            singular = False
            low, high = np.maximum(first - REACH, x - stride), np.minimum(first + REACH, x + stride)
            found = minimize(loss, x, jac=True, method="L-BFGS-B", bounds=np.column_stack([low, high]))
            moved, x = float(np.abs(found.x - x).max()), np.asarray(found.x)
            if moved < 0.99 * stride:
                stride = 0.25 * stride if singular else 0.0
        if found.fun < least:
            best, least = x, float(found.fun)
    return best
