"""The parts of static max-min against plain loops: matrices, bounds, the program row by row, starts and ascents."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.optimize import linprog

from bayesrl.models.mdp import TabularMDP
from bayesrl.risk import _static_max_min as static
from bayesrl.risk._rectangular import scenarios_of
from bayesrl.risk._state_rectangular import by_program
from bayesrl.risk.scenario_max_min import ScenarioMaxMin

S, A, N, GAMMA = 3, 4, 5, 0.83
START = np.array([0.2, 0.5, 0.3])


def models(seed=0, n=N, terminal=(2,), scale=1.7, shift=0.4, alike=False, actions=A):
    """Scenarios without symmetry; with `alike` they share their lists of outcomes, otherwise rows lack states."""
    rng = default_rng(seed)
    P, R = rng.dirichlet(np.full(S, 0.8), (n, S, actions)), scale * rng.normal(size=(n, S, actions)) + shift
    if not alike:
        P[0, 0, 1] = [0.0, 1.0, 0.0]
        P[1, 1, -1] = [0.4, 0.0, 0.6]
    return [TabularMDP.from_dense(P[j], R[j], GAMMA, start=START, terminal=terminal) for j in range(n)]


def dense(found):
    first = found[0].outcomes
    return static.dense_of(scenarios_of(tuple(found)), first.start, first.terminal)


def extremes(m, best):
    """Action values of the best or of the worst policy of a model, by value iteration."""
    P, R = m.dense()
    live = ~m.outcomes.terminal
    v = np.zeros(S)
    for _ in range(400):
        q = (P * R).sum(axis=2) + GAMMA * P @ v
        v = np.where(live, q.max(axis=1) if best else q.min(axis=1), 0.0)
    return np.where(live[:, None], q, 0.0)


def values(m, mu):
    P, R = m.dense()
    live = ~m.outcomes.terminal
    chain = np.einsum("sa,say->sy", mu, P) * live[:, None]
    return np.linalg.solve(np.eye(S) - GAMMA * chain, (mu * (P * R).sum(axis=2)).sum(axis=1) * live)


@pytest.mark.parametrize("terminal", [(), (2,)])
@pytest.mark.parametrize("alike", [True, False])
def test_matrices_and_extreme_values(alike, terminal):
    """Every field; the unit of values; values, the worst return, and the gradient by finite differences."""
    found = models(1, terminal=terminal, alike=alike)
    d, live = dense(found), ~np.isin(np.arange(S), terminal)
    for j, m in enumerate(found):
        P, R = m.dense()
        np.testing.assert_allclose(d.P[j], P * live[:, None, None], atol=1e-15)
        np.testing.assert_allclose(d.r[j], (P * R).sum(axis=2) * live[:, None], atol=1e-14)
        np.testing.assert_allclose(d.best[j], extremes(m, True), atol=1e-7)
        np.testing.assert_allclose(d.low[j], extremes(m, False), atol=1e-7)
    assert d.start.tolist() == START.tolist()
    assert d.free.tolist() == live.tolist()
    assert d.gamma == GAMMA
    assert static.scale_of(d) == (d.best - d.low).max() > 1.0
    assert static.scale_of(d._replace(low=d.best)) == 1.0
    mu = default_rng(2).dirichlet(np.ones(A), S)
    V = np.array([values(m, mu) for m in found])
    np.testing.assert_allclose(static.values_of(d, mu), V, atol=1e-12)
    assert static.worst_return(d, mu) == pytest.approx((V @ START).min(), abs=1e-12)
    returns, gradient = static.returns_and_gradients(d, mu)
    np.testing.assert_allclose(returns, V @ START, atol=1e-12)
    for s, a in np.ndindex(S, A):
        step = np.zeros((S, A))
        step[s, a] = 1e-6
        slope = [(values(m, mu + step) - values(m, mu - step)) @ START / 2e-6 for m in found]
        np.testing.assert_allclose(gradient[:, s, a], slope, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_informed_bound(seed):
    """Two scenarios: the bound is convex and piecewise linear in one weight, with kinks where two actions tie."""
    d = dense(models(seed, n=2))
    best, ties = d.best, [0.0, 1.0]
    for s, a, c in product(range(S), range(A), range(A)):
        slope = (best[0, s, a] - best[1, s, a]) - (best[0, s, c] - best[1, s, c])
        if abs(slope) > 1e-12:
            ties.append((best[1, s, c] - best[1, s, a]) / slope)
    worth = [(w * best[0] + (1.0 - w) * best[1]).max(axis=1) @ START for w in ties if 0.0 <= w <= 1.0]
    assert static.informed_bound(d) == pytest.approx(min(worth), abs=1e-9)


def plain_program(found):
    """max t over fractional pi, v and t; rows as in the docstring. Values are between their extremes."""
    n, A = len(found), found[0].n_actions
    high = np.array([extremes(m, True) for m in found])
    low = np.array([extremes(m, False) for m in found])
    live = ~found[0].outcomes.terminal
    size = S * A + n * S + 1
    rows, limits, equal = [], [], []
    for j, m in enumerate(found):
        P, R = m.dense()
        for s, a in np.ndindex(S, A):
            row, M = np.zeros(size), high[j, s].max() - low[j, s, a]
            row[s * A + a] = M
            row[S * A + j * S + s] = 1.0
            if live[s]:
                row[S * A + j * S : S * A + j * S + S] -= GAMMA * P[s, a]
            rows.append(row)
            limits.append(M + (P[s, a] @ R[s, a] if live[s] else 0.0))
        row = np.zeros(size)
        row[-1], row[S * A + j * S : S * A + j * S + S] = 1.0, -START
        rows.append(row)
        limits.append(0.0)
    for s in range(S):
        row = np.zeros(size)
        row[s * A : s * A + A] = 1.0
        equal.append(row)
    bounds = [(0.0, 1.0 if live[s] or a == 0 else 0.0) for s, a in np.ndindex(S, A)]
    bounds += [(low[j, s].min(), high[j, s].max()) for j in range(n) for s in range(S)] + [(None, None)]
    goal = np.zeros(size)
    goal[-1] = -1.0
    return -linprog(goal, rows, limits, equal, np.ones(S), bounds).fun


@pytest.mark.parametrize("seed, scale", [(3, 1.7), (5, 17.0)])
def test_relaxed_bound_is_the_program_row_by_row(seed, scale):
    """Seven scenarios of two actions, where it is below the least optimum of a scenario; no policy is above it."""
    found = models(seed, n=7, actions=2, scale=scale, shift=scale / 4.25)
    d = dense(found)
    trivial = min(extremes(m, True).max(axis=1) @ START for m in found)
    relaxed = plain_program(found)
    assert relaxed < trivial - 0.01
    assert static.relaxed_bound(d) == pytest.approx(relaxed, abs=1e-6)
    for mu in default_rng(0).dirichlet(np.ones(2), (20, S)):
        assert static.worst_return(d, mu) <= relaxed + 1e-9
    solution = ScenarioMaxMin(form="static", policies="stationary", restarts=1).solve(found, default_rng(0))
    assert solution.value <= solution.upper == pytest.approx(min(relaxed, static.informed_bound(d)), abs=1e-6)


def test_the_limit_of_a_program_without_a_bound(monkeypatch):
    """The least optimum; a bound of x units is x units below the least return of any policy in any scenario."""
    found = models(4)
    d = dense(found)
    trivial = min(extremes(m, True).max(axis=1) @ START for m in found)
    least = min(extremes(m, False).min(axis=1) @ START for m in found)
    for none in (None, np.nan, np.inf, -np.inf):
        assert static._limit(none, d) == pytest.approx(trivial, abs=1e-8)
    unit = static.scale_of(d)
    for share in (0.0, 0.1, 0.3):
        bound = -share * (trivial - least) / unit
        assert static._limit(bound, d) == pytest.approx(least + share * (trivial - least), abs=1e-7)
    assert static._limit(-1e3, d) == pytest.approx(trivial, abs=1e-8)
    failed = SimpleNamespace(x=None, fun=-0.1, status=4, mip_dual_bound=None)
    monkeypatch.setattr(static, "_program", lambda *given: failed)
    assert static.relaxed_bound(d) == pytest.approx(trivial, abs=1e-8)
    start = default_rng(1).dirichlet(np.ones(A), S)
    policy, upper, solved = static.best_deterministic(d, 5, start)
    assert policy is start
    assert (upper, solved) == (pytest.approx(trivial, abs=1e-8), False)


def test_linear_programs_that_fail(monkeypatch):
    """Without an answer the bound is the least optimum of a scenario, and pure strategies play a game."""
    monkeypatch.setattr("scipy.optimize.linprog", lambda *args, **options: SimpleNamespace(x=None))
    found = models(4)
    least = min(extremes(m, True).max(axis=1) @ START for m in found)
    assert static.informed_bound(dense(found)) == pytest.approx(least, abs=1e-8)
    q = default_rng(2).normal(size=(N, A))
    mu, y = by_program(q)
    assert mu.tolist() == np.eye(A)[q.min(axis=0).argmax()].tolist()
    assert y.tolist() == np.eye(N)[q.max(axis=1).argmin()].tolist()


@pytest.mark.parametrize("seed, terminal", [(0, ()), (1, (1,))])
def test_the_best_deterministic_policy_by_enumeration(seed, terminal):
    """The policy, its limit, and that it was solved; a start that is better than the program's policy is kept."""
    found = models(10 + seed, n=3, terminal=terminal)
    d = dense(found)
    every = [np.eye(A)[list(pi)] for pi in product(range(A), repeat=S)]
    worst = [min(values(m, mu) @ START for m in found) for mu in every]
    bad = every[int(np.argmin(worst))]
    policy, limit, solved = static.best_deterministic(d, 10_000, bad)
    assert solved
    assert static.worst_return(d, policy) == pytest.approx(max(worst), abs=1e-9)
    assert limit == pytest.approx(max(worst), abs=1e-6)
    mixed = np.full((S, A), 1.0 / A)
    for start in (mixed, every[int(np.argmax(worst))]):
        kept, limit, _ = static.best_deterministic(d, 10_000, start)
        assert static.worst_return(d, kept) >= max(max(worst), static.worst_return(d, start)) - 1e-9
        assert limit >= static.worst_return(d, kept) - 1e-12


def test_ascents_end_where_no_small_step_is_better():
    """Never below a start, probabilities, and a local optimum: no step towards a random policy gains."""
    rng = default_rng(6)
    for scale in (1.0, 1e5):
        d = dense(models(20, n=4, scale=scale, shift=0.0))
        starts = [np.eye(A)[rng.integers(A, size=S)], rng.dirichlet(np.ones(A), S)]
        end = static.ascend(d, starts)
        top = static.worst_return(d, end)
        assert top >= max(static.worst_return(d, mu) for mu in starts)
        np.testing.assert_allclose(end.sum(axis=1), 1.0, atol=1e-12)
        assert end.min() >= 0.0
        others = [np.where(np.arange(S)[:, None] == s, np.eye(A)[a], end) for s, a in np.ndindex(S, A)]
        for mu in (*rng.dirichlet(np.ones(A), (30, S)), *others):
            assert static.worst_return(d, 0.999 * end + 0.001 * mu) <= top + 1e-6 * scale


def test_starts():
    """The uniform policy, and rows drawn uniformly from the simplex with the generator that is given."""
    found = static.random_policies(3, S, A, default_rng(5))
    assert len(found) == 4
    assert found[0].tolist() == [[0.25] * A] * S
    np.testing.assert_array_equal(found[1:], default_rng(5).dirichlet(np.ones(A), (3, S)))
