"""Max-min iteration round by round against plain numpy, and games of states against linear programs."""

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.optimize import linprog

from bayesrl.checks import ROW_SUM_TOLERANCE
from bayesrl.models.mdp import TabularMDP
from bayesrl.risk import _rectangular, _state_rectangular
from bayesrl.risk._rectangular import rectangular, scenarios_of
from bayesrl.risk._state_rectangular import state_rectangular

S, A = 4, 3


def scenarios(seed, n=5, gamma=0.83, terminal=(2,), rewards="pairs", spread=0.6):
    """Scenarios without symmetry as lists, and their matrices; nothing happens after a terminal state."""
    rng = default_rng(seed)
    P = rng.dirichlet(np.full(S, spread), (n, S, A))
    R = 1.7 * rng.normal(size=(n, S, A) if rewards == "pairs" else (n, S, A, S)) - 0.4
    if rewards == "shared":
        R = np.broadcast_to(R[:1], R.shape)
    models = tuple(TabularMDP.from_dense(p, r, gamma, terminal=terminal) for p, r in zip(P, R, strict=True))
    live = ~np.isin(np.arange(S), terminal)
    r = np.array([m.mean_reward for m in models]) * live[:, None]
    return scenarios_of(models), P * live[:, None, None], r


def back_up(P, r, gamma, v):
    """Tv, the largest change, and the chain of both players' choices."""
    q = r + gamma * P @ v
    a = q.min(axis=0).argmax(axis=1)
    s = np.arange(S)
    j = q[:, s, a].argmin(axis=0)
    new = q[j, s, a]
    return new, np.abs(new - v).max(), P[j, s, a], r[j, s, a]


def plain(P, r, gamma, rounds):
    """Newton's steps, or a plain one where the change does not fall by gamma; how often that happened."""
    found, plain_steps = back_up(P, r, gamma, np.zeros(S)), 0
    for _ in range(rounds):
        there = back_up(P, r, gamma, np.linalg.solve(np.eye(S) - gamma * found[2], found[3]))
        if there[1] > gamma * found[1]:
            there, plain_steps = back_up(P, r, gamma, found[0]), plain_steps + 1
        found = there
    return found[0], found[1] / (1.0 - gamma), plain_steps


@pytest.mark.parametrize("given, plain_steps", [
    ((0, 5, 0.83, (2,), "pairs"), 0), ((1, 5, 0.83, (), "outcomes"), 0), ((2, 5, 0.83, (0,), "shared"), 0),
    ((3, 5, 0.95, (), "pairs", 0.1), 1), ((1, 5, 0.97, (1,), "pairs", 0.1), 1),
])  # fmt: skip
def test_rounds(given, plain_steps, monkeypatch):
    """Values, error bounds and what counts as converged after each of the first rounds; some need the plain step."""
    gamma, (x, P, r) = given[2], scenarios(*given)
    assert plain(P, r, gamma, 1)[2] == plain_steps
    fixed = np.zeros(S)
    for _ in range(int(30 / (1.0 - gamma))):
        fixed = back_up(P, r, gamma, fixed)[0]
    for rounds in range(4):
        values, bound, _ = plain(P, r, gamma, rounds)
        if bound < 1e-9:
            break
        monkeypatch.setattr(_rectangular, "ROUNDS", rounds)
        for tol, done in ((0.99 * bound, False), (1.01 * bound, True)):
            found = rectangular(x, tol)
            assert bool(found.converged) is done
            np.testing.assert_allclose(found.values, values, rtol=1e-9, atol=1e-12)
            assert bound <= found.error_bound == pytest.approx(bound, rel=1e-6)  # rows sum to one within 1e-9
        assert np.abs(found.values - fixed).max() <= found.error_bound
    monkeypatch.undo()
    whole = rectangular(x, 1e-9)
    assert whole.converged
    np.testing.assert_allclose(whole.values, fixed, atol=1e-8)
    np.testing.assert_allclose(whole.q, r + gamma * P @ fixed, atol=1e-8)
    assert whole.policy.argmax(axis=1).tolist() == whole.q.min(axis=0).argmax(axis=1).tolist()
    warm = rectangular(x, 1e-9, fixed + 0.3)
    np.testing.assert_allclose(warm.values, fixed, atol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_rounding_counts_against_the_tolerance(seed):
    """A change that is just the tolerance is too large, as its rounding comes on top: one more round is made."""
    x, P, r = scenarios(seed)
    found = plain(P, r, 0.83, 0)
    tol = found[1] * (1.0 - 0.83) / (1.0 - 0.83 * (1.0 + ROW_SUM_TOLERANCE))
    assert rectangular(x, tol).error_bound < 0.9 * tol
    assert rectangular(x, 1.000001 * tol).error_bound == pytest.approx(tol, rel=1e-6)


def test_equal_actions():
    """The first of equal actions is taken, in every state."""
    rng = default_rng(5)
    P, R = rng.dirichlet(np.ones(S), (4, S, 2)), rng.normal(size=(4, S, 2))
    models = tuple(
        TabularMDP.from_dense(p[:, [0, 1, 0, 1]], r[:, [0, 1, 0, 1]], 0.7) for p, r in zip(P, R, strict=True)
    )
    assert rectangular(scenarios_of(models), 1e-9).policy.argmax(axis=1).max() <= 1


def game(q):
    """The value of a matrix game q (n, A) for the player of columns, by the other player's program."""
    n, A = q.shape
    rows = np.hstack([q.T, -np.ones((A, 1))])
    found = linprog(np.append(np.zeros(n), 1.0), rows, np.zeros(A), [np.append(np.ones(n), 0.0)], [1.0],
                    [(0.0, None)] * n + [(None, None)])  # fmt: skip
    return found.fun


@pytest.mark.parametrize("actions", [2, 3])
def test_states_against_linear_programs(actions):
    """Plain value iteration with a program for each state, at discount .4; the policy earns its values."""
    rng = default_rng(6)
    P, R = rng.dirichlet(np.ones(3), (4, 3, actions)), 2.3 * rng.normal(size=(4, 3, actions))
    models = tuple(TabularMDP.from_dense(p, r, 0.4, terminal=[1]) for p, r in zip(P, R, strict=True))
    v = np.zeros(3)
    for _ in range(24):
        q = R + 0.4 * P @ v
        v = np.array([game(q[:, 0]), 0.0, game(q[:, 2])])
    found = state_rectangular(scenarios_of(models), 1e-9)
    np.testing.assert_allclose(found.values, v, atol=1e-7)
    q = R + 0.4 * P @ v
    for s in (0, 2):
        assert (q[:, s] @ found.policy[s]).min() == pytest.approx(v[s], abs=1e-7)
    assert found.converged
    assert found.error_bound <= 1e-9


def test_games_that_are_solved_badly_widen_the_error_bound(monkeypatch):
    """Uniform strategies of both sides: the error bound still holds."""
    x, _, _ = scenarios(7, 4, 0.5)
    true = state_rectangular(x, 1e-9)
    uniform = np.full((S, A), 1.0 / A), np.full((S, 4), 0.25)
    monkeypatch.setattr(_state_rectangular, "games", lambda q: uniform)
    bad = state_rectangular(x, 1e-9)
    assert not bad.converged
    q = bad.q
    low, high = q.mean(axis=2).min(axis=0), q.mean(axis=0).max(axis=1)
    assert bad.error_bound >= (high - low).max() / 0.5
    assert 0.1 < np.abs(bad.values - true.values).max() <= bad.error_bound
