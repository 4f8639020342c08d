"""The best stationary policy for a measure, on drawn models: gradients, a grid of policies, its starts."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.risk import Measure
from bayesrl.risk.local_ascent import DrawnModels, ascended, drawn, merged, worth_and_gradient

MEASURES = [Measure.cvar(0.1), Measure.mean(), Measure.k_of_n(2, 7)]
P = [[[5, 1], [2, 5]], [[5, 1], [3, 7]]]


@pytest.fixture(scope="module")
def models():
    """The two-state problem of the facts: its counts are those of the belief; 300 models."""
    mdp = b.TabularMDP.from_dense(np.full((2, 2, 2), 0.5), [[0.0, -2.0], [3.0, 2.0]], 0.9)
    return drawn(b.DirichletMDP.structured(mdp, concentration=np.reshape(P, (4, 2))), 300, default_rng(0))


def naive(mu, d, measure):
    """Solve each model by itself."""
    returns = []
    for P, r in zip(d.P, d.r, strict=True):
        P_mu, r_mu = (P * mu[:, :, None]).sum(1), (r * mu).sum(1)
        returns.append(d.start @ np.linalg.solve(np.eye(len(mu)) - d.gamma * P_mu, r_mu))
    return measure.value(returns)


@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_worth_and_gradient(models, measure):
    rng = default_rng(1)
    mu = rng.dirichlet([1.0, 1.0], 2)
    worth, gradient = worth_and_gradient(mu, models, measure)
    assert worth == pytest.approx(naive(mu, models, measure), abs=1e-10)
    for s in range(2):  # along the simplex
        step = np.zeros((2, 2))
        step[s] = 1e-6, -1e-6
        slope = (naive(mu + step, models, measure) - naive(mu - step, models, measure)) / 2e-6
        assert gradient[s, 0] - gradient[s, 1] == pytest.approx(slope, abs=1e-5)


@pytest.mark.parametrize("measure", MEASURES[:2], ids=str)
def test_no_policy_of_a_grid_is_better(models, measure):
    found = ascended([np.eye(2), np.full((2, 2), 0.5)], models, measure)
    worth = worth_and_gradient(found, models, measure)[0]
    p = np.linspace(0.0, 1.0, 21)
    grid = [worth_and_gradient(np.array([[x, 1 - x], [y, 1 - y]]), models, measure)[0] for x in p for y in p]
    assert worth >= max(grid) - 1e-6
    assert found.sum(axis=1) == pytest.approx(1.0)
    assert found.min() >= 0.0


def test_a_tail_prefers_a_mixed_policy(models):
    found = ascended([np.full((2, 2), 0.5)], models, Measure.cvar(0.1))
    vertices = [np.eye(2)[[i, j]] for i in (0, 1) for j in (0, 1)]
    best = max(worth_and_gradient(mu, models, Measure.cvar(0.1))[0] for mu in vertices)
    assert worth_and_gradient(found, models, Measure.cvar(0.1))[0] > best + 0.01


def test_it_is_never_below_a_start(models):
    best = ascended([np.full((2, 2), 0.5)], models, Measure.mean())
    again = ascended([best], models, Measure.mean())
    worth = [worth_and_gradient(mu, models, Measure.mean())[0] for mu in (best, again)]
    assert worth[1] >= worth[0]


def test_one_model_is_solved(models):
    alone = DrawnModels(models.P[:1], models.r[:1], models.start, 0.9)
    optimal = b.solve(b.TabularMDP.from_dense(alone.P[0], alone.r[0], 0.9))
    found = ascended([np.full((2, 2), 0.5)], alone, Measure.cvar(0.3))
    assert worth_and_gradient(found, alone, Measure.mean())[0] == pytest.approx(optimal.values[0], abs=1e-5)


def test_states_without_visits_keep_the_first_start():
    # State 1 is left and never entered; it is not the start.
    P = np.zeros((1, 2, 2, 2))
    P[:, :, :, 0] = 1.0
    r = np.array([[[0.0, 1.0], [2.0, 3.0]]])
    first = np.array([[1.0, 0.0], [0.3, 0.7]])
    found = ascended([first], DrawnModels(P, r, np.array([1.0, 0.0]), 0.5), Measure.mean())
    assert found[0] == pytest.approx([0.0, 1.0], abs=1e-3)
    assert found[1].tolist() == [0.3, 0.7]


def test_equal_actions_are_merged():
    belief = b.DirichletMDP.structured(b.make_world("inventory-binomial"))
    d, mu = drawn(belief, 20, default_rng(4)), default_rng(3).dirichlet(np.ones(6), 6)
    new = merged(mu, d)
    assert new[4] == pytest.approx([mu[4, 0], 1.0 - mu[4, 0], 0, 0, 0, 0])  # orders stop at the capacity
    assert new[0] == pytest.approx(mu[0])  # six different orders
    assert worth_and_gradient(new, d, MEASURES[0])[0] == pytest.approx(worth_and_gradient(mu, d, MEASURES[0])[0])


def test_ends_are_also_tried_without_small_probabilities(monkeypatch):
    """An ascent that stops just short of the best deterministic policy: that policy itself is returned."""
    rng = default_rng(6)
    d = DrawnModels(rng.dirichlet(np.ones(3), (1, 3, 4)), rng.normal(size=(1, 3, 4)), np.array([0.2, 0.5, 0.3]), 0.7)
    best = np.eye(4)[np.asarray(b.solve(b.TabularMDP.from_dense(d.P[0], d.r[0], 0.7)).policy)]
    stopped = SimpleNamespace(x=12.0 * best.ravel())
    monkeypatch.setattr("scipy.optimize.minimize", lambda *args, **options: stopped)
    assert ascended([np.full((3, 4), 0.25)], d, Measure.cvar(0.3)).tolist() == best.tolist()


def test_a_visited_state_may_have_an_action_that_is_worth_nothing():
    """All actions of state 0 lead to an end without rewards; the first pays nothing, and is the start."""
    P = np.zeros((1, 2, 3, 2))
    P[:, :, :, 1] = 1.0
    r = np.array([[[0.0, -1.0, 2.0], [0.0, 0.0, 0.0]]])
    found = ascended([np.eye(3)[[0, 0]]], DrawnModels(P, r, np.array([1.0, 0.0]), 0.5), Measure.mean())
    assert found[0] == pytest.approx([0.0, 0.0, 1.0], abs=1e-3)
