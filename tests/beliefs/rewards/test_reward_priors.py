"""Priors over weights of rewards against scipy and closed forms: densities, slopes, draws by inversion, refusals."""

import numpy as np
import pytest
from numpy.random import default_rng
from scipy import stats

from bayesrl.beliefs.rewards.reward_priors import (
    FinitePrior,
    GaussianPrior,
    LaplacePrior,
    UniformPrior,
    check_prior,
    finite,
)
from bayesrl.errors import InvalidArgument


class CutLaplace:
    """exp(-|w| / (2 scale)) on an interval, by sums of exponential distribution functions."""

    def __init__(self, scale, low, high):
        self.free, self.low, self.high = stats.laplace(scale=2.0 * scale), low, high
        self.mass = self.free.cdf(high) - self.free.cdf(low)

    def logpdf(self, x):
        return self.free.logpdf(x) - np.log(self.mass)

    def cdf(self, x):
        return (self.free.cdf(x) - self.free.cdf(self.low)) / self.mass


def cut_normal(mean, scale, low, high):
    return stats.truncnorm((low - mean) / scale, (high - mean) / scale, mean, scale)


def cases():
    """Priors that are made inside the tests, and their laws."""
    yield UniformPrior(-0.7, 2.3), stats.uniform(-0.7, 3.0), False
    for box in ((0.3, 0.7), (0.3, 0.7, -1.1, 0.9), (-0.4, 1.7, 0.5, 2.5), (0.6, 1.3, -3.0, -1.2), (0.2, 0.5, 0.2, 1.9)):
        low, high = box[2:] or (-np.inf, np.inf)
        yield GaussianPrior(*box), cut_normal(*box[:2], low, high), low > box[0]
    for box in ((0.8, -1.3, 0.6), (0.3, 0.1, 2.0), (0.7, -3.0, -0.5)):
        yield LaplacePrior(*box), CutLaplace(*box), False


def test_densities_and_slopes_of_three_weights():
    """A product over weights; minus infinity as soon as one is outside; the ends belong to the box."""
    for prior, law, _ in cases():
        low, high = max(prior.low, -4.0), min(prior.high, 4.0)
        w = low + np.array([0.21, 0.48, 0.93]) * (high - low)
        assert prior.log_density(w) == pytest.approx(law.logpdf(w).sum(), rel=1e-9)
        h = 1e-6 * np.eye(3)
        slope = [(law.logpdf(w + e).sum() - law.logpdf(w - e).sum()) / 2e-6 for e in h]
        np.testing.assert_allclose(prior.gradient(w), slope, rtol=1e-6, atol=1e-7)
        for end in (prior.low, prior.high):
            if np.isfinite(end):
                assert prior.log_density([w[0], end]) == pytest.approx(law.logpdf([w[0], end]).sum(), rel=1e-9)
                beyond = np.nextafter(end, 2.0 * end - w[0])
                assert prior.log_density([w[0], beyond, w[1]]) == -np.inf
    assert LaplacePrior().gradient([0.0, 0.5, -0.5]).tolist() == [0.0, -1.0, 1.0]


def test_draws_invert_the_distribution_function():
    """One random number for each weight: its share of the mass, counted from above in the upper tail of a normal."""
    for prior, law, from_above in cases():
        found, u = prior.draw(500, default_rng(3)), default_rng(3).random(500)
        np.testing.assert_allclose(law.cdf(found), 1.0 - u if from_above else u, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_far_tails_are_accurate(sign):
    """From 30 to 31 standard deviations: the mass of the interval is 4.9e-198, by the asymptotic series of the tail."""
    prior = GaussianPrior(sign * -2.0, 0.5, *sorted((sign * 13.0, sign * 13.5)))
    z = 30.0 + 0.2
    tail = np.log1p(-1 / 900 + 3 / 30**4 - 15 / 30**6 + 105 / 30**8) - 450.0 - np.log(30.0 * np.sqrt(2.0 * np.pi))
    expected = -(z**2) / 2.0 - np.log(0.5 * np.sqrt(2.0 * np.pi)) - tail  # the other end has e^-30.5 of it
    assert prior.log_density([sign * (0.5 * z - 2.0)]) == pytest.approx(expected, abs=1e-9)
    found = np.abs(prior.draw(4000, default_rng(0)))
    assert found.min() >= 13.0
    assert found.max() <= 13.5
    # Beyond 30 the tail falls as exp(-30 x): the mean excess is 0.5 / 30.03; false alarm 1e-6 is five errors of .00026.
    assert abs(found.mean() - 13.0 - 0.5 / 30.0333) < 5 * 0.0167 / np.sqrt(4000)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("box", [(0.0, 1e-300), (-1e-300, 0.0), (1e160, 2e160), (-2e160, -1e160)])
def test_an_interval_without_probability_is_refused(box):
    """Its ends are equal for the distribution function, or beyond all numbers: one sentence, and no warning before."""
    with pytest.raises(InvalidArgument, match="GaussianPrior: 'low' must be such that the interval has probability"):
        GaussianPrior(0.0, 1.0, *box)


def test_finitely_many_weights():
    """Equal vectors add up; draws take the vector whose interval holds the random number."""
    vectors, p = [[0.5, -1.5], [2.0, 0.3], [0.5, -1.5], [-0.7, 0.9]], [0.1, 0.4, 0.3, 0.2]
    prior = FinitePrior(vectors, p)
    assert (prior.low, prior.high) == (-1.5, 2.0)
    assert prior.log_density([0.5, -1.5]) == pytest.approx(np.log(0.4))
    assert prior.log_density([-0.7, 0.9]) == pytest.approx(np.log(0.2))
    assert prior.log_density([0.5, 0.3]) == -np.inf
    rng, same = default_rng(4), default_rng(4)
    for _ in range(40):
        u = same.random()
        k = 0 if u < 0.1 else 1 if u < 0.5 else 2 if u < 0.8 else 3
        assert prior.draw(2, rng).tolist() == vectors[k]
    assert FinitePrior(vectors).probabilities.tolist() == [0.25] * 4
    assert finite(prior) is prior
    assert finite(UniformPrior()) is None
    assert check_prior("f", "prior", prior, 2) is prior
    for n in (1, 3):
        with pytest.raises(InvalidArgument, match=f"f: 'prior' must be over {n} weights"):
            check_prior("f", "prior", prior, n)
        with pytest.raises(InvalidArgument, match="'n' must be"):
            prior.draw(n, rng)
    for wrong in (UniformPrior, FinitePrior, None, 3.0):
        with pytest.raises(InvalidArgument, match="f: 'prior' must be a prior over weights"):
            check_prior("f", "prior", wrong, 2)


@pytest.mark.parametrize("kind", [UniformPrior, GaussianPrior, LaplacePrior])
def test_boxes(kind):
    """The ends are numbers, kept as floats; the lower one is below the upper one."""
    made = kind(low=np.int64(-2), high=3)
    assert (made.low, made.high, type(made.low), type(made.high)) == (-2.0, 3.0, float, float)
    for name, x in (("low", True), ("low", np.nan), ("low", "0"), ("high", None), ("high", False), ("high", [1.0])):
        with pytest.raises(InvalidArgument, match=f"{kind.__name__}: '{name}' must be"):
            kind(**{"low": -1.0, "high": 2.0} | {name: x})
    for low in (2.0, 2.5):
        with pytest.raises(InvalidArgument, match=f"{kind.__name__}: 'low' must be below high, 2"):
            kind(low=low, high=2.0)
    for call in (lambda: made.draw(-1, default_rng(0)), lambda: made.draw(2, 0), lambda: made.log_density([[0.0]])):
        with pytest.raises(InvalidArgument, match="must be"):
            call()
    assert made.draw(0, default_rng(0)).shape == (0,)


@pytest.mark.parametrize("kind", [UniformPrior, GaussianPrior, LaplacePrior])
def test_ends_that_are_long_integers(kind):
    """Beyond 64 bits they are numbers like others; beyond floating point they are refused."""
    assert kind(low=-(2**70), high=2**70).high == 2.0**70
    for bad in (10**400, -(10**400)):
        with pytest.raises(InvalidArgument, match="'high' must be"):
            kind(low=-1.0, high=bad)
