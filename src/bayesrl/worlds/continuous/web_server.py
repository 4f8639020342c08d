"""The web server of Abbasi-Yadkori and Szepesvári: processor and memory load, steered by two settings (survey §4.8).

A = [[.54, -.11], [-.026, .63]], B = [[-85, 4.4], [-2.5, 2.8]] 1e-4, Q = diag(5, 1), R = diag(1/50^2, 1e-6). These
numbers are recalled from the literature and could not be read again. The noise is ours: variance 1 in both coordinates.
The best average cost is then 7.31336; without control it is 9.04616.

The usual prior is ours: A has the mean diag(.5, .5) and entries of standard deviation .25; B has the mean
diag(-60, 1) 1e-4 and entries of standard deviation .005.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from bayesrl.beliefs.dynamics.linear_gaussian_dynamics import LinearGaussianDynamics
from bayesrl.checks import number
from bayesrl.parameters import Above
from bayesrl.registry import register
from bayesrl.worlds.continuous.linear_system import LinearSystem


@register(
    "web-server",
    kind="world",
    survey="4.8",
    paper="abbasi15",
    evidence=(
        "tests/worlds/continuous/test_linear_worlds.py::test_facts",
        "tests/worlds/continuous/test_linear_worlds.py::test_steps",
    ),
)
def web_server(
    noise: Annotated[float, Above(0.0), "Standard deviation of the noise of both loads."] = 1.0,
) -> LinearSystem:
    """A web server: two loads, which two settings steer.

    Examples
    --------
    >>> round(web_server().optimum(), 5)
    -7.31336
    """
    sd = number("web-server", "noise", noise, 0.0, above=True, moderate=True)
    A, B = np.array([[0.54, -0.11], [-0.026, 0.63]]), 1e-4 * np.array([[-85.0, 4.4], [-2.5, 2.8]])
    Q, R, W = np.diag([5.0, 1.0]), np.diag([1.0 / 50**2, 1e-6]), sd**2 * np.eye(2)
    mean = np.vstack([0.5 * np.eye(2), 1e-4 * np.diag([-60.0, 1.0])])
    V = sd**2 * np.diag([0.25**-2, 0.25**-2, 0.005**-2, 0.005**-2])
    return LinearSystem(A, B, Q, R, W, LinearGaussianDynamics(mean, V, W, Q, R), name="web-server")
