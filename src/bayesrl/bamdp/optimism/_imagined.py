"""Dynamic programming in which the agent also chooses an imagined outcome (BOLT, POT).

After (s, a) the agent imagines that some outcome k was seen a few more times: the row becomes
(1 - w_gk) p_g + w_gk e_k, and k is chosen with the action. With x_k = r_k + gamma v(s_k) the extended backup is

    q(s, a) = max_k (1 - w_gk) sum_j p_gj x_j + w_gk x_k.

It costs O(K) for each pair; listing K |A| actions would cost O(K^2).

Discount 1. An imagined row has all outcomes of the mean row, since w < 1, and e_k. So a set of states that the extended
actions can keep can be kept in the mean model too: if every policy of the mean model ends, every policy of the extended
one does. Its optimum is then found by policy iteration (`undiscounted`). With L its longest expected episode, values
whose backup moves by at most x are at most x L from the optimum (`models/solvers/proper.py`).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesrl.checks import Floats, frozen
from bayesrl.kernels.arrays import B1, F1, F2, F3, I1, I2, I3
from bayesrl.kernels.dynamic_programming.bellman import Model, improve
from bayesrl.kernels.jit import njit
from bayesrl.models.solution import LISTS
from bayesrl.models.solvers.evaluation import evaluate

Indices = NDArray[np.int64]

UNIT = 2.0**-53
"""Relative rounding of one operation in double precision."""


class Imagined(NamedTuple):
    """A mean model and the weight of imagined outcomes."""

    succ: I3  # (S, A, K)
    reward: F3  # (S, A, K)
    group: I2  # (S, A)
    size: I1  # (G,)
    prob: F2  # (G, K)
    weight: F2  # (G, K), w
    terminal: B1  # (S,)
    gamma: float


@njit
def backup(m: Imagined, v: F1, q: F2, best: I2) -> tuple[float, float]:
    """Fill q(s, a) and the imagined outcome best[s, a]; return the extremes of max_a q - v."""
    S, A = m.group.shape
    low, high = np.inf, -np.inf
    for s in range(S):
        top = -np.inf
        for a in range(A):
            q[s, a] = 0.0
            if not m.terminal[s]:
                q[s, a], best[s, a] = choose(m, v, s, a)
            top = max(top, q[s, a])
        low, high = min(low, top - v[s]), max(high, top - v[s])
    return low, high


@njit
def choose(m: Imagined, v: F1, s: int, a: int) -> tuple[float, int]:
    """The best value of (s, a) and the outcome imagined for it."""
    g, mean = m.group[s, a], 0.0
    for k in range(m.size[g]):
        mean += m.prob[g, k] * (m.reward[s, a, k] + m.gamma * v[m.succ[s, a, k]])
    top, best = -np.inf, 0
    for k in range(m.size[g]):
        w = m.weight[g, k]
        x = (1.0 - w) * mean + w * (m.reward[s, a, k] + m.gamma * v[m.succ[s, a, k]])
        if x > top:
            top, best = x, k
    return top, best


@njit
def policy_backup(m: Imagined, v: F1, pi: I1, best: I2, new: F1) -> tuple[float, float]:
    """Fill new(s) by one sweep of the policy and its imagined outcomes; return the extremes of new - v."""
    low, high = np.inf, -np.inf
    for s in range(len(v)):
        new[s] = 0.0
        if not m.terminal[s]:
            a = pi[s]
            g, mean = m.group[s, a], 0.0
            for k in range(m.size[g]):
                mean += m.prob[g, k] * (m.reward[s, a, k] + m.gamma * v[m.succ[s, a, k]])
            k = best[s, a]
            w = m.weight[g, k]
            new[s] = (1.0 - w) * mean + w * (m.reward[s, a, k] + m.gamma * v[m.succ[s, a, k]])
        low, high = min(low, new[s] - v[s]), max(high, new[s] - v[s])
    return low, high


@njit
def finite_horizon_q(m: Imagined, H: int) -> F2:
    """q(s, a) with H decisions to go."""
    S, A = m.group.shape
    v, q, best = np.zeros(S), np.zeros((S, A)), np.zeros((S, A), np.int64)
    for _ in range(H):
        backup(m, v, q, best)
        for s in range(S):
            v[s] = q[s].max()
    return q


@njit
def infinite_horizon(m: Imagined, v: F1, tol: float, limit: int) -> tuple[F1, F2, float]:
    """(v, q, error): modified policy iteration from v until |v - v*| <= tol or rounding dominates; `limit` sweeps.

    Without terminal states a row sums to one, and V* lies between v + low / (1-gamma) and v + high / (1-gamma). v is
    moved to the middle of this interval, so that only the span high - low has to shrink (see `iterate_sweeps`).
    """
    S, A = m.group.shape
    q, best, pi, new = np.zeros((S, A)), np.zeros((S, A), np.int64), np.zeros(S, np.int64), np.empty(S)
    shift = 0.0 if m.terminal.any() else 0.5 * m.gamma / (1.0 - m.gamma)
    v = v.copy()
    error, sweeps = np.inf, 0
    while True:
        low, high = backup(m, v, q, best)
        error = max(high, -low) / (1.0 - m.gamma)
        rounding = UNIT * (m.succ.shape[2] + 8) * (np.abs(v).max() + np.abs(m.reward).max()) / (1.0 - m.gamma)
        if error <= max(tol, 3.0 * rounding) or sweeps >= limit:
            return v, q, error
        improve(q, pi, rounding * (1.0 - m.gamma))
        for s in range(S):
            v[s] = q[s, pi[s]] + (0.0 if m.terminal[s] else shift * (low + high))
        goal = 0.05 * (high - low if shift > 0.0 else max(high, -low))
        for _ in range(100):
            low, high = policy_backup(m, v, pi, best, new)
            sweeps += 1
            for s in range(S):
                v[s] = new[s] + (0.0 if m.terminal[s] else shift * (low + high))
            if (high - low if shift > 0.0 else max(high, -low)) <= goal:
                break


# Discount 1 ----------------------------------------------------------------------------------------------------------

POLICIES = 1000
"""The most policies of one policy iteration, whose rounding errors might let it go round in circles."""


def undiscounted(m: Imagined, v: Floats) -> tuple[Floats, Floats, float]:
    """(v, q, error) with discount 1, from values v on; the error is infinite if an end is too rare to be seen."""
    v, q, residual = policy_iteration(m, v)
    w, _, slack = policy_iteration(m._replace(reward=np.ones_like(m.reward)), np.zeros(len(v)))
    rounding = UNIT * (m.succ.shape[2] + 8) * (np.abs(v).max() + np.abs(m.reward).max())
    # w exceeds its backup by at least 1 - slack, so that w / (1 - slack) is long enough
    error = (residual + rounding) * w.max(initial=1.0) / (1.0 - slack) if slack < 0.5 else np.inf
    return v, q, float(error)


def policy_iteration(m: Imagined, v: Floats) -> tuple[Floats, Floats, float]:
    """(v, q, max |max_a q - v|): values of the last policy, which no choice of action and outcome improves."""
    S, A = m.group.shape
    pi, best = np.zeros(S, np.int64), np.zeros((S, A), np.int64)
    q, residual = np.zeros((S, A)), np.inf
    backup(m, v, q, best)
    for _ in range(POLICIES):
        slack = UNIT * (m.succ.shape[2] + 8) * (np.abs(v).max() + np.abs(m.reward).max())
        improve(q, pi, slack)
        new = evaluate(chain_of(m, pi, best), np.zeros(S, np.int64))
        if new is None:
            return v, q, np.inf
        low, high = backup(m, new, q, best)
        v, before, residual = new, residual, max(high, -low)
        if residual <= slack or (residual >= before and high <= 1e3 * slack):
            break
    return v, q, residual


def chain_of(m: Imagined, pi: Indices, best: Indices) -> Model:
    """The chain of a policy and its imagined outcomes as a model with one action."""
    s = np.arange(len(pi))
    g, k = m.group[s, pi], best[s, pi]
    w = np.where(m.terminal, 0.0, m.weight[g, k])
    p = (1.0 - w)[:, None] * m.prob[g]
    p[s, k] += w
    p[m.terminal] = 0.0
    r = (p * m.reward[s, pi]).sum(axis=1)
    size = frozen(np.full(len(s), p.shape[1], np.int32))
    group = frozen(s.astype(np.int32)[:, None])
    succ = frozen(np.ascontiguousarray(m.succ[s, pi][:, None, :]))
    return Model(LISTS, succ, frozen(p), group, size, frozen(r[:, None].copy()), m.gamma, 0.0, 0.0, False)
