"""The recursion of parametric temporal differences with tied noise (Engel 2005; survey §5.1.2).

Values are linear, V = f'W with W ~ N(w, P). A transition observes f_t'W with noise of variance v_t, whose covariance
with the noise of the transition before is -c_t. What is carried from the transition before: the gain p, the residual d
and its variance s.
"""

import math

import numpy as np

from bayesrl.kernels.arrays import F1, F2
from bayesrl.kernels.jit import any_order


@any_order
def recur(P: F2, w: F1, p: F1, last: F1, F: F2, r: F1, v: F1, c: F1) -> float:
    """Update P, w, p and last = (d, s) in place by transitions with features F; the log evidence gained.

    With e = c_t / s_prev:  p = P f + e p_prev,  d = r - f'w + e d_prev,  s = v_t - e c_t + f'(p + e p_prev);  then
    w += p d / s and P -= p p' / s.
    """
    T, m = F.shape
    gained, d, s = 0.0, last[0], last[1]
    new = np.empty(m)
    for t in range(T):
        f = F[t]
        e = c[t] / s if c[t] != 0.0 else 0.0
        expected, spread = 0.0, 0.0
        for i in range(m):
            row, total = P[i], 0.0
            for j in range(m):
                total += row[j] * f[j]
            new[i] = total + e * p[i]
            expected += f[i] * w[i]
            spread += f[i] * (new[i] + e * p[i])
        d = r[t] - expected + e * d
        s = v[t] - e * c[t] + spread
        if not s > 0.0:
            return np.nan  # the datum was known before, and has no noise
        for i in range(m):
            p[i] = new[i]
            w[i] += new[i] * (d / s)
        for i in range(m):
            row, share = P[i], new[i] / s
            for j in range(m):
                row[j] -= share * new[j]
        gained -= 0.5 * (d * d / s + math.log(2.0 * math.pi * s))
    last[0], last[1] = d, s
    return gained
