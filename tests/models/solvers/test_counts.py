"""Solvers report how much they did. The same algorithms in plain numpy say how much that must be."""

from itertools import pairwise

import numpy as np
import pytest

from bayesrl.errors import InvalidArgument, NotConverged
from bayesrl.kernels.dynamic_programming.bellman import backup, rounding_error
from bayesrl.models.mdp import TabularMDP, contraction, model_of
from bayesrl.models.solution import Iterate
from bayesrl.models.solve import solve, solve_by
from bayesrl.models.solvers import average_reward as _average_reward
from bayesrl.models.solvers import modified_policy_iteration as _modified_policy_iteration
from bayesrl.models.solvers import value_iteration
from bayesrl.models.solvers.episodic import ending_bound
from bayesrl.models.solvers.modified_policy_iteration import iterate_sweeps
from bayesrl.models.solvers.policy_iteration import PolicyIteration
from bayesrl.models.solvers.value_iteration import ValueIteration

TOL = 1e-6


def listed(seed):
    """A sparse problem without an end: one cycle, or random moves, sure or not; rewards of either sign."""
    rng = np.random.default_rng(seed)
    S, A, gamma = int(rng.integers(3, 12)), int(rng.integers(1, 3)), float(rng.choice([0.5, 0.9, 0.99]))
    P = np.zeros((S, A, S))
    for s in range(S):
        for a in range(A):
            P[s, a, (s + 1 + a) % S if seed % 3 == 0 else rng.integers(S)] += 0.7 if seed % 3 == 2 else 1.0
            P[s, a, rng.integers(S)] += 0.3 if seed % 3 == 2 else 0.0
    return P, rng.normal(size=(S, A)) + rng.choice([-1.0, 0.0, 1.0]), gamma


def dense(seed):
    """A problem in which every state may follow."""
    rng = np.random.default_rng(seed)
    S, A = int(rng.integers(2, 8)), int(rng.integers(2, 4))
    return rng.dirichlet(np.ones(S), (S, A)), rng.normal(size=(S, A)), float(rng.choice([0.5, 0.9, 0.99]))


def residual(P, R, gamma, v):
    """(max_a q, the smallest and the largest change, the greedy policy) of one backup."""
    q = R + gamma * P @ v
    change = q.max(axis=1) - v
    return q.max(axis=1), change.min(), change.max(), q.argmax(axis=1)


def target_of(gamma):
    return TOL * (1.0 - gamma)


def passes(P, R, gamma, lists, shiftable=True):
    """Value iteration: a backup moves v to the middle of its bounds; lists are swept in both directions before it."""
    v, n = R.max(axis=1), 1
    shift = 0.5 * gamma / (1.0 - gamma) if shiftable else 0.0
    new, low, high, _ = residual(P, R, gamma, v)
    while max(high, -low) > target_of(gamma):
        v = new + shift * (low + high)
        for s in [*range(len(v)), *range(len(v))[::-1]] if lists else ():
            v[s] = (R[s] + gamma * P[s] @ v).max()
        before = max(high, -low)
        new, low, high, _ = residual(P, R, gamma, v)
        if lists and max(high, -low) > gamma * before:
            shift = 0.0  # shifted sweeps diverge
        n += 3 if lists else 1
    return n


def policies(P, R, gamma, v):
    """Policy iteration from the policy that is greedy for v."""
    S = np.arange(len(R))
    pi, n = residual(P, R, gamma, v)[3], 0
    while True:
        n += 1
        v = np.linalg.solve(np.eye(len(R)) - gamma * P[S, pi], R[S, pi])
        _, low, high, better = residual(P, R, gamma, v)
        if max(high, -low) <= target_of(gamma):
            return n
        pi = better


def modified(P, R, gamma, limit=1000):
    """Modified policy iteration: a backup, then at most ten sweeps of the greedy policy until the span is a twentieth.

    Returns (iterations, values).
    """
    S, shift, v = np.arange(len(R)), 0.5 * gamma / (1.0 - gamma), R.max(axis=1)
    for n in range(1, limit + 1):
        new, low, high, pi = residual(P, R, gamma, v)
        if max(high, -low) <= target_of(gamma):
            return n, v
        v, goal = new + shift * (low + high), max(0.05 * (high - low), 0.5 * target_of(gamma))
        for _ in range(10):
            new = R[S, pi] + gamma * P[S, pi] @ v
            low, high = (new - v).min(), (new - v).max()
            v = new + shift * (low + high)
            if high - low <= goal:
                break
    return limit, v


@pytest.mark.parametrize("seed", range(24))
def test_passes_over_lists(seed):
    """Seeds for which shifted sweeps diverge with errors of either sign are among these."""
    P, R, gamma = listed(seed)
    mdp = TabularMDP.from_dense(P, R, gamma)
    assert len(model_of(mdp).matrix) == 0
    assert ValueIteration(tol=TOL).solve(mdp).iterations == passes(P, R, gamma, lists=True)


@pytest.mark.parametrize("seed", range(8))
def test_passes_over_matrices(seed):
    P, R, gamma = dense(seed)
    mdp = TabularMDP.from_dense(P, R, gamma)
    assert len(model_of(mdp).matrix) > 0
    n = ValueIteration(tol=TOL).solve(mdp).iterations
    assert n == passes(P, R, gamma, lists=False)
    assert ValueIteration(tol=TOL, sweeps=n).solve(mdp).iterations == n
    with pytest.raises(NotConverged, match=f"after {n - 1} iterations"):
        ValueIteration(tol=TOL, sweeps=n - 1).solve(mdp)


def wide(seed):
    """A problem with so many states that matrices are used although an episode may end."""
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(70), (70, 2)), rng.normal(size=(70, 2)), [0.5, 0.9][seed % 2]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", [listed, dense, wide])
def test_passes_to_an_end(kind, seed):
    """Where an episode may end, a constant cannot be added to all values: nothing is shifted."""
    P, R, gamma = kind(seed)
    mdp = TabularMDP.from_dense(P, R, gamma, terminal=[0])
    P[0], R[0] = 0.0, 0.0
    lists = len(model_of(mdp).matrix) == 0
    assert lists == (kind is not wide)
    assert ValueIteration(tol=TOL).solve(mdp).iterations == passes(P, R, gamma, lists, shiftable=False)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", [listed, dense])
def test_policies(kind, seed):
    P, R, gamma = kind(seed)
    mdp, n = TabularMDP.from_dense(P, R, gamma), policies(P, R, gamma, R.max(axis=1))
    assert PolicyIteration(tol=TOL).solve(mdp).iterations == n == solve(mdp, TOL).iterations


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", [listed, dense])
def test_modified_policies(kind, seed, monkeypatch):
    """If there are not enough policies, policy iteration goes on from their values. Its policies are counted too."""
    P, R, gamma = kind(seed)
    mdp, enough = TabularMDP.from_dense(P, R, gamma), modified(P, R, gamma)[0]
    for limit in range(max(1, enough - 2), enough + 1):
        n, v = modified(P, R, gamma, limit)
        if max(np.abs(residual(P, R, gamma, v)[1:3])) > target_of(gamma):
            n += policies(P, R, gamma, v)
        monkeypatch.setattr(_modified_policy_iteration, "LIMIT", limit)
        assert solve(mdp, TOL, method="modified-policy-iteration").iterations == n


def swept(P, R, gamma, v, target, limit, sweeps, patient, shiftable):
    """The kernel of modified policy iteration in numpy: (iterations, low, high, v, q), iterations < 0 if it gave up."""
    S, shift = np.arange(len(R)), 0.5 * gamma / (1.0 - gamma) if shiftable else 0.0
    least, since, patience = np.inf, 0, min(limit, 10.0 + 1.0 / (1.0 - gamma))

    def gap(low, high):
        return high - low if shiftable else max(high, -low)

    for n in range(1, limit + 1):
        q = R + gamma * P @ v
        new, low, high, pi = residual(P, R, gamma, v)
        if max(high, -low) <= target:
            return n, low, high, v, q
        if gap(low, high) < 0.5 * least:
            least, since = gap(low, high), n
        elif n - since > patience:
            return -n, low, high, v, q
        v, goal, done = new + shift * (low + high), max(0.05 * gap(low, high), 0.5 * target), False
        for _ in range(sweeps):
            new = R[S, pi] + gamma * P[S, pi] @ v
            low, high = (new - v).min(), (new - v).max()
            v, done = new + shift * (low + high), gap(low, high) <= goal
            if done:
                break
        if not (done or patient):
            return -n, low, high, v, q
    return -limit, low, high, v, q


@pytest.mark.parametrize("ends", [False, True])
@pytest.mark.parametrize("kind", [listed, dense, wide])
def test_sweeps_as_they_are_written(kind, ends):
    """Numbers, extremes, values and q after every limit, from a start of its own, patient or not, with few sweeps.

    One sweep for a policy takes more iterations than the patience of 12 at discount .5, and each halves the gap.
    """
    for seed in range(3 if kind is not wide else 1):
        P, R, gamma = kind(seed)
        R = R + 0.3
        mdp = TabularMDP.from_dense(P, R, gamma, terminal=[0] if ends else ())
        m = model_of(mdp)
        start = 3.0 * np.cos(np.arange(len(R)))
        if ends:
            P[0], R[0], start[0] = 0.0, 0.0, 0.0
        for limit, sweeps, patient in [(1, 4, True), (2, 4, True), (60, 1, True), (60, 3, False), (60, 30, False)]:
            v, q = start.copy(), np.empty(R.shape)
            n, low, high = iterate_sweeps(m, v, q, np.zeros(len(R), np.int64), 1e-8, limit, sweeps, patient)
            expected = swept(P, R, gamma, start, 1e-8, limit, sweeps, patient, not ends)
            assert n == expected[0]
            np.testing.assert_allclose((low, high), expected[1:3], rtol=1e-6, atol=1e-12)
            np.testing.assert_allclose(v, expected[3], rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(q, expected[4], rtol=1e-9, atol=1e-9)


def test_patience_has_an_end():
    """One state: the gap is zero at once and never halves. With rounding below zero nothing counts as converged.

    The patience is 10 + 1 / (1 - gamma) = 14 iterations after the first.
    """
    m = model_of(TabularMDP.from_dense([[[1.0]]], [[3.0]], 0.75))._replace(round_r=-100.0, round_v=0.0)
    for limit, given_up in ((100, -16), (16, -16), (15, -15), (3, -3)):
        found = iterate_sweeps(m, np.zeros(1), np.empty((1, 1)), np.zeros(1, np.int64), -1e3, limit, 2, True)
        assert found[0] == given_up


@pytest.mark.parametrize("seed", range(4))
def test_policies_of_the_average(seed, monkeypatch):
    """Howard's gain and bias in numpy, from the policy that is best at discount .1; every budget up to that is used."""
    P, R, _ = dense(seed)
    S = np.arange(len(R))
    v = solve(TabularMDP.from_dense(P, R, 0.1)).values
    pi, n, gain = residual(P, R, 0.1, v)[3], 0, -np.inf
    while True:
        n += 1
        system = np.eye(len(R)) - P[S, pi]
        system[:, -1] = 1.0
        h = np.linalg.solve(system, R[S, pi])
        before, gain, h[-1] = gain, h[-1], 0.0
        assert gain >= before - 1e-12
        if (better := (R + P @ h).argmax(axis=1)).tolist() == pi.tolist():
            break
        pi = better
    monkeypatch.setattr(_average_reward, "NEARLY_ONE", 0.1)
    mdp = TabularMDP.from_dense(P, R, 0.5)
    found = _average_reward.average_reward(mdp)
    assert found.iterations == n
    assert found.gain == pytest.approx(gain)
    monkeypatch.setattr(_average_reward, "POLICIES", n)
    assert _average_reward.average_reward(mdp).iterations == n
    if n > 1:
        monkeypatch.setattr(_average_reward, "POLICIES", n - 1)
        with pytest.raises(InvalidArgument, match="gains from"):
            _average_reward.average_reward(mdp)


def test_episodes_count_all_attempts():
    """Without a discount the target is lowered until the bound is small enough; the passes of all attempts count."""
    S = 5
    P = np.zeros((S, 1, S))
    P[np.arange(S - 1), 0, np.arange(S - 1)] = 0.99
    P[np.arange(S - 1), 0, np.arange(1, S)] = 0.01
    P[-1, 0, -1] = 1.0
    mdp, made = TabularMDP.from_dense(P, -np.ones((S, 1)), 1.0, terminal=[S - 1]), []

    def watched(m, v, target):
        found = value_iteration.value_iteration(m, v, target)
        made.append((target, found.iterations))
        return found

    found = solve_by(mdp, watched, "watched", TOL, initial=np.zeros(S))
    targets, counts = zip(*made, strict=True)
    assert len(made) > 1
    assert list(targets) == sorted(targets, reverse=True)
    assert targets[0] == 0.01 * TOL
    assert found.iterations == sum(counts)
    np.testing.assert_allclose(found.values, [-400.0, -300.0, -200.0, -100.0, 0.0], atol=TOL)


def test_a_bound_needs_both_inequalities():
    """A way that looks worse than ending, so that its time is not in w, but whose values are too small in every state.

    From each junction the agent may end for a reward of 1, or walk L steps to the next one. The walk looks worse by 12
    delta. Each of its states has a residual of delta, so that it earns (L - 12) delta more than ending, and so does the
    next walk. The longest time among actions that look best is L + 1, but the true error grows with the number of
    junctions. The greedy policy earns what it should; only TU <= U fails.
    """
    delta, L, K = 1e-3, 40, 5
    S = K * (L + 1) + 2
    P, R, v = np.zeros((S, 2, S)), np.zeros((S, 2)), np.zeros(S)
    for s in range(S - 1):
        if s % (L + 1) == 0:  # a junction
            P[s, 0, S - 1], R[s, 0], v[s] = 1.0, 1.0, 1.0
            last = s == S - 2
            P[s, 1, S - 1 if last else s + 1], R[s, 1] = 1.0, 1.0 if last else 0.0
        else:
            P[s, :, s + 1], v[s] = 1.0, 1.0 - 12.0 * delta
            R[s] = -11.0 * delta if (s + 1) % (L + 1) == 0 else delta
    P[-1, :, -1] = 1.0
    mdp = TabularMDP.from_dense(P, R, 1.0, terminal=[S - 1])
    m, q = model_of(mdp), np.empty((S, 2))
    low, high = backup(m, v, q)
    assert (low, high) == (pytest.approx(0.0, abs=1e-12), pytest.approx(delta))
    true_error = np.abs(solve(mdp).values - v).max()
    assert true_error == pytest.approx((K * (L - 12) + 12) * delta)
    assert true_error > 2.0 * delta * (L + 1) * 1.01
    assert ending_bound(m, v, q, low, high) == np.inf


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize(
    "delta, gap, tied",
    [(1e-2, 9.9e-2, True), (1e-2, 10.1e-2, False), (1e-9, 1.98e-6, True), (1e-9, 2.02e-6, False)],
)
def test_the_bound_of_an_episode(delta, gap, tied, sign):
    """Twice the residual times the longest time under actions that may be best.

    In state 0 ending is worth 1, and walking over states 1 and 2 looks worse by the gap. State 2 has the residual. An
    action may be best if it is worse by at most ten residuals, or by at most a millionth of 1 + the largest value.
    """
    P, R = np.zeros((4, 2, 4)), np.zeros((4, 2))
    P[0, 0, 3] = P[0, 1, 1] = P[1, :, 2] = P[2, :, 3] = P[3, :, 3] = 1.0
    v = np.array([1.0, 0.25, 0.5, 0.0])
    R[0], R[1], R[2] = (1.0, 0.75 - gap), -0.25, 0.5 + sign * delta
    mdp = TabularMDP.from_dense(P, R, 1.0, terminal=[3])
    m, q = model_of(mdp), np.empty((4, 2))
    low, high = backup(m, v, q)
    bound = ending_bound(m, v, q, low, high)
    assert bound == pytest.approx(2.0 * delta * (3.0 if tied else 2.0), rel=1e-5)
    assert bound >= np.abs(solve(mdp).values - v).max()


def scripted(mdp, errors, made):
    """An algorithm that gives exact values and an error of one state, the next of these each time it is asked."""
    exact = solve(mdp).values

    def algorithm(m, v, target):
        values, q = exact.copy(), np.empty(m.r.shape)
        values[2] += errors[len(made)]
        low, high = backup(m, values, q)
        made.append((target, None if v is None else v.copy(), values, q, low, high))
        return Iterate(values, q, low, high, 7)

    return algorithm


def tried(mdp, algorithm, tol, start):
    """The solution, and the error that came with it or None."""
    try:
        return solve_by(mdp, algorithm, "scripted", tol, start), None
    except NotConverged as error:
        return error.best, error


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_what_counts_as_solved(sign):
    """The bound is (residual + rounding) / (1 - gamma). It may be the tolerance, or three times the rounding."""
    P, R, _ = dense(5)
    mdp = TabularMDP.from_dense(P, R, 0.83)
    m, tol = model_of(mdp), 1e-3
    rate, start = contraction(m), np.arange(float(len(R)))
    for share, fine in ((0.99, True), (1.01, False)):
        made = []
        wrong = sign * share * tol * rate / (1.0 - 0.83 * P[2, mdp_policy(mdp)[2], 2])
        algorithm = scripted(mdp, [wrong], made)
        found, error = tried(mdp, algorithm, tol, start)
        target, given, values, q, low, high = made[0]
        assert target == pytest.approx(tol * rate)
        np.testing.assert_array_equal(given, start)
        assert found.error_bound == pytest.approx((max(high, -low) + rounding_error(m, values)) / rate)
        assert (found.error_bound <= tol, error is None, found.iterations) == (fine, fine, 7)
        if error is not None:
            assert error.residual == found.error_bound
            assert "scripted: not converged after 7 iterations" in str(error)
        np.testing.assert_array_equal(found.values, values)
        np.testing.assert_array_equal(found.q, q)
    slack = rounding_error(m, solve(mdp).values)
    for share, fine in ((1.9, True), (2.1, False)):

        def rounded(m, v, target, share=share):
            values, q = solve(mdp).values, np.empty(m.r.shape)
            backup(m, values, q)
            return Iterate(values, q, -share * slack, 0.5 * share * slack, 3)

        if fine:
            assert solve_by(mdp, rounded, "rounded", 1e-300).error_bound == pytest.approx(2.9 * slack / rate)
        else:
            with pytest.raises(NotConverged):
                solve_by(mdp, rounded, "rounded", 1e-300)


def mdp_policy(mdp):
    return solve(mdp).policy.tolist()


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize("good", [1, 3, 5, 6])
def test_attempts_without_a_discount(good, sign):
    """Five attempts at most. The first target is a hundredth of the tolerance, each next one what the bound asks for.

    The bound of every attempt is that of `ending_bound`. The first attempt whose bound is the tolerance is the last.
    """
    S, tol = 5, 1e-4
    P = np.zeros((S, 2, S))
    P[: S - 1, 0, : S - 1] = np.eye(S - 1) * 0.3
    P[np.arange(S - 1), 0, np.arange(1, S)] += 0.7
    P[:, 1] = P[:, 0]
    P[-1, :, -1] = 1.0
    R = np.column_stack([-np.arange(1.0, S + 1.0), -2.0 * np.arange(1.0, S + 1.0)])
    mdp, made = TabularMDP.from_dense(P, R, 1.0, terminal=[S - 1]), []
    m = model_of(mdp)
    errors = [sign * (1.2e-4 if n < good else 1e-5) for n in range(1, 7)]
    algorithm = scripted(mdp, errors, made)
    found, error = tried(mdp, algorithm, tol, None)
    assert (error is None) == (good < 6)
    assert error is None or "after 35 iterations" in str(error)
    assert len(made) == min(good, 5)
    assert found.iterations == 7 * len(made)
    target = 0.01 * tol
    for asked, _, values, q, low, high in made:
        assert asked == pytest.approx(target)
        bound = ending_bound(m, values, q, low, high)
        target = min(target, max(high, -low)) * 0.5 * tol / bound
    assert found.error_bound == bound
    assert (bound <= tol) == (good < 6)
    np.testing.assert_array_equal(found.values, values)
    for (_, _, before, *_), (_, given, *_) in pairwise(made):
        np.testing.assert_array_equal(given, before)
