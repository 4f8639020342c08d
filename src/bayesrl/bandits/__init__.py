"""Chapter 3: Bayesian bandits, one method per file."""

from bayesrl.bandits.batched_feedback import BatchedFeedback
from bayesrl.bandits.bayes_ucb import BayesUCB
from bayesrl.bandits.feedback import DelayedFeedback
from bayesrl.bandits.simulation import simulate
from bayesrl.bandits.thompson import Thompson
from bayesrl.bandits.thompson_combinatorial import ThompsonCombinatorial
from bayesrl.bandits.ucb1 import UCB1

__all__ = [
    "UCB1", "BatchedFeedback", "BayesUCB", "DelayedFeedback", "Thompson", "ThompsonCombinatorial", "simulate",
]  # fmt: skip
