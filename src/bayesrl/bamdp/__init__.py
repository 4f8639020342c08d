"""Chapter 4, discrete: planners for the Bayes-adaptive MDP, one method per file."""

from bayesrl.bamdp.exact import exact_q

__all__ = ["exact_q"]
