"""Each belief about arms against plain formulas: what is predicted, told and drawn after every reward."""

import itertools
import math

import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal
from scipy import special, stats

from bayesrl.beliefs.arms.bandit_models import BernoulliModels, BernoulliSums, GaussianModels, OutcomeModels
from bayesrl.beliefs.arms.beta_bernoulli import BetaBernoulli
from bayesrl.beliefs.arms.binarised_rewards import BinarisedRewards
from bayesrl.beliefs.arms.exponential_arm import ExponentialArm
from bayesrl.beliefs.arms.finite_models import FiniteModels
from bayesrl.beliefs.arms.forgetting import Forgetting
from bayesrl.beliefs.arms.full_bandit import FullBandit
from bayesrl.beliefs.arms.linear_gaussian_arms import LinearGaussianArms, their_v
from bayesrl.beliefs.arms.logistic_arms import LogisticArms
from bayesrl.beliefs.arms.logistic_laplace_arms import LogisticLaplaceArms
from bayesrl.beliefs.arms.normal_arm import NormalArm
from bayesrl.beliefs.arms.normal_gamma_arm import NormalGammaArm
from bayesrl.beliefs.arms.poisson_arm import PoissonArm
from bayesrl.beliefs.arms.semi_bandit import SemiBandit
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence, InvalidArgument


def refused(call, *parts):
    """The call is refused in a sentence with these parts."""
    with pytest.raises((InvalidArgument, ImpossibleEvidence)) as error:
        call()
    for part in parts:
        assert part in str(error.value)


def step(a, r):
    return Transition(0, a, r, 0)


# Conjugate beliefs ----------------------------------------------------------------------------------------------------


class Kind:
    """One conjugate belief: how the numbers of one arm change, and what they mean."""

    def __init__(self, prior, rewards, learn, predictive, mean_law, draw):
        self.prior, self.rewards, self.learn = prior, rewards, learn
        self.predictive, self.mean_law, self.draw = predictive, mean_law, draw


def normal_gamma(x, r):
    m, k, a, b = x
    return (k * m + r) / (k + 1), k + 1, a + 0.5, b + 0.5 * k * (r - m) ** 2 / (k + 1)


NOISE = 0.7
KINDS = {
    "beta": Kind(
        BetaBernoulli([0.8, 1.5, 2.0], [1.3, 1.0, 0.7], 0.83),
        [1.0, 0.0],
        lambda x, r: (x[0] + r, x[1] + 1 - r),
        lambda x, r: math.log((x[0] if r else x[1]) / (x[0] + x[1])),
        lambda a, b: stats.beta(a, b),
        lambda x, rng: rng.beta(x[0], x[1]),
    ),
    "poisson": Kind(
        PoissonArm([0.8, 1.5, 4.0], [1.3, 0.5, 2.0], 0.83),
        [3.0, 0.0, 1.0],
        lambda x, r: (x[0] + r, x[1] + 1),
        lambda x, r: stats.nbinom.logpmf(r, x[0], x[1] / (x[1] + 1)),
        lambda a, b: stats.gamma(a, scale=1 / b),
        lambda x, rng: rng.standard_gamma(x[0]) / x[1],
    ),
    "exponential": Kind(
        ExponentialArm([3.0, 2.5, 4.0], [1.3, 0.5, 2.0], 0.83),
        [0.2, 1.7, 0.0],
        lambda x, r: (x[0] + 1, x[1] + r),
        lambda x, r: stats.lomax.logpdf(r, x[0], scale=x[1]),
        lambda a, b: stats.invgamma(a, scale=b),
        lambda x, rng: x[1] / rng.standard_gamma(x[0]),
    ),
    "normal": Kind(
        NormalArm([0.3, 1.0, -0.5], [1.2, 0.5, 2.0], NOISE, 0.83),
        [0.3, -1.2, 2.0],
        lambda x, r: ((x[1] * x[0] + r) / (x[1] + 1), x[1] + 1),
        lambda x, r: stats.norm.logpdf(r, x[0], NOISE * math.sqrt(1 + 1 / x[1])),
        lambda m, k: stats.norm(m, NOISE / np.sqrt(k)),
        lambda x, rng: x[0] + NOISE / np.sqrt(x[1]) * rng.standard_normal(np.shape(x[0])),
    ),
    "normal-gamma": Kind(
        NormalGammaArm([0.3, 1.0, -0.5], [1.2, 0.5, 2.0], [3.0, 2.5, 4.0], [2.0, 1.3, 3.0], 0.83),
        [0.3, -1.2, 2.0],
        normal_gamma,
        lambda x, r: stats.t.logpdf(r, 2 * x[2], x[0], math.sqrt(x[3] * (x[1] + 1) / (x[2] * x[1]))),
        lambda m, k, a, b: stats.t(2 * a, m, np.sqrt(b / (a * k))),
        lambda x, rng: x[0] + np.sqrt(x[3] / (x[2] * x[1])) * rng.standard_t(2 * x[2]),
    ),
}  # fmt: skip
FIELDS = {
    "beta": ("alpha", "beta"),
    "poisson": ("shape", "rate"),
    "exponential": ("shape", "rate"),
    "normal": ("mean_", "strength"),
    "normal-gamma": ("mean_", "strength", "shape", "rate"),
}
ARMS = [1, 1, 0, 1, 0]


@pytest.mark.parametrize("kind", KINDS)
def test_conjugate_belief_by_hand(kind):
    """Five rewards of two of three arms: parameters, evidence, counts, averages, moments, quantiles, draws."""
    k, belief = KINDS[kind], KINDS[kind].prior
    assert belief.log_evidence() == 0.0
    rewards = [k.rewards[i % len(k.rewards)] for i in range(5)]
    x = {a: tuple(float(getattr(belief, f)[a]) for f in FIELDS[kind]) for a in range(3)}
    evidence = 0.0
    for a, r in zip(ARMS, rewards, strict=True):
        evidence += k.predictive(x[a], r)
        x[a] = k.learn(x[a], r)
        belief = belief.update(step(a, r))
        assert belief.log_evidence() == pytest.approx(evidence, rel=1e-10)
    own = [np.array([x[a][i] for a in range(3)]) for i in range(len(FIELDS[kind]))]
    for field, expected in zip(FIELDS[kind], own, strict=True):
        assert_allclose(getattr(belief, field), expected, rtol=1e-12)
    assert_allclose(belief.plays(), [2.0, 3.0, 0.0], rtol=1e-12, atol=1e-12)
    average = [np.mean([r for b, r in zip(ARMS, rewards, strict=True) if b == a]) for a in (0, 1)]
    assert_allclose(belief.average(), [*average, np.nan], rtol=1e-9, atol=1e-12)
    law = k.mean_law(*own)
    assert_allclose(belief.mean(), law.mean(), rtol=1e-12)
    assert_allclose(belief.variance(), law.var(), rtol=1e-12)
    for p in (0.0, 0.07, 0.5, 0.9, 1.0):
        assert_allclose(belief.quantile(p), law.ppf(p), rtol=1e-9)
    assert_allclose(belief.sample_means(None, default_rng(1)), k.draw(own, default_rng(1)), rtol=1e-12)
    assert (belief.n_actions, belief.gamma) == (3, 0.83)
    # A log at once, and three replicates in lockstep, from a belief that has learnt already.
    log = {"action": ARMS, "reward": rewards}
    once = k.prior.update_many(log)
    assert_allclose(once.log_evidence(), evidence, rtol=1e-9)
    more = belief.update_many(log).batch(3)
    after = more.update(step(np.array([0, 2, 1]), np.array(rewards[:3])))
    for i, (a, r) in enumerate(zip((0, 2, 1), rewards, strict=False)):
        alone = belief.update_many(log).update(step(a, r))
        for ask in ("mean", "variance", "plays", "average"):
            assert_allclose(getattr(after, ask)()[i], getattr(alone, ask)(), rtol=1e-9)
        assert_allclose(after.log_evidence()[i], alone.log_evidence(), rtol=1e-9)
    assert_allclose(more.log_evidence(), [belief.update_many(log).log_evidence()] * 3)
    assert after.sample_means(None, default_rng(2)).shape == (3, 3)


@pytest.mark.parametrize("kind", KINDS)
def test_fading_of_conjugate_beliefs(kind):
    """Evidence of a faded belief is that of the next reward's prediction; plays fade with it."""
    k, prior = KINDS[kind], KINDS[kind].prior
    belief = prior.update_many({"action": ARMS, "reward": [k.rewards[i % len(k.rewards)] for i in range(5)]})
    faded = belief.fade(prior, 0.6)
    assert_allclose(faded.plays(), 0.6 * belief.plays(), rtol=1e-12, atol=1e-12)
    assert_allclose(faded.average()[:2], belief.average()[:2], rtol=1e-9)
    x = tuple(float(getattr(faded, f)[1]) for f in FIELDS[kind])
    r = k.rewards[0]
    gained = faded.update(step(1, r)).log_evidence() - faded.log_evidence()
    assert gained == pytest.approx(k.predictive(x, r), rel=1e-9)
    assert belief.fade(prior, 1.0).mean()[1] == pytest.approx(belief.mean()[1], rel=1e-14)


def test_usual_priors():
    """What the shortcuts say: of how many arms, with which numbers and discount; no arms are refused."""
    for made, fields in (
        (BetaBernoulli.uniform, {"alpha": 1.0, "beta": 1.0}),
        (PoissonArm.exponential, {"shape": 1.0, "rate": 1.0}),
        (ExponentialArm.weak, {"shape": 3.0, "rate": 2.0}),
        (NormalArm.standard, {"mean_": 0.0, "strength": 1.0}),
        (NormalGammaArm.weak, {"mean_": 0.0, "strength": 1.0, "shape": 2.0, "rate": 1.0}),
    ):
        belief = made(4, 0.83)
        assert belief.gamma == 0.83
        assert made(1).gamma == 1.0
        for name, x in fields.items():
            assert_array_equal(getattr(belief, name), np.full(4, x))
        refused(lambda m=made: m(0), "'arms' must be a whole number of at least 1, got 0")
    assert NormalArm.standard(2).noise == 1.0
    assert BetaBernoulli.uniform(3).is_uniform
    for other in (BetaBernoulli([1.0, 2.0], [1.0, 1.0]), BetaBernoulli([1.0, 1.0], [1.0, 2.0])):
        assert not other.is_uniform
    assert BetaBernoulli.uniform(3).reward_deviation() == 0.5
    wide = NormalArm([0.3, 1.0], [1.2, 0.5], NOISE)
    assert wide.reward_deviation() == pytest.approx(NOISE * math.sqrt(3.0))
    states = wide.arm_states()
    assert (states.kind, states.scale) == ("normal", NOISE)
    assert_array_equal(states.state, [[1.2], [0.5]])
    assert_array_equal(states.base, [0.3, 1.0])
    states = BetaBernoulli([0.8, 1.5], [1.3, 1.0]).arm_states()
    assert states[0] == "bernoulli"
    assert_array_equal(states.state, [[0.8, 1.3], [1.5, 1.0]])
    assert (states.base, states.scale) == (0.0, 1.0)


def test_moments_that_do_not_exist():
    """A mean of inverse gamma needs a shape above 1, its variance one above 2; that of Student's t a shape above 1."""
    belief = ExponentialArm([0.5, 1.0, 1.5, 2.0, 2.5], [1.0, 2.0, 3.0, 4.0, 5.0])
    assert_allclose(belief.mean(), [np.inf, np.inf, 6.0, 4.0, 5 / 1.5])
    assert_allclose(belief.variance(), [np.inf, np.inf, np.inf, np.inf, (5 / 1.5) ** 2 / 0.5])
    belief = NormalGammaArm(np.zeros(3), np.full(3, 2.0), [0.7, 1.0, 1.5], np.full(3, 3.0))
    assert_allclose(belief.variance(), [np.inf, np.inf, 3.0 / (2.0 * 0.5)])
    for kind, bad in (("poisson", -1.0), ("poisson", 0.5), ("exponential", -0.1), ("beta", 0.5), ("beta", 2.0)):
        prior = KINDS[kind].prior
        refused(lambda p=prior, r=bad: p.update(step(0, r)), f"reward {bad:g}")
        refused(lambda p=prior, r=bad: p.update_many({"action": [0, 1], "reward": [1.0, r]}), f"reward {bad:g}")
        refused(lambda p=prior, r=bad: p.batch(2).update(step(np.array([0, 1]), np.array([1.0, r]))), f"reward {bad:g}")


def test_posteriors_of_betas_for_planners():
    """After seen[n, a, y] further rewards: P(1), and the probability of being best, for two replicates."""
    belief = BetaBernoulli([[0.8, 1.5], [2.0, 1.0]], [[1.3, 1.0], [0.7, 3.0]], 0.83)
    seen = np.array([[[0, 0], [0, 0]], [[2, 1], [0, 3]], [[1, 0], [4, 2]]])
    found = belief.posteriors_after(seen)
    best, drawn = found.best(), found.drawn()
    for r, n in itertools.product(range(2), range(3)):
        a, b = belief.alpha[r] + seen[n, :, 1], belief.beta[r] + seen[n, :, 0]
        assert_allclose(found.prob[r, n], np.stack([b / (a + b), a / (a + b)], axis=-1))
        x = (np.arange(20000) + 0.5) / 20000
        chance = (stats.beta.pdf(x, a[0], b[0]) * stats.beta.cdf(x, a[1], b[1])).mean()
        assert best[r, n, 0] == pytest.approx(chance, abs=3e-3)  # the grid misses some of a pole
        assert best[r, n].sum() == pytest.approx(1.0, abs=1e-3)
        assert_array_equal(drawn[r, n], best[r, n])
    assert_array_equal(belief.reward_values(), [0.0, 1.0])
    assert belief.posterior_size == 2
    twice = BetaBernoulli(belief.alpha[[1, 0, 1]], belief.beta[[1, 0, 1]], 0.83)
    some, which = twice.distinct_replicates()
    for i in range(3):
        assert_array_equal(some.alpha[which[i]], twice.alpha[i])
        assert_array_equal(some.beta[which[i]], twice.beta[i])
    assert len(some.alpha) == 2
    assert some.gamma == 0.83
    part = twice.some_replicates(slice(1, 3))
    assert_array_equal(part.beta, twice.beta[1:3])
    assert part.gamma == 0.83
    for call in (
        BetaBernoulli.uniform(2).distinct_replicates,
        lambda: BetaBernoulli.uniform(2).some_replicates(slice(1)),
    ):
        refused(call, "'belief' must be one in lockstep")


def test_coins_of_binarised_rewards():
    """A number of the stream below the reward shows 1; 0 and 1 are rewards; a log tosses a coin for each."""
    belief = BinarisedRewards(BetaBernoulli([0.8, 1.5], [1.3, 1.0], 0.83))
    for seed, r in itertools.product(range(6), (0.0, 0.35, 0.8, 1.0)):
        shown = float(default_rng(seed).random() < r)
        found = belief.update(step(1, r), default_rng(seed)).inside
        assert found == belief.inside.update(step(1, shown))
    rewards = np.array([0.2, 0.5, 0.9, 0.7])
    log = {"action": [0, 1, 1, 0], "reward": rewards}
    coins = (default_rng(3).random(4) < rewards).astype(float)
    many = belief.update_many(log, default_rng(3))
    assert many.inside == belief.inside.update_many({"action": [0, 1, 1, 0], "reward": coins})
    both = belief.batch(2).update(step(np.array([1, 0]), np.array([0.4, 0.6])), default_rng(4))
    coins = (default_rng(4).random(2) < [0.4, 0.6]).astype(float)
    assert both.inside == belief.inside.batch(2).update(step(np.array([1, 0]), coins))
    for bad in (-1e-9, 1.0 + 1e-9):
        refused(lambda r=bad: belief.update(step(0, r), default_rng(0)), "rewards lie in [0, 1]")
        refused(
            lambda r=bad: belief.update_many({"action": [0], "reward": [r]}, default_rng(0)), "rewards lie in [0, 1]"
        )
    inside = many.inside
    assert (many.gamma, many.n_actions) == (0.83, 2)
    for ask in ("mean", "variance", "plays", "average"):
        assert_array_equal(getattr(many, ask)(), getattr(inside, ask)())
    assert_array_equal(many.quantile(0.3), inside.quantile(0.3))
    assert_array_equal(many.sample_means(None, default_rng(1)), inside.sample_means(None, default_rng(1)))
    assert_array_equal(many.best_arm().p, inside.best_arm().p)


# Finitely many models -------------------------------------------------------------------------------------------------

MEANS = np.array([[0.1, 0.6], [0.7, 0.2], [0.4, 0.85]])
WEIGHTS = np.array([0.5, 0.3, 0.2])
VALUES = np.array([-1.0, 0.5, 2.0, 3.0])
TABLE = default_rng(0).dirichlet(np.ones(4), (3, 2))


def test_likelihoods_of_models():
    """log P(reward | model) for one experiment and three replicates, with three models, two arms, four values."""
    action = np.array([1, 0, 1])
    for models, rewards, chance in (
        (BernoulliModels(MEANS), [1.0, 0.0, 1.0], lambda i, a, r: MEANS[i, a] if r else 1 - MEANS[i, a]),
        (GaussianModels(MEANS, 0.4), [0.3, -2.0, 1.1], lambda i, a, r: stats.norm.pdf(r, MEANS[i, a], 0.4)),
        (OutcomeModels(VALUES, TABLE), [2.0, -1.0, 3.0], lambda i, a, r: TABLE[i, a, VALUES.tolist().index(r)]),
    ):
        together = models.log_likelihood("W", action, np.array(rewards), (3,))
        for j, (a, r) in enumerate(zip(action.tolist(), rewards, strict=True)):
            expected = [math.log(chance(i, a, r)) for i in range(3)]
            assert_allclose(together[j], expected, rtol=1e-12)
            assert_allclose(models.log_likelihood("W", a, r, ()), expected, rtol=1e-12)
    for models in (BernoulliModels(MEANS), OutcomeModels(VALUES, TABLE)):
        assert_array_equal(models.log_likelihood("W", 0, 0.25, ()), [-np.inf] * 3)
    five = default_rng(1).random((3, 5))
    sums = BernoulliSums(five)
    for items, total in itertools.product(([0, 3, 4], [2], [1, 2, 3, 4]), range(5)):
        for i in range(3):
            chance = sum(
                math.prod(five[i, a] if y else 1 - five[i, a] for a, y in zip(items, paid, strict=True))
                for paid in itertools.product((0, 1), repeat=len(items))
                if sum(paid) == total
            )
            found = sums.log_likelihood("W", np.array(items), float(total), ())[i]
            assert math.exp(found) == pytest.approx(chance, abs=1e-14)
    both = sums.log_likelihood("W", np.array([[0, 3], [4, 1]]), np.array([1.0, 2.0]), (2,))
    assert_allclose(both[1], sums.log_likelihood("W", np.array([4, 1]), 2.0, ()))


def test_facts_of_models():
    assert_allclose(OutcomeModels(VALUES, TABLE).means, np.einsum("iay,y->ia", TABLE, VALUES))
    assert OutcomeModels(VALUES, TABLE).deviation == 2.0
    assert (BernoulliModels(MEANS).deviation, BernoulliModels(MEANS).law) == (0.5, "bernoulli")
    values, prob = BernoulliModels(MEANS).table
    assert values.tolist() == [0.0, 1.0]
    assert_allclose(prob[..., 1], MEANS)
    assert_allclose(prob.sum(axis=-1), 1.0)
    assert GaussianModels(MEANS, 0.4).law == 0.4
    assert GaussianModels(MEANS, 0.4).deviation == pytest.approx(math.sqrt(0.16 + 0.65**2 / 4))
    assert GaussianModels(MEANS).noise == 1.0
    for kind in (BernoulliModels, BernoulliSums):
        kind([[0.0, 1.0]])
        refused(lambda k=kind: k([[0.5, 1.0 + 1e-9]]), "'means' must be at most 1 everywhere")
        refused(lambda k=kind: k([[0.5, -1e-9]]), "'means' must be")
        refused(lambda k=kind: k([0.5, 0.5]), "'means' must be an array of shape (any, any)")
    refused(lambda: GaussianModels([0.5, 0.5]), "GaussianModels: 'means' must be an array of shape (any, any)")
    refused(lambda: OutcomeModels(VALUES, TABLE[:, :, :3]), "OutcomeModels: 'prob' must be")
    refused(lambda: OutcomeModels(VALUES, 0.9 * TABLE), "OutcomeModels: 'prob' must be rows that sum to 1")


def test_finite_models_by_hand():
    prior = FiniteModels(OutcomeModels(VALUES, TABLE), WEIGHTS, 0.83)
    belief, w = prior, WEIGHTS.copy()
    for a, r in ((1, 2.0), (0, -1.0), (1, 0.5)):
        w *= TABLE[:, a, VALUES.tolist().index(r)]
        belief = belief.update(step(a, r))
    evidence = w.sum()
    w /= evidence
    means = belief.models.means
    assert_allclose(belief.posterior(), w)
    assert belief.log_evidence() == pytest.approx(math.log(evidence))
    assert_allclose(belief.mean(), w @ means)
    assert_allclose(belief.variance(), w @ (means - w @ means) ** 2)
    for p in (0.0, 0.05, 0.35, 0.6, 0.95, 1.0):
        for a in range(2):
            order = np.argsort(means[:, a])
            below = np.cumsum(w[order])
            first = next(i for i in range(3) if below[i] >= p * (1 - 1e-12))
            assert belief.quantile(p)[a] == means[order[first], a]
            assert belief.batch(2).quantile(p)[1, a] == means[order[first], a]
    for seed in range(8):
        u = default_rng(seed).random()
        model = int(np.sum(np.cumsum(w) <= u))
        assert_array_equal(belief.sample_means(None, default_rng(seed)), means[model])
    u = default_rng(1).random(5)
    drawn = belief.batch(5).sample_means(None, default_rng(1))
    assert_array_equal(drawn, means[[int(np.sum(np.cumsum(w) <= x)) for x in u]])
    seen = np.array([[[0, 2, 0, 1], [1, 0, 0, 0]], [[0, 0, 0, 0], [0, 0, 3, 0]]])
    after = belief.posteriors_after(seen)
    for n in range(2):
        v = w * [
            math.prod(float(TABLE[i, a, y]) ** seen[n, a, y] for a in range(2) for y in range(4)) for i in range(3)
        ]
        v /= v.sum()
        assert_allclose(after.prob[n], np.einsum("i,iay->ay", v, TABLE), rtol=1e-10)
        assert_allclose(after.best()[n], [v[means.argmax(axis=1) == a].sum() for a in range(2)])
        assert_allclose(after.drawn()[n], after.best()[n])
    tie = FiniteModels(BernoulliModels([[0.5, 0.5, 0.2], [0.1, 0.3, 0.9]]), [0.4, 0.6])
    after = tie.posteriors_after(np.zeros((1, 3, 2), int))
    assert_allclose(after.best(), [[0.4, 0.4, 0.6]])  # two best arms are both no mistake
    assert_allclose(after.drawn(), [[0.4, 0.0, 0.6]])  # the first of them is played
    assert (belief.posterior_size, belief.batch(4).posterior_size, belief.n_actions, belief.gamma) == (3, 12, 2, 0.83)
    assert_array_equal(belief.reward_values(), VALUES)
    assert_array_equal(belief.model_means(), means)
    assert belief.reward_deviation() == 2.0
    assert not belief.tells_information
    assert FiniteModels(BernoulliModels(MEANS)).tells_information
    assert FiniteModels(BernoulliModels(MEANS)).unsupported == {}
    assert set(FiniteModels(GaussianModels(MEANS)).unsupported) == {
        "posterior_size",
        "reward_values",
        "posteriors_after",
    }
    assert "reward_deviation" in FiniteModels(BernoulliSums(MEANS)).unsupported
    two = FiniteModels.two([0.5, 0.8], [0.4, 0.3], 0.2, 0.7)
    assert_allclose(two.weights, [0.2, 0.8])
    assert_array_equal(two.models.means, [[0.5, 0.8], [0.4, 0.3]])
    assert two.gamma == 0.7
    for good in (0.0, 1.0):
        FiniteModels.two([0.5, 0.8], [0.4, 0.3], good)
    for bad in (-0.1, 1.1):
        refused(
            lambda x=bad: FiniteModels.two([0.5, 0.8], [0.4, 0.3], x), "FiniteModels.two: 'weight' must be in [0, 1]"
        )
    for bad in (np.ones(2) / 2, np.ones((1, 1, 3)) / 3, np.float64(1.0)):
        refused(lambda x=bad: FiniteModels(BernoulliModels(MEANS), x), "FiniteModels: 'weights' must be of shape (3,)")
    rows = FiniteModels(BernoulliModels(MEANS), [[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
    assert rows.posterior().shape == (2, 3)
    refused(lambda: rows.batch(2), "FiniteModels.batch: 'belief' must be of a single experiment")
    refused(lambda: prior.batch(0), "FiniteModels.batch: 'replicates' must be")
    assert prior.batch(1).posterior().shape == (1, 3)
    some = FiniteModels(BernoulliModels([[0.0, 0.5], [0.3, 0.5]]), [[1.0, 0.0], [0.5, 0.5]])
    refused(lambda: some.update(step(np.array([0, 0]), np.array([1.0, 1.0]))), "no model with positive weight allows")


# Features -------------------------------------------------------------------------------------------------------------

X = np.array([[[1.0, 0.3], [-0.4, 0.8], [0.5, -1.2]], [[0.2, 0.9], [1.1, -0.6], [-0.7, 0.4]]])
"""Two contexts, three arms, two features."""
MEAN, ROOT = np.array([0.3, -0.2]), np.array([[1.0, 0.2], [0.4, 0.8]])


def test_linear_arms_by_hand():
    noise = 0.7
    prior = LinearGaussianArms(MEAN, ROOT, noise, None, X, 0.83)
    log = [(0, 2, 1.4), (1, 0, -0.3), (0, 1, 0.8)]
    belief, S, m, evidence = prior, ROOT @ ROOT.T, MEAN, 0.0
    for c, a, r in log:
        x = X[c, a]
        v = x @ S @ x + noise**2
        evidence += stats.norm.logpdf(r, x @ m, math.sqrt(v))
        m, S = m + S @ x * (r - x @ m) / v, S - np.outer(S @ x, S @ x) / v
        belief = belief.update(Transition(c, a, r, 0))
    assert_allclose(belief.mean_, m, rtol=1e-10)
    assert_allclose(belief.covariance, S, rtol=1e-10)
    assert belief.log_evidence() == pytest.approx(evidence)
    spread = np.sqrt(np.einsum("ad,de,ae->a", X[1], S, X[1]))
    assert_allclose(belief.mean(1), X[1] @ m)
    assert_allclose(belief.variance(1), spread**2)
    assert_allclose(belief.quantile(0.2, 1), stats.norm.ppf(0.2, X[1] @ m, spread))
    z = default_rng(1).standard_normal(2)
    assert_allclose(belief.sample_means(1, default_rng(1)), X[1] @ (m + belief.root @ z))
    stretched = LinearGaussianArms(MEAN, ROOT, noise, 2.1, X)
    assert_allclose(stretched.sample_weights(default_rng(1)), MEAN + 3.0 * ROOT @ z)
    assert_allclose(belief.reward_deviation(), math.sqrt(max(x @ S @ x for x in X.reshape(-1, 2)) + noise**2))
    assert_array_equal(belief.linear_features(), X)
    drawn = belief.best_arm(1, 6, default_rng(2))
    theta = (m + default_rng(2).standard_normal((6, 2)) @ belief.root.T) @ X[1].T
    assert_allclose(drawn.mean, theta.mean(axis=0))
    assert_allclose(drawn.p, np.bincount(theta.argmax(axis=1), minlength=3) / 6)
    assert drawn.gain is not None
    both = belief.batch(2).best_arm(np.array([0, 1]), 5, default_rng(2))
    z = default_rng(2).standard_normal((2, 5, 2))
    for i in range(2):
        assert_allclose(both.mean[i], ((m + z[i] @ belief.root.T) @ X[i].T).mean(axis=0))
    assert_allclose(belief.batch(2).log_evidence(), [evidence] * 2)
    refused(lambda: belief.best_arm(1, 1, default_rng(2)), "LinearGaussianArms.best_arm: 'samples' must be")
    refused(lambda: belief.batch(2).batch(2), "'belief' must be of a single experiment")
    refused(lambda: belief.batch(2).update_many([]), "'belief' must be of a single experiment")


def test_usual_priors_over_weights():
    linear = LinearGaussianArms.isotropic(3, 1.5, 0.4, np.ones((4, 3)), 0.83)
    assert_array_equal(linear.mean_, np.zeros(3))
    assert_array_equal(linear.root, 1.5 * np.eye(3))
    assert (linear.noise, linear.v, linear.gamma, linear.n_actions) == (0.4, None, 0.83, 4)
    theirs = LinearGaussianArms.agrawal_goyal(3, 0.2, np.ones((4, 3)), 0.83)
    assert_array_equal(theirs.root, np.eye(3))
    assert_array_equal(theirs.mean_, np.zeros(3))
    assert (theirs.noise, theirs.v, theirs.gamma) == (1.0, 0.2, 0.83)
    logistic = LogisticArms.isotropic(3, 0.25, np.ones((4, 3)), 0.83)
    assert_array_equal(logistic.mean_, np.zeros(3))
    assert_array_equal(logistic.precision, [0.25] * 3)
    assert (logistic.reshaping, logistic.gamma) == (1.0, 0.83)
    laplace = LogisticLaplaceArms.isotropic(3, 0.25, np.ones((4, 3)), 0.83)
    assert_array_equal(laplace.mean_, np.zeros(3))
    assert_allclose(laplace.covariance, 4.0 * np.eye(3))
    assert (laplace.reshaping, laplace.gamma) == (1.0, 0.83)
    for kind, size in (
        (LinearGaussianArms, "scale"),
        (LogisticArms, "regularisation"),
        (LogisticLaplaceArms, "regularisation"),
    ):
        owner = f"{kind.__name__}.isotropic"
        refused(lambda k=kind: k.isotropic(0), f"{owner}: 'd' must be")
        refused(lambda k=kind, n=size: k.isotropic(2, **{n: 0.0}), f"{owner}: '{size}' must be greater than 0")
        one = kind.isotropic(1)
        assert one.n_weights == 1
        refused(lambda b=one: b.batch(0), f"{kind.__name__}.batch: 'replicates' must be")
        refused(lambda b=one: b.batch(2).batch(2), "'belief' must be of a single experiment")
        assert one.batch(1).mean_.shape == (1, 1)
        refused(lambda b=one: b.batch(2).update_many([]), "'belief' must be of a single experiment")
    refused(lambda: LinearGaussianArms.agrawal_goyal(0, 0.2), "LinearGaussianArms.agrawal_goyal: 'd' must be")
    assert their_v(3, 0.7, 0.4, 0.2) == pytest.approx(0.7 * math.sqrt(24 * 3 / 0.4 * math.log(5.0)))
    assert their_v(1, 1e-9, 1e-9, 1.0 - 1e-9) > 0.0
    good = {"d": 1, "bound": 0.7, "epsilon": 0.4, "delta": 0.2}
    for name, bads in (("d", [0]), ("bound", [0.0]), ("epsilon", [0.0, 1.0]), ("delta", [0.0, 1.0])):
        for bad in bads:
            refused(lambda n=name, x=bad: their_v(**(good | {n: x})), f"their_v: '{name}' must be")


@pytest.mark.parametrize("kind", [LogisticArms, LogisticLaplaceArms])
def test_clicks_by_hand(kind):
    """One answer, found by Newton's method on two weights; then what is told and drawn, with alpha = .6."""
    S = ROOT @ ROOT.T if kind is LogisticLaplaceArms else np.diag([0.8, 1.7])
    belief = kind(MEAN, ROOT, 0.6, X) if kind is LogisticLaplaceArms else kind(MEAN, 1.0 / np.diag(S), 0.6, X)
    Q = np.linalg.inv(S)
    for y in (0.0, 1.0):
        x, w = X[1, 2], MEAN.copy()
        for _ in range(60):
            p = special.expit(x @ w)
            w = w - np.linalg.solve(Q + p * (1 - p) * np.outer(x, x), Q @ (w - MEAN) + (p - y) * x)
        p = special.expit(x @ w)
        new = belief.update(Transition(1, 2, y, 0))
        assert_allclose(new.mean_, w, rtol=1e-8)
        after = Q + p * (1 - p) * np.outer(x, x)
        if kind is LogisticLaplaceArms:
            assert_allclose(np.linalg.inv(new.covariance), after, rtol=1e-8)
            spread = np.sqrt(np.einsum("ad,de,ae->a", X[0], new.covariance, X[0]))
            z = new.root @ default_rng(1).standard_normal(2)
        else:
            assert_allclose(new.precision, np.diag(after), rtol=1e-8)
            spread = np.sqrt(X[0] ** 2 @ (1.0 / new.precision))
            z = default_rng(1).standard_normal(2) / np.sqrt(new.precision)
        assert_allclose(new.quantile(0.2, 0), special.expit(stats.norm.ppf(0.2, X[0] @ w, spread)), rtol=1e-8)
        grid = np.linspace(-10.0, 10.0, 4001)
        chance = special.expit((X[0] @ w)[:, None] + spread[:, None] * grid)
        mean = chance @ stats.norm.pdf(grid) * (grid[1] - grid[0])
        assert_allclose(new.mean(0), mean, rtol=1e-7)
        square = chance**2 @ stats.norm.pdf(grid) * (grid[1] - grid[0])
        assert_allclose(new.variance(0), square - mean**2, rtol=1e-6)
        assert_allclose(new.sample_means(0, default_rng(1)), special.expit(X[0] @ (w + 0.6 * z)), rtol=1e-8)
        drawn = new.best_arm(0, 4, default_rng(3))
        rng = default_rng(3)
        assert_allclose(drawn.mean, np.mean([new.sample_means(0, rng) for _ in range(4)], axis=0))
        assert drawn.gain is not None
    together = belief.batch(2).update(Transition(np.array([1, 0]), np.array([2, 1]), np.array([1.0, 0.0]), 0))
    for i, (c, a, y) in enumerate(((1, 2, 1.0), (0, 1, 0.0))):
        assert_allclose(together.mean_[i], belief.update(Transition(c, a, y, 0)).mean_, rtol=1e-9)
    for bad in (0.5, 2.0, -1.0):
        refused(lambda r=bad: belief.update(Transition(0, 0, r, 0)), f"{kind.__name__}: reward {bad:g}")
        log = {"state": [0, 1], "action": [0, 0], "reward": [1.0, bad]}
        refused(lambda d=log: belief.update_many(d), f"{kind.__name__}: reward {bad:g}")


# Sets, and forgetting -------------------------------------------------------------------------------------------------


def test_full_bandit_by_hand():
    belief = FullBandit.uniform(4, 3, 0.83)
    assert_allclose(belief.mean(), [0.5] * 4)
    assert_allclose(belief.weights.covariance, np.eye(4) / 12)
    assert belief.weights.noise == pytest.approx(math.sqrt(0.5))
    assert (belief.suggestions, belief.gamma, belief.n_actions) == (3, 0.83, 4)
    S, m, evidence = np.eye(4) / 12, np.full(4, 0.5), 0.0
    for items, r in (([0, 2], 1.0), ([3, 1, 2], 3.0), ([1], 0.0)):
        x = np.isin(np.arange(4), items).astype(float)
        v = x @ S @ x + 0.5
        evidence += stats.norm.logpdf(r, x @ m, math.sqrt(v))
        m, S = m + S @ x * (r - x @ m) / v, S - np.outer(S @ x, S @ x) / v
        belief = belief.update(step(np.array(items), r))
    assert_allclose(belief.mean(), m)
    assert_allclose(belief.weights.covariance, S, atol=1e-14)
    assert belief.log_evidence() == pytest.approx(evidence)
    z = default_rng(1).standard_normal(4)
    assert_allclose(belief.sample_means(None, default_rng(1)), m + belief.weights.root @ z)
    theta = [belief.sample_means(None, rng) for rng in [default_rng(2)] for _ in range(5)]
    assert_allclose(belief.best_arm(None, 5, default_rng(2)).mean, np.mean(theta, axis=0))
    both = belief.batch(2).update(step(np.array([[0, 1], [2, 3]]), np.array([1.0, 2.0])))
    for i, (items, r) in enumerate((([0, 1], 1.0), ([2, 3], 2.0))):
        assert_allclose(both.mean()[i], belief.update(step(np.array(items), r)).mean())
    log = {"action": [[0, 2], [1, 3]], "reward": [1.0, 2.0]}
    steps = belief.update(step(np.array([0, 2]), 1.0)).update(step(np.array([1, 3]), 2.0))
    assert_allclose(belief.update_many(log).mean(), steps.mean())
    for arms, M in ((0, 1), (4, 0), (4, 5)):
        refused(lambda a=arms, m=M: FullBandit.uniform(a, m), "FullBandit.uniform: '")
    assert FullBandit.uniform(4, 4).suggestions == 4
    for bad in (0, 5):
        refused(lambda m=bad: FullBandit(belief.weights, m), "FullBandit: 'suggestions' must be")
    assert FullBandit(belief.weights).update(step(np.arange(4), 2.0)).mean().shape == (4,)


def test_semi_bandit_by_hand():
    inside = BetaBernoulli([0.8, 1.5, 2.0], [1.3, 1.0, 0.7], 0.83)
    belief = SemiBandit(inside)
    new = belief.update(Transition(0, np.array([2, 0]), 1.0, np.array([1.0, 0.0])))
    assert_array_equal(new.arms.alpha, [0.8, 1.5, 3.0])
    assert_array_equal(new.arms.beta, [2.3, 1.0, 0.7])
    assert (new.gamma, new.n_actions) == (0.83, 3)
    assert_array_equal(new.mean(), new.arms.mean())
    assert_array_equal(new.sample_means(7, default_rng(1)), new.arms.sample_means(None, default_rng(1)))
    log = {"action": [[2, 0], [1, 2]], "next_observation": [[1.0, 0.0], [1.0, 1.0]]}
    assert_array_equal(belief.update_many(log).arms.alpha, [0.8, 2.5, 4.0])
    both = belief.batch(2).update(Transition(0, np.array([[2, 0], [1, 2]]), 0.0, np.array([[1, 0], [0, 1]])))
    assert_array_equal(both.arms.beta, [[2.3, 1.0, 0.7], [1.3, 2.0, 0.7]])
    for action, paid in ((1, 1.0), ([0, 1], [1.0]), ([0, 1], ["a", "b"]), ([0, 1], 1.0)):
        datum = Transition(0, action, 1.0, paid)
        refused(lambda d=datum: belief.update(d), "SemiBandit.update: 'next_observation' must be a reward for each of")


def test_forgetting_of_single_and_lockstep_logs():
    """Evidence and belief after each reward; what the wrapped belief holds is passed on; nothing else is."""
    prior = BetaBernoulli([0.8, 1.5], [1.3, 1.0], 0.83)
    belief, a, b, total = Forgetting(prior, decay=0.7), np.array(prior.alpha), np.array(prior.beta), 0.0
    assert belief.log_evidence() == 0.0
    for arm, r in ((1, 1.0), (0, 0.0), (1, 0.0), (1, 1.0)):
        a, b = 0.3 * prior.alpha + 0.7 * a, 0.3 * prior.beta + 0.7 * b
        p = a[arm] / (a[arm] + b[arm])
        total += math.log(p if r else 1 - p)
        (a if r else b)[arm] += 1.0
        belief = belief.update(step(arm, r))
    assert_allclose(belief.belief.alpha, a)
    assert_allclose(belief.belief.beta, b)
    assert belief.log_evidence() == pytest.approx(total)
    assert (belief.gamma, belief.n_actions, belief.tells_information) == (0.83, 2, True)
    assert_allclose(belief.quantile(0.3), stats.beta.ppf(0.3, a, b))
    assert_allclose(belief.batch(3).log_evidence(), [total] * 3)
    clicks = Forgetting(LogisticArms(MEAN, [0.8, 1.7], features=X), decay=0.7).batch(2)
    p = clicks.belief.mean(np.array([1, 0]))
    after = clicks.update(Transition(np.array([1, 0]), np.array([2, 1]), np.array([1.0, 0.0]), 0))
    assert_allclose(after.log_evidence(), [math.log(p[0, 2]), math.log(1 - p[1, 1])])
    other = BetaBernoulli([0.8, 1.5], [1.3, 1.0], 0.9)
    for bad in (other, NormalArm.standard(2), BetaBernoulli.uniform(3)):
        refused(lambda x=bad: Forgetting(prior, x), "Forgetting: 'prior' must be a belief of the same class, size and")
    near = LogisticArms(MEAN, [0.8, 1.7], features=X + 1.0)
    refused(lambda: Forgetting(clicks.belief, near.batch(2)), "Forgetting: 'prior' must be")
    Forgetting(prior, BetaBernoulli([5.0, 5.0], [5.0, 5.0], 0.83))
