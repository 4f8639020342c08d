"""Logistic regression with a Gaussian prior: the mode after one answer, and after many."""

import numpy as np

from bayesrl.kernels.arrays import F1, F2
from bayesrl.kernels.jit import njit

ROUNDING = 4e-15
"""A relative step of Newton's that may be rounding; the next would be smaller than any."""


@njit
def mode_after_one(s: F1, h: F1, y: F1) -> F1:
    """Scores at the mode after one answer, elementwise: t = s + h (y - sigmoid(t)).

    The mode moves along the prior covariance times x, so only the score t = w'x is unknown: s is the score at the prior
    mean, h = x' Sigma x its variance, y in {0, 1} the answer. The root lies between s and s + h (2y - 1); Newton's step
    is taken if it stays inside, else the bracket is halved. The probability of the other answer is computed without a
    difference from one, since a large h multiplies its error. Far from the root Newton's steps have length one, and the
    root is at most log h away from 0 or from s: fewer than 710 steps.
    """
    t = np.empty_like(s)
    for i in range(s.size):
        low, high = (s[i], s[i] + h[i]) if y[i] > 0.5 else (s[i] - h[i], s[i])
        x = min(max(0.0, low), high)
        for _ in range(800):
            p, q = 1.0 / (1.0 + np.exp(-x)), 1.0 / (1.0 + np.exp(x))
            f = x - s[i] - h[i] * (q if y[i] > 0.5 else -p)
            if f > 0.0:
                high = x
            else:
                low = x
            new = x - f / (1.0 + h[i] * p * q)
            if abs(new - x) > ROUNDING * (1.0 + abs(x)) and not low < new < high:  # a rounding error may leave it
                new = 0.5 * (low + high)
            moved = abs(new - x)
            x = new
            if moved <= ROUNDING * (1.0 + abs(x)):
                break
        t[i] = x
    return t


def mode_after_many(X: F2, y: F1, s: F1, Q: F2, sweeps: int = 100) -> tuple[F1, F1]:
    """The mode d of -1/2 d' Q d + sum log P(y | s + X d), and the weights p (1 - p) there: damped Newton.

    s are the scores at the prior mean and d is the move away from it.
    """
    d = np.zeros(X.shape[1])

    def loss(d: F1) -> float:
        t = s + X @ d
        return float(0.5 * d @ Q @ d + np.logaddexp(0.0, np.where(y > 0.5, -t, t)).sum())

    best = loss(d)
    for _ in range(sweeps):
        p = 1.0 / (1.0 + np.exp(-np.clip(s + X @ d, -700.0, 700.0)))
        gradient = Q @ d + X.T @ (p - y)
        step = np.linalg.solve(Q + (X.T * (p * (1.0 - p))) @ X, gradient)
        size = 1.0
        while loss(d - size * step) > best and size > 1e-8:
            size *= 0.5
        new = d - size * step
        done = np.abs(new - d).max() <= 1e-12 * (1.0 + np.abs(d).max())
        d, best = new, min(best, loss(new))
        if done:
            break
    p = 1.0 / (1.0 + np.exp(-np.clip(s + X @ d, -700.0, 700.0)))
    return d, p * (1.0 - p)
