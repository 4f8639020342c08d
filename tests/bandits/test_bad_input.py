"""Malformed calls of bandit beliefs, planners and worlds: one exact sentence each, and nothing is changed."""
# ruff: noqa: E501

import pickle

import numpy as np
import pytest
from numpy.random import default_rng

from bayesrl.bandits.batched_feedback import BatchedFeedback
from bayesrl.bandits.bayes_ucb import BayesUCB
from bayesrl.bandits.gittins import gittins_index_normal
from bayesrl.bandits.thompson_combinatorial import ThompsonCombinatorial
from bayesrl.beliefs.arms.bandit_models import BernoulliModels, BernoulliSums, OutcomeModels
from bayesrl.beliefs.arms.beta_bernoulli import BetaBernoulli
from bayesrl.beliefs.arms.binarised_rewards import BinarisedRewards
from bayesrl.beliefs.arms.exponential_arm import ExponentialArm
from bayesrl.beliefs.arms.finite_models import FiniteModels
from bayesrl.beliefs.arms.full_bandit import FullBandit
from bayesrl.beliefs.arms.linear_gaussian_arms import LinearGaussianArms, their_v
from bayesrl.beliefs.arms.logistic_arms import LogisticArms
from bayesrl.beliefs.arms.logistic_laplace_arms import LogisticLaplaceArms
from bayesrl.beliefs.arms.normal_arm import NormalArm
from bayesrl.beliefs.arms.normal_gamma_arm import NormalGammaArm
from bayesrl.beliefs.arms.poisson_arm import PoissonArm
from bayesrl.beliefs.arms.semi_bandit import SemiBandit
from bayesrl.core import Transition
from bayesrl.errors import BayesRLError, ImpossibleEvidence, Incompatible, InvalidArgument
from bayesrl.lab.priors import prior_for
from bayesrl.worlds.bandits.bernoulli import BernoulliBandit, bernoulli
from bayesrl.worlds.bandits.combinatorial import CombinatorialBandit

nan, inf = float("nan"), float("inf")


def step(action, reward, state=0):
    return Transition(state, action, reward, 0)


BETA, NORMAL = BetaBernoulli.uniform(3), NormalArm.standard(3)
LINEAR, TABLE = LinearGaussianArms.isotropic(2), LinearGaussianArms.isotropic(2, features=np.ones((4, 3, 2)))
LOGISTIC, LAPLACE = LogisticArms.isotropic(2), LogisticLaplaceArms.isotropic(2)
X = np.ones((3, 2))

# belief, call, the sentence
UPDATES = [
    (BETA, step(3, 1.0), "BetaBernoulli.update: 'action' must be a whole number of at least 0 and at most 2, got 3."),
    (BETA, step(-1, 1.0), "BetaBernoulli.update: 'action' must be a whole number of at least 0 and at most 2, got -1."),
    (BETA, step(1.0, 1.0), "BetaBernoulli.update: 'action' must be a whole number of at least 0 and at most 2, got 1.0."),
    (BETA, step(True, 1.0), "BetaBernoulli.update: 'action' must be a whole number of at least 0 and at most 2, got True."),
    (BETA, step(None, 1.0), "BetaBernoulli.update: 'action' must be a whole number of at least 0 and at most 2, got None."),
    (BETA, step(0, nan), "BetaBernoulli.update: 'reward' must be a finite number, got nan."),
    (BETA, step(0, "win"), "BetaBernoulli.update: 'reward' must be a finite number, got 'win'."),
    (BETA, step(0, 0.5), "BetaBernoulli: reward 0.5 has probability zero under this belief: rewards are 0 or 1."),
    (NORMAL, step(0, inf), "NormalArm.update: 'reward' must be a finite number, got inf."),
    (NormalGammaArm.weak(2), step(2, 0.0), "NormalGammaArm.update: 'action' must be a whole number of at least 0 and at most 1, got 2."),
    (PoissonArm.exponential(2), step(0, -1.0), "PoissonArm: reward -1 has probability zero under this belief: rewards are 0, 1, 2, ...."),
    (PoissonArm.exponential(2), step(0, 1.5), "PoissonArm: reward 1.5 has probability zero under this belief: rewards are 0, 1, 2, ...."),
    (ExponentialArm.weak(2), step(0, -0.1), "ExponentialArm: reward -0.1 has probability zero under this belief: rewards are not negative."),
    (BinarisedRewards(BETA), step(0, 1.2), "BinarisedRewards: reward 1.2 has probability zero under this belief: rewards lie in [0, 1]."),
    (BinarisedRewards(BETA), step(4, 1.0), "BinarisedRewards.update: 'action' must be a whole number of at least 0 and at most 2, got 4."),
    (LINEAR, step(0, 1.0), "LinearGaussianArms.update: 'context' must be a matrix of shape (arms, 2), got 0."),
    (LINEAR, step(0, 1.0, np.ones((3, 5))), "LinearGaussianArms.update: 'context' must be a matrix of shape (arms, 2), got an array of shape (3, 5)."),
    (LINEAR, step(3, 1.0, X), "LinearGaussianArms.update: 'action' must be whole numbers from 0 to 2, got 3."),
    (LINEAR, step(0, nan, X), "LinearGaussianArms.update: 'reward' must be a finite number, got nan."),
    (LINEAR, step(0, 1.0, X * nan), "LinearGaussianArms.update: 'context' must be finite everywhere, got nan."),
    (TABLE, step(0, 1.0, 4), "LinearGaussianArms.update: 'context' must be whole numbers from 0 to 3, got 4."),
    (LOGISTIC, step(0, 0.3, X), "LogisticArms: reward 0.3 has probability zero under this belief: rewards are 0 or 1."),
    (LAPLACE, step(0, 2.0, X), "LogisticLaplaceArms: reward 2 has probability zero under this belief: rewards are 0 or 1."),
    (LAPLACE, step(0, 1.0, "Ann"), "LogisticLaplaceArms.update: 'context' must be a matrix of shape (arms, 2), got 'Ann'."),
    (SemiBandit(BETA), step(np.array([0, 1]), 1.0, 0), "SemiBandit.update: 'next_observation' must be a reward for each of (2,), got 0."),
    (FullBandit.uniform(3, 2), step(np.array([0, 7]), 1.0), "FullBandit.update: 'action' must be sets of arms from 0 to 2, got an array of shape (2,)."),
    (FiniteModels(BernoulliSums(np.full((2, 3), 0.5))), step(np.array([0.0, 1.0]), 1.0), "FiniteModels.update: 'action' must be sets of arms from 0 to 2, got an array of shape (2,)."),
    (BETA.batch(2), step(np.array([0, 1, 2]), np.zeros(3)), "BetaBernoulli.update: 'action' must be whole numbers of shape (2,), got an array of shape (3,)."),
    (BETA.batch(2), step(np.array([0, 3]), np.zeros(2)), "BetaBernoulli.update: 'action' must be whole numbers from 0 to 2, got 3."),
    (BETA.batch(2), step(np.array([0, 1]), np.zeros(3)), "BetaBernoulli.update: 'reward' must be numbers of shape (2,), got an array of shape (3,)."),
    (BETA.batch(2), step(np.array([0, 1]), np.array([0.0, nan])), "BetaBernoulli.update: 'reward' must be finite everywhere, got nan."),
    (BETA.batch(2), step(np.array([0, 1]), np.array([0.0, 2.0])), "BetaBernoulli: reward 2 has probability zero under this belief: rewards are 0 or 1."),
]  # fmt: skip


@pytest.mark.parametrize("belief, datum, sentence", UPDATES, ids=range(len(UPDATES)))
def test_updates_that_are_refused(belief, datum, sentence):
    before = pickle.dumps(belief)
    rng = default_rng(0)
    with pytest.raises((InvalidArgument, ImpossibleEvidence)) as caught:
        belief.update(datum, rng)
    assert str(caught.value) == sentence
    assert rng.bit_generator.state == default_rng(0).bit_generator.state
    assert pickle.dumps(belief) == before


CALLS = [
    (lambda: BetaBernoulli([1.0, 0.0], [1.0, 1.0]), "BetaBernoulli: 'alpha' must be greater than 0 everywhere, got 0.0. First at index 1."),
    (lambda: BetaBernoulli([1.0, 2.0], [1.0]), "BetaBernoulli: 'beta' must be an array of shape (2,), got an array of shape (1,)."),
    (lambda: BetaBernoulli(np.ones((2, 2, 2)), np.ones((2, 2, 2))), "BetaBernoulli: 'alpha' must be an array of shape (arms,) or (replicates, arms), got an array of shape (2, 2, 2)."),
    (lambda: BetaBernoulli.uniform(0), "BetaBernoulli.uniform: 'arms' must be a whole number of at least 1, got 0."),
    (lambda: NormalArm([0.0], [1.0], noise=0.0), "NormalArm: 'noise' must be greater than 0, got 0.0."),
    (lambda: BETA.batch(2).batch(3), "BetaBernoulli.batch: 'belief' must be of a single experiment, got an array of shape (2, 3)."),
    (lambda: BETA.update_many({"action": [0, 1], "reward": [1.0]}), "BetaBernoulli.update_many: 'log' must be columns of one length, got [2, 1]."),
    (lambda: BETA.update_many({"action": [0, 1]}), "BetaBernoulli.update_many: 'log' must be with a column 'reward', got ['action']."),
    (lambda: BETA.update_many({"action": [0, 5], "reward": [1.0, 0.0]}), "BetaBernoulli.update_many: 'action' must be whole numbers from 0 to 2, got 5."),
    (lambda: BETA.update_many({"action": [0, 1], "reward": [1.0, nan]}), "BetaBernoulli.update_many: 'reward' must be finite everywhere, got nan."),
    (lambda: BETA.update_many({"action": [0, 1], "reward": ["a", "b"]}), "BetaBernoulli.update_many: 'reward' must be numbers of shape (2,), got an array of shape (2,)."),
    (lambda: BETA.update_many([1, 2]), "BetaBernoulli.update_many: 'log' must be transitions, a record, or columns observation, action, reward, next_observation, got 1."),
    (lambda: LINEAR.update_many({"action": [0], "reward": [1.0]}), "LinearGaussianArms.update_many: 'log' must be with a column 'observation', got ['action', 'reward']."),
    (lambda: LINEAR.sample_means(None, default_rng(0)), "LinearGaussianArms.sample_means: 'context' must be a matrix of shape (arms, 2), got None."),
    (lambda: LINEAR.mean(np.ones(2)), "LinearGaussianArms.mean: 'context' must be a matrix of shape (arms, 2), got an array of shape (2,)."),
    (lambda: LinearGaussianArms.isotropic(2, features=X).mean(np.ones(7)), "LinearGaussianArms.mean: 'context' must be left out or a matrix of shape (3, 2), got an array of shape (7,)."),
    (lambda: FiniteModels(BernoulliModels(np.full((2, 3), 0.5))).update_many({"action": [0], "reward": []}), "FiniteModels.update_many: 'log' must be columns of one length, got [1, 0]."),
    (lambda: LOGISTIC.sample_means(np.ones((3, 1)), default_rng(0)), "LogisticArms.sample_means: 'context' must be a matrix of shape (arms, 2), got an array of shape (3, 1)."),
    (lambda: LinearGaussianArms.isotropic(2, features=np.ones((3, 4))), "LinearGaussianArms: 'features' must be of shape (arms, 2) or (contexts, arms, 2), got an array of shape (3, 4)."),
    (lambda: their_v(2, 1.0, 1.0, 0.1), "their_v: 'epsilon' must be in (0, 1), got 1.0."),
    (lambda: FiniteModels(BernoulliModels(np.full((2, 3), 0.5)), np.array([0.5, 0.6])), "FiniteModels: 'weights' must be rows that sum to 1, got 1.1."),
    (lambda: BernoulliModels(np.array([[0.5, 1.5]])), "BernoulliModels: 'means' must be at most 1 everywhere, got 1.5."),
    (lambda: OutcomeModels(np.array([1.0, 1.0]), np.full((1, 1, 2), 0.5)), "OutcomeModels: 'values' must be all different, got [1.0, 1.0]."),
    (lambda: BinarisedRewards(BETA).update(step(0, 0.5)), "BinarisedRewards.update: 'rng' must be a numpy Generator, such as numpy.random.default_rng(0), got None."),
    (lambda: BayesUCB(c=-1.0), "BayesUCB: 'c' must be at least 0, got -1.0."),
    (lambda: BayesUCB.theorem(1), "BayesUCB: 'horizon' must be a whole number of at least 3, got 1."),
    (lambda: ThompsonCombinatorial(0), "ThompsonCombinatorial: 'suggestions' must be a whole number of at least 1, got 0."),
    (lambda: BatchedFeedback(None, 1.5), "BatchedFeedback: 'every' must be a whole number of at least 1, got 1.5."),
    (lambda: BatchedFeedback(None, 2), "BatchedFeedback: 'agent' must be an agent (start, act, learn), got None."),
    (lambda: FullBandit.uniform(4, 2).update(step(np.array([0, 1, 2]), 1.0)), "FullBandit.update: 'action' must be sets of at most 2 arms, got an array of shape (3,)."),
    (lambda: FullBandit.uniform(4, 2).update(step(np.array([1, 1]), 1.0)), "FullBandit.update: 'action' must be sets of different arms, got an array of shape (2,)."),
    (lambda: bernoulli(arms=2).draw(0), "bernoulli: 'rng' must be a numpy Generator, such as numpy.random.default_rng(0), got 0."),
    (lambda: bernoulli(arms=0), "BernoulliFamily: 'arms' must be a whole number of at least 1, got 0."),
    (lambda: BernoulliBandit(np.array([0.5, 1.2])), "bernoulli-bandit: 'means' must be probabilities of shape (arms,), got an array of shape (2,)."),
    (lambda: BernoulliBandit(np.array([0.5])).step(None, 1, default_rng(0)), "bernoulli-bandit: 'action' must be a whole number of at least 0 and at most 0, got 1."),
    (lambda: BernoulliBandit(np.full((2, 3), 0.5)).step(None, np.array([0, -1]), default_rng(0)), "bernoulli-bandit: 'action' must be whole numbers from 0 to 2, one for each of 2 replicates, got an array of shape (2,)."),
    (lambda: CombinatorialBandit(np.full(4, 0.5), 2).step(None, np.array([1, 1]), default_rng(0)), "combinatorial-bandit: 'action' must be different arms from 0 to 3, got an array of shape (2,)."),
    (lambda: CombinatorialBandit(np.full(4, 0.5), 5), "combinatorial-bandit: 'suggestions' must be a whole number of at least 1 and at most 4, got 5."),
    (lambda: CombinatorialBandit(np.full(4, 0.5), 2, "some"), "CombinatorialBandit: 'feedback' must be one of semi, full, got 'some'."),
]  # fmt: skip


@pytest.mark.parametrize("call, sentence", CALLS, ids=range(len(CALLS)))
def test_calls_that_are_refused(call, sentence):
    with pytest.raises(BayesRLError) as caught:
        call()
    assert str(caught.value) == sentence


def test_a_prior_that_a_bandit_does_not_have_is_refused():
    with pytest.raises(Incompatible, match="The prior 'flat' needs a problem with 'mdp', which BernoulliFamily lacks"):
        prior_for(bernoulli(), "flat:1")


# What was accepted in silence, or gave an error of somebody else -------------------------------------------------------

FEATURES = np.eye(2)
BELIEFS = {
    "beta": BetaBernoulli.uniform(2),
    "normal": NormalArm.standard(2),
    "normal-gamma": NormalGammaArm.weak(2),
    "poisson": PoissonArm.exponential(2),
    "exponential": ExponentialArm.weak(2),
    "linear": LinearGaussianArms.isotropic(2, features=FEATURES),
    "logistic": LogisticArms.isotropic(2, features=FEATURES),
    "laplace": LogisticLaplaceArms.isotropic(2, features=FEATURES),
    "finite": FiniteModels.two([0.5, 0.8], [0.5, 0.3], 0.2),
}


@pytest.mark.parametrize("name", BELIEFS)
def test_a_reward_that_is_text_is_refused(name):
    for reward in ("1", b"1", None, [1.0, 2.0]):
        with pytest.raises(InvalidArgument, match=r"\.update: 'reward' must be a finite number, got"):
            BELIEFS[name].update(Transition(0, 0, reward, 0))


@pytest.mark.parametrize("name", BELIEFS)
def test_a_seed_is_no_generator(name):
    with pytest.raises(InvalidArgument, match=r"\.sample_means: 'rng' must be a numpy Generator, such as .*, got 3\."):
        BELIEFS[name].sample_means(None, 3)


@pytest.mark.parametrize(
    "call, sentence",
    [
        (
            lambda: SemiBandit(3),
            "SemiBandit: 'arms' must be a belief about single arms (mean, sample_means, gamma, n_actions, update), got 3.",
        ),
        (lambda: FullBandit(float("nan")), "FullBandit: 'weights' must be a LinearGaussianArms belief, got nan."),
        (lambda: BinarisedRewards("x"), "BinarisedRewards: 'inside' must be a BetaBernoulli belief, got 'x'."),
        (
            lambda: FullBandit.uniform(3, 2).update(Transition(0, [1, 1], 1.0, 0)),
            "FullBandit.update: 'action' must be sets of different arms, got [1, 1].",
        ),
        (
            lambda: FullBandit.uniform(3, 2).update(Transition(0, [0, 1, 2, 0], 1.0, 0)),
            "FullBandit.update: 'action' must be sets of different arms, got [0, 1, 2, 0].",
        ),
        (
            lambda: FiniteModels("x"),
            "FiniteModels: 'models' must be BernoulliModels, GaussianModels, OutcomeModels, BernoulliSums or the like, got 'x'.",
        ),
        (lambda: FiniteModels.two("a", [1.0], 0.5), "FiniteModels.two: 'true' must be an array of numbers, got 'a'."),
        (
            lambda: FiniteModels.two([0.5], [0.5, 0.2], 0.5),
            "FiniteModels.two: 'false' must be an array of shape (1,), got an array of shape (2,).",
        ),
        (lambda: BernoulliModels(3), "BernoulliModels: 'means' must be an array of shape (any, any), got 3.0."),
        (
            lambda: gittins_index_normal(0.0, 1e308, 0.9),
            "gittins_index_normal: 'n' must be from 1e-12 to 1e+12, got 1e+308.",
        ),
        (
            lambda: gittins_index_normal(0.0, 1e-308, 0.9),
            "gittins_index_normal: 'n' must be from 1e-12 to 1e+12, got 1e-308.",
        ),
        (
            lambda: gittins_index_normal(0.0, [1e-13, 1.0, 2e12], 0.9),
            "gittins_index_normal: 'n' must be from 1e-12 to 1e+12, got 2000000000000.0.",
        ),
        (
            lambda: gittins_index_normal(0.0, [1.0, 1e-13, 2.0], 0.9),
            "gittins_index_normal: 'n' must be from 1e-12 to 1e+12, got 1e-13.",
        ),
        (
            lambda: gittins_index_normal(0.0, 1.0, [0.5, 1.0, 0.9]),
            "gittins_index_normal: 'gamma' must be in [0, 1), got 1.0.",
        ),
    ],
)
def test_nonsense_is_refused_in_one_sentence(call, sentence):
    with pytest.raises(InvalidArgument) as caught:
        call()
    assert str(caught.value) == sentence
