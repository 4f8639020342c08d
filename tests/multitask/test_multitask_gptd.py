"""Values of several tasks with a common prior: EM against a transcription, direct maximisation and dense Gaussians."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.random import default_rng
from scipy import optimize, stats
from scipy.linalg import block_diag

import bayesrl as b
from bayesrl.beliefs.features import RBF
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument, NotConverged
from bayesrl.models.policy import TabularPolicy
from bayesrl.multitask import task_matrices
from bayesrl.multitask.multitask_gptd import log_prior, m_step
from bayesrl.multitask.value_tasks import Base, Given
from bayesrl.value import ParametricGPTD

D, M, NOISE, KAPPA, NU = 2, 5, 0.4, 0.7, 4.5
PSI = np.array([[0.6, 0.2], [0.2, 0.5]])


def random_tasks(seed=0, rows=(1, 2, 3, 4, 6)):
    rng = np.random.default_rng(seed)
    made = []
    for n in rows:
        H = rng.normal(size=(n, D))
        made.append((H, H @ rng.normal([1.0, -0.5], [0.6, 0.3]) + NOISE * rng.standard_normal(n)))
    return made


TASKS = random_tasks()


def solver(**changed):
    return b.make("multitask-gptd", **{"noise": NOISE, "strength": KAPPA, "degrees": NU, "scale": PSI} | changed)


@pytest.fixture(scope="module")
def found():
    return solver(tol=1e-12).solve(TASKS)


def objective(mu, Sigma, noises=None):
    """The log posterior of (mu, Sigma), with densities of scipy and the weights integrated out."""
    total = stats.multivariate_normal.logpdf(mu, np.zeros(D), Sigma / KAPPA) + stats.invwishart.logpdf(Sigma, NU, PSI)
    for i, (H, r) in enumerate(TASKS):
        N = np.eye(len(r)) if noises is None else noises[i]
        total += stats.multivariate_normal.logpdf(r, H @ mu, H @ Sigma @ H.T + NOISE**2 * N)
    return total


def test_equal_to_a_transcription():
    """Twenty iterations of the issue's formulas, with explicit inverses."""
    mu, Sigma = np.zeros(D), np.eye(D)
    with pytest.raises(NotConverged) as stopped:
        solver(iterations=20, tol=1e-15).solve(TASKS)
    for _ in range(20):
        C = [np.linalg.inv(np.linalg.inv(Sigma) + H.T @ H / NOISE**2) for H, r in TASKS]
        w = [c @ (np.linalg.inv(Sigma) @ mu + H.T @ r / NOISE**2) for c, (H, r) in zip(C, TASKS, strict=True)]
        mu = sum(w) / (KAPPA + M)
        scatter = sum(c + np.outer(x - mu, x - mu) for c, x in zip(C, w, strict=True))
        Sigma = (PSI + KAPPA * np.outer(mu, mu) + scatter) / (NU + D + 2 + M)
    best = stopped.value.best
    np.testing.assert_allclose(best.mean, mu, atol=1e-12)
    np.testing.assert_allclose(best.covariance, Sigma, atol=1e-12)
    assert len(best.trace) == 21


def test_the_fixed_point_is_the_direct_maximum(found):
    """scipy's optimiser from the start of EM, and the gradient at EM's end: Sigma by its Cholesky factor."""

    def loss(x):
        L = np.array([[np.exp(x[2]), 0.0], [x[3], np.exp(x[4])]])
        return -objective(x[:2], L @ L.T)

    direct = optimize.minimize(loss, np.zeros(5), options={"gtol": 1e-7})
    L = np.linalg.cholesky(found.covariance)
    at = np.array([*found.mean, np.log(L[0, 0]), L[1, 0], np.log(L[1, 1])])
    np.testing.assert_allclose(at, direct.x, atol=2e-6)
    assert -loss(at) >= -direct.fun - 1e-12
    h = 1e-4
    gradient = [
        (8 * (loss(at + h * e) - loss(at - h * e)) - loss(at + 2 * h * e) + loss(at - 2 * h * e)) / (12 * h)
        for e in np.eye(5)
    ]
    assert np.abs(gradient).max() < 1e-8


def test_the_trace_is_the_objective_and_never_falls(found):
    assert found.trace[0] == pytest.approx(objective(np.zeros(D), np.eye(D)), abs=1e-11)
    assert found.trace[-1] == pytest.approx(objective(found.mean, found.covariance), abs=1e-11)
    for seed in range(4):
        for scale in (0.05, 1.0, 100.0):
            trace = solver(scale=scale, tol=1e-7).solve(random_tasks(seed)).trace
            assert np.diff(trace).min() >= -1e-11 * np.abs(trace).max()


def plain_em(tol, most):
    """EM with explicit inverses and its stopping rule: (iterations, mu, Sigma, distance that is left)."""
    mu, Sigma, steps, rates, left = np.zeros(D), np.eye(D), [], [], np.inf
    for n in range(1, most + 1):
        C = [np.linalg.inv(np.linalg.inv(Sigma) + H.T @ H / NOISE**2) for H, r in TASKS]
        w = [c @ (np.linalg.inv(Sigma) @ mu + H.T @ r / NOISE**2) for c, (H, r) in zip(C, TASKS, strict=True)]
        new = sum(w) / (KAPPA + M)
        scatter = sum(c + np.outer(x - new, x - new) for c, x in zip(C, w, strict=True))
        wide = (PSI + KAPPA * np.outer(new, new) + scatter) / (NU + D + 2 + M)
        size = np.sqrt(max(wide[0, 0], wide[1, 1])) + np.abs(new).max()
        steps.append(max(np.abs(new - mu).max() / size, np.abs(wide - Sigma).max() / size**2))
        mu, Sigma = new, wide
        rates.append(steps[-1] / steps[-2] if n > 1 else np.inf)
        slow = max(rates[-2:]) if n > 1 else np.inf
        left = steps[-1] * slow / (1.0 - slow) if slow < 1.0 else np.inf
        if left <= tol:
            break
    return n, mu, Sigma, left


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-7])
def test_when_em_stops(tol):
    """The sum of all later steps, if they fall at the slower of the last two rates, is below the tolerance."""
    n, mu, Sigma, _ = plain_em(tol, 10_000)
    found = solver(tol=tol).solve(TASKS)
    assert len(found.trace) == n + 1
    np.testing.assert_allclose(found.mean, mu, rtol=1e-10)
    np.testing.assert_allclose(found.covariance, Sigma, rtol=1e-10)
    assert n > 3
    exact = plain_em(1e-14, 10_000)[1]
    assert np.abs(mu - exact).max() < 3.0 * tol
    with pytest.raises(NotConverged, match=f"{n - 1} iterations") as stopped:
        solver(tol=tol, iterations=n - 1).solve(TASKS)
    assert stopped.value.residual == pytest.approx(plain_em(tol, n - 1)[3], rel=1e-6)
    assert stopped.value.residual > tol
    assert len(solver(tol=tol, iterations=n).solve(TASKS).trace) == n + 1


def test_the_density_of_the_base_and_the_m_step_in_three_dimensions():
    """scipy's inverse Wishart and normal; the M step is where the expected log density has no slope."""
    rng, d, kappa, nu = np.random.default_rng(5), 3, 0.6, 4.3
    root = rng.normal(size=(2, d, d))
    Psi, Sigma = root @ np.swapaxes(root, 1, 2) + 0.2 * np.eye(d)
    mu, base = rng.normal(size=d), Base(kappa, nu, Psi)
    density = stats.invwishart(nu, Psi).logpdf(Sigma) + stats.multivariate_normal(np.zeros(d), Sigma / kappa).logpdf(mu)
    assert log_prior(base, mu, Sigma) == pytest.approx(density, rel=1e-10)
    w, C = rng.normal(size=(4, d)), np.array([x @ x.T for x in rng.normal(size=(4, d, d))])
    best = m_step(base, Given(w, C, np.zeros(4)))

    def expected(mu, Sigma):
        total = log_prior(base, mu, Sigma)
        for x, c in zip(w, C, strict=True):
            total += stats.multivariate_normal(mu, Sigma).logpdf(x) - 0.5 * np.trace(np.linalg.solve(Sigma, c))
        return total

    top = expected(*best)
    for _ in range(12):
        step = rng.normal(size=(d, d))
        for size in (1e-3, 0.1):
            assert expected(best[0] + size * step[0], best[1]) < top
            assert expected(best[0], best[1] + size * 0.1 * (step + step.T)) < top


def test_posteriors_of_tasks_and_of_a_further_one(found):
    """Dense conditioning of (w, r), in `weights` and in `transfer`; log_predictive is the density of the rewards."""
    mu, Sigma = found.mean, found.covariance
    for i, (H, r) in enumerate([*TASKS, (np.array([[1.0, -0.3]]), np.array([2.0]))]):
        gain = Sigma @ H.T @ np.linalg.inv(H @ Sigma @ H.T + NOISE**2 * np.eye(len(r)))
        w, C = mu + gain @ (r - H @ mu), Sigma - gain @ H @ Sigma
        mean, covariance = found.transfer((H, r))
        np.testing.assert_allclose(mean, w, atol=1e-12)
        np.testing.assert_allclose(covariance, C, atol=1e-12)
        density = stats.multivariate_normal.logpdf(r, H @ mu, H @ Sigma @ H.T + NOISE**2 * np.eye(len(r)))
        assert found.log_predictive((H, r)) == pytest.approx(density, abs=1e-11)
        if i < M:
            np.testing.assert_allclose(found.weights[i], w, atol=1e-12)
            np.testing.assert_allclose(found.covariances[i], C, atol=1e-12)


def test_coloured_noise():
    """The objective with sigma^2 G G' of one trajectory that goes on; a triple brings its own G."""
    gamma = 0.8
    G = [np.eye(len(r), len(r) + 1) - gamma * np.eye(len(r), len(r) + 1, 1) for _, r in TASKS]
    found = solver(coloured=True, gamma=gamma).solve(TASKS)
    noises = [g @ g.T for g in G]
    assert found.trace[-1] == pytest.approx(objective(found.mean, found.covariance, noises), abs=1e-10)
    assert found.trace[0] == pytest.approx(objective(np.zeros(D), np.eye(D), noises), abs=1e-10)
    same = solver(coloured=True).solve([(H, r, g) for (H, r), g in zip(TASKS, G, strict=True)])
    np.testing.assert_allclose(same.mean, found.mean, atol=1e-12)


def test_one_task_with_a_fixed_prior_is_parametric_gptd():
    """Strong kappa and nu fix (mu, Sigma) at (0, v I): the posterior of GPTD from the same log, ends included."""
    gamma, features, v = 0.9, RBF([0.0, 1.0, 2.0]), 1.7
    log = [Transition(0.1, 0, 1.0, 0.7), Transition(0.7, 0, -0.3, 1.9), Transition(1.9, 0, 2.0, 0.0, terminated=True)]
    log += [Transition(0.4, 0, 0.5, 1.0, truncated=True), Transition(1.0, 0, 0.2, 2.2), Transition(2.2, 0, 0.0, 0.3)]
    task = task_matrices(log, features, gamma)
    belief = ParametricGPTD(features, noise=NOISE, gamma=gamma, prior_variance=v).update_many(log)
    big = 1e10
    found = b.make(
        "multitask-gptd", noise=NOISE, strength=big, degrees=big, scale=v * big * np.eye(3), coloured=True
    ).solve([task])
    w, C = belief.weight_moments()
    np.testing.assert_allclose(found.weights[0], w, atol=1e-8)
    np.testing.assert_allclose(found.covariances[0], C, atol=1e-8)
    assert found.log_predictive(task) == pytest.approx(belief.log_evidence(), abs=1e-7)


def test_matrices_of_a_log():
    """H and G by hand: an end, a cut, a gap; a record gives the same as its transitions."""
    log = [
        Transition(0, 0, 1.0, 1),
        Transition(1, 0, 2.0, 0, terminated=True),
        Transition(0, 0, 3.0, 2, truncated=True),
    ]
    log += [Transition(2, 0, 4.0, 0), Transition(1, 0, 5.0, 2)]
    task = task_matrices(log, np.eye(3), 0.5)
    np.testing.assert_array_equal(task.H, [[1, -0.5, 0], [0, 1, 0], [1, 0, -0.5], [-0.5, 0, 1], [0, 1, -0.5]])
    expected = np.zeros((5, 8))
    for row, (column, after) in enumerate([(0, 1), (1, None), (2, 3), (4, 5), (6, 7)]):
        expected[row, column] = 1.0
        if after is not None:
            expected[row, after] = -0.5
    np.testing.assert_array_equal(task.G, expected)
    chain = b.make_world("chain")
    record = b.run(TabularPolicy(np.full((5, 2), 0.5)), chain, steps=20, seed=0)
    from_record = task_matrices(record, np.eye(5), chain.gamma)
    s, y = record.state, record.next_state
    np.testing.assert_array_equal(from_record.H, np.eye(5)[s] - chain.gamma * np.eye(5)[y])
    np.testing.assert_array_equal(from_record.r, record.reward)


def test_a_solution_is_saved(found, tmp_path):
    b.save(found, tmp_path / "kept.zip")
    assert b.load(tmp_path / "kept.zip") == found
    assert solver(tol=1e-12).solve(TASKS) == found


def test_the_base_if_nothing_is_said():
    """nu = d + 2 and Psi = I; a number is a multiple of I."""
    given = {"noise": NOISE, "strength": KAPPA}
    plain = b.make("multitask-gptd", **given).solve(TASKS)
    assert plain == b.make("multitask-gptd", **given, degrees=D + 2.0, scale=np.eye(D)).solve(TASKS)
    assert solver(scale=0.5).solve(TASKS) == solver(scale=0.5 * np.eye(D)).solve(TASKS)


H, R = np.ones((3, 2)), np.zeros(3)


@pytest.mark.parametrize(
    ("parameters", "tasks", "sentence"),
    [
        ({}, [], "'tasks' must be at least one task"),
        ({}, None, "'tasks' must be a sequence of tasks"),
        ({}, 3, "'tasks'"),
        ({}, [(H, R), None], "'task'"),
        ({}, [(H,)], "'task' must be a pair"),
        ({}, [(H, R[:2])], "'r' must be as long as H has rows"),
        ({}, [(H, R), (np.ones((3, 1)), R)], "'H' must be an array of shape"),
        ({}, [(np.full((3, 2), np.nan), R)], "'H' must be finite"),
        ({}, [(H, [0.0, np.inf, 0.0])], "'r' must be finite"),
        ({}, [(H, ["a", "b", "c"])], "'r'"),
        ({}, [(np.zeros((0, 2)), [])], "'H' must be a non-empty array"),
        ({"scale": [[1.0, 2.0], [2.0, 1.0]]}, [(H, R)], "'scale' must be a positive definite"),
        ({"scale": [[1.0, 0.5], [0.0, 1.0]]}, [(H, R)], "'scale' must be a symmetric"),
        ({"scale": np.eye(3), "degrees": 5.0}, [(H, R)], "'scale' must be an array of shape"),
        ({"scale": np.ones((2, 3))}, [(H, R)], "'scale'"),
        ({"scale": -1.0}, [(H, R)], "'scale'"),
        ({"scale": np.nan}, [(H, R)], "'scale'"),
        ({"degrees": 1.0}, [(H, R)], "'degrees' must be greater than d - 1 = 1"),
        ({"degrees": 1.0, "scale": None}, [(H, R)], "'degrees' must be greater than d - 1 = 1"),
        ({"degrees": "two"}, [(H, R)], "'degrees'"),
        ({"noise": 0.0}, [(H, R)], "'noise' must be greater than 0"),
        ({"noise": np.nan}, [(H, R)], "'noise'"),
        ({"strength": -1.0}, [(H, R)], "'strength'"),
        ({"coloured": True}, [(H, R)], "'gamma' must be given"),
        ({"coloured": 1}, [(H, R)], "'coloured'"),
        ({"coloured": True}, [(H, R, np.ones((2, 2)))], "'G' must be an array of shape"),
        ({"coloured": True}, [(H, R, np.ones((3, 2)))], "'G' must be a matrix of full row rank"),
        ({"coloured": True}, [(H, R, np.eye(3, 4) * 1e101)], "'G' must be of moderate size"),
        ({}, [(H * 1e101, R)], "'H' must be of moderate size"),
        ({}, [(H, np.full(3, 1e101))], "'r' must be of moderate size"),
        ({"gamma": 1.5}, [(H, R)], "'gamma'"),
        ({"iterations": 0}, [(H, R)], "'iterations'"),
        ({"tol": 0.0}, [(H, R)], "'tol'"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["multitask-gptd", "multitask-gptd-dp"])
def test_refused(name, parameters, tasks, sentence):
    known = set(b.registry.find(name).parameters)
    if not set(parameters) <= known:
        pytest.skip("no such parameter")
    given = {"scale": np.eye(2), "degrees": 4.0} | parameters
    with pytest.raises(InvalidArgument, match=sentence):
        b.make(name, **given).solve(tasks, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("log", "features", "gamma", "sentence"),
    [
        ([], np.eye(2), 0.9, "'log' must be at least one step"),
        (None, np.eye(2), 0.9, "'log'"),
        ([1], np.eye(2), 0.9, "'log'"),
        ([Transition("a", 0, 0.0, 1)], np.eye(2), 0.9, "'log' must be states that are numbers"),
        ([Transition(0, 0, np.nan, 1)], np.eye(2), 0.9, "'reward'"),
        ([Transition(0, 0, 1e101, 1)], np.eye(2), 0.9, "'reward'"),
        ([Transition(0, 0, 0.0, 1)], 1e101 * np.eye(2), 0.9, "'features' must be of moderate size"),
        ([Transition(0, 0, 0.0, 1)], np.eye(2), -0.1, "'gamma'"),
        ([Transition(0, 0, 0.0, 2)], np.eye(2), 0.9, "'state'"),
        ([Transition(0, 0, 0.0, 1)], np.eye(2)[0], 0.9, "'features'"),
        ([Transition(0, 0, 0.0, 1)], None, 0.9, "'features'"),
        ([Transition(0, 0, 0.0, 1)], np.eye(2), 1.1, "'gamma'"),
    ],
)  # fmt: skip
def test_refused_logs(log, features, gamma, sentence):
    with pytest.raises(InvalidArgument, match=sentence):
        task_matrices(log, features, gamma)


@pytest.mark.parametrize("task", [None, (H, R[:2]), (np.ones((3, 3)), R), (H * np.nan, R), ("a", "b"), ()])
def test_refused_transfer(found, task):
    with pytest.raises(InvalidArgument):
        found.transfer(task)
    with pytest.raises(InvalidArgument):
        found.log_predictive(task)


@pytest.mark.parametrize("gamma", [0.0, 0.7, 1.0])
def test_the_matrices_of_several_episodes_are_those_of_each(gamma):
    """Side by side, also where an episode begins in the state in which another one ended, in either way."""
    rng, features = default_rng(11), default_rng(12).normal(size=(3, 2))
    for ends in ("terminated", "truncated"):
        for _ in range(5):
            episodes = []
            for _ in range(3):
                states = rng.integers(3, size=int(rng.integers(2, 5)))
                steps = [Transition(int(s), 0, rng.normal(), int(y)) for s, y in pairwise(states)]
                episodes.append([*steps[:-1], steps[-1]._replace(**{ends: True})])
            episodes[1][0] = episodes[1][0]._replace(observation=episodes[0][-1].next_observation)
            whole = task_matrices([step for episode in episodes for step in episode], features, gamma)
            H, r, G = zip(*(task_matrices(episode, features, gamma) for episode in episodes), strict=True)
            np.testing.assert_array_equal(whole.H, np.vstack(H))
            np.testing.assert_array_equal(whole.r, np.concatenate(r))
            np.testing.assert_array_equal(whole.G, block_diag(*G))
