"""A mass that is pushed: position and velocity, steps of .1 (survey §4.8; the numbers are ours).

x' = x + .1 v, v' = v + .1 u, noise of variance .01 and .02; cost x^2 + .1 v^2 + .1 u^2. The best gain is
(2.761715, 2.649102), its average cost .158146.

The usual prior is ours: the mean has steps of .05 in place of .1, A = [[1, .05], [0, 1]] and B = (0, .05)'. V_0 is
10 I, so that entries of the first row have the standard deviation .032 and those of the second .045.
"""

from __future__ import annotations

import numpy as np

from bayesrl.beliefs.dynamics.linear_gaussian_dynamics import LinearGaussianDynamics
from bayesrl.registry import register
from bayesrl.worlds.continuous.linear_system import LinearSystem


@register(
    "lq-system",
    kind="world",
    survey="4.8",
    paper="abbasi15",
    evidence=(
        "tests/worlds/continuous/test_linear_worlds.py::test_facts",
        "tests/worlds/continuous/test_linear_worlds.py::test_steps",
    ),
)
def lq_system() -> LinearSystem:
    """A linear system of two coordinates, position and velocity, with quadratic costs.

    Examples
    --------
    >>> round(lq_system().optimum(), 6)
    -0.158146
    """
    A, B = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[0.0], [0.1]])
    Q, R, W = np.diag([1.0, 0.1]), np.array([[0.1]]), np.diag([0.01, 0.02])
    mean = np.array([[1.0, 0.0], [0.05, 1.0], [0.0, 0.05]])
    prior = LinearGaussianDynamics(mean, 10.0 * np.eye(3), W, Q, R)
    return LinearSystem(A, B, Q, R, W, prior, name="lq-system")
