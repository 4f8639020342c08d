"""The smallest size that is allowed is allowed, and the next smaller one is refused."""

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl import beliefs as B
from bayesrl.bamdp import exact_q
from bayesrl.bandits import bandit_bounds as _  # noqa: F401  # the function; the module is wanted below
from bayesrl.bandits.bayes_optimal_bandit import bayes_optimal_q
from bayesrl.bandits.simulate_bandit import simulate
from bayesrl.beliefs.arms.linear_gaussian_arms import their_v
from bayesrl.beliefs.covariances import Gaussian
from bayesrl.beliefs.features import Polynomial
from bayesrl.continuous import ContinuousForwardSearch, GPSparseSampling
from bayesrl.core import BayesAgent, run
from bayesrl.errors import InvalidArgument
from bayesrl.lab.compare import compare
from bayesrl.live import LiveAgent
from bayesrl.models.policy import SoftmaxPolicy
from bayesrl.models.solve import finite_horizon, optimal_total, policy_total
from bayesrl.value import GPSARSA
from bayesrl.worlds.bandits.bernoulli import BernoulliBandit

SHOP = b.make_world("online-shop")
AGENT = BayesAgent(SHOP.default_prior(), b.make("thompson"))
COINS = BernoulliBandit([0.1, 0.2, 0.15, 0.3, 0.05, 0.25, 0.12, 0.18])
CHAIN = b.make_world("chain")
FLAT = b.DirichletMDP.flat(CHAIN)
LINEAR = B.LinearGaussianArms.isotropic(2)
REGRESSION = B.GPRegression(Gaussian()).update((0.0, 1.0))
STEPS = np.array([10.0])


def bounds(name):
    import importlib

    return getattr(importlib.import_module("bayesrl.bandits.bandit_bounds"), name)


SMALLEST = {
    "tabular states": (1, lambda n: SoftmaxPolicy.tabular(n, 2)),
    "tabular actions": (1, lambda n: SoftmaxPolicy.tabular(2, n)),
    "gpsarsa": (1, lambda n: GPSARSA(n, Gaussian())),
    "draws": (1, lambda n: REGRESSION.sample([0.0], default_rng(0), n)),
    "draws of a mixture": (1, lambda n: B.KernelSelection([Gaussian()]).sample([0.0], default_rng(0), n)),
    "decisions of a forward search": (1, lambda n: ContinuousForwardSearch([0.0], depth=n)),
    "width of a forward search": (1, lambda n: ContinuousForwardSearch([0.0], width=n)),
    "particles in a tree": (1, lambda n: ContinuousForwardSearch([0.0], inner=n)),
    "candidates": (1, GPSparseSampling),
    "decisions of sparse sampling": (0, lambda n: GPSparseSampling(depth=n)),
    "simulations of sparse sampling": (1, lambda n: GPSparseSampling(simulations=n)),
    "rewards of sparse sampling": (1, lambda n: GPSparseSampling(width=n)),
    "starts": (1, lambda n: REGRESSION.fit(default_rng(0), n)),
    "starts of weights": (
        1, lambda n: B.BayesianLinearRegression(Polynomial(1)).update((0.0, 1.0)).fit(default_rng(0), n)),
    "arms": (1, B.BetaBernoulli.uniform),
    "normal arms": (1, B.NormalArm.standard),
    "exponential arms": (1, B.ExponentialArm.weak),
    "poisson arms": (1, B.PoissonArm.exponential),
    "normal-gamma arms": (1, B.NormalGammaArm.weak),
    "full arms": (1, lambda n: B.FullBandit.uniform(n, 1)),
    "full suggestions": (1, lambda n: B.FullBandit.uniform(3, n)),
    "several suggestions": (1, lambda n: b.make_world("online-shop-several", suggestions=n)),
    "combinatorial suggestions": (1, lambda n: b.make_world("combinatorial", suggestions=n)),
    "weights": (1, B.LinearGaussianArms.isotropic),
    "their weights": (1, lambda n: B.LinearGaussianArms.agrawal_goyal(n, 0.5)),
    "logistic weights": (1, B.LogisticArms.isotropic),
    "laplace weights": (1, B.LogisticLaplaceArms.isotropic),
    "their v": (1, lambda n: their_v(n, 1.0, 0.5, 0.1)),
    "replicates": (1, SHOP.default_prior().batch),
    "replicates of weights": (1, LINEAR.batch),
    "replicates of logistic weights": (1, B.LogisticArms.isotropic(2).batch),
    "replicates of laplace weights": (1, B.LogisticLaplaceArms.isotropic(2).batch),
    "replicates of models": (1, B.FiniteModels.two([0.5, 0.8], [0.5, 0.3], 0.2).batch),
    "replicates of worlds": (1, SHOP.batch),
    "replicates of families": (1, b.make_world("bernoulli").batch),
    "replicates of contexts": (1, b.make_world("contextual-shop").batch),
    "samples": (2, lambda n: LINEAR.best_arm(np.eye(2), n, default_rng(0))),
    "sweeps": (1, lambda n: B.RowColumnBeta().mean_rows_columns((0,), (0,), default_rng(0), sweeps=n)),
    "depth": (0, FLAT.simulate),
    "sparse depth": (0, B.SparseDirichletMDP.flat(CHAIN).simulate),
    "mixture depth": (0, B.DirichletMixture((FLAT,)).simulate),
    "grid depth": (0, B.RowColumnBeta().simulate),
    "horizon of exact values": (0, lambda n: exact_q(FLAT, 0, n)),
    "horizon of bandits": (1, lambda n: bayes_optimal_q(B.BetaBernoulli.uniform(2), n)),
    "finite horizon": (1, lambda n: finite_horizon(CHAIN.mdp, n)),
    "optimal total": (1, lambda n: optimal_total(CHAIN.mdp, n)),
    "policy total": (1, lambda n: policy_total(CHAIN.mdp, np.zeros(5, int), n)),
    "horizon of a run": (1, lambda n: run(AGENT, SHOP, 2, horizon=n)),
    "steps": (1, lambda n: compare({"a": AGENT}, SHOP, steps=n, runs=1)),
    "runs": (1, lambda n: compare({"a": AGENT}, SHOP, steps=1, runs=n)),
    "workers": (1, lambda n: compare({"a": AGENT}, SHOP, steps=1, runs=1, workers=n)),
    "seed": (0, lambda n: compare({"a": AGENT}, SHOP, steps=1, runs=1, seed=n)),
    "live seed": (0, lambda n: LiveAgent(AGENT, seed=n)),
    "live draws": (1, lambda n: LiveAgent(AGENT).probability(draws=n)),
    "simulated steps": (1, lambda n: simulate(BayesAgent(COINS.default_prior(), b.make("thompson")), COINS, n, 2)),
    "independent arms": (1, lambda n: bounds("agrawal_goyal_independent")(n, STEPS)),
    "linear bound": (1, lambda n: bounds("agrawal_goyal_linear")(n, STEPS, 0.5)),
    "lower linear bound": (1, lambda n: bounds("linear_lower")(n, STEPS)),
    "lower bound": (1, lambda n: bounds("bayesian_lower")(n, STEPS)),
    "russo": (1, lambda n: bounds("russo_van_roy")(0.5, n, STEPS)),
    "russo linear": (1, lambda n: bounds("russo_van_roy_linear")(n, STEPS)),
}  # fmt: skip


@pytest.mark.parametrize("name", SMALLEST)
def test_the_smallest_size_is_allowed(name):
    least, call = SMALLEST[name]
    call(least)
    with pytest.raises(InvalidArgument, match="must be"):
        call(least - 1)
