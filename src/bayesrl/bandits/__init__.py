"""Chapter 3: Bayesian bandits, one method per file."""

from bayesrl.bandits.batched_feedback import BatchedFeedback
from bayesrl.bandits.bayes_optimal import BayesOptimalBandit, bayes_optimal_q, bayes_optimal_value, policy_value
from bayesrl.bandits.bayes_ucb import BayesUCB
from bayesrl.bandits.bounds import Bound, bandit_bounds, bounds_of
from bayesrl.bandits.feedback import DelayedFeedback
from bayesrl.bandits.finite_horizon_index import FiniteHorizonIndex, finite_horizon_index
from bayesrl.bandits.gittins import (
    Gittins,
    gittins_bounds,
    gittins_index,
    gittins_index_normal,
    gittins_index_process,
)
from bayesrl.bandits.information_directed import InformationDirected, information_ratio
from bayesrl.bandits.simulation import simulate
from bayesrl.bandits.thompson import Thompson
from bayesrl.bandits.thompson_combinatorial import ThompsonCombinatorial
from bayesrl.bandits.ucb1 import UCB1

__all__ = [
    "UCB1", "BatchedFeedback", "BayesOptimalBandit", "BayesUCB", "Bound", "DelayedFeedback", "FiniteHorizonIndex",
    "Gittins", "InformationDirected", "Thompson", "ThompsonCombinatorial", "bandit_bounds", "bayes_optimal_q",
    "bayes_optimal_value", "bounds_of", "finite_horizon_index", "gittins_bounds", "gittins_index",
    "gittins_index_normal", "gittins_index_process", "information_ratio", "policy_value", "simulate",
]  # fmt: skip
