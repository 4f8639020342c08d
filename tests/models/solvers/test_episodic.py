"""Discount 1: episodes that end, standing still for nothing, and the bound without a contraction."""

from fractions import Fraction
from itertools import product

import gymnasium
import numpy as np
import pytest

from bayesrl.errors import InvalidArgument, NotConverged
from bayesrl.models.mdp import TabularMDP, model_of
from bayesrl.models.solve import METHODS, evaluate_policy, solve
from bayesrl.models.solvers.episodic import collapse


def rational_values(mdp, policy):
    """The total reward of a policy in rational numbers, or None if it does not end from everywhere."""
    P, _ = mdp.dense()
    live = [s for s in range(mdp.n_states) if not mdp.outcomes.terminal[s]]
    M = [
        [(i == j) - Fraction(float(P[i, policy[i], j])) for j in live]
        + [Fraction(float(mdp.mean_reward[i, policy[i]]))]
        for i in live
    ]
    for i in range(len(live)):
        pivot = next((j for j in range(i, len(live)) if M[j][i] != 0), None)
        if pivot is None:
            return None
        M[i], M[pivot] = M[pivot], M[i]
        M[i] = [x / M[i][i] for x in M[i]]
        for j in range(len(live)):
            if j != i:
                M[j] = [x - M[j][i] * y for x, y in zip(M[j], M[i], strict=True)]
    values = dict(zip(live, (row[-1] for row in M), strict=True))
    return [values.get(s, Fraction(0)) for s in range(mdp.n_states)]


def random_episodes(seed, S=5, A=2):
    """Costs everywhere and an end, state 0, within reach of action 0; rows of eighths, which sum to one exactly."""
    rng = np.random.default_rng(seed)
    P = np.zeros((S, A, S))
    for s, a in product(range(S), range(A)):
        np.add.at(P[s, a], rng.integers(S, size=4), [0.5, 0.25, 0.125, 0.125])
    P[1:, 0] = 0.75 * P[1:, 0]
    P[1:, 0, 0] += 0.25
    return TabularMDP.from_dense(P, -rng.integers(1, 9, size=(S, A)) / 4.0, 1.0, terminal=[0])


@pytest.mark.parametrize("method", METHODS)
def test_costs_until_the_end(method):
    # Brute force in rational numbers over all policies that end; policies that do not end cost infinitely much.
    for seed in range(6):
        mdp = random_episodes(seed)
        every = [rational_values(mdp, policy) for policy in product(range(2), repeat=5)]
        best = [max(v[s] for v in every if v is not None) for s in range(5)]
        solution = solve(mdp, method=method)
        error = float(max(abs(Fraction(float(v)) - w) for v, w in zip(solution.values, best, strict=True)))
        assert error <= solution.error_bound <= 1e-9
        np.testing.assert_allclose(evaluate_policy(mdp, solution.policy), solution.values, atol=1e-8)


def test_warm_starts():
    mdp = random_episodes(0)
    for method, start in product(METHODS, (np.zeros(5), np.full(5, 50.0), np.full(5, -50.0))):
        solution = solve(mdp, method=method, initial=start)
        np.testing.assert_allclose(solution.values, solve(mdp).values, atol=2e-9)


@pytest.mark.parametrize("method", METHODS)
def test_gymnasium_tables(method):
    # FrozenLake without a discount: 14/17 from the start. One may walk the top row forever for nothing, so that the
    # Bellman equation has more than one solution; the policy reported must not.
    lake = TabularMDP.from_gymnasium(gymnasium.make("FrozenLake-v1"), 1.0)
    solution = solve(lake, method=method)
    assert abs(solution.values[0] - 14 / 17) <= solution.error_bound <= 1e-9
    np.testing.assert_allclose(evaluate_policy(lake, solution.policy), solution.values, atol=1e-8)
    cliff = solve(TabularMDP.from_gymnasium(gymnasium.make("CliffWalking-v1"), 1.0), method=method)
    assert cliff.values[36] == pytest.approx(-13.0, abs=1e-9)


def test_a_large_grid():
    # 15 x 15 cells, one step costs 1: the distance to the corner, by SuperLU and sweeps.
    n = 15
    P = np.zeros((n * n, 4, n * n))
    for x, y in product(range(n), range(n)):
        for a, (dx, dy) in enumerate([(1, 0), (-1, 0), (0, 1), (0, -1)]):
            P[x * n + y, a, min(max(x + dx, 0), n - 1) * n + min(max(y + dy, 0), n - 1)] = 1.0
    mdp = TabularMDP.from_dense(P, -np.ones((n * n, 4)), 1.0, terminal=[n * n - 1])
    steps = np.add.outer(np.arange(n)[::-1], np.arange(n)[::-1]).ravel()
    for method in ("auto", "value-iteration"):
        np.testing.assert_allclose(solve(mdp, method=method).values, -steps, atol=1e-9)


def walk(payoff, rest=0.0, exits=True):
    """States 1 and 2 may be kept at will for `rest` a step, and left for the end 0 at a payoff."""
    P, R = np.zeros((3, 2, 3)), np.zeros((3, 2))
    P[0, :, 0] = 1.0
    P[1, :, 2] = 1.0
    P[2, 0, 1], P[2, 1, 0 if exits else 1] = 1.0, 1.0
    R[1], R[2, 0] = rest, rest
    R[2, 1] = payoff if exits else rest
    return TabularMDP.from_dense(P, R, 1.0, terminal=[0])


def test_standing_still():
    assert solve(walk(3.0)).values.tolist() == [0.0, 3.0, 3.0]
    assert solve(walk(3.0)).policy.tolist() == [0, 0, 1]
    # Leaving costs: nothing is better than to stay forever, which pays nothing.
    assert solve(walk(-3.0)).values.tolist() == [0.0, 0.0, 0.0]
    # No way out, but nothing is paid either: an end in all but name.
    assert solve(walk(0.0, exits=False)).values.tolist() == [0.0, 0.0, 0.0]
    # Staying costs.
    np.testing.assert_allclose(solve(walk(-3.0, rest=-1.0)).values, [0.0, -4.0, -3.0], atol=1e-12)


def test_to_stay_for_nothing_is_an_end_where_one_could_leave():
    """Two states, each of which may be kept for nothing or left for the other at a loss or a gain of less than one."""
    P = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]])
    for gain in (-0.5, 0.5):
        solution = solve(TabularMDP.from_dense(P, [[0.0, -1.0], [0.0, gain]], 1.0))
        np.testing.assert_allclose(solution.values, [0.0, max(gain, 0.0)], atol=1e-9)
        assert solution.policy.tolist() == [0, int(gain > 0.0)]


def test_what_has_no_end():
    with pytest.raises(InvalidArgument, match="rewards cannot be collected forever"):
        solve(walk(3.0, rest=1.0))
    with pytest.raises(InvalidArgument, match="every state can come to an end, as the discount is 1, got '2 states"):
        solve(walk(3.0, rest=-1.0, exits=False))
    endless = TabularMDP.from_dense([[[1.0]]], [[1.0]], 1.0)
    with pytest.raises(InvalidArgument, match="got 'one without an end'"):
        solve(endless)
    with pytest.raises(InvalidArgument, match="'policy' must be one that ends its episodes"):
        evaluate_policy(walk(3.0), [0, 0, 0])


def test_gains_that_cancel_are_not_certified():
    # A loop that pays +1 and then -1: totals have no limit there, and no error bound exists.
    P, R = np.zeros((3, 2, 3)), np.zeros((3, 2))
    P[0, :, 0] = P[1, 0, 2] = P[2, 0, 1] = P[1, 1, 0] = P[2, 1, 0] = 1.0
    R[1, 0], R[2, 0] = 1.0, -1.0
    with pytest.raises((NotConverged, InvalidArgument)):
        solve(TabularMDP.from_dense(P, R, 1.0, terminal=[0]))


def test_ends_that_are_nearly_lost_in_rounding():
    """Chances of 1e-3 to 1e-13 to end: values as good as double precision shows, no farther off than the bound says."""
    rng = np.random.default_rng(0)
    for _ in range(30):
        P = np.zeros((3, 2, 3))
        P[2, :, 2], P[:2, :, 2] = 1.0, 10.0 ** -rng.integers(3, 14, (2, 2))
        P[:2, :, 0] = rng.random((2, 2)) * (1.0 - P[:2, :, 2])
        P[:2, :, 1] = 1.0 - P[:2, :, 2] - P[:2, :, 0]
        mdp = TabularMDP.from_dense(P, np.vstack([rng.random((2, 2)), np.zeros(2)]), 1.0, terminal=[2])
        policies = [rational_values(mdp, [a, c, 0]) for a, c in product(range(2), repeat=2)]
        best = [max(v[s] for v in policies) for s in range(3)]
        found = solve(mdp)
        assert max(abs(Fraction(float(v)) - x) for v, x in zip(found.values, best, strict=True)) <= found.error_bound
        assert found.error_bound < 0.1 * max(best)


def test_ends_that_are_lost_in_rounding():
    """A chance of 1e-19 to end is none beside one: no policy has values, and that is said."""
    mdp = TabularMDP.from_dense([[[1.0, 1e-19]], [[0.0, 1.0]]], [[-1.0], [0.0]], gamma=1.0, terminal=[1])
    with pytest.raises(InvalidArgument, match="solve: 'problem' must be one whose ends have probabilities above 1e-16"):
        solve(mdp)


def enumerated(P, R, ends):
    """The largest total rewards over all policies; where one stays for ever, it must be for nothing."""
    S, A = R.shape
    best = np.full(S, -np.inf)
    for policy in product(range(A), repeat=S):
        at, live = np.arange(S), ~np.isin(np.arange(S), ends)
        p, r = P[at, policy] * live[:, None], R[at, policy] * live
        reach = np.linalg.matrix_power((p > 0.0) + np.eye(S), S) > 0.0
        for_ever = live & np.array([all(reach[y, s] and live[y] for y in at[reach[s]]) for s in at])
        costs = np.array([any(for_ever[y] and r[y] != 0.0 for y in at[reach[s]]) for s in at])
        moving = live & ~for_ever & ~costs
        v = np.where(costs, -np.inf, 0.0)
        v[moving] = np.linalg.solve(np.eye(moving.sum()) - p[np.ix_(moving, moving)], r[moving])
        best = np.maximum(best, v)
    return best


def test_loops_that_cost_nothing_among_other_states():
    """Random moves with costs, gains at the end, and sets of states that may be kept for nothing, some by chance.

    Sets are merged into one state, so that states have different numbers of actions. All policies are tried.
    """
    merged = costly = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        S, A = 5, 3
        P, R = np.zeros((S, A, S)), -rng.integers(1, 9, size=(S, A)) / 4.0
        for s, a in product(range(S), range(A)):
            np.add.at(P[s, a], rng.integers(S, size=3), [0.5, 0.25, 0.25])
        P[:, 0] = 0.5 * P[:, 0] + 0.5 * np.eye(S)[0]
        P[1, 1], P[2, 1] = np.eye(S)[2], 0.5 * np.eye(S)[1] + 0.5 * np.eye(S)[2]
        R[1, 1] = R[2, 1] = 0.0
        if seed % 2:
            P[1, 2], R[1, 2] = np.eye(S)[0], 0.75 * seed - 2.0  # a gain at the end, or a loss
            P[4, 2], R[4, 2] = np.eye(S)[4], 0.0
        expected = enumerated(P, R, [0])
        for method in METHODS:
            solution = solve(TabularMDP.from_dense(P, R, 1.0, terminal=[0]), method=method)
            np.testing.assert_allclose(solution.values, expected, atol=1e-8)
        merged += bool((expected[1:3] >= 0.0).all())
        costly += bool((expected < 0.0).any())
    assert min(merged, costly) > 1


def test_merged_models_by_hand():
    """States 1 and 3 can be kept for nothing, and 2 cannot: what is left of each set, row by row."""
    P, R = np.zeros((5, 2, 5)), np.array([[0.0, 0.0], [0.0, -1.5], [-0.5, 0.75], [0.0, 2.5], [0.0, -3.5]])
    P[1, 0, 3] = P[3, 0, 1] = 1.0
    P[1, 1, [0, 2]], P[3, 1, [2, 4]] = (0.25, 0.75), (0.375, 0.625)
    P[2, 0, [1, 4]], P[2, 1, [0, 3]] = (0.5, 0.5), (0.125, 0.875)
    P[4, 0, [0, 1]], P[4, 1, [2, 3]] = (0.75, 0.25), (0.0625, 0.9375)
    P[0, :, 0] = 1.0
    model, label, stop = collapse(model_of(TabularMDP.from_dense(P, R, 1.0, terminal=[0])))
    assert label[1] == label[3]
    assert sorted(set(label.tolist())) == [0, 1, 2, 3]
    assert np.flatnonzero(stop).tolist() == [label[1]]
    assert stop.shape == (4,)
    assert model.r.shape == (4, 3)
    assert model.succ.shape[:2] == model.group.shape == (4, 3)
    assert not model.shiftable

    def rows(x):
        """Rewards of a new state, each with the probabilities of next states."""
        found = set()
        for a in range(3):
            g = model.group[x, a]
            p = np.bincount(model.succ[x, a], model.prob[g] * (np.arange(model.prob.shape[1]) < model.size[g]), 4)
            found.add((float(model.r[x, a]), *p.tolist()))
        return found

    merge = np.eye(4)[label]  # (old states, new states)
    kept = {1: [(1, 1), (3, 1)], 2: [(2, 0), (2, 1)], 4: [(4, 0), (4, 1)], 0: []}
    for s, pairs in kept.items():
        nothing = {(0.0,) * 5} if s in (0, 1) else set()  # to stop, and the end
        assert rows(label[s]) == nothing | {(R[y, a], *(P[y, a] @ merge).tolist()) for y, a in pairs}
