"""The retirement problem of one Gaussian arm of unit noise, for its Gittins index (gittins.py).

The belief about the arm's mean is N(mu, 1/n), and lambda is the income of a retired player. Only x = mu - lambda
matters. A play moves x by N(0, s_n^2), s_n^2 = 1 / (n (n + 1)). Let Y be the value of the option to retire, compared
with never retiring:

    Y_n(x) = max{ -x G,  Q_n(x) },   Q_n(x) = gamma E Y_{n+1}(x + s_n Z),   G = 1 / (1 - gamma).

It is optimal to retire below b_n < 0, where -b_n G = Q_n(b_n). The index is mu - b_n.
Y_{n+1} is linear below b_{n+1}, where Q is integrated in closed form. Above, Y_{n+1} = Q_{n+1} is analytic, and Q is
integrated by eight-point Gauss-Legendre panels of width 2 s_n; the error of a panel is below 1e-11 of the integral.
Y is neglected where it is below `drop`.
"""

import math

import numpy as np

from bayesrl.kernels.arrays import F1
from bayesrl.kernels.jit import njit

NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)
WINDOW = 7.5
"""Steps of more standard deviations are neglected; their probability is 6e-14."""


@njit
def boundaries(n0: float, wanted: int, rows: int, gamma: float, drop: float) -> F1:
    """Return -b_n for the `wanted` values n = n0, n0 + 1, ...; at n0 + rows one retires at once or never."""
    G = 1.0 / (1.0 - gamma)
    found = np.empty(wanted)
    b, h = 0.0, 1.0  # the last row: Y = -x G below 0, nothing above
    y, Y = np.empty(0), np.empty(0)
    for r in range(rows - 1, -1, -1):
        n = n0 + r
        s = 1.0 / math.sqrt(n * (n + 1.0))
        new = boundary(n, s, b, h, y, Y, gamma, G)
        L = math.log(G / (drop * math.sqrt(n))) + max(r - wanted, 0) * math.log(gamma)
        panels = math.ceil((math.sqrt(2.0 * max(L, 0.0) / n) - new) / (2.0 * s))
        x = np.empty(panels * len(NODES))
        for j in range(panels):
            for k in range(len(NODES)):
                x[j * len(NODES) + k] = new + s * (2.0 * j + 1.0 + NODES[k])
        Q = np.empty(x.size)
        for i in range(x.size):
            Q[i] = value_of_play(x[i], s, b, h, y, Y, gamma, G)
        b, h, y, Y = new, s, x, Q
        if r < wanted:
            found[r] = -b
    return found


@njit
def value_of_play(x: float, s: float, b: float, h: float, y: F1, Y: F1, gamma: float, G: float) -> float:
    """Compute Q(x) from the next row: Y is -x G below b, and known above at nodes y in panels of width 2h."""
    z = (b - x) / s
    total = G * (s * math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi) - 0.5 * x * math.erfc(-z / math.sqrt(2.0)))
    m = len(NODES)
    first = max(int((x - WINDOW * s - b) / (2.0 * h)), 0)
    last = min(int((x + WINDOW * s - b) / (2.0 * h)) + 1, y.size // m)
    scale = h / (s * math.sqrt(2.0 * math.pi))
    for j in range(first * m, last * m):
        u = (y[j] - x) / s
        total += scale * WEIGHTS[j % m] * Y[j] * math.exp(-0.5 * u * u)
    return gamma * total


@njit
def boundary(n: float, s: float, b: float, h: float, y: F1, Y: F1, gamma: float, G: float) -> float:
    """Find the zero of the increasing function x G + Q(x) by regula falsi (Illinois).

    The search starts between 0 and the bound of `calibration.index_bounds`.
    """
    T = 0.5 * (G - 1.0)
    lo, hi = -T / math.sqrt(n * (1.0 + 2.0 * T)), 0.0
    f_lo, f_hi = lo * G + value_of_play(lo, s, b, h, y, Y, gamma, G), value_of_play(hi, s, b, h, y, Y, gamma, G)
    for _ in range(100):
        if hi - lo <= 1e-12:
            break
        x = hi - f_hi * (hi - lo) / (f_hi - f_lo)
        f = x * G + value_of_play(x, s, b, h, y, Y, gamma, G)
        if f == 0.0:
            return x
        if f > 0.0:
            hi, f_hi, f_lo = x, f, 0.5 * f_lo
        else:
            lo, f_lo, f_hi = x, f, 0.5 * f_hi
    return 0.5 * (lo + hi)
