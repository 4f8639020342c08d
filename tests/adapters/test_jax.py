"""Batches of GPTD with JAX have the numbers of the beliefs. Skipped where JAX is missing."""

import sys

import numpy as np
import pytest

from bayesrl.adapters.jax import gptd_batch
from bayesrl.beliefs.covariances import Direction, Discrete, Gaussian, Linear, Matern, Polynomial, StateAction
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument, MissingExtra
from bayesrl.value import GPTD, WhiteGPTD

R, n, d = 3, 12, 2
RNG = np.random.default_rng(0)
STATES, REWARDS = RNG.random((R, n + 1, d)), RNG.standard_normal((R, n))
STATES[:, -1] = STATES[:, 0]  # a state that is met twice
QUERY = np.vstack([RNG.random((4, d)), STATES[0, :2]])
COVARIANCES = [
    Gaussian(scale=0.5, variance=2.0),
    Gaussian(scale=[0.5, 2.0]),
    *(Matern(smoothness, scale=0.7) for smoothness in (0.5, 1.5, 2.5)),
    Polynomial(degree=3, offset=0.5),
    Polynomial(degree=2, offset=0.0),
    Discrete(variance=3.0),
    Gaussian(scale=0.3) + Linear(variance=0.5) * Gaussian(scale=2.0),
    StateAction(Matern(scale=0.4), Discrete(variance=2.0), dims=1),
]


@pytest.fixture
def jax():
    return pytest.importorskip("jax")


def posterior(belief):
    return belief.mean(QUERY), belief.variance(QUERY), belief.log_evidence()


def agree(batch, beliefs):
    for found, expected in zip(batch, map(np.array, zip(*map(posterior, beliefs), strict=True)), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("k", COVARIANCES, ids=repr)
def test_equal_to_beliefs(jax, k):
    agree(
        gptd_batch(k, STATES, REWARDS, QUERY, noise=0.3, gamma=0.9),
        [GPTD(k, 0.3, 0.9).update_many(both) for both in zip(STATES, REWARDS, strict=True)],
    )


@pytest.mark.parametrize("residuals, model", [("coloured", GPTD), ("white", WhiteGPTD)])
@pytest.mark.parametrize("gamma", [0.0, 0.9, 1.0])
def test_ends_and_residuals(jax, residuals, model, gamma):
    k = Gaussian(scale=0.5)
    ended = [
        [Transition(x[t], 0, float(r[t]), x[t + 1], terminated=t == n - 1) for t in range(n)]
        for x, r in zip(STATES, REWARDS, strict=True)
    ]
    found = gptd_batch(k, STATES[:, :n], REWARDS, QUERY, 0.2, gamma, residuals)
    agree(found, [model(k, 0.2, gamma).update_many(log) for log in ended])
    found = gptd_batch(k, STATES, REWARDS, QUERY, 0.2, gamma, residuals)
    agree(found, [model(k, 0.2, gamma).update_many(both) for both in zip(STATES, REWARDS, strict=True)])


def test_grids(jax):
    """A covariance for each row, with a noise of its own; the user's precision stays as it was."""
    grid, noise = [Gaussian(scale=s) for s in (0.3, 0.6, 1.2)], [0.1, 0.2, 0.3]
    precision = jax.config.jax_enable_x64
    found = gptd_batch(grid, STATES, REWARDS, QUERY, noise)
    assert jax.config.jax_enable_x64 == precision
    assert [x.shape for x in found] == [(3, R, len(QUERY)), (3, R, len(QUERY)), (3, R)]
    for i in range(3):
        alone = gptd_batch(grid[i], STATES, REWARDS, QUERY, noise[i])
        for many, one in zip(found, alone, strict=True):
            np.testing.assert_allclose(many[i], one, atol=1e-9)


BAD = {
    "states": [{"states": STATES[:, :5]}, {"states": STATES[0]}, {"states": STATES * np.nan}],
    "rewards": [{"rewards": REWARDS[:2]}],
    "query": [{"query": QUERY[:, :1]}],
    "noise": [{"noise": -1.0}, {"noise": 1e140}, {"noise": [0.1, 0.2]}, {"noise": 0.0, "gamma": 0.0}],
    "gamma": [{"gamma": 1.5}],
    "residuals": [{"residuals": "pink"}],
    "covariance": [{"covariance": Direction()}, {"covariance": [Gaussian(), Matern()]}, {"covariance": []}],
}


@pytest.mark.parametrize("name, changed", [(name, one) for name, ones in BAD.items() for one in ones])
def test_bad_input(jax, name, changed):
    states = STATES.copy()
    states[:, 1] = states[:, 0]  # without noise, and with discount 0, a singular covariance
    given = {"covariance": Gaussian(), "states": states, "rewards": REWARDS, "query": QUERY} | changed
    with pytest.raises(InvalidArgument, match=f"gptd_batch: '{name}' must be"):
        gptd_batch(**given)


def test_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(MissingExtra, match=r"gptd_batch needs jax, which is not installed: pip install bayesrl\[jax\]"):
        gptd_batch(Gaussian(), STATES, REWARDS, QUERY)
