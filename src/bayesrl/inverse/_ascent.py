"""Ascent in the weights of a reward, within the box of its prior.

The functions here are smooth but for kinks. L-BFGS-B is then more robust than steps along the gradient: its matrix
learns the two sides of a kink. It is started again from where it stops, with a new matrix, while this gains.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import optimize

from bayesrl.checks import Floats

Objective = Callable[[Floats], tuple[float, Floats]]
"""Weights (d,) to a value and its gradient (d,)."""
ROUNDS = 5
"""The most starts of L-BFGS-B from its own result."""
GAIN = 1e-9
"""A start that gains less, as a share of the value, is the last."""


def ascend(
    f: Objective, w: Floats, low: float, high: float, steps: int, rounds: int = ROUNDS
) -> tuple[Floats, list[float]]:
    """Weights that are at least as good as w, and the value after each accepted step, which never falls."""
    trace = [f(w)[0]]
    for _ in range(rounds):
        before = trace[-1]
        w, more = _climb(f, w, low, high, steps)
        trace += [x for x in np.maximum.accumulate([before, *more]).tolist()[1:] if x > before]
        if not trace[-1] - before > GAIN * abs(before):
            break
    return w, trace


def _climb(f: Objective, w: Floats, low: float, high: float, steps: int) -> tuple[Floats, list[float]]:
    """One run of L-BFGS-B: the best weights that it evaluated, and the values of its steps."""
    best = (f(w)[0], w)

    def minus(x: Floats) -> tuple[float, Floats]:
        nonlocal best
        value, g = f(x)
        if value > best[0]:
            best = value, x.copy()
        return -value, -g

    steps_taken: list[float] = []

    def note(intermediate_result: optimize.OptimizeResult) -> None:
        steps_taken.append(-float(intermediate_result.fun))

    options = {"maxiter": steps, "maxcor": 30, "ftol": 1e-12, "gtol": 1e-8}
    optimize.minimize(
        minus, w, jac=True, method="L-BFGS-B", bounds=[(low, high)] * len(w), callback=note, options=options
    )
    return best[1], [*steps_taken, best[0]]
