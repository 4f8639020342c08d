"""Finitely many models: Bayes' rule by hand, sums by enumeration, MDPs by their rows."""

import itertools

import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose
from scipy import stats

from bayesrl.bandits.thompson import Thompson
from bayesrl.beliefs.arms.bandit_models import BernoulliModels, BernoulliSums, GaussianModels, OutcomeModels
from bayesrl.beliefs.arms.finite_models import FiniteModels
from bayesrl.beliefs.mdp.finite_mdps import FiniteMDPs
from bayesrl.core import BayesAgent, Transition, run
from bayesrl.errors import ImpossibleEvidence
from bayesrl.models.mdp import TabularMDP
from bayesrl.worlds.bandits.bernoulli import BernoulliBandit

MEANS = np.array([[0.1, 0.6, 0.3], [0.7, 0.2, 0.5], [0.4, 0.4, 0.8]])
WEIGHTS = np.array([0.5, 0.3, 0.2])
VALUES = np.array([-1.0, 0.0, 2.0])
PROB = default_rng(0).dirichlet(np.ones(3), size=(3, 3))
KINDS = {
    "bernoulli": (BernoulliModels(MEANS), [0.0, 1.0], lambda i, a, r: MEANS[i, a] if r else 1 - MEANS[i, a]),
    "gaussian": (GaussianModels(MEANS, 0.4), [0.3, -0.2, 1.0], lambda i, a, r: stats.norm.pdf(r, MEANS[i, a], 0.4)),
    "outcomes": (OutcomeModels(VALUES, PROB), VALUES.tolist(), lambda i, a, r: PROB[i, a, VALUES.tolist().index(r)]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_bayes_rule(kind):
    models, rewards, likelihood = KINDS[kind]
    rng, n = default_rng(1), 4
    action, reward = rng.integers(3, size=(12, n)), rng.choice(rewards, size=(12, n))
    together = FiniteModels(models, WEIGHTS).batch(n)
    for a, r in zip(action, reward, strict=True):
        together = together.update(Transition(0, a, r, 0))
    for j in range(n):
        alone = FiniteModels(models, WEIGHTS)
        joint = WEIGHTS.copy()
        for a, r in zip(action[:, j].tolist(), reward[:, j].tolist(), strict=True):
            alone = alone.update(Transition(0, a, r, 0))
            joint *= [likelihood(i, a, r) for i in range(3)]
        w = joint / joint.sum()
        assert_allclose(alone.posterior(), w, rtol=1e-10)
        assert_allclose(together.posterior()[j], w, rtol=1e-10)
        assert_allclose(alone.log_evidence(), np.log(joint.sum()), rtol=1e-10)
        assert_allclose(alone.mean(), w @ models.means, rtol=1e-10)
        assert_allclose(together.variance()[j], w @ models.means**2 - (w @ models.means) ** 2, atol=1e-12)
        assert_allclose(together.quantile(0.6)[j], alone.quantile(0.6))


def test_quantile_is_the_least_mean_with_that_much_below():
    belief = FiniteModels(BernoulliModels(MEANS), WEIGHTS)
    for p in (0.01, 0.19, 0.49, 0.51, 0.69, 0.71, 0.99):
        for a in range(3):
            below = [x for x in sorted(MEANS[:, a]) if WEIGHTS[MEANS[:, a] <= x].sum() >= p]
            assert belief.quantile(p)[a] == below[0]


def test_draws_have_the_posterior_weights():
    """False alarm 1e-4."""
    rng, belief = default_rng(2), FiniteModels(BernoulliModels(MEANS), WEIGHTS)
    firsts = np.array([belief.sample_means(None, rng)[0] for _ in range(5000)])
    together = belief.batch(5000).sample_means(None, rng)[:, 0]
    for drawn in (firsts, together):
        count = [(drawn == m).sum() for m in MEANS[:, 0]]
        assert stats.chisquare(count, 5000 * WEIGHTS).pvalue > 1e-4


def test_sums_match_enumeration():
    models, rng = BernoulliSums(MEANS), default_rng(3)
    chosen = np.array([[0, 2], [1, 2], [0, 1]])
    totals = np.array([1.0, 2.0, 0.0])
    each = models.log_likelihood("test", chosen, totals, (3,))
    for j, (items, total) in enumerate(zip(chosen, totals, strict=True)):
        for i in range(3):
            p = MEANS[i, items]
            probability = sum(
                np.prod(np.where(pays, p, 1 - p)) for pays in itertools.product([0, 1], repeat=2) if sum(pays) == total
            )
            assert_allclose(each[j, i], np.log(probability), rtol=1e-12)
        assert_allclose(models.log_likelihood("test", items, float(total), ()), each[j])
    belief = FiniteModels(models)
    for _ in range(400):
        items = rng.choice(3, 2, replace=False)
        belief = belief.update(Transition(0, items, float((rng.random(2) < MEANS[1, items]).sum()), 0))
    assert belief.posterior().argmax() == 1


def test_impossible_rewards_are_refused():
    sure = FiniteModels(BernoulliModels(np.array([[0.0, 0.5], [0.0, 0.7]])))
    with pytest.raises(ImpossibleEvidence, match="no model with positive weight allows it"):
        sure.update(Transition(0, 0, 1.0, 0))
    with pytest.raises(ImpossibleEvidence):
        sure.update(Transition(0, 1, 0.5, 0))


def test_correlated_arms_teach_about_each_other():
    """Only arm 0 is played, and the best arm becomes known: the point of Gopalan et al."""
    belief = FiniteModels(BernoulliModels(np.array([[0.2, 0.9, 0.1], [0.8, 0.1, 0.9]])))
    for r in (1.0, 1.0, 0.0, 1.0, 1.0):
        belief = belief.update(Transition(0, 0, r, 0))
    assert belief.posterior()[1] > 0.98
    assert belief.mean().argmax() == 2


def test_liu_and_li_prior_matters():
    """Two models, two arms: the more weight the truth has, the less regret (frequentist, 400 runs in lockstep)."""
    true, false = [0.5, 0.6], [0.5, 0.4]
    world = BernoulliBandit(np.array(true))
    lost = []
    for weight in (0.02, 0.5, 0.98):
        agent = BayesAgent(FiniteModels.two(true, false, weight), Thompson())
        record = run(agent, world, 300, lockstep=400)
        lost.append(0.1 * (record.action == 0).sum(axis=0).mean())
    assert lost[0] > 1.5 * lost[1] > 3.0 * lost[2]


# MDPs ----------------------------------------------------------------------------------------------------------------


def mdps(n=3):
    rng = default_rng(4)
    R = rng.integers(0, 3, size=(3, 2, 3)).astype(float)
    return [TabularMDP.from_dense(rng.dirichlet(np.ones(3), size=(3, 2)), R, 0.9) for _ in range(n)], R


def test_mdp_weights_are_bayes_rule():
    models, R = mdps()
    belief, joint, rng = FiniteMDPs(tuple(models), WEIGHTS), WEIGHTS.copy(), default_rng(5)
    P = np.array([m.dense()[0] for m in models])
    for _ in range(15):
        s, a, y = rng.integers(3), rng.integers(2), rng.integers(3)
        belief = belief.update(Transition(int(s), int(a), R[s, a, y], int(y)))
        joint *= P[:, s, a, y]
    assert_allclose(belief.posterior(), joint / joint.sum(), rtol=1e-10)
    assert_allclose(belief.log_evidence(), np.log(joint.sum()), rtol=1e-10)
    with pytest.raises(ImpossibleEvidence):
        belief.update(Transition(0, 0, 17.0, 0))
    drawn = [models.index(belief.sample_mdp(rng)) for _ in range(3000)]
    expected = 3000 * belief.posterior()
    kept = expected > 5
    counts = np.bincount(drawn, minlength=3)[kept]
    assert stats.chisquare(counts, expected[kept] * counts.sum() / expected[kept].sum()).pvalue > 1e-4


def test_rewards_tell_models_apart():
    P = np.full((2, 1, 2), 0.5)
    one, two = (TabularMDP.from_dense(P, np.array([[r], [0.0]]), 0.9) for r in (1.0, 2.0))
    belief = FiniteMDPs((one, two)).update(Transition(0, 0, 2.0, 1))
    assert belief.posterior().tolist() == [0.0, 1.0]


def test_mean_mdp_is_the_weighted_model():
    models, R = mdps()
    mean = FiniteMDPs(tuple(models), WEIGHTS).mean_mdp()
    P = np.einsum("i,isay->say", WEIGHTS, np.array([m.dense()[0] for m in models]))
    assert_allclose(mean.dense()[0], P, atol=1e-12)
    assert_allclose(mean.mean_reward, (P * R).sum(axis=2), atol=1e-12)


def test_posteriors_after_data_in_lockstep_are_those_of_each():
    """Counts that no model allows have probability zero, in lockstep too."""
    models = FiniteModels(BernoulliModels(np.array([[1.0, 0.3], [1.0, 0.6], [0.4, 0.8]])), np.array([0.2, 0.3, 0.5]))
    one = models.update(Transition(None, 1, 1.0, 0))
    two = models.update(Transition(None, 0, 1.0, 0))
    both = models.batch(2).update(Transition(None, np.array([1, 0]), np.array([1.0, 1.0]), 0))
    seen = np.array([[[0, 2], [1, 1]], [[3, 0], [0, 0]], [[0, 0], [0, 0]], [[0, 1], [0, 4]]])
    together = both.posteriors_after(seen)
    for i, belief in enumerate((one, two)):
        alone = belief.posteriors_after(seen)
        np.testing.assert_allclose(together[0][i], alone[0])
        np.testing.assert_allclose(together[1]()[i], alone[1]())
        np.testing.assert_allclose(together[2]()[i], alone[2]())
    sure = FiniteModels(BernoulliModels(np.array([[1.0, 0.3], [1.0, 0.6]])), np.array([0.5, 0.5]))
    assert (sure.posteriors_after(seen)[0][1] == 0.0).all()
    assert (sure.batch(2).posteriors_after(seen)[0][:, 1] == 0.0).all()


def test_deviation_of_gaussian_models():
    """The noise, and a mean in the range of the models: variance at most the range squared over 4 (Popoviciu)."""
    models = GaussianModels(np.array([[0.0, 1.0], [3.0, 1.5], [1.0, -0.5]]), noise=0.8)
    assert models.deviation == pytest.approx(np.sqrt(0.64 + 3.0**2 / 4.0))
    assert GaussianModels(np.array([[0.0], [3.0]]), noise=0.8).deviation == pytest.approx(
        np.sqrt(0.64 + np.var([0.0, 3.0]))
    )


def test_quantiles_at_their_limits():
    """The 1-quantile is the largest mean, whatever the weights sum to in rounding; ties belong to the smaller mean."""
    rng = default_rng(8)
    means, weights = rng.random((7, 3)), rng.dirichlet(np.full(7, 5.0), size=60)
    belief = FiniteModels(BernoulliModels(means), weights)
    totals = np.cumsum(belief.posterior()[:, np.argsort(means, axis=0)], axis=-2)[:, -1]
    assert (totals < 1.0).any()
    assert (totals > 1.0).any()
    np.testing.assert_array_equal(belief.quantile(1.0), np.tile(means.max(axis=0), (60, 1)))
    np.testing.assert_array_equal(belief.quantile(0.0), np.tile(means.min(axis=0), (60, 1)))
    for p in (0.11, 0.48, 0.93):
        for w, found in zip(weights, belief.quantile(p), strict=True):
            likely = [min(x for x in means[:, a] if w[means[:, a] <= x].sum() >= p) for a in range(3)]
            np.testing.assert_array_equal(found, likely)
    even = FiniteModels(BernoulliModels([[0.3, 0.8], [0.6, 0.1]]))
    assert even.quantile(0.5).tolist() == [0.3, 0.1]
    assert even.quantile(0.5 + 2e-9).tolist() == [0.6, 0.8]
