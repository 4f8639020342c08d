"""Dirichlet rows as broken sticks: the law of the gamma way, and where they are used."""

import numpy as np
import pytest
from numpy.random import default_rng
from scipy import stats

from bayesrl.beliefs import DirichletMDP
from bayesrl.beliefs.mdp.dirichlet_rows import MANY, dirichlet_rows, even_counts
from bayesrl.checks import frozen
from bayesrl.core import Transition
from bayesrl.kernels.random.stick_breaking import LEFT, dense_rows, listed_rows
from bayesrl.models.mdp import TabularMDP
from bayesrl.testing import assert_mean_equal

N = 40_000
CASES = [  # outcomes, prior count, what was seen
    (64, 1 / 64, {}),
    (64, 1 / 64, {3: 1}),
    (70, 1 / 70, {0: 4, 69: 1, 10: 2}),
    (128, 1 / 64, {5: 2}),
    (65, 1e-3, {7: 1, 8: 1}),
    (65, 1e-3, {}),
]


def dense(rows, a, size, alpha, rng):
    """Rows from read-only arrays, as a belief has them: those that can be written would be compiled for once more."""
    return dense_rows(rows, frozen(a), frozen(size.astype(np.int32)), frozen(alpha), rng)


def listed(rows, a, size, alpha, rng):
    return listed_rows(rows, frozen(a), frozen(size.astype(np.int32)), frozen(alpha), rng)


def alpha_of(K, a, seen):
    alpha = np.full(K, a)
    for k, n in seen.items():
        alpha[k] += n
    return alpha


def drawn(K, a, seen, n, seed):
    alpha = alpha_of(K, a, seen)[None]
    return dense(np.zeros(n, np.int64), np.array([a]), np.array([K]), alpha, default_rng(seed))


@pytest.mark.parametrize(("K", "a", "seen"), CASES)
def test_moments_are_the_dirichlets(K, a, seen):
    """Means, squares, and products of the sums over four blocks of outcomes, 40000 draws; false alarm 1e-6 each.

    An error of 6 standard errors is seen: with K a = 1 and nothing seen, a quarter of the mean of an outcome.
    """
    x, alpha = drawn(K, a, seen, N, 1), alpha_of(K, a, seen)
    n = alpha.sum()
    p = alpha / n
    assert_mean_equal(x, p)
    assert_mean_equal(x**2, p * (alpha + 1) / (n + 1))
    block = np.arange(K)[:, None] % 4 == np.arange(4)
    y, beta = x @ block, alpha @ block
    expected = (np.outer(beta, beta) + np.diag(beta)) / (n * (n + 1))
    assert_mean_equal(y[:, :, None] * y[:, None, :], expected)


@pytest.mark.parametrize(("K", "a", "seen"), CASES)
def test_marginals_are_betas(K, a, seen):
    """Kolmogorov-Smirnov for each outcome that was seen and three others, above what is dropped; false alarm 1e-6 each.

    40000 draws: a difference of .014 between distribution functions is seen.
    """
    x, alpha = drawn(K, a, seen, N, 2), alpha_of(K, a, seen)
    for k in [*seen, 20, 40, 63]:
        law = stats.beta(alpha[k], alpha.sum() - alpha[k])
        at = np.sort(x[:, k])
        F, rank, visible = law.cdf(at), np.arange(1, N + 1) / N, at > 1e3 * LEFT
        worst = max(np.abs(F - rank)[visible].max(), np.abs(F - rank + 1 / N)[visible].max())
        assert stats.kstwo.sf(worst, N) > 1e-6, (k, worst)


@pytest.mark.parametrize(("K", "a", "seen"), CASES)
def test_rows_are_like_those_of_gammas(K, a, seen):
    """The largest entry, the second largest (1e-12 or more), the sum of squares, a mean; two-sample tests, 1e-6 each.

    5000 rows of either kind: a difference of .05 between distribution functions is seen.
    """
    x = drawn(K, a, seen, 5000, 3)
    y = dirichlet_rows(np.tile(alpha_of(K, a, seen), (5000, 1)), default_rng(4))
    v = default_rng(5).normal(size=K)
    for f in (
        lambda p: p.max(axis=1),
        lambda p: np.maximum(np.partition(p, -2, axis=1)[:, -2], 1e-12),
        lambda p: (p**2).sum(axis=1),
        lambda p: p @ v,
    ):
        assert stats.ks_2samp(f(x), f(y)).pvalue > 1e-6


def test_rows_sum_to_one_however_small_the_counts():
    rng = default_rng(0)
    for K, a in [(64, 1 / 64), (64, 1e-300), (1000, 1e-9), (2000, 1 / 64)]:
        alpha = np.full((3, K), a)
        alpha[1, 5] += 1
        alpha[2, [7, 9]] += [1e6, 1]
        x = dense(np.repeat([0, 1, 2], 50), np.full(3, a), np.full(3, K), alpha, rng)
        np.testing.assert_allclose(x.sum(axis=1), 1.0, rtol=0, atol=2e-15)
        assert (x >= 0.0).all()
        assert (x[50:100, 5] > 0.0).all()
        assert (x[100:, 7] > 0.99).all()
        assert (x[100:, 9] > 0.0).all()


def test_groups_of_several_sizes_keep_to_their_outcomes():
    """Also what the lists say and how they are stored: the same draws as dense rows, and the room for them grows."""
    size, a = np.array([64, 100, 80]), np.array([1 / 64, 1 / 100, 1 / 70])
    alpha = np.where(np.arange(100) < size[:, None], a[:, None], 0.0)
    alpha[:, 10] += 3.0
    rows = default_rng(0).integers(3, size=500)
    n, k, p = listed(rows, a, size, alpha, default_rng(1))
    x = dense(rows, a, size, alpha, default_rng(1))
    for i, g in enumerate(rows):
        assert (k[i, : n[i]] < size[g]).all()
        assert (p[i, n[i] :] == 0.0).all()
        np.testing.assert_allclose(np.bincount(k[i, : n[i]], p[i, : n[i]], 100), x[i], atol=1e-15)
    many = np.full((1, 4000), 1 / 64)
    n = listed(np.zeros(5, np.int64), many[:, 0], np.array([4000]), many, default_rng(2))[0]
    assert (n > 1000).all()  # 37 K a = 2300 on average, and 64 a row were expected


def flat(S, concentration=None):
    mdp = TabularMDP.from_dense(np.full((S, 2, S), 1 / S), np.zeros((S, 2)), 0.9)
    return DirichletMDP.flat(mdp, 1 / S if concentration is None else concentration)


def test_where_sticks_are_broken():
    """At least 64 outcomes with equal counts of at most 1/64, and nothing known; else draws are the gamma way's."""
    assert flat(MANY).even.tolist() == [1 / MANY] * (2 * MANY)
    unequal = np.full((2 * MANY, MANY), 1 / MANY)
    unequal[0, 0] /= 2.0
    for belief in (flat(MANY - 1), flat(MANY, 0.1), flat(MANY, unequal)):
        belief = belief.update(Transition(0, 1, 0.0, 5))
        assert belief.even is None
        x = belief.sample_mdp(default_rng(3)).prob
        np.testing.assert_array_equal(x, dirichlet_rows(belief.alpha, default_rng(3)))
    prior = np.full((2, MANY), 1 / MANY)
    assert even_counts(prior, prior > 0.0, np.array([False, True])) is None
    assert even_counts(prior * [[1.0], [0.5]], prior > 0.0, np.array([False, False])).tolist() == [1 / MANY, 0.5 / MANY]


def test_a_model_follows_the_data():
    """Means of 400 models after data; false alarm 1e-6, an error of a tenth in the most likely outcome is seen."""
    belief = flat(MANY)
    for y in (3, 3, 4):
        belief = belief.update(Transition(1, 0, 0.0, y))
    rng = default_rng(0)
    x = np.array([belief.sample_mdp(rng).prob[2] for _ in range(400)])
    assert_mean_equal(x[:, [3, 4]], belief.predictive_row(1, 0)[[3, 4]])


def test_lists_longer_than_their_first_room():
    """One row has room for 64 pieces. A stick of mass 25 needs hundreds: outcomes and shares are kept as they were."""
    alpha = np.full((1, 50), 0.5)
    n, k, p = listed(np.zeros(1, np.int64), np.array([0.5]), np.array([50]), alpha, default_rng(3))
    assert 300 < n[0] == k.shape[1] == p.shape[1]
    assert len(np.unique(k)) > 45
    np.testing.assert_allclose(p.sum(), 1.0, rtol=0, atol=1e-12)
    rng, left = default_rng(3), 1.0
    for i in range(int(n[0])):
        x = rng.random() ** (1.0 / 25.0)
        assert k[0, i] == int(rng.random() * 50)
        assert p[0, i] == pytest.approx(left * (1.0 - x), abs=1e-15)
        left *= x
    assert left < LEFT
