"""Effective sample size and R-hat of a chain against closed forms, and when a chain warns."""

import inspect
import warnings

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.beliefs.chain import Diagnostics, PoorMixing, effective_sample_size, split_r_hat, warn_if_poor
from bayesrl.parameters import unchecked

LINE = b.TabularMDP.from_dense([[[1, 0], [0, 1]], [[1, 0], [0, 1]]], [0.0, 0.0], gamma=0.9)


def diagnosed(x):
    """The diagnostics of a belief with these draws (n, 2)."""
    return unchecked(b.inverse.BIRL(LINE), draws=np.asarray(x, float)).diagnostics()


def test_split_r_hat_by_hand():
    """Halves 0, 2, 0, 2 and 1, 5, 1, 5 (a draw in the middle belongs to none): W = 10/3 and B = 2."""
    x = np.array([0.0, 2.0, 0.0, 2.0, 9.0, 1.0, 5.0, 1.0, 5.0])
    jump = np.repeat([1.0, 3.0], [4, 5])
    r_hat = diagnosed(np.column_stack([x, jump])).r_hat
    assert r_hat[0] == pytest.approx(np.sqrt(3 / 4 + 2.0 / (10 / 3)))
    assert r_hat[1] == np.inf
    assert diagnosed(np.ones((9, 2))).r_hat.tolist() == [1.0, 1.0]
    assert diagnosed([[0.0, 1.0], [2.0, 3.0], [0.0, 1.0], [2.0, 3.0]]).r_hat == pytest.approx(np.sqrt([0.5, 0.5]))
    assert diagnosed([[0.0, 1.0], [2.0, 3.0], [5.0, 6.0]]).r_hat.tolist() == [1.0, 1.0]  # too short to say


def test_effective_sample_size_of_autoregressions():
    """Of x_t = r x_(t-1) + noise it is n (1 - r) / (1 + r); 40,000 draws estimate that to a tenth."""
    rng, n = default_rng(0), 40_000
    noise, x = rng.normal(size=(n, 2)), np.zeros((n, 2))
    for t in range(1, n):
        x[t] = np.array([0.5, -0.4]) * x[t - 1] + noise[t]
    sizes = diagnosed(x).effective_sample_size
    np.testing.assert_allclose(sizes, n * np.array([0.5 / 1.5, 1.4 / 0.6]), rtol=0.1)
    odd = diagnosed(x[:1001] + 1e3).effective_sample_size  # an odd number; the mean does not matter
    np.testing.assert_allclose(odd, diagnosed(x[:1001]).effective_sample_size, rtol=1e-6)
    assert diagnosed(np.ones((50, 2))).effective_sample_size.tolist() == [50.0, 50.0]
    assert diagnosed(x[:3]).effective_sample_size.tolist() == [3.0, 3.0]
    turns = np.column_stack([np.tile([1.0, -1.0], 50)] * 2)  # at most n log10 n
    assert diagnosed(turns).effective_sample_size == pytest.approx(200.0)


def plain_sample_size(x):
    """n / (1 + 2 sum rho_t) of one series by loops: pairs of autocorrelations until one is negative, none rising."""
    n, z = len(x), x - sum(x) / len(x)
    rho = [sum(z[i] * z[i + t] for i in range(n - t)) / sum(z * z) for t in range(n)]
    total, before = 0.0, np.inf
    for t in range(0, n - 1, 2):
        if rho[t] + rho[t + 1] < 0.0:
            break
        before = min(before, rho[t] + rho[t + 1])
        total += before
    return min(n / max(2.0 * total - 1.0, 1.0 / n), n * np.log10(max(n, 10)))


@pytest.mark.parametrize("n", [4, 5, 6, 9, 10, 12, 13, 30, 31])
def test_effective_sample_size_by_loops(n):
    """Smooth, rough, growing and alternating series, from four draws on, an odd and an even number."""
    rng = default_rng(n)
    x = np.column_stack(
        [rng.normal(size=n), np.cumsum(rng.normal(size=n)), 3.0 + 0.3 * np.arange(n) ** 2.0, (-0.7) ** np.arange(n)]
    )
    turning = np.tile([1.0, -1.0], n)[:n] + 0.1 * rng.normal(size=n)
    x = np.column_stack([x, turning, np.sin(np.arange(n) / 3.0)])
    np.testing.assert_allclose(effective_sample_size(x), [plain_sample_size(y) for y in x.T], rtol=1e-9)


def test_what_counts_as_constant():
    """A column is constant if its variance is at most 1e-14 of its largest square, also where means are rounded."""
    turn = np.tile([1.0, -1.0, -1.0], 15)
    turn -= turn.mean()
    turn /= turn.std()
    for far in (1.0, 1e5):
        for size, constant in ((0.97e-7, True), (1.03e-7, False)):
            x = far * (1.0 + size * turn)[:, None]
            assert (effective_sample_size(x)[0] == 45.0) == constant
    columns = np.column_stack([np.zeros(45), np.full(45, 0.1), np.full(45, -1e-9), turn])
    assert not np.all(columns[:, 1] == columns[:, 1].mean())
    np.testing.assert_allclose(effective_sample_size(columns), [45.0, 45.0, 45.0, plain_sample_size(turn)])
    np.testing.assert_allclose(split_r_hat(columns)[:3], 1.0, rtol=0.0)

    # Halves of ten draws each, whose variance and whose means are in units of the largest draw, 1000.
    swing = np.tile([1.0, -1.0], 5) * np.sqrt(0.9)  # variance 1, as nine degrees of freedom are left

    def halves(within, apart):
        first, last = -within * swing, apart * np.sqrt(2.0) + within * swing
        return split_r_hat(1e3 * (1.0 + np.append(first, last)[:, None]))[0]

    assert halves(0.97e-7, 0.97e-7) == 1.0
    assert halves(0.97e-7, 1.03e-7) == np.inf
    assert halves(1.03e-7, 0.97e-7) == pytest.approx(np.sqrt(0.9 + (0.97 / 1.03) ** 2), rel=1e-6)
    assert halves(1.03e-7, 1.03e-7) == pytest.approx(np.sqrt(1.9), rel=1e-6)


@pytest.mark.parametrize("unit", [1e-20, 1e20])
def test_the_unit_does_not_matter(unit):
    x = default_rng(1).normal([0.0, 5.0], 1.0, (60, 2))
    one, other = diagnosed(x), diagnosed(unit * x)
    np.testing.assert_allclose(other.effective_sample_size, one.effective_sample_size, rtol=1e-9)
    np.testing.assert_allclose(other.r_hat, one.r_hat, rtol=1e-9)


GOOD = Diagnostics(np.array([20.0, 90.0]), np.array([1.1, 1.0]), 0.5, 200)


@pytest.mark.parametrize(
    "changed, word",
    [
        ({}, None),
        ({"acceptance": np.nan}, None),
        ({"acceptance": 0.01}, None),
        ({"acceptance": 0.999}, None),
        ({"acceptance": 0.0099}, "accepted"),
        ({"acceptance": 0.9991}, "accepted"),
        ({"effective_sample_size": np.array([90.0, 19.9])}, "200 draws are worth 20 independent ones"),
        ({"r_hat": np.array([1.0, 1.11])}, "R-hat 1.11"),
        ({"effective_sample_size": np.array([2.0]), "draws": 199}, None),
        ({"r_hat": np.array([3.0]), "draws": 199}, None),
        ({"effective_sample_size": np.zeros(0), "r_hat": np.zeros(0)}, None),
    ],
)
def test_when_a_chain_warns(changed, word):
    """At the limits there is no warning: 1% and 99.9% accepted, 20 of at least 200 draws, R-hat 1.1."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        warn_if_poor("Chain", GOOD._replace(**changed))
    if word is None:
        assert said == []
    else:
        assert said[0].category is PoorMixing
        assert word in str(said[0].message)


@pytest.mark.parametrize(
    "acceptance, advice",
    [
        (np.nan, "take more sweeps"),
        (0.1, "take more sweeps"),
        (0.9, "take more sweeps"),
        (0.0995, "take more sweeps or a smaller 'step' (9.95% of the proposals were accepted)"),
        (0.9125, "take more sweeps or a larger 'step' (91.2% of the proposals were accepted)"),
    ],
)
def test_the_advice_of_a_warning(acceptance, advice):
    """The whole sentence, which points to the line that called the method: a step is advised below 10% or above 90%."""

    def method(found):
        warn_if_poor("Chain", found)

    few, apart = {"effective_sample_size": np.array([3.0])}, {"r_hat": np.array([1.5])}
    worth = "200 draws are worth 3 independent ones"
    for changed, why in ((few, worth), (apart, "the halves of the chain disagree (R-hat 1.50)"), (few | apart, worth)):
        found = GOOD._replace(acceptance=acceptance, **changed)
        with pytest.warns(PoorMixing) as said:
            method(found)
        line = inspect.currentframe().f_lineno - 1
        assert (str(said[0].message), said[0].filename, said[0].lineno) == (f"Chain: {why}; {advice}.", __file__, line)


@pytest.mark.parametrize("acceptance, share, step", [(0.0061, "0.61", "smaller"), (0.9999, "100", "larger")])
def test_proposals_that_are_all_alike(acceptance, share, step):
    """Nearly none or nearly all accepted: only the step is advised, whatever else is wrong."""
    with pytest.warns(PoorMixing) as said:
        warn_if_poor("Chain", GOOD._replace(acceptance=acceptance, r_hat=np.array([1.5])))
    assert str(said[0].message) == f"Chain: {share}% of the proposals were accepted; take a {step} 'step'."
