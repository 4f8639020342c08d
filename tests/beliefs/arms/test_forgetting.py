"""Forgetting: each reward counts by its age, keeping all changes nothing, and drifting rewards are followed."""

import dataclasses
import pickle

import numpy as np
import pytest
from numpy.random import default_rng
from scipy import stats

from bayesrl.bandits.bayes_ucb import BayesUCB
from bayesrl.bandits.thompson import Thompson
from bayesrl.bandits.ucb1 import UCB1
from bayesrl.beliefs.arms.beta_bernoulli import BetaBernoulli
from bayesrl.beliefs.arms.exponential_arm import ExponentialArm
from bayesrl.beliefs.arms.finite_models import FiniteModels
from bayesrl.beliefs.arms.forgetting import Forgetting
from bayesrl.beliefs.arms.linear_gaussian_arms import LinearGaussianArms
from bayesrl.beliefs.arms.logistic_arms import LogisticArms
from bayesrl.beliefs.arms.logistic_laplace_arms import LogisticLaplaceArms
from bayesrl.beliefs.arms.normal_arm import NormalArm
from bayesrl.beliefs.arms.normal_gamma_arm import NormalGammaArm
from bayesrl.beliefs.arms.poisson_arm import PoissonArm
from bayesrl.core import BayesAgent, Transition, run
from bayesrl.errors import Incompatible, InvalidArgument
from bayesrl.lab.compare import compare

K, KEEP = 3, 0.9
X = np.array([[1.0, 0.0], [0.5, 0.5], [-0.3, 1.0]])
PRIORS = {
    "beta": BetaBernoulli(np.array([0.8, 1.5, 2.0]), np.array([1.3, 1.0, 0.7])),
    "poisson": PoissonArm(np.array([0.8, 1.5, 4.0]), np.array([1.3, 0.5, 2.0])),
    "exponential": ExponentialArm(np.array([3.0, 2.5, 4.0]), np.array([1.3, 0.5, 2.0])),
    "normal": NormalArm(np.array([0.0, 1.0, -0.5]), np.array([1.0, 0.5, 2.0]), noise=0.7),
    "normal-gamma": NormalGammaArm(*np.array([[0.0, 1.0, -0.5], [1.0, 0.5, 2.0], [3.0, 2.5, 4.0], [2.0, 1.0, 3.0]])),
    "linear": LinearGaussianArms(np.array([0.3, -0.2]), np.array([[1.0, 0.0], [0.4, 0.8]]), 0.7, features=X),
    "logistic": LogisticArms(np.array([0.3, -0.2]), np.array([1.0, 0.5]), features=X),
    "laplace": LogisticLaplaceArms(np.array([0.3, -0.2]), np.array([[1.0, 0.0], [0.4, 0.8]]), features=X),
}
KINDS = pytest.mark.parametrize("kind", PRIORS)


def paid(kind, rng, size=None):
    if kind in ("beta", "logistic", "laplace"):
        return rng.integers(2, size=size) * 1.0
    if kind == "poisson":
        return rng.poisson(2.0, size) * 1.0
    return rng.exponential(1.5, size) if kind == "exponential" else rng.normal(1.0, 2.0, size)


def log_of(kind, n, seed=0):
    rng = default_rng(seed)
    return [Transition(0, int(rng.integers(K)), float(paid(kind, rng)), 0) for _ in range(n)]


def learnt(belief, log):
    for datum in log:
        belief = belief.update(datum)
    return belief


def parameters(belief):
    """What the belief says about the arms."""
    return np.array([belief.mean(), belief.variance(), belief.quantile(0.2), belief.quantile(0.9)])


# Against weights ------------------------------------------------------------------------------------------------------


def weighted(kind, log, w):
    """The belief from rewards that count w each, computed in one go."""
    p = PRIORS[kind]
    a, r = np.array([d.action for d in log]), np.array([d.reward for d in log])
    n, total, squares = (np.bincount(a, w * x, K) for x in (np.ones(len(r)), r, r**2))
    if kind == "beta":
        return BetaBernoulli(p.alpha + total, p.beta + n - total)
    if kind == "poisson":
        return PoissonArm(p.shape + total, p.rate + n)
    if kind == "exponential":
        return ExponentialArm(p.shape + n, p.rate + total)
    if kind == "linear":
        before = np.linalg.inv(p.covariance)
        precision = before + (X[a].T * w) @ X[a] / p.noise**2
        S = np.linalg.inv(precision)
        m = S @ (before @ p.mean_ + X[a].T @ (w * r) / p.noise**2)
        return LinearGaussianArms(m, np.linalg.cholesky(S), p.noise, features=X)
    kappa = p.strength + n
    m = (p.strength * p.mean_ + total) / kappa
    if kind == "normal":
        return NormalArm(m, kappa, p.noise)
    b = p.rate + 0.5 * (squares + p.strength * p.mean_**2 - kappa * m**2)
    return NormalGammaArm(m, kappa, p.shape + 0.5 * n, b)


EXACT = [kind for kind in PRIORS if kind not in ("logistic", "laplace")]


@pytest.mark.parametrize("kind", EXACT)
@pytest.mark.parametrize("n", [1, 2, 40, 400])
def test_weights_each_reward_by_its_age(kind, n):
    log = log_of(kind, n)
    age = np.arange(n)[::-1]
    by_hand = weighted(kind, log, KEEP**age)
    faded = learnt(Forgetting(PRIORS[kind], decay=KEEP), log)
    np.testing.assert_allclose(parameters(faded), parameters(by_hand), rtol=1e-10, atol=1e-12)
    if kind != "linear":  # plays and averages fade with the evidence
        a, r = np.array([d.action for d in log]), np.array([d.reward for d in log])
        plays, sums = np.bincount(a, KEEP**age, K), np.bincount(a, KEEP**age * r, K)
        np.testing.assert_allclose(faded.plays(), plays, rtol=1e-9, atol=1e-12)
        played = plays > 1e-3
        np.testing.assert_allclose(faded.average()[played], (sums / np.maximum(plays, 1e-9))[played], rtol=1e-8)


@pytest.mark.parametrize("kind", EXACT)
def test_a_belief_that_starts_with_evidence(kind):
    # What was learned before counts as if it had just come: 5 rewards of weight decay^7 each, then 7 that fade.
    early, late = log_of(kind, 5, seed=1), log_of(kind, 7, seed=2)
    start = learnt(PRIORS[kind], early)
    faded = learnt(Forgetting(start, PRIORS[kind], KEEP), late)
    w = np.append(np.full(5, KEEP**7), KEEP ** np.arange(7)[::-1])
    np.testing.assert_allclose(parameters(faded), parameters(weighted(kind, early + late, w)), rtol=1e-10)
    assert learnt(Forgetting(start, decay=KEEP), late) != faded  # there the start itself is what it fades towards


@pytest.mark.parametrize("kind", ["logistic", "laplace"])
def test_logistic_beliefs_fade_in_information_form(kind):
    prior = PRIORS[kind]
    belief = learnt(prior, log_of(kind, 30))
    now = belief.fade(prior, KEEP)
    S, S0, S1 = (np.diag(1 / x.precision) if kind == "logistic" else x.covariance for x in (belief, prior, now))
    P = (1 - KEEP) * np.linalg.inv(S0) + KEEP * np.linalg.inv(S)
    h = (1 - KEEP) * np.linalg.inv(S0) @ prior.mean_ + KEEP * np.linalg.inv(S) @ belief.mean_
    np.testing.assert_allclose(np.linalg.inv(S1), P, rtol=1e-10)
    np.testing.assert_allclose(now.mean_, np.linalg.solve(P, h), rtol=1e-10)


@pytest.mark.parametrize("kind", EXACT)
def test_evidence_is_how_each_reward_was_predicted(kind):
    log = log_of(kind, 12)
    forgetting, total = Forgetting(PRIORS[kind], decay=KEEP), 0.0
    for n, (_, a, r, *_) in enumerate(log):
        # Everything fades before a reward is learned from, and so before it is predicted: its own age is 0.
        b = weighted(kind, log[:n], KEEP ** np.arange(1, n + 1)[::-1]) if n else PRIORS[kind]
        if kind == "beta":
            p = b.mean()[a]
            total += np.log(p if r else 1 - p)
        elif kind == "poisson":
            total += stats.nbinom.logpmf(r, b.shape[a], b.rate[a] / (b.rate[a] + 1))
        elif kind == "exponential":
            total += stats.lomax.logpdf(r, b.shape[a], scale=b.rate[a])
        elif kind == "normal-gamma":
            scale = np.sqrt(b.rate[a] * (b.strength[a] + 1) / (b.shape[a] * b.strength[a]))
            total += stats.t.logpdf(r, 2 * b.shape[a], b.mean_[a], scale)
        else:
            total += stats.norm.logpdf(r, b.mean()[a], np.sqrt(b.variance()[a] + b.noise**2))
        forgetting = forgetting.update(log[n])
        np.testing.assert_allclose(forgetting.log_evidence(), total, rtol=1e-9)


def test_evidence_of_logistic_beliefs_is_the_chance_of_each_answer():
    for kind in ("logistic", "laplace"):
        one = Forgetting(PRIORS[kind], decay=KEEP)
        p = PRIORS[kind].mean()
        np.testing.assert_allclose(one.update(Transition(0, 1, 1.0, 0)).log_evidence(), np.log(p[1]))
        np.testing.assert_allclose(one.update(Transition(0, 2, 0.0, 0)).log_evidence(), np.log(1 - p[2]))


def test_the_keep_that_predicts_best_is_found():
    # A chance of .9 that falls to .1 and back, 60 rewards each: keeping all predicts badly, keeping almost nothing
    # too. On this fixed log the differences are 56 and 32 nats.
    rng = default_rng(0)
    p = np.repeat([0.9, 0.1, 0.9, 0.1], 60)
    log = {"action": np.zeros(240, int), "reward": (rng.random(240) < p) * 1.0}
    found = {
        k: float(Forgetting(BetaBernoulli.uniform(1), decay=k).update_many(log).log_evidence()) for k in (0.3, 0.9, 1.0)
    }
    assert found[0.9] > found[0.3] + 5
    assert found[0.9] > found[1.0] + 5


# As any belief --------------------------------------------------------------------------------------------------------


@KINDS
def test_keeping_all_changes_nothing(kind):
    log = log_of(kind, 25)
    plain, wrapped = learnt(PRIORS[kind], log), learnt(Forgetting(PRIORS[kind], decay=1.0), log)
    assert wrapped.belief == plain
    np.testing.assert_array_equal(wrapped.sample_means(None, default_rng(3)), plain.sample_means(None, default_rng(3)))
    if hasattr(plain, "log_evidence"):
        np.testing.assert_allclose(wrapped.log_evidence(), plain.log_evidence(), rtol=1e-10)


@KINDS
def test_lockstep_is_each_alone(kind):
    rng, n = default_rng(4), 5
    alone = [Forgetting(PRIORS[kind], decay=KEEP) for _ in range(n)]
    together = Forgetting(PRIORS[kind], decay=KEEP).batch(n)
    for _ in range(6):
        action, reward = rng.integers(K, size=n), paid(kind, rng, n)
        together = together.update(Transition(0, action, reward, 0))
        pairs = zip(alone, action, reward, strict=True)
        alone = [b.update(Transition(0, int(a), float(r), 0)) for b, a, r in pairs]
    np.testing.assert_allclose(together.mean(), [b.mean() for b in alone], rtol=1e-10)
    np.testing.assert_allclose(together.variance(), [b.variance() for b in alone], rtol=1e-10)
    np.testing.assert_allclose(together.log_evidence(), [b.log_evidence() for b in alone], rtol=1e-9)


@KINDS
def test_updates_are_pure_and_logs_are_updates(kind):
    log = log_of(kind, 9)
    belief = learnt(Forgetting(PRIORS[kind], decay=KEEP), log[:4])
    before = pickle.dumps(belief)
    after = learnt(belief, log[4:])
    assert pickle.loads(before) == belief
    assert pickle.loads(pickle.dumps(after)) == after
    table = {name: [getattr(d, name) for d in log[4:]] for name in ("state", "action", "reward")}
    assert belief.update_many(log[4:]) == after
    assert belief.update_many(iter(log[4:])) == after
    assert belief.update_many(table) == after


def test_contexts_reach_the_belief_inside():
    prior, features = LinearGaussianArms.isotropic(2), X + 1.0
    log = {"state": np.array([X, features]), "action": [0, 2], "reward": [1.0, -1.0]}
    one = Forgetting(prior, decay=KEEP).update_many(log)
    by_hand = Forgetting(prior, decay=KEEP).update(Transition(X, 0, 1.0, 0)).update(Transition(features, 2, -1.0, 0))
    assert one == by_hand
    np.testing.assert_array_equal(one.mean(features), by_hand.mean(features))


def test_capabilities_are_those_of_the_belief_inside():
    linear = Forgetting(PRIORS["linear"])
    assert not hasattr(linear, "plays")
    with pytest.raises(Incompatible, match="needs a belief with 'plays', 'average', which Forgetting lacks"):
        BayesAgent(linear, UCB1())
    assert BayesAgent(Forgetting(PRIORS["beta"]), UCB1()).prior.plays().tolist() == [0.0, 0.0, 0.0]
    BayesAgent(linear, BayesUCB())
    with pytest.raises(AttributeError, match="Forgetting has no attribute 'observe'"):
        _ = linear.observe


def test_replacing_keep_keeps_the_belief():
    belief = learnt(Forgetting(PRIORS["beta"], decay=KEEP), log_of("beta", 5))
    other = dataclasses.replace(belief, decay=0.5)
    assert other.belief == belief.belief
    np.testing.assert_array_equal(other.plays(), belief.plays())


@pytest.mark.parametrize(
    "call, sentence",
    [
        (
            lambda: Forgetting(FiniteModels.two([0.5, 0.8], [0.5, 0.3], 0.2)),
            "Forgetting: 'belief' must be a belief about arms that can fade (fade), got 'FiniteModels'.",
        ),
        (lambda: Forgetting(PRIORS["beta"], decay=0.0), "Forgetting: 'decay' must be in (0, 1], got 0.0."),
        (lambda: Forgetting(PRIORS["beta"], decay=1.5), "Forgetting: 'decay' must be in (0, 1], got 1.5."),
        (
            lambda: Forgetting(PRIORS["beta"], BetaBernoulli.uniform(2)),
            "Forgetting: 'prior' must be a belief of the same class, size and settings, got "
            "BetaBernoulli(alpha=array([1., 1.]), beta=array([1., 1.]), gamma=1.0).",
        ),
        (
            lambda: Forgetting(PRIORS["beta"]).update_many({"action": [0]}),
            "Forgetting.update_many: 'log' must be with a column 'reward', got ['action'].",
        ),
    ],
)
def test_refusals(call, sentence):
    with pytest.raises(InvalidArgument) as error:
        call()
    assert str(error.value) == sentence


def test_settings_of_the_prior_must_agree():
    other = dataclasses.replace(PRIORS["normal"], noise=1.0)
    with pytest.raises(InvalidArgument, match="'prior' must be a belief of the same class, size and settings"):
        Forgetting(PRIORS["normal"], other)


# What it is for -------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Switching:
    """Bernoulli arms of which the best one becomes the worst every so many steps; the state is the time."""

    high: float = 0.7
    low: float = 0.3
    every: int = 200
    replicates: int = 1

    def batch(self, replicates):
        return dataclasses.replace(self, replicates=replicates)

    def reset(self, rng):
        return 0, 0

    def means(self, time):
        return np.array([self.high, 0.5, self.low])[:: 1 if time // self.every % 2 == 0 else -1]

    def step(self, state, action, rng):
        won = rng.random(self.replicates) < self.means(state)[action]
        return state + 1, state + 1, won.astype(float), False

    def gap(self, time, action):
        return self.high - self.means(int(np.ravel(time)[0]))[action]


def test_less_regret_where_means_switch():
    # 256 paired runs of 800 steps with three switches. Measured: Thompson loses 79.8 with forgetting and 137.8 without,
    # a difference of 57.9 with standard error 1.2. The bound is 15 standard errors below, so a correct program fails
    # with chance far below 1e-6; forgetting that does not fade (difference 0) or keeps next to nothing fails it.
    prior = BetaBernoulli.uniform(3)
    agents = {
        "plain": BayesAgent(prior, Thompson()),
        "forgetting": BayesAgent(Forgetting(prior, decay=0.97), Thompson()),
    }
    lost = compare(agents, Switching(), 800, 256).regret(Switching())
    difference = lost["plain"].curve[-1] - lost["forgetting"].curve[-1]
    error = difference.std(ddof=1) / np.sqrt(len(difference))
    assert difference.mean() > 40.0
    assert error < 2.0


def test_runs_alone_and_in_lockstep():
    agent = BayesAgent(Forgetting(BetaBernoulli.uniform(3)), Thompson())
    record = run(agent, Switching(), 20, lockstep=4)
    assert record.reward.shape == (20, 4)
