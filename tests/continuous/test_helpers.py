"""What continuous beliefs and planners are made of, beside plain computations on problems in generic position."""

import itertools
import math

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.special import ndtri
from scipy.stats import multivariate_normal

from bayesrl.beliefs import NormalWishart
from bayesrl.beliefs.covariances import Discrete, Gaussian, Linear, Matern, Polynomial, StateAction
from bayesrl.beliefs.dynamics import _gp_moments, _particles, _slices, _trajectories
from bayesrl.beliefs.dynamics import _gp_pomdp_model as given
from bayesrl.beliefs.dynamics import gp_paths as _gp_paths
from bayesrl.beliefs.dynamics._pairs import between, slopes, steps
from bayesrl.beliefs.dynamics.normal_wishart import (
    Statistics,
    covariance_matrix,
    normal_wishart_draw,
    repeated,
    spare_degrees,
    student_numbers,
)
from bayesrl.beliefs.dynamics.strata import OVER, one_of_each_stratum
from bayesrl.beliefs.dynamics.vectors import vector
from bayesrl.checks import called, frozen
from bayesrl.errors import ImpossibleEvidence, InvalidArgument
from bayesrl.testing import assert_mean_equal

S3 = np.array([[0.9, 0.2, -0.3], [0.2, 0.5, 0.1], [-0.3, 0.1, 0.7]])
WEIGHTS = np.array([0.3, 1.1, 0.05, 0.7, 0.25])
"""They do not sum to one."""


def near(found, expected, tolerance=1e-12):
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def refused(words, function, *arguments):
    with pytest.raises(InvalidArgument, match=words):
        function(*arguments)


# Noises and first states ---------------------------------------------------------------------------------------------


def test_noises_and_starts():
    """A number is a deviation of each coordinate; a matrix is a covariance; a start may be certain."""
    belief = NormalWishart([0.1, 0.2, 0.3], 1.3, 5.0, S3)
    assert _particles.noise_of("o", "n", belief, 7) is belief
    near(_particles.noise_of("o", "n", 0.3, 4), 0.09 * np.eye(4))
    near(_particles.noise_of("o", "n", np.float32(0.5), 2), 0.25 * np.eye(2))
    near(_particles.noise_of("o", "n", S3.tolist(), 1), S3)
    assert [_particles.size_of(x) for x in (belief, S3[:2, :2])] == [3, 2]
    for bad in ("x", None, [0.1, 0.2], np.array(3.0), 0.0, -1.0, True + 1j):
        refused("^o: 'n' must be", _particles.noise_of, "o", "n", bad, 2)
    mean, S = _particles.start_of("o", [2.0, 0.5])
    near(mean, [2.0])
    near(S, [[0.5]])
    mean, S = _particles.start_of("o", ([1.0, -2.0], np.zeros((2, 2))))
    near(S, np.zeros((2, 2)))
    for bad in (None, [1.0], (1.0, 2.0, 3.0), ([1.0, 2.0], 0.5), ([1.0, 2.0], [0.5, 0.5])):
        refused("^o: 'state' must be", _particles.start_of, "o", bad)
    for off, kept in ((6e-9, True), (8e-9, False)):  # 1e-9 of the largest entry, 7
        S = np.array([[7.0, 1.0], [1.0 + off, 3.0]])
        if kept:
            near(_particles.start_of("o", ([0.0, 0.0], S))[1], S)
        else:
            refused("symmetric", _particles.start_of, "o", ([0.0, 0.0], S))
    for off, kept in ((6e-12, True), (8e-12, False)):
        S = np.diag([7.0, -off])
        if kept:
            near(_particles.start_of("o", ([0.0, 0.0], S))[1], S)
        else:
            refused("without negative eigenvalues", _particles.start_of, "o", ([0.0, 0.0], S))


def test_known_noises_are_normal():
    """Draws with the same random numbers, and log densities of scipy."""
    x, same = _particles.drawn(S3, 4, default_rng(0))
    near(x, [np.linalg.cholesky(S3) @ z for z in default_rng(0).standard_normal((4, 3))])
    assert same is S3
    logs, same = _particles.density(S3, x)
    near(logs, multivariate_normal(np.zeros(3), S3).logpdf(x))
    assert same is S3


def test_starts_and_points_have_the_moments_of_the_normal():
    """A root of a singular covariance too. Rules are exact for polynomials of low degree, also if correlated."""
    thin = np.outer([1.0, -2.0, 0.5], [1.0, -2.0, 0.5])
    for S in (S3, thin):
        near(_particles.root(S) @ _particles.root(S).T, S, 1e-10)
    mean = np.array([0.4, -1.0, 2.0])
    found = _particles.started((mean, S3), 5, default_rng(1))
    near(found, mean + default_rng(1).standard_normal((5, 3)) @ _particles.root(S3).T)
    rng = default_rng(2)
    for d, points in ((1, 20), (2, 144), (3, 512), (4, 625), (5, 10), (6, 12)):
        M = rng.normal(size=(d, d))
        S, m, a = M @ M.T + 0.2 * np.eye(d), rng.normal(size=d), rng.normal(size=d)
        x, p = _particles.normal_points(m, S)
        assert x.shape == (points, d)
        assert p.shape == (points,)
        assert p.sum() == pytest.approx(1.0, abs=1e-12)
        near(p @ x, m, 1e-9)
        near((x - m).T @ ((x - m) * p[:, None]), S, 1e-9)
        y, mu, v = x @ a, m @ a, a @ S @ a  # a normal variable of mean mu and variance v
        assert p @ y**3 == pytest.approx(mu**3 + 3.0 * mu * v, rel=1e-9, abs=1e-9)
        if d < 5:
            assert p @ y**6 == pytest.approx(mu**6 + 15 * mu**4 * v + 45 * mu**2 * v**2 + 15 * v**3, rel=1e-8)


# Particles -----------------------------------------------------------------------------------------------------------


def test_resampling_by_plain_loops():
    """Systematic: one uniform number, steps of 1/n of the whole weight. Independent: each by the sum below it."""
    below = np.cumsum(WEIGHTS) / WEIGHTS.sum()
    for seed, n in itertools.product(range(12), (1, 3, 5, 11)):
        u = default_rng(seed).random()
        expected = [next(j for j in range(5) if (i + u) / n < below[j]) for i in range(n)]
        for function in (_particles.systematic, _trajectories.systematic):
            rng = default_rng(seed)
            assert function(WEIGHTS, n, rng).tolist() == expected
            assert rng.random() == default_rng(seed).random(2)[1]
        u = default_rng(seed).random(n)
        expected = [next(j for j in range(5) if x < below[j]) for x in u]
        assert _particles.pick(WEIGHTS, n, default_rng(seed)).tolist() == expected

    class Last:
        """A uniform number so near to 1 that rounding puts it beyond the weights."""

        def random(self, n=None):
            return 1.0 if n is None else np.ones(n)

    for function in (_particles.pick, _trajectories.systematic):
        assert function(WEIGHTS, 2, Last())[-1] == 4
    assert len(_particles.systematic(WEIGHTS, 7, Last())) == 7


def statistics(n=4):
    rng = default_rng(3)
    scatter = np.array([S3 + (x := rng.normal(size=3))[:, None] * x for _ in range(n)])
    return Statistics(frozen(rng.normal(size=(n, 3))), 1.7, 6.5, frozen(scatter))


def test_a_sample_of_particles():
    """Moments of a mixture, chosen particles and models drawn from it, by sums over particles."""
    p, of = np.array([0.4, 0.1, 0.3, 0.2]), statistics()
    states = default_rng(4).normal(size=(4, 2))
    sample = _particles.Sample(states, p, of, S3, np.array([5, 1, 3, 2]))
    mean, covariance = sample.moments("o", of)
    near(mean, sum(p[i] * of.mean[i] for i in range(4)))
    near(covariance, sum(p[i] * of.scatter[i] / (6.5 - 3 - 1) for i in range(4)))
    mean, covariance = sample.moments("o", S3)
    near(mean, np.zeros(3))
    near(covariance, S3)
    mean, precision = sample.model(S3, default_rng(0))
    near(mean, np.zeros(3))
    near(precision @ S3, np.eye(3))
    rng = default_rng(5)
    i = int(_particles.pick(p, 1, rng)[0])
    expected = normal_wishart_draw(of.mean[i], 1.7, 6.5, of.scatter[i], rng)
    for a, b in zip(sample.model(of, default_rng(5)), expected, strict=True):
        near(a, b)
    few = sample.chosen(np.array([2, 0, 2]))
    near(few.states, states[[2, 0, 2]])
    near(few.weights, np.full(3, 1.0 / 3.0))
    near(few.noise.mean, of.mean[[2, 0, 2]])
    near(few.noise.scatter, of.scatter[[2, 0, 2]])
    assert (few.noise.strength, few.noise.degrees, few.origin.tolist()) == (1.7, 6.5, [3, 5, 3])
    assert few.sensor is S3
    assert sample._replace(states=None).chosen(np.array([1])).states is None


def test_statistics_of_particles():
    """Each particle learns its own datum as one Normal-Wishart belief does, and weighs it as that one does."""
    of = statistics()
    beliefs = [NormalWishart(of.mean[i], 1.7, 6.5, of.scatter[i]) for i in range(4)]
    x = default_rng(6).normal(size=(4, 3))
    logs, after = _particles.density(of, x)
    near(logs, [one.log_predictive(y) for one, y in zip(beliefs, x, strict=True)], 1e-10)
    normal, chi = student_numbers(of, default_rng(7))
    rng = default_rng(7)
    near(normal, rng.standard_normal((4, 3)))
    near(chi, rng.chisquare(6.5 - 3 + 1, 4))
    drawn, moved = _particles.drawn(of, 4, default_rng(7))
    for i, one in enumerate(beliefs):
        near(drawn[i], one.mean + np.sqrt(2.7 / (1.7 * chi[i])) * np.linalg.cholesky(one.scatter) @ normal[i], 1e-10)
        for new, datum in ((after, x[i]), (moved, drawn[i])):
            learned = one.update(datum)
            near(new.mean[i], learned.mean, 1e-10)
            near(new.scatter[i], learned.scatter, 1e-10)
            assert (new.strength, new.degrees) == (learned.strength, learned.degrees)
    many = repeated(beliefs[0], 3)
    near(many.mean, [of.mean[0]] * 3)
    near(many.scatter, [of.scatter[0]] * 3)
    near(beliefs[0].draw(default_rng(8), 3), _particles.drawn(many, 3, default_rng(8))[0])


def test_drawn_precisions_have_wisharts_moments():
    """3000 draws; false alarm 1e-6 each. They detect a mean that is off by a tenth of a deviation.

    E Lambda = nu V, var Lambda_ij = nu (V_ij^2 + V_ii V_jj) with V = Psi^-1, and cov mu = Psi / (kappa (nu - d - 1)).
    """
    m, kappa, nu, rng = np.array([0.5, -1.0, 2.0]), 0.6, 9.3, default_rng(9)
    means, precisions = zip(*(normal_wishart_draw(m, kappa, nu, S3, rng) for _ in range(3000)), strict=True)
    means, precisions, V = np.array(means), np.array(precisions), np.linalg.inv(S3)
    expected = nu * (V**2 + np.outer(np.diagonal(V), np.diagonal(V)))
    assert_mean_equal(precisions.reshape(-1, 9), nu * V.ravel(), false_alarm=1e-6)
    assert_mean_equal(((precisions - nu * V) ** 2).reshape(-1, 9), expected.ravel(), false_alarm=1e-6)
    off = means - m
    assert_mean_equal(off, 0.0, false_alarm=1e-6)
    assert_mean_equal((off[:, :, None] * off[:, None]).reshape(-1, 9), S3.ravel() / (kappa * 5.3), false_alarm=1e-6)
    rng, A = default_rng(10), np.zeros((3, 3))
    for j in range(3):
        A[j, :j] = rng.standard_normal(j)
        A[j, j] = np.sqrt(rng.chisquare(nu - j))
    root = np.linalg.inv(np.linalg.cholesky(S3)).T @ A
    mean, precision = normal_wishart_draw(m, kappa, nu, S3, default_rng(10))
    near(precision, root @ root.T, 1e-10)
    near(kappa**0.5 * root.T @ (mean - m), rng.standard_normal(3), 1e-10)


def test_matrices_and_vectors_are_checked():
    """Limits of symmetry and of definiteness scale with the matrix."""
    for name, off, kept in (("symmetric", 6e-9, True), ("symmetric", 8e-9, False)):
        S = np.array([[7.0, 1.0], [1.0 + off, 3.0]])
        if kept:
            near(covariance_matrix("o", "S", S, 2), 0.5 * (S + S.T), 1e-15)
        else:
            refused(f"'S' must be a {name} matrix", covariance_matrix, "o", "S", S, 2)
    near(covariance_matrix("o", "S", np.diag([7.0, 8e-14])), np.diag([7.0, 8e-14]))
    refused("positive definite", covariance_matrix, "o", "S", np.diag([7.0, 6e-14]))
    near(covariance_matrix("o", "S", 0.3), [[0.3]])
    refused("symmetric", covariance_matrix, "o", "S", np.ones((2, 3)))
    refused("shape", covariance_matrix, "o", "S", np.eye(3), 2)
    assert spare_degrees("o", 3.5, 2) == 0.5
    refused(r"'degrees' must be greater than d \+ 1 = 3", spare_degrees, "o", 3.0, 2)
    assert NormalWishart([0.0, 0.0, 0.0], 1.0, 2.001, S3).degrees == 2.001
    refused("greater than d - 1 = 2", NormalWishart, [0.0, 0.0, 0.0], 1.0, 2.0, S3)
    near(vector("o", "x", 3.0, None), [3.0])
    near(vector("o", "x", [3.0, 4.0], 2), [3.0, 4.0])
    for bad, size, words in (
        ([1.0], 2, "a vector of 2 numbers"), ([1.0, 2.0], 1, "a vector of 1 number,"),
        ([[1.0]], None, "a number or a vector"), ([[1.0]], 1, "a vector of 1 number,"),
    ):  # fmt: skip
        refused(words, vector, "o", "x", bad, size)


# Users' functions ----------------------------------------------------------------------------------------------------


def test_what_users_functions_give():
    near(_particles.add(1.0, 2.0, 4.0), 7.0)
    near(_particles.remove(1.0, 2.0, 4.0), 1.0)
    rows_of, solved = _particles.rows_of, _particles.solved
    near(rows_of("o", "f", [[1.0], [2.0]], (2,)), [1.0, 2.0])
    near(rows_of("o", "f", [[1.0], [2.0]], (2, 1)), [[1.0], [2.0]])
    near(rows_of("o", "f", [[1.0, 3.0]], (None, 2)), [[1.0, 3.0]])
    near(rows_of("o", "f", [np.inf, 1.0], (2,), finite=False), [np.inf, 1.0])
    for found, shape in (([[1.0, 2.0]], (1,)), ([1.0], (1, 1)), ([1.0, 2.0], (3,)), ("x", (1,)), (None, (1, 1))):
        refused("^o: 'f' must be a function that gives an array of shape", rows_of, "o", "f", found, shape)
    refused(r"\('any', 2\)", rows_of, "o", "f", [[1.0]], (None, 2))
    refused("finite numbers", rows_of, "o", "f", [np.nan, 1.0], (2,))
    x = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    for found, slope in ((x, 0.0), ((x, -0.7), -0.7), ((x, [-0.7, 0.2]), [-0.7, 0.2]), ((x, [[-0.7], [0.2]]), None)):
        noise, log = solved("o", "f", found, S3, 2)
        near(noise, x)
        near(log, np.broadcast_to([-0.7, 0.2] if slope is None else slope, 2))
    refused("a pair", solved, "o", "f", x, S3, 2, True)
    refused("a pair", solved, "o", "f", (x, 0.0, 0.0), S3, 2, True)
    wild = np.array([[np.nan, 2.0, 3.0], [4.0, 5.0, 6.0]])
    noise, log = solved("o", "f", (wild, [-np.inf, 0.4]), S3, 2, True)
    near(noise, [[0.0, 0.0, 0.0], [4.0, 5.0, 6.0]])
    near(log, [-np.inf, 0.4])
    for found in ((wild, 0.0), (x, [np.inf, 0.0]), (x, [np.nan, 0.0])):
        refused("finite, or with a log derivative", solved, "o", "f", found, S3, 2)
    for z, off, kept in ((3.0, 3.9e-6, True), (3.0, 4.1e-6, False), (0.0, 0.9e-6, True), (0.0, 1.1e-6, False)):
        pair = np.array([[z + off, 1.0]]), np.array([z, 1.0])
        if kept:
            _particles.check_inverse("o", "inverse", *pair)
        else:
            refused("the inverse of 'transition'", _particles.check_inverse, "o", "inverse", *pair)
            refused("the inverse of 'observation'", _particles.check_inverse, "o", "inverse_observation", *pair)
    refused("inverse", _particles.check_inverse, "o", "inverse", np.ones((1, 1)), np.ones(2))
    refused("given for this question", called, "o", "f", None)
    assert called("o", "f", lambda a, b: a - b, 5.0, 3.0) == 2.0


# Strata --------------------------------------------------------------------------------------------------------------


def test_one_of_each_stratum_by_sorting():
    """Draws ordered by the sum of their standardised coordinates; one of each 32 by one random number."""
    drawn = default_rng(11).normal(size=(5 * OVER, 3)) * [2.0, 0.1, 7.0] + [1.0, -3.0, 0.2]
    drawn[:, 2] = 0.2  # a coordinate without spread counts for nothing
    key = [sum((drawn[i, j] - drawn[:, j].mean()) / drawn[:, j].std() for j in range(2)) for i in range(5 * OVER)]
    order, which = sorted(range(5 * OVER), key=lambda i: key[i]), default_rng(12).integers(OVER, size=5)
    found = one_of_each_stratum(drawn, 5, default_rng(12))
    assert found.tolist() == [order[OVER * k + which[k]] for k in range(5)]


# Covariances of pairs ------------------------------------------------------------------------------------------------

KERNELS = [
    Gaussian(scale=[1.0, 2.0, 0.7], variance=0.7), Matern(smoothness=2.5, scale=1.7, variance=0.3),
    Polynomial(degree=3, offset=0.4, variance=1.7), Polynomial(degree=1, offset=0.4, variance=1.7), Linear(2.3),
    Discrete(variance=2.3), Gaussian(variance=0.6) + Linear(1.3),
    Gaussian(scale=1.4, variance=0.6) * Polynomial(degree=2, offset=0.4, variance=1.7),
    StateAction(Gaussian(variance=0.6), Polynomial(degree=2, offset=0.3, variance=1.4), dims=2),
    StateAction(Linear(1.3), Matern(smoothness=2.5, variance=0.3), dims=1),
]  # fmt: skip


@pytest.mark.parametrize("k", KERNELS, ids=lambda k: type(k).__name__)
def test_pairs_and_slopes(k):
    """Three coordinates, two particles and four points: values one by one, slopes by central differences."""
    rng = default_rng(13)
    x, Y = rng.normal(size=(2, 3)), rng.normal(size=(2, 4, 3))
    Y[1, 2] = x[1]
    one = lambda a, b: float(k.matrix(a[None], b[None])[0, 0])  # noqa: E731
    near(between(k, x, Y), [[one(x[p], Y[p, j]) for j in range(4)] for p in range(2)])
    X, Z, h = 1.5 * rng.normal(size=(3, 3)), rng.normal(size=(4, 3)), 1e-5
    for function in (slopes, slopes.dispatch(object)):
        found = function(k, X, Z)
        assert found.shape == (3, 4, 3)
        for i, j, axis in itertools.product(range(3), range(4), range(3)):
            e = h * np.eye(3)[axis]
            assert found[i, j, axis] == pytest.approx((one(X[i] + e, Z[j]) - one(X[i] - e, Z[j])) / (2 * h), abs=1e-6)
    near(steps(np.array([[0.3, -4.0], [2.5, 0.0]])), [[1e-6, 4e-6], [2.5e-6, 1e-6]])


# Arguments of gp-pomdp -----------------------------------------------------------------------------------------------


def test_points_spread_over_the_normal():
    """Quantiles of an additive recurrence with powers of the root of x^(d + 1) = x + 1."""
    for d in (1, 2, 3):
        root = max(np.roots([1.0, *[0.0] * (d - 1), -1.0, -1.0]).real)
        expected = [[ndtri((0.5 + n * root**-j) % 1.0) for j in range(1, d + 1)] for n in range(7)]
        near(given.spread(7, d), expected, 1e-9)


def test_deviations_and_positive_matrices():
    assert given.deviations("n", 0.3) == 0.3
    near(given.deviations("n", [0.3, 0.4]), [0.3, 0.4])
    near(given.deviations("n", np.diag([0.09, 0.25, 4.0])), [0.3, 0.5, 2.0])
    for bad in (0.0, [0.3, 0.0], [0.3, -0.1], np.ones((1, 1, 1)), np.nan):
        refused("^GPPOMDP: 'n' must be", given.deviations, "n", bad)
    refused("a diagonal covariance", given.deviations, "n", [[1.0, 0.1], [0.1, 1.0]])
    for off, kept in ((6e-9, True), (8e-9, False)):
        S = np.array([[7.0, 1.0], [1.0 + off, 3.0]])
        near(given.positive("o", "S", S, 2), S) if kept else refused("symmetric", given.positive, "o", "S", S, 2)
    for least, kept in ((8e-12, True), (6e-12, False)):
        S = np.diag([7.0, least])
        near(given.positive("o", "S", S, 2), S) if kept else refused("definite", given.positive, "o", "S", S, 2)
    near(given.positive("o", "S", 0.4, 1), [[0.4]])
    refused(r"shape \(3, 3\)", given.positive, "o", "S", np.eye(2), 3)
    m, S = given.normal("state", (0.2, 0.5))
    near(m, [0.2])
    near(S, [[0.5]])
    for bad in (None, (0.2,), (0.2, 0.5, 0.1), ([[0.2]], 0.5)):
        refused("^GPPOMDP: 'state' must be", given.normal, "state", bad)
    k = Gaussian()
    assert given.covariances("k", k) == (k,)
    assert given.covariances("k", [k, k]) == (k, k)
    for bad in ([], [k, 3], 3, None):
        refused("^GPPOMDP: 'k' must be a covariance", given.covariances, "k", bad)


def test_functions_of_a_model():
    """Means by name and by function, and the number of coordinates of a sensor, from what was given."""
    k, U = Gaussian(), np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.7]])
    made = lambda mean, D, name="transition", prior=(k,), noise=0.3: given.function(  # noqa: E731
        given.Given(name, prior, noise, mean), D, 2
    )
    near(made("state", 2).mean(U), U[:, :2])
    near(made("zero", 3).mean(U), np.zeros((2, 3)))
    near(made(lambda x, a: x * a, 2).mean(U), U[:, :2] * U[:, 2:])
    near(made(lambda x: x[:, 0] - x[:, 1], 1, "observation").mean(U[:, :2]), [[-0.1], [-0.1]])
    near(made(lambda x: 0.7, 2, "observation").mean(U[:, :2]), np.full((2, 2), 0.7))
    refused("a function for 3 coordinates, as a state has 2", made, "state", 3)
    refused("shape", made(lambda x, a: x[:, 0], 2).mean, U)
    refused("finite", made(lambda x, a: np.where(x > 0.3, x, np.nan), 2).mean, U)
    one, listed = made("zero", 2, noise=0.3), made("zero", 2, prior=(k, Gaussian(2.0)), noise=np.array([0.3, 0.5]))
    near(one.noise, [0.09])
    near(listed.noise, [0.09, 0.25])
    assert (len(one.prior), one.outputs, listed.prior) == (1, 2, (k, Gaussian(2.0)))
    both = made("zero", 2, noise=np.array([0.3, 0.5]))
    assert both.prior == (k, k)
    mixed = made("zero", 2, prior=(k, Gaussian(2.0)), noise=0.3)
    near(mixed.noise, [0.09, 0.09])
    for prior, noise, name in (((k, k, k), 0.3, "transition"), ((k,), np.full(3, 0.3), "transition_noise")):
        refused(f"'{name}' must be one, or one for each of 2", made, "zero", 2, "transition", prior, noise)

    start = np.array([0.3, -0.2]), np.array([[0.5, 0.1], [0.1, 0.4]])
    move = given.Given("transition", (k,), 0.3, "state")
    for mean, prior, noise, outputs in (
        ("state", (k,), 0.2, 2), ("zero", (k,), 0.2, 2), ("zero", (k,) * 3, 0.2, 3), ("zero", (k,), np.full(4, 0.2), 4),
        (lambda x: x[:, 0], (k,), 0.2, 1), (lambda x: np.hstack([x, x]), (k,), 0.2, 4), (lambda x: 0.0, (k,), 0.2, 2),
    ):  # fmt: skip
        model = given.model_of(move, given.Given("observation", prior, noise, mean), start)
        assert (model.see.outputs, model.move.outputs) == (outputs, 2)
        near(model.root @ model.root.T, start[1])
        near(model.start, start[0])
    for e, words in ((2, "a vector of 2 numbers, or None"), (1, "a vector of 1 number, or None")):
        seen = given.Given("observation", (k,), 0.2, (lambda x, e=e: x[:, :e]))
        model = given.model_of(move, seen, start)
        near(given.seen_in("o", model, "z", np.arange(1.0, e + 1.0)), np.arange(1.0, e + 1.0))
        assert given.seen_in("o", model, "z", None) is None
        refused(words, given.seen_in, "o", model, "z", np.zeros(3))
    empty = _trajectories.nothing_yet(0, 2)
    near(given.action_in("o", empty, 0.4), [0.4])
    refused("a number or a vector", given.action_in, "o", empty, [[0.4]])
    two = empty.grown(None, None).grown(np.array([1.0, 2.0]), None)
    near(given.action_in("o", two, [0.4, 0.5]), [0.4, 0.5])
    refused("a vector of 2 numbers", given.action_in, "o", two, 0.4)
    refused("a vector of 1 number,", given.action_in, "o", empty.grown(None, None).grown(np.ones(1), None), [1.0, 2.0])


# Trajectories --------------------------------------------------------------------------------------------------------


def test_histories():
    """Three sequences of three, one and two states, numbered through; the last one goes on."""
    a, z, history = np.array([0.4, 0.1]), np.array([0.7]), _trajectories.nothing_yet(0, 1)
    assert (history.length, history.running, history.before.tolist()) == (0, False, [])
    for action, seen in ((None, z), (a, None), (2 * a, 2 * z), (None, 3 * z), (None, None), (3 * a, 4 * z)):
        history = history.grown(action, seen)
    assert (history.length, history.running) == (6, True)
    assert history.first.tolist() == [0, 3, 4]
    assert history.before.tolist() == [0, 1, 4]
    near(history.actions, [a, 2 * a, 3 * a])
    assert history.seen.tolist() == [0, 2, 3, 5]
    near(history.observations, [z, 2 * z, 3 * z, 4 * z])


def test_rows_of_packed_factors():
    """Two particles and three covariances; rounding below the noise is raised to it."""
    rng = default_rng(14)
    L, dense = np.zeros((2, 3, 10)), np.empty((2, 3, 4, 4))
    for p, c in itertools.product(range(2), range(3)):
        M = rng.normal(size=(4, 4))
        dense[p, c] = M @ M.T + 0.5 * np.eye(4)
    for n in range(4):
        rows, variances = np.ascontiguousarray(dense[:, :, n, :n]), np.ascontiguousarray(dense[:, :, n, n])
        _trajectories.add_row(L, rows, variances, np.full(3, 1e-9))
    for p, c in itertools.product(range(2), range(3)):
        near(L[p, c], np.linalg.cholesky(dense[p, c])[np.tril_indices(4)], 1e-10)
    L = np.zeros((1, 2, 3))
    _trajectories.add_row(L, np.zeros((1, 2, 0)), np.ones((1, 2)), np.array([0.04, 0.09]))
    _trajectories.add_row(L, np.ones((1, 2, 1)), np.array([[1.01, 1.1]]), np.array([0.04, 0.09]))
    near(L[0], [[1.0, 1.0, 0.2], [1.0, 1.0, np.sqrt(0.1)]])


def test_weights_after_an_observation():
    """Weights times densities, and the log of their sum; nothing without an observation; moments by sums."""

    class Walk:
        def __init__(self, logs):
            self.logs = np.array(logs)

        def observe(self, z):
            return self.logs * z[0]

    weights = np.array([0.2, 0.5, 0.3])
    kept, gained = _trajectories.observed(Walk([0.0] * 3), weights, None)
    assert kept is weights
    assert gained == 0.0
    new, gained = _trajectories.observed(Walk([-1.0, 0.3, -2.0]), weights, np.array([2.0]))
    densities = weights * np.exp([-2.0, 0.6, -4.0])
    near(new, densities / densities.sum())
    assert gained == pytest.approx(np.log(densities.sum()))
    new, gained = _trajectories.observed(Walk([-1000.0, -1001.0, -np.inf]), weights, np.array([1.0]))
    near(new, np.array([0.2, 0.5 / np.e, 0.0]) / (0.2 + 0.5 / np.e))
    assert gained == pytest.approx(-1000.0 + np.log(0.2 + 0.5 / np.e))
    with pytest.raises(ImpossibleEvidence):
        _trajectories.observed(Walk([-np.inf] * 3), weights, np.array([1.0]))
    X = default_rng(15).normal(size=(3, 4, 2))
    mean, covariance = _trajectories.moments(X, weights)
    for n in range(4):
        m = sum(weights[p] * X[p, n] for p in range(3))
        near(mean[n], m)
        near(covariance[n], sum(weights[p] * np.outer(X[p, n] - m, X[p, n] - m) for p in range(3)))


# Slices --------------------------------------------------------------------------------------------------------------


class Plane:
    """A chart whose coordinates are the states themselves; the likelihood is narrow and not symmetric."""

    def coordinates(self, sample):
        return sample.states.copy()

    def built(self, e):
        class Built:
            @staticmethod
            def sample(weights):
                tag = e.sum(axis=(1, 2))[:, None, None]
                return _trajectories.Sample(e, tag, 2.0 * tag, 3.0 * tag, 4.0 * tag, weights)

        return Built

    def likelihood(self, sample, e):
        return -8.0 * np.sum(np.abs(e - [[0.3, -0.2]]), axis=(1, 2)) + e[:, 0, 0]


def test_a_slice_by_plain_loops():
    """Each particle by itself, with the same random numbers: which angles are tried, and where the bracket shrinks."""
    P, inside = 6, np.array([True, False, True])
    e0 = default_rng(16).normal(size=(P, 3, 2))
    weights, chart = np.full(P, 1.0 / P), Plane()
    sample = _trajectories.Sample._make([x.copy() for x in chart.built(e0).sample(weights)])
    _slices.slice_moved(chart, sample, inside, default_rng(17))

    rng = default_rng(17)
    f, u, angle = rng.standard_normal((P, 3, 2)), rng.random(P), rng.uniform(0.0, 2.0 * math.pi, P)
    level = [chart.likelihood(None, e0[i : i + 1])[0] + np.log(1.0 - u[i]) for i in range(P)]
    low, high, end, left, rounds = list(angle - 2.0 * math.pi), list(angle), [None] * P, list(range(P)), 0
    while left:
        for i in left:
            new = e0[i].copy()
            for t in np.flatnonzero(inside):
                new[t] = e0[i, t] * math.cos(angle[i]) + f[i, t] * math.sin(angle[i])
            if chart.likelihood(None, new[None])[0] > level[i]:
                end[i] = new
            elif angle[i] < 0.0:
                low[i] = angle[i]
            else:
                high[i] = angle[i]
        left = [i for i in left if end[i] is None]
        for i, x in zip(left, rng.uniform([low[i] for i in left], [high[i] for i in left]), strict=True):
            angle[i] = x
        rounds += 1
    assert rounds > 3
    near(sample.states, end)
    for scale, part in zip((1.0, 2.0, 3.0, 4.0), sample[1:-1], strict=True):
        near(part[:, 0, 0], scale * np.sum(end, axis=(1, 2)))


def test_sweeps_move_all_states_and_then_a_run_of_them(monkeypatch):
    """Runs are between two random states, ends included; the chart around the maximum comes first."""
    moved, P = [], 2
    sample = Plane().built(np.zeros((P, 5, 2))).sample(np.full(P, 0.5))
    history = _trajectories.nothing_yet(1, 1)._replace(length=5)
    for whole in ("whole", None):
        moved.clear()
        monkeypatch.setattr(_slices, "around", lambda model, history, whole=whole: whole)
        monkeypatch.setattr(_slices, "slice_moved", lambda chart, s, inside, rng: moved.append((chart, inside)))
        after = _slices.swept(None, history, sample, default_rng(18), 4)
        assert not after.states.flags.writeable
        charts = [chart for chart, _ in moved]
        runs = [inside for chart, inside in moved if isinstance(chart, _slices.Innovations)]
        assert len(runs) == 4
        rng = default_rng(18)
        for inside in runs:
            a, b = sorted(rng.integers(5, size=2))
            assert inside.tolist() == [a <= t <= b for t in range(5)]
        if whole:
            assert charts[::2] == ["whole"] * 4
            assert all(inside.all() for _, inside in moved[::2])
        else:
            assert len(moved) == 4


# Moments of paths ----------------------------------------------------------------------------------------------------


def test_moments_of_drawn_paths_and_checks():
    drawn = default_rng(19).normal(size=(6, 3, 2))
    path = _gp_paths.path_of_samples(drawn)
    near(path.mean, drawn.mean(axis=0))
    near(path.covariance, [np.cov(drawn[:, t].T) for t in range(3)])
    assert path.samples is drawn
    near(_gp_paths.path_of_samples(drawn[:1]).covariance, np.zeros((3, 2, 2)))
    m = np.array([0.3, 0.4])
    for off, kept in ((6e-9, True), (8e-9, False)):
        S = np.array([[7.0, 1.0], [1.0 + off, 3.0]])
        if kept:
            near(_gp_paths.normal("o", m, S)[1], 0.5 * (S + S.T), 1e-15)
        else:
            refused("symmetric", _gp_paths.normal, "o", m, S)
        S = np.diag([7.0, -off])
        near(_gp_paths.normal("o", m, S)[1], S) if kept else refused("negative", _gp_paths.normal, "o", m, S)


def test_processes_that_share_a_factor():
    """Equal covariance and equal noise, in the order of the first of each."""
    a, b = Gaussian(scale=[1.0, 2.0]), Gaussian(scale=3.0)
    found = _gp_moments.shares([a, b, Gaussian(scale=[1.0, 2.0]), b, a], np.array([0.1, 0.2, 0.1, 0.3, 0.2]))
    assert found == [(a, 0.1, [0, 2]), (b, 0.2, [1]), (b, 0.3, [3]), (a, 0.2, [4])]
    assert _gp_moments.shares([a, b, a], 0.4) == [(a, 0.4, [0, 2]), (b, 0.4, [1])]
    near(_gp_moments.squared_scales(a, 2), [1.0, 4.0])
    near(_gp_moments.squared_scales(b, 2), [9.0, 9.0])


def test_products_of_covariances_by_quadrature():
    """E k(x_k, x) l(x_l, x) for x ~ N(mu, S) in the plane, by a Gauss-Hermite rule."""
    k, l = Gaussian(scale=[1.1, 0.8], variance=1.7), Gaussian(scale=[0.9, 2.0], variance=0.4)
    mu, S = np.array([0.2, -0.3]), np.array([[0.3, 0.1], [0.1, 0.2]])
    X = default_rng(20).normal(size=(3, 2))
    z, w = np.polynomial.hermite_e.hermegauss(40)
    grid = mu + np.array(list(itertools.product(z, z))) @ np.linalg.cholesky(S).T
    p = np.prod(list(itertools.product(w / w.sum(), repeat=2)), axis=1)
    near(_gp_moments.products(k, l, X - mu, S), (k(X, grid) * p) @ l(X, grid).T, 1e-9)
