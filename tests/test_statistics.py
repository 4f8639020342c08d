"""Intervals against scipy.stats, at the edges, and by their coverage."""

import json
from itertools import product

import numpy as np
import pytest
import scipy.stats

from bayesrl.errors import InvalidArgument
from bayesrl.statistics import (
    Interval,
    independent_difference,
    mean_band,
    mean_interval,
    paired_difference,
)


@pytest.mark.parametrize("n", [2, 3, 30, 500])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_mean_interval_is_students(n, confidence):
    x = np.random.default_rng(n).gamma(2.0, 50.0, n)
    theirs = scipy.stats.t.interval(confidence, n - 1, x.mean(), scipy.stats.sem(x))
    ours = mean_interval(x, confidence)
    np.testing.assert_allclose([ours.mean, ours.low, ours.high], [x.mean(), *theirs], rtol=1e-12)
    assert ours.n == n
    assert ours.half_width == pytest.approx((theirs[1] - theirs[0]) / 2)


def test_one_run_says_nothing_about_its_spread():
    alone = mean_interval([386.0])
    assert alone == Interval(386.0, -np.inf, np.inf, 1)
    assert json.loads(json.dumps(alone.to_json(), allow_nan=False)) == {
        "mean": 386.0,
        "low": None,
        "high": None,
        "n": 1,
    }


def test_equal_values_have_no_width():
    x = np.full(10, 0.1)  # their float mean is not 0.1
    assert mean_interval(x) == Interval(0.1, 0.1, 0.1, 10)
    assert mean_interval(x).to_json() == {"mean": 0.1, "low": 0.1, "high": 0.1, "n": 10}


def test_coverage_for_few_runs():
    # Of 20000 intervals from five normal values, 95% cover. Four standard deviations of that count: false alarm 6e-5;
    # detects a coverage off by .01, such as that of a normal instead of a t quantile (.878) or of n for n - 1.
    x = np.random.default_rng(1).normal(3.0, 2.0, (20000, 5))
    mean, half = mean_band(x)
    covered = (np.abs(mean - 3.0) <= half).mean()
    assert abs(covered - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 20000)


def test_band_is_the_interval_of_each_row():
    x = np.random.default_rng(2).normal(size=(7, 11))
    mean, half = mean_band(x, 0.9)
    for t in range(7):
        each = mean_interval(x[t], 0.9)
        assert (mean[t], half[t]) == (each.mean, pytest.approx(each.half_width))


def test_paired_difference_cancels_what_is_shared():
    rng = np.random.default_rng(3)
    luck = rng.normal(0.0, 100.0, 50)
    x, y = luck + 1.0 + rng.normal(0.0, 0.1, 50), luck
    paired, independent = paired_difference(x, y), independent_difference(x, y)
    assert paired.low > 0.9
    assert paired.high < 1.1
    assert independent.low < 0.0 < independent.high
    assert paired.mean == pytest.approx(independent.mean)


def test_independent_difference_is_welchs():
    rng = np.random.default_rng(4)
    x, y = rng.normal(1.0, 3.0, 12), rng.normal(0.0, 1.0, 40)
    theirs = scipy.stats.ttest_ind(x, y, equal_var=False).confidence_interval(0.9)
    ours = independent_difference(x, y, 0.9)
    np.testing.assert_allclose([ours.low, ours.high], [theirs.low, theirs.high], rtol=1e-12)
    assert ours.n == 12
    assert independent_difference([1.0], [2.0, 3.0]) == Interval(-1.5, -np.inf, np.inf, 1)
    assert independent_difference([3.0, 3.0], [1.0, 1.0]) == Interval(2.0, 2.0, 2.0, 2)


@pytest.mark.parametrize(
    "x, sentence",
    [
        ([], "mean_interval: 'x' must be a non-empty array, got an array of shape (0,)."),
        ([[1.0]], "mean_interval: 'x' must be an array of shape (any,), got an array of shape (1, 1)."),
        ([1.0, np.nan], "mean_interval: 'x' must be finite everywhere, got nan. First at index 1."),
        (["a"], "mean_interval: 'x' must be an array of numbers, got ['a']."),
    ],
)
def test_bad_values(x, sentence):
    with pytest.raises(InvalidArgument) as error:
        mean_interval(x)
    assert str(error.value) == sentence


def test_bad_confidence_and_unequal_lengths():
    with pytest.raises(InvalidArgument, match=r"'confidence' must be in \(0, 1\), got 1\.0\."):
        mean_interval([1.0], 1.0)
    with pytest.raises(InvalidArgument, match=r"'y' must be of length 2, as x is, got an array of shape \(1,\)\."):
        paired_difference([1.0, 2.0], [1.0])


@pytest.mark.parametrize(("m", "n"), list(product((1, 2, 3), repeat=2)))
def test_a_difference_is_the_other_one_turned_round(m, n):
    """For samples of any sizes: it is known if both have two values, and its size is the smaller one."""
    x, y = np.random.default_rng(0).normal(size=m), np.random.default_rng(1).normal(size=n)
    one, other = independent_difference(x, y), independent_difference(y, x)
    assert one.n == other.n == min(m, n)
    assert np.isfinite(one.half_width) == (min(m, n) > 1)
    np.testing.assert_allclose([one.mean, one.low, one.high], [-other.mean, -other.high, -other.low], rtol=1e-12)
