"""Exact solvers against exact arithmetic: every discounted problem here is also solved in rational numbers."""

from fractions import Fraction
from itertools import product
from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest
from scipy import sparse

from bayesrl.errors import BayesRLError, InvalidArgument, NotConverged
from bayesrl.kernels.dynamic_programming.bellman import policy_backup
from bayesrl.models.mdp import Outcomes, TabularMDP, model_of
from bayesrl.models.solve import METHODS, evaluate_policy, solve
from bayesrl.models.solvers.mdp_lp import LinearProgram, program
from bayesrl.models.solvers.modified_policy_iteration import MANY, follow_gathered, gather, has_short_rows
from bayesrl.models.solvers.policy_iteration import PolicyIteration
from bayesrl.models.solvers.value_iteration import ValueIteration

# Problems ------------------------------------------------------------------------------------------------------------


def dense(rng, S=4, A=3, gamma=0.9, terminal=()):
    return TabularMDP.from_dense(
        rng.dirichlet(np.ones(S), (S, A)), rng.normal(size=(S, A, S)), gamma, terminal=terminal
    )


def listed(rng, S=5, A=2, gamma=0.9, terminal=()):
    P = rng.exponential(size=(S, A, S)) * (rng.random((S, A, S)) < 0.4)
    P[:, :, 0] += P.sum(axis=2) == 0.0
    P /= P.sum(axis=2, keepdims=True)
    return TabularMDP.from_dense(P, rng.normal(size=(S, A)), gamma, terminal=terminal)


def tied(rng, S=5, A=2, gamma=0.9, terminal=()):
    G, K = 3, 3
    group = rng.permutation(np.concatenate([np.arange(G), rng.integers(G, size=S * A - G)])).reshape(S, A)
    size = np.array([K, 2, 1])
    ends = np.zeros(S, bool)
    ends[list(terminal)] = True
    succ, reward = rng.integers(S, size=(S, A, K)), rng.normal(size=(S, A, K))
    prob = np.where(np.arange(K) < size[:, None], rng.exponential(size=(G, K)), 0.0)
    outcomes = Outcomes(succ, reward, group, size, np.zeros(1), np.eye(S)[0], ends)
    return TabularMDP(outcomes, prob / prob.sum(axis=1, keepdims=True), gamma)


KINDS = {"dense": dense, "listed": listed, "tied": tied}


def chain(gamma=0.95):
    """Five states; effect a goes on (10 at the end), effect b goes back to the first for 2; the other one with .2."""
    P, R = np.zeros((5, 2, 5)), np.zeros((5, 2, 5))
    for s in range(5):
        for a in range(2):
            P[s, a, min(s + 1, 4)] += 0.8 if a == 0 else 0.2
            P[s, a, 0] += 0.2 if a == 0 else 0.8
    R[:, :, 0], R[4, :, 4] = 2.0, 10.0
    return TabularMDP.from_dense(P, R, gamma)


def double_loop(gamma=0.95):
    """Nine states: the left loop pays 1 whatever is done, the right one 2 if action 1 is kept up."""
    step = {0: (1, 5), 1: (2, 2), 2: (3, 3), 3: (4, 4), 4: (0, 0), 5: (0, 6), 6: (0, 7), 7: (0, 8), 8: (0, 0)}
    P, R = np.zeros((9, 2, 9)), np.zeros((9, 2))
    for s, after in step.items():
        P[s, [0, 1], after] = 1.0
    R[4], R[8] = 1.0, 2.0
    return TabularMDP.from_dense(P, R, gamma)


def ring(S, gamma):
    """Left or right round a ring, two places that pay: slowly mixing."""
    P, R = np.zeros((S, 2, S)), np.zeros((S, 2))
    for s in range(S):
        for a in range(2):
            P[s, a, (s + 2 * a - 1) % S] += 0.8
            P[s, a, (s - 2 * a + 1) % S] += 0.1
            P[s, a, s] += 0.1
    R[0], R[S // 3] = 1.0, 0.5
    return TabularMDP.from_sparse(sparse.csr_array(P.reshape(2 * S, S)), R, gamma)


# Oracles -------------------------------------------------------------------------------------------------------------


def rational(mdp, bonus=None):
    """(P, R, gamma) of the model as exact rational numbers; what floating point holds is taken at its word."""
    S, A, _ = mdp.succ.shape
    P = [[[Fraction(0)] * S for _ in range(A)] for _ in range(S)]
    R = [[Fraction(0)] * A for _ in range(S)]
    for s, a in product(range(S), range(A)):
        if mdp.outcomes.terminal[s]:
            continue
        for k in range(mdp.outcomes.size[mdp.group[s, a]]):
            p = Fraction(float(mdp.prob[mdp.group[s, a], k]))
            P[s][a][mdp.succ[s, a, k]] += p
            R[s][a] += p * Fraction(float(mdp.reward[s, a, k]))
        R[s][a] += Fraction(0) if bonus is None else Fraction(float(bonus[s, a]))
    return P, R, Fraction(float(mdp.gamma))


def rational_solve(M, b):
    n = len(b)
    M = [[*row, x] for row, x in zip(M, b, strict=True)]
    for i in range(n):
        pivot = next(j for j in range(i, n) if M[j][i] != 0)
        M[i], M[pivot] = M[pivot], M[i]
        M[i] = [x / M[i][i] for x in M[i]]
        for j in range(n):
            if j != i and M[j][i] != 0:
                M[j] = [x - M[j][i] * y for x, y in zip(M[j], M[i], strict=True)]
    return [row[n] for row in M]


def rational_optimum(mdp, bonus=None):
    """V* without any rounding: policy iteration in rational numbers."""
    P, R, gamma = rational(mdp, bonus)
    S, A = len(R), len(R[0])
    policy = [0] * S
    while True:
        rows = [[(i == j) - gamma * P[i][policy[i]][j] for j in range(S)] for i in range(S)]
        V = rational_solve(rows, [R[s][policy[s]] for s in range(S)])
        Q = [
            [R[s][a] + gamma * sum(p * v for p, v in zip(P[s][a], V, strict=True)) for a in range(A)] for s in range(S)
        ]
        if all(max(Q[s]) == Q[s][policy[s]] for s in range(S)):
            return V
        policy = [policy[s] if max(Q[s]) == Q[s][policy[s]] else Q[s].index(max(Q[s])) for s in range(S)]


def floor(mdp, V):
    """What double precision can show at best: three times the rounding of one backup, over 1 - gamma."""
    terms = (mdp.succ.shape[2] + 4) if not mdp.outcomes.is_flat else min(len(V), 64) + len(V) / 64 + 4
    return 3.1 * 2.0**-53 * terms * (np.abs(mdp.reward).max() + np.abs(V).max()) / (1.0 - mdp.gamma)


def distance(values, exact):
    return float(max(abs(Fraction(float(v)) - w) for v, w in zip(values, exact, strict=True)))


# Right ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gamma", [0.0, 0.5, 0.95, 0.999])
@pytest.mark.parametrize("terminal", [(), (1,)])
@pytest.mark.parametrize("kind", KINDS)
def test_every_solver_finds_the_best_policy(kind, terminal, gamma):
    for seed in range(3):
        mdp = KINDS[kind](np.random.default_rng(seed), gamma=gamma, terminal=terminal)
        S, A = mdp.group.shape
        every = [evaluate_policy(mdp, policy) for policy in product(range(A), repeat=S)]
        best = np.max(every, axis=0)
        q = mdp.mean_reward + gamma * (mdp.matrix @ best).reshape(S, A)
        for method in METHODS:
            solution = solve(mdp, 1e-10, method=method)
            np.testing.assert_allclose(solution.values, best, atol=1e-9, rtol=1e-12)
            np.testing.assert_allclose(solution.q, q, atol=1e-9, rtol=1e-12)
            np.testing.assert_allclose(evaluate_policy(mdp, solution.policy), best, atol=1e-9, rtol=1e-12)
            assert solution.error_bound <= max(1e-10, floor(mdp, best))
            assert solution.method == method


def test_brute_force_agrees_with_the_rational_oracle():
    mdp = listed(np.random.default_rng(7), terminal=(2,))
    every = [evaluate_policy(mdp, policy) for policy in product(range(2), repeat=5)]
    assert distance(np.max(every, axis=0), rational_optimum(mdp)) < 1e-13


@pytest.mark.parametrize("solver", [ValueIteration(), PolicyIteration(), LinearProgram()])
def test_registered_solvers(solver):
    """The chain's values, computed independently of this project, and a problem of which all policies are tried."""
    expected = [61.3794816, 64.8912896, 69.5120896, 75.5920896, 83.5920896]
    np.testing.assert_allclose(solver.solve(chain()).values, expected, atol=2e-9)
    mdp = listed(np.random.default_rng(7), terminal=(2,))
    every = [evaluate_policy(mdp, policy) for policy in product(range(2), repeat=5)]
    np.testing.assert_allclose(solver.solve(mdp).values, np.max(every, axis=0), atol=2e-9)


def test_chain_and_double_loop():
    # Computed independently of this project (V* of the chain at the start: 61.3795).
    solution = solve(chain())
    np.testing.assert_allclose(solution.values, [61.3794816, 64.8912896, 69.5120896, 75.5920896, 83.5920896], atol=1e-9)
    np.testing.assert_allclose(solution.q[:, 1], [60.57775104, 61.45570304, 62.61090304, 64.13090304, 66.13090304])
    assert solution.policy.tolist() == [0] * 5
    # The right loop: 2 after five steps, so V(0) = 2 g^4 / (1 - g^5).
    g = 0.95
    loop = solve(double_loop())
    np.testing.assert_allclose(loop.values[0], 2 * g**4 / (1 - g**5), rtol=1e-12)
    np.testing.assert_allclose(loop.values[8], 2 + g * loop.values[0], rtol=1e-12)
    assert loop.policy[[0, 5, 6, 7]].tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("gamma", [0.95, 0.999])
def test_beyond_the_small_sizes(method, gamma):
    # LAPACK for dense models, SuperLU and sweeps for the others; each must prove its error.
    rng = np.random.default_rng(3)
    smeared = ring(80, gamma)
    smeared = TabularMDP.from_dense(0.99 * smeared.dense()[0] + 0.01 / 80, smeared.mean_reward, gamma)
    assert smeared.outcomes.is_flat
    for mdp in (dense(rng, S=150, A=2, gamma=gamma), smeared, ring(250, gamma), listed(rng, S=250, A=3, gamma=gamma)):
        solution = solve(mdp, 1e-7, method=method)
        assert solution.error_bound <= 1e-7
        best = solve(mdp, 1e-11, method="policy-iteration")
        assert np.abs(solution.values - best.values).max() <= 1e-7 + best.error_bound
        np.testing.assert_allclose(evaluate_policy(mdp, solution.policy), best.values, atol=3e-7 / (1 - gamma))


@pytest.mark.parametrize("gamma", [0.8, 0.95, 0.999])
@pytest.mark.parametrize("terminal", [(), (7,)])
def test_many_states_with_short_rows(gamma, terminal):
    # Sweeps go over rows that were gathered for the policy; the answer is that of the plain sweeps and of elimination.
    rng = np.random.default_rng(4)
    S, A = MANY + 100, 2
    y = np.stack([(np.arange(S)[:, None] + [1, -1]) % S, rng.integers(S, size=(S, 2))], axis=2)
    p = np.broadcast_to([0.9, 0.1], (S, A, 2)).ravel()
    row = np.repeat(np.arange(S * A), 2)
    P = sparse.csr_array((p, (row, y.ravel())), shape=(S * A, S))
    mdp = TabularMDP.from_sparse(P, rng.normal(size=(S, A)), gamma, terminal=terminal)
    assert has_short_rows(model_of(mdp))
    best = solve(mdp, 1e-11, method="policy-iteration")
    for method in ("auto", "modified-policy-iteration"):
        solution = solve(mdp, 1e-7, method=method)
        assert np.abs(solution.values - best.values).max() <= solution.error_bound + best.error_bound
        assert solution.error_bound <= 1e-7


def test_gathered_sweeps_equal_plain_ones():
    for terminal in ((), (3,)):
        m = model_of(tied(np.random.default_rng(6), S=8, gamma=0.9, terminal=terminal))
        S, K = len(m.r), m.succ.shape[2]
        pi, v, new = np.arange(S) % 2, np.arange(S) * 1.5, np.empty(S)
        y, p, r = np.empty((S, K), np.uint32), np.empty((S, K)), np.empty(S)
        there = np.full(S, -1)
        gather(m, 1 - pi, there, y, p, r)
        pi[0] = 1 - pi[0]  # this row is there already, the others are not
        gather(m, pi, there, y, p, r)
        np.testing.assert_array_equal(there, pi)
        plain, c = v.copy(), 0.5 * 0.9 / 0.1 if m.shiftable else 0.0
        for _ in range(5):
            low, high = policy_backup(m, pi, plain, new)
            plain = new + c * (low + high)
        done, *found = follow_gathered(y, p, r, v, np.empty(S), 0.9, m.shiftable, 0.0, 5)
        np.testing.assert_allclose(v, plain, rtol=1e-12)
        np.testing.assert_allclose(found, (low, high), rtol=1e-9)
        assert not done


@pytest.mark.parametrize("seed", range(8))
def test_cycles_at_a_discount_near_one(seed):
    """On a cycle a sweep of 1 - gamma = .001 changes less than the last digit of a value: sweeps alone never end."""
    rng = np.random.default_rng(seed)
    S, A = int(rng.integers(5, 60)), int(rng.integers(2, 5))
    mdp = TabularMDP.from_dense(np.eye(S)[rng.integers(S, size=(S, A))], rng.normal(size=(S, A)), 0.999)
    solution = solve(mdp, method="modified-policy-iteration")
    assert solution.error_bound <= max(1e-9, floor(mdp, solution.values))
    best = solve(mdp, method="policy-iteration")
    assert np.abs(solution.values - best.values).max() <= solution.error_bound + best.error_bound


def test_a_bonus_is_a_reward():
    rng = np.random.default_rng(5)
    for kind in KINDS.values():
        mdp = kind(rng, terminal=(1,))
        bonus = rng.exponential(size=mdp.group.shape)
        solution = solve(mdp, bonus=bonus)
        assert distance(solution.values, rational_optimum(mdp, bonus)) <= solution.error_bound < 1e-9
        assert solution.values[1] == 0.0  # nothing is earned after the end
        warm = solve(mdp, bonus=bonus, initial=solution.values)
        np.testing.assert_allclose(warm.values, solution.values, atol=1e-10)


def test_a_world_is_a_problem():
    class World:
        mdp = chain()

    assert solve(World()).values.tolist() == solve(chain()).values.tolist()


@pytest.mark.parametrize("left", [1e-6, 1e-9, 1e-10, 1e-12])
def test_the_program_near_discount_one(left):
    """It is feasible, and nearly right, as HiGHS sees coefficients of order one; policy iteration does the rest."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        mdp = TabularMDP.from_dense(rng.dirichlet(np.ones(5), (5, 2)), rng.normal(size=(5, 2)), 1.0 - left)
        right = solve(mdp, method="policy-iteration", tol=1e-6 / left).values
        np.testing.assert_allclose(program(model_of(mdp)), right, rtol=1e-3)
        found = solve(mdp, method="mdp-lp", tol=1e-6 / left)
        np.testing.assert_allclose(found.values, right, rtol=1e-6)


@pytest.mark.parametrize("left", [1e-7, 1e-9, 1e-12])
def test_the_program_of_several_gains(left):
    """Closed classes, some of them single states, have gains of their own; the other states choose among them."""
    apart = TabularMDP.from_dense(np.eye(4)[:, None], [[1.0], [2.0], [-3.0], [0.0]], 1.0 - left)
    left = 1.0 - apart.gamma  # as rounded
    np.testing.assert_allclose(left * solve(apart, method="mdp-lp").values, [1.0, 2.0, -3.0, 0.0], atol=1e-9)
    for seed in range(6):
        rng = np.random.default_rng(seed)
        P, R = rng.dirichlet(np.full(7, 0.3), (7, 2)), rng.normal(size=(7, 2))
        P[:2], P[2:4] = np.eye(7)[:2, None], np.eye(7)[[3, 2], None]  # two single states, and a class of two
        mdp = TabularMDP.from_dense(P, R, 1.0 - left)
        right = solve(mdp, method="policy-iteration", tol=1e-6 / left).values
        np.testing.assert_allclose(left * program(model_of(mdp)), left * right, atol=1e-3)
        np.testing.assert_allclose(solve(mdp, method="mdp-lp", tol=1e-6 / left).values, right, rtol=1e-6)


def test_a_program_that_is_given_up(monkeypatch):
    """If HiGHS gives up, the error is said, with a point above the optimum."""
    given_up = SimpleNamespace(x=None, message="Time limit reached. (HiGHS Status 13)")
    monkeypatch.setattr("scipy.optimize.linprog", lambda *args, **named: given_up)
    mdp = TabularMDP.from_dense(np.eye(2)[:, None], [[1.0], [-2.0]], 0.5)
    with pytest.raises(
        NotConverged, match=r"one linear program, which HiGHS gave up \(Time limit reached\.\)"
    ) as error:
        solve(mdp, method="mdp-lp")
    assert error.value.best.tolist() == [2.0, 2.0]
    assert error.value.residual == 6.0


def test_the_program_alone_is_right():
    # HiGHS without the polish, to its own tolerance of 1e-7 on the constraints.
    for seed in range(5):
        mdp = listed(np.random.default_rng(seed), terminal=(1,))
        np.testing.assert_allclose(program(model_of(mdp)), [float(v) for v in rational_optimum(mdp)], atol=1e-5)


# The error bound -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_the_error_bound_is_true(kind):
    # Against rational arithmetic, from starts that are good, bad and absurd, for loose and for tight tolerances.
    worst = 0.0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        gamma = [0.0, 0.6, 0.95, 0.999][seed % 4]
        mdp = KINDS[kind](rng, gamma=gamma, terminal=(3,) if seed % 3 == 0 else ())
        exact = rational_optimum(mdp)
        starts = [None, np.zeros(len(exact)), rng.normal(size=len(exact)) * 1e4, np.array([float(v) for v in exact])]
        for method, tol, initial in product(METHODS, (1e-1, 1e-5, 1e-9), starts):
            solution = solve(mdp, tol, method=method, initial=initial)
            error = distance(solution.values, exact)
            assert error <= solution.error_bound <= max(tol, floor(mdp, solution.values))
            worst = max(worst, error / solution.error_bound)
    assert worst > 0.1  # the bound is not idle


@pytest.mark.parametrize("kind", KINDS)
def test_the_error_bound_survives_bad_scales(kind):
    # Rewards of 1e8 that nearly cancel, and of 1e-8: the bound must include what rounding does.
    for seed in range(8):
        rng = np.random.default_rng(seed)
        mdp = KINDS[kind](rng, gamma=0.99)
        for scale, shift in ((1e8, 0.0), (1.0, 1e8), (1e-8, 0.0)):
            reward = np.where(
                mdp.reward == 0.0, 0.0, mdp.reward * scale + shift * rng.choice([-1.0, 1.0], mdp.reward.shape)
            )
            scaled = TabularMDP.unchecked(mdp.outcomes.with_rewards(reward), mdp.prob.copy(), mdp.gamma)
            solution = solve(scaled)
            assert distance(solution.values, rational_optimum(scaled)) <= solution.error_bound


def test_rows_that_are_not_quite_stochastic():
    # Rows within the accepted 1e-9 of one: V* is the fixed point of what is written, and the bound still holds.
    rng = np.random.default_rng(2)
    for sign in (-1.0, 1.0):
        P = rng.dirichlet(np.ones(4), (4, 2)) * (1.0 + sign * 0.9e-9)
        mdp = TabularMDP.from_dense(P, 50.0 + rng.normal(size=(4, 2)), 0.99)
        for method in METHODS:
            solution = solve(mdp, method=method)
            assert distance(solution.values, rational_optimum(mdp)) <= solution.error_bound <= 1e-8


def test_a_discount_of_almost_one():
    # Values of 1e10: far beyond any tolerance, but the bound is still true.
    mdp = dense(np.random.default_rng(1), S=3, A=2, gamma=1.0 - 1e-10)
    for method in ("auto", "policy-iteration", "value-iteration"):
        solution = solve(mdp, method=method)
        assert distance(solution.values, rational_optimum(mdp)) <= solution.error_bound < np.abs(solution.values).max()


def test_out_of_budget():
    with pytest.raises(NotConverged) as caught:
        ValueIteration(tol=1e-9, sweeps=5).solve(ring(60, 0.99))
    best = caught.value.best
    assert best.error_bound == caught.value.residual > 1e-9
    assert np.abs(best.values - solve(ring(60, 0.99)).values).max() <= best.error_bound + 1e-9
    with pytest.raises(NotConverged, match="policy-iteration: not converged after 1 iterations"):
        PolicyIteration(policies=1).solve(ring(60, 0.99))


@pytest.mark.parametrize("S", [60, 250])
def test_policy_iteration_counts_its_policies(S):
    """The number that it reports is the smallest budget that suffices, by elimination and by sweeps."""
    enough = PolicyIteration().solve(ring(S, 0.999)).iterations
    assert enough > 1
    assert PolicyIteration(policies=enough).solve(ring(S, 0.999)).iterations == enough
    with pytest.raises(NotConverged, match=f"after {enough - 1} iterations"):
        PolicyIteration(policies=enough - 1).solve(ring(S, 0.999))


def test_sweeps_are_counted_from_one():
    """One state, one action: an evaluation of the only policy, and one that sees that nothing changes."""
    alone = TabularMDP.from_dense([[[1.0]]], [[3.0]], 0.5)
    found = solve(alone, method="modified-policy-iteration")
    assert (found.values.tolist(), found.iterations) == ([pytest.approx(6.0)], 2)


def test_value_iteration_counts_its_passes():
    """A backup of a dense model is one pass, a round of lists two sweeps and a backup: 1, 4, 7."""
    dense = TabularMDP.from_dense(np.random.default_rng(0).dirichlet(np.ones(5), (5, 2)), np.eye(5)[:, :2], 0.99)
    for mdp, sweeps, passes in ((dense, 1, 1), (dense, 3, 3), (ring(60, 0.99), 5, 7), (ring(60, 0.99), 7, 7)):
        with pytest.raises(NotConverged, match=f"after {passes} iterations"):
            ValueIteration(tol=1e-12, sweeps=sweeps).solve(mdp)


def test_values_beyond_all_numbers_are_not_certified():
    """Rewards of 1e308 for ever: infinite values, and an error that is as infinite as what rounding could do."""
    for gamma in (0.5, 0.9):
        with pytest.raises(NotConverged, match="auto: not converged after"):
            solve(TabularMDP.from_dense(np.full((2, 2, 2), 0.5), np.full((2, 2), 1.7e308), gamma))


# Ties and warm starts ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("S", [7, 60, 250])
def test_tied_policies_end(S):
    # Every action does the same, up to rounding: 0.1 + 0.2 is not 0.3. The first action is reported.
    rng = np.random.default_rng(0)
    y = np.stack([rng.choice(S, 3, replace=False) for _ in range(S)])
    P = np.zeros((S, 3, S))
    for a, order in enumerate(([0, 1, 2], [2, 0, 1], [1, 2, 0])):
        np.add.at(P, (np.arange(S)[:, None], a, y[:, order]), np.array([0.1, 0.2, 0.7])[order])
    R = np.repeat(rng.normal(size=(S, 1)), 3, axis=1)
    R[:, 1] *= 1.0 + 2.0**-52
    for method in METHODS:
        solution = solve(TabularMDP.from_dense(P, R, 0.99), method=method)
        assert solution.policy.tolist() == [0] * S
        assert solution.error_bound <= 1e-9


def test_policy_is_the_first_that_may_be_best():
    P = np.ones((1, 3, 1))
    mdp = TabularMDP.from_dense(P, [[1.0, 1.0 + 1e-15, 0.5]], 0.9)
    assert solve(mdp).policy.tolist() == [0]
    assert solve(TabularMDP.from_dense(P, [[1.0, 1.0 + 1e-6, 0.5]], 0.9)).policy.tolist() == [1]


def test_a_good_start_saves_work():
    mdp = dense(np.random.default_rng(0), S=100, A=4, gamma=0.99)
    cold = solve(mdp)
    assert solve(mdp, initial=cold.values).iterations < cold.iterations


def test_nothing_is_changed():
    mdp, initial, bonus = ring(60, 0.9), np.ones(60), np.ones((60, 2))
    for method in METHODS:
        solve(mdp, initial=initial, bonus=bonus, method=method)
    assert (initial == 1.0).all()
    assert (bonus == 1.0).all()
    assert mdp == ring(60, 0.9)


# Policies ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("S", [6, 60, 250])
@pytest.mark.parametrize("kind", KINDS)
def test_evaluate_policy_equals_a_linear_solve(kind, S):
    rng = np.random.default_rng(S)
    mdp = KINDS[kind](rng, S=S, A=2, terminal=(1,))
    P, live = mdp.matrix.reshape(S, 2, S), ~mdp.outcomes.terminal
    for policy in (rng.integers(2, size=S), rng.dirichlet([1.0, 1.0], S)):
        weight = np.eye(2)[policy] if policy.ndim == 1 else policy
        M = np.eye(S) - mdp.gamma * np.einsum("sa,say->sy", weight, P) * live[:, None]
        np.testing.assert_allclose(
            evaluate_policy(mdp, policy), np.linalg.solve(M, (weight * mdp.mean_reward).sum(axis=1)), atol=1e-12
        )


def test_an_ill_conditioned_policy():
    # At a discount of 1 - 1e-8 factors in single precision are worth nothing; those in double precision are taken.
    mdp = dense(np.random.default_rng(0), S=60, A=2, gamma=1.0 - 1e-8)
    policy = np.zeros(60, int)
    values = evaluate_policy(mdp, policy)
    P = mdp.matrix.reshape(60, 2, 60)[:, 0]
    residual = mdp.mean_reward[:, 0] + mdp.gamma * P @ values - values
    assert np.abs(residual).max() < 1e-15 * 60 * np.abs(values).max()
    gain = (
        np.linalg.lstsq(np.vstack([P.T - np.eye(60), np.ones(60)]), np.eye(61)[60], rcond=None)[0]
        @ mdp.mean_reward[:, 0]
    )
    np.testing.assert_allclose(values * 1e-8, gain, rtol=1e-5, atol=1e-7)


def test_gymnasium_tables():
    # FrozenLake at discount .99 from the start: .5420; CliffWalking: thirteen steps of -1.
    lake = TabularMDP.from_gymnasium(gymnasium.make("FrozenLake-v1"), 0.99)
    assert solve(lake).values[0] == pytest.approx(0.5420, abs=5e-5)
    cliff = solve(TabularMDP.from_gymnasium(gymnasium.make("CliffWalking-v1"), 0.99))
    assert cliff.values[36] == pytest.approx(-(1 - 0.99**13) / 0.01, rel=1e-12)


# Bad input -----------------------------------------------------------------------------------------------------------


class Family:
    def draw(self, rng):
        raise AssertionError("a family must not be drawn from here")


@pytest.mark.parametrize(
    "call, sentence",
    [
        (
            lambda: solve(Family()),
            "solve: 'problem' must be a TabularMDP or a world that has one, got 'Family'. "
            "A family of worlds has no table of its own: draw a world from it first.",
        ),
        (lambda: solve(3), "solve: 'problem' must be a TabularMDP or a world that has one, got 'int'."),
        (lambda: solve(chain(), tol=0.0), "solve: 'tol' must be greater than 0, got 0.0."),
        (lambda: solve(chain(), tol="small"), "solve: 'tol' must be greater than 0, got 'small'."),
        (
            lambda: solve(chain(), initial=[1.0, 2.0]),
            "solve: 'initial' must be an array of shape (5,), got an array of shape (2,).",
        ),
        (
            lambda: solve(chain(), initial=[np.inf] * 5),
            "solve: 'initial' must be finite everywhere, got inf. First at index 0.",
        ),
        (
            lambda: solve(chain(), bonus=np.zeros(5)),
            "solve: 'bonus' must be an array of shape (5, 2), got an array of shape (5,).",
        ),
        (
            lambda: solve(chain(), method="simplex"),
            "solve: 'method' must be one of auto, value-iteration, policy-iteration, "
            "modified-policy-iteration, mdp-lp, got 'simplex'.",
        ),
        (
            lambda: evaluate_policy(chain(), [0, 1, 2, 0, 0]),
            "evaluate_policy: 'policy' must be whole numbers from 0 to 1, got 2.0. First at index 2.",
        ),
        (
            lambda: evaluate_policy(chain(), np.ones((5, 2))),
            "evaluate_policy: 'policy' must be rows that sum to 1, got 2.0. First at row 0.",
        ),
        (lambda: ValueIteration(tol=-1.0), "ValueIteration: 'tol' must be greater than 0, got -1.0."),
        (lambda: ValueIteration(sweeps=0), "ValueIteration: 'sweeps' must be a whole number of at least 1, got 0."),
        (
            lambda: PolicyIteration(policies=0),
            "PolicyIteration: 'policies' must be a whole number of at least 1, got 0.",
        ),
        (lambda: LinearProgram(tol=float("nan")), "LinearProgram: 'tol' must be greater than 0, got nan."),
    ],
)
def test_bad_input(call, sentence):
    with pytest.raises(InvalidArgument) as caught:
        call()
    assert str(caught.value) == sentence
    assert isinstance(caught.value, BayesRLError)


def test_slow_models_leave_the_sweeps():
    # Sweeps alone need thousands on this ring; auto sees that it mixes slowly and evaluates a few policies instead.
    assert solve(ring(250, 0.999), method="value-iteration").iterations > 1000
    assert solve(ring(250, 0.999)).iterations < 50
    # At a low discount the sweeps are left to finish.
    assert solve(ring(250, 0.9)).iterations > 5
