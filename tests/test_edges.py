"""Every bound stands where its sentence says: the last value inside is accepted, the first one outside is refused.

Fields that declare their bounds are tested from their declarations; what a function checks by itself is listed here.
"""

import importlib

import numpy as np
import pytest
from scipy import sparse

import bayesrl as b
from bayesrl import beliefs as B
from bayesrl import checks
from bayesrl.bamdp import exact_q
from bayesrl.bamdp.offline.finite_state_controller import Controller
from bayesrl.bamdp.optimism import pac_bounds as pac
from bayesrl.bamdp.sampling.value_of_information import value_of_perfect_information
from bayesrl.bandits._gopalan import gopalan
from bayesrl.bandits.bayes_optimal_bandit import bayes_optimal_q
from bayesrl.bandits.finite_horizon_index import finite_horizon_index
from bayesrl.bandits.gittins import gittins_index, gittins_index_normal, gittins_index_process
from bayesrl.bandits.simulate_bandit import simulate
from bayesrl.beliefs.arms.bandit_models import BernoulliModels, BernoulliSums, OutcomeModels
from bayesrl.beliefs.arms.finite_models import FiniteModels
from bayesrl.beliefs.arms.linear_gaussian_arms import their_v
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence, Incompatible, InvalidArgument
from bayesrl.kernels.search.history_tree import renumber
from bayesrl.lab.compare import compare
from bayesrl.lab.explain import explain
from bayesrl.models.mdp import Outcomes, TabularMDP
from bayesrl.models.policy import ControllerPolicy, GaussianPolicy, SoftmaxPolicy, TabularPolicy
from bayesrl.models.solve import finite_horizon, optimal_total, policy_total, solve
from bayesrl.models.solvers.many import solve_many
from bayesrl.record import Record
from bayesrl.registry import entries
from bayesrl.statistics import mean_band
from bayesrl.worlds.bandits._contextual import ContextualBandit
from bayesrl.worlds.bandits.bernoulli import BernoulliBandit
from bayesrl.worlds.bandits.chapelle_li_bandit import chapelle_li
from bayesrl.worlds.bandits.combinatorial import CombinatorialBandit
from bayesrl.worlds.bandits.gaussian import GaussianBandit
from bayesrl.worlds.bandits.online_shop_several import online_shop_several
from bayesrl.worlds.mdps._dirichlet_family import DirichletFamily

bounds = importlib.import_module("bayesrl.bandits.bandit_bounds")  # the package has a tool of this name
RNG = np.random.default_rng
P = np.array([[[0.5, 0.5], [1.0, 0.0]], [[0.0, 1.0], [0.25, 0.75]]])
R = np.array([[0.0, 1.0], [2.0, 3.0]])
MDP = TabularMDP.from_dense(P, R, gamma=0.5)
CHAIN = b.make_world("chain")
FLAT = b.DirichletMDP.flat(CHAIN)
TINY = b.DirichletMDP.flat(MDP)
FINITE = B.FiniteMDPs([MDP, MDP])
AGENT = b.BayesAgent(FLAT, b.make("random"))
SHOP = CombinatorialBandit([0.1, 0.2, 0.3], 2)
DETERMINED, MIXED = TabularPolicy([1, 0], n_actions=2), TabularPolicy([[0.5, 0.5], [0.0, 1.0]])
SOFT = SoftmaxPolicy(np.zeros((2, 2)))
WALK = ControllerPolicy(TabularPolicy([0, 1]), [[1, 0], [0, 1]])
ARMS = b.BayesAgent(b.make_world("bernoulli").default_prior(), b.make("thompson"))
LIVE = b.LiveAgent(b.BayesAgent(B.BetaBernoulli.uniform(2), b.make("thompson")))
BAYESIAN_Q, PLAIN_Q = (
    b.make(name, n_states=2, n_actions=2, gamma=0.5) for name in ("bayesian-q-learning", "q-learning")
)
POSITIVE = ([1e-3], [0.0])
OPEN = ([1e-3, 0.999], [0.0, 1.0])
HALF_OPEN = ([0.0, 0.999], [-1e-9, 1.0])
ABOVE_ZERO = ([1e-3, 1.0], [0.0, 1.0 + 1e-9])
CLOSED = ([0.0, 1.0], [-1e-9, 1.0 + 1e-9])
COUNT = ([1], [0])
NATURAL = ([0], [-1])


def index(n):
    return [0, n - 1], [-1, n]


def outcomes(**changed):
    made = {"succ": [[[0, 1]], [[1, 1]]], "reward": np.zeros((2, 1, 2)), "group": [[0], [1]], "size": [2, 1],
            "otherwise": 0.0, "start": [1.0, 0.0], "terminal": [False, True]}  # fmt: skip
    return Outcomes(**made | changed)


EDGES = {
    # what: (call, values that are accepted, values that are refused)
    "exact_q horizon": (lambda x: exact_q(TINY, 0, x), *NATURAL),
    "exact_q state": (lambda x: exact_q(TINY, x, 1), *index(2)),
    "pac gamma": (lambda x: pac.effective_horizon(x), *HALF_OPEN),
    "their_v d": (lambda x: their_v(x, 1.0, 0.5, 0.5), *COUNT),
    "their_v bound": (lambda x: their_v(2, x, 0.5, 0.5), *POSITIVE),
    "their_v epsilon": (lambda x: their_v(2, 1.0, x, 0.5), *OPEN),
    "their_v delta": (lambda x: their_v(2, 1.0, 0.5, x), *OPEN),
    "TabularPolicy state": (lambda x: DETERMINED.log_prob(x, 0), *index(2)),
    "TabularPolicy action": (lambda x: DETERMINED.log_prob(0, x), *index(2)),
    "TabularPolicy mixed action": (lambda x: MIXED.log_prob(1, x), *index(2)),
    "TabularPolicy listed action": (lambda x: TabularPolicy([x], n_actions=2), *index(2)),
    "TabularPolicy probability": (lambda x: TabularPolicy([[x, 1.0 - x]]), *CLOSED),
    "SoftmaxPolicy state": (lambda x: SOFT.log_prob(x, 0), *index(2)),
    "SoftmaxPolicy action": (lambda x: SOFT.log_prob(0, x), *index(2)),
    "GaussianPolicy spread": (lambda x: GaussianPolicy(None, [1.0], x), *POSITIVE),
    "ControllerPolicy observation": (lambda x: WALK.learn(0, Transition(0, 0, 0.0, x), RNG(0)), *index(2)),
    "solve tol": (lambda x: solve(MDP, tol=x), *POSITIVE),
    "solve_many gamma": (lambda x: solve_many(MDP.outcomes, MDP.prob[None], x), *HALF_OPEN),
    "solve_many tol": (lambda x: solve_many(MDP.outcomes, MDP.prob[None], 0.5, tol=x), *POSITIVE),
    "finite_horizon horizon": (lambda x: finite_horizon(MDP, x), *COUNT),
    "finite_horizon gamma": (lambda x: finite_horizon(MDP, 2, x), *CLOSED),
    "optimal_total steps": (lambda x: optimal_total(MDP, x), *COUNT),
    "policy_total steps": (lambda x: policy_total(MDP, DETERMINED, x), *COUNT),
    "TabularMDP gamma": (lambda x: TabularMDP.from_dense(P, R, gamma=x), *CLOSED),
    "TabularMDP start": (lambda x: TabularMDP.from_dense(P, R, gamma=0.5, start=x), *index(2)),
    "TabularMDP terminal": (lambda x: TabularMDP.from_dense(P, R, gamma=0.5, terminal=[x]), *index(2)),
    "TabularMDP probability": (lambda x: TabularMDP.from_dense([[[x, 1 - x]]] * 2, R[:, :1], gamma=0.5), *CLOSED),
    "Outcomes succ": (lambda x: outcomes(succ=[[[x, 1]], [[1, 1]]]), *index(2)),
    "Outcomes group": (lambda x: outcomes(group=[[0], [x]]), [1], [-1, 2]),
    "Outcomes size": (lambda x: outcomes(size=[x, 1]), [1, 2], [0, 3]),
    "Outcomes end": (lambda x: outcomes(end=x), [1], [-1, 0, 2]),
    "Outcomes start": (lambda x: outcomes(start=[x, 1.0 - x]), *CLOSED),
    "DirichletMDP gamma": (lambda x: b.DirichletMDP(outcomes(), [[1.0, 1.0], [1.0, 0.0]], x), *CLOSED),
    "DirichletMDP.flat concentration": (lambda x: b.DirichletMDP.flat(CHAIN, x), *POSITIVE),
    "FiniteMDPs state": (lambda x: FINITE.update(Transition(x, 1, 3.0 if x else 1.0, 0)), *index(2)),
    "FiniteMDPs action": (lambda x: FINITE.update(Transition(1, x, 3.0 if x else 2.0, 1)), *index(2)),
    "FiniteMDPs next state": (lambda x: FINITE.update(Transition(0, 0, 0.0, x)), *index(2)),
    "FiniteMDPs weights": (lambda x: B.FiniteMDPs([MDP, MDP], [x, 1.0 - x]), *CLOSED),
    "DirichletMixture weights": (lambda x: B.DirichletMixture((TINY, TINY), [x, 1.0 - x]), *CLOSED),
    "RewardNormal.strens cells": (lambda x: B.RewardNormal.strens((x, 1)), *COUNT),
    "RewardNormal.strens sigma0": (lambda x: B.RewardNormal.strens((1, 1), sigma0=x), *POSITIVE),
    "RewardBeta high": (lambda x: B.RewardBeta(np.ones((1, 1)), np.ones((1, 1)), low=0.0, high=x), *POSITIVE),
    "FullBandit suggestions": (lambda x: B.FullBandit.uniform(3, x), [1, 3], [0, 4]),
    "FullBandit arms": (lambda x: B.FullBandit.uniform(x, 1), *COUNT),
    "NormalArm.standard arms": (lambda x: B.NormalArm.standard(x), *COUNT),
    "BetaBernoulli.uniform arms": (lambda x: B.BetaBernoulli.uniform(x), *COUNT),
    "NormalGammaArm.weak arms": (lambda x: B.NormalGammaArm.weak(x), *COUNT),
    "ExponentialArm.weak arms": (lambda x: B.ExponentialArm.weak(x), *COUNT),
    "PoissonArm.exponential arms": (lambda x: B.PoissonArm.exponential(x), *COUNT),
    "LogisticArms d": (lambda x: B.LogisticArms.isotropic(x), *COUNT),
    "LogisticArms regularisation": (lambda x: B.LogisticArms.isotropic(2, x), *POSITIVE),
    "LogisticLaplaceArms d": (lambda x: B.LogisticLaplaceArms.isotropic(x), *COUNT),
    "LogisticLaplaceArms regularisation": (lambda x: B.LogisticLaplaceArms.isotropic(2, x), *POSITIVE),
    "LinearGaussianArms d": (lambda x: B.LinearGaussianArms.isotropic(x), *COUNT),
    "LinearGaussianArms scale": (lambda x: B.LinearGaussianArms.isotropic(2, scale=x), *POSITIVE),
    "FiniteModels.two weight": (lambda x: FiniteModels.two([0.5], [0.4], x), *CLOSED),
    "FiniteModels weights": (lambda x: FiniteModels(BernoulliModels([[0.1], [0.7]]), [x, 1.0 - x]), *CLOSED),
    "BernoulliModels": (lambda x: BernoulliModels([[x]]), *CLOSED),
    "BernoulliSums": (lambda x: BernoulliSums([[x, 0.5]]), *CLOSED),
    "OutcomeModels": (lambda x: OutcomeModels([0.0, 1.0], [[[x, 1.0 - x]]]), *CLOSED),
    "run steps": (lambda x: b.run(AGENT, CHAIN, steps=x), *COUNT),
    "run seed": (lambda x: b.run(AGENT, CHAIN, steps=1, seed=x), *NATURAL),
    "run horizon": (lambda x: b.run(AGENT, CHAIN, steps=1, horizon=x), *COUNT),
    "compare steps": (lambda x: compare([AGENT], CHAIN, steps=x, runs=2), *COUNT),
    "compare runs": (lambda x: compare([AGENT], CHAIN, steps=1, runs=x), *COUNT),
    "compare seed": (lambda x: compare([AGENT], CHAIN, steps=1, runs=2, seed=x), *NATURAL),
    "compare workers": (lambda x: compare([AGENT], CHAIN, steps=1, runs=2, workers=x), *COUNT),
    "compare horizon": (lambda x: compare([AGENT], CHAIN, steps=1, runs=2, horizon=x), *COUNT),
    "explain steps": (lambda x: explain("random", "chain", steps=x), *NATURAL),
    "explain seed": (lambda x: explain("random", "chain", steps=0, seed=x), *NATURAL),
    "explain state": (lambda x: explain("random", "chain", steps=0, state=x), *index(5)),
    "mean_band confidence": (lambda x: mean_band(np.ones((3, 2)) + np.eye(3, 2), x), *OPEN),
    "LiveAgent seed": (lambda x: b.LiveAgent(AGENT, x), *NATURAL),
    "LiveAgent.probability draws": (lambda x: LIVE.probability(draws=x), *COUNT),
    "LiveAgent.explain confidence": (lambda x: LIVE.explain(confidence=x), *OPEN),
    "gittins alpha": (lambda x: gittins_index(x, 1.0, 0.5), *POSITIVE),
    "gittins beta": (lambda x: gittins_index(1.0, x, 0.5), *POSITIVE),
    "gittins gamma": (lambda x: gittins_index(1.0, 1.0, x), *HALF_OPEN),
    "gittins normal n": (lambda x: gittins_index_normal(0.0, x, 0.5), [1.0], [0.0]),
    "gittins normal gamma": (lambda x: gittins_index_normal(0.0, 1.0, x), [0.0, 0.9], [-1e-9, 1.0]),
    "gittins process gamma": (lambda x: gittins_index_process([[1.0]], [1.0], x), *HALF_OPEN),
    "gittins process P": (lambda x: gittins_index_process([[x, 1 - x], [0, 1]], [1, 0], 0.5), *CLOSED),
    "finite horizon index alpha": (lambda x: finite_horizon_index(x, 1.0, 2), *POSITIVE),
    "finite horizon index beta": (lambda x: finite_horizon_index(1.0, x, 2), *POSITIVE),
    "finite horizon index horizon": (lambda x: finite_horizon_index(1.0, 1.0, x), *COUNT),
    "finite horizon index gamma": (lambda x: finite_horizon_index(1.0, 1.0, 2, x), *ABOVE_ZERO),
    "bayes_optimal_q horizon": (lambda x: bayes_optimal_q(B.BetaBernoulli.uniform(2), x), *COUNT),
    "gopalan truth": (lambda x: gopalan([[0.5, 0.6], [0.5, 0.4]], x, 10), *index(2)),
    "gopalan epsilon": (lambda x: gopalan([[0.5, 0.6], [0.5, 0.4]], 0, 10, x), *HALF_OPEN),
    "gopalan steps": (lambda x: gopalan([[0.5, 0.6], [0.5, 0.4]], 0, x), [2], [1.999]),
    "gopalan models": (lambda x: gopalan([[0.5, x], [0.5, 0.4]], 0, 10), *CLOSED),
    "liu_li weight": (lambda x: bounds.liu_li(x, 10), *ABOVE_ZERO),
    "agrawal_goyal_linear epsilon": (lambda x: bounds.agrawal_goyal_linear(2, 10, x), *OPEN),
    "agrawal_goyal_linear d": (lambda x: bounds.agrawal_goyal_linear(x, 10, 0.5), *COUNT),
    "agrawal_goyal_independent arms": (lambda x: bounds.agrawal_goyal_independent(x, 10), *COUNT),
    "kaufmann_thompson epsilon": (lambda x: bounds.kaufmann_thompson([0.1, 0.2], 10, x), [0.0], [-1e-9]),
    "kaufmann_thompson steps": (lambda x: bounds.kaufmann_thompson([0.1, 0.2], x), [2.0], [1.999]),
    "kaufmann_bayes_ucb epsilon": (lambda x: bounds.kaufmann_bayes_ucb([0.1, 0.2], 10, x), [0.0], [-1e-9]),
    "russo_van_roy H": (lambda x: bounds.russo_van_roy(x, 2, 10), [0.0], [-1e-9]),
    "russo_van_roy deviation": (lambda x: bounds.russo_van_roy(1.0, 2, 10, x), [0.0], [-1e-9]),
    "russo_van_roy arms": (lambda x: bounds.russo_van_roy(1.0, x, 10), *COUNT),
    "russo_van_roy_linear d": (lambda x: bounds.russo_van_roy_linear(x, 10), *COUNT),
    "linear_lower d": (lambda x: bounds.linear_lower(x, 10), *COUNT),
    "bayesian_lower arms": (lambda x: bounds.bayesian_lower(x, 10), *COUNT),
    "lai_robbins means": (lambda x: bounds.lai_robbins([x, 0.5], 10), *CLOSED),
    "lai_robbins noise": (lambda x: bounds.lai_robbins([3.0, 0.5], 10, x), *POSITIVE),
    "lai_robbins steps": (lambda x: bounds.lai_robbins([0.1, 0.5], x), [1.0], [0.999]),
    "simulate steps": (lambda x: simulate(ARMS, b.make_world("bernoulli"), x), *COUNT),
    "simulate seed": (lambda x: simulate(ARMS, b.make_world("bernoulli"), 1, x), *NATURAL),
    "simulate replicate": (lambda x: simulate(ARMS, b.make_world("bernoulli"), 1, replicate=x), *NATURAL),
    "chapelle-li arms": (lambda x: chapelle_li(x), [2], [1]),
    "chapelle-li epsilon": (lambda x: chapelle_li(2, x), [0.0, 0.5], [-1e-9, 0.5 + 1e-9]),
    "online-shop-several suggestions": (lambda x: online_shop_several(x), [1, 3], [0, 4]),
    "DirichletFamily counts": (
        lambda x: DirichletFamily("mine", [[[x, 0.0]], [[1.0, 1.0]]], np.zeros((2, 1, 2))), *POSITIVE),
    "ContextualBandit means": (lambda x: ContextualBandit([[x, 0.5]], None, B.BetaBernoulli.uniform(2)), *CLOSED),
    "BernoulliBandit means": (lambda x: BernoulliBandit([x, 0.5]), *CLOSED),
    "LogisticBandit noise": (lambda x: ContextualBandit([[3.0]], x, B.NormalArm.standard(1)), *POSITIVE),
    "ContextualBandit replicates": (
        lambda x: ContextualBandit([[0.5]], None, B.BetaBernoulli.uniform(1)).batch(x), *COUNT),
    "RewardNormal.strens mu0": (lambda x: B.RewardNormal.strens((1, 1), mu0=x), [1e100], [1e101]),
    "CombinatorialBandit suggestions": (lambda x: CombinatorialBandit([0.1, 0.2], x), [1, 2], [0, 3]),
    "CombinatorialBandit set": (lambda x: SHOP.step(0, np.array([1, x]), RNG(0)), [0, 2], [-1, 1, 3]),
    "Controller observation": (
        lambda x: Controller(None, np.ones((1, 2, 1)), np.ones((1, 2, 1, 2, 1)), 0.0).act(0, x, RNG(0)), *index(2)),
    "BayesianQLearning state": (
        lambda x: BAYESIAN_Q.act(BAYESIAN_Q.start(), x, RNG(0)), *index(2)),
    "QLearning state": (lambda x: PLAIN_Q.act(PLAIN_Q.start(), x, RNG(0)), *index(2)),
}  # fmt: skip


@pytest.mark.parametrize("what", EDGES)
def test_edges(what):
    call, accepted, refused = EDGES[what]
    for x in accepted:
        call(x)
    for x in refused:
        with pytest.raises((InvalidArgument, ImpossibleEvidence)):
            call(x)


# What is refused as a whole -------------------------------------------------------------------------------------------

TWICE = {"succ": [[[1, 1]], [[1, 1]]], "reward": [[[0.5, 0.5]], [[0.0, 0.0]]]}  # two outcomes that look alike
OTHER_ENDS = TabularMDP.from_dense(P, R, gamma=0.5, terminal=[1])
LOCKSTEP = FiniteModels(BernoulliModels([[1.0], [1.0]])).batch(2)
REFUSED = {
    "counts on padding": lambda: b.DirichletMDP(outcomes(), [[1.0, 1.0], [1.0, 1.0]], 0.5),
    "counts of zero": lambda: b.DirichletMDP(outcomes(), [[1.0, 0.0], [1.0, 0.0]], 0.5),
    "outcomes that look alike": lambda: b.DirichletMDP(outcomes(**TWICE), [[1.0, 1.0], [1.0, 0.0]], 0.5),
    "sparse outcomes that look alike": lambda: B.SparseDirichletMDP(outcomes(**TWICE), 0.5, 1.0, 0.5),
    "moves that look alike": lambda: B.UnknownRewards(
        b.DirichletMDP(outcomes(**TWICE | {"reward": [[[0.5, 0.7]], [[0.0, 0.0]]]}), [[1.0, 1.0], [1.0, 0.0]], 0.5),
        B.RewardNormal.strens((2, 1))),
    "known rows of a family": lambda: b.DirichletMDP.structured(b.make_world("gc"), known=True),
    "what a known row excludes": lambda: b.DirichletMDP.structured(
        TabularMDP(outcomes(), [[1.0, 0.0], [1.0, 0.0]], 0.5), known=True).update(Transition(0, 0, 0.0, 1)),
    "groups that are not there": lambda: b.DirichletMDP.flat(MDP, 1e-3).sample_rows(np.array([4]), RNG(0)),
    "groups below zero": lambda: b.DirichletMDP.flat(MDP, 1e-3).sample_rows(np.array([-1]), RNG(0)),
    "groups in a table": lambda: b.DirichletMDP.flat(MDP, 1e-3).sample_rows(np.array([[0]]), RNG(0)),
    "probabilities on padding": lambda: TabularMDP(outcomes(), [[1.0, 0.0], [0.5, 0.5]], 0.5),
    "models of another discount": lambda: B.FiniteMDPs([MDP, TabularMDP.from_dense(P, R, gamma=0.6)]),
    "models that end elsewhere": lambda: B.FiniteMDPs([MDP, OTHER_ENDS]),
    "models of another size": lambda: B.FiniteMDPs([MDP, CHAIN.mdp]),
    "components of another discount": lambda: B.DirichletMixture((TINY, b.DirichletMDP.flat(OTHER_ENDS))),
    "a mean of the wrong shape": lambda: B.RewardNormal.strens((2, 1), mu0=[0.0, 1.0]),
    "a deviation of the wrong shape": lambda: B.RewardNormal.strens((2, 1), sigma0=[0.5, 1.0]),
    "an end on the infinite grid": lambda: entries()["row-column-beta"].example().update(
        Transition((0, 0), 0, 0.0, (0, 1), terminated=True)),
    "a reward beyond 1e100": lambda: B.NormalArm.standard(1).batch(2).update(
        Transition([0, 0], np.array([0, 0]), np.array([0.0, 2e100]), [0, 0])),
    "contexts of different lengths": lambda: B.LinearGaussianArms.isotropic(2).mean([[1.0, 2.0], [1.0]]),
    "contexts that are not numbers": lambda: B.LinearGaussianArms.isotropic(2).mean([[1.0, np.nan], [1.0, 2.0]]),
    "Gaussian means of three axes": lambda: GaussianBandit(np.zeros((1, 1, 2))),
    "contextual means of one axis": lambda: ContextualBandit([0.5], None, B.BetaBernoulli.uniform(1)),
    "nothing that follows": lambda: TabularMDP.from_sparse([sparse.csr_array((2, 2))], np.zeros((2, 1)), 0.5),
    "one replicate that cannot be": lambda: LOCKSTEP.update(
        Transition([0, 0], np.array([0, 0]), np.array([1.0, 0.0]), [0, 0])),
    "a column that is a list": lambda: Record({"reward": np.zeros(1), "action": [0]}, 1.0, {}),
    "arms that cannot be batched": lambda: B.SemiBandit(SingleArms()).batch(2),
}  # fmt: skip


class SingleArms:
    """A belief about arms without lockstep."""

    n_actions, gamma = 2, 1.0
    mean = sample_means = update = lambda self, *args: self


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what):
    with pytest.raises((InvalidArgument, ImpossibleEvidence, Incompatible)):
        REFUSED[what]()


def test_beliefs_and_planners_refuse_immoderate_numbers():
    """A temperature may be 1e100, and so may a count; neither may be 1e101."""
    assert b.make("softmax", temperature=1e100).temperature == 1e100
    assert B.BetaBernoulli([1e100], [1.0]).alpha == 1e100
    for refused in (lambda: b.make("softmax", temperature=1e101), lambda: B.BetaBernoulli([1e101], [1.0])):
        with pytest.raises(InvalidArgument, match="Numbers beyond 1e\\+100 are refused"):
            refused()


def test_lockstep_worlds_have_the_same_arms():
    world = ContextualBandit([[0.1, 0.2], [0.3, 0.4]], None, B.BetaBernoulli.uniform(2)).batch(3)
    np.testing.assert_array_equal(world.means, [[[0.1, 0.2], [0.3, 0.4]]] * 3)
    assert world.gap(np.array([0, 1, 1]), np.array([0, 0, 1])).tolist() == pytest.approx([0.1, 0.1, 0.0])


def test_numbers_of_kept_histories():
    """Of the histories below the new root, in order: 1 has 2 and 3 below it, 3 has 5."""
    assert renumber(np.array([0, 0, 1, 1, 0, 3]), 1).tolist() == [-1, 0, 1, 2, -1, 3]


def test_binarised_quantiles_are_those_of_the_coin():
    inside = B.BetaBernoulli(np.array([2.0, 1.0]), np.array([1.0, 3.0]))
    np.testing.assert_array_equal(B.BinarisedRewards(inside).quantile(0.9), inside.quantile(0.9))


def test_one_action_has_no_information_to_gain():
    mean, gain = value_of_perfect_information(np.array([[1.0], [3.0]]), np.array([0.5, 0.5]))
    assert (mean.tolist(), gain.tolist()) == ([2.0], [0.0])


def test_known_rewards_have_one_share():
    assert FLAT.best_reward_share(2.0).tolist() == [1.0]


def test_models_with_ends_are_solved_together():
    outcomes = b.DirichletMDP.flat(OTHER_ENDS).outcomes
    draws = RNG(0).dirichlet(np.ones(2), (3, outcomes.n_groups)) * outcomes.valid
    draws /= draws.sum(axis=2, keepdims=True)
    values, _ = solve_many(outcomes, draws, 0.9)
    alone = [solve(TabularMDP(outcomes, p, 0.9)).values for p in draws]
    np.testing.assert_allclose(values, alone, atol=1e-7)


def test_a_loose_tolerance_is_enough_without_a_discount():
    """Slips back to the start with probability .9: rounding is far away when the tolerance is met."""
    P = np.zeros((4, 1, 4))
    P[:3, 0, 0], P[range(3), 0, range(1, 4)], P[3, 0, 3] = 0.9, 0.1, 1.0
    mdp = TabularMDP.from_dense(P, [[-1.0]] * 3 + [[0.0]], gamma=1.0, terminal=[3])
    exact = solve(mdp).values
    loose = solve(mdp, method="value-iteration", tol=0.5)
    assert np.abs(loose.values - exact).max() <= loose.error_bound <= 0.5


def test_best_arms_in_lockstep_are_those_of_each():
    belief = B.NormalArm.standard(3)
    each = [belief.update(Transition(0, a, 1.0, 0)) for a in (0, 1)]
    both = belief.batch(2).update(Transition(np.zeros(2), np.array([0, 1]), np.ones(2), np.zeros(2)))
    np.testing.assert_allclose(both.best_arm().p, [one.best_arm().p for one in each], atol=1e-9)


def test_published_defaults():
    """Of the sparse prior those of the grid results (Guez et al. 2012)."""
    assert B.SparseDirichletMDP.flat(CHAIN) == B.SparseDirichletMDP.flat(CHAIN, 0.2, 2.0)


def test_an_end_pays_nothing():
    """Where an episode may end, the range of rewards holds 0, for the terminal state pays it."""
    pays = B.RewardBeta(np.ones((2, 2)), np.ones((2, 2)), low=1.0, high=2.0)
    assert B.UnknownRewards(TINY, pays).reward_range() == (1.0, 2.0)
    assert B.UnknownRewards(b.DirichletMDP.flat(OTHER_ENDS), pays).reward_range() == (0.0, 2.0)


BELIEFS = {name: e.example() for name, e in entries().items() if e.kind == "belief"}
ARMS_OF = [name for name, belief in BELIEFS.items() if hasattr(belief, "sample_means") and "bandit" not in name]


def one_of_several(place):
    """Whether one of finitely many actions is chosen at a time."""
    return hasattr(place, "n_actions") and not hasattr(place, "suggestions")


PLACES = {name: b.make_world(name) for name, e in entries().items() if e.kind in ("world", "family")}


@pytest.mark.parametrize("name", ARMS_OF)
def test_beliefs_about_arms_refuse_other_arms(name):
    belief, K = BELIEFS[name], BELIEFS[name].n_actions
    for action in (0, K - 1):
        belief.update(Transition(0, action, 0.0, 0), RNG(0))
    for action in (-1, K):
        with pytest.raises(InvalidArgument):
            belief.update(Transition(0, action, 0.0, 0), RNG(0))


@pytest.mark.parametrize("name", [name for name, place in PLACES.items() if one_of_several(place)])
def test_worlds_refuse_other_actions(name):
    world = PLACES[name].draw(RNG(0)) if hasattr(PLACES[name], "draw") else PLACES[name]
    state, _ = world.reset(RNG(1))
    for action in (0, world.n_actions - 1):
        world.step(state, action, RNG(2))
    for action in (-1, world.n_actions):
        with pytest.raises(InvalidArgument):
            world.step(state, action, RNG(2))


def test_the_smallest_and_largest_moderate_numbers():
    """From 1e-100 to 1e100, the ends included."""
    for check in (lambda x: checks.number("it", "x", x, 0.0, above=True, moderate=True),
                  lambda x: checks.array("it", "x", [1.0, x], low=0.0, above=True, moderate=True)):  # fmt: skip
        for x in (1e-100, 1.0, 1e100):
            check(x)
        for x in (0.99e-100, 1.01e100, 0.0):
            with pytest.raises(InvalidArgument, match="'x' must be"):
                check(x)


def test_help_states_the_defaults():
    """The Parameters section of a declared class: name, default, what is expected."""
    told = b.make("bamcp").__class__.__doc__
    assert "    simulations = 1000: whole number at least 1\n" in told
    assert "    milliseconds = None: number greater than 0 or None\n" in told
    from bayesrl.beliefs.features import Tiles

    assert "    low: " in Tiles.__doc__  # no default


def test_sizes_of_one():
    assert SoftmaxPolicy.tabular(1, 1).probabilities().tolist() == [[1.0]]
    assert TabularPolicy([0], n_actions=1).probabilities().tolist() == [[1.0]]


@pytest.mark.parametrize("arms", [[0, 3], [-1, 2], [1, 1]])
def test_sets_of_arms_end_with_the_last_arm(arms):
    world = b.make_world("online-shop-several", suggestions=2)
    coins = b.make_world("combinatorial", arms=8, suggestions=2).draw(np.random.default_rng(0))
    for several, last in ((world, 2), (coins, 7)):
        assert several.means.shape == (last + 1,)
        several.step(0, [last - 1, last], np.random.default_rng(0))
        wrong = [last + 1 if a == 3 else a for a in arms]
        with pytest.raises(InvalidArgument, match=f"'action' must be different arms from 0 to {last}"):
            several.step(0, wrong, np.random.default_rng(0))


@pytest.mark.parametrize("name", ["mu0", "sigma0"])
def test_rewards_of_strens_are_moderate(name):
    for x in (1e101, np.array([[1.0], [1e101]])):
        with pytest.raises(InvalidArgument, match=f"'{name}' must be"):
            B.RewardNormal.strens((2, 1), **{name: x})
    with pytest.raises(InvalidArgument, match="'sigma0' must be"):
        B.RewardNormal.strens((2, 1), sigma0=1e-101)
    with pytest.raises(InvalidArgument, match="'cells' must be"):
        B.RewardNormal.strens((10**8 + 1, 1))


def test_a_grid_of_its_own():
    from bayesrl.worlds.mdps.infinite_grid import InfiniteGrid

    assert InfiniteGrid(3) == InfiniteGrid(3, (2.0, 1.0), (1.0, 2.0), 0.97)


def test_a_list_of_one_model():
    """The smallest belief over models: it knows its outcomes, and an update changes nothing."""
    mdp = TabularMDP.from_dense(np.full((2, 2, 2), 0.5), [[1.0, 0.0], [0.5, 2.0]], 0.9)
    belief = B.FiniteMDPs((mdp,))
    assert belief.outcomes.n_outcomes == 2
    assert belief.outcomes.reward_range == (0.0, 2.0)
    assert belief.update(Transition(0, 1, 0.0, 1)).posterior().tolist() == [1.0]


def test_the_most_replicates():
    """A hundred million numbers at most: refused before memory is asked for."""
    for batch, numbers in ((B.BetaBernoulli.uniform(4).batch, 4), (b.make_world("online-shop").batch, 3)):
        with pytest.raises(InvalidArgument, match="'replicates' must be a whole number of at least 1 and at most"):
            batch(10**8 // numbers + 1)
