"""Kernels of numbers beside plain array code: backups, counts, sticks, the best of several arms, and modes."""

import math
from decimal import Decimal, localcontext
from itertools import product

import numpy as np
import pytest
from numba import types
from numpy.random import default_rng
from scipy import integrate, optimize, special, stats

from bayesrl.beliefs import DirichletMDP, RewardDirichlet, SparseDirichletMDP, UnknownRewards
from bayesrl.beliefs.mdp import sparse_dirichlet
from bayesrl.core import Transition
from bayesrl.kernels import best_arm
from bayesrl.kernels.dynamic_programming import bellman
from bayesrl.kernels.dynamic_programming.bellman import BLOCK, Model
from bayesrl.kernels.logistic import mode_after_many, mode_after_one
from bayesrl.kernels.random import stick_breaking, stream
from bayesrl.kernels.simulators import counts, sparse_urn
from bayesrl.models.outcomes import Outcomes

# Backups -------------------------------------------------------------------------------------------------------------


def models(S, A, gamma=0.83):
    """A model with an end, as a matrix and as lists with tied groups of different sizes: (matrix, lists, P, r)."""
    rng, K = default_rng(S), min(S, 3)
    G = S * A - 2
    group = np.append(rng.permutation(G), [0, 1]).reshape(S, A).astype(np.int32)
    size = rng.integers(1, K + 1, G).astype(np.int32)
    prob = rng.dirichlet(np.ones(K), G) * (np.arange(K) < size[:, None])
    prob /= prob.sum(axis=1, keepdims=True)
    succ = np.array([rng.permutation(S)[:K] for _ in range(S * A)]).reshape(S, A, K).astype(np.int32)
    size[group[S - 1, 0]] = 0
    prob[group[S - 1, 0]] = 0.0
    r, P = rng.normal(size=(S, A)) + 0.3, np.zeros((S, A, S))
    for s, a in np.ndindex(S, A):
        g = group[s, a]
        for k in range(size[g]):
            P[s, a, succ[s, a, k]] += prob[g, k]
    rest = succ, prob, group, size, r, gamma, 1e-3, 2e-3, False
    return Model(P.reshape(S * A, S), *rest), Model(np.zeros((0, 0)), *rest), P, r


@pytest.fixture
def bare(uncompiled):
    uncompiled(bellman)


@pytest.mark.parametrize("S, A", [(3, 4), (5, 3), (BLOCK + 1, 2)])
def test_backups_of_models(bare, S, A):
    """r + gamma P v by einsum, for all actions, for a policy, and in place; with the extremes of the changes."""
    rng = default_rng(1)
    dense, lists, P, r = models(S, A)
    v, pi, at = rng.normal(size=S) * 3.0, rng.integers(A, size=S), np.arange(S)
    q = r + 0.83 * np.einsum("say,y->sa", P, v)
    for m in (dense, lists):
        found, new = np.empty((S, A)), np.empty(S)
        low, high = bellman.backup(m, v, found)
        np.testing.assert_allclose(found, q, rtol=1e-11)
        np.testing.assert_allclose((low, high), ((q.max(axis=1) - v).min(), (q.max(axis=1) - v).max()), rtol=1e-11)
        low, high = bellman.policy_backup(m, pi, v, new)
        np.testing.assert_allclose(new, q[at, pi], rtol=1e-11)
        np.testing.assert_allclose((low, high), ((q[at, pi] - v).min(), (q[at, pi] - v).max()), rtol=1e-11)
        order, mine, chosen = rng.permutation(S)[: max(S - 1, 2)], v.copy(), pi.copy()
        changes = bellman.sweep(m, mine, chosen, order)
        theirs, best = v.copy(), pi.copy()
        for s in order:
            row = r[s] + 0.83 * P[s] @ theirs
            theirs[s], best[s] = row.max(), row.argmax()
        np.testing.assert_allclose(mine, theirs, rtol=1e-11)
        assert chosen.tolist() == best.tolist()
        assert changes == (best != pi).sum()


@pytest.mark.parametrize("S, A", [(3, 4), (5, 3), (8, 2)])
def test_values_of_policies_by_elimination(bare, S, A):
    """The solution of (I - gamma P) v = r; False where a policy never ends and nothing is discounted."""
    rng = default_rng(2)
    dense, lists, P, r = models(S, A)
    pi, at = rng.integers(A, size=S), np.arange(S)
    for m in (dense, lists):
        v, work = np.empty(S), np.full((S, S), np.nan)
        assert bellman.eliminate(m, pi, v, work)
        np.testing.assert_allclose(v, np.linalg.solve(np.eye(S) - 0.83 * P[at, pi], r[at, pi]), rtol=1e-10)
    full = rng.dirichlet(np.ones(S), (S, A))
    assert bellman.eliminate(dense._replace(matrix=full.reshape(S * A, S)), pi, v, work)
    np.testing.assert_allclose(v, np.linalg.solve(np.eye(S) - 0.83 * full[at, pi], r[at, pi]), rtol=1e-10)
    stuck = dense._replace(matrix=np.repeat(np.eye(S), A, axis=0), gamma=1.0)
    assert not bellman.eliminate(stuck, pi, np.empty(S), np.empty((S, S)))
    barely = stuck._replace(gamma=1.0 - 1e-13)  # it is worth 1e13 times what it earns
    v = np.empty(S)
    assert bellman.eliminate(barely, pi, v, np.empty((S, S)))
    np.testing.assert_allclose(v, r[at, pi] / (1.0 - barely.gamma), rtol=1e-9)


def test_what_counts_as_converged_and_as_better(bare):
    m = models(3, 4)[0]
    v = np.array([0.3, -7.0, 2.0])
    slack = 1e-3 + 2e-3 * 7.0
    assert bellman.rounding_error(m, v) == pytest.approx(slack)
    assert bellman.rounding_error(m, 0.01 * v) == pytest.approx(1e-3 + 2e-3 * 0.07)
    for low, high in ((-0.1, 0.02), (-0.02, 0.1), (0.05, 0.1), (-0.1, -0.05)):
        residual = max(high, -low)
        assert bellman.converged(m, v, low, high, residual + slack + 1e-12)
        assert not bellman.converged(m, v, low, high, residual + slack - 1e-12)
    assert bellman.converged(m, v, -1.99 * slack, 0.0, 0.0), "within three times the rounding error"
    assert not bellman.converged(m, v, -2.01 * slack, 0.0, 0.0)
    q = np.array([[1.0, 1.5, 1.2], [0.4, 0.1, 0.6], [2.0, 2.0, 2.0], [-3.0, -2.0, -1.0], [5.0, 1.0, 4.9]])
    assert [bellman.largest(q, s) for s in range(5)] == q.max(axis=1).tolist()
    pi = np.array([0, 0, 2, 0, 2])
    assert bellman.improve(q, pi, 0.25) == 2
    assert pi.tolist() == [1, 0, 2, 2, 2]
    assert bellman.improve(q, pi, 0.05) == 2
    assert pi.tolist() == [1, 2, 2, 2, 0]
    tie = np.array([1])
    assert bellman.improve(np.array([[1.5, 1.25]]), tie, 0.25) == 0, "better by more than the slack"


# Counts --------------------------------------------------------------------------------------------------------------

SUCC = np.array([[[1, 2, 0], [2, 0, 0]], [[0, 1, 2], [1, 0, 0]], [[2] * 3] * 2])
GROUP, SIZE = np.array([[0, 1], [2, 1], [0, 0]]), np.array([3, 2, 3])
OUTCOMES = Outcomes(
    SUCC, default_rng(5).normal(size=(3, 2, 3)), GROUP, SIZE, np.zeros(1), [0.4, 0.6, 0.0], [False, False, True]
)
ALPHA = np.array([[0.7, 1.3, 0.4], [0.35, 0.65, 0.0], [0.3, 0.9, 1.7]])
VALUES = [-1.5, 0.25, 4.0]


def beliefs():
    tied = DirichletMDP(OUTCOMES, ALPHA, 0.83, np.array([False, True, False]))
    paid = UnknownRewards(tied, RewardDirichlet(VALUES, default_rng(6).uniform(0.2, 2.0, (3, 2, 3, 3))))
    return {"tied": tied, "paid": paid, "sparse": SparseDirichletMDP(OUTCOMES, 0.35, 1.6, 0.83)}


def outcomes_of(belief, s, a):
    """(probability, next state, reward) of every outcome, by the belief's own means."""
    g, o = GROUP[s, a], OUTCOMES
    if isinstance(belief, UnknownRewards):
        rows = belief.transitions.mean_mdp().prob[g]
        pays = [belief.rewards.reward_predictive(belief.cell(s, a, k))[1] for k in range(SIZE[g])]
        return [(rows[k] * pays[k][j], int(SUCC[s, a, k]), VALUES[j]) for k in range(SIZE[g]) for j in range(3)]
    rows = belief.mean_mdp().prob[g]
    return [(rows[k], int(SUCC[s, a, k]), float(o.reward[s, a, k])) for k in range(SIZE[g])]


@pytest.mark.parametrize("name", ["tied", "paid", "sparse"])
def test_counts_are_those_of_the_belief(uncompiled, name):
    """Outcomes are added and taken away along a path; each time probabilities and sums are those of the belief."""
    uncompiled(counts, sparse_urn, sparse_dirichlet)
    belief, v, gamma = beliefs()[name], np.array([1.3, -0.7, 2.1]), 0.83
    m = belief.enumerable(6)
    sums, path = counts.no_sums(m, 2), []
    assert sums.table.shape == (2, 3, 2)

    def check(now, fresh):
        for s, a in np.ndindex(2, 2):
            told = outcomes_of(now, s, a)
            assert counts.branches(m, s, a) == len(told)
            found = [counts.read_outcome(m, s, a, e) for e in range(len(told))]
            np.testing.assert_allclose(found, told, rtol=1e-11)
            total = sum(p * (r + gamma * v[y]) for p, y, r in told)
            assert counts.summed(m, s, a, gamma, v) == pytest.approx(total, rel=1e-11)
            assert counts.expected(m, sums, 1, s, a, gamma, v) == pytest.approx(total, rel=1e-11)
            assert np.isfinite(sums.table[1, s, a])
            assert np.isnan(sums.table[0, s, a])
            mine, theirs = default_rng(9), default_rng(9)
            for _ in range(5):
                u = theirs.random()
                expected = min(int((u >= np.cumsum([p for p, _, _ in told])).sum()), len(told) - 1)
                assert counts.draw_outcome(m, s, a, mine) == expected
        assert fresh == (not sums.added.any())

    now = [belief]
    check(belief, True)
    V = 3 if name == "paid" else 1
    for s, a, e in ((0, 0, V), (1, 0, 2 * V), (0, 0, V), (1, 1, 0), (0, 0, 2 * V + V - 1)):
        _, y, r = outcomes_of(now[-1], s, a)[e]
        now.append(now[-1].update(Transition(s, a, r, y, terminated=y == 2)))
        counts.follow(m, sums, s, a, e, 1.0)
        path.append((s, a, e))
        check(now[-1], False)
    for s, a, e in reversed(path):
        counts.follow(m, sums, s, a, e, -1.0)
        now.pop()
        check(now[-1], len(now) == 1)


def test_weights_beyond_the_table(uncompiled):
    """T(k0, N) inside of the table, in its last row and column, and just beyond each; smaller groups have no table.

    The oracle is 1 / E[1 / (k alpha + N)] over the size k of the support, whose weight after N moves of k0 kinds is
    k^-exponent k! / (k - k0)! Gamma(k alpha) / Gamma(k alpha + N).
    """
    uncompiled(counts, sparse_urn, sparse_dirichlet)
    m = beliefs()["sparse"].enumerable(6)
    I, J = m.weights.shape

    def plain(k0, N, L):
        sizes = np.arange(max(k0, 1), L + 1)
        log_w = -1.6 * np.log(sizes) + special.gammaln(sizes + 1) - special.gammaln(sizes - k0 + 1)
        log_w += special.gammaln(0.35 * sizes) - special.gammaln(0.35 * sizes + N)
        w = np.exp(log_w - log_w.max())
        return w.sum() / (w / (0.35 * sizes + N)).sum()

    for g, L in enumerate(SIZE):
        for k0, N in ((1, 2), (2, J - 1), (2, J), (2, J + 1), (min(I - 1, L), 4)):
            assert counts.total_weight(m, g, float(k0), float(N)) == pytest.approx(plain(k0, N, L), rel=1e-11)
    assert np.isfinite(m.weights[2, J - 1])


# Sticks --------------------------------------------------------------------------------------------------------------


def test_rows_by_stick_breaking(uncompiled):
    """The same numbers in the same order: gamma variates of what was seen, then pieces of the prior's share."""
    uncompiled(stick_breaking)
    size, a = np.array([6, 4, 5]), np.array([0.1, 0.25, 0.3])
    alpha = np.where(np.arange(6) < size[:, None], a[:, None], 0.0)
    alpha[0, [1, 4]] += [3.0, 1.0]
    alpha[2, 4] += 2.0
    rows, mine, theirs = np.array([2, 0, 1, 0]), default_rng(7), default_rng(7)
    n, outcome, prob = stick_breaking.listed_rows(rows, a, size, alpha, mine)
    for i, g in enumerate(rows):
        seen = [(k, round(alpha[g, k] - a[g])) for k in range(size[g]) if alpha[g, k] > a[g]]
        pieces = [(k, theirs.standard_gamma(float(count))) for k, count in seen]
        mass = size[g] * a[g]
        left = theirs.standard_gamma(mass) if pieces else 1.0
        total = left + sum(x for _, x in pieces)
        pieces, left = [(k, x / total) for k, x in pieces], left / total
        while left >= 2.0**-54:
            x = theirs.random() if mass == 1.0 else theirs.random() ** (1.0 / mass)
            pieces.append((int(theirs.random() * size[g]), left * (1.0 - x)))
            left *= x
        assert n[i] == len(pieces)
        assert outcome[i, : n[i]].tolist() == [k for k, _ in pieces]
        np.testing.assert_allclose(prob[i, : n[i]], [x for _, x in pieces], rtol=1e-12)
        assert not prob[i, n[i] :].any()
        assert prob[i].sum() == pytest.approx(1.0)
    assert mine.random() == theirs.random()
    dense = stick_breaking.dense_rows(rows, a, size, alpha, default_rng(7))
    assert dense.shape == (4, 6)
    for i in range(4):
        np.testing.assert_allclose(dense[i], np.bincount(outcome[i], prob[i], 6), rtol=1e-12)


def test_lists_of_sticks_grow(uncompiled):
    """Rows with a large prior mass have more pieces than there was room for."""
    uncompiled(stick_breaking)
    size, a, alpha = np.array([300]), np.array([0.4]), np.full((1, 300), 0.4)
    alpha[0, ::2] += 1.0
    n, outcome, prob = stick_breaking.listed_rows(np.array([0]), a, size, alpha, default_rng(0))
    theirs = default_rng(0)
    seen = [theirs.standard_gamma(1.0) for _ in range(150)]
    share = theirs.standard_gamma(120.0)
    np.testing.assert_allclose(prob[0, :150], np.array(seen) / (sum(seen) + share))
    assert outcome[0, :150].tolist() == list(range(0, 300, 2))
    assert n[0] > 3000
    assert prob.sum() == pytest.approx(1.0)
    x = np.array([1.0, 2.0, 3.0])
    assert len(stick_breaking.doubled(x, 5)) == 11
    assert stick_breaking.doubled(x, 5)[:3].tolist() == [1.0, 2.0, 3.0]
    assert stick_breaking.any_above(x, 2.9)
    assert not stick_breaking.any_above(x, 3.0)


# The best of several arms --------------------------------------------------------------------------------------------


def integrals(density, below, mean_below, low, high):
    """P(A* = a) and E[theta_b | A* = a] by Gauss-Legendre on many panels, with scipy's distribution functions."""
    K, edges = len(density), np.linspace(low, high, 401)
    nodes, weights = np.polynomial.legendre.leggauss(12)
    half = 0.5 * np.diff(edges)[:, None]
    x = (0.5 * (edges[:-1] + edges[1:])[:, None] + half * nodes).ravel()
    w = (half * weights).ravel()
    f, F = np.array([d(x) for d in density]), np.array([d(x) for d in below])
    p, M = np.empty(K), np.empty((K, K))
    for a in range(K):
        h = w * f[a] * np.prod(np.delete(F, a, axis=0), axis=0)
        p[a] = h.sum()
        M[a] = [h @ (x if b == a else mean_below[b](x)) / p[a] for b in range(K)]
    return p, M


@pytest.mark.parametrize(
    "alpha, beta",
    [
        ([2.5, 4.1, 1.6], [1.7, 3.3, 2.9]),
        ([30.0, 31.0, 12.5], [60.0, 55.0, 30.0]),
        ([300.0, 9.0, 280.0, 1.5], [180.0, 6.0, 165.0, 2.5]),
    ],
)
def test_the_best_beta_arm(uncompiled, alpha, beta):
    """Against scipy's incomplete Beta functions, to the 1e-8 that is claimed."""
    uncompiled(best_arm)
    alpha, beta = np.array(alpha), np.array(beta)
    arms = [stats.beta(s, t) for s, t in zip(alpha, beta, strict=True)]

    def mean_below(s, t):
        return lambda x: s / (s + t) * special.betainc(s + 1.0, t, x) / np.maximum(special.betainc(s, t, x), 1e-300)

    each = [mean_below(s, t) for s, t in zip(alpha, beta, strict=True)]
    p, M = integrals([arm.pdf for arm in arms], [arm.cdf for arm in arms], each, 0.0, 1.0)
    found, conditional = best_arm.best_beta(np.stack([alpha, alpha[::-1]]), np.stack([beta, beta[::-1]]))
    np.testing.assert_allclose(found[0], p, atol=1e-8)
    np.testing.assert_allclose(found[1], p[::-1], atol=1e-8)
    likely = p > 1e-3
    np.testing.assert_allclose(conditional[0][likely], M[likely], atol=1e-7)
    np.testing.assert_allclose(conditional[1][::-1, ::-1][likely], M[likely], atol=1e-7)


def test_ranges_of_beta_arms(uncompiled):
    """|theta - p| <= l + sqrt(l^2 + 2 p (1 - p) l): what is left out has a probability of at most exp(-25) each."""
    uncompiled(best_arm)
    alpha, beta = np.array([[300.0, 9.0, 0.4], [40.0, 3000.0, 800.0]]), np.array([[180.0, 6.0, 2.5], [2.0, 100.0, 9.0]])
    low, high, width = best_arm.beta_ranges(alpha, beta)
    for i in range(2):
        n = alpha[i] + beta[i]
        p, l = alpha[i] / n, 25.0 / n
        d = l + np.sqrt(l**2 + 2.0 * p * (1.0 - p) * l)
        least, most = max((p - d).max(), 0.0), min((p + d).max(), 1.0)
        np.testing.assert_allclose((np.sin(low[i]) ** 2, np.sin(high[i]) ** 2), (least, most), rtol=1e-12)
        rivals = n[p + d > least]
        assert width[i] == pytest.approx(min(math.pi / 8.0, (1.5 / np.sqrt(rivals)).min()))
        assert stats.beta.cdf(least, alpha[i], beta[i]).min() < 2e-11
    turned = best_arm.beta_ranges(alpha[::-1].copy(), beta[::-1].copy())  # replicates do not know of each other
    np.testing.assert_array_equal(turned, np.array([low, high, width])[:, ::-1])


@pytest.mark.parametrize(
    "mean, deviation", [([0.3, -0.4, 0.9], [0.8, 1.7, 0.5]), ([5.0, 4.9, -30.0, 5.2], [0.01, 0.3, 2.0, 0.02])]
)
def test_the_best_normal_arm(uncompiled, mean, deviation):
    uncompiled(best_arm)
    mean, deviation = np.array(mean), np.array(deviation)
    arms = [stats.norm(m, s) for m, s in zip(mean, deviation, strict=True)]

    def mean_below(arm, m, s):
        return lambda x: m - s**2 * arm.pdf(x) / np.maximum(arm.cdf(x), 1e-300)

    each = [mean_below(*x) for x in zip(arms, mean, deviation, strict=True)]
    ends = (mean - 7.0 * deviation).max(), (mean + 7.0 * deviation).max()
    p, M = integrals([arm.pdf for arm in arms], [arm.cdf for arm in arms], each, *ends)
    found, conditional = best_arm.best_normal(np.stack([mean, mean[::-1]]), np.stack([deviation, deviation[::-1]]))
    np.testing.assert_allclose(found[0], p, atol=1e-8)
    np.testing.assert_allclose(found[1], p[::-1], atol=1e-8)
    likely = p > 1e-3
    np.testing.assert_allclose(conditional[0][likely], M[likely], atol=1e-7)
    np.testing.assert_allclose(conditional[1][::-1, ::-1][likely], M[likely], atol=1e-7)


def test_weights_of_integrals_up_to_each_node():
    """Exact for polynomials of degree 7."""
    for k in range(8):
        powers = best_arm.NODES**k
        expected = (best_arm.NODES ** (k + 1) - (-1.0) ** (k + 1)) / (k + 1)
        np.testing.assert_allclose(best_arm.UP_TO @ powers, expected, atol=1e-12)
    assert integrate.quad(lambda x: x**6, -1, 1)[0] == pytest.approx(best_arm.WEIGHTS @ best_arm.NODES**6)


# Modes ---------------------------------------------------------------------------------------------------------------


def test_the_mode_after_one_answer():
    """The root of t = s + h (y - sigmoid(t)), by Brent's method."""
    s = np.array([0.3, -2.0, 5.0, -40.0, 40.0, 0.0, 700.0])
    h = np.array([0.7, 3.0, 90.0, 25.0, 0.2, 1e-9, 1e3])
    for y in (np.zeros(7), np.ones(7), np.array([0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0])):
        found = mode_after_one(s, h, y)
        for i, (score, variance, answer) in enumerate(zip(s, h, y, strict=True)):

            def off(t, score=score, variance=variance, answer=answer):
                return t - score - variance * (answer - special.expit(t))

            root = optimize.brentq(off, score - variance - 1.0, score + variance + 1.0, xtol=1e-14)
            assert found[i] == pytest.approx(root, abs=1e-11)


def test_the_mode_after_one_answer_however_wide_the_prior():
    """Against bisection in 60 digits: within a few roundings of the score and of the prior mean."""

    def root(s, h, y):
        s, h = Decimal(s), Decimal(h)
        low, high = (s, min(s + h, max(s, 0) + 1000)) if y else (max(s - h, min(s, 0) - 1000), s)
        for _ in range(90):
            t = (low + high) / 2
            other = 1 / (1 + t.exp()) if y else -1 / (1 + (-t).exp())
            low, high = (low, t) if t - s - h * other > 0 else (t, high)
        return float(low)

    variances = [1e-3, 1.0, 1e4, 1e10, 1e13, 1e17, 1e40, 1e150, 1e300]
    with localcontext(prec=60):
        for h, s, y in product(variances, (-300.0, -2.0, 0.3, 40.0), (0.0, 1.0)):
            found = mode_after_one(np.array([s]), np.array([h]), np.array([y]))[0]
            assert abs(found - root(s, h, y)) <= 1e-14 * (1.0 + abs(found) + abs(s)), (s, h, y)


@pytest.mark.parametrize("sweeps", [1, 2, 100])
def test_the_mode_after_many_answers(sweeps):
    """Newton's steps, halved while the loss rises, one by one; in the end the gradient is zero."""
    rng = default_rng(8)
    X, m, L = rng.normal(size=(9, 3)) * 4.0, np.array([6.0, -5.0, 3.0]), rng.normal(size=(3, 3))
    y, Q = (rng.random(9) < 0.5).astype(float), 0.02 * (L @ L.T + np.eye(3))

    def loss(w):
        return 0.5 * (w - m) @ Q @ (w - m) - stats.bernoulli.logpmf(y, special.expit(X @ w)).sum()

    def gradient(w):
        return Q @ (w - m) + X.T @ (special.expit(X @ w) - y)

    w, halved = m, 0
    for _ in range(min(sweeps, 2)):
        p = special.expit(X @ w)
        step = np.linalg.solve(Q + X.T @ np.diag(p * (1.0 - p)) @ X, gradient(w))
        size = 1.0
        while loss(w - size * step) > loss(w):
            size, halved = size / 2.0, halved + 1
        w = w - size * step
    move, weight = mode_after_many(X, y, X @ m, Q, sweeps)
    found = m + move
    p = special.expit(X @ found)
    np.testing.assert_allclose(weight, p * (1.0 - p), rtol=1e-9)
    if sweeps < 3:
        np.testing.assert_allclose(found, w, rtol=1e-9)
    else:
        np.testing.assert_allclose(gradient(found), 0.0, atol=1e-9)
    assert halved > 0


def test_modes_beyond_the_range_of_exponentials():
    """Scores of thousands: no overflow, and answers that are certain weigh nothing."""
    X, Q = np.array([[2000.0], [-3000.0]]), np.array([[1.0]])
    with np.errstate(over="raise"):
        d, weight = mode_after_many(X, np.array([1.0, 0.0]), X @ np.array([2.0]), Q)
    assert d == pytest.approx(0.0)
    assert weight.max() < 1e-300


# Streams -------------------------------------------------------------------------------------------------------------


def test_a_stream_is_seeded_by_eight_numbers():
    """Four words of two halves each, the last bit set; a generator and a stream are told apart by their types."""
    rng = default_rng(3)
    halves = [int(rng.random() * 2**32) for _ in range(8)]
    words = [(halves[2 * i] << 32) | halves[2 * i + 1] for i in range(4)]
    assert stream._stream(None)(default_rng(3)).tolist() == [words[0] | 1, *words[1:]]
    assert stream._uniform(types.Array(types.uint64, 1, "C")).__name__ == "xoshiro"
    assert stream._uniform(None)(default_rng(3)) == default_rng(3).random()
    assert stream.uniform(default_rng(3)) == default_rng(3).random()
    assert stream.stream(rng) is rng
