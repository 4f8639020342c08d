"""GPRL in two coordinates and at its edges, against regression, quadrature and its own fixed point."""

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.beliefs import GPRegression
from bayesrl.beliefs.covariances import Gaussian
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.value import GPRL

GRID = np.array([[x, y] for x in np.linspace(-1.0, 1.0, 5) for y in np.linspace(-2.0, 2.0, 5)])
PUSHES = np.array([[-0.5, 0.0], [0.0, 1.0], [0.5, -0.3]])


def plane(n=40, listed=True):
    """Pushes in a plane; actions by number or as vectors."""
    rng = default_rng(5)
    found = []
    for _ in range(n):
        s, a = rng.uniform([-1.0, -2.0], [1.0, 2.0]), int(rng.integers(3))
        y = 0.9 * s + PUSHES[a] + 0.01 * rng.standard_normal(2)
        found.append(Transition(s, a if listed else PUSHES[a], 0.0, y))
    return found


def solver(**how):
    given = {"width": [0.3, 0.6], "gamma": 0.7, "noise": 0.02, "covariance": Gaussian(scale=[0.5, 1.0]), "jitter": 1e-3}
    given |= {"dynamics": Gaussian(scale=[1.0, 2.0, 1.0, 2.0]), "fit": False, "fit_dynamics": False, **how}
    return GPRL(GRID, PUSHES, [0.5, -0.4], **given)


@pytest.mark.parametrize("mean", ["state", "zero"])
def test_one_process_for_each_coordinate(mean):
    """Regression on rows (state, action); the prior mean is the state or zero; numbers and vectors of actions agree."""
    gprl, log = solver(mean=mean), plane()
    model, other = gprl.learn_model(log), gprl.learn_model(plane(listed=False))
    rows = np.array([[*t.observation, *PUSHES[t.action]] for t in log])
    asked = np.array([[0.1, 0.2], [-0.8, 1.5]])
    for a in PUSHES:
        found, variance = model.predictive(asked, a)
        np.testing.assert_allclose(found, other.predictive(asked, a)[0], rtol=1e-12)
        for i in range(2):
            y = np.array([t.next_observation[i] - (t.observation[i] if mean == "state" else 0.0) for t in log])
            process = GPRegression(gprl.dynamics, 0.02).update_many((rows, y))
            z = np.column_stack([asked, np.tile(a, (2, 1))])
            expected = process.mean(z) + (asked[:, i] if mean == "state" else 0.0)
            np.testing.assert_allclose(found[:, i], expected, rtol=1e-9)
            np.testing.assert_allclose(variance[:, i], process.variance(z) + 0.02**2, rtol=1e-9, atol=1e-15)


def test_expectations_by_quadrature():
    """E of the reward and of k_v over independent normal coordinates, by Gauss-Hermite sums of 60 x 60 nodes."""
    gprl = solver(noise=0.1)
    model = gprl.learn_model(plane())
    R, W = gprl.expectations(model, GRID[:3])
    t, v = np.polynomial.hermite_e.hermegauss(60)
    nodes = np.array([[a, b] for a in t for b in t])
    chance = np.outer(v, v).ravel() / v.sum() ** 2
    for i, j in ((0, 0), (1, 2), (2, 1)):
        mean, variance = model.predictive(GRID[i : i + 1], PUSHES[j])
        y = mean[0] + np.sqrt(variance[0]) * nodes
        reward = np.exp(-0.5 * np.sum(((y - [0.5, -0.4]) / [0.3, 0.6]) ** 2, axis=1))
        assert R[i, j] == pytest.approx(chance @ reward, rel=1e-8)
        np.testing.assert_allclose(W[i, j], chance @ gprl.covariance(y, GRID), rtol=1e-7)


@pytest.mark.parametrize("gamma", [0.3, 0.7])
def test_kept_backups_are_a_fixed_point(gamma):
    """V = max_a q(V), kept between 0 and 1 / (1 - gamma), where q = R + gamma W (K_v + jitter)^-1 V."""
    gprl = solver(gamma=gamma)
    found = gprl.solve(plane(), default_rng(0))
    R, W = gprl.expectations(found.model, GRID)
    K = gprl.covariance(GRID, GRID) + 1e-3 * np.eye(25)
    q = R + gamma * W @ np.linalg.solve(K, found.values)
    np.testing.assert_allclose(found.q, q, atol=1e-8)
    np.testing.assert_allclose(np.clip(q.max(axis=1), 0.0, 1.0 / (1.0 - gamma)), found.values, atol=1e-4)
    np.testing.assert_array_equal(found.policy, q.argmax(axis=1))
    assert found.values.max() > 0.5
    there = found.action_values(GRID[7:9] + 0.1)
    for row, s in zip(there, GRID[7:9] + 0.1, strict=True):
        decision = found.act(found.start(), s, default_rng(0))
        np.testing.assert_allclose(decision.info["q"], row, rtol=1e-9)
        assert decision.action == int(row.argmax())


def test_values_stay_in_their_range():
    """A process that overshoots: without the range the backups would leave it, below and above."""
    gprl = solver(covariance=Gaussian(scale=[2.0, 4.0]), jitter=1e-9, gamma=0.9)
    rng = default_rng(0)
    R, W = 10.0 * rng.random((25, 3)), 30.0 * rng.normal(size=(25, 3, 25))
    V, settled = gprl._evaluated(R, W, np.zeros(25, np.int64), np.zeros(25))
    assert not settled
    assert (V.min(), V.max()) == (0.0, pytest.approx(10.0))


def test_the_covariance_of_values_is_refitted():
    """`fit` replaces k_v by that of the largest evidence of the values, with the jitter as noise."""
    gprl = solver(fit=True)
    found = gprl.solve(plane(), default_rng(0))
    V = solver().solve(plane(), default_rng(0)).values
    process = GPRegression(gprl.covariance).update_linear(GRID, np.eye(25), V, 1e-3 * np.eye(25))
    expected = process.fit(default_rng(0), starts=1).prior_covariance
    assert gprl._refitted(V, default_rng(0)).covariance == expected
    assert found.solver.covariance != gprl.covariance
    np.testing.assert_array_equal(found.solver.support, GRID)


def test_dynamics_are_fitted_if_asked():
    fitted, plain = (solver(fit_dynamics=f).learn_model(plane(), default_rng(0)) for f in (True, False))
    assert len(plain.data) == 1
    for one in fitted.data:
        assert one.log_evidence() > 0.5 * plain.log_evidence() + 1.0  # as if both processes shared it equally
    assert (plain.noise, plain.covariance) == (0.02, (solver().dynamics,) * 2)


def test_defaults_and_refusals():
    gprl = GPRL(np.linspace(0.0, 1.0, 3), [0.0, 1.0], 0.5)
    assert (gprl.dynamics, gprl.covariance) == (Gaussian(scale=[1.0, 1.0]), Gaussian(scale=1.0))
    assert (gprl.support.shape, gprl.actions.shape, gprl.target.tolist()) == ((3, 1), (2, 1), [0.5])
    for bad, said in (
        (lambda: solver().learn_model([1]), "at least one transition"),
        (lambda: solver().learn_model([Transition([0.0, 0.0], 3, 0.0, [0.0, 0.0])]), "'action' must be"),
        (lambda: solver().learn_model([Transition([0.0, 0.0], -1, 0.0, [0.0, 0.0])]), "'action' must be"),
        (lambda: solver().learn_model([Transition([0.0, 0.0], [1.0], 0.0, [0.0, 0.0])]), "'action' must be"),
        (lambda: solver().learn_model([Transition([0.0], 0, 0.0, [0.0, 0.0])]), "a vector of 2 numbers"),
        (lambda: solver().solve(plane()).action_values([[1.0]]), "points of 2 coordinates"),
        (lambda: solver(jitter=1e-99, covariance=Gaussian(scale=[1e3, 1e3])).solve(plane()), "'jitter' must be large"),
    ):
        with pytest.raises(InvalidArgument, match=said):
            bad()
