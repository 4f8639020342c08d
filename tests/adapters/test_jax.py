"""Batches of GPTD with JAX have the numbers of the beliefs.

Each test runs on JAX, where it is installed, and on a stand-in: NumPy under JAX's names, with loops in place of `vmap`.
"""

import sys
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import scipy.linalg

from bayesrl.adapters import jax as adapter
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


def looped(function, in_axes=0):
    """`vmap` as a loop over the first axis of the arguments that are mapped."""

    def mapped(*args):
        axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
        assert set(axes) <= {0, None}
        (length,) = {len(x) for x, axis in zip(args, axes, strict=True) if axis == 0}
        found = [
            function(*(x if axis is None else x[i] for x, axis in zip(args, axes, strict=True))) for i in range(length)
        ]
        return tuple(map(np.array, zip(*found, strict=True))) if isinstance(found[0], tuple) else np.array(found)

    return mapped


def factor(A):
    """A Cholesky factor; nan, as JAX has it, if the matrix is not positive."""
    try:
        return np.linalg.cholesky(A)
    except np.linalg.LinAlgError:
        return np.full(A.shape, np.nan)


def stand_in():
    """Modules named as those of JAX that the adapter reads."""
    jax, numpy, linalg = ModuleType("jax"), ModuleType("jax.numpy"), ModuleType("jax.scipy.linalg")
    vars(numpy).update(
        {k: v for k, v in vars(np).items() if not k.startswith("__")}, linalg=SimpleNamespace(cholesky=factor)
    )
    linalg.solve_triangular = lambda L, b, lower: scipy.linalg.solve_triangular(L, b, lower=lower, check_finite=False)
    jax.config = SimpleNamespace(jax_enable_x64=False)

    @contextmanager
    def enable_x64(new=True):
        jax.config.jax_enable_x64, before = new, jax.config.jax_enable_x64
        yield
        jax.config.jax_enable_x64 = before

    def jit(function):
        def call(*args):
            assert jax.config.jax_enable_x64, "in double precision"
            return function(*args)

        return call

    jax.numpy, jax.vmap, jax.jit, jax.enable_x64 = numpy, looped, jit, enable_x64
    scipy_ = ModuleType("jax.scipy")
    return {"jax": jax, "jax.numpy": numpy, "jax.scipy": scipy_, "jax.scipy.linalg": linalg}


@pytest.fixture(params=["jax", "numpy"])
def jax(request, monkeypatch):
    if request.param == "jax":
        yield pytest.importorskip("jax")
        return
    adapter._compiled.cache_clear()
    modules = stand_in()
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    with np.errstate(all="ignore"):
        yield modules["jax"]
    adapter._compiled.cache_clear()


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


def test_double_precision_in_older_versions(monkeypatch):
    """Where `jax.enable_x64` is missing, that of `jax.experimental` is used."""
    experimental = ModuleType("jax.experimental")
    experimental.enable_x64 = lambda: "older"
    monkeypatch.setitem(sys.modules, "jax", ModuleType("jax"))
    monkeypatch.setitem(sys.modules, "jax.experimental", experimental)
    assert adapter._double(sys.modules["jax"]) == "older"


def test_shapes_noise_and_parts(jax):
    """Another noise for each covariance or one for all; a list of one has an axis of its own; kinds must agree."""
    k, other = Gaussian(scale=0.5), Gaussian(scale=[0.5, 0.7])
    one = gptd_batch(k, STATES, REWARDS, QUERY, 0.4, 0.7)
    assert [x.shape for x in one] == [(R, len(QUERY)), (R, len(QUERY)), (R,)]
    listed = gptd_batch([k], STATES, REWARDS, QUERY, [0.4], 0.7)
    assert [x.shape for x in listed] == [(1, R, len(QUERY)), (1, R, len(QUERY)), (1, R)]
    for many, alone in zip(listed, one, strict=True):
        np.testing.assert_array_equal(many[0], alone)
    same = gptd_batch([k, Gaussian(scale=0.9)], STATES, REWARDS, QUERY, 0.4, 0.7)
    np.testing.assert_allclose(same.mean[0], one.mean, atol=1e-9)
    for kinds in ([k, other], [Matern(0.5), Matern(1.5)], [Polynomial(2), Polynomial(3)], [k + k, k * k]):
        with pytest.raises(InvalidArgument, match="one, or some that differ in hyper-parameters only"):
            gptd_batch(kinds, STATES, REWARDS, QUERY)
    assert (one.variance >= 0.0).all()


@pytest.mark.parametrize("closeness, good", [(1e-6, True), (1e-9, False), (0.0, False)])
def test_points_that_cannot_be_told_apart(jax, closeness, good):
    """Without noise and with discount 0 the data are values: two that nearly agree make the covariance singular."""
    states = STATES[:, :3].copy()
    states[:, 1] = states[:, 0] + closeness
    if good:
        found = gptd_batch(Matern(0.5), states, REWARDS[:, :2], QUERY, 0.0, 0.0)
        assert np.isfinite(found.mean).all()
        return
    with pytest.raises(
        InvalidArgument, match=r"'noise' must be large enough to tell the data apart, got .* need noise\."
    ):
        gptd_batch(Gaussian(), states, REWARDS[:, :2], QUERY, 0.0, 0.0)


def test_states_that_agree_in_one_part_are_different(jax):
    """Whole numbers, of which many agree in one of two parts; the query too."""
    states, query = np.array(RNG.integers(0, 3, (R, n + 1, d)), float), np.array([[0.0, 1.0], [2.0, 2.0], [1.0, 0.0]])
    k = Discrete(variance=3.0)
    found = gptd_batch(k, states, REWARDS, query, 0.3, 0.8)
    for i in range(R):
        belief = GPTD(k, 0.3, 0.8).update_many((states[i], REWARDS[i]))
        np.testing.assert_allclose(found.mean[i], belief.mean(query), atol=1e-8)
        np.testing.assert_allclose(found.variance[i], belief.variance(query), atol=1e-8)


def test_the_share_that_is_left_of_each_variance(jax):
    """The least square of a pivot over the variance of its datum, for coloured and white residuals."""
    k, gamma, v = Gaussian(scale=0.6, variance=1.7), 0.83, 0.04
    X = STATES[0, :5]
    H = np.eye(4, 5) - gamma * np.eye(4, 5, 1)
    for coloured in (True, False):
        noise = H @ H.T if coloured else np.eye(4)
        A = H @ k.matrix(X, X) @ H.T + v * noise
        pivots = np.linalg.cholesky(A).diagonal()
        with adapter._double(jax):
            run = adapter._compiled(adapter._kind(k), coloured)
            args = np.array([k.parameters]), np.array([v]), gamma, X[None], REWARDS[:1, :4], QUERY
            share = np.asarray(run(*args)[3])
        np.testing.assert_allclose(share, [[(pivots**2 / A.diagonal()).min()]], rtol=1e-9)


def test_the_least_share_that_is_accepted(jax, monkeypatch):
    """More than four rounding errors for each datum."""
    limit = 4.0 * np.finfo(float).eps * n
    for share, good in ((np.nextafter(limit, 1.0), True), (limit, False), (np.nan, False)):
        numbers = np.ones((1, R, 2)), -np.ones((1, R, 2)), np.ones((1, R)), np.array([[1.0, share, 1.0]])
        monkeypatch.setattr(adapter, "_compiled", lambda *_, numbers=numbers: lambda *_: numbers)
        if good:
            assert not gptd_batch(Gaussian(), STATES, REWARDS, QUERY).variance.any()  # not below zero
        else:
            with pytest.raises(InvalidArgument, match="'noise' must be large enough"):
                gptd_batch(Gaussian(), STATES, REWARDS, QUERY)
    monkeypatch.undo()


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
