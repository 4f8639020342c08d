"""The retirement problem of one Bernoulli arm: play on, or take a sure income (gittins, finite-horizon-index).

The agent plays an arm with posterior Beta(a, b) and may retire at any step on an income of lambda for each remaining
step. The index of the arm is the lambda at which playing once more and retiring at once are equally good. Row r of a
lattice holds the posteriors (a0 + t, b0 + r - t) after r plays with t successes. G_r is the total weight of the steps
from there on: 1 / (1 - gamma), or less if there is a horizon. Let Y be the value of the option to retire, compared with
never retiring. With n = a0 + b0 + r and p = (a0 + t) / n,

    Y_r(t) = max{ (lambda - p) G_r,  gamma [p Y_{r+1}(t + 1) + (1 - p) Y_{r+1}(t)] },

because the posterior mean of an arm is a martingale. The advantage of playing once over retiring,

    C_r(t) = (p - lambda) G_r + gamma [p Y_{r+1}(t + 1) + (1 - p) Y_{r+1}(t)],

is convex in lambda and falls with a slope of at most -1. The index is its zero, which `calibration.py` finds.
`advantage` computes C for LANES incomes at once. The incomes are adjacent in memory, so that a row is one vectorised
loop over a band of t. Below the band the agent retires at every income; above it Y is negligible.

In cells where the agent retires at no income, JUMP rows are computed at once (`skip_rows`). Let h_r(t) be the ratio of
two probabilities of a sequence of r plays with t successes: under the arm's prior, and with a fixed probability q of
success. Then h Y satisfies the recursion of plays with probability q,

    (h Y)_r(t) = gamma [q (h Y)_{r+1}(t + 1) + (1 - q) (h Y)_{r+1}(t)],

so that JUMP rows are one sum with binomial weights. Only the cells near the boundary of retirement, and the last rows
before the requested states, are computed row by row.

The band: Y is computed backwards from the last row. It is set to zero where it is below a share of `drop`. The shares
add up to `drop`, which bounds the error of C and of the index. If the last row is overvalued (see `bonus`), the band
ends where Y_r(t) <= G E(lambda - theta)^+ <= G sqrt(pi / 8n) exp(-n d^2 / 2v) is small enough. Here d = p - lambda > 0,
and v is the largest x (1 - x) on [lambda, p]. The bound is the integral of Chernoff's bound for the Beta distribution,
P(theta < x) <= exp(-n KL(p, x)).
"""

import math
from typing import NamedTuple

import numpy as np

from bayesrl.kernels.arrays import F1, F2, I1
from bayesrl.kernels.jit import njit

LANES = 16
"""Number of incomes that are evaluated together."""
JUMP, BINOMIAL = 4, (1.0, 4.0, 6.0, 4.0, 1.0)
"""Number of rows that `skip_rows` computes at once, and the number of paths through them by their successes."""
STRIDE = 8
"""Number of rows between two updates of the band, close to the requested states."""


class Lattice(NamedTuple):
    """The posteriors of an arm, and the weights of its rewards."""

    a0: float
    b0: float
    gamma: float
    rows: int
    """The last row."""
    tail: float
    """G of the last row."""
    overvalued: bool
    """Whether `bonus` overvalues the last row. Otherwise it is undervalued: retire there at once, or never."""
    drop: float
    """Bound on the error of Y in the requested states."""


@njit
def advantage(lam: F1, t: I1, r: I1, lattice: Lattice, C: F2) -> None:
    """C[s, l] of the states (t[s], r[s]), r falling, for the incomes lam[l]."""
    L, a0, n0, gamma = LANES, lattice.a0, lattice.a0 + lattice.b0, lattice.gamma
    row, G = lattice.rows, lattice.tail
    w, share = 1.0 / (n0 + row), lattice.drop / (2.0 + (row - r[-1]) / JUMP)
    lo, hi = band(lam, row, row - r[0], share, lattice)
    size = (hi + JUMP + 2) * L
    A, Lam, Y, Z = np.empty(size), np.empty(size), np.zeros(size), np.zeros(size)
    for i in range(hi + JUMP + 2):
        A[i * L : (i + 1) * L], Lam[i * L : (i + 1) * L] = a0 + i, lam
    # Y holds the current row on lo <= t <= hi. Below lo every lane retires. Above hi, Y and Z are zero.
    for k in range(lo * L, (hi + 1) * L):
        Y[k] = max(0.0, (Lam[k] - A[k] * w) * G)
        if lattice.overvalued:
            Y[k] += bonus(A[k] * w, Lam[k], n0 + row, lattice)
    if not lattice.overvalued:
        Y, Z, row, G, lo, hi = skip_rows((A, Lam, Y, Z), lam, lo, hi, r[0] + 1, share, lattice)
        w = 1.0 / (n0 + row)
    s, most, decay = 0, lam.max(), -math.log(gamma)
    while row > r[-1]:
        rows = min(STRIDE, row - r[-1])
        first = max(lo - rows, 0)  # the boundary of retirement falls by at most one from row to row
        retire(A[first * L : lo * L], Lam, w, G, Y[first * L : lo * L])
        lo, little = first, share * math.exp(decay * max(row - r[0], 0))
        while hi > lo and (a0 + hi) * w >= most and negligible(Y[hi * L :], little):
            Y[hi * L : (hi + 1) * L], Z[hi * L : (hi + 1) * L] = 0.0, 0.0
            hi -= 1
        mid = lo
        while mid <= hi and (lattice.overvalued or count_playing(Y[mid * L :], lam, A[mid * L] * w, G) < L):
            mid += 1  # from mid on no lane retires, in this row and (without the bonus) in the rows before it
        x, y, z = lo * L, mid * L, (hi + 1) * L
        for _ in range(rows):
            row -= 1
            w, before = 1.0 / (n0 + row), w
            while s < len(r) and r[s] == row:
                advantage_of_state(Y, t[s], lo, lam, a0, w, before, gamma, G, C[s])
                s += 1
            G = 1.0 + gamma * G
            play_or_retire(Y[x : y + L], A[x:y], Lam[x:y], w, gamma, G, Z[x:y])
            value_of_play(Y[y : z + L], A[y:z], w, gamma, Z[y:z])
            Y, Z = Z, Y
        while lo < hi and count_playing(Y[lo * L :], lam, A[lo * L] * w, G) == 0:
            lo += 1


@njit
def skip_rows(
    arrays: tuple[F1, F1, F1, F1], lam: F1, lo: int, hi: int, stop: int, share: float, lattice: Lattice
) -> tuple[F1, F1, int, float, int, int]:
    """Go from the last row to less than JUMP rows above `stop`; returns (Y, Z, row, G, lo, hi) there."""
    A, Lam, Y, Z = arrays
    L, a0, b0, gamma, row, G = LANES, lattice.a0, lattice.b0, lattice.gamma, lattice.rows, lattice.tail
    q = min(max(lam.max(), 1e-3), 1.0 - 1e-3)  # Y is largest near this mean, so h stays moderate
    odds, decay, taps = q / (1.0 - q), -math.log(gamma), np.empty(JUMP + 1)
    for j in range(JUMP + 1):
        taps[j] = BINOMIAL[j] * (gamma * q) ** j * (gamma * (1.0 - q)) ** (JUMP - j)
    # U = h Y on mid <= t <= hi, and zero above hi; below mid, Y is used. h is scaled to be 1 where U begins.
    U, V, mid, h_mid, h_hi = np.zeros(Y.size), np.zeros(Y.size), hi + 1, 1.0, 1.0
    while row - JUMP >= stop:
        w, first = 1.0 / (a0 + b0 + row), max(lo - JUMP, 0)
        retire(A[first * L : lo * L], Lam, w, G, Y[first * L : lo * L])
        lo, little = first, share * math.exp(decay * (row + 1 - stop))
        while hi > mid and negligible(U[hi * L :], little * h_hi):
            U[hi * L : (hi + 1) * L], V[hi * L : (hi + 1) * L] = 0.0, 0.0
            h_hi *= odds * (b0 + row - hi) / (a0 + hi - 1.0)
            hi -= 1
        while mid > lo and count_playing(Y[(mid - 1) * L :], lam, A[(mid - 1) * L] * w, G) == L:
            if mid > hi:
                h_mid = h_hi = 1.0
            else:
                h_mid *= odds * (b0 + row - mid) / (a0 + mid - 1.0)
            mid -= 1
            scale(Y[mid * L :], h_mid, U[mid * L : (mid + 1) * L])
        unweigh(U, mid, min(mid + JUMP - 1, hi), 1.0 / h_mid, odds, row, lattice, Y)
        Y[(hi + 1) * L : (mid + JUMP) * L] = 0.0
        last = min(hi, row - JUMP)  # successes are at most as many as plays
        for t in range(hi, last, -1):
            h_hi *= odds * (b0 + row - t) / (a0 + t - 1.0)
        mid = min(mid, last + 1)
        jump_rows(U[mid * L : (last + 1 + JUMP) * L], taps, V[mid * L : (last + 1) * L])
        U[(last + 1) * L : (hi + 1) * L], V[(last + 1) * L : (hi + 1) * L] = 0.0, 0.0
        U, V, hi = V, U, last
        x, y = lo * L, (mid + JUMP) * L
        for _ in range(JUMP):
            row -= 1
            y -= L
            G = 1.0 + gamma * G
            play_or_retire(Y[x : y + L], A[x:y], Lam[x:y], 1.0 / (a0 + b0 + row), gamma, G, Z[x:y])
            Y, Z = Z, Y
            if mid <= hi:
                n = (1.0 - q) * (a0 + b0 + row)
                h_mid *= n / (b0 + row - mid)
                h_hi *= n / (b0 + row - hi)
        w = 1.0 / (a0 + b0 + row)
        while lo < min(mid, hi) and count_playing(Y[lo * L :], lam, A[lo * L] * w, G) == 0:
            lo += 1
    unweigh(U, mid, hi, 1.0 / h_mid, odds, row, lattice, Y)
    Y[(hi + 1) * L :], Z[(hi + 1) * L :] = 0.0, 0.0
    return Y, Z, row, G, lo, hi


@njit
def unweigh(U: F1, mid: int, last: int, weight: float, odds: float, row: int, lattice: Lattice, Y: F1) -> None:
    """Y = U / h for mid <= t <= last, where 1 / h is `weight` at mid."""
    for t in range(mid, last + 1):
        if t > mid:
            weight *= odds * (lattice.b0 + row - t) / (lattice.a0 + t - 1.0)
        scale(U[t * LANES :], weight, Y[t * LANES : (t + 1) * LANES])


@njit
def jump_rows(U: F1, taps: F1, V: F1) -> None:
    """V <- the row JUMP rows before U, where no lane retires."""
    c0, c1, c2, c3, c4 = taps[0], taps[1], taps[2], taps[3], taps[4]
    u0, u1, u2, u3, u4 = U[: V.size], U[LANES:], U[2 * LANES :], U[3 * LANES :], U[4 * LANES :]
    for k in range(V.size):
        V[k] = c0 * u0[k] + c1 * u1[k] + c2 * u2[k] + c3 * u3[k] + c4 * u4[k]


@njit
def play_or_retire(Y: F1, A: F1, Lam: F1, w: float, gamma: float, G: float, Z: F1) -> None:
    """Z <- the row before Y, where a lane may retire."""
    down, up = Y[: Z.size], Y[LANES:]
    for k in range(Z.size):
        p = A[k] * w
        Z[k] = max((Lam[k] - p) * G, gamma * (down[k] + p * (up[k] - down[k])))


@njit
def value_of_play(Y: F1, A: F1, w: float, gamma: float, Z: F1) -> None:
    """Z <- the row before Y, where no lane retires."""
    down, up = Y[: Z.size], Y[LANES:]
    for k in range(Z.size):
        p = A[k] * w
        Z[k] = gamma * (down[k] + p * (up[k] - down[k]))


@njit
def retire(A: F1, Lam: F1, w: float, G: float, Y: F1) -> None:
    """Y <- its values where every lane retires."""
    for k in range(Y.size):
        Y[k] = (Lam[k] - A[k] * w) * G


@njit
def scale(U: F1, weight: float, Y: F1) -> None:
    """Y <- weight U for one t."""
    for l in range(LANES):
        Y[l] = weight * U[l]


@njit
def count_playing(Y: F1, lam: F1, p: float, G: float) -> int:
    """Number of lanes that play on at the first t of Y. The mean p must be computed exactly as in `retire`."""
    n = 0
    for l in range(LANES):
        n += Y[l] > (lam[l] - p) * G
    return n


@njit
def negligible(Y: F1, little: float) -> bool:
    """Whether Y is at most `little` in every lane at the first t."""
    most = 0.0
    for l in range(LANES):
        most = max(most, Y[l])
    return most <= little


@njit
def advantage_of_state(
    Y: F1, t: int, lo: int, lam: F1, a0: float, w: float, before: float, gamma: float, G: float, C: F1
) -> None:
    """C <- the advantage in one state of the row before Y."""
    p, here, above = (a0 + t) * w, t * LANES, (t + 1) * LANES
    for l in range(LANES):
        if t < lo:
            down = (lam[l] - (a0 + t) * before) * G
        else:
            down = Y[here + l] if here < Y.size else 0.0
        if t + 1 < lo:
            up = (lam[l] - (a0 + t + 1.0) * before) * G
        else:
            up = Y[above + l] if above < Y.size else 0.0
        C[l] = (p - lam[l]) * (1.0 + gamma * G) + gamma * (down + p * (up - down))


# The band and the last row -------------------------------------------------------------------------------------------


@njit
def band(lam: F1, row: int, rows: int, little: float, lattice: Lattice) -> tuple[int, int]:
    """The band of t in the last row: below it every lane retires, above it Y is zero or negligible."""
    least, most, n = lam.min(), lam.max(), lattice.a0 + lattice.b0 + row
    first, last = n * least - lattice.a0, n * most - lattice.a0
    if lattice.overvalued:
        first -= band_margin(1.0 - least, n, rows, little, lattice)
        last += band_margin(most, n, rows, little, lattice)
    return min(max(math.floor(first), 0), row), min(max(math.ceil(last), 0), row)


@njit
def band_margin(lam: float, n: float, rows: int, little: float, lattice: Lattice) -> float:
    """How far above n lambda the successes must be for G E(lambda - theta)^+ to be `little`, `rows` rows away."""
    G = lattice.tail
    L = max(math.log(G * math.sqrt(math.pi / (8.0 * n)) / little) + rows * math.log(lattice.gamma), 0.0)
    x = lam if lam >= 0.5 else min(0.5, lam + math.sqrt(0.5 * L / n))
    return math.sqrt(2.0 * x * (1.0 - x) * L * n)


@njit
def bonus(p: float, lam: float, n: float, lattice: Lattice) -> float:
    """An upper bound on what optimal play from the last row earns beyond retiring at once or never.

    Optimal play earns at most sum_k gamma^k E(p_k - lambda)^+, where the mean p_k after k more plays has variance
    p (1 - p) / (n + 1) k / (n + k). The bound follows by E x^+ <= (E x + sqrt(E x^2)) / 2 and Jensen's inequality in k.
    """
    d, k = abs(p - lam), lattice.gamma / (1.0 - lattice.gamma)
    variance = p * (1.0 - p) / (n + 1.0) * k / (n + k)
    known = math.sqrt(math.pi / (8.0 * n)) * math.exp(-2.0 * n * d * d)  # as if theta were known at once
    return lattice.tail * min(0.5 * (math.sqrt(d * d + variance) - d), known)
