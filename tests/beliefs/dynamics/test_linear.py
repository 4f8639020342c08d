"""Linear dynamics with unknown parameters against the conditioning of the stacked parameters, and against the facts."""

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.stats import multivariate_normal

import bayesrl as b
from bayesrl.beliefs.features import Polynomial
from bayesrl.capabilities import DrawsObservations, HasMeans, lacking
from bayesrl.continuous import LinearGaussianDynamics
from bayesrl.core import Transition
from bayesrl.errors import Incompatible, InvalidArgument

X = [0.0, 0.34, -0.459, -0.213, -0.108, 1.13, 0.039, 0.425, 0.226]
U = [1.0, -1.0, 0.5, 0.0, 2.0, -2.0, 1.0, 0.0]
FACTS = [Transition([x], [u], 0.0, [y]) for x, u, y in zip(X[:-1], U, X[1:], strict=True)]


def prior(rng, n=2, m=2, costs=True):
    """A prior with correlated noise and a full precision."""
    M, C = rng.normal(size=(n + m, n + m)), rng.normal(size=(n, n))
    V, W = M @ M.T + 0.1 * np.eye(n + m), C @ C.T + 0.1 * np.eye(n)
    given = (np.eye(n), np.eye(m)) if costs else ()
    return LinearGaussianDynamics(rng.normal(size=(n + m, n)), V, W, *given)


def data(rng, count=7, n=2, m=2):
    return [Transition(*(rng.normal(size=k) for k in (n, m)), 0.0, rng.normal(size=n)) for _ in range(count)]


def conditioned(prior, steps):
    """Mean and covariance of the stacked columns, and log evidence, by conditioning one joint normal distribution.

    y_t = (I (x) z_t') theta + w_t with theta the columns of Theta, one below the other.
    """
    p, n = prior.mean.shape
    mean, S = prior.mean.T.ravel(), np.kron(prior.noise, np.linalg.inv(prior.precision))
    H = np.vstack([np.kron(np.eye(n), np.concatenate([t.observation, t.action])) for t in steps])
    y = np.concatenate([t.next_observation for t in steps])
    C = H @ S @ H.T + np.kron(np.eye(len(steps)), prior.noise)
    gain = np.linalg.solve(C, H @ S).T
    evidence = multivariate_normal(H @ mean, C).logpdf(y)
    return (mean + gain @ (y - H @ mean)).reshape(n, p).T, S - gain @ H @ S, evidence


@pytest.mark.parametrize("n, m", [(1, 1), (2, 2), (3, 1)])
def test_posterior_equals_conditioning(n, m):
    """Mean, covariance of the stacked columns and evidence, with correlated noise."""
    rng = default_rng(n)
    belief, steps = prior(rng, n, m), data(rng, n=n, m=m)
    theta, covariance, evidence = conditioned(belief, steps)
    for posterior in (belief.update_many(steps), belief.update_many(steps[::-1])):
        np.testing.assert_allclose(posterior.theta, theta, atol=1e-9)
        np.testing.assert_allclose(posterior.covariance(), covariance, atol=1e-9)
        np.testing.assert_allclose(posterior.log_evidence(), evidence, atol=1e-9)
        np.testing.assert_allclose(posterior.root @ posterior.root.T, posterior.precision, atol=1e-9)
        assert (np.triu(posterior.root, 1) == 0.0).all()


def test_predictive_equals_conditioning():
    """Its density of the next datum is the ratio of two evidences."""
    rng = default_rng(5)
    belief, steps = prior(rng), data(rng)
    for posterior, t, before, after in [
        (
            belief.update_many(steps[:k]),
            steps[k],
            conditioned(belief, steps[:k])[2],
            conditioned(belief, steps[: k + 1])[2],
        )
        for k in range(1, 6)
    ]:
        mean, covariance = posterior.predictive(t.observation, t.action)
        fit = multivariate_normal(mean, covariance).logpdf(t.next_observation)
        np.testing.assert_allclose(fit, after - before, atol=1e-9)


def test_draws_have_the_posterior_covariance():
    """A draw is linear in its normal numbers. The map M, solved from as many draws, has M M' = covariance."""
    rng = default_rng(2)
    belief, steps = prior(rng), data(rng)
    posterior = belief.update_many(steps)
    theta, covariance, _ = conditioned(belief, steps)
    size = theta.size
    moved = np.array(
        [np.hstack(posterior.sample_system(default_rng(i))).ravel() for i in range(size)]
    )  # rows of (A, B)
    normal = np.array([default_rng(i).standard_normal(size) for i in range(size)])
    M = np.linalg.solve(normal, moved - theta.T.ravel()).T
    np.testing.assert_allclose(M @ M.T, covariance, atol=1e-9)


def test_facts():
    belief = LinearGaussianDynamics([[0.5], [1.0]], np.diag([2.0, 1.0]), 0.2)
    determinants = [np.linalg.det(belief.precision)]
    for step in FACTS:
        belief = belief.update(step)
        determinants.append(np.linalg.det(belief.precision))
    np.testing.assert_allclose(belief.theta.ravel(), [0.6618135, 0.5134075], atol=5e-8)
    assert belief.log_evidence() == pytest.approx(-2.5066970, abs=5e-8)
    np.testing.assert_allclose(determinants[:3], [2.0, 4.0, 6.2312], atol=5e-5)
    assert determinants[-1] == pytest.approx(38.0299, abs=5e-5)


def test_features_stand_for_state_and_action():
    """Monomials of (x, u): the belief is the regression of y on them."""
    rng, phi = default_rng(3), Polynomial(2, dims=3)
    belief = LinearGaussianDynamics(np.zeros((phi.size, 2)), np.eye(phi.size), 0.3, features=phi)
    steps = data(rng, 30, 2, 1)
    Z = phi(np.array([np.concatenate([t.observation, t.action]) for t in steps]))
    Y = np.array([t.next_observation for t in steps])
    posterior = belief.update_many(steps)
    np.testing.assert_allclose(posterior.theta, np.linalg.solve(np.eye(phi.size) + Z.T @ Z, Z.T @ Y), atol=1e-9)
    mean, _ = posterior.predictive(steps[0].observation, steps[0].action)
    np.testing.assert_allclose(mean, Z[0] @ posterior.theta)
    assert posterior.sample_parameters(rng).shape == (phi.size, 2)
    with pytest.raises(Incompatible, match=r"lacks\. Its features are not \(x, u\)\."):
        posterior.sample_system(rng)
    with pytest.raises(Incompatible, match=r"lacks\. It was given no costs Q and R\. Its features are not \(x, u\)\."):
        b.BayesAgent(posterior, b.make("lazy-psrl"))


def test_replicates_in_lockstep_learn_as_one():
    rng = default_rng(4)
    belief, many = prior(rng), [data(rng) for _ in range(3)]
    together = belief.batch(3)
    for k in range(7):
        x, u, y = (np.array([getattr(steps[k], name) for steps in many]) for name in ("state", "action", "next_state"))
        together = together.update(Transition(x, u, np.zeros(3), y))
    for i, steps in enumerate(many):
        alone = belief.update_many(steps)
        np.testing.assert_allclose(together.theta[i], alone.theta, atol=1e-12)
        np.testing.assert_allclose(together.precision[i], alone.precision, atol=1e-12)
        np.testing.assert_allclose(together.log_evidence()[i], alone.log_evidence(), atol=1e-12)
    A, B = together.sample_system(default_rng(0))
    E = default_rng(0).standard_normal((3, 4, 2))
    for i, steps in enumerate(many):
        alone = belief.update_many(steps)
        theta = alone.theta + np.linalg.solve(alone.root.T, E[i] @ np.linalg.cholesky(belief.noise).T)
        np.testing.assert_allclose(np.hstack([A[i], B[i]]), theta.T, atol=1e-9)


def test_some_replicates_are_drawn_alone():
    alone = prior(default_rng(1))
    A, B = alone.batch(5).sample_system(default_rng(0), np.array([3, 1]))
    rng = default_rng(0)
    for i in range(2):
        one = alone.sample_system(rng)
        np.testing.assert_allclose(A[i], one[0])
        np.testing.assert_allclose(B[i], one[1])
    for belief, which in ((alone.batch(5), [5]), (alone.batch(5), [-1]), (alone, [0])):
        with pytest.raises(InvalidArgument, match="'replicates' must be whole numbers from 0 to"):
            belief.sample_system(default_rng(0), which)


def test_searches_can_ask():
    """Draws follow the predictive: 4000 draws, five standard errors; false alarm about 1e-6 for each of 6 numbers."""
    rng = default_rng(6)
    belief = prior(rng).update_many(data(rng))
    assert not lacking(belief, DrawsObservations)
    x, u = np.array([0.5, -1.0]), np.array([1.0, 2.0])
    mean, covariance = belief.predictive(x, u)
    drawn = belief.draw(x, u, rng, 4000)
    white = (drawn - mean) @ np.linalg.inv(np.linalg.cholesky(covariance)).T
    assert (np.abs(white.mean(0)) < 5.0 / np.sqrt(4000)).all()
    assert (np.abs(white.T @ white / 4000 - np.eye(2)) < 5.0 * np.sqrt(2.0 / 4000)).all()
    assert belief.expected_reward(x, u) == pytest.approx(-(x @ x + u @ u))
    with pytest.raises(Incompatible, match="It was given no costs Q and R"):
        prior(rng, costs=False).expected_reward(x, u)


def test_files(tmp_path):
    belief = prior(default_rng(7)).update_many(data(default_rng(8)))
    b.save(belief, tmp_path / "belief.zip")
    again = b.load(tmp_path / "belief.zip")
    assert again == belief
    assert again.update(
        FACTS[0]._replace(observation=[0.1, 0.2], action=[0, 1], next_observation=[1, 1])
    ) == belief.update(FACTS[0]._replace(observation=[0.1, 0.2], action=[0, 1], next_observation=[1, 1]))


GOOD = {"mean": [[0.5], [1.0]], "precision": np.eye(2), "noise": 0.2, "Q": [[1.0]], "R": [[1.0]]}


@pytest.mark.parametrize(
    "changed, sentence",
    [
        ({"precision": [[1.0, 0.5], [0.0, 1.0]]}, "'precision' must be symmetric and positive definite, got an array"),
        ({"precision": [[1.0, 2.0], [2.0, 1.0]]}, "'precision' must be symmetric and positive definite, got an array"),
        ({"precision": np.eye(3)}, r"'precision' must be an array of shape \(2, 2\), got an array of shape \(3, 3\)"),
        ({"noise": 0.0}, r"'noise' must be greater than 0, or a covariance, got 0\.0"),
        ({"noise": -1.0}, "'noise' must be greater than 0, or a covariance"),
        ({"noise": [[0.0]]}, "'noise' must be symmetric and positive definite"),
        ({"noise": np.nan}, "'noise' must be finite everywhere, got nan"),
        ({"noise": np.eye(2)}, r"'noise' must be an array of shape \(1, 1\)"),
        ({"mean": [[1.0]]}, r"'mean' must be an array of shape \(n \+ m, n\) with m of at least 1"),
        ({"mean": [1.0]}, r"'mean' must be an array of shape \(p, n\)"),
        ({"Q": [[-1.0]]}, "'Q' must be symmetric and positive semidefinite"),
        ({"R": [[0.0]]}, "'R' must be symmetric and positive definite"),
        ({"R": None}, "'R' must be given, as the other cost is, got None"),
        ({"features": Polynomial(2, dims=2)}, "'mean' must be an array with 6 rows, one a feature"),
        ({"features": 3}, r"'features' must be features of rows \(x, u\), or None, got 3"),
    ],
)  # fmt: skip
def test_bad_priors(changed, sentence):
    with pytest.raises(InvalidArgument, match="^LinearGaussianDynamics: " + sentence):
        LinearGaussianDynamics(**(GOOD | changed))


@pytest.mark.parametrize(
    "changed, sentence",
    [
        ({"observation": [np.nan]}, "'observation' must be finite everywhere, got nan"),
        ({"next_observation": [np.inf]}, "'next_observation' must be finite everywhere, got inf"),
        ({"action": [1.0, 2.0]}, r"'action' must be an array of shape \(1,\), got an array of shape \(2,\)"),
        ({"observation": [[1.0]]}, r"'observation' must be an array of shape \(1,\)"),
        ({"observation": "x"}, "'observation' must be an array of numbers, got 'x'"),
        ({"action": None}, "'action' must be"),
        ({"action": 1e101}, r"'action' must be at most 1e\+100 in size"),
    ],
)
def test_bad_data(changed, sentence):
    belief = LinearGaussianDynamics(**GOOD)
    with pytest.raises(InvalidArgument, match=r"^LinearGaussianDynamics.update: " + sentence):
        belief.update(Transition([0.0], [1.0], 0.0, [1.0])._replace(**changed))
    assert belief == LinearGaussianDynamics(**GOOD)


def test_the_mean_of_parameters_is_not_one_of_arms():
    assert lacking(LinearGaussianDynamics(**GOOD), HasMeans) == ["mean"]


def test_numbers_are_vectors_of_one():
    belief = LinearGaussianDynamics(**GOOD)
    assert belief.update(Transition(0.5, 1, 0.0, np.float64(1.0))) == belief.update(
        Transition([0.5], [1.0], 0.0, [1.0])
    )
