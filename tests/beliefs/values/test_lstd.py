"""Least squares and its Bayesian form against batch formulas."""

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.beliefs import LSTD, LambdaGPTD, ParametricGPTD, features
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import unchecked

PHI = features.RBF([0.0, 1.0, 2.0], scale=0.7)
GAMMA = 0.9


def episodes(rng, complete=True):
    log = []
    for n in (4, 6, 3, 5):
        states = rng.uniform(0.0, 2.0, n + 1)
        for i in range(n):
            last = i == n - 1
            log.append(
                Transition(states[i], 0, float(rng.normal()), states[i + 1], last and complete, last and not complete)
            )
    return log


def batch(log, lam):
    """A and b of LSTD(lambda), step by step."""
    A, b, z = np.zeros((3, 3)), np.zeros(3), np.zeros(3)
    for step in log:
        phi = PHI([step.observation])[0]
        after = np.zeros(3) if step.terminated else PHI([step.next_observation])[0]
        z = phi + GAMMA * lam * z
        A += np.outer(z, phi - GAMMA * after)
        b += z * step.reward
        if step.ends_episode:
            z = np.zeros(3)
    return A, b


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("lam", [0.0, 0.4, 0.9, 1.0])
def test_equal_to_the_batch_formula(lam, complete):
    log = episodes(default_rng(0), complete)
    A, b = batch(log, lam)
    whole = LSTD(PHI, lam, GAMMA).update_many(log)
    np.testing.assert_allclose(whole.weights, np.linalg.solve(A, b), atol=1e-9)
    single = LSTD(PHI, lam, GAMMA, ridge=0.5)
    for step in log:
        single = single.update(step)
    np.testing.assert_allclose(single.weights, np.linalg.solve(A + 0.5 * np.eye(3), b), atol=1e-9)
    np.testing.assert_allclose(single.mean([0.3]), PHI([0.3]) @ single.weights)


@pytest.mark.parametrize("lam", [0.0, 0.4, 0.9, 1.0])
def test_a_wide_prior_tends_to_lstd(lam):
    log = episodes(default_rng(1))
    wide = LambdaGPTD(PHI, lam, noise=0.5, gamma=GAMMA, prior_variance=1e9).update_many(log)
    np.testing.assert_allclose(wide.posterior.mean, LSTD(PHI, lam, GAMMA).update_many(log).weights, rtol=1e-5)


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("lam", [0.0, 0.4, 1.0])
def test_posterior_by_the_formula(lam, complete):
    log = episodes(default_rng(2), complete)
    A, b = batch(log, lam)
    P = PHI([step.observation for step in log])
    Q = np.linalg.pinv(P.T @ P, rcond=1e-12)
    spread = np.linalg.inv(np.eye(3) / 2.0 + A.T @ Q @ A / 0.25)
    belief = LambdaGPTD(PHI, lam, noise=0.5, gamma=GAMMA, prior_variance=2.0).update_many(log)
    np.testing.assert_allclose(belief.posterior.covariance, spread, atol=1e-9)
    np.testing.assert_allclose(belief.posterior.mean, spread @ A.T @ Q @ b / 0.25, atol=1e-9)


def test_lambda_one_is_parametric_gptd():
    log = episodes(default_rng(3))
    bayes = LambdaGPTD(PHI, 1.0, noise=0.5, gamma=GAMMA, prior_variance=2.0).update_many(log)
    other = ParametricGPTD(PHI, noise=0.5, gamma=GAMMA, prior_variance=2.0).update_many(log)
    np.testing.assert_allclose(bayes.mean([0.1, 1.5]), other.mean([0.1, 1.5]), atol=1e-9)
    np.testing.assert_allclose(bayes.covariance([0.1, 1.5]), other.covariance([0.1, 1.5]), atol=1e-9)


def test_evidence_is_the_density_of_b():
    from scipy.stats import multivariate_normal

    log = episodes(default_rng(4))
    A, b = batch(log, 0.4)
    P = PHI([step.observation for step in log])
    density = multivariate_normal(np.zeros(3), 0.25 * P.T @ P + 2.0 * A @ A.T).logpdf(b)
    belief = LambdaGPTD(PHI, 0.4, noise=0.5, gamma=GAMMA, prior_variance=2.0).update_many(log)
    np.testing.assert_allclose(belief.log_evidence(), density, atol=1e-8)


def test_a_singular_system_is_refused_with_a_hint():
    with pytest.raises(InvalidArgument, match="ridge greater than 0"):
        _ = LSTD(features.Tabular(3)).update(Transition(0, 0, 1.0, 1)).weights


BAD = {
    "lam": lambda: LSTD(PHI, lam=1.5),
    "gamma": lambda: LSTD(PHI, gamma=-0.1),
    "ridge": lambda: LSTD(PHI, ridge=-1.0),
    "features": lambda: LSTD(3),
    "noise": lambda: LambdaGPTD(PHI, noise=0.0),
    "jump": lambda: LSTD(PHI).update(Transition(0.0, 0, 1.0, 1.0)).update(Transition(0.5, 0, 1.0, 1.0)),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_in_a_sentence(name):
    with pytest.raises(InvalidArgument, match="must be"):
        BAD[name]()


@pytest.mark.parametrize("unit", [1e-8, 1.0, 1e8])
def test_what_counts_as_singular(unit):
    """A least singular value of 1e-12 of the largest, in any unit of features: more is solved, less is refused."""
    belief = LSTD(features.Tabular(2), gamma=0.0)
    for share, fine in ((1.1e-12, True), (0.9e-12, False)):
        A = unit * np.diag([1.0, share])
        given = unchecked(belief, traces=belief.traces._replace(A=A, b=np.array([unit, 0.0])))
        if fine:
            np.testing.assert_allclose(given.weights, [1.0, 0.0])
        else:
            with pytest.raises(InvalidArgument, match="'ridge' must be large enough"):
                _ = given.weights
