"""Samplers of classes, sweep by sweep, against plain transcriptions under the same random numbers.

A transcription knows only joint densities: the restaurant process times the evidence of each class. Conditional
distributions and acceptance ratios are differences of these, not the recursions of the kernels. Everything that a sweep
writes is compared.
"""

from math import lgamma, log

import numpy as np
import pytest
from numpy.random import default_rng
from scipy import special, stats

from bayesrl.beliefs.crp import weight_of_new
from bayesrl.beliefs.tasks import _gibbs_of_counts as of_counts
from bayesrl.beliefs.tasks import _splits_of_weights as of_weights
from bayesrl.beliefs.values.linear_model import seen_through
from bayesrl.multitask import LinearRewardClasses, LogUniform, MultitaskGPTDDPSolution
from bayesrl.multitask import _triangles as triangles
from bayesrl.multitask._class_sampler import Chain, Draws, Problem, condition, sample, split_or_merge

PSI = np.array([[0.7, 0.25], [0.25, 0.4]])
KAPPA, NU = 0.6, 3.7


def drawn(rng, log_w):
    """An index with probability proportional to exp(log_w), by the first random number."""
    w = np.exp(np.array(log_w) - max(log_w))
    return int(np.searchsorted(np.cumsum(w), rng.random() * w.sum(), side="right"))


def renamed(z):
    """Labels in the order of their first appearance."""
    names = list(dict.fromkeys(z))
    return [names.index(k) for k in z]


def memo(evidence):
    """The evidence of a class, kept: data stay the same."""
    known = {}

    def kept(members):
        key = frozenset(members)
        if key not in known:
            known[key] = evidence(key)
        return known[key]

    return kept


def log_normal(x, mean, S):
    """Log density of a normal vector."""
    return -0.5 * (np.linalg.slogdet(2.0 * np.pi * S)[1] + (x - mean) @ np.linalg.solve(S, x - mean))


# Normal-inverse-Wishart ----------------------------------------------------------------------------------------------


def plain_normal_wishart(rng, m, kappa, nu, Psi):
    """Bartlett's decomposition with explicit inverses: mu and the root of Sigma."""
    d = len(m)
    A = np.zeros((d, d))
    for i in range(d):
        for j in range(i):
            A[i, j] = rng.standard_normal()
        A[i, i] = np.sqrt(2.0 * max(rng.standard_gamma((nu - i) / 2.0), 1e-200))
    S = np.linalg.cholesky(Psi) @ np.linalg.inv(A).T
    return m + S @ np.array([rng.standard_normal() for _ in range(d)]) / np.sqrt(kappa), S


def after(w, kappa=KAPPA, nu=NU, Psi=PSI):
    """The parameters of the normal-inverse-Wishart after rows w (n, d), the mean before being 0."""
    n = len(w)
    mean = w.sum(axis=0) / (kappa + n)
    return mean, kappa + n, nu + n, Psi + w.T @ w - (kappa + n) * np.outer(mean, mean)


def log_evidence(w):
    """The log density of rows w (n, d): a ratio of normalising constants."""
    n, d = w.shape
    _, kappa, nu, scatter = after(w)
    old, new = (
        sum(lgamma((b - i) / 2.0) for i in range(d)) - b / 2.0 * np.linalg.slogdet(P)[1] - d / 2.0 * log(k)
        for k, b, P in ((KAPPA, NU, PSI), (kappa, nu, scatter))
    )
    return new - old - n * d / 2.0 * log(np.pi)


@pytest.mark.parametrize("nu", [2.05, 3.7, 11.0])
def test_triangles(nu):
    """Factors, solutions, Student's t and a draw, of three dimensions, with numpy and scipy."""
    rng, d = default_rng(1), 3
    root = rng.normal(size=(d, d))
    Psi, x, m = root @ root.T + 0.3 * np.eye(d), rng.normal(size=d), rng.normal(size=d)
    L = Psi.copy()
    triangles.cholesky(L)
    np.testing.assert_allclose(np.tril(L), np.linalg.cholesky(Psi), rtol=1e-12)
    for found, T in ((triangles.solve, np.tril(L)), (triangles.solve_transposed, np.tril(L).T)):
        y = x.copy()
        found(L, y)
        np.testing.assert_allclose(T @ y, x, rtol=1e-12)
    f = nu - d + 1.0
    t = stats.multivariate_t(m, Psi * (KAPPA + 1.0) / (KAPPA * f), f)
    assert triangles.log_student(x, m, KAPPA, nu, Psi, np.empty((d, d))) == pytest.approx(t.logpdf(x), rel=1e-10)
    mu, S = np.empty(d), np.empty((d, d))
    ours, theirs = default_rng(2), default_rng(2)
    for _ in range(4):
        triangles.draw_normal_wishart(ours, m, KAPPA, nu, Psi, mu, S)
        expected = plain_normal_wishart(theirs, m, KAPPA, nu, Psi)
        np.testing.assert_allclose(mu, expected[0], rtol=1e-9)
        np.testing.assert_allclose(S, expected[1], rtol=1e-9, atol=1e-12 * np.abs(S).max())


def test_gamma_variates_that_underflow():
    """nu = 1e-9 with one dimension: the variate is below 1e-200, and Sigma is Psi / (2 1e-200)."""
    mu, S = np.empty(1), np.empty((1, 1))
    triangles.draw_normal_wishart(default_rng(0), np.zeros(1), 0.5, 1e-9, np.array([[3.0]]), mu, S)
    assert S[0, 0] == pytest.approx(np.sqrt(3.0 / 2.0) * 1e100, rel=1e-9)
    assert np.isfinite(mu).all()


# Classes of values ---------------------------------------------------------------------------------------------------


def plain_condition(B, y, mu, S):
    """Log density of y = B w + N(0, I) up to its constant, and mean and covariance of w ~ N(mu, S S')."""
    Sigma, d = S @ S.T, len(y)
    total = np.eye(d) + B @ Sigma @ B.T
    gain = Sigma @ B.T @ np.linalg.inv(total)
    density = log_normal(y, B @ mu, total) + d / 2.0 * log(2.0 * np.pi)
    return density, mu + gain @ (y - B @ mu), Sigma - gain @ B @ Sigma


def test_condition():
    """The density, and v and K with mean mu + S v and covariance S (K K')^-1 S', by dense Gaussians."""
    rng, d = default_rng(4), 3
    B, y, mu, S = rng.normal(size=(d, d)), rng.normal(size=d), rng.normal(size=d), rng.normal(size=(d, d))
    K, v = np.zeros((d, d)), np.empty(d)
    density, mean, covariance = plain_condition(B, y, mu, S)
    assert condition(B, y, mu, S, K, v) == pytest.approx(density, rel=1e-10)
    np.testing.assert_allclose(mu + S @ v, mean, rtol=1e-10)
    K = np.tril(K)
    np.testing.assert_allclose(S @ np.linalg.inv(K @ K.T) @ S.T, covariance, rtol=1e-9, atol=1e-12)


class PlainChain:
    """The chain of classes of values: labels of slots, (mu, S) of slots, weights of tasks."""

    def __init__(self, p, z, mu, S, w):
        self.p, self.z, self.mu, self.S, self.w = p, list(z), mu.copy(), S.copy(), w.copy()

    def size(self, k, without=None):
        return sum(label == k for m, label in enumerate(self.z) if m != without)

    def new_weight(self, without=None):
        return self.p.c[len({label for m, label in enumerate(self.z) if m != without})]

    def evidence(self, members):
        return log_evidence(self.w[sorted(members)]) if members else 0.0

    def sweep(self, rng):
        """z, w, means of w, and (mu, S) of the classes and of a new one."""
        p, slots = self.p, range(len(self.mu))
        M, d = self.w.shape
        for m in range(M):  # step 1
            own, c, log_w = self.z[m], self.new_weight(m), []
            left = p.a - (self.size(own, m) == 0)
            for k in slots:
                n = self.size(k, m)
                if n == 0 and k != own and left > 0:
                    self.mu[k], self.S[k] = plain_normal_wishart(rng, np.zeros(d), KAPPA, NU, PSI)
                    n, left = c / p.a, left - 1
                elif n == 0 and k == own:
                    n = c / p.a
                density = plain_condition(p.B[m], p.y[m], self.mu[k], self.S[k])[0] if n else 0.0
                log_w.append(log(n) + density if n else -np.inf)
            self.z[m] = drawn(rng, log_w)
        means = np.empty((M, d))
        for m in range(M):  # step 2
            mu, S = self.mu[self.z[m]], self.S[self.z[m]]
            means[m] = plain_condition(p.B[m], p.y[m], mu, S)[1]
            X = p.B[m] @ S
            K = np.linalg.cholesky(np.eye(d) + X.T @ X)
            self.w[m] = means[m] + S @ np.linalg.inv(K).T @ np.array([rng.standard_normal() for _ in range(d)])
        self.split_or_merge(rng)
        for m in range(M):  # step 3
            c, new, log_w = self.new_weight(m), None, []
            for k in slots:
                n = self.size(k, m)
                if n == 0 and new is None:
                    n, new = c, k
                others = {i for i in range(M) if self.z[i] == k and i != m}
                log_w.append(log(n) + self.evidence(others | {m}) - self.evidence(others) if n else -np.inf)
            self.z[m] = drawn(rng, log_w)
        for k in slots:  # step 4
            if self.size(k):
                learnt = after(self.w[np.array(self.z) == k])
                self.mu[k], self.S[k] = plain_normal_wishart(rng, *learnt)
        classes = list(dict.fromkeys(self.z))
        fresh = plain_normal_wishart(rng, np.zeros(d), KAPPA, NU, PSI)
        mu, S = (np.array([*(x[k] for k in classes), one]) for x, one in zip((self.mu, self.S), fresh, strict=True))
        return renamed(self.z), self.w, means, mu, S

    def split_or_merge(self, rng):
        M = len(self.z)
        i, j = int(rng.random() * M), int(rng.random() * (M - 1))
        j += j >= i
        one, other = self.z[i], self.z[j]
        order = list(range(M))
        for m in range(M - 1, 0, -1):
            k = int(rng.random() * (m + 1))
            order[m], order[k] = order[k], order[m]
        sides, log_q = ({i}, {j}), 0.0
        for m in order:
            if self.z[m] in (one, other) and m not in (i, j):
                log_w = [log(len(side)) + self.evidence(side | {m}) - self.evidence(side) for side in sides]
                log_p = np.array(log_w) - np.logaddexp(*log_w)
                k = int(rng.random() >= np.exp(log_p[0])) if one == other else int(self.z[m] != one)
                sides[k].add(m)
                log_q += log_p[k]
        # The joint density of the two classes over that of the merged one, with c for the classes of the latter.
        K = len(set(self.z)) - (one != other)
        ratio = log(self.p.c[K]) + sum(lgamma(len(side)) + self.evidence(side) for side in sides)
        ratio -= lgamma(len(sides[0]) + len(sides[1])) + self.evidence(sides[0] | sides[1])
        luck = -rng.standard_exponential()
        if one == other and luck < ratio - log_q:
            free = next(k for k in range(len(self.mu)) if k not in self.z)
            self.z = [free if m in sides[1] else k for m, k in enumerate(self.z)]
        elif one != other and luck < log_q - ratio:
            self.z = [one if m in sides[1] else k for m, k in enumerate(self.z)]


@pytest.mark.parametrize("seed, M, a", [(0, 5, 2), (1, 5, 2), (2, 6, 1), (3, 4, 3), (4, 1, 2), (5, 7, 2), (6, 2, 2)])
def test_sweeps_of_classes_of_values(seed, M, a):
    """Three sweeps from two classes: classes, weights and their means, (mu, S) of the classes and of a new one."""
    rng, d, sweeps = default_rng(seed), 2, 3
    B, y = rng.normal(size=(M, d, d)), rng.normal(size=(M, d)) + 2.0 * (np.arange(M) % 2)[:, None]
    c = rng.uniform(0.3, 2.5, M + 1)
    p = Problem(B, y, PSI.copy(), KAPPA, NU, c, a)
    z = np.where(np.arange(M) % 3 == 1, min(2, M + a - 1), 0)
    mu, S, w = rng.normal(size=(M + a, d)), rng.normal(size=(M + a, d, d)), rng.normal(size=(M, d))
    size = np.bincount(z, minlength=M + a).astype(float)
    plain = PlainChain(p, z, mu, S, w)
    if M == 1:
        plain.split_or_merge = lambda rng: None  # there is nobody to split from
    out = Draws(
        np.zeros((sweeps, M), np.int64), np.zeros((sweeps, M, d)), np.zeros((sweeps, M, d)),
        np.zeros((sweeps, M + 1, d)), np.zeros((sweeps, M + 1, d, d)),
    )  # fmt: skip
    x = Chain(z.astype(np.int64), size, mu, S, w)
    sample(default_rng(100 + seed), p, x, out)
    same = default_rng(100 + seed)
    for t in range(sweeps):
        labels, weights, means, class_means, roots = plain.sweep(same)
        n = len(class_means)
        np.testing.assert_array_equal(out.z[t], labels)
        np.testing.assert_allclose(out.w[t], weights, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(out.w_mean[t], means, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(out.mu[t, :n], class_means, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(out.S[t, :n], roots, rtol=1e-7, atol=1e-9)
        assert not out.mu[t, n:].any()
    np.testing.assert_array_equal(x.size, [plain.size(k) for k in range(M + a)])
    np.testing.assert_array_equal(x.z, plain.z)


def test_splits_and_merges_of_classes_of_values():
    """Two hundred moves of seven tasks with weights that stay: every decision, with c that depends on the classes."""
    M, rng = 7, default_rng(12)
    w, c = (
        rng.normal(size=(M, 2)) + np.array([1.5, -0.5]) * (np.arange(M) % 2)[:, None],
        10.0 ** rng.uniform(-1, 1, M + 1),
    )
    p = Problem(np.zeros((M, 2, 2)), np.zeros((M, 2)), PSI.copy(), KAPPA, NU, c, 1)
    x = Chain(np.zeros(M, np.int64), np.append(float(M), np.zeros(M)), np.zeros((M + 1, 2)), np.zeros((M + 1, 2, 2)), w)
    plain = PlainChain(p, x.z, x.mu, x.S, w)
    plain.evidence = memo(plain.evidence)
    ours, theirs, seen = default_rng(13), default_rng(13), set()
    for _ in range(200):
        split_or_merge(ours, p, x)
        plain.split_or_merge(theirs)
        np.testing.assert_array_equal(x.z, plain.z)
        np.testing.assert_array_equal(x.size, np.bincount(x.z, minlength=M + 1))
        seen.add(tuple(renamed(plain.z)))
    assert len(seen) > 20


TASKS = [
    (np.array([[1.0, 0.3], [0.2, -0.7], [0.5, 0.4]]), np.array([1.4, -0.6, 0.8])),
    (np.array([[0.8, -0.2]]), np.array([1.1])),
    (np.array([[0.1, 1.0], [-0.6, 0.9]]), np.array([-1.5, -0.7])),
    (np.array([[0.7, 0.7], [0.3, -0.4]]), np.array([0.2, 1.3])),
]
"""(H, r) of four tasks with one to three rows."""


@pytest.mark.parametrize("burn_in, unknown", [(0, False), (2, True)])
def test_a_solution_is_what_the_chain_drew(burn_in, unknown, monkeypatch):
    """Five sweeps in blocks of two, from one class N(0, I); the transcription has whole tasks, not their factors."""
    from bayesrl.multitask import multitask_gptd_dp as dp

    monkeypatch.setattr(dp, "BLOCK", 2)
    noise, M, sweeps = 0.7, len(TASKS), 5
    concentration = LogUniform(0.1, 30.0) if unknown else 0.9
    made = dp.MultitaskGPTDDP(
        noise=noise, concentration=concentration, strength=KAPPA, degrees=NU, scale=PSI, sweeps=sweeps,
        burn_in=burn_in, auxiliary=2,
    )  # fmt: skip
    found = made.solve(TASKS, default_rng(8))
    c = weight_of_new(concentration, np.arange(M + 1), M)
    p = Problem([H / noise for H, _ in TASKS], [r / noise for _, r in TASKS], PSI, KAPPA, NU, c, 2)
    S = np.zeros((M + 2, 2, 2))
    S[0] = np.eye(2)
    plain, rng = PlainChain(p, [0] * M, np.zeros((M + 2, 2)), S, np.zeros((M, 2))), default_rng(8)
    drawings = [[np.array(x) for x in plain.sweep(rng)] for _ in range(burn_in + sweeps)][burn_in:]
    z, w, means, mu, S = zip(*drawings, strict=True)
    np.testing.assert_array_equal(found.assignments, z)
    np.testing.assert_allclose(found.samples, w, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.weights, np.mean(means, axis=0), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.class_means, np.concatenate(mu), rtol=1e-6, atol=1e-9)
    Sigma = [root @ root.T for root in np.concatenate(S)]
    np.testing.assert_allclose(found.class_covariances, Sigma, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("unknown", [False, True])
def test_a_further_task_by_hand(unknown):
    """Three draws of four tasks with given classes: shares n / (M + c) and c / (M + c), each a dense Gaussian.

    Coloured noise has the rows (1, -gamma) of one trajectory that goes on.
    """
    rng, c, noise, gamma = default_rng(9), 1.7, 0.6, 0.85
    z = np.array([[0, 0, 1, 0], [0, 1, 2, 1], [0, 0, 0, 0]])
    K = z.max(axis=1) + 1
    roots, mu = rng.normal(size=(9, 2, 2)), rng.normal(size=(9, 2))
    Sigma = roots @ np.swapaxes(roots, 1, 2) + 0.1 * np.eye(2)
    concentration = LogUniform(0.2, 40.0) if unknown else c
    found = MultitaskGPTDDPSolution(
        np.zeros((4, 2)), np.zeros((3, 4, 2)), z, mu, Sigma, concentration, noise, True, gamma
    )
    H, r = TASKS[0]
    G = np.array([[1.0, -gamma, 0.0, 0.0], [0.0, 1.0, -gamma, 0.0], [0.0, 0.0, 1.0, -gamma]])
    log_p, means, covariances, at = [], [], [], 0
    for labels, k in zip(z, K, strict=True):
        new = weight_of_new(concentration, k, 5)
        for n in [*np.bincount(labels), new]:
            total = H @ Sigma[at] @ H.T + noise**2 * G @ G.T
            gain = Sigma[at] @ H.T @ np.linalg.inv(total)
            log_p.append(log(n / (4.0 + new) / 3.0) + log_normal(r, H @ mu[at], total))
            means.append(mu[at] + gain @ (r - H @ mu[at]))
            covariances.append(Sigma[at] - gain @ H @ Sigma[at])
            at += 1
    assert at == 9
    assert found.log_predictive((H, r)) == pytest.approx(np.logaddexp.reduce(log_p), rel=1e-9)
    p = np.exp(log_p - np.logaddexp.reduce(log_p))
    mean, covariance = found.transfer((H, r))
    np.testing.assert_allclose(mean, p @ means, rtol=1e-9)
    second = sum(q * (C + np.outer(m, m)) for q, m, C in zip(p, means, covariances, strict=True))
    np.testing.assert_allclose(covariance, second - np.outer(mean, mean), rtol=1e-8)
    assert found.n_classes() == pytest.approx(K.mean())
    np.testing.assert_allclose(found.co_class()[0], [1.0, 2 / 3, 1 / 3, 2 / 3])


# Classes of counts ---------------------------------------------------------------------------------------------------

GROUP = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2])
"""The group of each of nine cells."""
ALPHA = np.array([0.4, 1.3, 0.7, 0.9, 0.2, 1.1, 0.6, 0.3, 0.8])


def counted(seed, M):
    """The counts of M tasks of two kinds, (M, 9), with many zeros; the last task has seen nothing."""
    rng = default_rng(seed)
    kinds = rng.dirichlet(np.full(len(GROUP), 0.4), 2)
    n = rng.multinomial(8, kinds[np.arange(M) % 2]).astype(float)
    n[-1] = 0.0
    return n


def steps_of(n):
    """The same as the lists of the kernel."""
    task, cell = map(np.ascontiguousarray, np.nonzero(n))
    start = np.searchsorted(task, np.arange(len(n) + 1))
    total = np.bincount(GROUP, ALPHA)
    return of_counts.Steps(start, cell, n[task, cell], GROUP, ALPHA, total)


class PlainCounts:
    """The chain of classes of counts, by the evidence of whole classes."""

    def __init__(self, n, c, z):
        self.n, self.c, self.z = n, c, list(z)

    def evidence(self, members):
        """The Dirichlet-multinomial probability of the steps of these tasks, a product over groups."""
        N = self.n[sorted(members)].sum(axis=0)
        inside = special.gammaln(ALPHA + N).sum() - special.gammaln(ALPHA).sum()
        total, T = np.bincount(GROUP, ALPHA), np.bincount(GROUP, N)
        return inside + special.gammaln(total).sum() - special.gammaln(total + T).sum()

    def sweep(self, rng):
        M = len(self.z)
        slots = max(self.z) + 1
        for m in range(M):
            self.z[m] = -1
            inside = [{i for i in range(M) if self.z[i] == j} for j in range(slots)]
            empty = [j for j in range(slots) if not inside[j]]
            new = min(empty, default=slots)
            if not empty:
                inside.append(set())
                slots += 1
            K, log_w = sum(map(bool, inside)), []
            for j, members in enumerate(inside):
                prior = self.c[K] if j == new else len(members)
                log_w.append(log(prior) + self.evidence(members | {m}) - self.evidence(members) if prior else -np.inf)
            self.z[m] = drawn(rng, log_w)
        if M > 1:
            self.split_or_merge(rng)
        self.z = renamed(self.z)
        return list(self.z)

    def split_or_merge(self, rng):
        M = len(self.z)
        first, second = int(rng.random() * M), int(rng.random() * (M - 1))
        second += second >= first
        a, b = self.z[first], self.z[second]
        order = []
        for m in range(M):
            if self.z[m] in (a, b):
                j = int(rng.random() * (len(order) + 1))
                order.append(m)
                order[-1], order[j] = order[j], m
        sides, log_q = ({first}, {second}), 0.0
        for m in order:
            if m not in (first, second):
                log_w = [log(len(side)) + self.evidence(side | {m}) - self.evidence(side) for side in sides]
                log_p = np.array(log_w) - np.logaddexp(*log_w)
                j = int(self.z[m] != a) if a != b else int(rng.random() >= np.exp(log_p[0]))
                sides[j].add(m)
                log_q += log_p[j]
        merged = len(set(self.z)) - (a != b)
        ratio = log(self.c[merged]) + sum(lgamma(len(side)) + self.evidence(side) for side in sides)
        ratio -= lgamma(len(order)) + self.evidence(set(order))
        if log(rng.random()) < (ratio - log_q if a == b else log_q - ratio):
            new = max(self.z) + 1 if a == b else a
            self.z = [new if m in sides[1] else k for m, k in enumerate(self.z)]


@pytest.mark.parametrize("seed, M", [*((seed, 7) for seed in range(8)), (8, 2), (9, 2), (10, 3)])
def test_sweeps_of_classes_of_counts(seed, M):
    """Six sweeps, the first from no classes at all, from one, or from several."""
    rng = default_rng(seed)
    n, c = counted(seed, M), rng.uniform(0.2, 3.0, M + 1)
    z = [np.full(M, -1), np.zeros(M, int), np.arange(M) % 3, np.array([0, 1, -1, 1, 3, -1, 0])[:M]][seed % 4]
    plain, found, labels = PlainCounts(n, c, z), np.zeros((6, M), np.int64), z.astype(np.int64)
    plain.evidence = memo(plain.evidence)
    of_counts.gibbs(default_rng(50 + seed), labels, steps_of(n), c, found)
    same = default_rng(50 + seed)
    np.testing.assert_array_equal(found, [plain.sweep(same) for _ in range(6)])
    np.testing.assert_array_equal(labels, found[-1])


def test_splits_and_merges_of_classes_of_counts():
    """Two hundred moves of seven tasks: every decision, with c that depends on the number of classes."""
    M, rng = 7, default_rng(14)
    n, c, z = counted(14, M), 10.0 ** rng.uniform(-1, 1, M + 1), np.zeros(M, np.int64)
    plain, steps = PlainCounts(n, c, z), steps_of(n)
    plain.evidence = memo(plain.evidence)
    ours, theirs, seen = default_rng(15), default_rng(15), set()
    for _ in range(200):
        of_counts.split_or_merge(ours, z, steps, c, len(set(z.tolist())))
        plain.split_or_merge(theirs)
        np.testing.assert_array_equal(z, plain.z)
        plain.z = renamed(plain.z)
        z[:] = plain.z
        seen.add(tuple(plain.z))
    assert len(seen) > 20


def test_many_classes_of_counts():
    """Twelve tasks apart, begun in one class: the arrays of classes grow twice in a sweep, and the counts stay."""
    M, rng = 12, default_rng(16)
    n, c = counted(16, M), rng.uniform(300.0, 900.0, M + 1)
    found, plain = np.zeros((2, M), np.int64), PlainCounts(n, c, [0] * M)
    plain.evidence = memo(plain.evidence)
    of_counts.gibbs(default_rng(17), np.zeros(M, np.int64), steps_of(n), c, found)
    same = default_rng(17)
    np.testing.assert_array_equal(found, [plain.sweep(same) for _ in range(2)])
    assert found.max() > 8


def test_one_task_of_counts():
    """One task is always class 0, and there is nothing to split: only one number is drawn in a sweep."""
    found, rng, same = np.full((3, 1), -1), default_rng(3), default_rng(3)
    of_counts.gibbs(rng, np.array([-1]), steps_of(counted(0, 2)[:1]), np.array([0.7, 0.7]), found)
    np.testing.assert_array_equal(found, 0)
    same.random(3)
    assert rng.random() == same.random()


# Classes of weights --------------------------------------------------------------------------------------------------

CLASS = np.array([[0.3, 0.1], [0.1, 0.2]])
MEAN, BASE = np.array([0.5, -0.2]), np.array([[1.0, 0.2], [0.2, 2.0]])


class PlainWeights(PlainCounts):
    """Classes of linear rewards: the evidence of a class is that of its rewards, jointly normal."""

    def __init__(self, log_, noise, c, z):
        self.log, self.noise, self.c, self.z = log_, noise, c, list(z)

    def evidence(self, members):
        steps = [step for step in self.log if step[0] in members]
        m, X, r = (np.array(x) for x in zip(*steps, strict=True))
        S = X @ BASE @ X.T + (m[:, None] == m) * (X @ CLASS @ X.T) + self.noise**2 * np.eye(len(r))
        return log_normal(r, X @ MEAN, S)

    def split_or_merge(self, rng):
        pair = [int(m) for m in rng.choice(len(self.z), 2, replace=False)]
        a, b = (self.z[m] for m in pair)
        sides, log_q = ({pair[0]}, {pair[1]}), 0.0
        rest = [m for m in range(len(self.z)) if self.z[m] in (a, b) and m not in pair]
        for m in rng.permutation(np.array(rest, int)).tolist():
            log_w = [log(len(side)) + self.evidence(side | {m}) - self.evidence(side) for side in sides]
            log_p = np.array(log_w) - np.logaddexp(*log_w)
            j = int(self.z[m] == b) if a != b else int(np.log(rng.random()) >= log_p[0])
            sides[j].add(m)
            log_q += log_p[j]
        merged = len(set(self.z)) - (a != b)
        ratio = log(self.c[merged]) + sum(lgamma(len(side)) + self.evidence(side) for side in sides)
        ratio -= lgamma(len(rest) + 2) + self.evidence(sides[0] | sides[1])
        if log(rng.random()) < (ratio - log_q if a == b else log_q - ratio):
            new = max(self.z) + 1 if a == b else a
            self.z = [new if m in sides[1] else k for m, k in enumerate(self.z)]


def test_splits_and_merges_of_classes_of_weights():
    """A hundred moves of six tasks, with c that depends on the classes; rewards of a class are jointly normal."""
    M, rng, noise = 6, default_rng(0), 0.7
    w = rng.normal(size=(2, 2))
    X = rng.normal(size=(M, 2, 2))
    steps = [(m, x, float(w[m % 2] @ x + noise * rng.normal())) for m in range(M) for x in X[m]]
    belief = LinearRewardClasses(0.8, noise, CLASS, MEAN, BASE).update_many(steps)
    c, z = 10.0 ** rng.uniform(-1, 1, M + 1), np.arange(M) % 3
    plain, told = PlainWeights(steps, noise, c, z), seen_through(belief.gram, belief.moment, CLASS)
    plain.evidence = memo(plain.evidence)
    ours, theirs, seen = default_rng(70), default_rng(70), set()
    for _ in range(100):
        of_weights.split_or_merge(z, c, belief._base(), told, ours)
        plain.split_or_merge(theirs)
        np.testing.assert_array_equal(z, plain.z)
        plain.z = renamed(plain.z)
        z[:] = plain.z
        seen.add(tuple(plain.z))
    assert len(seen) > 20


@pytest.mark.parametrize("seed", range(4))
def test_sweeps_of_classes_of_weights(seed):
    """Three sweeps of five tasks: one task after the other by ratios of evidences, then a split or a merge.

    A task's choices are the classes of the others in the order of their labels, and a new one.
    """
    M, rng, noise, c = 5, default_rng(20 + seed), 0.6, 0.8
    X = rng.normal(size=(M, 2, 2))
    steps = [(m, x, float(rng.normal() + 2.0 * (m % 2) * x[0])) for m in range(M) for x in X[m]]
    belief = LinearRewardClasses(c, noise, CLASS, MEAN, BASE).update_many(steps)
    plain, same = PlainWeights(steps, noise, np.full(M + 1, c), [-1] * M), default_rng(seed)
    drawings = []
    for _ in range(3):
        for m in range(M):
            plain.z[m] = -1
            names = sorted({k for k in plain.z if k >= 0})
            inside = [{i for i in range(M) if plain.z[i] == k} for k in names]
            log_w = [log(len(x)) + plain.evidence(x | {m}) - plain.evidence(x) for x in inside]
            k = drawn(same, [*log_w, log(c) + plain.evidence({m})])
            plain.z[m] = [*names, max(names, default=-1) + 1][k]
        plain.split_or_merge(same)
        plain.z = renamed(plain.z)
        drawings.append(list(plain.z))
    np.testing.assert_array_equal(belief.refresh(default_rng(seed), 3).assignments, drawings)
