"""Max-min values where nature sees the state and not the action: a matrix game in each state.

In state s the agent chooses a distribution mu over actions, and nature, who knows mu, a scenario:

    v(s) = max_mu min_j sum_a mu(a) q_j(s, a),      q_j(s, a) = r_j(s, a) + gamma P_j(s, a) . v

Both sides of a solved game are kept. The agent's mu proves a lower limit of the game's value, and nature's weights y
prove an upper one. The error bound of a solution thus does not rely on the accuracy of the program that found it.
"""

from __future__ import annotations

import numpy as np

from bayesrl.checks import Floats
from bayesrl.kernels.arrays import F3
from bayesrl.kernels.ties import size, within
from bayesrl.models.mdp import UNIT
from bayesrl.risk._rectangular import Backup, Robust, Scenarios, iterate


def state_rectangular(x: Scenarios, tol: float) -> Robust:
    """Max-min values against nature that sees the state only."""
    _, S, A = x.r.shape

    def backup(q: F3) -> Backup:
        mu, y = games(q)
        low = np.einsum("nsa,sa->ns", q, mu).min(axis=0)
        high = np.einsum("nsa,sn->sa", q, y).max(axis=1)
        prob, r = np.zeros((S, A, x.succ.shape[2])), np.zeros(S)
        for s, j in zip(*np.nonzero(y), strict=True):
            prob[s] += y[s, j] * mu[s, :, None] * x.prob[j, x.group[s]]
            r[s] += y[s, j] * (mu[s] @ x.r[j, s])
        error = max(float((high - low).max()), 0.0)
        return Backup(low, error, mu, x.succ.reshape(S, -1), prob.reshape(S, -1), r)

    return iterate(x, backup, tol, None)


def games(q: Floats) -> tuple[Floats, Floats]:
    """Optimal strategies of the agent, (S, A), and of nature, (S, n), in the games q (n, S, A)."""
    n, _, A = q.shape
    low, high, rounding = q.min(axis=0), q.max(axis=2), 8.0 * UNIT * size(q.ravel())
    mu, y = np.eye(A)[within(low, rounding)], np.eye(n)[within(-high.T, rounding)]
    open_ = low.max(axis=1) + rounding < high.min(axis=0)  # where pure strategies do not meet
    if A == 2:
        mu[open_], y[open_] = two_actions(q[:, open_])
    else:
        for s in np.flatnonzero(open_):
            mu[s], y[s] = by_program(q[:, s])
    return mu, y


def two_actions(q: Floats) -> tuple[Floats, Floats]:
    """Solve games of two actions (n, S, 2) whose value no pure strategies attain.

    The payoff of scenario j is a line in x, the probability of action 1. The value is the top of the lower envelope. A
    rising line on the left and a falling one on the right meet at x. The lowest line at x replaces one of them, until
    none is lower than their meeting point.
    """
    n, S, _ = q.shape
    s, slope = np.arange(S), q[:, :, 1] - q[:, :, 0]
    left, right = q[:, :, 0].argmin(axis=0), q[:, :, 1].argmin(axis=0)
    for _ in range(n + 1):
        rise, fall = slope[left, s], -slope[right, s]
        steep = np.where(rise + fall > 0.0, rise + fall, 1.0)
        x = np.clip((q[right, s, 0] - q[left, s, 0]) / steep, 0.0, 1.0)
        height = q[:, :, 0] + x * slope
        j = height.argmin(axis=0)
        lower = height[j, s] < np.minimum(height[left, s], height[right, s])
        if not lower.any():
            break
        up = slope[j, s] > 0.0
        left, right = np.where(lower & up, j, left), np.where(lower & ~up, j, right)
    y = np.zeros((S, n))
    np.add.at(y, (s, left), fall / steep)
    np.add.at(y, (s, right), rise / steep)
    return np.column_stack([1.0 - x, x]), y


def by_program(q: Floats) -> tuple[Floats, Floats]:
    """Solve one game q (n, A) by HiGHS: maximise t subject to t <= sum_a mu(a) q_j(a)."""
    from scipy.optimize import linprog  # slow to load

    n, A = q.shape
    span = np.ptp(q)
    rows = np.column_stack([-(q - q.min()) / span, np.ones(n)])
    total = np.append(np.ones(A), 0.0)[None]
    bounds = [(0.0, None)] * A + [(None, None)]
    found = linprog(np.append(np.zeros(A), -1.0), rows, np.zeros(n), total, [1.0], bounds, method="highs")
    if found.x is None:  # the pure strategies remain, and the error bound says how far they are apart
        return np.eye(A)[q.min(axis=0).argmax()], np.eye(n)[q.max(axis=1).argmin()]
    mu, y = np.maximum(found.x[:A], 0.0), np.maximum(-found.ineqlin.marginals, 0.0)
    return mu / mu.sum(), y / y.sum()
