"""Calibration of multi-task BIRL where it samples: rewards with densities, and the model of policies.

A prior, the rewards of the tasks and demonstrations are drawn from the model, by formulas of this file. Sweeps that
begin at the truth keep the joint distribution of all. A belief that learns the demonstrations and draws follows the
posterior, so the rank of the truth among its draws is uniform, for each quantity.
"""

import numpy as np
import plain_inverse
import pytest
from numpy.random import default_rng
from scipy import special

import bayesrl as b
from bayesrl.checks import frozen
from bayesrl.inverse import FinitePrior, GaussianPrior, LaplacePrior, MultitaskBIRL
from bayesrl.parameters import unchecked
from bayesrl.testing import assert_mean_equal, assert_uniform_ranks

LINE = plain_inverse.line()
FEATURE = np.array([[-1.0], [0.2], [1.0]])
"""One weight: positive for experts that go right."""
UNIT = [plain_inverse.optimal_q(LINE.dense()[0], np.repeat(sign * FEATURE, 2, axis=1), 0.9) for sign in (1.0, -1.0)]
PRIORS, HYPER, C = (GaussianPrior(0.5, 0.4, -1.0, 1.0), LaplacePrior(0.1, -1.0, 1.0)), np.array([0.15, 0.85]), 4.0
TASKS, PAIRS, DRAWS, FIRST, THIN = 2, 8, 4, 6, 3
NAMES = "the prior, the weights, their product, the likelihood of each task, the density of the weights"


def log_policy(w):
    """Log probabilities of an expert with weight w, (S, A). Values are linear in the weight on each side of zero."""
    return special.log_softmax(C * abs(w) * UNIT[int(w < 0.0)], axis=1)


def demonstrated(policies, rng):
    """A log of pairs of each task, (M, PAIRS, 2), of policies (M, S, 2) in random states."""
    s = rng.integers(policies.shape[1], size=(len(policies), PAIRS))
    p = np.take_along_axis(policies[:, :, 1], s, axis=1)
    return np.stack([s, rng.random(s.shape) < p], axis=2).astype(int)


def simulated(rng):
    """The number of the prior, the weights and the logs of the tasks."""
    theta = int(rng.random() < HYPER[1])
    w = PRIORS[theta].draw(TASKS, rng)
    return theta, w, demonstrated(np.exp([log_policy(x) for x in w]), rng)


def quantities(theta, w, logs):
    """Of a truth or a draw. Likelihoods make calibration see how draws depend on the data."""
    fits = [log_policy(x)[log[:, 0], log[:, 1]].sum() for x, log in zip(w, logs, strict=True)]
    return np.array([theta, *w, np.prod(w), *fits, PRIORS[theta].log_density(w)])


def test_sweeps_keep_the_joint_distribution():
    """From the truth, three sweeps change no quantity on average: 450 truths; false alarm 1e-6 for all together."""
    prior, rng, changes = MultitaskBIRL(LINE, FEATURE, PRIORS, HYPER, C, step=0.2, moves=1), default_rng(1), []
    for _ in range(450):
        theta, w, logs = simulated(rng)
        belief = unchecked(prior.update_many(logs), theta=theta, weights=frozen(w[:, None].copy())).refresh(rng, 3)
        drawn = [quantities(k, x[:, 0], logs) for k, x in zip(belief.thetas, belief.samples, strict=True)]
        changes.append(np.mean(drawn, axis=0) - quantities(theta, w, logs))
    assert_mean_equal(changes, np.zeros(7), what=NAMES)


def ranked(truth, others, rng):
    """The rank of a truth (k,) among others (n, k); ties are broken at random."""
    below, equal = (others < truth).sum(axis=0), (others == truth).sum(axis=0)
    return below + (rng.random(len(truth)) * (equal + 1)).astype(int)


@pytest.mark.parametrize("replicates", [20, pytest.param(1000, marks=pytest.mark.long)])
def test_densities_are_calibrated(replicates):
    """Ranks are uniform, and so have their mean; false alarm 2e-6 for all quantities together.

    The second task is learnt after a refresh. Of 18 sweeps after that every third counts but for the first six.
    """
    prior, rng, ranks = MultitaskBIRL(LINE, FEATURE, PRIORS, HYPER, C, step=0.3, moves=2), default_rng(2), []
    kept = np.arange(FIRST + THIN - 1, FIRST + DRAWS * THIN, THIN)
    for _ in range(replicates):
        theta, w, logs = simulated(rng)
        belief = prior.update(logs[0]).refresh(rng).update_many(logs[1:]).refresh(rng, FIRST + DRAWS * THIN)
        drawn = np.array([quantities(belief.thetas[i], belief.samples[i, :, 0], logs) for i in kept])
        ranks.append(ranked(quantities(theta, w, logs), drawn, rng))
    assert_uniform_ranks(ranks, DRAWS + 1, what=NAMES)
    assert_mean_equal(ranks, DRAWS / 2, what=f"mean rank of {NAMES}")


TWO = b.TabularMDP.from_dense([[[1.0, 0.0], [0.3, 0.7]], [[0.6, 0.4], [0.0, 1.0]]], np.zeros(2), gamma=0.8)
LISTS = (FinitePrior([[0.0, 1.0], [0.2, 0.7]], [0.6, 0.4]), FinitePrior([[1.0, 0.0], [0.6, 0.5], [0.1, 0.9]]))


def policy_of(best, w, rate, rng):
    """A policy (2, 2) with uniform rows, kept with probability exp(-rate max_s V*(s) - V(s)) under the weights w."""
    T = TWO.dense()[0]
    while True:
        x, y = rng.random(2)
        policy = np.array([[x, 1.0 - x], [y, 1.0 - y]])
        V = np.linalg.solve(np.eye(2) - 0.8 * np.einsum("sa,sat->st", policy, T), w)
        if rng.random() < np.exp(-rate * (best - V).max()):
            return policy


@pytest.mark.parametrize(("replicates", "policies"), [(40, 60), pytest.param(1000, 300, marks=pytest.mark.long)])
def test_the_model_of_policies_is_calibrated(replicates, policies):
    """Ranks among exact draws given so many drawn policies are uniform; false alarm 2e-6 for all quantities together.

    The error of the drawn policies is not in that rate: it is small beside that of the ranks.
    """
    rate, rng, ranks = 2.0, default_rng(3), []
    prior = MultitaskBIRL(TWO, None, LISTS, HYPER, model="policy", optimality=rate)
    for _ in range(replicates):
        theta = int(rng.random() < HYPER[1])
        w = np.array([LISTS[theta].draw(2, rng) for _ in range(TASKS)])
        logs = demonstrated(np.array([policy_of(prior.rewards.solve(x).values, x, rate, rng) for x in w]), rng)
        belief = prior.update_many(logs).refresh(rng, policies)
        drawn = np.array([[one.theta, *one.weights.ravel()] for one in (belief.sample(rng) for _ in range(DRAWS))])
        ranks.append(ranked(np.array([theta, *w.ravel()]), drawn, rng))
    assert_uniform_ranks(ranks, DRAWS + 1)
    assert_mean_equal(ranks, DRAWS / 2, what="mean rank of the prior and the weights")
