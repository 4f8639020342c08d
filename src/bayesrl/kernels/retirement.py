"""Calibration of one Bernoulli arm: which sure income is worth as much as the arm? (gittins, finite-horizon-index)

One plays an arm Beta(a, b) for as long as one likes and then retires on an income of lambda for each remaining step.
The index of the arm is the lambda at which playing once more and retiring at once are equally good. Row r of a lattice
holds the posteriors (a0 + t, b0 + r - t) that r plays lead to. G_r is the total weight of the steps from there on:
1 / (1 - gamma), or less if there is a horizon. Let Y be the value of the option to retire, over never retiring. With
n = a0 + b0 + r and p = (a0 + t) / n,

    Y_r(t) = max{ (lambda - p) G_r,  gamma [p Y_{r+1}(t + 1) + (1 - p) Y_{r+1}(t)] },

because the posterior mean of an arm is a martingale. The advantage of playing once over retiring,

    C_r(t) = (p - lambda) G_r + gamma [p Y_{r+1}(t + 1) + (1 - p) Y_{r+1}(t)],

is convex and falls with lambda, at least as fast as lambda rises, and the index is its zero. `advantage` computes C for
LANES incomes at once, side by side in memory, so that a row is one vectorised loop over the band of t that matters:
below the band one retires, above it Y is negligible. `calibrate` finds the zeros of many states between secants of
their convex functions.

In cells where no income leads to retirement, rows are skipped (`far`). Let h_r(t) be the ratio of two probabilities of
a sequence of r plays with t successes: under the arm's prior, and with a fixed probability q of success. Then h Y
moves like the latter,

    (h Y)_r(t) = gamma [q (h Y)_{r+1}(t + 1) + (1 - q) (h Y)_{r+1}(t)],

and JUMP rows of it are one sum with binomial weights. Only the cells near the boundary of retirement, and the last rows
before the states asked for, are computed row by row.

The band: Y is computed from its last row downwards in r, and set to zero if it is below a share of `drop`. The shares
add up to `drop`, which bounds the error of C, and of the index. In an overvalued last row (see `bonus`) the band ends
where the bound Y_r(t) <= G E(lambda - theta)^+ <= G sqrt(pi / 8n) exp(-n d^2 / 2v) is small enough; here
d = p - lambda > 0 and v is the largest x (1 - x) on [lambda, p]. This is Chernoff's bound for the Beta, P(theta < x) <=
exp(-n KL(p, x)), integrated.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesrl.kernels.arrays import F1, F2, I1
from bayesrl.kernels.jit import njit

LANES = 16
"""Incomes that are tried together."""
JUMP, BINOMIAL = 4, (1.0, 4.0, 6.0, 4.0, 1.0)
"""Rows that are taken together far from the states, and the weights of the walk's paths through them."""
STRIDE = 8
"""Rows from one trimming of the band to the next near the states."""
SWEEPS = 32
"""The most groups of incomes that are tried on all states before every state gets incomes of its own."""
APART = 1e-9
"""Incomes that are nearer to each other count as one: a secant through them would be made of rounding errors."""


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
    """Bound on the error of Y in the states asked for."""


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
    # Y holds the present row on lo <= t <= hi; below, every lane retires; above, it is zero, and so is Z.
    for k in range(lo * L, (hi + 1) * L):
        Y[k] = max(0.0, (Lam[k] - A[k] * w) * G)
        if lattice.generous:
            Y[k] += bonus(A[k] * w, Lam[k], n0 + row, lattice)
    if not lattice.generous:
        Y, Z, row, G, lo, hi = far((A, Lam, Y, Z), lam, lo, hi, r[0] + 1, share, lattice)
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
        while mid <= hi and (lattice.generous or players(Y[mid * L :], lam, A[mid * L] * w, G) < L):
            mid += 1  # from mid on nobody retires, in this row and (but for the bonus) in those before it
        x, y, z = lo * L, mid * L, (hi + 1) * L
        for _ in range(rows):
            row -= 1
            w, before = 1.0 / (n0 + row), w
            while s < len(r) and r[s] == row:
                playing(Y, t[s], lo, lam, a0, w, before, gamma, G, C[s])
                s += 1
            G = 1.0 + gamma * G
            play_or_retire(Y[x : y + L], A[x:y], Lam[x:y], w, gamma, G, Z[x:y])
            play(Y[y : z + L], A[y:z], w, gamma, Z[y:z])
            Y, Z = Z, Y
        while lo < hi and players(Y[lo * L :], lam, A[lo * L] * w, G) == 0:
            lo += 1


@njit
def far(
    arrays: tuple[F1, F1, F1, F1], lam: F1, lo: int, hi: int, stop: int, share: float, lattice: Lattice
) -> tuple[F1, F1, int, float, int, int]:
    """From the last row to less than JUMP rows above `stop`: (Y, Z, row, G, lo, hi) as they are there."""
    A, Lam, Y, Z = arrays
    L, a0, b0, gamma, row, G = LANES, lattice.a0, lattice.b0, lattice.gamma, lattice.rows, lattice.tail
    q = min(max(lam.max(), 1e-3), 1.0 - 1e-3)  # where most of what is not negligible is: h stays moderate
    odds, decay, taps = q / (1.0 - q), -math.log(gamma), np.empty(JUMP + 1)
    for j in range(JUMP + 1):
        taps[j] = BINOMIAL[j] * (gamma * q) ** j * (gamma * (1.0 - q)) ** (JUMP - j)
    # U = h Y on mid <= t <= hi, and zero above; Y itself below mid. h counts up to a factor: it is 1 where U begins.
    U, V, mid, h_mid, h_hi = np.zeros(Y.size), np.zeros(Y.size), hi + 1, 1.0, 1.0
    while row - JUMP >= stop:
        w, first = 1.0 / (a0 + b0 + row), max(lo - JUMP, 0)
        retire(A[first * L : lo * L], Lam, w, G, Y[first * L : lo * L])
        lo, little = first, share * math.exp(decay * (row + 1 - stop))
        while hi > mid and negligible(U[hi * L :], little * h_hi):
            U[hi * L : (hi + 1) * L], V[hi * L : (hi + 1) * L] = 0.0, 0.0
            h_hi *= odds * (b0 + row - hi) / (a0 + hi - 1.0)
            hi -= 1
        while mid > lo and players(Y[(mid - 1) * L :], lam, A[(mid - 1) * L] * w, G) == L:
            if mid > hi:
                h_mid = h_hi = 1.0
            else:
                h_mid *= odds * (b0 + row - mid) / (a0 + mid - 1.0)
            mid -= 1
            scale(Y[mid * L :], h_mid, U[mid * L : (mid + 1) * L])
        unweigh(U, mid, min(mid + JUMP - 1, hi), 1.0 / h_mid, odds, row, lattice, Y)
        Y[(hi + 1) * L : (mid + JUMP) * L] = 0.0
        last = min(hi, row - JUMP)  # there are no more successes than plays
        for t in range(hi, last, -1):
            h_hi *= odds * (b0 + row - t) / (a0 + t - 1.0)
        mid = min(mid, last + 1)
        walk(U[mid * L : (last + 1 + JUMP) * L], taps, V[mid * L : (last + 1) * L])
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
        while lo < min(mid, hi) and players(Y[lo * L :], lam, A[lo * L] * w, G) == 0:
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
def walk(U: F1, taps: F1, V: F1) -> None:
    """V = the row JUMP rows before U, where nobody retires."""
    c0, c1, c2, c3, c4 = taps[0], taps[1], taps[2], taps[3], taps[4]
    u0, u1, u2, u3, u4 = U[: V.size], U[LANES:], U[2 * LANES :], U[3 * LANES :], U[4 * LANES :]
    for k in range(V.size):
        V[k] = c0 * u0[k] + c1 * u1[k] + c2 * u2[k] + c3 * u3[k] + c4 * u4[k]


@njit
def play_or_retire(Y: F1, A: F1, Lam: F1, w: float, gamma: float, G: float, Z: F1) -> None:
    """Z = the row before Y, where somebody may retire."""
    down, up = Y[: Z.size], Y[LANES:]
    for k in range(Z.size):
        p = A[k] * w
        Z[k] = max((Lam[k] - p) * G, gamma * (down[k] + p * (up[k] - down[k])))


@njit
def play(Y: F1, A: F1, w: float, gamma: float, Z: F1) -> None:
    """Z = the row before Y, where nobody retires."""
    down, up = Y[: Z.size], Y[LANES:]
    for k in range(Z.size):
        p = A[k] * w
        Z[k] = gamma * (down[k] + p * (up[k] - down[k]))


@njit
def retire(A: F1, Lam: F1, w: float, G: float, Y: F1) -> None:
    """Y where everybody retires."""
    for k in range(Y.size):
        Y[k] = (Lam[k] - A[k] * w) * G


@njit
def scale(U: F1, weight: float, Y: F1) -> None:
    """Y = weight U for one t."""
    for l in range(LANES):
        Y[l] = weight * U[l]


@njit
def players(Y: F1, lam: F1, p: float, G: float) -> int:
    """In how many lanes one plays on at the first t of Y; p is the mean there, to the last bit as in `retire`."""
    n = 0
    for l in range(LANES):
        n += Y[l] > (lam[l] - p) * G
    return n


@njit
def negligible(Y: F1, little: float) -> bool:
    """Whether the first t of Y has no more than a little in any lane."""
    most = 0.0
    for l in range(LANES):
        most = max(most, Y[l])
    return most <= little


@njit
def playing(Y: F1, t: int, lo: int, lam: F1, a0: float, w: float, before: float, gamma: float, G: float, C: F1) -> None:
    """C of one state of the row before Y."""
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
    """The t of the last row between which Y is to be computed: below one retires, above Y is zero or negligible."""
    least, most, n = lam.min(), lam.max(), lattice.a0 + lattice.b0 + row
    first, last = n * least - lattice.a0, n * most - lattice.a0
    if lattice.generous:
        first -= reach(1.0 - least, n, rows, little, lattice)
        last += reach(most, n, rows, little, lattice)
    return min(max(math.floor(first), 0), row), min(max(math.ceil(last), 0), row)


@njit
def reach(lam: float, n: float, rows: int, little: float, lattice: Lattice) -> float:
    """How far above n lambda the successes can be before G E(lambda - theta)^+, `rows` rows away, is little."""
    G = lattice.tail
    L = max(math.log(G * math.sqrt(math.pi / (8.0 * n)) / little) + rows * math.log(lattice.gamma), 0.0)
    x = lam if lam >= 0.5 else min(0.5, lam + math.sqrt(0.5 * L / n))
    return math.sqrt(2.0 * x * (1.0 - x) * L * n)


@njit
def bonus(p: float, lam: float, n: float, lattice: Lattice) -> float:
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
def calibrate(t: I1, r: I1, lattice: Lattice, width: float) -> tuple[F1, F1]:
    """Intervals of at most this width that hold the indices of the states (t[s], r[s]), r falling: (low, high)."""
    S = len(r)
    x, c = np.empty((S, 4)), np.full((S, 4), np.nan)  # two incomes on either side of each zero, and C there
    low, high = np.empty(S), np.empty(S)
    for s in range(S):
        low[s], high[s] = enclosure(t[s], r[s], lattice)
        x[s] = (-np.inf, low[s], high[s], np.inf)
    lam, C = np.empty(LANES), np.empty((S, LANES))
    least, most = low.min(), high.max()
    sweeps = min(max(S // 56, 2), SWEEPS)
    apart = (most - least) / (sweeps * LANES + 1)
    for j in range(sweeps):
        for l in range(LANES):
            lam[l] = least + apart * (j * LANES + l + 1)
        # What matters of a state are the two incomes next to its zero on either side.
        who = np.flatnonzero((low <= lam[LANES - 1] + 2.0 * apart) & np.isnan(c[:, 3]))
        if who.size > 0:
            advantage(lam, t[who], r[who], lattice, C)
            keep(who, lam, C, x, c)
    todo, near = np.arange(S), np.empty(S)
    while todo.size > 0:
        for s in todo:
            low[s], high[s] = between(x[s], c[s])
            near[s] = guess(x[s], c[s], low[s], high[s])
        todo = todo[(high - low)[todo] > width]
        todo = todo[np.argsort(near[todo])]
        for j in range(0, todo.size, LANES):
            who = np.sort(todo[j : j + LANES])
            n = who.size
            for l in range(LANES):  # one income for each state, several spread evenly where states are fewer
                s, share = who[l % n], (LANES - 1 - l % n) // n + 1
                lam[l] = near[s] if share == 1 else low[s] + (high[s] - low[s]) * (l // n + 1) / (share + 1)
            advantage(lam, t[who], r[who], lattice, C)
            keep(who, lam, C, x, c)
    return low, high


@njit
def keep(who: I1, lam: F1, C: F2, x: F2, c: F2) -> None:
    """Keep what was found about these states."""
    for i in range(who.size):
        for l in range(LANES):
            note(x[who[i]], c[who[i]], lam[l], C[i, l])


@njit
def enclosure(t: int, r: int, lattice: Lattice) -> tuple[float, float]:
    """The index lies between the mean p and p + T sigma / sqrt(1 + 2T), where T = (G - 1) / 2.

    For C <= p - lambda + 2T E(theta - lambda)^+, and 2 E(theta - lambda)^+ <= sqrt(d^2 + sigma^2) - d, d = lambda - p.
    """
    n, gamma, left = lattice.a0 + lattice.b0 + r, lattice.gamma, lattice.rows - r
    G = lattice.tail * gamma**left + (left if gamma == 1.0 else (1.0 - gamma**left) / (1.0 - gamma))
    p, T = (lattice.a0 + t) / n, 0.5 * (G - 1.0)
    return p, min(p + math.sqrt(p * (1.0 - p) / (n + 1.0)) * T / math.sqrt(1.0 + 2.0 * T), 1.0)


@njit
def note(x: F1, c: F1, lam: float, value: float) -> None:
    """Keep an income and its C where they are nearer to the zero than what is known; x rises, C > 0 on the left."""
    if value > 0.0:
        if lam > x[1] + APART:
            x[0], c[0], x[1], c[1] = x[1], c[1], lam, value
        elif x[0] < lam < x[1] - APART:
            x[0], c[0] = lam, value
    elif lam < x[2] - APART:
        x[3], c[3], x[2], c[2] = x[2], c[2], lam, value
    elif x[2] + APART < lam < x[3]:
        x[3], c[3] = lam, value


@njit
def between(x: F1, c: F1) -> tuple[float, float]:
    """Where a convex falling function has its zero: left of the chord's, right of the zeros of the outer secants."""
    low, high = x[1], x[2]
    if c[1] > c[2]:  # false where one is not known
        high = min(high, x[1] + c[1] * (x[2] - x[1]) / (c[1] - c[2]))
    if c[0] > c[1]:
        low = max(low, x[1] + c[1] * (x[1] - x[0]) / (c[0] - c[1]))
    if c[2] > c[3]:
        low = max(low, x[2] + c[2] * (x[3] - x[2]) / (c[2] - c[3]))
    return low, max(low, high)


@njit
def guess(x: F1, c: F1, low: float, high: float) -> float:
    """Where the income, as a cubic in C through the four points, has C = 0; midway where one of them is not known."""
    if not c[0] > c[1] > c[2] > c[3]:
        return 0.5 * (low + high)
    zero = 0.0
    for i in range(4):
        term = x[i]
        for j in range(4):
            if j != i:
                term *= c[j] / (c[j] - c[i])
        zero += term
    return zero if low < zero < high else 0.5 * (low + high)
