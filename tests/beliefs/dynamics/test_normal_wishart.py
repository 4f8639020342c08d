"""Normal-Wishart: parameters, predictive and evidence against constants, quadrature and the normal-gamma."""

import itertools
import pickle

import numpy as np
import pytest
from numpy.random import default_rng
from own_probes import check_belief
from scipy import stats
from scipy.special import multigammaln

from bayesrl.beliefs import NormalWishart, RewardNormal
from bayesrl.errors import InvalidArgument
from bayesrl.testing import assert_mean_equal, assert_quantiles

DATA = np.array([[0.5, 1.2], [-0.3, 0.4], [1.1, 2.0]])


def prior():
    return NormalWishart([0.0, 1.0], 2.0, 4.0, [[2.0, 0.3], [0.3, 1.0]])


def wide(d, seed):
    rng = default_rng(seed)
    A = rng.standard_normal((d, d + 2))
    return NormalWishart(rng.standard_normal(d), 0.7, d + 0.4, A @ A.T), rng.standard_normal((5, d))


def log_constant(belief):
    """log of the integral of |Lambda|^((nu - d) / 2) exp(-(tr Psi Lambda + kappa (mu - m)' Lambda (mu - m)) / 2)."""
    d, nu = len(belief.mean), belief.degrees
    wishart = 0.5 * nu * d * np.log(2.0) + multigammaln(0.5 * nu, d) - 0.5 * nu * np.linalg.slogdet(belief.scatter)[1]
    return wishart + 0.5 * d * np.log(2.0 * np.pi / belief.strength)


def evidence(before, after, n):
    return log_constant(after) - log_constant(before) - 0.5 * n * len(before.mean) * np.log(2.0 * np.pi)


def test_values_of_the_reference():
    belief = prior()
    for x in DATA:
        belief = belief.update(x)
    np.testing.assert_allclose(belief.mean, [0.26, 1.12], atol=1e-12)
    np.testing.assert_allclose(belief.scatter, [[3.212, 1.524], [1.524, 2.328]], atol=1e-12)
    assert (belief.strength, belief.degrees) == (5.0, 7.0)
    assert belief.log_evidence() == pytest.approx(-6.7812286, abs=5e-8)
    assert belief.log_predictive([0.7, 0.9]) == pytest.approx(-1.5924340, abs=6e-8)
    np.testing.assert_allclose(belief.expected_covariance(), belief.scatter / 4.0, rtol=1e-15)


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_ratios_of_normalising_constants_in_any_order(d):
    first, data = wide(d, d)
    for order in itertools.islice(itertools.permutations(range(5)), 0, 120, 17):
        belief, total = first, 0.0
        for x in data[list(order)]:
            after = belief.update(x)
            assert belief.log_predictive(x) == pytest.approx(evidence(belief, after, 1), abs=1e-9)
            total, belief = total + belief.log_predictive(x), after
        at_once = first.update_many(data)
        for one in (belief, at_once):
            np.testing.assert_allclose(one.mean, at_once.mean, rtol=1e-9)
            np.testing.assert_allclose(one.scatter, at_once.scatter, rtol=1e-9)
            assert (one.strength, one.degrees) == (pytest.approx(5.7), pytest.approx(d + 5.4))
            assert one.log_evidence() == pytest.approx(evidence(first, one, 5), abs=1e-9)
            assert one.log_evidence() == pytest.approx(total, abs=1e-9)


def test_predictive_is_students():
    belief, x = wide(3, 5)[0], np.array([0.3, -1.0, 2.0])
    f = belief.degrees - 2.0
    shape = belief.scatter * (belief.strength + 1.0) / (belief.strength * f)
    expected = stats.multivariate_t(belief.mean, shape, f).logpdf(x)
    assert belief.log_predictive(x) == pytest.approx(expected, abs=1e-10)


def test_quadrature_over_the_precision():
    """Given a precision, the predictive is normal with (1 + 1 / kappa) / precision; in one and in two dimensions."""
    m, kappa, nu, psi = 0.3, 1.5, 3.0, 2.0
    one = NormalWishart(m, kappa, nu, psi)
    lam = np.exp(np.linspace(-25.0, 6.0, 6000))
    weight = stats.gamma(0.5 * nu, scale=2.0 / psi).pdf(lam) * lam
    p = stats.norm(m, np.sqrt((1.0 + 1.0 / kappa) / lam)).pdf(1.1) @ weight / weight.sum()
    assert np.exp(one.log_predictive(1.1)) == pytest.approx(p, rel=1e-5)
    two = NormalWishart([0.0, 1.0], 2.0, 6.0, np.diag([2.0, 1.0]))
    x = np.array([0.7, 0.4])  # Lambda = (a, b; b, c) with b = r sqrt(ac): quadrature over a, c and r
    ac, da = np.polynomial.legendre.leggauss(70)
    logs, r = 5.5 * ac - 1.5, np.polynomial.legendre.leggauss(40)
    a, c, rho = np.meshgrid(np.exp(logs), np.exp(logs), r[0], indexing="ij")
    volume = da[:, None, None] * da[None, :, None] * r[1] * a * c * np.sqrt(a * c)
    det = a * c * (1.0 - rho**2)
    density = det ** (0.5 * (6.0 - 3.0)) * np.exp(-0.5 * (2.0 * a + c)) * volume
    off = x - two.mean
    square = a * off[0] ** 2 + c * off[1] ** 2 + 2.0 * rho * np.sqrt(a * c) * off[0] * off[1]
    likelihood = np.sqrt(det) / (2.0 * np.pi * 1.5) * np.exp(-0.5 * square / 1.5)
    assert np.exp(two.log_predictive(x)) == pytest.approx((density * likelihood).sum() / density.sum(), rel=1e-5)


def test_one_dimension_is_the_normal_gamma_of_reward_normal():
    belief, cells = NormalWishart(0.3, 2.0, 5.0, 1.4), RewardNormal(*(np.full(1, x) for x in (0.3, 2.0, 2.5, 0.7)))
    for x in (1.0, -0.4, 2.5, 0.1):
        belief, cells = belief.update(x), cells.update(((0,), x))
        assert belief.mean[0] == pytest.approx(cells.mean_[0], rel=1e-12)
        assert belief.strength == cells.strength[0]
        assert 0.5 * belief.degrees == cells.shape[0]
        assert 0.5 * belief.scatter[0, 0] == pytest.approx(cells.rate[0], rel=1e-12)
    variance = belief.expected_covariance()[0, 0] / belief.strength
    assert cells.reward_variances()[0] == pytest.approx(variance, rel=1e-12)


@pytest.mark.long
def test_laws():
    """False-alarm rate: 1e-6 for each statistical law. The registered dynamics obey them in the short suite too."""
    check_belief(prior().update_many(DATA), rng=default_rng(1))


def test_draws_have_the_moments_and_quantiles_of_the_predictive():
    """40,000 draws; false-alarm rate 1e-6 each. They detect a scale that is off by 3 per cent."""
    belief, rng = NormalWishart([0.0, 1.0], 2.0, 8.0, [[2.0, 0.3], [0.3, 1.0]]), default_rng(2)
    x = belief.draw(rng, 40_000)
    assert_mean_equal(x, belief.mean, what="mean")
    off = x - belief.mean
    expected = belief.expected_covariance() * 1.5
    assert_mean_equal(off[:, :, None] * off[:, None, :], expected, what="covariance")
    levels, f = np.array([0.05, 0.5, 0.95]), 7.0
    scale = np.sqrt(np.diagonal(belief.scatter) * 1.5 / f)
    assert_quantiles(x, levels, belief.mean + stats.t(f).ppf(levels)[:, None] * scale)


def test_values_are_copied_and_kept():
    m, Psi = np.zeros(2), np.eye(2)
    belief = NormalWishart(m, 1.0, 3.0, Psi)
    m[0] = Psi[0, 0] = 9.0
    assert belief == NormalWishart([0.0, 0.0], 1.0, 3.0, np.eye(2)) == pickle.loads(pickle.dumps(belief))
    after = belief.update([1.0, 2.0])
    assert belief.mean.tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="read-only"):
        after.scatter[0, 0] = 1.0


@pytest.mark.parametrize("changed, said", [
    ({"strength": 0.0}, "'strength' must be greater than 0"),
    ({"strength": np.nan}, "'strength' must be"),
    ({"degrees": 1.0}, "'degrees' must be greater than d - 1 = 1"),
    ({"scatter": [[1.0, 0.5], [0.2, 1.0]]}, "'scatter' must be a symmetric"),
    ({"scatter": [[1.0, 1.0], [1.0, 1.0]]}, "'scatter' must be a positive definite"),
    ({"scatter": [[1.0, 2.0], [2.0, 1.0]]}, "'scatter' must be a positive definite"),
    ({"scatter": 1.0}, "'scatter' must be an array of shape"),
    ({"scatter": [[np.nan, 0.0], [0.0, 1.0]]}, "'scatter' must be finite"),
    ({"mean": [[0.0, 1.0]]}, "'mean' must be a number or a vector"),
    ({"mean": [0.0, np.inf]}, "'mean' must be finite"),
    ({"mean": "x"}, "'mean' must be an array"),
])  # fmt: skip
def test_bad_parameters(changed, said):
    with pytest.raises(InvalidArgument, match=said):
        NormalWishart(**({"mean": [0.0, 1.0], "strength": 1.0, "degrees": 3.0, "scatter": np.eye(2)} | changed))


def test_bad_data_and_infinite_expectations():
    belief = NormalWishart([0.0, 1.0], 2.0, 3.0, np.eye(2))
    for x in ([np.nan, 0.0], [0.0], [0.0, 1.0, 2.0], "x", None, [[0.0, 1.0]]):
        for call in (belief.update, belief.log_predictive):
            with pytest.raises(InvalidArgument):
                call(x)
    with pytest.raises(InvalidArgument, match=r"greater than d \+ 1 = 3, or E\[Sigma\] is infinite, got 3.0"):
        belief.expected_covariance()
    with pytest.raises(InvalidArgument, match="stays positive definite"):
        belief.update([1e99, 1e99])
    with pytest.raises(InvalidArgument, match="'rng' must be"):
        belief.sample(None)
    with pytest.raises(InvalidArgument, match="'n' must be"):
        belief.draw(default_rng(0), 0)
