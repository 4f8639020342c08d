"""Episodes with discount 1: stochastic shortest paths (Bertsekas and Tsitsiklis 1991).

The optimum is the largest expected total reward. Without a discount there are two difficulties.

End components. If the agent can stay in a set of states at no cost (by moving against a wall), the Bellman equation has
many solutions, and rounding errors can grow. All states of such a set (an end component) have the same value, so
`collapse` merges them into one state. Its actions are those that leave the set, and stopping, which pays nothing. A set
that cannot be left is an end like a terminal state.

Error bound. There is no contraction by gamma. Instead let w(s) be the longest expected time to the end under actions
that may be optimal. If TU <= U for U = v + c w, then V* <= U. The greedy policy earns at least v - c w. `ending_bound`
finds such a c and checks both inequalities, rounding included.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from bayesrl.checks import Floats, frozen
from bayesrl.errors import InvalidArgument, NotConverged
from bayesrl.kernels import ties
from bayesrl.kernels.arrays import B1, B2, F1, F2, I1
from bayesrl.kernels.dynamic_programming.bellman import Model, backup, improve, rounding_error
from bayesrl.kernels.jit import njit
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.policy import TabularPolicy
from bayesrl.models.solution import Algorithm, Indices, Solution, model_of
from bayesrl.models.solvers.evaluation import evaluate


def solve_undiscounted(
    mdp: TabularMDP, algorithm: Algorithm, method: str, tol: float, v: Floats | None, bonus: Floats | None
) -> Solution:
    """`solve_by` for discount 1."""
    return solve_ending(model_of(mdp, bonus), algorithm, method, tol, v)


def solve_ending(m: Model, algorithm: Algorithm, method: str, tol: float, v: Floats | None) -> Solution:
    """Solve a model with discount 1: on the collapsed model, with a bound of its own."""
    small, label, stop = collapse(m)
    start = evaluate(small, policy_to_the_end(small))  # values of some policy
    if start is None:
        raise InvalidArgument("solve", "problem", "one whose ends have probabilities above 1e-16", "smaller ones")
    if v is not None:
        start[label] = np.where((small.size[small.group] == 0).all(axis=1)[label], 0.0, v)
    target, total = 0.01 * tol, 0
    for _ in range(5):
        start, q, low, high, iterations = algorithm(small, start, target)
        bound, total = ending_bound(small, start, q, low, high), total + iterations
        if bound <= tol or not np.isfinite(bound):
            break
        target = min(target, max(high, -low)) * 0.5 * tol / bound
    values = start[label]
    q = np.empty(m.r.shape)
    backup(m, values, q)
    slack = 2.0 * bound if np.isfinite(bound) else 0.0
    tied = (q >= q.max(axis=1, keepdims=True) - slack) | ties.tied(q)
    ended = (small.size[small.group] == 0).all(axis=1) | (stop & (start <= slack))
    policy = TabularPolicy.unchecked(optimal_policy(m, tied, ended[label]), m.r.shape[1])
    solution = Solution(values, q, policy, bound, total, method)
    rounding = np.isfinite(bound) and max(high, -low) <= 4.0 * rounding_error(small, start)  # only rounding is left
    if not (rounding or bound <= max(tol, 1e-12 * (1.0 + np.abs(values).max()))):
        raise NotConverged(method, solution, bound, f"{total} iterations")
    return solution


class Collapsed(NamedTuple):
    """A model without end components."""

    model: Model
    label: I1
    """The new state of each old one."""
    stop: B1
    """Whether a new state may stop for a reward of zero."""


def collapse(m: Model) -> Collapsed:
    """Merge each set of states in which the agent can stay at no cost into one state."""
    from scipy.sparse.csgraph import connected_components  # slow to load, and rarely wanted

    S, _, K = m.succ.shape
    possible = m.prob[m.group] > 0.0  # (S, A, K)
    idle = possible.any(axis=2) & (m.r == 0.0)  # actions that may be taken forever
    while True:  # remove actions that leave the set of their state
        s, a, k = np.nonzero(possible & idle[:, :, None])
        graph = sparse.coo_array((np.ones(len(s)), (s, m.succ[s, a, k])), shape=(S, S))
        _, label = connected_components(graph, connection="strong")
        leaves = (possible & (label[m.succ] != label[:, None, None])).any(axis=2)
        if not (idle & leaves).any():
            break
        idle &= ~leaves
    label = label.astype(np.int64)
    stop = np.zeros(int(label.max()) + 1, np.bool_)
    stop[label[idle.any(axis=1)]] = True
    if not stop.any():
        return Collapsed(m, np.arange(S), np.zeros(S, np.bool_))
    # The actions of a new state: those of its states that leave the set, then stopping (an empty row).
    s, a = np.nonzero(~idle)
    s, a = s[order := np.argsort(label[s], kind="stable")], a[order]
    count = np.bincount(label[s], minlength=len(stop)) + stop
    j = np.arange(len(s)) - np.searchsorted(label[s], label[s])
    shape, empty = (len(stop), int(count.max())), len(m.size)
    succ, group, r = np.zeros((*shape, K), np.int32), np.full(shape, empty, np.int32), np.zeros(shape)
    succ[label[s], j], group[label[s], j], r[label[s], j] = label[m.succ[s, a]], m.group[s, a], m.r[s, a]
    for state in np.flatnonzero(count < shape[1]):  # padding repeats the last action
        last = count[state] - 1
        succ[state, last:], group[state, last:], r[state, last:] = succ[state, last], group[state, last], r[state, last]
    prob, size = np.vstack([m.prob, np.zeros((1, K))]), np.append(m.size, np.int32(0))
    rows: dict[str, Any] = {"succ": frozen(succ), "group": frozen(group), "r": frozen(r)}
    return Collapsed(m._replace(prob=frozen(prob), size=frozen(size), shiftable=False, **rows), label, stop)


def policy_to_the_end(m: Model) -> Indices:
    """Some policy that ends from every state."""
    pi = np.zeros(len(m.r), np.int64)
    ended = (m.size[m.group] == 0).all(axis=1)
    expected = "one in which every state can come to an end, as the discount is 1"
    reached = choose_ending_actions(m, np.ones(m.r.shape, np.bool_), ended, pi)
    if not reached.any():
        raise InvalidArgument("solve", "problem", expected, "one without an end", "See finite_horizon, average_reward.")
    if not reached.all():
        raise InvalidArgument("solve", "problem", expected, f"{int((~reached).sum())} states that never end")
    return pi


def optimal_policy(m: Model, tied: B2, ended: B1) -> I1:
    """The first optimal action of each state; if it may never end, an optimal action that leads to the end."""
    pi = tied.argmax(axis=1)
    first = np.zeros(tied.shape, np.bool_)
    first[np.arange(len(pi)), pi] = True
    choose_ending_actions(m, tied, choose_ending_actions(m, first, ended, pi), pi)
    return np.asarray(pi, dtype=np.int32)


@njit
def choose_ending_actions(m: Model, allowed: B2, ended: B1, pi: I1) -> B1:
    """Write into pi actions that may lead to the end; returns the states from which the end can be reached."""
    S, A = m.r.shape
    reached = ended.copy()
    changed = True
    while changed:
        changed = False
        for s in range(S):
            if reached[s]:
                continue
            for a in range(A):
                g = m.group[s, a]
                leads = allowed[s, a] and m.size[g] == 0
                for k in range(m.size[g]):
                    leads |= allowed[s, a] and m.prob[g, k] > 0.0 and reached[m.succ[s, a, k]]
                if leads:
                    pi[s], reached[s], changed = a, True, True
                    break
    return reached


def ending_bound(m: Model, v: F1, q: F2, low: float, high: float) -> float:
    """A bound on max |v - V*| for a collapsed model, or infinity if none is found."""
    S, A = m.r.shape
    delta = max(high, -low) + rounding_error(m, v)
    live = (m.size[m.group] > 0).any(axis=1)
    tied = v[:, None] - q <= max(1e-6 * (1.0 + float(np.abs(v).max())), 10.0 * delta)
    # w: the longest expected time under tied actions, by policy iteration to within half a step.
    choice = np.where(tied, np.arange(A), q.argmax(axis=1)[:, None])
    at = np.arange(S)[:, None]
    clock = frozen(np.where(live[:, None], 1.0, 0.0) * np.ones(A))
    timed = m._replace(succ=frozen(m.succ[at, choice]), group=frozen(m.group[at, choice]), r=clock, round_r=0.0)
    pi, Pw = np.zeros(S, np.int64), np.empty((S, A))
    if not choose_ending_actions(timed, np.ones((S, A), np.bool_), ~live, pi).all():
        return np.inf
    while True:
        w = evaluate(timed, pi)
        if w is None:
            return np.inf
        backup(timed, w, Pw)
        if improve(Pw, pi, 0.25) == 0:
            break
    backup(m._replace(r=frozen(np.zeros((S, A))), round_r=0.0), w, Pw)
    c = 2.0 * delta
    # gain: how much more U - TU is than v - Tv, for U = v + c w
    gain = c * (w[:, None] - Pw) - c * rounding_error(timed, w) - rounding_error(m, v)
    best = q.argmax(axis=1)
    here = np.arange(S)
    above = (gain >= q - v[:, None])[live].all()  # TU <= U
    below = (gain[here, best] >= v - q[here, best])[live].all()  # the greedy policy earns at least v - c w
    return c * float(w.max()) if above and below else np.inf
