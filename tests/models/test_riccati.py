"""The Riccati equation against plain iteration, the stationary covariance, SciPy and the facts."""

import warnings

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.linalg import solve_discrete_are, solve_discrete_lyapunov

from bayesrl.continuous import lq_solution
from bayesrl.errors import InvalidArgument, NotConverged
from bayesrl.models.riccati import eliminate, gains

LQ = ([[1.0, 0.1], [0.0, 1.0]], [[0.0], [0.1]], np.diag([1.0, 0.1]), [[0.1]], np.diag([0.01, 0.02]))
SCALAR = ([[0.9]], [[0.5]], [[1.0]], [[0.2]], [[0.04]])
SERVER = (
    [[0.54, -0.11], [-0.026, 0.63]], 1e-4 * np.array([[-85.0, 4.4], [-2.5, 2.8]]), np.diag([5.0, 1.0]),
    np.diag([1.0 / 50**2, 1e-6]), np.eye(2),
)  # fmt: skip


def random_system(seed, n, m):
    rng = default_rng(seed)
    M, C = rng.normal(size=(n, n)), rng.normal(size=(n, n))
    return rng.normal(size=(n, n)), rng.normal(size=(n, m)), M @ M.T, np.eye(m) * 0.3, C @ C.T + 0.1 * np.eye(n)


SYSTEMS = [LQ, SCALAR, SERVER, random_system(1, 3, 1), random_system(2, 3, 2), random_system(3, 4, 2)]


@pytest.mark.parametrize("system", SYSTEMS)
def test_equal_to_plain_iteration(system):
    A, B, Q, R, _ = (np.asarray(x) for x in system)
    P = np.zeros_like(Q)
    for _ in range(5000):
        P = Q + A.T @ P @ A - A.T @ P @ B @ np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
    found = lq_solution(*system)
    np.testing.assert_allclose(found.P, P, rtol=1e-9, atol=1e-9 * np.abs(P).max())
    np.testing.assert_allclose(found.gain, np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A), rtol=1e-7, atol=1e-9)
    assert found.residual < 1e-12
    assert found.radius == pytest.approx(np.abs(np.linalg.eigvals(A - B @ found.gain)).max())


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_cost_is_that_of_the_stationary_covariance(system):
    """trace((Q + K'RK) S), where S = (A - BK) S (A - BK)' + W; no gain near K costs less."""
    A, B, Q, R, W = (np.asarray(x) for x in system)
    found, rng = lq_solution(*system), default_rng(0)

    def cost(K):
        return np.trace((Q + K.T @ R @ K) @ solve_discrete_lyapunov(A - B @ K, W))

    assert found.cost == pytest.approx(cost(found.gain), rel=1e-6)
    for _ in range(5):
        assert cost(found.gain * (1.0 + 0.01 * rng.normal(size=found.gain.shape))) > found.cost


@pytest.mark.parametrize(
    "system, gain, cost",
    [
        (LQ, [2.761715, 2.649102], 0.158146),
        (SCALAR, [1.149545], 0.0565535),
        (SERVER, [-22.2961244, 10.1360542, 382.6854311, 77.7164299], 7.31336),
    ],
)
def test_facts(system, gain, cost):
    found = lq_solution(*system)
    np.testing.assert_allclose(found.gain.ravel(), gain, rtol=1e-6)
    assert found.cost == pytest.approx(cost, rel=5e-6)
    assert lq_solution(*system[:4]).cost == pytest.approx(np.trace(found.P))


def test_the_web_server_without_control():
    A, _, Q, _, W = SERVER
    assert np.trace(Q @ solve_discrete_lyapunov(np.array(A), W)) == pytest.approx(9.04616, abs=5e-6)


def test_equal_to_scipy_on_random_systems():
    """Also unstable ones, and Q of low rank."""
    rng = default_rng(1)
    for _ in range(60):
        n, m = (int(k) for k in rng.integers(1, 5, 2))
        A, B, M = rng.normal(size=(n, n)) * 1.5, rng.normal(size=(n, m)), rng.normal(size=(n, 1 + n // 2))
        P = solve_discrete_are(A, B, M @ M.T, np.eye(m))
        np.testing.assert_allclose(lq_solution(A, B, M @ M.T, np.eye(m)).P, P, rtol=1e-5, atol=1e-6 * np.abs(P).max())


@pytest.mark.parametrize("system", SYSTEMS)
def test_equal_to_python_control(system):
    """Where it is installed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        control = pytest.importorskip("control")
        K, P, _ = control.dlqr(*(np.asarray(x) for x in system[:4]))
    found = lq_solution(*system)
    np.testing.assert_allclose(found.gain, K, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.P, P, rtol=1e-6, atol=1e-9)


def test_elimination_with_pivots():
    """The first two matrices have zeros on the diagonal; without exchanges there would be no solution."""
    rng = default_rng(2)
    matrices = [np.array([[0.0, 1.0], [1.0, 0.0]]), np.fliplr(np.diag([1.0, 2.0, 3.0])), *rng.normal(size=(5, 4, 4))]
    for M in matrices:
        X = rng.normal(size=(len(M), 3))
        out = X.copy()
        eliminate(M.copy(), out)
        np.testing.assert_allclose(M @ out, X, atol=1e-12)


def test_an_unstable_part_that_costs_nothing_is_stabilised():
    """The iteration from zero would leave it alone. P = a^2 - 1 for B = R = 1 and Q = 0."""
    found = lq_solution([[1.5]], [[1.0]], [[0.0]], [[1.0]])
    assert found.P.item() == pytest.approx(1.25)
    assert found.radius == pytest.approx(1.0 / 1.5)


@pytest.mark.parametrize("seed", range(3))
def test_many_systems_are_those_one_by_one(seed):
    """Among them some that the doubling leaves to SciPy (Q = 0), and some that nothing stabilises, in any order."""
    given = [(1.5, 1.0), (0.9, 0.5), (1.2, 0.0), (2.5, 1.0), (0.3, 0.0), (1.1, 0.0), (-1.7, 2.0)]
    A, B = np.array(default_rng(seed).permutation(given))[:, :, None, None].swapaxes(0, 1)
    for Q in (0.0, 1.0):
        many = gains(A, B, np.array([[Q]]), np.eye(1))
        for i in range(len(A)):
            one = gains(A[i : i + 1], B[i : i + 1], np.array([[Q]]), np.eye(1))
            for x, y in zip(many, one, strict=True):
                np.testing.assert_array_equal(x[i], y[0])
        assert many.stable.tolist() == [abs(a) < 1.0 or b != 0.0 for a, b in zip(A.ravel(), B.ravel(), strict=True)]


@pytest.mark.parametrize(
    "A, B, radius",
    [
        ([[1.2]], [[0.0]], "1.2"),
        ([[1.0]], [[0.0]], "1"),
        (np.diag([1.1, 0.5]), [[0.0], [1.0]], "1.1"),
        (np.eye(2), [[1.0], [1.0]], "1"),
    ],
)
def test_what_cannot_be_stabilised(A, B, radius):
    with pytest.raises(NotConverged) as wrong:
        lq_solution(A, B, np.eye(len(A)), [[1.0]])
    assert f"doublings, which leave a closed loop of spectral radius {radius};" in str(wrong.value)
    assert wrong.value.best.shape == np.shape(A)
    assert np.isfinite(wrong.value.best).all()


@pytest.mark.parametrize(
    "place, bad, sentence",
    [
        (0, [[1.0, 2.0]], "'A' must be an array of shape (1, 1), got an array of shape (1, 2)."),
        (0, [[np.nan]], "'A' must be finite everywhere, got nan. First at index (0, 0)."),
        (1, [[1.0], [2.0]], "'B' must be an array of shape (1, any), got an array of shape (2, 1)."),
        (2, [[-1.0]], "'Q' must be symmetric and positive semidefinite, got an array of shape (1, 1)."),
        (3, [[0.0]], "'R' must be symmetric and positive definite, got an array of shape (1, 1)."),
        (3, [[-1.0]], "'R' must be symmetric and positive definite, got an array of shape (1, 1)."),
        (4, [[-1.0]], "'W' must be symmetric and positive semidefinite, got an array of shape (1, 1)."),
        (4, 0.5, "'W' must be an array of shape (1, 1), got 0.5."),
    ],
)
def test_bad_systems(place, bad, sentence):
    with pytest.raises(InvalidArgument) as wrong:
        lq_solution(*[bad if i == place else x for i, x in enumerate(SCALAR)])
    assert str(wrong.value) == f"lq_solution: {sentence}"
