"""What the three ascents give to their optimiser: the first point, the loss and its gradient, and what they return."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.special import softmax

import bayesrl as b
from bayesrl.models.mdp import TabularMDP
from bayesrl.risk import Measure, percentile
from bayesrl.risk import _static_max_min as _static
from bayesrl.risk._moments import objective, uncertain_model
from bayesrl.risk._rectangular import scenarios_of
from bayesrl.risk.local_ascent import DrawnModels, ascended, worth_and_gradient

S, A = 3, 4


@pytest.fixture
def asked(monkeypatch):
    """Calls of scipy's `minimize`; it returns its first point, moved by 0.3 in one coordinate."""
    calls = []

    def minimize(loss, first, **options):
        calls.append((loss, np.array(first), options))
        return SimpleNamespace(x=first + 0.3 * (np.arange(len(first)) == 1))

    monkeypatch.setattr("scipy.optimize.minimize", minimize)
    return calls


def assert_gradient(loss, at, value):
    """The loss is `value` of the soft-max policy, and its gradient that of finite differences."""
    found, gradient = loss(at)
    assert found == pytest.approx(value(softmax(at.reshape(S, A), axis=1)), rel=1e-9)
    for i in range(S * A):
        step = 1e-6 * (np.arange(S * A) == i)
        assert gradient[i] == pytest.approx((loss(at + step)[0] - loss(at - step)[0]) / 2e-6, abs=1e-7)


def moved(first):
    return softmax((first + 0.3 * (np.arange(S * A) == 1)).reshape(S, A), axis=1)


def test_the_ascent_of_the_percentile(asked):
    """Logits of nine tenths of the start and a tenth of the uniform policy; the gain over the start, in units."""
    rng = default_rng(0)
    model = TabularMDP.from_dense(np.full((S, A, S), 1.0 / S), 7.0 * rng.normal(size=(S, A)), 0.83, [0.2, 0.5, 0.3])
    belief = b.DirichletMDP(model.outcomes.flat(), rng.uniform(0.5, 4.0, (S * A, S)), 0.83)
    m, start = uncertain_model("test", belief), np.eye(A)[[2, 0, 3]]
    unit = percentile.scale(m)
    for z in (0.0, 1.3):
        end = percentile.ascended(start, m, z)
        loss, first, _ = asked.pop()
        np.testing.assert_allclose(softmax(first.reshape(S, A), axis=1), 0.9 * start + 0.025, rtol=1e-12)
        np.testing.assert_allclose(end, moved(first), rtol=1e-12)
        before = objective(start, m, z)
        assert_gradient(loss, rng.normal(size=S * A), lambda mu, z=z, F=before: (F - objective(mu, m, z)) / unit)


def test_rewards_of_a_belief_that_says_nothing_about_them_are_known():
    """With the covariances of rows alone, the variances of rewards are zero; all else is that of the whole belief."""
    rng = default_rng(3)
    model = TabularMDP.from_dense(np.full((S, A, S), 1.0 / S), rng.normal(size=(S, A)), 0.83, [0.2, 0.5, 0.3], [1])
    belief = b.DirichletMDP(model.outcomes.flat(), rng.uniform(0.5, 4.0, (S * A, S)), 0.83)
    told = ("gamma", "n_states", "n_actions", "outcomes", "mean_mdp", "row_covariance")
    found = uncertain_model("test", SimpleNamespace(**{name: getattr(belief, name) for name in told}))
    assert found.reward_covariance.tolist() == [0.0] * (S * A)
    for mine, other in zip(found, uncertain_model("test", belief), strict=True):
        np.testing.assert_array_equal(mine, other)


def test_the_ascent_of_a_measure(asked):
    """The same start for every start; minus the measure, in units of the range of rewards over 1 - gamma.

    The result is the best of the starts, the ends, and the ends without their small probabilities.
    """
    rng = default_rng(1)
    d = DrawnModels(
        rng.dirichlet(np.ones(S), (6, S, A)), 7.0 * rng.normal(size=(6, S, A)), np.array([0.2, 0.5, 0.3]), 0.83
    )
    measure, unit = Measure.cvar(0.4), np.ptp(d.r) / 0.17
    starts = [np.eye(A)[[2, 0, 3]], rng.dirichlet(np.ones(A), S), np.eye(A)[[1, 1, 0]]]
    best = ascended(starts, d, measure)
    tried = list(starts)
    assert len(asked) == len(starts)
    for start, (loss, first, _) in zip(starts, asked, strict=True):
        np.testing.assert_allclose(softmax(first.reshape(S, A), axis=1), 0.9 * start + 0.025, rtol=1e-12)
        assert_gradient(loss, rng.normal(size=S * A), lambda mu: -worth_and_gradient(mu, d, measure)[0] / unit)
        rounded = np.where(moved(first) < 1e-3, 0.0, moved(first))
        tried += [moved(first), rounded / rounded.sum(axis=1, keepdims=True)]
    worth = [worth_and_gradient(mu, d, measure)[0] for mu in tried]
    np.testing.assert_allclose(best, tried[int(np.argmax(worth))], rtol=1e-12)


def test_the_ascent_of_static_max_min(asked):
    """Maximise t, in units: t is below every return, rows sum to one; both with their derivatives."""
    rng, start = default_rng(2), np.array([0.2, 0.5, 0.3])
    P, R = rng.dirichlet(np.ones(S), (5, S, A)), 7.0 * rng.normal(size=(5, S, A))
    models = tuple(TabularMDP.from_dense(p, r, 0.83, start=start) for p, r in zip(P, R, strict=True))
    d = _static.dense_of(scenarios_of(models), start, np.zeros(S, bool))
    unit, starts = _static.scale_of(d), [rng.dirichlet(np.ones(A), S), np.eye(A)[[2, 0, 3]]]
    best = _static.ascend(d, starts)
    tried = list(starts)
    for mu, (goal, first, options) in zip(starts, asked, strict=True):
        np.testing.assert_allclose(first, [*mu.ravel(), _static.worst_return(d, mu) / unit], rtol=1e-12)
        z = np.append(rng.dirichlet(np.ones(A), S).ravel() * 1.1, 0.37)
        assert goal(z) == -0.37
        assert options["jac"](z).tolist() == [0.0] * (S * A) + [-1.0]
        above, sums = options["constraints"]
        assert (above["type"], sums["type"]) == ("ineq", "eq")
        policy = z[:-1].reshape(S, A)
        chains = np.eye(S) - 0.83 * np.einsum("sa,jsay->jsy", policy, P)
        returns = [start @ np.linalg.solve(chain, (policy * r).sum(axis=1)) for chain, r in zip(chains, R, strict=True)]
        np.testing.assert_allclose(above["fun"](z), np.array(returns) / unit - 0.37, rtol=1e-9)
        np.testing.assert_allclose(sums["fun"](z), 0.1, rtol=1e-9)
        for constraint in (above, sums):
            slopes = constraint["jac"](z)
            for i in range(S * A + 1):
                step = 1e-6 * (np.arange(S * A + 1) == i)
                slope = (constraint["fun"](z + step) - constraint["fun"](z - step)) / 2e-6
                np.testing.assert_allclose(slopes[:, i], slope, atol=1e-7)
        end = (first + 0.3 * (np.arange(S * A + 1) == 1))[:-1].reshape(S, A)
        tried.append(end / end.sum(axis=1, keepdims=True))
    worth = [_static.worst_return(d, mu) for mu in tried]
    np.testing.assert_allclose(best, tried[int(np.argmax(worth))], rtol=1e-12)
