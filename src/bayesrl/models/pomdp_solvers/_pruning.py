"""Which alpha-vectors are needed: linear programs over the simplex of beliefs.

The excess of a vector alpha over a set W is the largest d with b . (alpha - beta) >= d for some belief b and all beta
in W: the value of a matrix game. alpha is needed if it is positive, and b is its witness. A game has two certificates,
a belief b and weights on W. Each gives a bound of the value, whatever errors were made in finding them, so results are
checked and not trusted: `solve_game` is a small compiled simplex method, and HiGHS solves what it leaves open.
"""

from __future__ import annotations

import numpy as np

from bayesrl.kernels.arrays import F1, F2, I1
from bayesrl.kernels.jit import njit

SLACK = 1e-12
"""A smaller excess, relative to the largest entry, counts as none."""
OPEN, OUT, IN = 0, 1, 2
"""The state of a vector: not decided yet, left out, or kept."""


class TooMany(Exception):
    """More vectors or linear programs than are allowed."""


def prune(vectors: F2, guesses: F2, slack: float, left: I1 | None = None) -> tuple[I1, F2]:
    """The places of the needed vectors of a set (N, S), and a witness of each; `guesses` (n, S) may be witnesses.

    `left` (1,) is how many entries of tables the linear programs may still change. They are counted down; `TooMany` if
    none are left.

    A vector that exceeds the others by at most `slack` is left out. For two states this is an upper envelope, else
    Lark's filter: a vector with an open question is compared with those that are in, and if it has a witness, the best
    vector there comes in. What came in early may not be needed in the end, so those that are in are compared again.
    """
    if vectors.shape[1] == 2:
        return envelope(vectors, slack)
    left = np.array([np.iinfo(np.int64).max]) if left is None else left
    state, witness = lark(vectors, guesses, slack, left)
    if left[0] <= 0:
        raise TooMany("linear programs that change more entries than are allowed")
    for i in np.flatnonzero(state == OPEN):  # rare: the compiled program was not accurate enough
        _, high, b, _ = by_highs(vectors[i] - vectors[state == IN])
        state[i], witness[i] = IN if high > slack else OUT, b
    kept = np.flatnonzero(state == IN)
    return kept, witness[kept]


def largest_excess(upper: F2, vectors: F2) -> float:
    """max over beliefs of max_u b . u - max_i b . alpha_i, from above: 0 if no u (n, S) exceeds the vectors (N, S)."""
    most = 0.0
    scale = max(float(np.abs(upper).max()), float(np.abs(vectors).max()), 1e-300)
    for u in upper:
        M = u - vectors
        if M.max(axis=1).min() <= most:  # below one vector everywhere
            continue
        low, high, _, _ = solve_game(M)
        if high - low > SLACK * scale:
            low, high, _, _ = by_highs(M)
        most = max(most, high)
    return most


def by_highs(M: F2) -> tuple[float, float, F1, F1]:
    """The game M (n, S) by scipy's HiGHS: bounds of its value, the belief and the weights that prove them."""
    from scipy.optimize import linprog  # slow to load, and rarely wanted

    n, S = M.shape
    scale = max(float(np.abs(M).max()), 1e-300)
    found = linprog(
        np.append(np.zeros(S), -1.0),
        A_ub=np.hstack([-M / scale, np.ones((n, 1))]),
        b_ub=np.zeros(n),
        A_eq=np.append(np.ones(S), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0.0, None)] * S + [(None, None)],
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if found.x is None:  # no program was found to need this
        b, weight = np.ones(S), np.ones(n)
    else:
        b, weight = np.maximum(found.x[:S], 0.0), np.maximum(-found.ineqlin.marginals, 0.0)
    b, weight = b / b.sum(), weight / weight.sum()
    return float((M @ b).min()), float((weight @ M).max()), b, weight


@njit
def envelope(vectors: F2, slack: float) -> tuple[I1, F2]:
    """`prune` for two states: the upper envelope of the lines V(p) = (1 - p) alpha(0) + p alpha(1)."""
    N = len(vectors)
    order = np.argsort(vectors[:, 1] - vectors[:, 0])  # by slope
    kept, n = np.empty(N, np.int64), 0
    for i in order:
        x = vectors[i]
        if n > 0 and np.abs(x - vectors[kept[n - 1]]).max() <= slack:  # of lines that agree the first one stays
            kept[n - 1] = min(kept[n - 1], i)
            continue
        while n > 0:
            y = vectors[kept[n - 1]]
            above = x[0] >= y[0] - slack  # and so everywhere, as its slope is not smaller
            if not (above or (n > 1 and excess(y, vectors[kept[n - 2]], x) <= slack)):
                break
            n -= 1
        if n == 0 or x[1] > vectors[kept[n - 1], 1] + slack:
            kept[n] = i
            n += 1
    witness: F2 = np.empty((n, 2))
    left = 0.0
    for j in range(n):
        right = 1.0 if j == n - 1 else crossing(vectors[kept[j]], vectors[kept[j + 1]])
        witness[j, 1] = 0.5 * (left + right)
        witness[j, 0] = 1.0 - witness[j, 1]
        left = right
    return kept[:n].copy(), witness


@njit
def crossing(x: F1, y: F1) -> float:
    """The p at which two lines meet."""
    return (x[0] - y[0]) / ((x[0] - y[0]) + (y[1] - x[1]))


@njit
def excess(y: F1, x: F1, z: F1) -> float:
    """How far the line y is above x and z where these meet; x has the smallest slope, z the largest."""
    p = crossing(x, z)
    if not 0.0 < p < 1.0:
        p = min(max(p, 0.0), 1.0)
    top = max((1.0 - p) * x[0] + p * x[1], (1.0 - p) * z[0] + p * z[1])
    return (1.0 - p) * y[0] + p * y[1] - top


@njit
def lark(vectors: F2, guesses: F2, slack: float, left: I1) -> tuple[I1, F2]:
    """`prune` by programs: which vectors are IN, OUT or still OPEN, and the witnesses of those that are in.

    It stops when no entries are `left`.
    """
    N, S = vectors.shape
    state, witness = np.zeros(N, np.int64), np.zeros((N, S))
    drop_below(vectors, state, slack)
    tried = np.vstack((np.eye(S), guesses))
    for k in range(len(tried)):  # the corners and the guesses
        i = best_at(vectors, state, tried[k].copy())
        if state[i] == OPEN and clearly_best(vectors, state, tried[k].copy(), i, slack):
            state[i], witness[i] = IN, tried[k]
    if not (state == IN).any():
        b = np.full(S, 1.0 / S)
        i = best_at(vectors, state, b)
        state[i], witness[i] = IN, b
    for i in range(N):
        while state[i] == OPEN and left[0] > 0:
            (low, high, b, _), changed = played(vectors[i] - vectors[state == IN])
            left[0] -= changed
            if high <= slack:
                state[i] = OUT
            elif low > 0.0:
                j = best_at(vectors, state, b)
                j = i if state[j] == IN else j  # i exceeds those that are in by less than a tie
                state[j], witness[j] = IN, b
            else:
                break
    for i in range(N):
        if left[0] > 0 and state[i] == IN and not clearly_best(vectors, state, witness[i], i, slack):
            state[i] = OUT
            if (state == IN).any():
                (_, high, b, _), changed = played(vectors[i] - vectors[state == IN])
                left[0] -= changed
                if high > slack:
                    state[i], witness[i] = IN, b
            else:
                state[i] = IN
    return state, witness


@njit
def drop_below(vectors: F2, state: I1, slack: float) -> None:
    """Put OUT what is below another vector everywhere; of vectors that agree within the slack the first one stays."""
    N, S = vectors.shape
    for i in range(N):
        for j in range(N):
            if j == i or state[j] == OUT:
                continue
            least, most = np.inf, -np.inf
            for s in range(S):
                d = vectors[j, s] - vectors[i, s]
                least, most = min(least, d), max(most, d)
                if least < -slack:
                    break
            if least >= -slack and (most > slack or j < i):
                state[i] = OUT
                break


@njit
def best_at(vectors: F2, state: I1, b: F1) -> int:
    """The vector that is best at b among those that are not out; ties go to the lexicographically largest."""
    best, v = -1, -np.inf
    for i in range(len(vectors)):
        if state[i] != OUT:
            x = np.dot(vectors[i], b)
            if best >= 0 and abs(x - v) <= 1e-13 * (1.0 + abs(v)):
                for s in range(len(b)):
                    if vectors[i, s] != vectors[best, s]:
                        if vectors[i, s] > vectors[best, s]:
                            best, v = i, max(x, v)
                        break
            elif x > v:
                best, v = i, x
    return best


@njit
def clearly_best(vectors: F2, state: I1, b: F1, i: int, slack: float) -> bool:
    """Whether vector i exceeds all that are not out, at b, by more than the slack."""
    second = -np.inf
    for j in range(len(vectors)):
        if j != i and state[j] != OUT:
            second = max(second, np.dot(vectors[j], b))
    return bool(np.dot(vectors[i], b) > second + slack)


@njit
def solve_game(M: F2) -> tuple[float, float, F1, F1]:
    """max_b min_i b . M_i for a matrix (n, S): bounds of the value, the belief, the weights."""
    return played(M)[0]


@njit
def played(M: F2) -> tuple[tuple[float, float, F1, F1], int]:
    """`solve_game` by the simplex method, and how many entries of its table were changed.

    With entries moved into [1, 2] the program is: maximise sum y subject to M' y <= 1 and y >= 0. The weights are y,
    and the belief is the dual solution, both scaled to sum to one.
    """
    n, S = M.shape
    low, high = M.min(), M.max()
    width = max(high - low, 1e-300)
    table: F2 = np.zeros((S + 1, n + S + 1))  # columns: y, slacks, right side; the last row holds reduced costs
    for s in range(S):
        for i in range(n):
            table[s, i] = 1.0 + (M[i, s] - low) / width
        table[s, n + s] = 1.0
        table[s, n + S] = 1.0
    table[S, :n] = -1.0
    basis, changed = np.arange(n, n + S), table.size
    for step in range(20 * (n + S)):
        enter = -1
        if step < 5 * (n + S):  # the steepest; later the first, which never cycles
            enter = int(np.argmin(table[S, : n + S]))
            if table[S, enter] >= -1e-12:
                break
        else:
            for i in range(n + S):
                if table[S, i] < -1e-12:
                    enter = i
                    break
            if enter < 0:
                break
        leave, least = -1, np.inf
        for s in range(S):
            if table[s, enter] > 1e-11:
                ratio = table[s, n + S] / table[s, enter]
                if ratio < least or (ratio == least and basis[s] < basis[leave]):
                    leave, least = s, ratio
        if leave < 0:
            break
        table[leave] /= table[leave, enter]
        for s in range(S + 1):
            if s != leave and table[s, enter] != 0.0:
                table[s] -= table[s, enter] * table[leave]
        basis[leave] = enter
        changed += table.size
    weight, b = np.zeros(n), np.empty(S)
    for s in range(S):
        if basis[s] < n:
            weight[basis[s]] = max(table[s, n + S], 0.0)
        b[s] = max(table[S, n + s], 0.0)
    weight, b = weight / weight.sum(), b / b.sum()
    return (np.dot(M, b).min(), np.dot(weight, M).max(), b, weight), changed
