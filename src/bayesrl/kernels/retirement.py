"""Calibration of one Bernoulli arm: which sure income is worth as much as the arm? (gittins, finite-horizon-index)

An arm Beta(a, b) is played until one retires on an income of lambda for each remaining step. Its index is the lambda
that makes playing on and retiring at once equally good. Row r of a lattice holds the posteriors (a0 + t, b0 + r - t)
that r plays lead to; G_r is the total weight of the steps from there on: 1 / (1 - gamma), or what a horizon leaves of
it. Let Y be the worth of the option to retire, over never retiring. With n = a0 + b0 + r and p = (a0 + t) / n,

    Y_r(t) = max{ (lambda - p) G_r,  gamma [p Y_{r+1}(t + 1) + (1 - p) Y_{r+1}(t)] },

because the income of an arm that is never left is a martingale. What playing once is worth over retiring,

    C_r(t) = (p - lambda) G_r + gamma [p Y_{r+1}(t + 1) + (1 - p) Y_{r+1}(t)],

is convex and falls with lambda, and the index is its zero. `advantage` computes C for LANES incomes at once, side by
side in memory, so that a row is one vectorised loop over the band of t that matters: below it one retires, above it Y
is negligible. `calibrate` finds the zeros of many states between secants of their convex functions.

The band: Y_r(t) <= G E(lambda - theta)^+ <= G sqrt(pi / 8n) exp(-n d^2 / 2v), where d = p - lambda > 0 and v is the
largest x (1 - x) on [lambda, p]: Chernoff's bound for the Beta, P(theta < x) <= exp(-n KL(p, x)), integrated.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesrl.kernels.jit import njit

LANES = 8
"""Incomes that are tried together."""
STRIDE = 8
"""Rows from one trimming of the band to the next."""
SWEEPS = 64
"""At most so many groups of incomes are tried on all states before every state gets incomes of its own."""


class Lattice(NamedTuple):
    """The posteriors of an arm and how their rewards are weighed."""

    a0: float
    b0: float
    gamma: float
    rows: int
    """The last row."""
    tail: float
    """G of the last row."""
    generous: bool
    """Whether the last row is overvalued by `bonus`; else one retires there at once or never, which undervalues it."""
    drop: float
    """What may be missing of Y / G, as seen from the states asked for."""


@njit
def advantage(lam, t, r, lattice, C):
    """C[s, l] of the states (t[s], r[s]), r falling, for the incomes lam[l]."""
    a0, n0, gamma = lattice.a0, lattice.a0 + lattice.b0, lattice.gamma
    row, G = lattice.rows, lattice.tail
    size = (row + STRIDE + 3) * LANES
    A, Lam, Y, Z = np.empty(size), np.empty(size), np.zeros(size), np.zeros(size)
    for i in range(0, size, LANES):
        for l in range(LANES):
            A[i + l], Lam[i + l] = a0 + i // LANES, lam[l]
    # Y holds the present row on lo <= t <= hi; below, every lane retires; above, it is zero, and so is Z.
    w = 1.0 / (n0 + row)
    lo, hi = bottom(lam.min(), row, r[0], lattice), top(lam.max(), row, r[0], lattice)
    for k in range(lo * LANES, (hi + 1) * LANES):
        Y[k] = max(0.0, (Lam[k] - A[k] * w) * G)
        if lattice.generous:
            Y[k] += bonus(A[k] * w, Lam[k], n0 + row, lattice)
    s = 0
    while row > r[-1]:
        rows = min(STRIDE, row - r[-1])
        first = max(lo - rows, 0)  # the boundary of retirement falls by at most one from row to row
        for k in range(first * LANES, lo * LANES):
            Y[k] = (Lam[k] - A[k] * w) * G
        lo, last = first, max(top(lam.max(), row, r[0], lattice), lo)
        for k in range((last + 1) * LANES, (hi + 1) * LANES):
            Y[k] = Z[k] = 0.0
        hi, mid = last, lo
        while mid <= hi and (lattice.generous or players(Y, mid, lam, a0, w, G) < LANES):
            mid += 1  # from mid on nobody retires, in this row and (but for the bonus) in those before it
        x, y, z = lo * LANES, mid * LANES, (hi + 1) * LANES
        for _ in range(rows):
            row -= 1
            w, before = 1.0 / (n0 + row), w
            while s < len(r) and r[s] == row:
                playing(Y, t[s], lo, lam, a0, w, before, gamma, G, C[s])
                s += 1
            G = 1.0 + gamma * G
            play_or_retire(Y[x : y + LANES], A[x:y], Lam[x:y], w, gamma, G, Z[x:y])
            play(Y[y : z + LANES], A[y:z], w, gamma, Z[y:z])
            Y, Z = Z, Y
        while lo < hi and players(Y, lo, lam, a0, w, G) == 0:
            lo += 1


@njit
def play_or_retire(Y, A, Lam, w, gamma, G, Z):
    """Z = the row before Y, where somebody may retire."""
    down, up = Y[: Z.size], Y[LANES:]
    for k in range(Z.size):
        p = A[k] * w
        Z[k] = max((Lam[k] - p) * G, gamma * (down[k] + p * (up[k] - down[k])))


@njit
def play(Y, A, w, gamma, Z):
    """Z = the row before Y, where nobody retires."""
    down, up = Y[: Z.size], Y[LANES:]
    for k in range(Z.size):
        p = A[k] * w
        Z[k] = gamma * (down[k] + p * (up[k] - down[k]))


@njit
def players(Y, t, lam, a0, w, G):
    """In how many lanes one plays on."""
    n = 0
    for l in range(LANES):
        n += Y[t * LANES + l] > (lam[l] - (a0 + t) * w) * G
    return n


@njit
def playing(Y, t, lo, lam, a0, w, before, gamma, G, C):
    """C of one state of the row before Y."""
    p, here, above = (a0 + t) * w, t * LANES, (t + 1) * LANES
    for l in range(LANES):
        down = Y[here + l] if t >= lo else (lam[l] - (a0 + t) * before) * G
        up = Y[above + l] if t + 1 >= lo else (lam[l] - (a0 + t + 1.0) * before) * G
        C[l] = (p - lam[l]) * (1.0 + gamma * G) + gamma * (down + p * (up - down))


# The band and the last row -------------------------------------------------------------------------------------------


@njit
def top(lam, row, base, lattice):
    """The largest t whose Y is not negligible."""
    n = lattice.a0 + lattice.b0 + row
    return min(max(math.ceil(n * lam - lattice.a0 + reach(lam, n, row - base, lattice)), 0), row)


@njit
def bottom(lam, row, base, lattice):
    """The smallest t of the last row where one may not want to retire."""
    n = lattice.a0 + lattice.b0 + row
    t = n * lam - lattice.a0 - lattice.generous * reach(1.0 - lam, n, row - base, lattice)
    return min(max(math.floor(t), 0), row)


@njit
def reach(lam, n, rows, lattice):
    """How far above n lambda the successes can be before E(lambda - theta)^+, `rows` rows away, falls to `drop`."""
    L = max(math.log(math.sqrt(math.pi / (8.0 * n)) / lattice.drop) + rows * math.log(lattice.gamma), 0.0)
    x = lam if lam >= 0.5 else min(0.5, lam + math.sqrt(0.5 * L / n))
    return math.sqrt(2.0 * x * (1.0 - x) * L * n)


@njit
def bonus(p, lam, n, lattice):
    """More than optimal play from the last row earns over retiring at once or never.

    It earns at most sum_k gamma^k E(p_k - lambda)^+, where p_k, the mean after k more plays, has variance
    p (1 - p) / (n + 1) k / (n + k); then E x^+ <= (E x + sqrt(E x^2)) / 2 and Jensen's inequality in k.
    """
    d, k = abs(p - lam), lattice.gamma / (1.0 - lattice.gamma)
    variance = p * (1.0 - p) / (n + 1.0) * k / (n + k)
    known = math.sqrt(math.pi / (8.0 * n)) * math.exp(-2.0 * n * d * d)  # if theta were known at once
    return lattice.tail * min(0.5 * (math.sqrt(d * d + variance) - d), known)


# The zeros -----------------------------------------------------------------------------------------------------------


@njit
def calibrate(t, r, lattice, width):
    """Intervals of at most this width that hold the indices of the states (t[s], r[s]), r falling: (low, high)."""
    S = len(r)
    x, c = np.empty((S, 4)), np.full((S, 4), np.nan)  # two incomes on either side of each zero, and C there
    low, high = np.empty(S), np.empty(S)
    for s in range(S):
        low[s], high[s] = enclosure(t[s], r[s], lattice)
        x[s] = (-np.inf, low[s], high[s], np.inf)
    lam, C = np.empty(LANES), np.empty((S, LANES))
    least, most = low.min(), high.max()
    sweeps = min(max(S // 28, 2), SWEEPS)
    for j in range(sweeps):
        for l in range(LANES):
            lam[l] = least + (most - least) * (j * LANES + l + 1) / (sweeps * LANES + 1)
        advantage(lam, t, r, lattice, C)
        for s in range(S):
            for l in range(LANES):
                note(x[s], c[s], lam[l], C[s, l])
    todo = np.arange(S)
    while todo.size > 0:
        for s in todo:
            low[s], high[s] = between(x[s], c[s])
        todo = todo[(high - low)[todo] > width]
        todo = todo[np.argsort(low[todo])]
        for j in range(0, todo.size, LANES):
            who = np.sort(todo[j : j + LANES])
            n = who.size
            for l in range(LANES):  # one income for each of eight states, several where states are fewer
                s, share = who[l % n], (LANES - 1 - l % n) // n + 1
                lam[l] = low[s] + (high[s] - low[s]) * (l // n + 1) / (share + 1)
            advantage(lam, t[who], r[who], lattice, C)
            for i in range(n):
                for l in range(LANES):
                    note(x[who[i]], c[who[i]], lam[l], C[i, l])
    return low, high


@njit
def enclosure(t, r, lattice):
    """The index lies between the mean p and p + T sigma / sqrt(1 + 2T), where T = (G - 1) / 2.

    For C <= p - lambda + 2T E(theta - lambda)^+, and 2 E(theta - lambda)^+ <= sqrt(d^2 + sigma^2) - d, d = lambda - p.
    """
    n, gamma, left = lattice.a0 + lattice.b0 + r, lattice.gamma, lattice.rows - r
    G = lattice.tail * gamma**left + (left if gamma == 1.0 else (1.0 - gamma**left) / (1.0 - gamma))
    p, T = (lattice.a0 + t) / n, 0.5 * (G - 1.0)
    return p, min(p + math.sqrt(p * (1.0 - p) / (n + 1.0)) * T / math.sqrt(1.0 + 2.0 * T), 1.0)


@njit
def note(x, c, lam, value):
    """Keep an income and its C where they are nearer to the zero than what is known; x rises, C > 0 on the left."""
    if value > 0.0:
        if lam > x[1]:
            x[0], c[0], x[1], c[1] = x[1], c[1], lam, value
        elif x[0] < lam < x[1]:
            x[0], c[0] = lam, value
    elif lam < x[2]:
        x[3], c[3], x[2], c[2] = x[2], c[2], lam, value
    elif x[2] < lam < x[3]:
        x[3], c[3] = lam, value


@njit
def between(x, c):
    """Where a convex falling function has its zero: left of the chord's, right of the zeros of the outer secants."""
    low, high = x[1], x[2]
    if c[1] > c[2]:  # false where one is not known
        high = min(high, x[1] + c[1] * (x[2] - x[1]) / (c[1] - c[2]))
    if c[0] > c[1]:
        low = max(low, x[1] + c[1] * (x[1] - x[0]) / (c[0] - c[1]))
    if c[2] > c[3]:
        low = max(low, x[2] + c[2] * (x[3] - x[2]) / (c[2] - c[3]))
    return low, max(low, high)
