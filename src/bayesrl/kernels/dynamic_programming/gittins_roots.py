"""Indices of Bernoulli arms as zeros of convex functions (gittins, finite-horizon-index).

The index of an arm is the income lambda at which the advantage C of playing once over retiring at once is zero
(`retirement.py`). C is convex and falls with lambda. `calibrate` brackets the zeros of many states between chords and
secants of these functions. One call of `advantage` evaluates LANES incomes for all of its states.
"""

import math

import numpy as np

from bayesrl.kernels.arrays import F1, F2, I1
from bayesrl.kernels.dynamic_programming.retirement import LANES, Lattice, advantage
from bayesrl.kernels.jit import njit

SWEEPS = 32
"""Largest number of groups of incomes that are evaluated for all states, before each state gets its own incomes."""
APART = 1e-9
"""Incomes that are closer than this count as equal: a secant through them would consist of rounding errors."""


@njit
def calibrate(t: I1, r: I1, lattice: Lattice, width: float) -> tuple[F1, F1]:
    """Intervals (low, high) of at most this width that contain the indices of the states (t[s], r[s]), r falling."""
    S = len(r)
    x, c = np.empty((S, 4)), np.full((S, 4), np.nan)  # two incomes on either side of each zero, and C there
    low, high = np.empty(S), np.empty(S)
    for s in range(S):
        low[s], high[s] = index_bounds(t[s], r[s], lattice)
        x[s] = (-np.inf, low[s], high[s], np.inf)
    lam, C = np.empty(LANES), np.empty((S, LANES))
    least, most = low.min(), high.max()
    sweeps = min(max(S // 56, 2), SWEEPS)
    apart = (most - least) / (sweeps * LANES + 1)
    for j in range(sweeps):
        for l in range(LANES):
            lam[l] = least + apart * (j * LANES + l + 1)
        # A state needs only the two incomes next to its zero on either side.
        who = np.flatnonzero((low <= lam[LANES - 1] + 2.0 * apart) & np.isnan(c[:, 3]))
        if who.size > 0:
            advantage(lam, t[who], r[who], lattice, C)
            tighten_all(who, lam, C, x, c)
    todo, near = np.arange(S), np.empty(S)
    while todo.size > 0:
        for s in todo:
            low[s], high[s] = bracket_zero(x[s], c[s])
            near[s] = interpolate_zero(x[s], c[s], low[s], high[s])
        todo = todo[(high - low)[todo] > width]
        todo = todo[np.argsort(near[todo])]
        for j in range(0, todo.size, LANES):
            who = np.sort(todo[j : j + LANES])
            n = who.size
            for l in range(LANES):  # one income for each state, or several, evenly spaced, if there are fewer states
                s, share = who[l % n], (LANES - 1 - l % n) // n + 1
                lam[l] = near[s] if share == 1 else low[s] + (high[s] - low[s]) * (l // n + 1) / (share + 1)
            advantage(lam, t[who], r[who], lattice, C)
            tighten_all(who, lam, C, x, c)
    return low, high


@njit
def tighten_all(who: I1, lam: F1, C: F2, x: F2, c: F2) -> None:
    """Tighten the brackets of these states by the values C of all lanes."""
    for i in range(who.size):
        for l in range(LANES):
            tighten(x[who[i]], c[who[i]], lam[l], C[i, l])


@njit
def index_bounds(t: int, r: int, lattice: Lattice) -> tuple[float, float]:
    """The index lies between the mean p and p + T sigma / sqrt(1 + 2T), where T = (G - 1) / 2.

    This holds as C <= p - lambda + 2T E(theta - lambda)^+ and 2 E(theta - lambda)^+ <= sqrt(d^2 + sigma^2) - d, where
    d = lambda - p.
    """
    n, gamma, left = lattice.a0 + lattice.b0 + r, lattice.gamma, lattice.rows - r
    G = lattice.tail * gamma**left + (left if gamma == 1.0 else (1.0 - gamma**left) / (1.0 - gamma))
    p, T = (lattice.a0 + t) / n, 0.5 * (G - 1.0)
    return p, min(p + math.sqrt(p * (1.0 - p) / (n + 1.0)) * T / math.sqrt(1.0 + 2.0 * T), 1.0)


@njit
def tighten(x: F1, c: F1, lam: float, value: float) -> None:
    """Insert an income and its C if it is closer to the zero than a known one; x rises, and C > 0 on the left."""
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
def bracket_zero(x: F1, c: F1) -> tuple[float, float]:
    """Bounds on the zero of a convex falling function: the chord's zero above, the outer secants' zeros below."""
    low, high = x[1], x[2]
    if c[1] > c[2]:  # false if one of them is nan
        high = min(high, x[1] + c[1] * (x[2] - x[1]) / (c[1] - c[2]))
    if c[0] > c[1]:
        low = max(low, x[1] + c[1] * (x[1] - x[0]) / (c[0] - c[1]))
    if c[2] > c[3]:
        low = max(low, x[2] + c[2] * (x[3] - x[2]) / (c[2] - c[3]))
    return low, max(low, high)


@njit
def interpolate_zero(x: F1, c: F1, low: float, high: float) -> float:
    """The income at C = 0 by cubic interpolation through the four points; the midpoint if one of them is unknown."""
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
