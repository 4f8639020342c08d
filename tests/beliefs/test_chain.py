"""Effective sample size and R-hat of a chain against closed forms, and when a chain warns."""

import warnings

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.beliefs._chain import Diagnostics, PoorMixing, warn_if_poor
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
