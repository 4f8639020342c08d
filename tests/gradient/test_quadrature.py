"""Bayesian quadrature: its integrals are integrals, its posterior is dense conditioning, its error bars hold."""

import numpy as np
import pytest
from scipy import integrate, stats

from bayesrl.beliefs.covariances import Gaussian, Linear
from bayesrl.errors import Incompatible, InvalidArgument
from bayesrl.gradient import GaussianMeasure, UniformMeasure, bayesian_quadrature

K = Gaussian(scale=[0.7, 1.6], variance=2.5)
X = np.random.default_rng(0).normal(size=(6, 2))
NORMAL = GaussianMeasure([0.3, -0.2], [[0.5, 0.2], [0.2, 0.8]])
BOX = UniformMeasure([-1.0, 0.2], [0.5, 2.0])


def integrals(measure):
    """b and b_0 by numerical integration, with nothing but the covariance and the density."""
    if isinstance(measure, UniformMeasure):
        t, v = np.polynomial.legendre.leggauss(24)
        x = [0.5 * (b - a) * t + 0.5 * (a + b) for a, b in zip(BOX.low, BOX.high, strict=True)]
        w = [0.5 * v, 0.5 * v]
    else:
        t, v = np.polynomial.hermite_e.hermegauss(40)
        x, w = [t, t], [v / v.sum()] * 2
    grid = np.stack(np.meshgrid(*x, indexing="ij"), -1).reshape(-1, 2)
    weight = np.outer(*w).ravel()
    if isinstance(measure, GaussianMeasure):
        grid = measure.mean + grid @ np.linalg.cholesky(measure.covariance).T
    return K(X, grid) @ weight, weight @ K(grid, grid) @ weight


@pytest.mark.parametrize("measure", [NORMAL, BOX], ids=["gaussian", "uniform"])
def test_integrals_of_the_covariance(measure):
    b, b_0 = integrals(measure)
    np.testing.assert_allclose(measure.expectation(K, X), b, rtol=1e-8)
    assert measure.double_expectation(K) == pytest.approx(b_0, rel=1e-8)


@pytest.mark.parametrize("measure", [NORMAL, BOX], ids=["gaussian", "uniform"])
@pytest.mark.parametrize("noise, prior_mean", [(0.0, 0.0), (0.4, 1.5)])
def test_equal_to_dense_conditioning(measure, noise, prior_mean):
    b, b_0 = integrals(measure)
    y = np.random.default_rng(1).normal(size=6)
    C = np.linalg.inv(K(X, X) + noise**2 * np.eye(6))
    found = bayesian_quadrature(X, y, K, measure, noise, prior_mean)
    np.testing.assert_allclose(found.weights, C @ b, rtol=1e-6)
    assert found.mean == pytest.approx(prior_mean + b @ C @ (y - prior_mean), rel=1e-6)
    assert found.variance == pytest.approx(b_0 - b @ C @ b, rel=1e-5)


def test_a_smooth_function_is_integrated():
    """Twelve values of cos give its mean under N(0, 1), e^-1/2, to four places; Monte Carlo would be off by .1."""
    x = np.linspace(-3.0, 3.0, 12)
    found = bayesian_quadrature(x, np.cos(x), Gaussian(scale=1.5), GaussianMeasure(0.0, 1.0))
    assert found.mean == pytest.approx(np.exp(-0.5), abs=1e-4)
    grid = UniformMeasure(0.0, 2.0)
    found = bayesian_quadrature(np.linspace(0.0, 2.0, 8), np.exp(np.linspace(0.0, 2.0, 8)), Gaussian(scale=1.0), grid)
    assert found.mean == pytest.approx(integrate.quad(np.exp, 0.0, 2.0)[0] / 2.0, abs=1e-3)


@pytest.mark.parametrize("measure", [NORMAL, BOX], ids=["gaussian", "uniform"])
def test_calibrated(measure):
    """Values and integral drawn together from the prior, with integrals computed numerically: squared errors over
    posterior variances are chi-square. False alarm 1e-6 each; variances wrong by a third are found."""
    b, b_0 = integrals(measure)
    joint = np.block([[K(X, X) + 0.09 * np.eye(6), b[:, None]], [b[None], np.array([[b_0]])]])
    drawn = np.random.default_rng(2).multivariate_normal(np.zeros(7), joint, size=1000)
    found = [bayesian_quadrature(X, d[:6], K, measure, 0.3) for d in drawn]
    total = sum((d[6] - f.mean) ** 2 / f.variance for d, f in zip(drawn, found, strict=True))
    low, high = stats.chi2(1000).ppf([5e-7, 1 - 5e-7])
    assert low < total < high


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: GaussianMeasure([0.0], [[0.0]]), "GaussianMeasure: 'covariance' must be symmetric and positive def"),
        (lambda: GaussianMeasure([0.0, 0.0], [[1.0, 0.5], [0.0, 1.0]]), "GaussianMeasure: 'covariance' must be symm"),
        (lambda: UniformMeasure([0.0], [0.0]), "UniformMeasure: 'high' must be greater than 'low' in every coordinate"),
        (
            lambda: bayesian_quadrature(X, np.ones(5), K, NORMAL),
            "bayesian_quadrature: 'values' must be an array of shape (6,)",
        ),
        (lambda: bayesian_quadrature(X, np.full(6, np.nan), K, NORMAL), "bayesian_quadrature: 'values' must be finite"),
        (
            lambda: bayesian_quadrature(X, np.ones(6), K, NORMAL, noise=-1.0),
            "bayesian_quadrature: 'noise' must be at least 0, got -1.0.",
        ),
        (
            lambda: bayesian_quadrature([1.0, 1.0], [1.0, 2.0], Gaussian(), UniformMeasure(0.0, 1.0)),
            "bayesian_quadrature: 'noise' must be large enough to tell the data apart",
        ),
        (lambda: bayesian_quadrature(X, np.ones(6), K, None), "bayesian_quadrature: 'measure' must be a GaussianMeas"),
        (
            lambda: bayesian_quadrature(X[:, :1], np.ones(6), Gaussian(), NORMAL),
            "Gaussian.expectation: 'X' must be points of 2 coordinates",
        ),
    ],
)
def test_bad_input(call, sentence):
    with pytest.raises(InvalidArgument) as caught:
        call()
    assert str(caught.value).startswith(sentence)


def test_other_covariances_are_refused():
    with pytest.raises(Incompatible, match="needs a covariance with 'expectation', which Linear lacks"):
        bayesian_quadrature(X, np.ones(6), Linear(), NORMAL)


def test_defaults_of_the_quadrature():
    """No noise, prior mean zero."""
    y = np.arange(6.0)
    plain, said = bayesian_quadrature(X, y, K, NORMAL), bayesian_quadrature(X, y, K, NORMAL, 0.0, 0.0)
    assert (plain.mean, plain.variance) == (said.mean, said.variance)


@pytest.mark.parametrize("S", [[[1.0, 0.5], [0.5 + 1e-8, 1.0]], [[1.0, 1.0], [1.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]]])
def test_a_normal_law_has_a_positive_definite_covariance(S):
    with pytest.raises(InvalidArgument, match="symmetric and positive definite"):
        GaussianMeasure([0.0, 0.0], S)
    GaussianMeasure([0.0, 0.0], [[1.0, 0.5], [0.5 + 5e-10, 1.0]])
    for high in ([1.0, 0.0], [1.0, -1.0]):
        with pytest.raises(InvalidArgument, match="greater than 'low' in every coordinate"):
            UniformMeasure([0.0, 0.0], high)


def test_covariances_may_round():
    """Asymmetry of a billionth of the largest entry is rounding, more is refused."""
    for off, fine in ((2.9e-9, True), (3.1e-9, False)):
        S = np.array([[3.0, 0.5 + off], [0.5, 1.0]])
        if fine:
            GaussianMeasure([0.0, 1.0], S)
        else:
            with pytest.raises(InvalidArgument, match="'covariance' must be symmetric and positive definite"):
                GaussianMeasure([0.0, 1.0], S)
