"""Chapter 3: Bayesian bandits, one method per file."""

from typing import TYPE_CHECKING

from bayesrl._lazy import export

if TYPE_CHECKING:
    from bayesrl.bandits.bandit_bounds import Bound as Bound
    from bayesrl.bandits.bandit_bounds import bandit_bounds as bandit_bounds
    from bayesrl.bandits.batched_feedback import BatchedFeedback as BatchedFeedback
    from bayesrl.bandits.bayes_optimal_bandit import BayesOptimalBandit as BayesOptimalBandit
    from bayesrl.bandits.bayes_optimal_bandit import bayes_optimal_q as bayes_optimal_q
    from bayesrl.bandits.bayes_optimal_bandit import bayes_optimal_value as bayes_optimal_value
    from bayesrl.bandits.bayes_optimal_bandit import policy_value as policy_value
    from bayesrl.bandits.bayes_ucb import BayesUCB as BayesUCB
    from bayesrl.bandits.bounds_of_world import bounds_of as bounds_of
    from bayesrl.bandits.delayed_feedback import DelayedFeedback as DelayedFeedback
    from bayesrl.bandits.finite_horizon_index import FiniteHorizonIndex as FiniteHorizonIndex
    from bayesrl.bandits.finite_horizon_index import finite_horizon_index as finite_horizon_index
    from bayesrl.bandits.gittins import Gittins as Gittins
    from bayesrl.bandits.gittins import gittins_bounds as gittins_bounds
    from bayesrl.bandits.gittins import gittins_index as gittins_index
    from bayesrl.bandits.gittins import gittins_index_normal as gittins_index_normal
    from bayesrl.bandits.gittins import gittins_index_process as gittins_index_process
    from bayesrl.bandits.information_directed import InformationDirected as InformationDirected
    from bayesrl.bandits.information_directed import information_ratio as information_ratio
    from bayesrl.bandits.simulate_bandit import simulate as simulate
    from bayesrl.bandits.thompson import Thompson as Thompson
    from bayesrl.bandits.thompson_combinatorial import ThompsonCombinatorial as ThompsonCombinatorial
    from bayesrl.bandits.ucb1 import UCB1 as UCB1

export(
    __name__,
    {
        "bounds_of_world": ("bounds_of",),
        "batched_feedback": ("BatchedFeedback",),
        "bayes_optimal_bandit": (
            "BayesOptimalBandit",
            "bayes_optimal_q",
            "bayes_optimal_value",
            "policy_value",
        ),
        "bayes_ucb": ("BayesUCB",),
        "bandit_bounds": (
            "Bound",
            "bandit_bounds",
        ),
        "delayed_feedback": ("DelayedFeedback",),
        "finite_horizon_index": (
            "FiniteHorizonIndex",
            "finite_horizon_index",
        ),
        "gittins": (
            "Gittins",
            "gittins_bounds",
            "gittins_index",
            "gittins_index_normal",
            "gittins_index_process",
        ),
        "information_directed": (
            "InformationDirected",
            "information_ratio",
        ),
        "simulate_bandit": ("simulate",),
        "thompson": ("Thompson",),
        "thompson_combinatorial": ("ThompsonCombinatorial",),
        "ucb1": ("UCB1",),
    },
)
