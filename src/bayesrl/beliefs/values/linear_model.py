"""The linear Gaussian model in information form: data say exp(b'w - w'A w / 2) about weights w.

Rows F of features and values y = F w + N(0, noise^2) give A = F'F / noise^2 and b = F'y / noise^2. Information adds up,
and A may be singular. A Gaussian with precision P and shift eta = P mean has the integral exp(log_partition(P, eta)).
"""

from __future__ import annotations

import numpy as np

from bayesrl.checks import Floats


def log_partition(P: Floats, eta: Floats) -> Floats:
    """Log of the integral of exp(eta'w - w'P w / 2), less the constant d/2 log(2 pi); P (..., d, d), eta (..., d)."""
    mean = np.linalg.solve(P, eta[..., None])[..., 0]
    return np.asarray(0.5 * ((eta * mean).sum(axis=-1) - np.linalg.slogdet(P)[1]))


def seen_through(A: Floats, b: Floats, covariance: Floats) -> tuple[Floats, Floats]:
    """The information about phi in data with information A (..., d, d), b (..., d) about w = phi + N(0, covariance).

    The information is (I + A C)^-1 A and (I + A C)^-1 b, which needs no inverse of A.
    """
    both = np.linalg.solve(np.eye(len(covariance)) + A @ covariance, np.concatenate([A, b[..., None]], axis=-1))
    about = both[..., :-1]
    return (about + np.swapaxes(about, -1, -2)) / 2.0, both[..., -1]
