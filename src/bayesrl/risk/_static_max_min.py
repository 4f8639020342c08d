"""Static max-min, max_mu min_j P0 . V_j(mu): nature chooses one scenario, once. The problem is NP-hard.

Deterministic policies are found by a mixed-integer program, exactly. Stationary random policies are found by an ascent
from several starts, which finds a local optimum, and `upper` says how much better any policy can be.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy import sparse

from bayesrl.checks import Bools, Floats
from bayesrl.kernels.ties import better, first_best
from bayesrl.risk._rectangular import Scenarios, episodes_of, rectangular

EXACT = 1e-9
"""Accuracy of the values that bound the others."""


class Dense(NamedTuple):
    """Scenarios as matrices."""

    P: Floats  # (n, S, A, S), rows of terminal states are zero
    r: Floats  # (n, S, A)
    start: Floats  # (S,)
    gamma: float
    best: Floats  # (n, S, A), the optimal action values of each scenario
    low: Floats  # (n, S, A), the action values of its worst policy
    free: Bools  # (S,), states that are not terminal


def dense_of(x: Scenarios, start: Floats, terminal: Bools) -> Dense:
    """Matrices of scenarios, with the best and the worst values of each."""
    n, S, A = x.r.shape
    P = np.zeros((n, S, A, S))
    s, a = np.indices((S, A))
    for k in range(x.succ.shape[2]):
        P[:, s, a, x.succ[:, :, k]] += x.prob[:, x.group, k]
    one = [x._replace(prob=x.prob[j : j + 1], r=x.r[j : j + 1]) for j in range(n)]
    if x.gamma == 1.0:  # a scenario may end where mixtures need not
        one = [y._replace(lasts=episodes_of(y, terminal)) for y in one]
    best = np.concatenate([rectangular(y, EXACT).q for y in one])
    low = np.concatenate([-rectangular(y._replace(r=-y.r), EXACT).q for y in one])
    return Dense(P, x.r, start, x.gamma, best, low, ~terminal)


def scale_of(d: Dense) -> float:
    """The unit of values: the largest difference that policies make."""
    return float((d.best - d.low).max()) or 1.0


def values_of(d: Dense, mu: Floats) -> Floats:
    """V of a policy (S, A) in each scenario, (n, S)."""
    P, r = np.einsum("nsay,sa->nsy", d.P, mu), np.einsum("nsa,sa->ns", d.r, mu)
    return np.asarray(np.linalg.solve(np.eye(len(mu)) - d.gamma * P, r[:, :, None])[:, :, 0])


def worst_return(d: Dense, mu: Floats) -> float:
    """min_j P0 . V_j."""
    return float((values_of(d, mu) @ d.start).min())


def returns_and_gradients(d: Dense, mu: Floats) -> tuple[Floats, Floats]:
    """P0 . V_j, (n,), and its derivatives in the policy, x_j(s) q_j(s, a), (n, S, A); x_j are discounted visits."""
    P, r = np.einsum("nsay,sa->nsy", d.P, mu), np.einsum("nsa,sa->ns", d.r, mu)
    system = np.eye(len(mu)) - d.gamma * P
    V = np.linalg.solve(system, r[:, :, None])[:, :, 0]
    visits = np.linalg.solve(system.swapaxes(1, 2), np.broadcast_to(d.start[:, None], (len(V), len(mu), 1)))
    q = d.r + d.gamma * np.einsum("nsay,ny->nsa", d.P, V)
    return V @ d.start, visits * q


# Upper limits --------------------------------------------------------------------------------------------------------


def informed_bound(d: Dense) -> float:
    """No policy earns more: the agent learns the scenario after its first action.

    It is min_w sum_s P0(s) max_a sum_j w_j Q*_j(s, a), a linear program over weights w of the scenarios. With all
    weight on one scenario it is that scenario's optimum.
    """
    from scipy.optimize import linprog

    n, S, A = d.best.shape
    rows = np.hstack([d.best.reshape(n, S * A).T, -np.repeat(np.eye(S), A, axis=0)])
    total, bounds = np.append(np.ones(n), np.zeros(S))[None], [(0.0, None)] * n + [(None, None)] * S
    found = linprog(np.append(np.zeros(n), d.start), rows, np.zeros(S * A), total, [1.0], bounds, method="highs")
    w = np.eye(n)[(d.best.max(axis=2) @ d.start).argmin()] if found.x is None else np.maximum(found.x[:n], 0.0)
    return float(np.einsum("n,nsa->sa", w / w.sum(), d.best).max(axis=1) @ d.start)  # valid for any weights


# Deterministic policies ----------------------------------------------------------------------------------------------


def best_deterministic(d: Dense, branches: int, start: Floats) -> tuple[Floats, float, bool]:
    """The best deterministic policy (S, A), an upper limit of its worst return, and whether the program was solved.

    Maximise t over binary pi, v and t, subject to sum_a pi(s, a) = 1, t <= P0 . v_j and

        v_j(s) <= r_j(s, a) + gamma P_j(s, a) . v_j + M_j(s, a) (1 - pi(s, a)).

    M_j(s, a) = max_b Q*_j(s, b) - (the least q_j(s, a) of any policy) is the smallest that never binds where pi is 0.
    `start` is a policy to fall back on.
    """
    found = _program(d, branches, True)
    upper = _limit(found.mip_dual_bound, d)
    if found.x is not None:
        chosen = np.eye(d.r.shape[2])[found.x[: d.r[0].size].reshape(d.r.shape[1:]).argmax(axis=1)]
        start = chosen if better(worst_return(d, chosen), worst_return(d, start)) else start
    return start, max(upper, worst_return(d, start)), found.status == 0


def relaxed_bound(d: Dense) -> float:
    """No stationary policy earns more: the same program with fractional pi.

    A random policy is feasible: v - q(a) = sum_b mu(b) (q(b) - q(a)) is at most (1 - mu(a)) M.
    """
    found = _program(d, 1, False)
    return _limit(found.fun if found.status == 0 else None, d)  # a program without whole numbers has no dual bound


def _limit(bound: float | None, d: Dense) -> float:
    """A program's upper limit of the worst return, or the least optimum of a scenario if it has none."""
    trivial = float((d.best.max(axis=2) @ d.start).min())
    base, unit = float((d.low.min(axis=2) @ d.start).min()), scale_of(d)
    return trivial if bound is None or not np.isfinite(bound) else min(trivial, base - unit * bound)


def _program(d: Dense, branches: int, whole: bool) -> Any:
    """Solve the program, in the variables pi, (v - the least v) / unit and (t - the least t) / unit."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    n, S, A = d.r.shape
    unit, low, high = scale_of(d), d.low.min(axis=2), d.best.max(axis=2)
    M, least = (high[:, :, None] - d.low) / unit, low @ d.start
    pi, v = np.arange(S * A).reshape(S, A), S * A + np.arange(n * S).reshape(n, S)  # columns of the variables
    t, row = S * A + n * S, np.arange(n * S * A).reshape(n, S, A)
    j, s, a, y = np.nonzero(d.P)
    parts = [  # (rows, columns, entries)
        (row, np.broadcast_to(pi, row.shape), M),
        (row, np.broadcast_to(v[:, :, None], row.shape), np.ones(row.shape)),
        (row[j, s, a], v[j, y], -d.gamma * d.P[j, s, a, y]),
        (row.size + np.arange(n), np.full(n, t), np.ones(n)),
        (row.size + np.repeat(np.arange(n), S), v, np.tile(-d.start, n)),
        (row.size + n + np.repeat(np.arange(S), A), pi, np.ones(S * A)),
    ]
    rows, columns, entries = (np.concatenate([np.ravel(part[i]) for part in parts]) for i in range(3))
    limits = np.concatenate([(M + (d.low - low[:, :, None]) / unit).ravel(), (least - least.min()) / unit, np.ones(S)])
    matrix = sparse.csr_array((entries, (rows, columns)), shape=(len(limits), t + 1))
    allowed = np.where(d.free[:, None], 1.0, np.eye(A)[0]).ravel()  # a terminal state takes the first action
    most = np.concatenate([allowed, (high - low).ravel() / unit, [((high @ d.start).min() - least.min()) / unit]])
    for presolve in (True, False):  # HiGHS fails after its presolve in rare, tiny programs
        found = milp(
            np.append(np.zeros(t), -1.0),
            integrality=np.append(np.full(S * A, int(whole)), np.zeros(n * S + 1)),
            bounds=Bounds(0.0, most),
            constraints=LinearConstraint(matrix, np.append(np.full(row.size + n, -np.inf), np.ones(S)), limits),
            options={"mip_rel_gap": 0.0, "node_limit": branches, "presolve": presolve},
        )
        if found.status in (0, 1):  # solved, or cut off
            break
    return found


# Stationary policies -------------------------------------------------------------------------------------------------


def ascend(d: Dense, starts: list[Floats]) -> Floats:
    """The best policy that SLSQP finds from these, at least as good as each of them: max t, t <= P0 . V_j(mu)."""
    from scipy.optimize import minimize

    n, S, A = d.r.shape
    scale = scale_of(d)
    sums = np.append(np.kron(np.eye(S), np.ones(A)), np.zeros((S, 1)), axis=1)
    last: dict[bytes, tuple[Floats, Floats]] = {}

    def at(z: Floats) -> tuple[Floats, Floats]:
        key = z.tobytes()
        if key not in last:
            last.clear()
            f, g = returns_and_gradients(d, z[:-1].reshape(S, A))
            last[key] = f / scale - z[-1], np.append(g.reshape(n, S * A) / scale, -np.ones((n, 1)), axis=1)
        return last[key]

    falls = np.append(np.zeros(S * A), -1.0)
    constraints = [
        {"type": "ineq", "fun": lambda z: at(z)[0], "jac": lambda z: at(z)[1]},
        {"type": "eq", "fun": lambda z: sums @ z - 1.0, "jac": lambda z: sums},
    ]
    found = list(starts)
    for mu in starts:
        z = np.append(mu.ravel(), worst_return(d, mu) / scale)
        result = minimize(
            lambda z: -z[-1],
            z,
            jac=lambda z: falls,
            method="SLSQP",
            bounds=[(0.0, 1.0)] * (S * A) + [(None, None)],
            constraints=constraints,
            options={"ftol": 1e-12, "maxiter": 200},
        )
        new = np.maximum(result.x[:-1].reshape(S, A), 0.0)
        if np.isfinite(new).all() and (new.sum(axis=1) > 0.0).all():
            found.append(new / new.sum(axis=1, keepdims=True))
    return found[first_best(np.array([worst_return(d, mu) for mu in found]))]


def random_policies(n: int, S: int, A: int, rng: Generator) -> list[Floats]:
    """The uniform policy and n random ones."""
    return [np.full((S, A), 1.0 / A), *rng.dirichlet(np.ones(A), (n, S))]
