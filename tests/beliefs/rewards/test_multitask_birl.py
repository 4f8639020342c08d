"""Tasks with a common prior: enumeration, quadrature, the model of policies, bad input."""

from itertools import product

import numpy as np
import plain_clusters as plain
import plain_inverse
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.beliefs.chain import PoorMixing
from bayesrl.beliefs.rewards._policy_optimality import losses
from bayesrl.errors import InvalidArgument
from bayesrl.inverse import FinitePrior, GaussianPrior, MultitaskBIRL, UniformPrior

LINE = plain_inverse.line()
P = LINE.dense()[0]
LOGS = [[(0, 1), (1, 1), (2, 1)], [(2, 0), (1, 0)], [(1, 1)]]
FIRST = FinitePrior([[0.0, 0.2, 1.0], [1.0, 0.0, 0.0]], [0.7, 0.3])
SECOND = FinitePrior([[0.0, 1.0, 0.0], [0.5, 0.5, 0.2], [1.0, 0.0, 0.3]])


def likelihood(w, pairs, rationality):
    return np.exp(
        plain_inverse.log_likelihood(P, np.repeat(np.asarray(w)[:, None], 2, axis=1), 0.9, pairs, rationality)
    )


def test_exact_posterior_is_the_enumerated_one():
    """Every (theta, w_1, w_2, w_3), each task on its own demonstrations, to 1e-8."""
    hyper, c = [0.35, 0.65], 3.0
    belief = MultitaskBIRL(LINE, priors=(FIRST, SECOND), hyper=hyper, rationality=c).update_many(LOGS)
    total, of_theta, means = 0.0, np.zeros(2), np.zeros((3, 3))
    for k, prior in enumerate((FIRST, SECOND)):
        L = [[likelihood(w, pairs, c) for w in prior.weights] for pairs in LOGS]
        for places in product(range(len(prior.weights)), repeat=3):
            p = hyper[k] * np.prod([prior.probabilities[i] * L[m][i] for m, i in enumerate(places)])
            total, of_theta[k] = total + p, of_theta[k] + p
            means += p * prior.weights[list(places)]
    np.testing.assert_allclose(belief.hyper_posterior(), of_theta / total, atol=1e-8)
    np.testing.assert_allclose(belief.means(), means / total, atol=1e-8)
    assert belief.log_evidence() == pytest.approx(np.log(total), abs=1e-8)
    assert belief.refresh(default_rng(0), 3) is belief
    rng = default_rng(1)
    drawn = [belief.sample(rng) for _ in range(4000)]
    plain.assert_near([[one.theta == 0] for one in drawn], of_theta[:1] / total)
    plain.assert_near([one.weights.ravel() for one in drawn], (means / total).ravel())


def test_one_prior_is_one_belief_for_each_task():
    """With one prior tasks do not teach each other, and the evidence is a product."""
    belief = MultitaskBIRL(LINE, priors=(SECOND,), rationality=2.0)
    each = [belief.update(pairs) for pairs in LOGS]
    both = belief.update_many(LOGS)
    np.testing.assert_allclose(both.means(), np.concatenate([one.means() for one in each]), atol=1e-12)
    assert both.log_evidence() == pytest.approx(sum(one.log_evidence() for one in each), abs=1e-12)
    single = b.inverse.BIRL(LINE, reward_prior=SECOND, rationality=2.0).update_many(LOGS[0])
    np.testing.assert_allclose(each[0].means()[0], single.mean(), atol=1e-8)
    assert each[0].log_evidence() == pytest.approx(single.log_evidence(), abs=1e-8)


FEATURE = np.array([[-1.0], [0.2], [1.0]])


def test_draws_agree_with_quadrature():
    """Two densities of one weight; two tasks. The joint posterior factors given theta: integrals on a grid."""
    priors, hyper, c = (UniformPrior(-1.0, 1.0), GaussianPrior(0.8, 0.4, -0.5, 1.5)), [0.5, 0.5], 3.0
    grid = np.linspace(-1.0, 1.5, 1001)
    unit = [plain_inverse.optimal_q(P, np.repeat(sign * FEATURE, 2, axis=1), 0.9) for sign in (1.0, -1.0)]
    L = np.zeros((2, len(grid)))
    for k, w in enumerate(grid):
        q = c * abs(w) * unit[int(w < 0.0)]
        log_p = q - np.log(np.exp(q).sum(axis=1, keepdims=True))
        L[:, k] = [np.exp(sum(log_p[s, a] for s, a in pairs)) for pairs in LOGS[:2]]
    density = np.array([[np.exp(prior.log_density([w])) for w in grid] for prior in priors])
    Z, first = (density @ L.T) * 2.5 / 1000, (density @ (L * grid).T) * 2.5 / 1000  # (theta, task)
    joint = hyper * Z.prod(axis=1)
    p = joint / joint.sum()
    belief = MultitaskBIRL(LINE, FEATURE, priors, hyper, c, step=0.5, moves=2).update_many(LOGS[:2])
    belief = belief.refresh(default_rng(3), 1200)
    plain.assert_near(belief.thetas[:, None] == np.arange(2), p)
    plain.assert_near(belief.samples[:, :, 0], p @ (first / Z))
    np.testing.assert_allclose(belief.hyper_posterior(), p, atol=0.08)
    np.testing.assert_allclose(belief.means()[:, 0], p @ (first / Z), atol=0.08)
    assert belief.sample(default_rng(0)).weights.shape == (2, 1)
    assert 0.1 < belief.diagnostics().acceptance < 1.0


TWO = b.TabularMDP.from_dense([[[1.0, 0.0], [0.3, 0.7]], [[0.6, 0.4], [0.0, 1.0]]], np.zeros(2), gamma=0.8)


def test_losses_by_hand():
    rewards = MultitaskBIRL(TWO, priors=(FinitePrior([[0.0, 1.0], [1.0, 0.0]]),)).rewards
    listed, policy = FinitePrior([[0.0, 1.0], [1.0, 0.2], [0.1, 0.02], [0.0, 0.0]]), np.array([[0.3, 0.7], [0.9, 0.1]])
    best = np.array([rewards.solve(w).values for w in listed.weights])
    T = TWO.dense()[0]
    for j, w in enumerate(listed.weights):
        V = np.zeros(2)
        for _ in range(500):
            V = w + 0.8 * np.array([policy[s] @ T[s] @ V for s in range(2)])
        assert losses(rewards, listed, best, policy)[j] == pytest.approx((best[j] - V).max(), abs=1e-9)


def test_the_model_of_policies_agrees_with_quadrature():
    """Two states, two actions: policies are two numbers in [0, 1], integrated on a grid. 3000 drawn policies."""
    prior, rate, alpha = FinitePrior([[0.0, 1.0], [1.0, 0.0], [0.4, 0.5]]), 1.5, 0.8
    logs = [[(0, 1), (1, 1), (1, 1)], [(0, 0), (0, 0)]]
    belief = MultitaskBIRL(TWO, priors=(prior,), model="policy", optimality=rate, alpha=alpha).update_many(logs)
    best = np.array([belief.rewards.solve(w).values for w in prior.weights])
    u = (np.arange(80) + 0.5) / 80
    points = np.sin(0.5 * np.pi * u) ** 2  # the Dirichlet density is infinite at the ends
    jacobian = np.pi * np.sin(0.5 * np.pi * u) * np.cos(0.5 * np.pi * u)
    top, bottom = np.zeros((2, 3)), np.zeros((2, 3))
    for (x, dx), (y, dy) in product(zip(points, jacobian, strict=True), repeat=2):
        policy = np.array([[x, 1 - x], [y, 1 - y]])
        mass = dx * dy * (x * (1 - x) * y * (1 - y)) ** (alpha - 1.0)
        kept = mass * np.exp(-rate * losses(belief.rewards, prior, best, policy))
        bottom += kept
        top += np.array([np.prod([policy[s, a] for s, a in pairs]) for pairs in logs])[:, None] * kept
    L = top / bottom
    exact = L / L.sum(axis=1, keepdims=True)
    belief = belief.refresh(default_rng(7), 1500).refresh(default_rng(8), 1500)
    assert belief.policies == 3000
    np.testing.assert_allclose(belief.means(), exact @ prior.weights, atol=0.02)
    assert belief.log_evidence() == pytest.approx(np.log(L.mean(axis=1)).sum(), abs=0.06)
    assert belief.update(logs[0]).policies == 0
    sure = (
        MultitaskBIRL(TWO, priors=(prior,), model="policy", optimality=1e-9)
        .update_many(logs)
        .refresh(default_rng(0), 5)
    )
    np.testing.assert_allclose(sure.means(), np.tile(prior.weights.mean(axis=0), (2, 1)), atol=1e-6)


@pytest.mark.parametrize(("step", "advice"), [(1e-4, "a larger 'step'"), (50.0, "a smaller 'step'")])
def test_a_bad_step_warns(step, advice):
    belief = MultitaskBIRL(LINE, FEATURE, step=step, moves=1).update_many(LOGS[:2])
    with pytest.warns(PoorMixing, match=advice):
        belief.refresh(default_rng(0), 200)


DENSE = MultitaskBIRL(LINE).update_many(LOGS)
POLICY = MultitaskBIRL(LINE, priors=(FIRST,), model="policy").update_many(LOGS)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: MultitaskBIRL(LINE, priors=()), "'priors' must be a tuple of priors"),
        (lambda: MultitaskBIRL(LINE, priors=FIRST), "'priors' must be a tuple of priors"),
        (lambda: MultitaskBIRL(LINE, priors=(None,)), "'priors' must be a prior over weights"),
        (lambda: MultitaskBIRL(LINE, priors=(FinitePrior([[0.0]]),)), "'priors' must be over 3 weights"),
        (lambda: MultitaskBIRL(LINE, priors=(FIRST, UniformPrior())), "'priors' must be all finite, or all densities"),
        (lambda: MultitaskBIRL(LINE, model="policy"), "'priors' must be finite"),
        (lambda: MultitaskBIRL(LINE, model="reward?"), "'model' must be"),
        (lambda: MultitaskBIRL(LINE, priors=(FIRST, SECOND), hyper=[0.5, 0.4]), "'hyper' must be "),
        (lambda: MultitaskBIRL(LINE, priors=(FIRST, SECOND), hyper=[1.0]), "'hyper' must be "),
        (lambda: MultitaskBIRL(LINE, priors=(FIRST, SECOND), hyper=[1.5, -0.5]), "'hyper' must be "),
        (lambda: MultitaskBIRL(LINE, priors=(FIRST, SECOND), hyper=[np.nan, 1.0]), "'hyper' must be "),
        (lambda: MultitaskBIRL(LINE, rationality=-1.0), "'rationality' must be greater than 0"),
        (lambda: MultitaskBIRL(LINE, optimality=0.0), "'optimality' must be greater than 0"),
        (lambda: MultitaskBIRL(LINE, alpha=0.0), "'alpha' must be greater than 0"),
        (lambda: MultitaskBIRL(LINE, step=0.0), "'step' must be greater than 0"),
        (lambda: MultitaskBIRL(LINE, moves=0), "'moves' must be a whole number of at least 1"),
        (lambda: DENSE.update([(3, 0)]), "'state' must be "),
        (lambda: DENSE.update_many(LOGS[0]), "'demonstrations' must be a sequence of logs"),
        (lambda: DENSE.refresh(default_rng(0), 0), "'sweeps' must be a whole number of at least 1"),
        (lambda: DENSE.refresh(3), "'rng' must be a numpy Generator"),
        (lambda: DENSE.means(), "'self' must be a belief with draws"),
        (lambda: DENSE.hyper_posterior(), "'self' must be a belief with draws"),
        (lambda: DENSE.sample(default_rng(0)), "'self' must be a belief with draws"),
        (lambda: DENSE.diagnostics(), "'self' must be a belief with draws"),
        (lambda: DENSE.log_evidence(), "'priors' must be finite"),
        (lambda: POLICY.means(), "'self' must be a belief with drawn policies"),
        (lambda: POLICY.log_evidence(), "'self' must be a belief with drawn policies"),
    ],
)
def test_bad_input(call, sentence):
    with pytest.raises(InvalidArgument, match=sentence):
        call()
    assert DENSE.n_trajectories == 3
