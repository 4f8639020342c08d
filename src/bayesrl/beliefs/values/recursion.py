"""Temporal differences in finitely many coordinates: V = f'W with W ~ N(0, v I), learned by recursion.

Parametric GPTD uses features as coordinates, sparse GPTD whitened ones. A `Weights` value holds the posterior of W, and
what the next transition of the trajectory needs of the last one: the gain p, the residual d and its variance s.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bayesrl.checks import Floats, frozen
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.arrays import F1, F2
from bayesrl.kernels.jit import any_order

ROUNDING = 1e-13
"""A datum whose variance given the earlier ones is below this share of its own is determined by them."""


class Weights(NamedTuple):
    """The posterior N(w, P) of the weights after some transitions."""

    w: Floats
    """Mean, shape (m,)."""
    P: Floats
    """Covariance, shape (m, m)."""
    p: Floats
    """Gain of the last transition, shape (m,)."""
    last: Floats
    """Residual and variance of the last transition."""
    log_evidence: float

    @staticmethod
    def isotropic(m: int, variance: float = 1.0) -> Weights:
        """W ~ N(0, variance I), before any transition."""
        return Weights(np.zeros(m), variance * np.eye(m), np.zeros(m), np.array([0.0, 1.0]), 0.0)

    def check(self, owner: str, m: int) -> None:
        """Refuse arrays that do not belong to m coordinates."""
        shapes = tuple(np.shape(x) for x in self[:4])
        if shapes != ((m,), (m, m), (m,), (2,)) or not all(np.isfinite(x).all() for x in self):
            raise InvalidArgument(owner, "weights", f"finite, of {m} coordinates", shapes)

    def grown(self, m: int) -> Weights:
        """With m coordinates: the new ones have mean 0 and variance 1, independent of the others."""
        n = len(self.w)
        if m == n:
            return self
        P = np.eye(m)
        P[:n, :n] = self.P
        more = np.zeros(m - n)
        return self._replace(w=np.append(self.w, more), P=P, p=np.append(self.p, more))

    def after(self, owner: str, F: Floats, r: Floats, v: Floats, c: Floats, prior_variance: float = 1.0) -> Weights:
        """The posterior after transitions with coordinates F, noise variances v and ties -c to the one before.

        `prior_variance` is that of a weight.
        """
        w, P, p, last = self.w.copy(), self.P.copy(), self.p.copy(), self.last.copy()
        least = ROUNDING * (prior_variance * np.einsum("ti,ti->t", F, F) + v)
        gained = recur(P, w, p, last, np.ascontiguousarray(F), r, v, c, least)
        if not np.isfinite(gained):
            hint = "States that repeat need noise."
            raise InvalidArgument(owner, "noise", "large enough to tell the data apart", "a singular covariance", hint)
        return Weights(frozen(w), frozen(P), frozen(p), frozen(last), self.log_evidence + gained)


def noise_of_rows(variances: Floats, rows: int, gamma: float, fresh: bool) -> tuple[Floats, Floats]:
    """The tied noise of `gptd.py` for one stretch: variances v of the rows and their ties c to the row before."""
    after = np.append(variances, 0.0)[1 : rows + 1]  # an end has no successor
    c = gamma * variances[:rows]
    if fresh:
        c[0] = 0.0
    return variances[:rows] + gamma**2 * after, c


def differences(coordinates: Floats, rows: int, gamma: float) -> Floats:
    """f_t - gamma f_t+1 for the coordinates of visits; at an end f_t alone. Shape (rows, m)."""
    F = coordinates[:rows].copy()
    F[: len(coordinates) - 1] -= gamma * coordinates[1 : rows + 1]
    return F


@any_order
def recur(P: F2, w: F1, p: F1, last: F1, F: F2, r: F1, v: F1, c: F1, least: F1) -> float:
    """Update P, w, p and last = (d, s) in place by transitions with features F; the log evidence gained.

    It is not a number if the variance s of a datum is not above `least`.

    With e = c_t / s_prev:  p = P f + e p_prev,  d = r - f'w + e d_prev,  s = v_t - e c_t + f'(p + e p_prev);  then
    w += p d / s and P -= p p' / s.
    """
    T, m = F.shape
    gained, d, s = 0.0, last[0], last[1]
    new, root = np.empty(m), np.zeros(m)
    for t in range(T):
        f = F[t]
        e = c[t] / s if c[t] != 0.0 else 0.0
        expected, spread = 0.0, 0.0
        for i in range(m):
            row, total = P[i], 0.0
            for j in range(m):  # P of the transition before, in the same pass over memory
                row[j] -= root[i] * root[j]
                total += row[j] * f[j]
            new[i] = total + e * p[i]
            expected += f[i] * w[i]
            spread += f[i] * (new[i] + e * p[i])
        d = r[t] - expected + e * d
        s = v[t] - e * c[t] + spread
        if not s > least[t]:
            return np.nan  # the datum was known before, and has no noise
        for i in range(m):
            p[i] = new[i]
            root[i] = new[i] / math.sqrt(s)  # from memory: LLVM would move a division by s into the loop over j
            w[i] += new[i] * (d / s)
        gained -= 0.5 * (d * d / s + math.log(2.0 * math.pi * s))
    for i in range(m):
        row = P[i]
        for j in range(m):
            row[j] -= root[i] * root[j]
    last[0], last[1] = d, s
    return gained
